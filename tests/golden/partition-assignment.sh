make-run complete r
ctascope partition r -n 2 --mapping z-order --assignment a.csv --limit 1 --per run
cat a.csv
ctascope partition r -n 2 --mapping block-cyclic --assignment a.json --format csv --per run >/dev/null
tail -4 a.json
ctascope partition r --partitions 2..3 --assignment a.csv
echo $?
ctascope partition r -n 2 --assignment nowhere/a.csv
echo $?
# Without --mapping each mapping and the best found is there, every CTA once; CSV and JSON alike.
ctascope partition r -n 2 --assignment b.csv >/dev/null
cut -d, -f1 b.csv | sort | uniq -c
cut -d, -f1-5 b.csv | sort | uniq -d
ctascope partition r -n 2 --assignment b.json >/dev/null
sed -n 's/^    {"mapping": "\(.*\)", "launch": \(.*\), "x": \(.*\), "y": \(.*\), "z": \(.*\), "partition": \(.*\)}.*/\1,\2,\3,\4,\5,\6/p' b.json >c.csv
tail -n +2 b.csv | cmp - c.csv && echo alike
ctascope comm r --per sm
echo $?
