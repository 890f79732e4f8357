int X;
X := 1 } ; X := 2 end; X := 3
//! exit 2: intact check --dump=ir sml-closes-nothing.sml
//! sml-closes-nothing.sml:2:8: error: '}' closes nothing [syntax]
//!      2 | X := 1 } ; X := 2 end; X := 3
//!        |        ^
//! sml-closes-nothing.sml:2:19: error: 'end' closes nothing [syntax]
//!      2 | X := 1 } ; X := 2 end; X := 3
//!        |                   ^~~
//! 2 errors
