// Accesses whose address is no multiple of their size, by the case and the offset that its
// arguments name, and the same aligned. Each case takes its pointer another way.
#include <cstdio>
#include <cstdlib>
struct Arrays {
    int n;
    float *a;
    float4 *b;
};
__global__ void plain(float *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) p[i] = p[i] * 2 + 1;
}
__global__ void vec(float4 *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        float4 v = p[i];
        v.x += v.y;
        v.z += v.w;
        p[i] = v;
    }
}
__global__ void bytes(char *p, int off)
{
    *(double *)(p + off + threadIdx.x * 8) = 1;
}
__global__ void members(Arrays s)
{
    s.b[threadIdx.x].x = s.a[threadIdx.x];
    s.b[threadIdx.x] = make_float4(1, 2, 3, s.n);
}
__global__ void table(float **t)
{
    t[threadIdx.x % 2][threadIdx.x] += 1;
}
__global__ void add(char *p, int off)
{
    atomicAdd((int *)(p + off), 1);
}
__global__ void cas(unsigned long long *p)
{
    atomicCAS(p, 1ull, 2ull);
}
__global__ void shared(int *out, int off)
{
    __shared__ char s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = *(int *)(s + off);
}
__global__ void local(int *out, int off)
{
    char l[64];
    for (int i = 0; i < 64; i++) l[i] = i + off;
    out[threadIdx.x] = *(int *)(l + off);
}
__constant__ char K[64];
__global__ void constant(int *out, int off)
{
    out[threadIdx.x] = *(int *)(K + off);
}
__device__ __noinline__ float nested(const float *p, int i)
{
    return p[i];
}
__global__ void call(float *o, const char *p, int off)
{
    o[threadIdx.x] = nested((const float *)(p + off), threadIdx.x);
}
__global__ void only_some(float *p, const char *c)
{
    if (c[threadIdx.x] == 7) p[threadIdx.x] = 1;
}
__global__ void walk(float *p, int n)
{
    for (float *q = p + threadIdx.x; q < p + n; q += blockDim.x) *q += 1;
}
__global__ void copy(const char *from, float4 *to, int off)
{
    to[threadIdx.x] = *(const float4 *)(from + off + 16 * threadIdx.x);
}
int main(int c, char **v)
{
    char *g;
    cudaMalloc(&g, 1 << 16);
    cudaMemset(g, 0, 1 << 16);
    int m = atoi(v[1]), o = atoi(v[2]);
    switch (m) {
    case 0:
        plain<<<4, 64>>>((float *)(g + o), 200);
        break;
    case 1:
        vec<<<4, 64>>>((float4 *)(g + o), 200);
        break;
    case 2:
        bytes<<<4, 64>>>(g, o);
        break;
    case 3:
        members<<<1, 64>>>(Arrays{3, (float *)(g + 8192), (float4 *)(g + o)});
        break;
    case 4: {
        float *h[2] = {(float *)(g + 4096), (float *)(g + 8192 + o)};
        cudaMemcpy(g, h, sizeof h, cudaMemcpyHostToDevice);
        table<<<4, 64>>>((float **)g);
        break;
    }
    case 5:
        add<<<4, 64>>>(g, o);
        break;
    case 6:
        cas<<<4, 64>>>((unsigned long long *)(g + o));
        break;
    case 7:
        shared<<<4, 64>>>((int *)g, o);
        break;
    case 8:
        local<<<4, 32>>>((int *)g, o);
        break;
    case 9:
        constant<<<4, 32>>>((int *)g, o);
        break;
    case 10:
        call<<<4, 32>>>((float *)g, g + 4096, o);
        break;
    case 11:
        only_some<<<4, 32>>>((float *)(g + 1), g + 4096);
        break;
    case 13:
        copy<<<1, 64>>>(g, (float4 *)(g + 8192), o);
        break;
    case 12:
        walk<<<1, 32>>>((float *)(g + o), 500);
        break;
    }
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
