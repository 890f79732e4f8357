int X; lock X;
X := 1
//! exit 2: intact check --dump=ir sml-declared-twice.sml
//! sml-declared-twice.sml:1:13: error: 'X' is declared twice [declared-twice]
//!      1 | int X; lock X;
//!        |             ^
//!   sml-declared-twice.sml:1:5: note: first declared here
//!      1 | int X; lock X;
//!        |     ^
//! sml-declared-twice.sml:2:1: error: 'X' is a lock, not a number [type]
//!      2 | X := 1
//!        | ^
//!   hint: locks can only be acquired and released
//! 2 errors
