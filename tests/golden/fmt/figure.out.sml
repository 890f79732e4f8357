// Fig. 5(a), as printed
lock l;
int Y;
||
begin
  acquire(l)  // no semicolon
  Y := 5;
  Y := 3
  release(l)
end
||
x := Y - 2
