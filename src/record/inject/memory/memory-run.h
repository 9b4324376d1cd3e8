/* The run that is written: its collector and catalogue, and what callbacks say there. */
#ifndef CTS_MEMORY_RUN_H
#define CTS_MEMORY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/write/collector.h"

/* Set before the first callback. */
extern struct cts_memory_run {
    struct cts_collector *collector;
    struct cts_catalogue_writer *catalogue;
    uint32_t rank;
} cts_memory_run;

/* The next operation of the calling thread, which gets a row. */
uint64_t cts_memory_op(void);
/* A message of the run, and for an error the run's failure. */
void cts_memory_say(const char *severity, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What host threads do is watched: the order that it makes among operations. */
void cts_memory_run_watch_threads(void);

#endif
