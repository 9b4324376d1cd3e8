/* cuFFT's extended functions: none for the CPU device. Programs that include this header for
 * cufft.h alone compile; what they call of it, the compiler refuses by name. */
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include "cufft.h"

#endif
