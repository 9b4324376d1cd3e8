ctascope record make-run complete 2>/dev/null; ctascope record make-run complete 2>/dev/null; mkdir ctascope-run-3; touch ctascope-run-3/x
ctascope record make-run complete 2>/dev/null
ls
