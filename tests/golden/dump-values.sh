make-run values r
ctascope dump r --accesses --lanes
ctascope dump r --accesses --lanes --format json
ctascope dump r --accesses --lanes --format csv
