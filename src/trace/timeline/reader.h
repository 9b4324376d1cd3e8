/* Events of a location one by one, for who reads several locations side by side. */
#ifndef CTS_TRACE_TIMELINE_READER_H
#define CTS_TRACE_TIMELINE_READER_H

#include "trace/timeline/timeline.h"

/* The events that cts_timeline_read() gives. At the end of the file, or where it is damaged, there
 * is no next event. What it gives is valid until the next call. Memory: about one chunk of the
 * archive, a megabyte. */
struct cts_timeline_reader;
CTS_MUST_CHECK enum cts_status cts_timeline_reader_open(const struct cts_timeline *timeline,
                                                        uint32_t location,
                                                        struct cts_timeline_reader **reader,
                                                        struct cts_error *error);
bool cts_timeline_reader_next(struct cts_timeline_reader *reader,
                              const struct cts_timeline_event **event,
                              const struct cts_event_attributes **attributes);
/* After the last event: CTS_OK: that was the end of the file; CTS_FORMAT: it is damaged there;
 * CTS_IO, CTS_MEMORY: the rest could not be read. */
CTS_MUST_CHECK enum cts_status cts_timeline_reader_end(const struct cts_timeline_reader *reader,
                                                       struct cts_error *error);
void cts_timeline_reader_close(struct cts_timeline_reader *reader);

#endif
