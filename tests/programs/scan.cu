/* Prefix sums three ways: the work-efficient tree of one block in dynamic shared memory, warps with
 * shuffles, and a long array in several launches with block sums. */
#include "helper.h"
#include <vector>

#define CONFLICT_FREE_OFFSET(n) ((n) >> 5)

__global__ void tree_scan(int *out, const int *in, int n)
{
    extern __shared__ int temp[];
    const int tid = threadIdx.x;
    const int ai = tid, bi = tid + n / 2;
    temp[ai + CONFLICT_FREE_OFFSET(ai)] = in[ai];
    temp[bi + CONFLICT_FREE_OFFSET(bi)] = in[bi];
    int offset = 1;
    for (int d = n >> 1; d > 0; d >>= 1) {
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            temp[b] += temp[a];
        }
        offset *= 2;
    }
    if (tid == 0) temp[n - 1 + CONFLICT_FREE_OFFSET(n - 1)] = 0;
    for (int d = 1; d < n; d *= 2) {
        offset >>= 1;
        __syncthreads();
        if (tid < d) {
            int a = offset * (2 * tid + 1) - 1, b = offset * (2 * tid + 2) - 1;
            a += CONFLICT_FREE_OFFSET(a);
            b += CONFLICT_FREE_OFFSET(b);
            const int t = temp[a];
            temp[a] = temp[b];
            temp[b] += t;
        }
    }
    __syncthreads();
    out[ai] = temp[ai + CONFLICT_FREE_OFFSET(ai)];
    out[bi] = temp[bi + CONFLICT_FREE_OFFSET(bi)];
}

template <int WIDTH> __global__ void shuffle_scan(int *data, int *sums)
{
    __shared__ int partial[WIDTH];
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    const int lane = threadIdx.x % warpSize, warp = threadIdx.x / warpSize;
    int value = data[id];
#pragma unroll
    for (int i = 1; i <= WIDTH / 2; i *= 2) {
        const int n = __shfl_up_sync(0xffffffffu, value, i, WIDTH);
        if (lane >= i) value += n;
    }
    if (lane == warpSize - 1) partial[warp] = value;
    __syncthreads();
    if (warp == 0) {
        int sum = lane < (int)(blockDim.x / warpSize) ? partial[lane] : 0;
        for (int i = 1; i <= WIDTH / 2; i *= 2) {
            const int n = __shfl_up_sync(0xffffffffu, sum, i, WIDTH);
            if (lane >= i) sum += n;
        }
        partial[lane] = sum;
    }
    __syncthreads();
    if (warp > 0) value += partial[warp - 1];
    data[id] = value;
    if (sums && threadIdx.x == blockDim.x - 1) sums[blockIdx.x] = value;
}

__global__ void add_sums(int *data, const int *sums, int n)
{
    __shared__ int base;
    const int id = blockIdx.x * blockDim.x + threadIdx.x;
    if (blockIdx.x == 0 || id >= n) return;
    if (threadIdx.x == 0) base = sums[blockIdx.x - 1];
    __syncthreads();
    data[id] += base;
}

int main(int argc, char **argv)
{
    const int n = 512, length = argc > 1 ? atoi(argv[1]) : 256 * 256;
    std::vector<int> host(length), got(length);
    for (int i = 0; i < length; i++) host[i] = (i * 2654435761u >> 7) % 17;

    int *in, *out, *sums;
    checkCudaErrors(cudaMalloc(&in, length * sizeof(int)));
    checkCudaErrors(cudaMalloc((void **)&out, n * sizeof(int)));
    checkCudaErrors(cudaMalloc((void **)&sums, 256 * sizeof(int)));
    checkCudaErrors(cudaMemcpy(in, host.data(), length * sizeof(int), cudaMemcpyHostToDevice));
    tree_scan<<<1, n / 2, (n + CONFLICT_FREE_OFFSET(n)) * sizeof(int)>>>(out, in, n);
    getLastCudaError("tree_scan");
    checkCudaErrors(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0, sum = 0; i < n; sum += host[i++]) EXPECT(got[i] == sum, "%d: %d", i, got[i]);

    shuffle_scan<32><<<length / 256, 256>>>(in, sums);
    shuffle_scan<32><<<1, 256>>>(sums, NULL);
    add_sums<<<length / 256, 256>>>(in, sums, length);
    checkCudaErrors(cudaDeviceSynchronize());
    checkCudaErrors(cudaMemcpy(got.data(), in, length * sizeof(int), cudaMemcpyDeviceToHost));
    for (int i = 0, sum = 0; i < length; i++) {
        sum += host[i];
        EXPECT(got[i] == sum, "%d: %d, not %d", i, got[i], sum);
    }
    cudaFree(in), cudaFree(out), cudaFree(sums);
    return verdict();
}
