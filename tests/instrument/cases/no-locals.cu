// Local memory is not recorded by default, however its address is made.
extern "C" __device__ int vprintf(const char *, const char *);
__device__ __noinline__ void fill(int *p, int n)
{
    for (int i = 0; i < n; i++) p[i & 31] = i;
}
__global__ void k(int *a, int n)
{
    int own[32], other[32];
    fill(own, n);
    fill(other, n);
    int *p = n > 3 ? own : other;
    p[n & 31] = 2;
    a[0] = own[n & 31] + other[n & 31];
    struct { int a; double b; } arguments = {n, 2.5};
    vprintf("%d %f\n", (const char *)&arguments);
}
//@ count 1 ^site
//@ has 14:[0-9]+ store 4 global .*variable='a'
