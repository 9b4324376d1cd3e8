ctascope try --launches 5-2 -- true
ctascope try --delay launch:1 -- true
ctascope try --drop kernel:1 -- true
ctascope try --replays 3 -- true
ctascope try --range a --launches 1-2 -- true
ctascope try --all-findings -- true
ctascope try --all-findings --run r --serial -- true
ctascope try --run nothing -- true
echo "$?"
ctascope try -- true
echo "$?"
ctascope try -- false
echo "$?"
ctascope try -- ./no-such-program
echo "$?"
