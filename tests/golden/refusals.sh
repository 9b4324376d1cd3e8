# What a run does not hold is refused by each verb, in each format, under the run's name.
path-generate messages 300 2 t >/dev/null
make-run complete memory
make-run no-launch time 2>/dev/null
mkdir -p time/timeline && cp -r t/. time/timeline/
sqlite3 time/run.db "UPDATE ranks SET recorder = 'timeline'"
try() {
    "$@" >out 2>err
    echo "$? $(cat err out | head -1 | cut -c1-160) [$*]"
}
for format in table json csv; do
    for verb in access comm partition; do
        try ctascope $verb time --format $format
        try ctascope $verb t/traces.otf2 --format $format
    done
    try ctascope path memory --format $format
    try ctascope whatif memory --targets --format $format
done
try ctascope diff time memory
try ctascope diff memory time
try ctascope diff --time memory time
try ctascope dump time --accesses
try ctascope dump memory --timeline
try ctascope export time -o x.trc
try ctascope report time --figures figures -o x.html
try ctascope report time --accesses -o x.html
try ctascope report memory time -o x.html
try ctascope report memory t/traces.otf2 -o x.html
ls x.html x.trc figures 2>&1 | grep -c 'No such'
