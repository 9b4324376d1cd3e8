make-run complete r
ctascope partition r
ctascope partition r -n 2 --launch-latency 0 | head -n 4
ctascope partition r --per launch --limit 1
ctascope partition r --launch-latency -1
