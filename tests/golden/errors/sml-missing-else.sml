int X;
if (X = 0) { X := 1 };
X := 2
//! exit 2: intact check --dump=ir sml-missing-else.sml
//! sml-missing-else.sml:2:22: error: expected 'else' after the first branch [missing-else]
//!      2 | if (X = 0) { X := 1 };
//!        |                      ^
//!   sml-missing-else.sml:2:1: note: the 'if' it belongs to
//!      2 | if (X = 0) { X := 1 };
//!        | ^~
//!   hint: every if of SML has two branches; write else { skip }
//! 1 error
