#!/bin/sh
# Which toolkit compiles, with directories that only look like toolkits: what clang is asked for with
# one of CUDA 12 and one of 13, and what is refused. And the runtimes that programs are linked for.
# toolkits.sh CTASCOPE
set -eu
ctascope=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }
echo '__global__ void k(float *a) { a[threadIdx.x] = 1; } int main() { k<<<1, 1>>>(nullptr); }' >"$work/k.cu"
toolkit() {
    mkdir -p "$work/$1/include"
    printf '#ifndef CUDA_H\n#define CUDA_H\n#define CUDA_VERSION %s\n#endif\n' "$2" >"$work/$1/include/cuda.h"
}
toolkit ten 10020
toolkit twelve 12040
toolkit thirteen 13000
mkdir -p "$work/empty" "$work/thirteen/bin"
printf '#!/bin/sh\n' >"$work/thirteen/bin/fatbinary"
chmod +x "$work/thirteen/bin/fatbinary"

commands() { "$ctascope" cc --device=cuda -### "$@" "$work/k.cu" -o "$work/k" 2>&1; }
has() { grep -qF -e "$2" "$work/$1" || fail "$1 lacks $2: $(cat "$work/$1")"; }
lacks() { if grep -qF -e "$2" "$work/$1"; then fail "$1 has $2: $(cat "$work/$1")"; fi; }
CUDA_HOME="$work/twelve" commands >"$work/in12"
has in12 "--cuda-path=$work/twelve"
has in12 -lcudart_static
has in12 "-L$work/twelve/lib64"
lacks in12 cccl
lacks in12 /share/ctascope/cuda
lacks in12 cuda-library.bc
commands --toolkit="$work/thirteen" >"$work/in13"
has in13 "--cuda-path=$work/thirteen"
has in13 "$work/thirteen/include/cccl"
has in13 /share/ctascope/cuda
has in13 "$work/thirteen/bin/fatbinary --64"
CUDA_HOME="$work/thirteen" commands --toolkit=none >"$work/without"
has without -DCTS_CUDART=13
has without cudart-13/libcudart.so
has without cuda-library.bc
lacks without "$work/thirteen"
CUDA_HOME="$work/thirteen" commands --default-stream=per-thread >"$work/streams"
has streams -fgpu-default-stream=per-thread

refused() {
    status=$1 text=$2
    shift 2
    set +e
    "$ctascope" cc --device=cuda "$@" "$work/k.cu" -o "$work/k" >"$work/out" 2>&1
    got=$?
    set -e
    test $got = "$status" || fail "$*: status $got"
    test "$(wc -l <"$work/out")" = 1 || fail "$*: $(cat "$work/out")"
    has out "$text"
}
refused 4 "'$work/empty' is not a CUDA toolkit" --toolkit="$work/empty"
refused 4 "is CUDA 10" --toolkit="$work/ten"
refused 2 "is CUDA 12, but --cuda-version asks for 13" --toolkit="$work/twelve" --cuda-version=13
refused 2 "unknown --cuda-version value '11' (one of: 12, 13)" --cuda-version=11

for version in 12 13; do
    "$ctascope" cc --device=cuda --toolkit=none --cuda-version=$version "$work/k.cu" -lcudart -o "$work/k$version"
    readelf -d "$work/k$version" | grep -q "NEEDED.*libcudart.so.$version\]" || fail "not for $version"
    readelf -V "$work/k$version" | grep -q "libcudart.so.$version" || fail "no versions of $version"
done
# the properties of a device are of another layout in 13, and have another name in 12
cat >"$work/device.cu" <<'CODE'
int main()
{
    cudaDeviceProp p;
    int *q = nullptr;
    cudaMemPrefetchAsync(q, 4, cudaCpuDeviceId);
    static_assert(sizeof p == (CUDART_VERSION >= 13000 ? 1008 : 1032), "as NVIDIA has it");
    return cudaGetDeviceProperties(&p, 0) || p.multiProcessorCount < 1;
}
CODE
for version in 12 13; do
    "$ctascope" cc --device=cuda --toolkit=none --cuda-version=$version "$work/device.cu" -o "$work/device$version"
    nm -D "$work/device$version" | grep -o 'cudaGetDeviceProperties[^@]*' >"$work/name$version"
done
grep -qx cudaGetDeviceProperties_v2 "$work/name12" || fail "12: $(cat "$work/name12")"
grep -qx cudaGetDeviceProperties "$work/name13" || fail "13: $(cat "$work/name13")"
# one default stream per thread: other functions, for launches too
cat >"$work/streams.cu" <<'CODE'
__global__ void k(float *a) { a[threadIdx.x] = 1; }
int main() { k<<<1, 1>>>(nullptr); return cudaStreamSynchronize(0); }
CODE
"$ctascope" cc --device=cuda --toolkit=none --default-stream=per-thread "$work/streams.cu" -o "$work/streams-program"
nm -D "$work/streams-program" >"$work/names"
has names cudaLaunchKernel_ptsz
has names cudaStreamSynchronize_ptsz
# what nobody has is refused by name
echo '__global__ void k(double *d) { d[0] = j0(d[0]) + sin(d[1]); }' >"$work/k.cu"
refused 1 "calls 'j0'" --toolkit=none -c
