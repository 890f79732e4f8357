int X;
begin
  X := 1;
  X := 2
||
x := X
//! exit 2: intact check --dump=ir sml-missing-end.sml
//! sml-missing-end.sml:5:1: error: expected 'end' to close the 'begin' of line 2, found '||' [unclosed]
//!      5 | ||
//!        | ^~
//!   sml-missing-end.sml:2:1: note: 'begin' opened here
//!      2 | begin
//!        | ^~~~~
//! 1 error
