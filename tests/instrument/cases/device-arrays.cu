// __device__, __constant__ and __managed__ variables. Constant memory is not recorded, and clang
// puts constants of the device there.
namespace tables {
__device__ float squares[64];
}
__device__ const int fixed[4] = {1, 2, 3, 4};
__constant__ double weights[8];
__managed__ unsigned counter;
struct pair {
    int a;
    float b[3];
};
__device__ pair record;
__global__ void k(double *out)
{
    counter = 7;
    out[0] = tables::squares[LANE] * weights[LANE & 7] + fixed[LANE & 3] + record.b[LANE];
}
//@ has 16:[0-9]+ store 4 global .*type='unsigned int' variable='counter'
//@ has 17:[0-9]+ load 4 global .*type='float' variable='squares'
//@ no variable='fixed' inlined
//@ has 17:[0-9]+ load 4 global .*type='float' variable='record.b'
//@ no variable='weights' inlined
//@ no site .* constant
//@ has ^variable 'squares' symbol='_ZN6tables7squaresE' type='float' kind=0 function='' at device-arrays.cu:4
//@ has ^variable 'weights' symbol='weights' type='double' kind=1 function='' at device-arrays.cu:7
//@ has ^variable 'counter' symbol='counter' type='unsigned int' kind=2 function='' at device-arrays.cu:8
