int X;
atomic { X := 1 };
assert(X = 1);
for (;;) { X := 2 }
||
commit
//! exit 2: intact check --dump=ir sml-foreign-words.sml
//! sml-foreign-words.sml:2:1: error: SML has no 'atomic' [foreign-word]
//!      2 | atomic { X := 1 };
//!        | ^~~~~~
//!   hint: a block is written begin ... end
//! sml-foreign-words.sml:3:1: error: SML has no 'assert' [foreign-word]
//!      3 | assert(X = 1);
//!        | ^~~~~~
//!   hint: assertions are written in .atm files
//! sml-foreign-words.sml:4:1: error: SML has no 'for' [foreign-word]
//!      4 | for (;;) { X := 2 }
//!        | ^~~
//!   hint: use while
//! sml-foreign-words.sml:4:7: error: expected a statement, found ';' [syntax]
//!      4 | for (;;) { X := 2 }
//!        |       ^
//! sml-foreign-words.sml:6:1: error: SML has no 'commit' [foreign-word]
//!      6 | commit
//!        | ^~~~~~
//!   hint: commit points are written in .atm files
//! 5 errors
