make-run complete r
ctascope dump r --accesses
ctascope dump r --accesses --format csv
ctascope dump r --accesses --format json
