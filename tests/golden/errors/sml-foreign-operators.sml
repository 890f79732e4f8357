int X;
if (X > 1 && X < 3) { skip } else { skip };
if (X > 1 || X < 3) { skip } else { skip };
if (X == 1) { skip } else { skip };
x := X % 2;
x := -X
//! exit 2: intact check --dump=ir sml-foreign-operators.sml
//! sml-foreign-operators.sml:2:11: error: SML has no 'and' [foreign-word]
//!      2 | if (X > 1 && X < 3) { skip } else { skip };
//!        |           ^~
//!   hint: write !(!a | !b), or two nested ifs
//! sml-foreign-operators.sml:3:11: error: '||' separates threads; 'or' is written | (or ∨) [foreign-word]
//!      3 | if (X > 1 || X < 3) { skip } else { skip };
//!        |           ^~
//! sml-foreign-operators.sml:4:7: error: '==' is '=' in SML [foreign-word]
//!      4 | if (X == 1) { skip } else { skip };
//!        |       ^~
//! sml-foreign-operators.sml:5:8: error: SML has no '%'; its operators are + - * / [foreign-word]
//!      5 | x := X % 2;
//!        |        ^
//! sml-foreign-operators.sml:6:6: error: expected an expression, found '-' [syntax]
//!      6 | x := -X
//!        |      ^
//!   hint: only a number may have a sign; write 0 - x
//! 5 errors
