/* Reductions of one launch: the last block that is done adds up, by __threadfence and an atomic
 * counter; blocks that wait for each other by a spin lock; a queue that blocks take tickets from.
 */
#include "helper.h"

__device__ unsigned retirement_count = 0;
__shared__ bool am_last;

template <unsigned blockSize, bool isPow2>
__global__ void reduceSinglePass(const float *idata, float *odata, unsigned n)
{
    __shared__ float sdata[blockSize];
    unsigned tid = threadIdx.x, i = blockIdx.x * (blockSize * 2) + tid,
             grid = blockSize * 2 * gridDim.x;
    float sum = 0;
    for (; i < n; i += grid) {
        sum += idata[i];
        if (isPow2 || i + blockSize < n) sum += idata[i + blockSize];
    }
    sdata[tid] = sum;
    __syncthreads();
    if (blockSize >= 512) {
        if (tid < 256) sdata[tid] = sum = sum + sdata[tid + 256];
        __syncthreads();
    }
    if (blockSize >= 256) {
        if (tid < 128) sdata[tid] = sum = sum + sdata[tid + 128];
        __syncthreads();
    }
    if (blockSize >= 128) {
        if (tid < 64) sdata[tid] = sum = sum + sdata[tid + 64];
        __syncthreads();
    }
    if (tid < 32) {
        volatile float *smem = sdata;
        if (blockSize >= 64) smem[tid] = sum = sum + smem[tid + 32];
        for (int offset = 16; offset; offset >>= 1) sum += __shfl_down_sync(~0u, sum, offset);
    }
    if (tid == 0) odata[blockIdx.x] = sum;
    if (gridDim.x > 1) {
        __threadfence();
        if (tid == 0) {
            const unsigned ticket = atomicInc(&retirement_count, gridDim.x);
            am_last = ticket == gridDim.x - 1;
        }
        __syncthreads();
        if (am_last) {
            float all = 0;
            for (unsigned k = tid; k < gridDim.x; k += blockSize)
                all += ((volatile float *)odata)[k];
            sdata[tid] = all;
            __syncthreads();
            for (unsigned s = blockSize / 2; s > 0; s >>= 1) {
                if (tid < s) sdata[tid] += sdata[tid + s];
                __syncthreads();
            }
            if (tid == 0) odata[0] = sdata[0], retirement_count = 0;
        }
    }
}

struct Lock {
    int *mutex;
    Lock()
    {
        int state = 0;
        cudaMalloc((void **)&mutex, sizeof(int));
        cudaMemcpy(mutex, &state, sizeof(int), cudaMemcpyHostToDevice);
    }
    Lock(const Lock &other) : mutex(other.mutex) {}
    __device__ void lock()
    {
        while (atomicCAS(mutex, 0, 1) != 0) {
        }
        __threadfence();
    }
    __device__ void unlock()
    {
        __threadfence();
        atomicExch(mutex, 0);
    }
};

__global__ void dot(int size, const float *a, const float *b, float *c, Lock lock)
{
    __shared__ float cache[256];
    float temp = 0;
    for (int tid = threadIdx.x + blockIdx.x * blockDim.x; tid < size; tid += blockDim.x * gridDim.x)
        temp += a[tid] * b[tid];
    cache[threadIdx.x] = temp;
    __syncthreads();
    for (int i = blockDim.x / 2; i != 0; i /= 2) {
        if (threadIdx.x < i) cache[threadIdx.x] += cache[threadIdx.x + i];
        __syncthreads();
    }
    if (threadIdx.x == 0) {
        lock.lock();
        *c += cache[0];
        lock.unlock();
    }
}

/* Every thread of a warp takes the lock in turn: the critical section is inside the loop. */
__global__ void contended(int *mutex, int *count, int rounds)
{
    for (int i = 0; i < rounds; i++)
        for (bool done = false; !done;)
            if (atomicCAS(mutex, 0, 1) == 0) {
                __threadfence();
                *(volatile int *)count = *(volatile int *)count + 1;
                __threadfence();
                atomicExch(mutex, 0);
                done = true;
            }
}

