// Two writes under a lock, and a reader that does not take it.
// From: causal-atomicity paper, Figures 3, 5(a) and 6.
// Wrong by causality: the read can fall between the two writes, and then no
// reordering puts it before or after the block. As printed, no thread
// ever looks at x, so the states at the end are always those of a serial run
// and the concrete engines find nothing; fig5a-seen keeps the result.
//
// @expect T1.block@17: atomic=yes commit=yes causal=no reducible=no
// @expect program: serializable=yes
// @expect fault: none
// @expect deadlock: no
// @expect stuck: no

lock l;
int Y;

begin
  acquire(l);
  Y := 5;
  Y := 3;
  release(l)
end
||
x := Y - 2
