/* Kernels of several streams that fill their device, and so take turns. */
#ifndef CTS_ANALYZE_PATH_DEVICE_TURNS_H
#define CTS_ANALYZE_PATH_DEVICE_TURNS_H

#include "analyze/path/streams.h"

/* Adds the waits of kernels for other streams' where the device shows that it runs one at a time.
 */
CTS_MUST_CHECK enum cts_status cts_path_full_devices(const struct cts_path_device *device,
                                                     struct cts_error *error);

#endif
