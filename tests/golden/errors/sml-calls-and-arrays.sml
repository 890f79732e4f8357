int X;
X := a[1]; X := f(2); X := r.read
//! exit 2: intact check --dump=ir sml-calls-and-arrays.sml
//! sml-calls-and-arrays.sml:2:6: error: SML has no arrays [foreign-word]
//!      2 | X := a[1]; X := f(2); X := r.read
//!        |      ^~
//!   hint: a model that needs them can be written as an .atm file
//! sml-calls-and-arrays.sml:2:17: error: SML has no procedures [foreign-word]
//!      2 | X := a[1]; X := f(2); X := r.read
//!        |                 ^~
//!   hint: a model that needs them can be written as an .atm file
//! sml-calls-and-arrays.sml:2:28: error: SML has no objects [foreign-word]
//!      2 | X := a[1]; X := f(2); X := r.read
//!        |                            ^~
//!   hint: a model that needs them can be written as an .atm file
//! 3 errors
