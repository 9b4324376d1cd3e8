make-run complete r
ctascope dump r
