#ifndef SORT_KERNEL_H_
#define SORT_KERNEL_H_
#define WARP_SIZE 32
#define SORT_BLOCK_SIZE 128
#define SCAN_BLOCK_SIZE 256
typedef unsigned int uint;

__device__ uint scanLSB(const uint val, uint* s_data)
{
    int idx = threadIdx.x;
    s_data[idx] = 0;
    __syncthreads();
    idx += blockDim.x;
    uint t;
    s_data[idx] = val;     __syncthreads();
    t = s_data[idx -  1];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx -  2];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx -  4];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx -  8];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx - 16];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx - 32];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    t = s_data[idx - 64];  __syncthreads();
    s_data[idx] += t;      __syncthreads();
    return s_data[idx] - val;
}

__device__ uint4 scan4(uint4 idata, uint* ptr)
{
    uint4 val4 = idata;
    uint sum[3];
    sum[0] = val4.x;
    sum[1] = val4.y + sum[0];
    sum[2] = val4.z + sum[1];
    uint val = val4.w + sum[2];
    val = scanLSB(val, ptr);
    val4.x = val;
    val4.y = val + sum[0];
    val4.z = val + sum[1];
    val4.w = val + sum[2];
    return val4;
}

__global__ void radixSortBlocks(const uint nbits, const uint startbit, uint4* keysOut, uint4* valuesOut, uint4* keysIn, uint4* valuesIn)
{
    __shared__ uint sMem[512];
    const uint i = threadIdx.x + (blockIdx.x * blockDim.x);
    const uint tid = threadIdx.x;
    const uint localSize = blockDim.x;
    uint4 key, value;
    key = keysIn[i];
    value = valuesIn[i];
    for (uint shift = startbit; shift < (startbit + nbits); ++shift)
    {
        uint4 lsb;
        lsb.x = !((key.x >> shift) & 0x1);
        lsb.y = !((key.y >> shift) & 0x1);
        lsb.z = !((key.z >> shift) & 0x1);
        lsb.w = !((key.w >> shift) & 0x1);
        uint4 address = scan4(lsb, sMem);
        __shared__ uint numtrue;
        if (tid == localSize - 1) numtrue = address.w + lsb.w;
        __syncthreads();
        uint4 rank;
        const int idx = tid*4;
        rank.x = lsb.x ? address.x : numtrue + idx     - address.x;
        rank.y = lsb.y ? address.y : numtrue + idx + 1 - address.y;
        rank.z = lsb.z ? address.z : numtrue + idx + 2 - address.z;
        rank.w = lsb.w ? address.w : numtrue + idx + 3 - address.w;
        sMem[(rank.x & 3) * localSize + (rank.x >> 2)] = key.x;
        sMem[(rank.y & 3) * localSize + (rank.y >> 2)] = key.y;
        sMem[(rank.z & 3) * localSize + (rank.z >> 2)] = key.z;
        sMem[(rank.w & 3) * localSize + (rank.w >> 2)] = key.w;
        __syncthreads();
        key.x = sMem[tid];
        key.y = sMem[tid +     localSize];
        key.z = sMem[tid + 2 * localSize];
        key.w = sMem[tid + 3 * localSize];
        __syncthreads();
        sMem[(rank.x & 3) * localSize + (rank.x >> 2)] = value.x;
        sMem[(rank.y & 3) * localSize + (rank.y >> 2)] = value.y;
        sMem[(rank.z & 3) * localSize + (rank.z >> 2)] = value.z;
        sMem[(rank.w & 3) * localSize + (rank.w >> 2)] = value.w;
        __syncthreads();
        value.x = sMem[tid];
        value.y = sMem[tid +     localSize];
        value.z = sMem[tid + 2 * localSize];
        value.w = sMem[tid + 3 * localSize];
        __syncthreads();
    }
    keysOut[i]   = key;
    valuesOut[i] = value;
}

template <class T, int LOG>
__global__ void mergeRanks(const T *keysIn, const T *valuesIn, T *keysOut, T *valuesOut, int run, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    int base = i / (2 * run) * (2 * run), mid = base + run;
    bool left = i < mid;
    int lo = left ? mid : base, hi = left ? min(mid + run, n) : mid, start = lo;
    T key = __ldg(keysIn + i);
    #pragma unroll LOG
    while (lo < hi) { int m = (lo + hi) >> 1; if (left ? keysIn[m] < key : keysIn[m] <= key) lo = m + 1; else hi = m; }
    int to = i - (left ? 0 : run) + (lo - start);
    keysOut[to] = key;
    valuesOut[to] = valuesIn[i];
}
#endif
