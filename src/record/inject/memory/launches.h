/* Recorded launches: their numbers in the ring, their rows, and which have ended. */
#ifndef CTS_MEMORY_LAUNCHES_H
#define CTS_MEMORY_LAUNCHES_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

#include "record/ring/consumer.h"
#include "stack.h"
#include "trace/catalogue.h"

struct cts_memory_launch {
    struct cts_launch row;
    CUcontext context;
    Sanitizer_StreamHandle stream;
    bool by_warp;               /* it has no barrier */
    struct cts_stack_room room; /* for its patches' stack */
};
/* The next number; may wait for earlier launches. False: no memory. */
bool cts_launches_add(const struct cts_memory_launch *launch, uint32_t *number);
uint32_t cts_launches_begun(void);
/* Launches before `number` of a context, and of a stream of it (CTS_NONE: all), have ended. */
void cts_launches_ended(CUcontext context, uint32_t stream, uint32_t number);
/* Before the program learns of that: what those launches recorded goes into the access files, and
 * their last rows into the journal, where both survive any end of the program. Nothing is done if
 * no launch has ended since. Waits for no kernel, and not for long (docs/gpu-memory.md). */
void cts_launches_keep_ended(void);
/* All of them; the rows are written with their counts. `complete`: they have ended. Tells of those
 * that ran without patches. */
void cts_launches_finish(bool complete);
/* Whether launches were to be recorded, and how many. */
uint64_t cts_launches_recorded(void);

/* As struct cts_ring_names has them. */
bool cts_launch_of_number(void *unused, uint32_t number, uint32_t *launch, bool *by_warp);
void cts_launch_counts(void *unused, uint32_t number, const struct cts_stream_counts *counts);

#endif
