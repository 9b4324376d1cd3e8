// A filter that is not a regular expression is an error of the compilation.
//@ env CTS_KERNELS=(
__global__ void k(float *a) { a[0] = 1; }
//@ fails error: .*CTS_KERNELS='\(' is not a regular expression
