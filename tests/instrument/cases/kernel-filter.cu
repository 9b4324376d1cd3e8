// Only kernels whose name matches are instrumented, and what they may call.
//@ env CTS_KERNELS=^wanted
__device__ __noinline__ void shared_helper(float *a)
{
    a[LANE] = 1;
}
__device__ __noinline__ void other_helper(float *a)
{
    a[LANE] = 2;
}
typedef void (*callback)(float *);
__device__ __noinline__ void by_pointer(float *a)
{
    a[LANE] = 3;
}
__device__ callback pointers[1] = {by_pointer};
__global__ void wanted(float *a)
{
    shared_helper(a);
    pointers[0](a);
}
__global__ void unwanted(float *a)
{
    a[0] = 4;
    shared_helper(a);
    other_helper(a);
}
//@ has function='shared_helper
//@ has function='by_pointer
//@ no function='other_helper
//@ no function='unwanted
//@ has ^kernel 'wanted\(float\*\)' symbol='_Z6wantedPf' flags=0
//@ has ^kernel 'unwanted\(float\*\)' symbol='_Z8unwantedPf' flags=4
