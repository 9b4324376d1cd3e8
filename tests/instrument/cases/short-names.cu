// Names of C that are codes of types in mangled names stay as they are.
extern __shared__ int d[];
extern "C" __global__ void i(int *o)
{
    d[LANE] = o[LANE];
}
//@ has load 4 global .*function='i'
//@ has store 4 shared .*variable='d'
//@ has ^variable 'd' symbol='d' type='int' kind=4
//@ no 'double'
