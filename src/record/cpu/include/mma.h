#error "mma.h: warp matrix functions (WMMA) is not supported on the CPU device"
