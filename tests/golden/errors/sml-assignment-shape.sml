int X;
X := ;
X Y;
X := 3 4;
x
//! exit 2: intact check --dump=ir sml-assignment-shape.sml
//! sml-assignment-shape.sml:2:6: error: expected an expression, found ';' [syntax]
//!      2 | X := ;
//!        |      ^
//! sml-assignment-shape.sml:3:3: error: expected ':=' after the variable, found 'Y' [syntax]
//!      3 | X Y;
//!        |   ^
//! sml-assignment-shape.sml:4:8: error: expected ';' or the end of the thread, found '4' [syntax]
//!      4 | X := 3 4;
//!        |        ^
//! sml-assignment-shape.sml:5:2: error: expected ':=' after the variable, found the end of the file [syntax]
//!      5 | x
//!        |  ^
//! 4 errors
