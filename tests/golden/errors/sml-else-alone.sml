int X;
X := 1;
else { X := 2 }
//! exit 2: intact check --dump=ir sml-else-alone.sml
//! sml-else-alone.sml:3:1: error: 'else' without an 'if' before it [syntax]
//!      3 | else { X := 2 }
//!        | ^~~~
//! 1 error
