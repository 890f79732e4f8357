int x; int y = 3; lock m;
x := y; acquire(m); release(m)
//! exit 2: intact check --dump=ir sml-lower-case-global.sml
//! sml-lower-case-global.sml:1:5: error: global variables begin with a capital letter [name-case]
//!      1 | int x; int y = 3; lock m;
//!        |     ^
//!   hint: call it 'X', or omit the definition to make it a local of each thread that uses it
//! sml-lower-case-global.sml:1:12: error: global variables begin with a capital letter [name-case]
//!      1 | int x; int y = 3; lock m;
//!        |            ^
//!   hint: call it 'Y', or omit the definition to make it a local of each thread that uses it
//! sml-lower-case-global.sml:1:14: error: definitions have no initial value: all variables start at 0 [syntax]
//!      1 | int x; int y = 3; lock m;
//!        |              ^
//!   hint: assign it in a thread
//! 3 errors
