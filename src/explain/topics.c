/* explain_topics: the ideas behind the verdicts, half a page each. */
#include "explain/explain.h"

#include <stddef.h>

const struct explain_page explain_topics[] = {
	{ "atomic", "a block that happens at one moment",
	  "A block is atomic when every execution that ends with no thread inside a block has the same\n"
	  "outcome as one in which each run of the block happens at a single moment between its entry and\n"
	  "its exit. The other threads may do what they like in between, as long as it cannot be told.\n"
	  "\n"
	  "Steps outside every block happen when they are taken. Executions that differ only in the order\n"
	  "of neighbouring steps that have nothing to do with each other count as one.\n"
	  "\n"
	  "Each block is asked about alone, the marks of the others ignored: that tells which one is to\n"
	  "blame. All of them at once is another question: see 'intact explain serializable'.\n",
	  "int count;\n"
	  "thread worker * 2 { atomic increment { count = count + 1; } }\n",
	  "lock m;\n"
	  "int count;\n"
	  "thread worker * 2 { atomic increment { acquire(m); count = count + 1; release(m); } }\n", "check" },
	{ "ladder", "which engine answers, and why that one",
	  "'intact check' goes up from the cheapest argument to the most expensive, each question until it is\n"
	  "answered:\n"
	  "\n"
	  EXPLAIN_LADDER
	  "\n"
	  "The column 'by' of the table names the one that answered; behind the table stands why the\n"
	  "cheaper ones did not. Only the last two can refute, and they do it with a run that\n"
	  "'intact sim' replays and 'intact verify' judges anew. --engine=NAME asks one of them alone,\n"
	  "--engine=all every one of them, side by side. All searches share one budget (--timeout,\n"
	  "--max-states, --max-memory); what is not decided by then is unknown, exit code 3.\n",
	  NULL,
	  "bool m;\n"
	  "int[0..3] data;\n"
	  "thread worker * 3 {\n"
	  "  atomic update { while (!cas(m, false, true)) { } data = (data + 1) % 4; m = false; }\n"
	  "}\n", "check" },
	{ "reduction", "right-movers, one non-mover, left-movers",
	  "A step is a right-mover when it can change places with the step of any other thread behind it,\n"
	  "and nothing can be told; a left-mover with the one before it; a both-mover is both. If every\n"
	  "path through a block is right-movers, at most one other step, left-movers, the block can be\n"
	  "pushed together around that step, whatever was in between (Lipton). It is atomic, for any number\n"
	  "of threads, and nothing had to be explored.\n"
	  "\n"
	  "  acquire(l)                      right-mover: nobody else can touch l behind it\n"
	  "  release(l)                      left-mover\n"
	  "  an access to x                  both-mover, if every conflicting access of another thread\n"
	  "                                  is made under a lock that is held here too; reads conflict\n"
	  "                                  with writes only, so what is never written is a both-mover\n"
	  "  any other access                non-mover\n"
	  "\n"
	  "A boolean that only its holder sets back is a lock coded by hand, if it starts false. When it\n"
	  "fails, the two steps that do not fit are named: 'second non-mover at 14:5 (write data): data is\n"
	  "written at 22:3 without lock l'. Then the block may still be atomic; the next engines tell.\n",
	  "lock l;\n"
	  "int data;\n"
	  "thread worker * 2 { atomic update { acquire(l); data = (data + 1) % 4; release(l); } }\n"
	  "thread meddler { data = 0; }\n",
	  "lock l;\n"
	  "int data;\n"
	  "thread worker * 2 { atomic update { acquire(l); data = (data + 1) % 4; release(l); } }\n"
	  "thread meddler { acquire(l); data = 0; release(l); }\n", "check" },
	{ "causal", "nothing comes back into the block",
	  "An execution is a partial order: a step causes a later one of the same thread, and one that\n"
	  "touches the same variable, when one of them writes it. A block is causally atomic when no step of\n"
	  "another thread is caused by a step of the block and causes a later step of it: then that\n"
	  "step can be moved out, before or behind (Farzan and Madhusudan).\n"
	  "\n"
	  "This is decided on a Petri net in which booleans, enums, locks and small ranges keep their\n"
	  "values and other numbers are forgotten, so that a test on them may go either way. Its unfolding\n"
	  "grows with what happens, not with the orders in which it may happen. Because of what is forgotten\n"
	  "a violation is a suspicion, which the concrete engines confirm or refute; a proof is a proof.\n"
	  "\n"
	  "A block of several racing accesses can be causally atomic though it does not reduce: below, each\n"
	  "write races with a read, but no thread sees the first and is seen by the second.\n",
	  NULL,
	  "int x;\n"
	  "int y;\n"
	  "thread writer { atomic both { x = 1; y = 1; } }\n"
	  "thread left { int t = x; }\n"
	  "thread right { int t = y; }\n", "check" },
	{ "commit", "a shadow that runs the block when it commits",
	  "Every block has a commit point: the step at which, for the others, it happens. While the program\n"
	  "is explored, a second store is kept on which a block runs in one piece when it commits. Whenever\n"
	  "no thread is inside a block the two stores must be equal (Flanagan).\n"
	  "\n"
	  "Write 'commit;' behind the step, or leave it to the search: candidates are tried, and a run that\n"
	  "shows one of them to be wrong is judged by itself, so it is either a violation or rules out every\n"
	  "choice that is wrong for the same reason. The report names the point: 'commits at line 12'.\n"
	  "\n"
	  "This proves blocks that do not reduce, because it compares results and not steps: a transaction\n"
	  "that starts again when somebody else was faster, or a lock-free update. Some atomic blocks have\n"
	  "no commit point at all (which step it was shows only later); those are for the exact engine.\n",
	  NULL,
	  "int[0..3] top;\n"
	  "thread pusher * 2 {\n"
	  "  atomic push {\n"
	  "    while (true) {\n"
	  "      int[0..3] t = top;\n"
	  "      if (cas(top, t, (t + 1) % 4)) { commit; break; }\n"
	  "    }\n"
	  "  }\n"
	  "}\n", "check" },
	{ "exact", "every serial explanation at once",
	  "The definition of atomicity itself, decided by exploring: along every execution, the set of all\n"
	  "serial executions that could still explain it is kept. A block that is inside and has not taken\n"
	  "effect may do so at any time until it leaves. When no thread is inside a block, the state must be\n"
	  "one of those that an explanation ends in; else the run is a violation, with the serial outcomes\n"
	  "beside it.\n"
	  "\n"
	  "No commit points, nothing forgotten, nothing suspected: it is right both ways, for the numbers of\n"
	  "threads and the ranges that were declared. It is also the dearest rung. When it does not finish,\n"
	  "use fewer threads, smaller ranges, or a block that a cheaper argument can prove.\n"
	  "\n"
	  "Below, whether look read before or behind the writes is settled only by its last step: no step is\n"
	  "its commit point, and yet it is atomic.\n",
	  NULL,
	  "bool x;\n"
	  "bool y;\n"
	  "bool r;\n"
	  "thread reader {\n"
	  "  atomic look {\n"
	  "    bool u = x;\n"
	  "    bool v = y;\n"
	  "    r = v ? u : x;\n"
	  "  }\n"
	  "}\n"
	  "thread writer {\n"
	  "  x = true;\n"
	  "  y = true;\n"
	  "}\n", "check" },
	{ "serializable", "all blocks one after another",
	  "A program is serializable when every execution that ends with no thread inside a block has the\n"
	  "same outcome as one in which the blocks, all of them, run one after another in some order.\n"
	  "\n"
	  "That is more than each block being atomic with the marks of the others ignored: below, each of\n"
	  "the two can be pushed together, but not both at once, for each has to come before the other.\n"
	  "And it is less: a block may lean on another one being atomic too, and fail alone.\n"
	  "\n"
	  "'intact check' asks about the program first. If it is serializable, its blocks are atomic as parts\n"
	  "of it. If not, each block is judged alone, to tell which one is to blame.\n",
	  "int[0..1] x;\n"
	  "int[0..1] y;\n"
	  "int[0..1] p;\n"
	  "int[0..1] q;\n"
	  "thread left { atomic one { x = 1; p = y; } }\n"
	  "thread right { atomic two { y = 1; q = x; } }\n",
	  "lock l;\n"
	  "int[0..1] x;\n"
	  "int[0..1] y;\n"
	  "int[0..1] p;\n"
	  "int[0..1] q;\n"
	  "thread left { atomic one { acquire(l); x = 1; p = y; release(l); } }\n"
	  "thread right { atomic two { acquire(l); y = 1; q = x; release(l); } }\n", "check" },
	{ "monitor", "every history of an object in a model",
	  "Along every execution goes what can still matter of the object's history, and no clock: the\n"
	  "configurations the object can be in (its value, which open writes have taken effect, what each\n"
	  "open read may still return). A call adds an operation; an answer keeps the configurations that\n"
	  "allow it, letting open writes take effect no earlier than that. When none is left, no order\n"
	  "explains the history, and the run is shown. Operations that have ended are forgotten, so\n"
	  "endless loops are decided too.\n"
	  "\n"
	  "--condition=regular and safe ask for less than atomicity. --assertion=soar and clmt record the\n"
	  "whole history instead and judge it at every answer of a read with the two assertions of the SOAR\n"
	  "paper (Fig. 3 and Definition 1); they need a single writer and loops that end.\n",
	  NULL,
	  "object bit : register(bool) = false {\n"
	  "  safe bool b;\n"
	  "  bool old;\n"
	  "  void write(bool v) { if (old != v) { b = v; old = v; } }\n"
	  "  bool read() { return b; }\n"
	  "}\n"
	  "thread writer { while (true) { bit.write(any(bool)); } }\n"
	  "thread reader { while (true) { bit.read(); } }\n", "check" },
	{ "linearizable", "operations on an object, each at one moment",
	  "A history is what the callers of an object saw: operations with their calls, their returns and\n"
	  "the values they got. It is linearizable when there is an order of the operations that the\n"
	  "object's specification allows, in which an operation that returned before another was called\n"
	  "stands before it (Herlihy and Wing). Nothing is said about how the object works inside.\n"
	  "\n"
	  "Atomicity is about the states that code leaves behind, linearizability about the values it gives\n"
	  "back: the methods of an object whose blocks are atomic are linearizable, but the values may be\n"
	  "right without any block being atomic.\n"
	  "\n"
	  "Weaker conditions for registers: regular (a read gets the last value written before it, or one\n"
	  "that is being written), safe (while a write goes on, a read may get anything).\n"
	  "'intact history FILE' judges recorded histories; 'object' in a model declares an implementation,\n"
	  "and 'intact check' judges every history of it ('intact explain monitor').\n",
	  "client,op,value,call,return\n"
	  "1,write,1,0,10\n"
	  "2,read,1,2,4\n"
	  "2,read,0,6,8\n",
	  "client,op,value,call,return\n"
	  "1,write,1,0,10\n"
	  "2,read,0,2,4\n"
	  "2,read,1,6,8\n", "history" },
	{ "objects", "what a history can be about",
	  "'intact history --object=NAME' says what the operations of a history are about; without it the\n"
	  "names of the operations decide, and the report says what was guessed.\n"
	  "\n"
	  EXPLAIN_OBJECTS
	  "\n"
	  "--init=VALUE is how it starts. An object of your own is written in the model language: 'intact\n"
	  "history --spec=FILE.atm' (docs/history.md).\n",
	  "client,op,value,call,return\n"
	  "1,push-back,1,0,1\n"
	  "1,push-back,2,2,3\n"
	  "2,pop-front,2,4,5\n",
	  "client,op,value,call,return\n"
	  "1,push-back,1,0,1\n"
	  "1,push-back,2,2,3\n"
	  "2,pop-front,1,4,5\n", "history" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
