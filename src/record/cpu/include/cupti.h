#error "cupti.h: CUPTI is not supported on the CPU device"
