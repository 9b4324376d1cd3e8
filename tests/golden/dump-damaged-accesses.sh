make-run complete r
size=$(stat -c %s r/rank-0/0.acc)
head -c 100 r/rank-0/0.acc >cut; cp cut r/rank-0/0.acc
ctascope dump r --accesses 2>&1
printf 'not an access file at all, but long enough to be looked at' >r/rank-0/0.acc
ctascope dump r --accesses
