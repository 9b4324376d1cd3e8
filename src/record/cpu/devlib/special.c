/* The special functions of the language's headers, for the device library's __nv_*. */
#define _GNU_SOURCE
#include "devlib.h"

#define CTS_SPECIAL CTS_FUNCTION
#include "record/cpu/include/ctascope/special.h"
