sh -c 'make-run killed r; :' 2>/dev/null
ctascope info r | grep -v '^  size'
