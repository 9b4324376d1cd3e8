/* What all of the runtime API stands on: the version it is of, dim3, C linkage, default arguments.
 */
#ifndef CTASCOPE_API_BASE_H
#define CTASCOPE_API_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef CTS_RUNTIME_BUILD /* the library itself: only the layout matters */
typedef struct dim3 {
    unsigned int x, y, z;
} dim3;
#else
#include "../vector_types.h" /* dim3, with its constructors in C++ */
#endif

#include "../version.h"

#define CUDART_VERSION CTS_CUDA_API_VERSION
#include "../runtime_names.h"
#ifndef CUDART_CB
#define CUDART_CB
#endif
#ifndef CUDARTAPI
#define CUDARTAPI
#endif

#ifdef __cplusplus
#define CTS_DEFAULT(value) = value
#define CTS_BEGIN_C        extern "C" {
#define CTS_END_C          }
#else
#define CTS_DEFAULT(value)
#define CTS_BEGIN_C
#define CTS_END_C
#endif

#endif
