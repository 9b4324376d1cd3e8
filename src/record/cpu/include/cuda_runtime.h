/* A source compiled as CUDA has all of this already; this is for C and C++ files. */
#ifndef CTASCOPE_CUDA_RUNTIME_H
#define CTASCOPE_CUDA_RUNTIME_H
#include "ctascope/guards.h"
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__ 1
#endif
#include "ctascope/host_defines.h"
#include "ctascope/vector_types.h"
#include "ctascope/runtime.h"
#endif
