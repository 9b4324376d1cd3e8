#!/bin/sh
# A program that `ctascope cc --device=cuda` compiles without a toolkit, on the GPU: it checks itself,
# alone and recorded, and its allocations have their names.
# without-toolkit.sh CTASCOPE SOURCE [PROGRAM]; PROGRAM: compiled already, if it is there
# (instrumented.py --build). 77 without a GPU, or without the program and clang.
set -eu
ctascope=$1 source=$2
nvidia-smi -L >/dev/null 2>&1 || { echo "no NVIDIA GPU"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
program=${3-}
if [ ! -x "$program" ]; then
    program=$work/program
    command -v clang++-19 >/dev/null || { echo "no clang++-19, and no program '${3-}'"; exit 77; }
    "$ctascope" cc --device=cuda --toolkit=none -O2 "$source" -o "$program"
fi
timeout 60 "$program"
timeout 120 "$ctascope" record -o "$work/run" -- "$program" 2>"$work/said" || { cat "$work/said"; exit 1; }
"$ctascope" dump "$work/run" --table allocations --format csv >"$work/allocations"
grep -q 'cudaMalloc,cells,int,4,.*without_toolkit.cu' "$work/allocations" || {
    cat "$work/allocations"
    exit 1
}
cat "$work/said"
