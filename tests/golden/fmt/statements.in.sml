int X;int Y;lock l
while(¬(X≤3)∨Y! =2|true){if(x=0){skip;}else{x:=x∗2/* c */}};begin acquire(l);// held
Y:=-3;release(l)end;||t:=(X+1)*2/3 ||null
