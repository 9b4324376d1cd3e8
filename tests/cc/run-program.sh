#!/bin/sh
# run-program.sh CTASCOPE ARGUMENTS...: compiles with `ctascope cc ARGUMENTS`, then runs the program
# twice, plain and recorded; each time it must print "right" and end with 0, and no access may be
# dropped.
set -eu
ctascope=$1
shift
directory=$(mktemp -d)
trap 'rm -rf "$directory"' EXIT
"$ctascope" cc "$@" -o "$directory/program"
for how in plain recorded; do
    if [ $how = plain ]; then
        "$directory/program" > "$directory/output"
    else
        "$ctascope" record -o "$directory/run" -- "$directory/program" > "$directory/output" \
            2> "$directory/messages"
        cat "$directory/messages"
        if grep -q DROPPED "$directory/messages"; then
            echo "accesses were dropped"
            exit 1
        fi
    fi
    if ! grep -qx right "$directory/output"; then
        echo "$how: the program did not say 'right':"
        cat "$directory/output"
        exit 1
    fi
done
