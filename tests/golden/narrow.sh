# on 80 columns, with names of 300 characters, no line of any verb is wider, and no column is left out
make-run long-names r
PATH_GENERATE_LONG_NAMES=1 path-generate drain 400 2 t >generated
PATH_GENERATE_LONG_NAMES=1 path-generate messages 300 2 u >generated
every() {
    cat <<'VERBS'
info r
info t/traces.otf2
comm r
comm r --per kernel-pair
comm r --per launch-pair
comm r --per transfer
access r
access r --per finding
access r --per site
access r --per launch
access r --per allocation
partition r
partition r -n 2 --per launch
partition r --per kernel
path t/traces.otf2
path t/traces.otf2 --per instance
whatif t/traces.otf2 --scale void=0.5
whatif t/traces.otf2 --targets
whatif t/traces.otf2 --targets --per target
diff r r
diff r r --per kernel
diff r r --per finding
diff t/traces.otf2 u/traces.otf2
diff t/traces.otf2 u/traces.otf2 --per activity
dump r
doctor
VERBS
}
words() { tr -s ' \n' '\n\n' | LC_ALL=C sort; }
every | while read -r options; do
    COLUMNS=80 ctascope $options 2>errors >narrow
    LC_ALL=C.UTF-8 awk -v what="$options" 'length($0) > 80 { print what ": " $0 }' narrow
    case $options in
    dump*) # without names, which are shorter here: the same words
        ctascope $options | words >wide.words
        words <narrow | diff - wide.words >/dev/null || echo "$options: not all of it" ;;
    esac
    COLUMNS=80 ctascope $options --full-names 2>errors | awk -v what="$options" 'length($0) > 80 { print what ": whole: " $0 }'
done
# what this looks like
COLUMNS=80 ctascope comm r --per kernel-pair
COLUMNS=132 ctascope comm r --per kernel-pair | head -n 2
# a terminal's own width, where COLUMNS says nothing; a pipe has none
script -qec 'stty cols 60; ctascope info r; ctascope access r' /dev/null </dev/null | tr -d '\r' >terminal
awk 'length($0) > 60 { print "terminal: " $0 }' terminal
grep -c 'atomics on one address' terminal
ctascope access r --per site | awk 'length($0) > 100 { n++ } END { print n }'