/* Blocks as chained scan: each waits for its left neighbour's prefix, in order of tickets. */
__global__ void chained(const int *in, int *out, volatile int *prefix, volatile int *flag,
                        int *next)
{
    __shared__ int block, before, s[128];
    if (threadIdx.x == 0) block = atomicAdd(next, 1);
    __syncthreads();
    const int i = block * blockDim.x + threadIdx.x;
    s[threadIdx.x] = in[i];
    for (int d = 1; d < blockDim.x; d *= 2) {
        __syncthreads();
        const int left = threadIdx.x >= d ? s[threadIdx.x - d] : 0;
        __syncthreads();
        s[threadIdx.x] += left;
    }
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) {
        if (block > 0) {
            while (flag[block - 1] == 0);
            __threadfence();
            before = prefix[block - 1];
        } else
            before = 0;
        prefix[block] = before + s[threadIdx.x];
        __threadfence();
        flag[block] = 1;
    }
    __syncthreads();
    out[i] = s[threadIdx.x] + before;
}

int main()
{
    const unsigned n = 1 << 15;
    float *in, *out, *h = (float *)malloc(n * sizeof(float)), got[2];
    for (unsigned i = 0; i < n; i++) h[i] = (float)(i % 3);
    checkCudaErrors(cudaMalloc(&in, n * sizeof(float)));
    checkCudaErrors(cudaMalloc(&out, 64 * sizeof(float)));
    checkCudaErrors(cudaMemcpy(in, h, n * sizeof(float), cudaMemcpyHostToDevice));
    double want = 0, odd = 0;
    for (unsigned i = 0; i < n; i++) {
        want += h[i];
        if (i < n - 77) odd += h[i];
    }
    for (int i = 0; i < 2; i++) {
        reduceSinglePass<128, true><<<32, 128>>>(in, out, n);
        getLastCudaError("reduce");
        checkCudaErrors(cudaMemcpy(got, out, sizeof(float), cudaMemcpyDeviceToHost));
        EXPECT(got[0] == want, "%g, not %g", got[0], want);
        reduceSinglePass<512, false><<<16, 512>>>(in, out, n - 77);
        checkCudaErrors(cudaMemcpy(got, out, sizeof(float), cudaMemcpyDeviceToHost));
        EXPECT(got[0] == odd, "%g, not %g", got[0], odd);
    }
    Lock lock;
    checkCudaErrors(cudaMemset(out, 0, 4));
    dot<<<32, 256>>>(n, in, in, out, lock);
    checkCudaErrors(cudaMemcpy(got, out, sizeof(float), cudaMemcpyDeviceToHost));
    want = 0;
    for (unsigned i = 0; i < n; i++) want += h[i] * h[i];
    EXPECT(got[0] == want, "%g, not %g", got[0], want);
    int *count, counted;
    checkCudaErrors(cudaMalloc(&count, 4));
    checkCudaErrors(cudaMemset(count, 0, 4));
    contended<<<4, 64>>>(lock.mutex, count, 3);
    checkCudaErrors(cudaMemcpy(&counted, count, 4, cudaMemcpyDeviceToHost));
    EXPECT(counted == 4 * 64 * 3, "%d", counted);

    const int m = 128 * 40;
    int *ints, *state;
    checkCudaErrors(cudaMallocManaged(&ints, 2 * m * sizeof(int)));
    checkCudaErrors(cudaMalloc(&state, 3 * 64 * sizeof(int)));
    checkCudaErrors(cudaMemset(state, 0, 3 * 64 * sizeof(int)));
    for (int i = 0; i < m; i++) ints[i] = i % 13 - 4;
    chained<<<40, 128>>>(ints, ints + m, state, state + 64, state + 128);
    checkCudaErrors(cudaDeviceSynchronize());
    for (int i = 0, sum = 0; i < m; i++) {
        sum += ints[i];
        EXPECT(ints[m + i] == sum, "%d: %d, not %d", i, ints[m + i], sum);
    }
    free(h);
    return verdict();
}
