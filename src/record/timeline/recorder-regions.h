/* What events name by number: regions, communicators, windows; interned per process. */
#ifndef CTS_RECORD_TIMELINE_REGIONS_H
#define CTS_RECORD_TIMELINE_REGIONS_H

#include "record/timeline/recorder.h"

uint32_t cts_recorder_region(const struct cts_timeline_region *region);
uint32_t cts_recorder_communicator(const struct cts_recorder_communicator *communicator);
uint32_t cts_recorder_window(uint32_t communicator, const char *name);

#endif
