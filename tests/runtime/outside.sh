#!/bin/sh
# outside.sh CTASCOPE SOURCE: reads a little outside of an allocation pass, and `access` names them;
# an integer division by zero is a fault in a program compiled with --strict.
set -eu
ctascope=$1 source=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$ctascope" cc -O2 -std=c++17 -o "$work/program" "$source"
"$ctascope" record -o "$work/run" -- "$work/program" near
"$ctascope" access "$work/run" >"$work/found"
for line in "access outside allocations: load of in in neighbours" "12 bytes before 'in'"; do
    grep -q "$line" "$work/found" || { cat "$work/found"; echo "not found: $line"; exit 1; }
done
"$ctascope" cc --strict -O2 -std=c++17 -o "$work/strict" "$source"
status=0
"$work/strict" divide 2>"$work/messages" || status=$?
cat "$work/messages"
grep -q "integer division by zero" "$work/messages"
test $status -ne 0
