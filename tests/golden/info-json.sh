make-run complete r
ctascope info r --format json | sed 's/\("\(disk\|access\)_bytes": \)[0-9]*\(,\{0,1\}\)$/\1...\3/'
