// The device's side of a __managed__ variable has the content, and the host can name it.
//@ env CTS_DEVICE=cpu CTS_TU=unit7
__managed__ int total = 3;
__device__ int other = 4;
__global__ void k()
{
    total += other;
}
//@ ir ^@cts.managed.unit7.total = hidden .*addrspace\(1\) global i32 3
//@ no-ir ^@total
//@ has ^variable 'total' symbol='total' type='int' kind=2
//@ has store 4 global .*variable='total'
