make-run complete r
ctascope partition r -n 2 --mapping z-order --assignment a.csv --limit 1 --per run
cat a.csv
ctascope partition r -n 2 --mapping block-cyclic --assignment a.json --format csv --per run >/dev/null
tail -4 a.json
ctascope partition r --partitions 2..3 --assignment a.csv
echo $?
ctascope partition r -n 2 --assignment nowhere/a.csv
echo $?
