make-run complete r
ctascope info --format=json r >one
ctascope info r --format json >two
ctascope info --format table --format json -- r >three
cmp one two && cmp two three && echo same
ctascope info --format=json --help | head -1
