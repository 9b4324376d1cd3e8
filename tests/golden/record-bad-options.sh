ctascope record --kernel-name 'regex:(' -o r x; echo $?
ctascope record --launch-count 0 -o r x; echo $?
ctascope record --launch-skip -1 -o r x; echo $?
ctascope record --cta-sample 1x -o r x; echo $?
ctascope record --max-size 12Q -o r x; echo $?
ctascope record --max-size lots -o r x; echo $?
ls
