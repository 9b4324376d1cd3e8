// What the CPU device cannot do is an error at the user's line, also from inside a header.
//@ env CTS_DEVICE=cpu
__global__ void k(float *a)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    a[0] = 1;
}
//@ fails refused-ptx.cu:5:5: error: .*wgmma
