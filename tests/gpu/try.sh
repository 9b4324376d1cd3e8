#!/bin/bash
# Random programs of tests/try on a GPU: try.sh BUILD SOURCES WORK. 77 where there is no GPU, no nvcc
# or no clang (which makes the program whose recordings say what data requires).
set -eu
build=$1 sources=$2 work=$3
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
nvidia-smi -L >/dev/null 2>&1 || { echo "no NVIDIA GPU"; exit 77; }
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
[ -f "$build/lib/ctascope/libctascope_try.so" ] || { echo "built without cuda.h"; exit 77; }
mkdir -p "$work"
nvcc ${CTASCOPE_NVCC_FLAGS--arch=native} -O1 -std=c++17 "$sources/interpreter.cu" -o "$work/interpreter-gpu"
"$build/bin/ctascope" cc -O1 "$sources/interpreter.cu" -o "$work/interpreter-cpu" || exit 77
exec python3 "$sources/programs.py" "$build" 5 --cuda "$work/interpreter-gpu" \
    --cpu "$work/interpreter-cpu" --count 12
