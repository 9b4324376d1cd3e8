make-run complete r
ctascope dump r --accesses --launch 0 --cta 1
ctascope dump r --accesses --launch 1 --limit 1
ctascope dump r --accesses --launch 9
ctascope dump r --lanes
ctascope dump r --accesses --launch one
