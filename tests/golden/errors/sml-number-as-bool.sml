int X;
while (X) { skip };
if (!X | X - 1) { skip } else { skip }
//! exit 2: intact check --dump=ir sml-number-as-bool.sml
//! sml-number-as-bool.sml:2:8: error: this is a number, but a condition is needed here [type]
//!      2 | while (X) { skip };
//!        |        ^
//!   hint: compare it: X != 0
//! sml-number-as-bool.sml:3:6: error: this is a number, but a condition is needed here [type]
//!      3 | if (!X | X - 1) { skip } else { skip }
//!        |      ^
//!   hint: compare it: X != 0
//! sml-number-as-bool.sml:3:10: error: this is a number, but a condition is needed here [type]
//!      3 | if (!X | X - 1) { skip } else { skip }
//!        |          ^~~~~
//!   hint: compare it with something, for example != 0
//! 3 errors
