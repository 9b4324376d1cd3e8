ctascope record -o r1 -- make-run no-launch; echo $?
ctascope record -o r2 -- make-run filtered; echo $?
