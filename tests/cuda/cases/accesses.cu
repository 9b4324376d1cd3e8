// What instrumented device code has to look like: see ../check.py. Each kernel says how many groups
// of accesses it has; a barrier is a group of its own.
__device__ int counter;
__constant__ float weights[16];

// groups: 1
__global__ void add(const float *a, const float *b, float *c, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) c[i] = a[i] + b[i];
}

// groups: 3
__global__ void tile(const float *in, float *out)
{
    __shared__ float part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = part[255 - threadIdx.x] * weights[threadIdx.x & 15];
}

// groups: 1
__global__ void gather(const int *from, const float *in, float *out)
{
    out[threadIdx.x] = in[from[threadIdx.x]];
}

// groups: 1
__global__ void five(double *d)
{
    d[threadIdx.x] =
        d[threadIdx.x + 32] + d[threadIdx.x + 64] + d[threadIdx.x + 96] + d[threadIdx.x + 128];
}

// groups: 3
__global__ void atomics(unsigned *at, int *which)
{
    atomicAdd(&counter, 1);
    atomicMax(&at[threadIdx.x], 7u);
    __syncthreads();
    which[0] = 1;
}

// groups: 0
__global__ void nothing(int) {}
