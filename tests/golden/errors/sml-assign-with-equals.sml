int X;
X = 1;
X == 2
//! exit 2: intact check --dump=ir sml-assign-with-equals.sml
//! sml-assign-with-equals.sml:2:3: error: '=' compares; to assign, write ':=' [assign-form]
//!      2 | X = 1;
//!        |   ^
//! sml-assign-with-equals.sml:3:3: error: '==' compares; to assign, write ':=' [assign-form]
//!      3 | X == 2
//!        |   ^~
//! 2 errors
