#include <cstdio>
#include <cstdlib>
typedef unsigned int uint;
#define SHARED_SIZE_LIMIT 512U
#define UMAD(a, b, c)     (__umul24((a), (b)) + (c))
__device__ inline void Comparator(uint &keyA, uint &valA, uint &keyB, uint &valB, uint dir)
{
    uint t;
    if ((keyA > keyB) == dir) {
        t = keyA;
        keyA = keyB;
        keyB = t;
        t = valA;
        valA = valB;
        valB = t;
    }
}
__global__ void bitonicSortShared(uint *k, uint *v, const uint *ks, const uint *vs,
                                  uint arrayLength, uint dir)
{
    __shared__ uint s_key[SHARED_SIZE_LIMIT], s_val[SHARED_SIZE_LIMIT];
    uint o = blockIdx.x * SHARED_SIZE_LIMIT + threadIdx.x;
    ks += o;
    vs += o;
    k += o;
    v += o;
    s_key[threadIdx.x] = ks[0];
    s_val[threadIdx.x] = vs[0];
    s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2] = ks[SHARED_SIZE_LIMIT / 2];
    s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2] = vs[SHARED_SIZE_LIMIT / 2];
    for (uint size = 2; size < arrayLength; size <<= 1) {
        uint ddd = dir ^ ((threadIdx.x & (size / 2)) != 0);
        for (uint stride = size / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], ddd);
        }
    }
    {
        for (uint stride = arrayLength / 2; stride > 0; stride >>= 1) {
            __syncthreads();
            uint pos = 2 * threadIdx.x - (threadIdx.x & (stride - 1));
            Comparator(s_key[pos], s_val[pos], s_key[pos + stride], s_val[pos + stride], dir);
        }
    }
    __syncthreads();
    k[0] = s_key[threadIdx.x];
    v[0] = s_val[threadIdx.x];
    k[SHARED_SIZE_LIMIT / 2] = s_key[threadIdx.x + SHARED_SIZE_LIMIT / 2];
    v[SHARED_SIZE_LIMIT / 2] = s_val[threadIdx.x + SHARED_SIZE_LIMIT / 2];
}
__global__ void bitonicMergeGlobal(uint *k, uint *v, uint size, uint stride, uint dir)
{
    uint i = UMAD(blockIdx.x, blockDim.x, threadIdx.x), c = i & (size / 2 - 1),
         ddd = dir ^ ((c & (size / 2)) != 0);
    ddd = dir ^ ((i & (size / 2)) != 0);
    uint pos = 2 * i - (i & (stride - 1)), ka = k[pos], va = v[pos], kb = k[pos + stride],
         vb = v[pos + stride];
    Comparator(ka, va, kb, vb, ddd);
    k[pos] = ka;
    v[pos] = va;
    k[pos + stride] = kb;
    v[pos + stride] = vb;
}
int main()
{
    const uint n = 4096;
    uint *h = (uint *)malloc(n * 4), *g = (uint *)malloc(n * 4), *w = (uint *)malloc(n * 4), *a, *b;
    for (uint i = 0; i < n; i++) {
        h[i] = rand() % 10000;
        w[i] = i;
    }
    cudaMalloc(&a, n * 4);
    cudaMalloc(&b, n * 4);
    cudaMemcpy(a, h, n * 4, cudaMemcpyHostToDevice);
    cudaMemcpy(b, w, n * 4, cudaMemcpyHostToDevice);
    bitonicSortShared<<<n / SHARED_SIZE_LIMIT, SHARED_SIZE_LIMIT / 2>>>(a, b, a, b,
                                                                        SHARED_SIZE_LIMIT, 1);
    for (uint size = 2; size <= n; size <<= 1)
        for (uint stride = size / 2; stride > 0; stride >>= 1)
            bitonicMergeGlobal<<<n / 512, 256>>>(a, b, size, stride, 1);
    cudaMemcpy(g, a, n * 4, cudaMemcpyDeviceToHost);
    cudaMemcpy(w, b, n * 4, cudaMemcpyDeviceToHost);
    int bad = 0;
    for (uint i = 0; i < n; i++) bad += (i && g[i - 1] > g[i]) || h[w[i]] != g[i];
    printf("bad %d\n", bad);
    return bad != 0;
}
