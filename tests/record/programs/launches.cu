// A chain of launches: each reads what the one before wrote, at scattered places.
//   launches LAUNCHES CTAS [PAUSE_US [step]]
// Says "done K" when launch K has ended, waits PAUSE_US then (with `step` also for a byte from its
// standard input, or that one's end), and prints a sum at the end.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS = 128, ROUNDS = 8 };

__device__ unsigned scatter(unsigned i, unsigned round)
{
    unsigned x = i * 2654435761u + round * 40503u;
    x ^= x >> 15;
    x *= 2246822519u;
    return x ^ x >> 13;
}

__global__ void even(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = i;
    for (unsigned r = 0; r < ROUNDS; r++) sum += in[scatter(i, r) % n];
    out[i] = sum;
}

__global__ void odd(const unsigned *in, unsigned *out, unsigned n)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned sum = 3 * i;
    for (unsigned r = 0; r < ROUNDS; r++) sum ^= in[scatter(i, r) % n];
    out[i] = sum;
}

int main(int argc, char **argv)
{
    const unsigned launches = atoi(argv[1]), ctas = atoi(argv[2]);
    const unsigned pause_us = argc > 3 ? atoi(argv[3]) : 0;
    const bool steps = argc > 4 && strcmp(argv[4], "step") == 0;
    const unsigned n = ctas * THREADS;
    unsigned *buffers[2];
    for (unsigned i = 0; i < 2; i++) {
        if (cudaMalloc(&buffers[i], n * sizeof(unsigned))) return 10;
        cudaMemset(buffers[i], 0, n * sizeof(unsigned));
    }
    for (unsigned k = 0; k < launches; k++) {
        if (k % 2 == 0)
            even<<<ctas, THREADS>>>(buffers[0], buffers[1], n);
        else
            odd<<<ctas, THREADS>>>(buffers[1], buffers[0], n);
        if (cudaDeviceSynchronize()) return 11;
        printf("done %u\n", k);
        fflush(stdout);
        if (pause_us) usleep(pause_us);
        if (steps) getchar();
    }
    unsigned *const host = (unsigned *)malloc(n * sizeof(unsigned)), sum = 0;
    if (cudaMemcpy(host, buffers[launches % 2], n * sizeof(unsigned), cudaMemcpyDeviceToHost))
        return 12;
    for (unsigned i = 0; i < n; i++) sum += host[i];
    printf("sum %u\n", sum);
    return 3; // a status of its own
}
