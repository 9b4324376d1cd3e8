/* A source compiled as CUDA has all of this already; this is for C and C++ files. */
#ifndef CTASCOPE_CUDA_RUNTIME_H
#define CTASCOPE_CUDA_RUNTIME_H
#include "ctascope/host_defines.h"
#include "ctascope/vector_types.h"
#include "ctascope/runtime.h"
#endif
