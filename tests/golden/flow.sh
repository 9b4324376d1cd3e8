make-run complete r
ctascope flow r
ctascope flow r --per edge
ctascope flow r --per launch
ctascope flow r --per allocation --format csv
ctascope flow r --format dot
ctascope flow r --between 0,9
echo "$?"
ctascope flow r --between 0,x
echo "$?"
ctascope flow r --fail-on race >/dev/null
echo "$?"
ctascope flow r --fail-on finding >/dev/null
echo "$?"
