// Names of shared arrays: static, of a device function, dynamic.
extern __shared__ double dynamic[];
__device__ __noinline__ float helper(int i)
{
    __shared__ float cache[8];
    cache[i] = i;
    return cache[i ^ 1];
}
__global__ void k(float *out)
{
    __shared__ float tile[4][33];
    tile[threadIdx.y][LANE] = out[LANE];
    dynamic[LANE] = tile[LANE & 3][threadIdx.y] + helper(LANE);
    float *as_floats = (float *)dynamic;
    out[0] = as_floats[2 * LANE + 64];
}
//@ has 12:29 store 4 shared .*type='float' variable='tile'
//@ has 13:19 store 8 shared .*type='double' variable='dynamic'
//@ has load 4 shared .*type='float' variable='dynamic|load 4 shared .*variable='as_floats'
//@ has 6:14 store 4 shared .*function='helper\(int\)' .*variable='cache'
//@ has ^variable 'tile' symbol='_ZZ1kPfE4tile' type='float' kind=3 function='k\(float\*\)' at shared-variables.cu:11
//@ has ^variable 'cache' .* kind=3 function='helper\(int\)' at shared-variables.cu:5
//@ has ^variable 'dynamic' symbol='dynamic' type='double' kind=4
