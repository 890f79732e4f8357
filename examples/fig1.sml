// Four threads, two blocks that read, two threads that write.
// From: causal-atomicity paper, Figure 1.
// Causally atomic block by block: no event lies between two events of the
// same block. Not serializable: when P = 2 and Q = 2, the first block saw Z
// before and T after they were written, so it comes after the fourth thread
// and before the third; the second block saw X before and Y after, so it
// comes after the third and before the fourth.
//
// @expect T1.block@23: atomic=yes causal=yes reducible=no
// @expect T2.block@29: atomic=yes causal=yes reducible=no
// @expect program: serializable=no
// @expect fault: none
// @expect deadlock: no
// @expect stuck: no

int X;
int Y;
int Z;
int T;
int P;
int Q;

begin
  a := Z;
  b := T
end;
P := a + 2 * b
||
begin
  c := X;
  d := Y
end;
Q := c + 2 * d
||
Z := 1;
Y := 1
||
X := 1;
T := 1
