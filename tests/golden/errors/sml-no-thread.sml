int X; lock l
//! exit 2: intact check --dump=ir sml-no-thread.sml
//! sml-no-thread.sml:1:1: error: the model has no thread [no-threads]
//!      1 | int X; lock l
//!        | ^
//!   hint: a thread is a list of statements after the definitions
//! 1 error
