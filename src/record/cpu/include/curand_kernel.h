#error "curand_kernel.h: random numbers on the device (cuRAND) is not supported on the CPU device"
