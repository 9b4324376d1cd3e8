// Targets of function pointers and virtual functions are marked; their parameters may be anything.
inline __attribute__((device)) void *operator new(decltype(sizeof 0), void *p) noexcept { return p; }
typedef float (*operation)(const float *, int);
__device__ float first(const float *p, int i)
{
    return p[i];
}
__device__ float second(const float *p, int i)
{
    return p[i + 1];
}
__device__ operation table[2] = {first, second};
struct shape {
    __device__ virtual float area(const float *p) = 0;
    float scale;
};
struct square : shape {
    __device__ float area(const float *p) override { return p[LANE] * p[LANE] * scale; }
};
__global__ void make(square *s)
{
    new (s) square;
}
__global__ void k(float *a, shape *s, int n)
{
    a[0] = table[n & 1](a, n) + s->area(a);
}
//@ has 6:12 load 4 generic .*function='first.*variable='p'
//@ has 10:12 load 4 generic .*function='second.*variable='p'
//@ has load 4 generic .*function='square::area\(float const\*\)' type='float' variable='p'
//@ has load 4 generic .*function='square::area\(float const\*\)' type='float' variable='this->scale'
//@ has load 8 global .*type='function\*' variable='table'
//@ has 26:[0-9]+ load 8 global .*function='k
