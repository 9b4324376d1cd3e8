#error "cuda_fp8.h: 8-bit floating point is not supported on the CPU device"
