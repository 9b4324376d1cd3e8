ctascope record -o r -- true; echo $?
ctascope record -o r -- false; echo $?
ls
