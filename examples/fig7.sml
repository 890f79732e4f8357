// Two racing writes in a block, each read by a different thread.
// From: causal-atomicity paper, Figure 7.
// Right: both writes race with a read, so the block has two non-movers and
// does not reduce, but no event can be caused by the first write and cause
// the second.
//
// @expect T2.block@18: atomic=yes commit=yes causal=yes reducible=no
// @expect program: serializable=yes
// @expect fault: none
// @expect deadlock: no
// @expect stuck: no

int X;
int Y;

t := X
||
begin
  X := 1;
  Y := 1
end
||
r := Y
