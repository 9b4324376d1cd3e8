# what tensor copies touch is one record, in every form; and every analysis prints what it prints of
# the same bytes as rows of threads
mkdir boxes rows
make-run boxes boxes/r
make-run box-rows rows/r
cd boxes
ctascope dump r --accesses
ctascope dump r --accesses --format csv
ctascope dump r --accesses --format json --launch 0 --cta 0
ctascope dump r --accesses --lanes --launch 2 --cta 0 | sed -n '1,3p'
cd ..
for options in 'comm --per transfer --format csv' 'comm --format json' 'access --per allocation --format csv' \
    'flow --format json' 'partition -n 2 --format json' 'partition -n 2 --per launch --format csv'; do
    set -- $options
    verb=$1
    shift
    for run in boxes rows; do (cd $run && ctascope $verb r "$@") >$run.out 2>&1; done
    diff boxes.out rows.out && test "$(wc -l <boxes.out)" -gt 3 && echo "$options: alike"
done
cd boxes
ctascope comm r --per transfer
# a copy is one request, its rows are its accesses
for run in boxes rows; do
    (cd ../$run && ctascope access r --per site --format csv) | awk -v run=$run -F, '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        {
            gsub(/"[^"]*"/, "name") # its commas are no separators
            print run, $at["operation"], "requests", $at["requests"], "accesses", $at["accesses"], \
                "partial", $at["partial_requests"], "sectors", $at["sectors"], "bytes", $at["requested_bytes"]
        }'
done
