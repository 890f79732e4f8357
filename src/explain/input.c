/* explain_input: the messages about traces, histories, nets, schedules. */
#include "explain/explain.h"

#include <stddef.h>

const struct explain_page explain_input[] = {
	/* traces: impossible events */
	{ "after-join", "an event of a thread that has been joined",
	  "join(T) waits until T has ended, so no event of T can follow it. The trace is damaged, merged in the\n"
	  "wrong order, or the thread's name was reused. --lenient makes it a warning.\n",
	  "T1|fork(T2)|1\nT1|join(T2)|2\nT2|w(x)|3\n", "T1|fork(T2)|1\nT2|w(x)|3\nT1|join(T2)|2\n", "trace" },
	{ "begun-before", "the end of a block that began before the trace does",
	  "The trace begins in the middle of a run: the thread's events up to here are treated as outside of\n"
	  "blocks. A warning.\n",
	  "T1|w(x)|1\nT1|end|2\n", "T1|begin|0\nT1|w(x)|1\nT1|end|2\n", "trace" },
	{ "forked-late", "a thread that is forked after its first event",
	  "fork(T) starts T, so T has no events before it. Threads that exist from the start are never forked.\n",
	  "T2|w(x)|1\nT1|fork(T2)|2\n", "T1|fork(T2)|2\nT2|w(x)|1\n", "trace" },
	{ "end-without-begin", "the end of a block that was not begun",
	  "begin and end are paired within a thread, and this thread was forked in the trace, so its beginning is\n"
	  "recorded. --lenient ignores the end.\n",
	  "T1|fork(T2)|1\nT2|w(x)|1\nT2|end|2\n", "T1|fork(T2)|1\nT2|begin|0\nT2|w(x)|1\nT2|end|2\n", "trace" },
	{ "fork-self", "a thread that forks itself", "The thread and its target have the same name. --lenient ignores the event.\n",
	  "T1|fork(T1)|1\n", "T1|fork(T2)|1\n", "trace" },
	{ "forked-twice", "a thread that is forked twice",
	  "A thread is started once. Programs that reuse a thread's name must rename the second thread.\n",
	  "T1|fork(T2)|1\nT1|fork(T2)|2\n", "T1|fork(T2)|1\nT1|fork(T3)|2\n", "trace" },
	{ "join-self", "a thread that joins itself",
	  "The thread and its target have the same name: it would wait for itself forever. --lenient ignores\n"
	  "the event.\n",
	  "T1|join(T1)|1\n", "T1|join(T2)|1\n", "trace" },
	{ "joined-in-block", "a thread that is joined while it is inside a block",
	  "A thread that has ended has left its blocks. Usually an end is missing, because the block was left by an\n"
	  "exception or a jump that was not recorded.\n",
	  "T1|fork(T2)|1\nT2|begin|2\nT2|w(x)|3\nT1|join(T2)|4\n",
	  "T1|fork(T2)|1\nT2|begin|2\nT2|w(x)|3\nT2|end|3\nT1|join(T2)|4\n", "trace" },
	{ "joined-twice", "a thread that is joined twice", "Only one thread can join another thread.\n",
	  "T1|fork(T2)|1\nT1|join(T2)|2\nT1|join(T2)|3\n", "T1|fork(T2)|1\nT1|join(T2)|2\n", "trace" },
	{ "lock-held", "a lock that is taken while another thread holds it",
	  "acq(m) is recorded after the lock is acquired. Two holders mean that a release is missing or that events\n"
	  "were recorded in a different order than they happened.\n",
	  "T1|acq(m)|1\nT2|acq(m)|2\n", "T1|acq(m)|1\nT1|rel(m)|1\nT2|acq(m)|2\n", "trace" },
	{ "lock-held-before", "a lock that was held when the trace begins",
	  "It is released without having been acquired: the trace begins in the middle of a run. A warning.\n", "T1|rel(m)|1\n",
	  "T1|acq(m)|0\nT1|rel(m)|1\n", "trace" },
	{ "lock-not-held", "a release by a thread that does not hold the lock",
	  "Only the holder can release. For locks that one thread acquires and another releases (semaphores), record an\n"
	  "access to a variable instead.\n",
	  "T1|acq(m)|1\nT2|rel(m)|2\n", "T1|acq(m)|1\nT1|rel(m)|2\n", "trace" },
	/* traces: text and files */
	{ "bad-trace", "a recorded trace that cannot be read",
	  "The file has the header of an Intact trace, but its contents are invalid. Record it again.\n", NULL, NULL, NULL },
	{ "damaged-trace", "a trace that is truncated or damaged",
	  "The part before the damage is checked, and the verdict applies only to that part.\n", NULL, NULL, NULL },
	{ "memory", "out of memory while reading a trace",
	  "The limit of --memory was reached, or the machine has no more memory. The answer is unknown.\n", NULL, NULL, NULL },
	{ "name-too-long", "a name of more than 4096 bytes",
	  "Threads, variables, locks and places have names; one this long usually means a missing line break.\n", NULL, NULL,
	  NULL },
	{ "no-operation", "a line of a text trace without an operation", "A line is thread|op(target)|place.\n", "T1\n",
	  "T1|w(x)|12\n", "trace" },
	{ "no-parenthesis", "a target that is not closed", "A target is written in parentheses.\n", "T1|w(x|12\n", "T1|w(x)|12\n",
	  "trace" },
	{ "no-target", "an operation that needs a target",
	  "r, w, acq, rel, fork and join need a target: w(x), acq(m), fork(T2). begin and end do not.\n", "T1|w|12\n",
	  "T1|w(x)|12\n", "trace" },
	{ "no-thread", "a line of a text trace without a thread", "A line begins with the thread's name.\n", "|w(x)|12\n",
	  "T1|w(x)|12\n", "trace" },
	{ "not-a-trace", "a file that is not a trace",
	  "Expected lines such as T1|w(x)|12, or a file written by 'intact run'. Use 'intact check' for models and\n"
	  "'intact history' for histories.\n",
	  NULL, NULL, NULL },
	{ "trailing-text", "more than three fields on a line of a text trace",
	  "A line is thread|op(target)|place, with nothing after it.\n", "T1|w(x)|12|13\n", "T1|w(x)|12\n", "trace" },
	{ "unknown-operation", "an unknown operation",
	  "Text traces have r, w, acq, rel, fork, join, begin and end. The operations of histories depend on the object\n"
	  "(docs/history.md, 'Objects').\n",
	  "T1|frob(x)|12\n", "T1|w(x)|12\n", "trace" },
	/* histories */
	{ "bad-header", "a table of operations without a column that is needed",
	  "The columns are client,op,value,call,return, in any order.\n", "client,value,call,return\n1,2,3,4\n",
	  "client,op,value,call,return\n1,write,2,3,4\n", "history" },
	{ "bad-operation", "an operation with an invalid value",
	  "A cas needs a pair [from to], a write a value, an enqueue an element.\n", NULL, NULL, NULL },
	{ "bad-init", "an initial value that the object cannot have",
	  "A counter starts as an integer, a mutex as true or false, a set, queue, stack or list as its elements: [1 2].\n", NULL,
	  NULL, NULL },
	{ "bad-object", "an object that --follow cannot judge",
	  "A relaxed object (relaxed-queue, relaxed-stack, relaxed-priority-queue) may take one of several elements, and\n"
	  "which one is known only when the operation answers. Check the recorded history without --follow.\n",
	  NULL, NULL, NULL },
	{ "bad-record", "a record that is not complete",
	  "A map that is not closed, or that names neither the operation nor the process. Records look like\n"
	  "{:process 0, :type :invoke, :f :write, :value 3}.\n",
	  "{:process 0, :type :invoke, :value 3}\n", "{:process 0, :type :invoke, :f :write, :value 3}\n", "history" },
	{ "bad-row", "a row with more or fewer columns than the header", "One cell per column; cells may be empty.\n",
	  "client,op,value,call,return\n1,write,2,3\n", "client,op,value,call,return\n1,write,2,3,4\n", "history" },
	{ "bad-time", "a time that is not a whole number",
	  "Times are whole numbers in any unit. An operation that never returned has '-' or nothing as its return.\n",
	  "client,op,value,call,return\n1,write,2,x,4\n", "client,op,value,call,return\n1,write,2,3,4\n", "history" },
	{ "empty-history", "a history without operations",
	  "The file contains only comments and skipped records. An empty history would be linearizable, but it is more\n"
	  "likely that the wrong file was given.\n",
	  NULL, NULL, NULL },
	{ "mixed-records", "whole operations and events in one history",
	  "Either every record has its call and its return, or invocations and responses are records of their own.\n", NULL, NULL,
	  NULL },
	{ "no-operations", "a history without an operation to check",
	  "Nothing was checked, so there is no verdict. The file is empty, or it was read in the wrong format (--format\n"
	  "sets it), or it has only records of processes that are not clients, or every operation failed.\n",
	  NULL, NULL, NULL },
	{ "no-time", "a record without a time where times are required",
	  "--order=time sorts by the times of the records, so each of them needs one.\n", NULL, NULL, NULL },
	{ "not-a-register", "k-atomicity of an object that is not a register",
	  "Staleness of reads is defined only for registers with reads and writes.\n", NULL, NULL, NULL },
	{ "not-events", "--follow needs events as they happen",
	  "A history that is checked while it is written must consist of invocations and responses, not of whole operations.\n",
	  NULL, NULL, NULL },
	{ "pairs", "keys within the values, detected too late",
	  "Jepsen's independent tests write values as [key value]. --follow detects this only at the beginning of a\n"
	  "history; --pairs=yes sets it.\n",
	  NULL, NULL, NULL },
	{ "response-mismatch", "a response to another operation than the open one",
	  "A process has one operation open at a time, and the response is to that one.\n",
	  "{:process 0, :type :invoke, :f :write, :value 3}\n{:process 0, :type :ok, :f :read, :value 3}\n",
	  "{:process 0, :type :invoke, :f :write, :value 3}\n{:process 0, :type :ok, :f :write, :value 3}\n", "history" },
	{ "response-without-invocation", "a response of a process that has nothing open",
	  "The invocation is missing, or follows its response.\n", "{:process 0, :type :ok, :f :write, :value 3}\n",
	  "{:process 0, :type :invoke, :f :write, :value 3}\n{:process 0, :type :ok, :f :write, :value 3}\n", "history" },
	{ "time-backwards", "times that go backwards",
	  "An operation that returns before it is called, or records whose times do not rise with their lines.\n"
	  "--order=lines ignores the times, --order=time sorts by them.\n",
	  "client,op,value,call,return\n1,write,2,9,4\n", "client,op,value,call,return\n1,write,2,3,4\n", "history" },
	{ "two-open-operations", "a process that calls before its previous operation returned",
	  "A process is sequential: it does not call again before its previous operation ends (ok, fail or info).\n",
	  "{:process 0, :type :invoke, :f :write, :value 3}\n{:process 0, :type :invoke, :f :read, :value nil}\n",
	  "{:process 0, :type :invoke, :f :write, :value 3}\n{:process 1, :type :invoke, :f :read, :value nil}\n", "history" },
	{ "two-open-transactions", "a process that begins a transaction before its previous one ended",
	  "A process is sequential: it does not begin a transaction before its previous one ends (ok, fail or info).\n",
	  "{:process 0, :type :invoke, :f :txn, :value [[:w x 1]]}\n{:process 0, :type :invoke, :f :txn, :value [[:r x nil]]}\n",
	  "{:process 0, :type :invoke, :f :txn, :value [[:w x 1]]}\n{:process 1, :type :invoke, :f :txn, :value [[:r x nil]]}\n",
	  "history" },
	{ "mixed-key", "a key that is used as a register and as a list",
	  "A key either is written and read as a register ([:w k v]) or appended to as a list ([:append k v]).\n", NULL, NULL,
	  NULL },
	{ "no-transactions", "a history of transactions without a transaction",
	  "The file was read as a history of transactions, but none is left to check: all records are of the nemesis, or\n"
	  "aborted.\n",
	  NULL, NULL, NULL },
	{ "no-logs", "a directory without logs of transactions",
	  "A directory is read as Cobra writes it: one file NAME.log (plain, gzip or zstd) for each client. Other formats are\n"
	  "files: name the file itself.\n",
	  NULL, NULL, NULL },
	{ "no-order", "a level that needs an order that the history does not have",
	  "Strong levels need the times of invocations and answers, strong-session levels need processes. Without them only\n"
	  "the plain levels can be checked: --level=serializable instead of strict-serializable.\n",
	  NULL, NULL, NULL },
	{ "transactions", "an option for objects with a history of transactions",
	  "The history consists of transactions. They are checked for isolation levels (--level), not as operations on one\n"
	  "object: --object, --spec, --condition and --algorithm do not apply.\n",
	  NULL, NULL, NULL },
	{ "unknown-format", "a history in an unknown format",
	  "The formats are edn, json, csv (client,op,value,call,return) and the log of Jepsen; --format selects one.\n",
	  "hello there\n", "client,op,value,call,return\n1,write,2,3,4\n", "history" },
	/* nets */
	{ "net-arc-twice", "a duplicate arc",
	  "In a 1-safe net an arc has weight 1, so it appears once. A transition may consume from a place and produce on it:\n"
	  "those are two arcs.\n",
	  NULL, NULL, NULL },
	{ "net-memory", "out of memory while reading a net",
	  "The text of the net did not fit into memory. Nets of up to 2^24 places and transitions\n"
	  "can be read.\n",
	  NULL, NULL, NULL },
	{ "net-no-input", "a transition without an input place",
	  "It could fire forever, so the net is not 1-safe. Give it a place that holds a token at the start.\n", NULL, NULL, NULL },
	{ "net-node-twice", "two places or transitions with the same number or id",
	  "Arcs refer to numbers (ll_net) or ids (PNML), so these must be unique. In ll_net places and transitions\n"
	  "are numbered separately.\n",
	  NULL, NULL, NULL },
	{ "net-syntax", "the text is not a net",
	  "Expected PEP's ll_net (PEP, PTNet, FORMAT_N, then the sections PL, TR, TP, PT) or PNML.\n", "PT_NET\n",
	  "PEP\nPTNet\nFORMAT_N\nPL\n1\"p\"M1\n2\"q\"\nTR\n1\"t\"\nTP\n1<2\nPT\n1>1\n", "net" },
	{ "net-too-large", "a net that is too large",
	  "A net has at most 2^24 places and transitions, and a transition at most 4,096 input places.\n", NULL, NULL, NULL },
	{ "net-unknown-node", "an arc to something that is not declared", "The sections PL and TR come before the arcs.\n",
	  "PEP\nPTNet\nFORMAT_N\nPL\n1\"p\"M1\nTR\n1\"t\"\nTP\n1<2\nPT\n1>1\n",
	  "PEP\nPTNet\nFORMAT_N\nPL\n1\"p\"M1\n2\"q\"\nTR\n1\"t\"\nTP\n1<2\nPT\n1>1\n", "net" },
	{ "net-unsafe", "a net that is not 1-safe",
	  "Places hold at most one token, and arcs have weight 1. The unfolding checks that the net stays 1-safe.\n",
	  "PEP\nPTNet\nFORMAT_N\nPL\n1\"p\"M2\n2\"q\"\nTR\n1\"t\"\nTP\n1<2\nPT\n1>1\n",
	  "PEP\nPTNet\nFORMAT_N\nPL\n1\"p\"M1\n2\"q\"\nTR\n1\"t\"\nTP\n1<2\nPT\n1>1\n", "net" },
	{ "net-unsupported", "an unsupported kind of net",
	  "Not supported: coloured nets, inhibitor and reset arcs, reference nodes, several nets in a file.\n", NULL, NULL, NULL },
	/* the project file */
	{ "project-syntax", "a project file that cannot be read",
	  "intact.toml is TOML: `key = value` lines below `[command]` headings. Values are strings on one line, integers,\n"
	  "true, false, and arrays of strings. Floats, dates, inline tables and strings of several lines are not supported.\n"
	  "INTACT_PROJECT=none ignores the file.\n",
	  NULL, NULL, NULL },
	{ "project-unknown-key", "a key of the project file that nothing reads",
	  "A table has the name of a command, and its keys are the command's long options. Before the first table:\n"
	  "atomic, not-atomic, suppressions and baseline, for every command that has them.\n",
	  NULL, NULL, NULL },
	{ "project-value", "a value of the project file that does not fit its key",
	  "Flags take true or false, numbers are integers, options that can be repeated take an array of strings, and all\n"
	  "others a string. A value is checked as it would be on the command line.\n",
	  NULL, NULL, NULL },
	{ "baseline-syntax", "a baseline that cannot be read",
	  "A baseline holds known findings of `intact run`, a JSON object on each line: first\n"
	  "{\"intact\": \"baseline\", \"version\": 1}, then entries with `function`, `pattern`, `after` and `before` (lists of\n"
	  "functions), and `mark` for a marked block. Lines that begin with # are comments. 'intact run --learn FILE' writes it.\n",
	  NULL, NULL, NULL },
	/* the rest */
	{ "causal-track", "--track or --abstract of an unsuitable variable",
	  "The causal engine tracks the values of booleans, enums, locks and ranges of at most 4 values, and\n"
	  "no others. --track x also tracks those of x, if its type has at most 256 values; --abstract x stops tracking\n"
	  "them. Both name a shared variable.\n",
	  NULL, NULL, NULL },
	{ "assertion", "--assertion with objects that it does not support",
	  "The assertions of the SOAR paper check registers with a single writer, for atomicity. Omit the option:\n"
	  "the monitor supports any number of writers.\n",
	  NULL, NULL, NULL },
	{ "not-a-specification", "a file that --spec cannot use",
	  "'intact history --spec FILE' takes a model with one object whose methods say what each operation does, and\n"
	  "nothing else: no threads, no locks, no atomic blocks. The message names the problem.\n",
	  NULL, NULL, NULL },
	{ "not-exported", "a model that cannot be expressed in Promela",
	  "SPIN has no safe or regular variables and no histories of objects, and runs at most 255 processes.\n"
	  "'intact check' decides such models.\n",
	  NULL, NULL, NULL },
	{ "schedule", "a schedule that cannot be read or followed",
	  "A schedule is a list of threads, by number or name, with the alternative where a step has a choice:\n"
	  "1,2,2.1,worker.2*5. A step that is not enabled is an error.\n",
	  NULL, NULL, NULL },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
