// Upper case. 1: a thread for each line of 64 bytes. 2: the loop ends one byte after the text.
#include "pair.h"
enum { LINES = 1024, LENGTH = 64, N = LINES * LENGTH, BLOCK = 128 };

__global__ void upper(const char *in, char *out)
{
    const int t = blockIdx.x * BLOCK + threadIdx.x;
#if DEFECT == 1
    for (int i = t * LENGTH; i < (t + 1) * LENGTH; i++) {
        const char c = in[i]; // @1 strided access|array of structs
        out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
#else
    for (int i = t; DEFECT == 2 ? i <= N : i < N; i += gridDim.x * BLOCK) {
        const char c = in[i]; // @2 access outside allocations
        out[i] = c >= 'a' && c <= 'z' ? c - 32 : c;
    }
#endif
}

int main()
{
    char *in = device_array<char>(N, [](size_t i) { return char('a' + i % 26); });
    char *out = device_zeros<char>(N + 1);
    upper<<<LINES / BLOCK, BLOCK>>>(in, out);
    CHECK(cudaDeviceSynchronize());
}
