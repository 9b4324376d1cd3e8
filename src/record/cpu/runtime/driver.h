/* What the files of the driver API share; include it behind ctascope_driver_api.h. */
#ifndef CTS_CPU_DRIVER_H
#define CTS_CPU_DRIVER_H

#include "runtime.h"

/* The driver API's result that means the same as an error of the runtime API. */
CUresult cts_driver_result(cudaError_t error);

/* What the driver API returns is never the runtime API's last error. */
#define CTS_KEEP_LAST_ERROR()                                                                      \
    const cudaError_t kept_error __attribute__((cleanup(cts_restore_last_error), unused)) =        \
        cts_last_error()

#endif
