/* A source compiled as CUDA has the content of this header already. */
#include "cuda_runtime.h"
