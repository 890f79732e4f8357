int X;
begin end;
while (X = 1) { };
X := 1
||
||
skip
//! exit 2: intact check --dump=ir sml-empty-block.sml
//! sml-empty-block.sml:2:7: error: expected a statement, found 'end' [syntax]
//!      2 | begin end;
//!        |       ^~~
//!   hint: skip is the statement that does nothing
//! sml-empty-block.sml:3:17: error: expected a statement, found '}' [syntax]
//!      3 | while (X = 1) { };
//!        |                 ^
//!   hint: skip is the statement that does nothing
//! sml-empty-block.sml:6:1: error: expected a thread before '||' [syntax]
//!      6 | ||
//!        | ^~
//!   hint: skip is the statement that does nothing
//! 3 errors
