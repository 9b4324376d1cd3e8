/* Calls that look alike on both sides of a branch: threads meet at each of them apart, also when a
 * compiler would like to make one call of the two. */
#include <stdio.h>

__global__ void masks(unsigned *out)
{
    unsigned mask;
    if (threadIdx.x % 4 == 0)
        mask = __activemask();
    else
        mask = __activemask();
    out[threadIdx.x] = mask;
}

/* The same at the ends of two paths, where a code generator merges equal tails. */
__global__ void tails(unsigned *out, const int *side)
{
    if (side[threadIdx.x]) {
        out[threadIdx.x] = 5;
        __threadfence();
        out[threadIdx.x + 32] = __activemask();
        return;
    }
    out[threadIdx.x + 32] = __activemask();
}

/* A barrier that a loop's end decides about must not move across it, nor be doubled on one side. */
__global__ void reduce(int *out, int rounds)
{
    __shared__ int cells[64];
    cells[threadIdx.x] = threadIdx.x;
    for (int round = 0; round < rounds; round++) {
        __syncthreads();
        const int other = cells[(threadIdx.x + 1) % 64];
        if (other & 1)
            __syncthreads();
        else
            __syncthreads();
        cells[threadIdx.x] = other;
    }
    out[threadIdx.x] = cells[threadIdx.x];
}

/* A vote that stands behind a branch which both sides could take to it. */
__global__ void votes(unsigned *out)
{
    const unsigned t = threadIdx.x;
    unsigned ballot;
    if (t < 16)
        ballot = __ballot_sync(0x0000ffffu, t & 1);
    else
        ballot = __ballot_sync(0xffff0000u, t & 1);
    out[t] = ballot;
}

static int check(const char *what, const unsigned *got, const unsigned *expected, int count)
{
    for (int i = 0; i < count; i++)
        if (got[i] != expected[i]) {
            printf("%s: thread %d has %x, not %x\n", what, i, got[i], expected[i]);
            return 1;
        }
    return 0;
}

int main(void)
{
    unsigned *device, host[64], expected[64], bad = 0;
    int *sides, side[32];
    cudaMalloc((void **)&device, sizeof host);
    cudaMalloc((void **)&sides, sizeof side);

    masks<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) expected[t] = t % 4 == 0 ? 0x11111111u : 0xeeeeeeeeu;
    bad |= check("masks", host, expected, 32);

    for (int t = 0; t < 32; t++) side[t] = t < 5;
    cudaMemcpy(sides, side, sizeof side, cudaMemcpyHostToDevice);
    tails<<<1, 32>>>(device, sides);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) expected[t] = t < 5 ? 0x1fu : 0xffffffe0u;
    bad |= check("tails", host + 32, expected, 32);

    reduce<<<1, 64>>>((int *)device, 5);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 64; t++) expected[t] = (t + 5) % 64;
    bad |= check("reduce", host, expected, 64);

    votes<<<1, 32>>>(device);
    cudaMemcpy(host, device, sizeof host, cudaMemcpyDeviceToHost);
    for (int t = 0; t < 32; t++) expected[t] = t < 16 ? 0x0000aaaau : 0xaaaa0000u;
    bad |= check("votes", host, expected, 32);
    puts(bad ? "wrong" : "right");
    return (int)bad;
}
