int X;
while X < 3 { X := X + 1 };
if (X = 1) skip else skip
//! exit 2: intact check --dump=ir sml-without-parentheses.sml
//! sml-without-parentheses.sml:2:7: error: expected '(' behind 'while', found 'X' [syntax]
//!      2 | while X < 3 { X := X + 1 };
//!        |       ^
//! sml-without-parentheses.sml:3:12: error: expected '{' after the condition, found 'skip' [syntax]
//!      3 | if (X = 1) skip else skip
//!        |            ^~~~
//! 2 errors
