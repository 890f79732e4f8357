int X;
X := X > 3;
X := true + 1;
X := (X = 1) * 2
//! exit 2: intact check --dump=ir sml-bool-as-number.sml
//! sml-bool-as-number.sml:2:6: error: this is true or false, but a number is needed here [type]
//!      2 | X := X > 3;
//!        |      ^~~~~
//!   hint: all variables of SML are integers; keep a truth value as 0 or 1
//! sml-bool-as-number.sml:3:6: error: this is true or false, but a number is needed here [type]
//!      3 | X := true + 1;
//!        |      ^~~~
//!   hint: all variables of SML are integers; keep a truth value as 0 or 1
//! sml-bool-as-number.sml:4:6: error: this is true or false, but a number is needed here [type]
//!      4 | X := (X = 1) * 2
//!        |      ^~~~~~~
//!   hint: all variables of SML are integers; keep a truth value as 0 or 1
//! 3 errors
