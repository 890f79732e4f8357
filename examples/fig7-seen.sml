// Figure 7 with what the two readers saw kept in global variables.
// From: causal-atomicity paper, Figure 7, made observable.
// Right: with P = 1 and Q = 0 the block comes after the read of Y and before
// that of X. By the clock X may have been read first, but the two readers
// never met, so nothing says in which order they read.
//
// @expect T2.block@21: atomic=yes causal=yes reducible=no
// @expect program: serializable=yes
// @expect fault: none
// @expect deadlock: no
// @expect stuck: no

int X;
int Y;
int P;
int Q;

t := X;
P := t
||
begin
  X := 1;
  Y := 1
end
||
r := Y;
Q := r
