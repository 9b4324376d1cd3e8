#error "cusolverDn.h: cuSOLVER is not supported on the CPU device"
