#!/bin/sh
# Compiles the GPU tests' programs: build.sh SOURCES PROGRAMS. 77 where there is no GPU or no nvcc.
set -eu
sources=$1 programs=$2
PATH=$PATH:${CUDA_HOME:-/usr/local/cuda}/bin
nvidia-smi -L >/dev/null 2>&1 || { echo "no NVIDIA GPU"; exit 77; }
command -v nvcc >/dev/null || { echo "no nvcc"; exit 77; }
mkdir -p "$programs"
compile() {
    nvcc ${CTASCOPE_NVCC_FLAGS--arch=native} -O2 -std=c++17 "$sources/$1.cu" -o "$programs/$1" $2
}
compile activities -lcuda & compile launches '' & compile cublas -lcublas &
compile subscriber "-lcupti -lcuda -L$(dirname "$(command -v nvcc)")/../extras/CUPTI/lib64" &
command -v mpicxx >/dev/null && compile mpi '-ccbin mpicxx' &
wait
compile memory_cases -lineinfo & compile memory_speed -lineinfo &
for example in vectoradd stencil2d histogram transpose nbody reduction; do
    nvcc ${CTASCOPE_NVCC_FLAGS--arch=native} -O3 -lineinfo -std=c++17 -I"$sources/../../include" \
        "$sources/../../examples/$example.cu" -o "$programs/$example" &
done
wait
for program in activities launches cublas subscriber memory_cases vectoradd; do test -x "$programs/$program"; done
