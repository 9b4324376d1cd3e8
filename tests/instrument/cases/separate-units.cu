// With separate translation units a function that others can name may be called with any pointer;
// one that they cannot name keeps what is known of its calls.
//@ env CTS_RDC=1
__device__ __noinline__ float open(const float *p)
{
    return p[LANE];
}
static __device__ __noinline__ float closed(const float *p)
{
    return p[LANE];
}
extern __device__ float elsewhere(float *p);
__global__ void k(float *out)
{
    __shared__ float tile[32];
    tile[LANE] = 1;
    out[LANE] = open(tile) + closed(tile) + elsewhere(tile);
}
//@ has 6:12 load 4 generic .*function='open\(float const\*\)' type='float' variable='p'
//@ has 10:12 load 4 shared .*function='closed\(float const\*\)' type='float'
//@ has 17:15 store 4 global
