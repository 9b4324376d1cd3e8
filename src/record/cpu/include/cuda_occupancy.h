/* Occupancy as a calculation of the host's alone is not here: the runtime answers for the device
 * (cudaOccupancyMaxActiveBlocksPerMultiprocessor and its like). Older Thrust includes this header
 * and uses nothing of it. */
#include "cuda_runtime.h"
