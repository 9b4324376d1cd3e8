#error "curand.h: cuRAND is not supported on the CPU device"
