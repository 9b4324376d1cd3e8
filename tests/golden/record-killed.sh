# 128 + 9; what was recorded is there, in one plain file
ctascope record -o r -- make-run killed 2>&1 | sed "s|'$PWD/|'|; s|, [0-9.]* KiB||"
ctascope record -o r2 -- make-run killed 2>/dev/null; echo $?
ls r
