ctascope record -o r -- make-run complete 2>&1 | sed "s|'$PWD/|'|; s|, [0-9.]* KiB||"
ctascope info r --format json | grep '"accesses": 166'
ctascope dump r --table run | grep command
