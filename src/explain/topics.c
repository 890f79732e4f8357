/* explain_topics: the concepts behind the verdicts. */
#include "explain/explain.h"

#include <stddef.h>

const struct explain_page explain_topics[] = {
	{ "atomic", "a block that takes effect at a single moment",
	  "A block is atomic if every execution that ends with no thread inside a block has the same\n"
	  "outcome as an execution in which each run of the block takes effect at a single moment between\n"
	  "its entry and its exit. Other threads may run in between, as long as this has no visible effect.\n\n"
	  "Steps outside every block take effect when they are executed. Executions that differ only in the\n"
	  "order of adjacent independent steps count as one execution.\n\n"
	  "Each block is checked alone, with the marks of the other blocks ignored: this shows which block\n"
	  "is at fault. Checking all blocks together is another question: see 'intact explain serializable'.\n",
	  "int count;\n"
	  "thread worker * 2 { atomic increment { count = count + 1; } }\n",
	  "lock m;\n"
	  "int count;\n"
	  "thread worker * 2 { atomic increment { acquire(m); count = count + 1; release(m); } }\n",
	  "check" },
	{ "ladder", "which engine answers, and in which order they are asked",
	  "'intact check' asks the engines from the cheapest to the most expensive until one answers:\n\n" EXPLAIN_LADDER "\n"
	  "The column 'by' of the table names the engine that answered; the text after the table explains\n"
	  "why the cheaper ones did not. Only the last two can refute, and they do so with a run that\n"
	  "'intact sim' replays and 'intact verify' checks independently. --engine=NAME asks one engine\n"
	  "alone, --engine=all asks each of them. All searches share one budget (--timeout, --max-states,\n"
	  "--max-memory); questions that are undecided when it is used up are unknown, exit code 3.\n",
	  NULL,
	  "bool m;\n"
	  "int[0..3] data;\n"
	  "thread worker * 3 {\n"
	  "  atomic update { while (!cas(m, false, true)) { } data = (data + 1) % 4; m = false; }\n"
	  "}\n",
	  "check" },
	{ "properties", "conditions on the states of the whole program",
	  "A model can say what must be true of its states:\n\n"
	  "    always count <= 1;             in every reachable state\n"
	  "    finally count == 2;            in every state in which all threads have finished\n"
	  "    can always reach count == 2;   from every reachable state, such a state can still be reached\n\n"
	  "Each is a question of its own with a line in the table. They are looked at in all states, with all\n"
	  "interleavings; no reduction is used except that identical threads are interchangeable. A violation is a run to\n"
	  "the nearest state that shows it. 'can always reach' assumes nothing of the scheduler: it is violated only by\n"
	  "a state from which no schedule at all leads to the condition, for example a deadlock. A 'finally' of which no run\n"
	  "ends is unknown. Ghost variables record what the variables of the program do not show.\n",
	  "int[0..2] inside_now;\nalways inside_now <= 1;\n"
	  "thread worker * 2 { atomic enter { fetch_add(inside_now, 1); fetch_add(inside_now, -1); } }\n",
	  "int[0..2] inside_now;\nlock l;\nalways inside_now <= 1;\n"
	  "thread worker * 2 { atomic enter { acquire(l); fetch_add(inside_now, 1); fetch_add(inside_now, -1); release(l); } }\n",
	  "check" },
	{ "reduction", "right-movers, one non-mover, left-movers",
	  "A step is a right-mover if it can be swapped with the next step of any other thread without a\n"
	  "visible effect; a left-mover can be swapped with the previous one; a both-mover is both. If every\n"
	  "path through a block consists of right-movers, at most one other step, then left-movers, the\n"
	  "block can be made contiguous around that step (Lipton). It is atomic for any number of threads,\n"
	  "and no state has to be explored.\n\n"
	  "  acquire(l)                      right-mover: no other thread can access l after it\n"
	  "  release(l)                      left-mover\n"
	  "  an access to x                  both-mover, if every conflicting access of another thread\n"
	  "                                  is made under a lock that is also held here; reads conflict\n"
	  "                                  only with writes, so data that is never written is a both-mover\n"
	  "  any other access                non-mover\n\n"
	  "A boolean that starts false and that only its holder resets is a hand-coded lock. If reduction\n"
	  "fails, it names the two steps that do not fit: 'second non-mover at 14:5 (write data): data is\n"
	  "written at 22:3 without lock l'. The block may still be atomic; the next engines decide.\n",
	  "lock l;\n"
	  "int data;\n"
	  "thread worker * 2 { atomic update { acquire(l); data = (data + 1) % 4; release(l); } }\n"
	  "thread meddler { data = 0; }\n",
	  "lock l;\n"
	  "int data;\n"
	  "thread worker * 2 { atomic update { acquire(l); data = (data + 1) % 4; release(l); } }\n"
	  "thread meddler { acquire(l); data = 0; release(l); }\n",
	  "check" },
	{ "causal", "no causal chain returns to the block",
	  "An execution is a partial order: a step causes later steps of the same thread, and later steps\n"
	  "that access the same variable if one of the two writes it. A block is causally atomic if no step\n"
	  "of another thread is caused by a step of the block and causes a later step of the block. Then\n"
	  "every such step can be moved out of the block, before or after it (Farzan and Madhusudan).\n\n"
	  "The engine decides this on a Petri net that tracks the values of booleans, enums, locks and small\n"
	  "ranges. Other numbers are not tracked, and a test on them may go either way. The unfolding of the\n"
	  "net grows with the events, not with the orders in which they may occur. Because of the untracked\n"
	  "data a violation is a suspicion, which the concrete engines confirm or refute; a proof is a proof.\n\n"
	  "A block with several racing accesses can be causally atomic although it does not reduce: below,\n"
	  "each write races with a read, but no thread sees the first write and is seen by the second.\n",
	  NULL,
	  "int x;\n"
	  "int y;\n"
	  "thread writer { atomic both { x = 1; y = 1; } }\n"
	  "thread left { int t = x; }\n"
	  "thread right { int t = y; }\n",
	  "check" },
	{ "commit", "a shadow store that runs the block at its commit point",
	  "Every block has a commit point: the step at which it takes effect for other threads. While the\n"
	  "program is explored, a second store is kept in which a block runs without interruption when it\n"
	  "commits. Whenever no thread is inside a block the two stores must be equal (Flanagan).\n\n"
	  "Write 'commit;' after the step, or let the engine search for it: it tries candidates. A run that\n"
	  "contradicts a candidate is checked by itself: it is either a violation, or it rules out every\n"
	  "choice that is wrong for the same reason. The report names the point: 'commits at line 12'.\n\n"
	  "This proves blocks that do not reduce, because it compares results instead of steps: a transaction\n"
	  "that restarts after interference, or a lock-free update. Some atomic blocks have no commit point,\n"
	  "because only later steps decide which step it was; use the exact engine for those.\n",
	  NULL,
	  "int[0..3] top;\n"
	  "thread pusher * 2 {\n"
	  "  atomic push {\n"
	  "    while (true) {\n"
	  "      int[0..3] t = top;\n"
	  "      if (cas(top, t, (t + 1) % 4)) { commit; break; }\n"
	  "    }\n"
	  "  }\n"
	  "}\n",
	  "check" },
	{ "exact", "all serial explanations at once",
	  "Decides the definition of atomicity by exploration: along every execution, the engine keeps the\n"
	  "set of all serial executions that could still explain it. A block that has been entered and has\n"
	  "not taken effect may do so at any time until it exits. When no thread is inside a block, the\n"
	  "state must be one in which an explanation ends; otherwise the run is a violation, shown with the\n"
	  "serial outcomes.\n\n"
	  "It needs no commit points and abstracts from nothing: both its answers are exact, for the declared\n"
	  "numbers of threads and ranges. It is also the most expensive engine. If it does not finish, use\n"
	  "fewer threads, smaller ranges, or a block that a cheaper engine can prove.\n\n"
	  "Below, only the last step of look decides whether it read before or after the writes: no step is\n"
	  "its commit point, but the block is atomic.\n",
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
	  "}\n",
	  "check" },
	{ "serializable", "all blocks take effect one after another",
	  "A program is serializable if every execution that ends with no thread inside a block has the\n"
	  "same outcome as an execution in which all blocks run one after another in some order.\n\n"
	  "This is stronger than each block being atomic with the marks of the others ignored: below, each\n"
	  "of the two blocks alone can be made contiguous, but not both, because each would have to precede\n"
	  "the other. It is also weaker: a block may depend on another block being atomic, and fail alone.\n\n"
	  "'intact check' asks about the program first. If it is serializable, its blocks are atomic as parts\n"
	  "of it. If not, each block is checked alone, to find the one at fault.\n",
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
	  "thread right { atomic two { acquire(l); y = 1; q = x; release(l); } }\n",
	  "check" },
	{ "monitor", "every history of an object in a model",
	  "Along every execution, the monitor tracks what can still matter of the object's history: the\n"
	  "configurations that the object can be in (its value, which open writes have taken effect, what\n"
	  "each open read may still return). A call adds an operation; a return keeps the configurations\n"
	  "that allow it, with open writes taking effect as late as possible. When no configuration is left,\n"
	  "no order explains the history, and the run is shown. Completed operations are forgotten, so\n"
	  "endless loops are decided too.\n\n"
	  "--condition=regular and safe check weaker conditions than atomicity. --assertion=soar and clmt\n"
	  "record the whole history and check it at every return of a read with the two assertions of the\n"
	  "SOAR paper (Fig. 3 and Definition 1); they require a single writer and loops that terminate.\n",
	  NULL,
	  "object bit : register(bool) = false {\n"
	  "  safe bool b;\n"
	  "  bool old;\n"
	  "  void write(bool v) { if (old != v) { b = v; old = v; } }\n"
	  "  bool read() { return b; }\n"
	  "}\n"
	  "thread writer { while (true) { bit.write(any(bool)); } }\n"
	  "thread reader { while (true) { bit.read(); } }\n",
	  "check" },
	{ "linearizable", "operations on an object, each taking effect at one moment",
	  "A history is what the callers of an object observe: operations with their calls, their returns\n"
	  "and the returned values. It is linearizable if there is an order of the operations that the\n"
	  "object's specification allows, in which an operation that returned before another was called\n"
	  "precedes it (Herlihy and Wing). The condition says nothing about the implementation.\n\n"
	  "Atomicity concerns the states that code leaves behind, linearizability the values that it\n"
	  "returns: the methods of an object whose blocks are atomic are linearizable, but the values may be\n"
	  "correct without any block being atomic.\n\n"
	  "Weaker conditions for registers: regular (a read returns the last value written before it, or one\n"
	  "that is being written), safe (a read that overlaps a write may return any value).\n"
	  "'intact history FILE' checks recorded histories; 'object' in a model declares an implementation,\n"
	  "and 'intact check' checks every history of it ('intact explain monitor').\n",
	  "client,op,value,call,return\n"
	  "1,write,1,0,10\n"
	  "2,read,1,2,4\n"
	  "2,read,0,6,8\n",
	  "client,op,value,call,return\n"
	  "1,write,1,0,10\n"
	  "2,read,0,2,4\n"
	  "2,read,1,6,8\n",
	  "history" },
	{ "objects", "what a history can be about",
	  "'intact history --object=NAME' says what the operations of a history are about; without it the\n"
	  "names of the operations decide, and the report says what was guessed.\n"
	  "\n" EXPLAIN_OBJECTS "\n"
	  "--init=VALUE is how it starts. An object of your own is written in the model language: 'intact\n"
	  "history --spec=FILE.atm' (docs/history.md).\n",
	  "client,op,value,call,return\n"
	  "1,push-back,1,0,1\n"
	  "1,push-back,2,2,3\n"
	  "2,pop-front,2,4,5\n",
	  "client,op,value,call,return\n"
	  "1,push-back,1,0,1\n"
	  "1,push-back,2,2,3\n"
	  "2,pop-front,1,4,5\n",
	  "history" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
