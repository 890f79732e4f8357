int X;
{ X := 1 };
X := 2
//! exit 2: intact check --dump=ir sml-braces-alone.sml
//! sml-braces-alone.sml:2:1: error: braces belong to 'while', 'if' and 'else' [syntax]
//!      2 | { X := 1 };
//!        | ^
//!   hint: a block that must be atomic is written begin ... end
//! 1 error
