int X;
if (0 < X < 3) { skip } else { skip }
//! exit 2: intact check --dump=ir sml-chained-comparison.sml
//! sml-chained-comparison.sml:2:11: error: comparisons cannot be chained [syntax]
//!      2 | if (0 < X < 3) { skip } else { skip }
//!        |           ^
//!   hint: compare in two nested ifs
//! 1 error
