int X; lock l;
acquire(X); l := 1; x := l + 1; acquire(x); release(l)
//! exit 2: intact check --dump=ir sml-lock-misuse.sml
//! sml-lock-misuse.sml:2:9: error: 'X' is a variable, not a lock [type]
//!      2 | acquire(X); l := 1; x := l + 1; acquire(x); release(l)
//!        |         ^
//!   hint: locks are declared with lock: lock X;
//! sml-lock-misuse.sml:2:13: error: 'l' is a lock, not a number [type]
//!      2 | acquire(X); l := 1; x := l + 1; acquire(x); release(l)
//!        |             ^
//!   hint: locks can only be acquired and released
//! sml-lock-misuse.sml:2:26: error: 'l' is a lock, not a number [type]
//!      2 | acquire(X); l := 1; x := l + 1; acquire(x); release(l)
//!        |                          ^
//!   hint: locks can only be acquired and released
//! sml-lock-misuse.sml:2:41: error: the lock 'x' is not declared [undeclared-name]
//!      2 | acquire(X); l := 1; x := l + 1; acquire(x); release(l)
//!        |                                         ^
//!   hint: declare it before the first thread: lock x;
//! 4 errors
