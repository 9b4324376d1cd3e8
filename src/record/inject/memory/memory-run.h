/* The run that is written: its collector and catalogue, and what callbacks say there. */
#ifndef CTS_MEMORY_RUN_H
#define CTS_MEMORY_RUN_H

#include <stdbool.h>
#include <stdint.h>

#include <cuda.h>

#include "trace/write/collector.h"

/* Set before the first callback. */
extern struct cts_memory_run {
    struct cts_collector *collector;
    struct cts_catalogue_writer *catalogue;
    uint32_t rank;
} cts_memory_run;

/* At the end of the program nothing more is written. */
void cts_memory_run_end(void);
bool cts_memory_run_is_over(void);

/* The number of the calling thread. */
uint32_t cts_memory_thread(void);
/* The next operation of the calling thread, on a device; it gets a row. */
uint64_t cts_memory_op(uint32_t device);
/* One that is done in the order of a stream. */
uint64_t cts_memory_op_in(uint32_t device, uint32_t stream);
/* The API function that the calling thread is in, of those that are followed; the outermost one
 * counts. The name is never freed. */
void cts_memory_api_begin(const char *name, CUcontext context);
void cts_memory_api_end(const char *name);
/* That call's; NULL: none, or not known. */
CUcontext cts_memory_api_context(void);
/* A message of the run, and for an error the run's failure. */
void cts_memory_say(const char *severity, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What host threads do is watched: the order that it makes among operations. */
void cts_memory_run_watch_threads(void);

#endif
