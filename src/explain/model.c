/* explain_model: the messages of the readers of models. */
#include "explain/explain.h"

#include <stddef.h>

#define T(body) "thread t { " body " }\n"

const struct explain_page explain_model[] = {
	{ "always-faults", "a statement that goes wrong whenever it runs",
	  "A value outside the declared range, an index outside the array or a division by zero is a fault of\n"
	  "the model, and here it can be seen from the text alone. It is a warning: the statement may be\n"
	  "unreachable. 'intact check' would show the run that gets there.\n",
	  "int[0..3] x;\n" T("x = 4;"), "int[0..4] x;\n" T("x = 4;"), "atm" },
	{ "argument-count", "a call with too many or too few arguments",
	  "A procedure takes as many arguments as it has parameters; there are no defaults and no variable\n"
	  "argument lists.\n",
	  "int x;\nproc set(int v) { x = v; }\n" T("set(1, 2);"), "int x;\nproc set(int v) { x = v; }\n" T("set(1);"), "atm" },
	{ "array-length", "an array that is too long, empty, or has more values than elements",
	  "The length of an array is a constant of at least 1. An initialiser { a, b, ... } may have fewer\n"
	  "values than there are elements, the rest start as usual, but not more.\n",
	  "int a[2] = { 1, 2, 3 };\n" T("a[0] = a[1];"), "int a[3] = { 1, 2, 3 };\n" T("a[0] = a[1];"), "atm" },
	{ "assign-form", "an assignment that SML does not have",
	  "SML, the notation of the causal-atomicity paper, assigns with ':=' alone; '++', '+=' and '=' are C.\n"
	  "In a .atm model they are all right.\n",
	  "int X;\nX++\n", "int X;\nX := X + 1\n", "sml" },
	{ "assign-in-condition", "'=' where a comparison is meant",
	  "As in C, '=' assigns and '==' compares, and an assignment inside a condition is nearly always a slip.\n"
	  "It is not allowed here. (SML compares with '=' and assigns with ':='.)\n",
	  "int x;\n" T("if (x = 1) x = 2;"), "int x;\n" T("if (x == 1) x = 2;"), "atm" },
	{ "bad-byte", "a NUL byte, or text that is not UTF-8",
	  "Models are UTF-8 text. Comments may hold any characters, the rest is ASCII. A NUL byte usually means\n"
	  "that the file is not a model at all; save the file as UTF-8 if an editor wrote it otherwise.\n",
	  NULL, NULL, NULL },
	{ "bad-character", "a character that means nothing here",
	  "Names are letters, digits and '_'; the operators are those of C. Quotes, '@', '#', '$', '?' alone and\n"
	  "typographic dashes or quotes (pasted from a document) mean nothing.\n",
	  "int x;\n" T("x = x @ 2;"), "int x;\n" T("x = x * 2;"), "atm" },
	{ "bad-number", "a number that cannot be read or does not fit",
	  "Numbers are decimal or hexadecimal (0x1f) and fit into 32 bits with a sign. There are no octal numbers,\n"
	  "fractions or suffixes.\n",
	  "int x = 0x;\n" T("x = x;"), "int x = 0x1f;\n" T("x = x;"), "atm" },
	{ "cannot-read", "the file cannot be opened or read",
	  "The message behind the name is the system's: no such file, no permission, a directory. '-' stands for\n"
	  "standard input. Files larger than 256 MiB are refused.\n",
	  NULL, NULL, NULL },
	{ "chained-comparison", "a < b < c",
	  "As in C, this compares the truth value of a < b with c. It is a warning: say what is meant.\n",
	  "int x;\n" T("if (1 < x < 3) x = 0;"), "int x;\n" T("if (1 < x && x < 3) x = 0;"), "atm" },
	{ "dead-code", "code that can never run",
	  "A block, statement or loop body that no execution reaches: behind an endless loop, under a condition\n"
	  "that is constant, a repeat of no rounds. What stands in it is not checked by any engine, which is worth\n"
	  "knowing when an atomic block is among it.\n",
	  "int x;\n" T("repeat (-1) { x = x; }"), "int x;\n" T("repeat (2) { x = x; }"), "atm" },
	{ "declared-twice", "one name for two things",
	  "Variables, constants, locks, enumerators, procedures, threads and objects share one space of names. A\n"
	  "local may shadow a shared variable only where that is not the same scope.\n",
	  "int x;\nlock x;\n" T("x = 1;"), "int x;\nlock l;\n" T("acquire(l); x = 1; release(l);"), "atm" },
	{ "empty-range", "a range whose end is before its beginning",
	  "int[lo..hi] has the values from lo to hi, both included, so lo is at most hi. The same goes for any(lo..hi).\n",
	  "int[3..0] x;\n" T("x = x;"), "int[0..3] x;\n" T("x = x;"), "atm" },
	{ "endless-loop", "a loop that looks at nothing shared",
	  "The thread waits here for ever: nothing in the loop is shared, so no other thread can end it. If it is\n"
	  "meant to wait, test a shared variable, or use assume().\n",
	  "int x;\n" T("x = x; while (true) { }"), "int x;\n" T("x = x; while (x == 0) { }"), "atm" },
	{ "foreign-word", "a word of another language",
	  "The word is known from C, Promela, PlusCal or the like, or belongs to the other notation of models (.atm\n"
	  "or .sml), and means nothing here. The hint says what to write instead.\n",
	  "int X;\nX := a[1]\n", "int X;\nX := 1\n", "sml" },
	{ "internal", "a mistake of intact itself",
	  "The program made from the model does not meet its own invariants. Nothing is wrong with the model that\n"
	  "one could say; please report it together with the model.\n",
	  NULL, NULL, NULL },
	{ "misplaced", "a statement or declaration where it cannot stand",
	  "commit; stands inside an atomic block, break and continue inside a loop, return inside a procedure; locks,\n"
	  "constants and objects are declared at the top level.\n",
	  T("lock l; acquire(l); release(l);"), "lock l;\n" T("acquire(l); release(l);"), "atm" },
	{ "missing-else", "an if of SML without its else",
	  "In the grammar of the paper (Fig. 2) every if has both branches. Write else { skip }.\n",
	  "int X;\nif (X = 0) { X := 1 };\nX := 2\n", "int X;\nif (X = 0) { X := 1 } else { skip };\nX := 2\n", "sml" },
	{ "missing-semicolon", "two statements of SML with nothing between them",
	  "In SML ';' separates statements: none behind the last one, one between any two.\n",
	  "int Y;\nY := 5\nY := 3\n", "int Y;\nY := 5;\nY := 3\n", "sml" },
	{ "name-case", "a name of SML that begins with the wrong case",
	  "In SML, global variables begin with a capital letter and locals with a small one; that is how they are\n"
	  "told apart, for locals are not declared.\n",
	  "int x;\nx := 1\n", "int X;\nX := 1\n", "sml" },
	{ "nested-atomic", "an atomic block inside another",
	  "Blocks do not nest: the inner one belongs to the outer one and is not judged by itself. It is a warning,\n"
	  "because that is what one wants when an atomic procedure calls another; through a call it is found too.\n",
	  "int X;\nbegin X := 1; begin X := 2 end end\n", "int X;\nbegin X := 1; X := 2 end\n", "sml" },
	{ "no-effect", "a statement that does nothing",
	  "An expression by itself. Often an assignment was meant ('==' for '='). Calls, cas(), exchange() and\n"
	  "fetch_add() do something and may stand alone.\n",
	  "int x;\n" T("x == 1;"), "int x;\n" T("x = 1;"), "atm" },
	{ "no-shared-access", "an atomic block that touches nothing shared",
	  "Such a block is atomic whatever it does, so it says nothing. Perhaps the variable was meant to be shared:\n"
	  "those are declared at the top level.\n",
	  "int x;\nthread t { atomic { int y = 0; y = y + 1; } x = 1; }\n", "int x;\nthread t { atomic { x = x + 1; } }\n", "atm" },
	{ "no-specification", "an object that does not say what it implements",
	  "In a model an object is compared with something abstract: object R : register(bool) { ... }. An object\n"
	  "that is a specification itself, with methods only, is for 'intact history --spec'.\n",
	  "object R {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T("R.write(true);"),
	  "object R : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n"
	  T("R.write(true);"), "atm" },
	{ "no-threads", "a model without a thread",
	  "Declarations alone do nothing. A model has at least one thread: thread name { ... }.\n",
	  "int x;\n", "int x;\n" T("x = 1;"), "atm" },
	{ "not-a-lock", "acquire or release of something else",
	  "acquire() and release() take a variable declared with 'lock', or an element of an array of locks. A lock\n"
	  "coded by hand is a bool taken with cas(): the engines recognise it.\n",
	  "bool busy;\n" T("acquire(busy); busy = busy;"), "lock busy;\n" T("acquire(busy); release(busy);"), "atm" },
	{ "not-a-procedure", "a call of something that cannot be called",
	  "Only procedures and the methods of objects can be called.\n",
	  "int x;\n" T("x();"), "int x;\nproc f() { x = 1; }\n" T("f();"), "atm" },
	{ "not-a-type", "a name that is no type",
	  "Types are bool, int, int[lo..hi] and the names of enums.\n",
	  "int x;\nx y;\n" T("x = x;"), "enum colour { RED, GREEN };\ncolour y;\n" T("y = GREEN;"), "atm" },
	{ "not-a-variable", "something that cannot be assigned or read like a variable",
	  "The left side of an assignment is a variable or an array element; a procedure, thread or object has no\n"
	  "value.\n",
	  "int x;\n" T("3 = x;"), "int x;\n" T("x = 3;"), "atm" },
	{ "not-an-object", "a method called on something else",
	  "NAME.method() needs an object declared with 'object NAME : register(...) { ... }'.\n",
	  "int x;\n" T("x.read();"),
	  "object R : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n" T("R.read();"),
	  "atm" },
	{ "not-constant", "a value that must be known before anything runs",
	  "Initial values of shared variables, bounds of ranges, lengths of arrays, counts of threads and of repeat\n"
	  "are made of numbers and constants.\n",
	  "int x;\nint y = x + 1;\n" T("x = y;"), "const N = 1;\nint x;\nint y = N + 1;\n" T("x = y;"), "atm" },
	{ "not-in-step", "something that cannot be part of one step",
	  "step { } is one step of the machine. What takes time of its own cannot stand in it: accesses to safe and\n"
	  "regular variables, atomic blocks, calls of objects.\n",
	  "safe bool s;\n" T("step { s = true; }"), "bool s;\n" T("step { s = true; }"), "atm" },
	{ "not-shared", "cas, exchange or fetch_add on something that is not shared",
	  "These are single steps on a shared variable. Locals need none of them, and locks, constants, safe and\n"
	  "regular variables have operations of their own.\n",
	  "int x;\n" T("int y = 0; if (cas(y, 0, 1)) x = 1;"), "int x;\n" T("if (cas(x, 0, 1)) x = 2;"), "atm" },
	{ "object-signature", "an object that does not have the methods of its specification",
	  "register(T) needs 'void write(T v)' and 'T read()'; other procedures may stand beside them.\n",
	  "object S : register(bool) { bool v; }\n" T("skip;"),
	  "object S : register(bool) {\n  bool v;\n  void write(bool b) { v = b; }\n  bool read() { return v; }\n}\n"
	  T("S.write(true);"), "atm" },
	{ "out-of-range", "an initial value outside the declared range",
	  "int[0..3] x = 4; cannot start. (A value that is stored later and does not fit is a fault, which\n"
	  "'intact check' finds with a run.)\n",
	  "int[0..3] x = 4;\n" T("x = 0;"), "int[0..4] x = 4;\n" T("x = 0;"), "atm" },
	{ "recursion", "a procedure that calls itself",
	  "Procedures are inlined, so a cycle of calls would never end. The message names the cycle. Use a loop.\n",
	  "int x;\nproc f() { x = 1; f(); }\n" T("f();"), "int x;\nproc f() { while (x < 3) { x = x + 1; } }\n" T("f();"), "atm" },
	{ "recursive-constant", "a constant that depends on itself",
	  "Constants may use each other in any order, but not in a circle.\n",
	  "const A = B + 1;\nconst B = A;\nint x = A;\n" T("x = x;"), "const A = B + 1;\nconst B = 1;\nint x = A;\n" T("x = x;"), "atm" },
	{ "return-value", "a procedure that should return a value and may not, or the other way round",
	  "One declared with a type returns a value on every path; one declared with 'proc' or 'void' returns none.\n",
	  "int x;\nint get() { if (x > 0) return x; }\n" T("x = get();"), "int x;\nint get() { if (x > 0) return x; return 0; }\n" T("x = get();"),
	  "atm" },
	{ "syntax", "the text is not a model",
	  "Something else was expected here; the message says what. The mistake is often just before: a missing ';'\n"
	  "or parenthesis. docs/language.md has the grammar, and 'intact fmt' shows how a model is laid out.\n",
	  "int x;\nthread { x = x; }\n", "int x;\n" T("x = x;"), "atm" },
	{ "thread-count", "a number of threads that cannot be",
	  "thread name * n starts n threads; n is a constant from 1 to 10000. --threads name=n overrides it.\n",
	  "int x;\nthread t * 0 { x = x; }\n", "int x;\nthread t * 2 { x = x; }\n", "atm" },
	{ "too-deep", "nested more deeply than can be read",
	  "At most 400 statements or parentheses, 2,000 levels of an expression and 200 calls inside each other. Files\n"
	  "are not trusted, and this keeps one from eating the machine.\n",
	  NULL, NULL, NULL },
	{ "too-large", "a model beyond what can be held",
	  "A bound on slots, registers, globals, threads or instructions (docs/architecture.md, 'Memory and limits')\n"
	  "is exceeded, often by large arrays or by procedures that are inlined many times.\n",
	  "int x;\n" T("int a[4000]; int b[4000]; a[0] = x; b[0] = x; x = a[0] + b[0];"),
	  "int x;\n" T("int a[40]; int b[40]; a[0] = x; b[0] = x; x = a[0] + b[0];"), "atm" },
	{ "too-many-choices", "any() over more values than can be tried",
	  "Every value of any(lo..hi) is a way the execution may go. At most 1,048,576 can be tried, and far fewer are\n"
	  "wise: 'intact check' looks at all of them.\n",
	  "int x;\n" T("x = any(0..2000000);"), "int x;\n" T("x = any(0..3);"), "atm" },
	{ "type", "values of types that do not go together",
	  "bools count as 0 and 1 in arithmetic, but a number is no truth value: compare it with something. Enums go\n"
	  "with themselves only, and locks are no values at all.\n",
	  "lock l;\nint x;\n" T("x = l;"), "lock l;\nint x;\n" T("acquire(l); x = 1; release(l);"), "atm" },
	{ "unclosed", "a parenthesis, brace or begin without its end",
	  "The message names the line where it was opened. 'intact fmt' shows by its indentation where the end is\n"
	  "missing.\n",
	  "int X;\nbegin\n  X := 1\n||\nx := X\n", "int X;\nbegin\n  X := 1\nend\n||\nx := X\n", "sml" },
	{ "unclosed-comment", "a comment that is never closed",
	  "/* runs to the next */; comments do not nest. // runs to the end of the line.\n",
	  "int x;\n" T("x = x;") "/* and so on\n", "int x;\n" T("x = x;") "/* and so on */\n", "atm" },
	{ "undeclared-name", "a name that is declared nowhere",
	  "Names are declared before they are used: shared ones at the top level, locals in a thread, procedure or\n"
	  "block. When one that is nearly the same exists, the hint names it. Threads have no parameters and no\n"
	  "identities: let each take a number with fetch_add().\n",
	  "int count;\n" T("cuont = 1;"), "int count;\n" T("count = 1;"), "atm" },
	{ "unknown-object", "a specification that does not exist",
	  "Objects of models are register(T). Recorded histories know more: see 'intact help history'.\n",
	  "object Q : queue(int) {\n  int v;\n  void enq(int x) { v = x; }\n}\n" T("Q.enq(1);"),
	  "object Q : register(int) {\n  int v;\n  void write(int x) { v = x; }\n  int read() { return v; }\n}\n" T("Q.write(1);"), "atm" },
	{ "unknown-thread", "--threads names a thread that the model does not have",
	  "--threads name=n sets the number of threads of that declaration, --threads name=any asks for a proof for\n"
	  "every number. The names are those behind 'thread'; those of SML are T1, T2, ...\n",
	  NULL, NULL, NULL },
	{ "unreachable-commit", "a commit; that is never passed",
	  "No path through the block gets to it, so the block commits as it leaves. Often it stands behind a return,\n"
	  "break or continue.\n",
	  "int x;\n" T("while (true) { atomic { x = x + 1; continue; commit; } x = 0; }"),
	  "int x;\n" T("while (true) { atomic { x = x + 1; commit; } x = 0; }"), "atm" },
	{ "unused", "something that is declared and never used",
	  "A variable, parameter, procedure or constant that nothing looks at. A warning: nothing depends on it.\n",
	  "int x;\nint f(int v) { return 5; }\n" T("x = f(1);"), "int x;\nint f(int v) { return v; }\n" T("x = f(1);"), "atm" },
	{ "walrus", "':=' in a .atm model",
	  "Assignments and initialisers are written with '=', as in C. ':=' is for SML (files ending in .sml, or\n"
	  "--sml).\n",
	  "int x := 3;\n" T("x = x;"), "int x = 3;\n" T("x = x;"), "atm" },
	{ NULL, NULL, NULL, NULL, NULL, NULL },
};
