/* Which CUDA a program is compiled for, said in one place. `ctascope cc` defines
 *
 *   CTS_CUDART        12 or 13: NVIDIA's runtime of that version, whose layouts and names are kept
 *                     (--device=cuda where no toolkit is)
 *   CTS_CUDA_VERSION  12 or 13: the CPU device, as that version's API (--cuda-version; 12 if not)
 */
#ifndef CTASCOPE_VERSION_H
#define CTASCOPE_VERSION_H

#if defined(CTS_CUDART)
#define CTS_API_13 (CTS_CUDART >= 13)
#elif defined(CTS_CUDA_VERSION)
#define CTS_API_13 (CTS_CUDA_VERSION >= 13)
#else
#define CTS_API_13 0
#endif

#if CTS_API_13
#define CTS_CUDA_API_VERSION 13000
#define CTS_CUDA_MAJOR       13
#define CTS_CUDA_MINOR       0
#define CTS_CUDA_BUILD       88
#else /* the last of 12 */
#define CTS_CUDA_API_VERSION 12090
#define CTS_CUDA_MAJOR       12
#define CTS_CUDA_MINOR       9
#define CTS_CUDA_BUILD       86
#endif

#endif
