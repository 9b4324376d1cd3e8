#error "cublas_v2.h: cuBLAS is not supported on the CPU device"
