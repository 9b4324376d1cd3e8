#!/bin/sh
# The device library for GPUs, compiled for this machine: its mathematics is right if nobody makes one
# operation of a product and a sum.
# library.sh CLANG LIBRARY TEST.c; 77 where it was built without libclc.
set -eu
clang=$1 library=$2 test=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in llvm-extract llvm-dis llvm-nm; do
    command -v $tool-19 >/dev/null || { echo "no $tool-19"; exit 77; }
done
llvm-nm-19 "$library" | grep -q ' U _Z3sind' && { echo "built without libclc"; exit 77; }
llvm-extract-19 --func=__cts_grid_sync --delete "$library" -o "$work/host.bc"
llvm-dis-19 "$work/host.bc" -o - | sed -e 's/^target .*//' -e 's/addrspace([0-9])//g' \
    -e 's/"target-[a-z]*"="[^"]*"//g' -e 's/llvm\.nvvm\.fma\.rn\.d/llvm.fma.f64/g' >"$work/host.ll"
"$clang" -w -O1 -ffp-contract=off -c "$work/host.ll" -o "$work/host.o"
"$clang" -O1 -fno-builtin -ffp-contract=off "$test" "$work/host.o" -lm -o "$work/test"
"$work/test"
