#!/bin/sh
# driver.sh CTASCOPE: what `ctascope cc` does with options, files and errors.
set -u
ctascope=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
TMPDIR=$work/tmp
export TMPDIR
mkdir "$TMPDIR" "$work/with space"
cd "$work" || exit 1
failures=0

fail() {
    echo "FAILED: $1"
    failures=$((failures + 1))
}

# expect STATUS NAME COMMAND...: runs, keeps stdout and stderr in out and err
expect() {
    wanted=$1 name=$2
    shift 2
    "$@" > out 2> err
    status=$?
    if [ $status != "$wanted" ]; then
        fail "$name: exit $status, wanted $wanted"
        cat err
    fi
}

says() { # says NAME FILE TEXT
    grep -qF -- "$3" "$2" || { fail "$1: '$3' is not in its output"; cat "$2"; }
}

cat > "with space/k.h" <<'END'
#define N 64
END
cat > "with space/k.cu" <<'END'
#include <stdio.h>
#include "k.h"
__global__ void k(int *p) { p[threadIdx.x] = threadIdx.x * SCALE; }
int main(void)
{
    int *p, h[N];
    cudaMalloc((void **)&p, sizeof h);
    k<<<1, N>>>(p);
    cudaMemcpy(h, p, sizeof h, cudaMemcpyDeviceToHost);
    printf("%d\n", h[N - 1]);
    return 0;
}
END
printf 'int twice(int i) { return 2 * i; }\n' > plain.c
printf '__global__ void k(int *p) {\n    *p = undeclared;\n}\n' > wrong.cu
printf '__global__ void k(int *p) {\n    asm volatile("frobnicate.u32 %%0;" : "=r"(*p));\n}\n' > ptx.cu
printf '__device__ int elsewhere(int);\n__global__ void k(int *p) {\n    *p = elsewhere(1);\n}\n' > extern.cu

# objects, dependencies, link, in the way of nvcc under CMake
expect 0 "an object with dependencies" "$ctascope" cc -forward-unknown-to-host-compiler -DSCALE=3 \
    --generate-code=arch=compute_80,code=[compute_80,sm_80] -std=c++17 -O2 -Xcompiler=-fPIC,-Wall \
    -Xptxas -v -MD -MT obj/k.o -MF k.d -x cu -c "with space/k.cu" -o k.o
[ -f k.o ] || fail "no object"
says "dependencies" k.d "obj/k.o:"
says "dependencies" k.d 'with\ space/k.h'
expect 0 "a C source" "$ctascope" cc -c plain.c
expect 0 "the link" "$ctascope" cc k.o plain.o -o program -lcudart -L/nowhere
expect 0 "the program" ./program
says "the program" out 189
expect 0 "both at once, options joined and apart" "$ctascope" cc -arch sm_70 -D SCALE=2 "-Iwith space" \
    --use_fast_math -lineinfo -maxrregcount 32 -G -g "with space/k.cu" plain.c -o "with space/program"
expect 0 "a path with a space" "with space/program"
says "a path with a space" out 126
expect 0 "a shared library" "$ctascope" cc -shared -DSCALE=1 -Dmain=entry "with space/k.cu" -o libk.so
expect 0 "default names" "$ctascope" cc -dc -DSCALE=1 "with space/k.cu"
[ -f k.o ] || fail "default name of an object"
expect 0 "preprocessing" "$ctascope" cc -E -DSCALE=77 "with space/k.cu"
says "preprocessing" out "threadIdx.x * 77"
expect 0 "listing of dependencies" "$ctascope" cc -M -DSCALE=1 "with space/k.cu"
says "listing of dependencies" out 'k.h'
expect 0 "device link" "$ctascope" cc -dlink k.o -o linked.o
[ -f linked.o ] || fail "no object of the device link"
expect 0 "version" "$ctascope" cc --version
says "version" out "ctascope cc"
expect 0 "commands" "$ctascope" cc -### -c -DSCALE=1 "with space/k.cu" -o never.o
says "commands" err "CTS_STEP=retarget"
[ -f never.o ] && fail "-### made an object"
expect 0 "kept files" "$ctascope" cc -c -DSCALE=1 "with space/k.cu" -o k.o --keep kept
[ -s kept/k.bc ] || fail "--keep kept nothing"
printf -- '-DSCALE=5\n"-Iwith space"\n' > options.rsp
expect 0 "an options file" "$ctascope" cc --options-file options.rsp -c "with space/k.cu" -o k.o

