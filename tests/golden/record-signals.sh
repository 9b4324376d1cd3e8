# a signal sent to record reaches the program
ctascope record -o r -- sh -c 'trap "echo got it; exit 5" TERM; echo ready; while :; do sleep 0.05; done' >out 2>/dev/null &
until grep -q ready out 2>/dev/null; do sleep 0.02; done
kill -TERM $!
wait $!; echo $?
cat out
