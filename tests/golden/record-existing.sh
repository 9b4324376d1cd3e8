ctascope record -o r make-run complete 2>/dev/null
ctascope record -o r make-run complete; echo $?
ctascope record -o r --force make-run complete 2>/dev/null; echo $?
mkdir other; touch other/thesis.tex
ctascope record -o other --force make-run complete; echo $?
ls other