# the same input gives the same object
expect 0 "once" "$ctascope" cc -c -DSCALE=1 "with space/k.cu" -o same.o
cp same.o first.o
expect 0 "again" "$ctascope" cc -c -DSCALE=1 "with space/k.cu" -o same.o
cmp -s first.o same.o || fail "two compiles of one source differ"

# errors
expect 1 "a source that does not compile" "$ctascope" cc -c wrong.cu -o wrong.o
says "a source that does not compile" err "wrong.cu:2:10: error: use of undeclared identifier"
[ "$(grep -c 'error: use' err)" = 1 ] || fail "an error is said more than once"
[ -f wrong.o ] && fail "an object of a source that does not compile"
expect 1 "unknown PTX" "$ctascope" cc -c ptx.cu
says "unknown PTX" err "ptx.cu:2:5: error: inline PTX 'frobnicate.u32"
expect 1 "a device function of another unit" "$ctascope" cc -c extern.cu
says "a device function of another unit" err "extern.cu:3:10: error: unresolved device function 'elsewhere(int)'"
expect 0 "the same with -rdc" "$ctascope" cc -rdc=true -c extern.cu
expect 2 "an unknown option" "$ctascope" cc --frobnicate x.cu
says "an unknown option" err "unknown option '--frobnicate'"
expect 2 "a missing value" "$ctascope" cc -c wrong.cu -o
expect 2 "no input" "$ctascope" cc -O2
expect 2 "an unknown device" "$ctascope" cc --device=abacus wrong.cu
expect 1 "a file that is not there" "$ctascope" cc -c missing.cu
expect 1 "an error for a GPU, without a toolkit" "$ctascope" cc --device=cuda --toolkit=none -c wrong.cu

# what nvcc takes from the environment, and what it makes that cannot be made here
expect 0 "flags of the environment" env NVCC_PREPEND_FLAGS='-DSCALE=5 -DSCALE' \
    NVCC_APPEND_FLAGS="-USCALE '-DSCALE=(2 + 5)' -o k4" "$ctascope" cc "with space/k.cu"
expect 0 "flags of the environment: run" ./k4
says "flags of the environment" out 441
expect 2 "assembly" "$ctascope" cc -S "with space/k.cu"
says "assembly" err "option '-S' is not supported: ctascope cc makes machine code"

# what is not supported ends with two lines: what, and what to do; a program's own errors do not
printf '__global__ void child(int *p) { *p = 1; }\n__global__ void k(int *p) { child<<<1, 1>>>(p); }\n' > nested.cu
expect 1 "a launch by a kernel" "$ctascope" cc -c nested.cu
says "a launch by a kernel" err "not supported: launches from device code"
says "a launch by a kernel" err "what to do: compile for a GPU"
[ "$(tail -2 err | grep -c '^ctascope cc: ')" = 2 ] || fail "the two lines are not the last"
printf '#include <cudnn.h>\nint main() {}\n' > cudnn.cu
expect 1 "a library that we lack" "$ctascope" cc -c cudnn.cu
says "a library that we lack" err "not supported: <cudnn.h>"
printf '#include <cusolverDn.h>\nint main() {}\n' > cusolver.cu
expect 1 "a library that is refused" "$ctascope" cc -c cusolver.cu
says "a library that is refused" err "not supported: cusolverDn.h: cuSOLVER"
printf 'extern "C" int cublasFrobnicate(); int main() { return cublasFrobnicate(); }\n' > link.cu
expect 1 "a function that we lack" "$ctascope" cc link.cu -o linked
says "a function that we lack" err "not supported: cublasFrobnicate"
printf '#include <curand_kernel.h>\n__device__ curandStateSobol32_t state;\nint main() {}\n' > sobol.cu
expect 1 "a type that we lack" "$ctascope" cc -c sobol.cu
says "a type that we lack" err "not supported: curandStateSobol32_t"
printf 'int main() { cudaMemLocation host = {}; void *p = 0; return cudaMemPrefetchAsync(p, 4, host, 0, 0); }\n' > prefetch.cu
expect 1 "CUDA 13's prefetch" "$ctascope" cc -c prefetch.cu
says "CUDA 13's prefetch" err "not supported: cudaMemPrefetchAsync"
says "CUDA 13's prefetch" err "cuda-version=13"
expect 0 "CUDA 13's prefetch" "$ctascope" cc --cuda-version=13 -c prefetch.cu
expect 1 "a wrong program" "$ctascope" cc -c wrong.cu
grep -q 'not supported' err && fail "a wrong program is said to be unsupported"

