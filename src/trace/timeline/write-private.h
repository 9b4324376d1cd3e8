/* The writer's two halves: events (write.c) and definitions (write-definitions.c). */
#ifndef CTS_TRACE_TIMELINE_WRITE_PRIVATE_H
#define CTS_TRACE_TIMELINE_WRITE_PRIVATE_H

#include "trace/timeline/timeline-private.h"

extern const OTF2_Type cts_attribute_types[CTS_ATTRIBUTE_COUNT];

/* The references that the groups of communicators will have. */
void cts_number_groups(const struct cts_timeline *definitions, uint64_t *group_of_communicator);

struct cts_definitions_to_write {
    const struct cts_timeline *definitions;
    const uint64_t *event_counts; /* per location */
    uint64_t duration_ns;
    const struct cts_timeline_metric *metrics;
    size_t metric_count;
};
OTF2_ErrorCode cts_write_definitions(OTF2_GlobalDefWriter *writer,
                                     const struct cts_definitions_to_write *what);

/* The library's collective operations by our processes. */
OTF2_ErrorCode cts_otf2_set_collectives(OTF2_Archive *archive,
                                        const struct cts_processes *processes);

#endif
