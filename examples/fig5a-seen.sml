// Figure 5(a) with the reader's result kept in a global variable.
// From: causal-atomicity paper, Figure 5(a), made observable.
// Wrong: R can become 3, which is 5 - 2, though no serial run ever shows the 5.
//
// @expect T1.block@15: atomic=no commit=no causal=no reducible=no
// @expect program: serializable=no
// @expect fault: none
// @expect deadlock: no
// @expect stuck: no

lock l;
int Y;
int R;

begin
  acquire(l);
  Y := 5;
  Y := 3;
  release(l)
end
||
x := Y - 2;
R := x
