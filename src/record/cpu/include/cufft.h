#error "cufft.h: cuFFT is not supported on the CPU device"
