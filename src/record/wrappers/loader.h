/* The recorder of this process, for libraries that are preloaded and must not bring it into
 * processes that record nothing. */
#ifndef CTS_RECORD_WRAPPERS_LOADER_H
#define CTS_RECORD_WRAPPERS_LOADER_H

#include "record/timeline/recorder.h"

/* The recorder that the process has already, or libctascope_timeline.so from beside this library
 * when the environment's CTASCOPE_TIMELINE asks for a timeline. NULL: nothing is recorded. */
const struct cts_recorder *cts_recorder_load(void);

#endif
