// Code that is not optimised keeps its pointers in stack slots.
//@ flags -O0
struct buffer {
    float *data;
    int n;
};
__device__ float &cell(buffer *b, int i)
{
    return b->data[i];
}
__global__ void k(float *a, buffer b, int n)
{
    __shared__ float tile[32];
    float *p = a, *q = tile;
    p[LANE] = q[LANE];
    b.data[n] = 2;
}
//@ has 15:13 store 4 global .*type='float' variable='p'
//@ has 15:15 load 4 shared .*type='float' variable='q'
//@ has 16:15 store 4 global .*type='float' variable='b.data'
//@ count 1 ^kernel
