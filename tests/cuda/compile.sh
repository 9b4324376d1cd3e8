#!/bin/sh
# `ctascope cc --device=cuda` end to end but for the GPU: programs of one file and of two, and what it
# refuses.
# compile.sh CTASCOPE SOURCES found|none; 'found': with the toolkit, 77 where there is none; 'none':
# without one, wherever it runs.
set -eu
ctascope=$1 sources=$2 toolkit=$3
work=$(mktemp -d)
mkdir "$work/kept" "$work/plain"
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
cc() {
    if [ "$toolkit" = none ]; then
        "$ctascope" cc --device=cuda --toolkit=none "$@"
    else
        "$ctascope" cc --device=cuda "$@"
    fi
}

cc --keep="$work/kept" -O2 -I"$sources/include" "$sources/examples/vectoradd.cu" -o "$work/one"
if [ "$toolkit" = found ]; then
    readelf -d "$work/one" | grep -q 'libcudart' && { echo "no CUDA toolkit"; exit 77; }
else
    # what the driver's compiler may join to one operation has no rounding in its name
    grep -E '(add|sub|mul)\.f(32|64)' "$work/kept/vectoradd.ptx" && fail "operations may be joined"
    readelf -d "$work/one" | grep -q 'NEEDED.*libcudart.so.13' || fail "not for the runtime 13"
fi
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
