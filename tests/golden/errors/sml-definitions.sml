int X, Y; lock l int Z;
int A[3]; int B := 4
X := Y; int C; lock
//! exit 2: intact check --dump=ir sml-definitions.sml
//! sml-definitions.sml:1:6: error: one definition defines one name [syntax]
//!      1 | int X, Y; lock l int Z;
//!        |      ^
//!   hint: separate them by ';': int X; int Y
//! sml-definitions.sml:1:18: error: expected ';' between two definitions, found 'int' [syntax]
//!      1 | int X, Y; lock l int Z;
//!        |                  ^~~
//! sml-definitions.sml:2:6: error: SML has no arrays [syntax]
//!      2 | int A[3]; int B := 4
//!        |      ^
//!   hint: a model that needs them can be written as an .atm file
//! sml-definitions.sml:2:17: error: definitions have no initial value: all variables start at 0 [syntax]
//!      2 | int A[3]; int B := 4
//!        |                 ^~
//!   hint: assign it in a thread
//! sml-definitions.sml:3:9: error: definitions must precede the first thread [misplaced]
//!      3 | X := Y; int C; lock
//!        |         ^~~
//!   hint: local variables begin with a lower-case letter and need no definition
//! sml-definitions.sml:3:16: error: definitions must precede the first thread [misplaced]
//!      3 | X := Y; int C; lock
//!        |                ^~~~
//!   hint: local variables begin with a lower-case letter and need no definition
//! 6 errors
