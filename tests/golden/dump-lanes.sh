make-run complete r
ctascope dump r --accesses --lanes --launch 1 --format csv
ctascope dump r --accesses --lanes --launch 1 --limit 3
ctascope dump r --accesses --lanes --launch 0 --cta 0 --limit 2 --format json
