int X;
while (X < 3) {
  X := X + 1
||
x := X
//! exit 2: intact check --dump=ir sml-missing-brace.sml
//! sml-missing-brace.sml:4:1: error: expected '}' to close the '{' of line 2, found '||' [unclosed]
//!      4 | ||
//!        | ^~
//!   sml-missing-brace.sml:2:15: note: '{' opened here
//!      2 | while (X < 3) {
//!        |               ^
//! 1 error
