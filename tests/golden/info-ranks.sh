# a kernel that several ranks launch is one line
ctascope record -o r -- sh -c 'make-run complete; make-run complete' 2>/dev/null
ctascope info r | sed -n '/^  rank/p; /^  accesses/p; /^Kernels/,/^$/p'
