#!/bin/sh
# `ctascope cc --device=cuda` where a toolkit is: programs of one file and of two, and what it refuses.
# compile.sh CTASCOPE SOURCES; 77 without a toolkit.
set -eu
ctascope=$1 sources=$2
work=$(mktemp -d)
mkdir "$work/kept" "$work/plain"
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
cc() { "$ctascope" cc --device=cuda "$@"; }

cc --keep="$work/kept" -O2 -I"$sources/include" "$sources/examples/vectoradd.cu" -o "$work/one" \
    2>"$work/errors" || {
    grep -q 'needs a CUDA toolkit' "$work/errors" && { echo "no CUDA toolkit"; exit 77; }
    fail "$(cat "$work/errors")"
}
grep -q '__cts_table' "$work/kept/vectoradd.ptx" || fail "the PTX has no table"
grep -q 'activemask' "$work/kept/vectoradd.ptx" || fail "the PTX has no producer"
cc -arch=sm_90 -c "$sources/tests/cc/programs/units-a.cu" -o "$work/a.o"
cc -arch=sm_90 -c "$sources/tests/cc/programs/units-b.cu" -o "$work/b.o"
cc "$work/a.o" "$work/b.o" -o "$work/two"
test -x "$work/one" && test -x "$work/two" || fail "no program"
cc --no-instrument --keep="$work/plain" "$sources/examples/vectoradd.cu" -I"$sources/include" \
    -o "$work/plain-one"
grep -q 'activemask' "$work/plain/vectoradd.ptx" && fail "--no-instrument puts the producer in"
for option in -rdc=true --values; do
    cc "$option" -c "$sources/examples/vectoradd.cu" -o "$work/never.o" 2>"$work/errors" &&
        fail "$option is not refused"
    test "$(wc -l <"$work/errors")" = 1 || fail "$option: $(cat "$work/errors")"
    grep -q "vectoradd.cu.*${option%=true}" "$work/errors" || fail "$option: $(cat "$work/errors")"
done
