make-run complete r
ctascope dump r --table launches --format csv --limit 2
ctascope dump r --table run
ctascope dump r --table sites --format json --limit 1
ctascope dump r --table nothing