# unmodified build files: env names the stand-in toolkit, and no link mixes two runtimes
mkdir -p other/include other/lib64
printf 'extern "C" void cudaMalloc(void);\nvoid cudaMalloc(void) {}\n' > other/other.cpp
g++ -shared -fPIC -o other/lib64/libcudart.so other/other.cpp
(
    eval "$("$ctascope" env)"
    eval "$("$ctascope" env)"
    [ "$(printf '%s' "$PATH" | tr ':' '\n' | grep -c 'ctascope/nvcc/bin$')" = 1 ] || exit 10
    [ -f "$CUDA_HOME/include/cuda_runtime.h" ] && [ "$CUDACXX" = "$(command -v nvcc)" ] || exit 11
    nvcc -DSCALE=3 -c "with space/k.cu" -o k2.o || exit 12
    g++ k2.o -o k2 -L"$work/other/lib64" -Wl,-rpath,"$work/other/lib64" -lcudart || exit 13
    g++ k2.o -o k3 -lcudart_static -ldl -lrt -lpthread || exit 14
    gcc -o plain-c -x c - -lcudart << 'END' || exit 15
#include <cuda_runtime.h>
int main(void) { int n; return cudaGetDeviceCount(&n) != cudaSuccess; }
END
    ./plain-c || exit 16
    # a host compiler takes the libraries' headers, whichever comes first
    printf '#include <curand_kernel.h>\ncurandState state;\n' |
        g++ -Wall -Werror -fsyntax-only -x c++ - || exit 17
    for header in curand cufft cufftXt cusparse cublas_v2; do
        printf '#include <%s.h>\nint nothing;\n' $header > $header.c
        gcc -std=c99 -Wall -Werror -fsyntax-only $header.c || exit 18
        g++ -Wall -Werror -fsyntax-only -x c++ $header.c || exit 19
    done
) > out 2> err
status=$?
[ $status = 0 ] || { fail "env: step $status"; cat err; }
for program in k2 k3; do
    expect 0 "env: $program" "./$program"
    says "env: $program" out 189
done

# nothing is left behind, not even by a compile that is stopped
(
    printf '#include <vector>\n#include <map>\n#include <regex>\n'
    i=0
    while [ $i -lt 60 ]; do
        echo "template __global__ void k<$i>(int *);"
        i=$((i + 1))
    done
) > rest
{ printf 'template <int n> __global__ void k(int *p) { for (int i = 0; i < n; i++) p[i * threadIdx.x] += n; }\n'; cat rest; } > long.cu
"$ctascope" cc -c long.cu -o long.o 2> /dev/null &
child=$!
sleep 1
kill -TERM $child
wait $child
[ $? = 143 ] || fail "a stopped compile does not end by its signal"
[ -z "$(ls -A "$TMPDIR")" ] || { fail "files left behind"; ls -lR "$TMPDIR"; }

[ $failures = 0 ] && echo "all right"
exit $((failures > 0))
