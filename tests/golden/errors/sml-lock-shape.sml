int X; lock l;
acquire l;
acquire();
release(l
//! exit 2: intact check --dump=ir sml-lock-shape.sml
//! sml-lock-shape.sml:2:9: error: expected '(' behind 'acquire', found 'l' [syntax]
//!      2 | acquire l;
//!        |         ^
//! sml-lock-shape.sml:3:9: error: expected a name of a lock, found ')' [syntax]
//!      3 | acquire();
//!        |         ^
//! sml-lock-shape.sml:4:10: error: expected ')' to close the '(' of line 4, found the end of the file [unclosed]
//!      4 | release(l
//!        |          ^
//!   sml-lock-shape.sml:4:8: note: '(' opened here
//!      4 | release(l
//!        |        ^
//! 3 errors
