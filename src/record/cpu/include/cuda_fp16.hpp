/* Once the implementation part of cuda_fp16.h: here it is all in one. */
#include "cuda_fp16.h"
