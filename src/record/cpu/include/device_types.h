#ifndef CTASCOPE_DEVICE_TYPES_H
#define CTASCOPE_DEVICE_TYPES_H
#define __DEVICE_TYPES_H__ 1

enum cudaRoundMode { cudaRoundNearest, cudaRoundZero, cudaRoundPosInf, cudaRoundMinInf };

#include "ctascope_runtime_api.h"

#endif
