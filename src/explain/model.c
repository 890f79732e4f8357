/* explain_model: the messages of the readers of models. */
#include "explain/explain.h"

#include <stddef.h>

#define T(body) "thread t { " body " }\n"

const struct explain_page explain_model[] = {
	{ "always-faults", "a statement that always causes a fault",
	  "A value outside the declared range, an index outside the array or a division by zero is a fault of\n"
	  "the model, and here it follows from the text alone. It is a warning: the statement may be\n"
	  "unreachable. 'intact check' shows the run that reaches it, if there is one.\n",
	  "int[0..3] x;\n" T("x = 4;"), "int[0..4] x;\n" T("x = 4;"), "atm" },
	{ "argument-count", "a call with too many or too few arguments",
	  "A procedure takes as many arguments as it has parameters; there are no defaults and no variable\n"
	  "argument lists.\n",
	  "int x;\nproc set(int v) { x = v; }\n" T("set(1, 2);"), "int x;\nproc set(int v) { x = v; }\n" T("set(1);"), "atm" },
	{ "array-length", "an array that is too long, empty, or has more values than elements",
	  "The length of an array is a constant of at least 1. An initialiser { a, b, ... } may have fewer\n"
	  "values than elements, but not more; the rest have the default value.\n",
	  "int a[2] = { 1, 2, 3 };\n" T("a[0] = a[1];"), "int a[3] = { 1, 2, 3 };\n" T("a[0] = a[1];"), "atm" },
	{ "assign-form", "an assignment that SML does not have",
	  "SML, the notation of the causal-atomicity paper, assigns with ':=' alone; '++', '+=' and '=' are C syntax.\n"
	  "They are allowed in .atm models.\n",
	  "int X;\nX++\n", "int X;\nX := X + 1\n", "sml" },
	{ "assign-in-condition", "'=' where a comparison is meant",
	  "As in C, '=' assigns and '==' compares, and an assignment inside a condition is nearly always a mistake.\n"
	  "It is not allowed here. (SML compares with '=' and assigns with ':='.)\n",
	  "int x;\n" T("if (x = 1) x = 2;"), "int x;\n" T("if (x == 1) x = 2;"), "atm" },
	{ "bad-byte", "a NUL byte, or text that is not UTF-8",
	  "Models are UTF-8 text. Comments may hold any characters, the rest is ASCII. A NUL byte usually means\n"
	  "that the file is not a model at all; save the file as UTF-8 if an editor wrote it otherwise.\n",
	  NULL, NULL, NULL },
	{ "bad-character", "an invalid character",
	  "Names are letters, digits and '_'; the operators are those of C. Quotes, '@', '#', '$', '?' alone and\n"
	  "typographic dashes or quotes (pasted from a document) are invalid.\n",
	  "int x;\n" T("x = x @ 2;"), "int x;\n" T("x = x * 2;"), "atm" },
	{ "bad-number", "a number that cannot be read or does not fit",
	  "Numbers are decimal or hexadecimal (0x1f) and fit into 32 bits with a sign. There are no octal numbers,\n"
	  "fractions or suffixes.\n",
	  "int x = 0x;\n" T("x = x;"), "int x = 0x1f;\n" T("x = x;"), "atm" },
	{ "cannot-read", "the file cannot be opened or read",
	  "The message after the name is the system's: no such file, no permission, a directory. '-' means\n"
	  "standard input. Files larger than 256 MiB are refused.\n",
	  NULL, NULL, NULL },
	{ "barrier-count", "a barrier for more threads than there are",
	  "A thread that waits at a barrier goes on when as many threads have arrived as the declaration says. With\n"
	  "fewer threads in the model no thread ever passes. It is a warning: --threads may start more of them.\n",
	  "barrier b = 3;\n" T("wait(b);"), "barrier b = 1;\n" T("wait(b);"), "atm" },
	{ "case-twice", "two labels of a switch with the same value",
	  "Each value has one case, and a switch has one default. The labels are constant expressions: two of them may be\n"
	  "written differently and still be equal.\n",
	  "int x;\n" T("switch (x) { case 1: x = 2; break; case 3 - 2: x = 3; }"),
	  "int x;\n" T("switch (x) { case 1: x = 2; break; case 2: x = 3; }"), "atm" },
	{ "chained-comparison", "a < b < c",
	  "As in C, this compares the truth value of a < b with c. It is a warning: write two comparisons.\n",
	  "int x;\n" T("if (1 < x < 3) x = 0;"), "int x;\n" T("if (1 < x && x < 3) x = 0;"), "atm" },
	{ "counter-range", "a for loop whose counter has no room for the value that ends it",
	  "The condition i < 4 becomes false when i is 4, so i is stored with the value 4: with int[0..3] i that is\n"
	  "a fault. It is a warning: the body may leave the loop earlier.\n",
	  "int a[4];\n" T("for (int[0..3] i = 0; i < 4; i++) a[i] = a[i];"),
	  "int a[4];\n" T("for (int[0..4] i = 0; i < 4; i++) a[i] = a[i];"), "atm" },
	{ "condition", "a condition on states that is not one",
	  "always, finally and can always reach look at states: at shared variables, at inside(block), the number of threads\n"
	  "inside a block, and at held(lock). They take no step, so they call nothing, and they name no local variable. What\n"
	  "only a thread knows is copied to a ghost variable. inside and held are for such conditions only.\n",
	  "int[0..3] x;\nalways fetch_add(x, 1) < 3;\n" T("x = 1;"), "int[0..3] x;\nalways x < 3;\n" T("x = 1;"), "atm" },
	{ "dead-code", "code that can never run",
	  "A block, statement or loop body that no execution reaches: after an endless loop, under a condition\n"
	  "that is constant, or in a repeat of zero iterations. No engine checks its contents, which matters\n"
	  "if it contains an atomic block.\n",
	  "int x;\n" T("repeat (-1) { x = x; }"), "int x;\n" T("repeat (2) { x = x; }"), "atm" },
	{ "declared-twice", "one name for two things",
	  "Variables, constants, locks, enumerators, procedures, threads and objects share one namespace. A\n"
	  "local may shadow a shared variable only in a different scope.\n",
	  "int x;\nlock x;\n" T("x = 1;"), "int x;\nlock l;\n" T("acquire(l); x = 1; release(l);"), "atm" },
	{ "empty-range", "a range whose end is before its beginning",
	  "int[lo..hi] has the values from lo to hi, inclusive, so lo is at most hi. The same applies to any(lo..hi).\n",
	  "int[3..0] x;\n" T("x = x;"), "int[0..3] x;\n" T("x = x;"), "atm" },
	{ "endless-loop", "a loop that reads no shared variable",
	  "The thread waits here forever: nothing in the loop is shared, so no other thread can end it. If it is\n"
	  "meant to wait, test a shared variable, or use assume().\n",
	  "int x;\n" T("x = x; while (true) { }"), "int x;\n" T("x = x; while (x == 0) { }"), "atm" },
	{ "fall-through", "a case of a switch that can run into the next one",
	  "In C, a case without break goes on with the statements of the next case, which is usually a mistake. Here every\n"
	  "case but the last ends in break, continue or return. Labels may stand together to share statements.\n",
	  "int x;\n" T("switch (x) { case 1: x = 2; case 2: x = 3; }"),
	  "int x;\n" T("switch (x) { case 1: x = 2; break; case 2: x = 3; }"), "atm" },
	{ "foreign-word", "a keyword of another language",
	  "The word is a keyword of C, Promela, PlusCal or similar, or of the other notation for models (.atm\n"
	  "or .sml), and is not supported here. The hint shows what to write instead.\n",
	  "int X;\nX := a[1]\n", "int X;\nX := 1\n", "sml" },
	{ "internal", "an internal error of intact",
	  "The program compiled from the model violates its own invariants. This is not an error in the model;\n"
	  "please report it together with the model.\n",
	  NULL, NULL, NULL },
	{ "ghost", "a ghost variable where the program would depend on it, or without a step",
	  "A ghost variable is for specifications: conditions on states, assertions and assignments to ghosts name it, and\n"
	  "nothing else does. An access to a ghost is no step of its own; it belongs to the step before it, which must be an\n"
	  "access to a shared variable or a lock. Entering a block is none: put the assignment behind the first access, or into\n"
	  "step { } together with one.\n",
	  "int[0..3] x;\nghost int[0..3] g;\nalways g <= 3;\n" T("x = 1; g = 1; if (g == 1) x = 2;"),
	  "int[0..3] x;\nghost int[0..3] g;\nalways g <= 3;\n" T("x = 1; g = 1; if (x == 1) x = 2;"), "atm" },
	{ "misplaced", "a statement or declaration in the wrong place",
	  "commit; belongs inside an atomic block, break and continue inside a loop, case inside a switch, return\n"
	  "inside a procedure; locks, constants and objects are declared at the top level.\n",
	  T("lock l; acquire(l); release(l);"), "lock l;\n" T("acquire(l); release(l);"), "atm" },
	{ "missing-case", "a switch on an enum that lacks an enumerator",
	  "Nothing happens for the enumerators without a case. It is a warning: add the case, or default: break; to say\n"
	  "that nothing is to happen.\n",
	  "enum e { A, B };\ne v;\n" T("switch (v) { case A: v = B; }"),
	  "enum e { A, B };\ne v;\n" T("switch (v) { case A: v = B; break; case B: v = A; }"), "atm" },
	{ "missing-else", "an if of SML without its else",
	  "In the grammar of the paper (Fig. 2) every if has both branches. Write else { skip }.\n",
	  "int X;\nif (X = 0) { X := 1 };\nX := 2\n", "int X;\nif (X = 0) { X := 1 } else { skip };\nX := 2\n", "sml" },
	{ "missing-semicolon", "two statements of SML without a separator",
	  "In SML ';' separates statements: write one between any two statements and none after the last.\n",
	  "int Y;\nY := 5\nY := 3\n", "int Y;\nY := 5;\nY := 3\n", "sml" },
	{ "name-case", "a name of SML that begins with the wrong case",
	  "In SML, global variables begin with a capital letter and locals with a lower-case one; this distinguishes\n"
	  "them, because locals are not declared.\n",
	  "int x;\nx := 1\n", "int X;\nX := 1\n", "sml" },
	{ "nested-atomic", "an atomic block inside another",
	  "Blocks do not nest: the inner block belongs to the outer one and is not checked separately. It is a warning,\n"
	  "because this is intended when an atomic procedure calls another; nesting through a call is also reported.\n",
	  "int X;\nbegin X := 1; begin X := 2 end end\n", "int X;\nbegin X := 1; X := 2 end\n", "sml" },
	{ "no-effect", "a statement that does nothing",
	  "An expression by itself. Often an assignment was meant ('==' for '='). Calls, cas(), exchange() and\n"
	  "fetch_add() have an effect and may be used as statements.\n",
	  "int x;\n" T("x == 1;"), "int x;\n" T("x = 1;"), "atm" },
	{ "no-shared-access", "an atomic block without shared accesses",
	  "Such a block is always atomic, so checking it proves nothing. Perhaps the variable was meant to be shared:\n"
	  "shared variables are declared at the top level.\n",
	  "int x;\nthread t { atomic { int y = 0; y = y + 1; } x = 1; }\n", "int x;\nthread t { atomic { x = x + 1; } }\n", "atm" },
	{ "no-specification", "an object without a specification",
	  "In a model an object is compared with a specification: object R : register(bool) { ... }. An object\n"
	  "that is a specification itself, with methods only, is for 'intact history --spec'.\n",
	  "object R {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T("R.write(true);"),
	  "object R : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T(
		  "R.write(true);"),
	  "atm" },
	{ "no-threads", "a model without a thread", "A model has at least one thread: thread name { ... }.\n", "int x;\n",
	  "int x;\n" T("x = 1;"), "atm" },
	{ "not-a-lock", "acquire or release of something that is not a lock",
	  "acquire() and release() take a variable declared with 'lock', or an element of an array of locks. A lock\n"
	  "coded by hand is a bool acquired with cas(): the engines recognise it.\n",
	  "bool busy;\n" T("acquire(busy); busy = busy;"), "lock busy;\n" T("acquire(busy); release(busy);"), "atm" },
	{ "not-a-procedure", "a call of something that cannot be called",
	  "Only procedures and the methods of objects can be called.\n", "int x;\n" T("x();"),
	  "int x;\nproc f() { x = 1; }\n" T("f();"), "atm" },
	{ "not-a-type", "a name that is not a type", "Types are bool, int, int[lo..hi] and the names of enums.\n",
	  "int x;\nx y;\n" T("x = x;"), "enum colour { RED, GREEN };\ncolour y;\n" T("y = GREEN;"), "atm" },
	{ "not-a-variable", "something that cannot be assigned or read like a variable",
	  "The left side of an assignment is a variable or an array element; a procedure, thread or object has no\n"
	  "value.\n",
	  "int x;\n" T("3 = x;"), "int x;\n" T("x = 3;"), "atm" },
	{ "not-an-object", "a method called on something that is not an object",
	  "NAME.method() needs an object declared with 'object NAME : register(...) { ... }'.\n", "int x;\n" T("x.read();"),
	  "object R : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T(
		  "R.read();"),
	  "atm" },
	{ "not-constant", "a value that must be known before anything runs",
	  "Initial values of shared variables, bounds of ranges, lengths of arrays, counts of threads and of repeat\n"
	  "are made of numbers and constants.\n",
	  "int x;\nint y = x + 1;\n" T("x = y;"), "const N = 1;\nint x;\nint y = N + 1;\n" T("x = y;"), "atm" },
	{ "not-in-step", "something that cannot be part of one step",
	  "step { } is one step of the machine. It cannot contain anything that takes several steps: accesses to safe and\n"
	  "regular variables, atomic blocks, calls of objects.\n",
	  "safe bool s;\n" T("step { s = true; }"), "bool s;\n" T("step { s = true; }"), "atm" },
	{ "not-shared", "cas, exchange or fetch_add on something that is not shared",
	  "These are single steps on a shared variable. Locals do not need them, and locks, constants, safe and\n"
	  "regular variables have their own operations.\n",
	  "int x;\n" T("int y = 0; if (cas(y, 0, 1)) x = 1;"), "int x;\n" T("if (cas(x, 0, 1)) x = 2;"), "atm" },
	{ "object-signature", "an object that does not have the methods of its specification",
	  "register(T) needs 'void write(T v)' and 'T read()'; other procedures are allowed.\n",
	  "object S : register(bool) { bool v; }\n" T("skip;"),
	  "object S : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T(
		  "S.write(true);"),
	  "atm" },
	{ "out-of-range", "an initial value outside the declared range",
	  "int[0..3] x = 4; cannot start. (A value that is stored later and does not fit is a fault, which\n"
	  "'intact check' finds with a run.)\n",
	  "int[0..3] x = 4;\n" T("x = 0;"), "int[0..4] x = 4;\n" T("x = 0;"), "atm" },
	{ "recursion", "a procedure that calls itself",
	  "Procedures are inlined, so a cycle of calls would never end. The message names the cycle. Use a loop.\n",
	  "int x;\nproc f() { x = 1; f(); }\n" T("f();"), "int x;\nproc f() { while (x < 3) { x = x + 1; } }\n" T("f();"), "atm" },
	{ "recursive-constant", "a constant that depends on itself",
	  "Constants may use each other in any order, but not cyclically.\n",
	  "const A = B + 1;\nconst B = A;\nint x = A;\n" T("x = x;"), "const A = B + 1;\nconst B = 1;\nint x = A;\n" T("x = x;"),
	  "atm" },
	{ "return-value", "a procedure that may end without the value it should return, or returns one it should not",
	  "A procedure declared with a type returns a value on every path; one declared with 'proc' or 'void' returns none.\n",
	  "int x;\nint get() { if (x > 0) return x; }\n" T("x = get();"),
	  "int x;\nint get() { if (x > 0) return x; return 0; }\n" T("x = get();"), "atm" },
	{ "syntax", "the text is not a model",
	  "Something else was expected here; the message says what. The mistake is often just before: a missing ';'\n"
	  "or parenthesis. docs/language.md has the grammar, and 'intact fmt' shows how a model is laid out.\n",
	  "int x;\nthread { x = x; }\n", "int x;\n" T("x = x;"), "atm" },
	{ "thread-count", "an invalid number of threads",
	  "thread name * n starts n threads; n is a constant from 1 to 10000. --threads name=n overrides it.\n",
	  "int x;\nthread t * 0 { x = x; }\n", "int x;\nthread t * 2 { x = x; }\n", "atm" },
	{ "too-deep", "nested too deeply",
	  "At most 400 statements or parentheses, 2,000 levels of an expression and 200 calls inside each other. Files\n"
	  "are not trusted, and this limits the resources that one can use.\n",
	  NULL, NULL, NULL },
	{ "too-large", "a model that is too large",
	  "A bound on slots, registers, globals, threads or instructions (docs/architecture.md, 'Memory and limits')\n"
	  "is exceeded, often by large arrays or by procedures that are inlined many times.\n",
	  "int x;\n" T("int a[4000]; int b[4000]; a[0] = x; b[0] = x; x = a[0] + b[0];"),
	  "int x;\n" T("int a[40]; int b[40]; a[0] = x; b[0] = x; x = a[0] + b[0];"), "atm" },
	{ "too-many-choices", "any() over too many values",
	  "Every value of any(lo..hi) is an alternative of the execution. At most 1,048,576 can be tried, and far fewer are\n"
	  "practical: 'intact check' explores all of them.\n",
	  "int x;\n" T("x = any(0..2000000);"), "int x;\n" T("x = any(0..3);"), "atm" },
	{ "type", "values of types that cannot be combined",
	  "bools count as 0 and 1 in arithmetic, but a number is not a truth value: compare it with something. Enums are\n"
	  "compatible only with themselves, and locks are not values.\n",
	  "lock l;\nint x;\n" T("x = l;"), "lock l;\nint x;\n" T("acquire(l); x = 1; release(l);"), "atm" },
	{ "unclosed", "a parenthesis, brace or begin that is not closed",
	  "The message names the line where it was opened. 'intact fmt' shows by its indentation where the end is\n"
	  "missing.\n",
	  "int X;\nbegin\n  X := 1\n||\nx := X\n", "int X;\nbegin\n  X := 1\nend\n||\nx := X\n", "sml" },
	{ "unclosed-comment", "a comment that is never closed",
	  "/* runs to the next */; comments do not nest. // runs to the end of the line.\n",
	  "int x;\n" T("x = x;") "/* and so on\n", "int x;\n" T("x = x;") "/* and so on */\n", "atm" },
	{ "undeclared-name", "an undeclared name",
	  "Names are declared before they are used: shared ones at the top level, locals in a thread, procedure or\n"
	  "block. If a similar name exists, the hint names it. Threads have no parameters and no\n"
	  "identities: let each thread take a number with fetch_add().\n",
	  "int count;\n" T("cuont = 1;"), "int count;\n" T("count = 1;"), "atm" },
	{ "unknown-object", "an unknown specification",
	  "Objects of models are register(T). Recorded histories support more objects: see 'intact help history'.\n",
	  "object Q : queue(int) {\n  int v;\n  void enq(int x) { v = x; }\n}\n" T("Q.enq(1);"),
	  "object Q : register(int) {\n  int v;\n  void write(int x) { v = x; }\n  int read() { return v; }\n}\n" T("Q.write(1);"),
	  "atm" },
	{ "unknown-thread", "--threads names a thread that the model does not have",
	  "--threads name=n sets the number of threads of that declaration, --threads name=any asks for a proof for\n"
	  "every number. The names are those after 'thread'; in SML they are T1, T2, ...\n",
	  NULL, NULL, NULL },
	{ "unreachable-commit", "an unreachable commit;",
	  "No path through the block reaches it, so the block commits at its exit. Often it follows a return,\n"
	  "break or continue.\n",
	  "int x;\n" T("while (true) { atomic { x = x + 1; continue; commit; } x = 0; }"),
	  "int x;\n" T("while (true) { atomic { x = x + 1; commit; } x = 0; }"), "atm" },
	{ "unused", "something that is declared and never used",
	  "A variable, parameter, procedure or constant that is never used. A warning: nothing depends on it.\n",
	  "int x;\nint f(int v) { return 5; }\n" T("x = f(1);"), "int x;\nint f(int v) { return v; }\n" T("x = f(1);"), "atm" },
	{ "walrus", "':=' in a .atm model",
	  "Assignments and initialisers are written with '=', as in C. ':=' is for SML (files ending in .sml, or\n"
	  "--sml).\n",
	  "int x := 3;\n" T("x = x;"), "int x = 3;\n" T("x = x;"), "atm" },
	{ "wrong-primitive", "a primitive applied to something else",
	  "wait() and post() are for semaphores, wait(c, l), signal() and broadcast() for conds, wait() for barriers,\n"
	  "acquire_read() and acquire_write() for rwlocks, call_once() for once flags, acquire() for locks. To wait until a\n"
	  "condition holds, use assume().\n",
	  "int x;\n" T("wait(x == 1);"), "int x;\n" T("assume(x == 1);"), "atm" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
