ctascope record -o r -- no-such-program; echo $?
cp /bin/true here
ctascope record -o r -- here; echo $?
touch plain; ctascope record -o r -- ./plain; echo $?
ls
