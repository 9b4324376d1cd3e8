ctascope 2>&1 | sed -n '1p; /^Usage/p'
ctascope 2>/dev/null
