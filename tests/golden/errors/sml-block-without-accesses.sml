int X;
begin x := 1; y := x end; X := y
//! exit 0: intact check --dump=ir sml-block-without-accesses.sml
//! sml-block-without-accesses.sml:2:1: warning: the block touches nothing shared, so nothing can interfere with it [no-shared-access]
//!      2 | begin x := 1; y := x end; X := y
//!        | ^~~~~
//!   hint: names that begin with a lower-case letter are local
