#error "cublas.h: cuBLAS is not supported on the CPU device"
