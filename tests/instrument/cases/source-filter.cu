// Accesses in files that do not match are left out, and said to be.
//@ env CTS_SOURCES=elsewhere\.h$
__global__ void k(float *a)
{
    a[0] = 1;
    a[1] = a[2];
# 100 "elsewhere.h"
    a[2] = 3;
}
//@ count 1 ^site
//@ has ^site 0 elsewhere.h:100:10 store 4 global
//@ has ^skipped '3 accesses in '.*source-filter.cu'': left out by the filter of source files
