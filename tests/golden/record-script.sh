# programs that run one after the other in one record are ranks of one run
ctascope record -o r -- sh -c 'make-run complete; make-run complete' 2>/dev/null
ls r
ctascope dump r --table launches --format csv | cut -d, -f1-3
