int Count; lock mutex;
Cuont := 1; Other := 2;
acquire(mutx); release(mutex)
//! exit 2: intact check --dump=ir sml-undeclared-global.sml
//! sml-undeclared-global.sml:2:1: error: the global variable 'Cuont' is not declared [undeclared-name]
//!      2 | Cuont := 1; Other := 2;
//!        | ^~~~~
//!   hint: did you mean 'Count'?
//! sml-undeclared-global.sml:2:13: error: the global variable 'Other' is not declared [undeclared-name]
//!      2 | Cuont := 1; Other := 2;
//!        |             ^~~~~
//!   hint: declare it before the first thread: int Other; locals begin with a lower-case letter
//! sml-undeclared-global.sml:3:9: error: the lock 'mutx' is not declared [undeclared-name]
//!      3 | acquire(mutx); release(mutex)
//!        |         ^~~~
//!   hint: did you mean 'mutex'?
//! 3 errors
