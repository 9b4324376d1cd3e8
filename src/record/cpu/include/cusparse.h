#error "cusparse.h: cuSPARSE is not supported on the CPU device"
