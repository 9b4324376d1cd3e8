// Atomics and texture-like helpers are functions of our headers: the position is the user's call.
//@ headers
__global__ void k(float *a, int *c)
{
    atomicAdd(a + threadIdx.x, 2.0f);
    a[1] = __ldg(a + 2);
    atomicCAS(c, 1, 2);
}
//@ has header-frames.cu:5:5 atomic add 4 global .*function='k\(float\*, int\*\)' type='float' variable='a' inlined=''
//@ has header-frames.cu:6:12 load 4 global .*variable='a'
//@ has header-frames.cu:7:5 atomic cas 4 global .*variable='c'
