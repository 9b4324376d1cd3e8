make-run complete r
example-summary r
example-summary nothing
echo $?
sh -c 'make-run killed k; :' 2>/dev/null
example-summary k
