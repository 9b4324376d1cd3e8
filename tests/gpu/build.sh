#!/bin/bash
# Compiles the GPU tests' programs: build.sh SOURCES PROGRAMS. 77 where there is no GPU or no nvcc.
set -eu
sources=$1 programs=$2
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
nvidia-smi -L >/dev/null 2>&1 || { echo "no NVIDIA GPU"; exit 77; }
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
mkdir -p "$programs"
compile() {
    nvcc ${CTASCOPE_NVCC_FLAGS--arch=native} -O2 -std=c++17 "$sources/$1.cu" $2 \
        -o "$programs/$(basename "$1")"
}
compile activities -lcuda & compile launches '' & compile cublas -lcublas &
compile subscriber "-lcupti -lcuda -L$(dirname "$(command -v nvcc)")/../extras/CUPTI/lib64" &
command -v mpicxx >/dev/null && compile mpi '-ccbin mpicxx' &
wait
include=$sources/../../include
compile memory_cases -lineinfo & compile memory_speed -lineinfo & compile memory_values -lineinfo &
compile memory_more "-lineinfo -I$include -lcuda" & compile gemm -lcublas &
compile cufft -lcufft 2>/dev/null &
compile memory_separate "$sources/memory_separate_part.cu -lineinfo -rdc=true -lcudadevrt" &
compile ../record/programs/ranges "-lineinfo" &
command -v mpicxx >/dev/null && compile memory_ranks "-ccbin mpicxx -lineinfo" &
wait
for source in "$sources"/../../examples/*.cu; do
    example=$(basename "$source" .cu)
    flags= # as instrumented.py's
    [ "$example" = mandelbrot ] && flags=-fmad=false
    nvcc ${CTASCOPE_NVCC_FLAGS--arch=native} -O3 -lineinfo -std=c++17 -I"$include" "$source" \
        $flags -o "$programs/$example" &
    while [ "$(jobs -r | wc -l)" -ge "$(nproc)" ]; do wait -n 2>/dev/null || sleep 0.1; done
done
wait
for program in activities launches cublas subscriber memory_cases memory_more memory_speed memory_values \
    memory_separate gemm ranges vectoradd; do
    test -x "$programs/$program" || { echo "$program was not made"; exit 1; }
done
