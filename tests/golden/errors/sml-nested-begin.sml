int X;
begin X := 1; begin X := 2 end; X := 3 end
//! exit 0: intact check --dump=ir sml-nested-begin.sml
//! sml-nested-begin.sml:2:15: warning: begin inside an atomic block: it belongs to the outer one [nested-atomic]
//!      2 | begin X := 1; begin X := 2 end; X := 3 end
//!        |               ^~~~~
//!   hint: only the outermost block is verified; remove this one
