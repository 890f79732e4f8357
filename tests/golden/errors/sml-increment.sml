int X;
X++;
X += 2
//! exit 2: intact check --dump=ir sml-increment.sml
//! sml-increment.sml:2:2: error: SML has no '++' [assign-form]
//!      2 | X++;
//!        |  ^~
//!   hint: write it out: X := X + 1
//! sml-increment.sml:3:3: error: SML has no '+=' [assign-form]
//!      3 | X += 2
//!        |   ^~
//!   hint: write it out: X := X + ...
//! 2 errors
