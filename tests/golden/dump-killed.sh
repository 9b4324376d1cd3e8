sh -c 'make-run killed r; :' 2>/dev/null
ctascope dump r --accesses
ctascope dump r --table ranks --format csv
