// Two writes under a lock, and a reader that takes it too.
// From: causal-atomicity paper, Figure 5(b).
// Right: the read is before both writes or after both.
//
// @expect T1.block@13: atomic=yes commit=yes causal=yes reducible=yes
// @expect program: serializable=yes
// @expect fault: none
// @expect deadlock: no

lock l;
int Y;

begin
  acquire(l);
  Y := 5;
  Y := 3;
  release(l)
end
||
acquire(l);
x := Y - 2;
release(l)
