#!/bin/sh
# Names of allocations: a program for a GPU tells them to the recorder that is going to be injected,
# and to nobody else. Here the recorder and the runtime are stand-ins of the same names.
# hints.sh CTASCOPE CC
set -eu
ctascope=$1 cc=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "$*" >&2; exit 1; }

cat >"$work/runtime.c" <<'CODE'
#include <stdlib.h>
int cudaMalloc(void **pointer, size_t size_bytes) { *pointer = malloc(size_bytes); return 0; }
int cudaMallocManaged(void **pointer, size_t size_bytes, unsigned flags)
{
    return cudaMalloc(pointer, size_bytes + 0 * flags);
}
CODE
cat >"$work/recorder.c" <<'CODE'
#include <stdio.h>
struct description { const char *variable, *type, *path, *function; unsigned line, column, bytes; };
void __cts_allocation_hint(const struct description *d)
{
    printf("%s %s %s:%u %u\n", d->variable, d->type, d->function, d->line, d->bytes);
}
CODE
cat >"$work/app.cu" <<'CODE'
struct field { double *cells; };
int main(void)
{
    float *d_a;
    struct field f;
    cudaMalloc(&d_a, 64);
    cudaMallocManaged(&f.cells, 128);
    return 0;
}
CODE
"$cc" -shared -fPIC -Wl,-soname,libcudart.so.13 "$work/runtime.c" -o "$work/libcudart.so.13"
"$cc" -shared -fPIC "$work/recorder.c" -o "$work/libctascope_memory.so"
"$ctascope" cc --device=cuda --toolkit=none "$work/app.cu" -o "$work/app"
export LD_LIBRARY_PATH="$work"
"$work/app" >"$work/alone" 2>"$work/errors" || fail "$(cat "$work/errors")"
test ! -s "$work/alone" || fail "tells without a recorder: $(cat "$work/alone")"
CUDA_INJECTION64_PATH=/nonexistent/libctascope_memory.so "$work/app" >"$work/alone" ||
    fail "a recorder that is not there is a failure"
CUDA_INJECTION64_PATH="$work/libctascope_memory.so" "$work/app" >"$work/told"
printf 'd_a float main():6 4\nf.cells double main():7 8\n' >"$work/expected"
sed 's/ main:/ main():/' "$work/told" | diff - "$work/expected" >&2 || fail "other hints"
