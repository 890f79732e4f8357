int X;
while (X := 1) { skip }
//! exit 2: intact check --dump=ir sml-assign-in-condition.sml
//! sml-assign-in-condition.sml:2:10: error: ':=' assigns, but this is a condition [assign-in-condition]
//!      2 | while (X := 1) { skip }
//!        |          ^~
//!   hint: to compare, write =
//! 1 error
