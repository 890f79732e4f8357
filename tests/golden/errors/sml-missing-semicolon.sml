lock l; int Y; ||
begin
  acquire(l)
  Y := 5;
  Y := 3
  release(l)
end
||
x := Y - 2 y := x
//! exit 2: intact check --dump=ir sml-missing-semicolon.sml
//! sml-missing-semicolon.sml:3:13: warning: ';' is missing between two statements [missing-semicolon]
//!      3 |   acquire(l)
//!        |             ^
//! sml-missing-semicolon.sml:5:9: warning: ';' is missing between two statements [missing-semicolon]
//!      5 |   Y := 3
//!        |         ^
//! sml-missing-semicolon.sml:9:11: error: expected ';' between two statements [syntax]
//!      9 | x := Y - 2 y := x
//!        |           ^
//! 1 error
