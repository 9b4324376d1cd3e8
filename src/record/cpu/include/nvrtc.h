#error "nvrtc.h: run-time compilation (NVRTC) is not supported on the CPU device"
