# options behind the program's name are the program's
ctascope record -o r sh -c 'echo "$@"' sh --force -o x 2>/dev/null
ctascope record --output=r2 -- make-run status 2>/dev/null; echo $?
ls
