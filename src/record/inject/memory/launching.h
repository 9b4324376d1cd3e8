/* What happens at a launch: whether it is recorded, and what its patches are told. */
#ifndef CTS_MEMORY_LAUNCHING_H
#define CTS_MEMORY_LAUNCHING_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

#include "graphs.h"
#include "stack.h"

/* What a launch's own callback does not tell. */
struct cts_launch_call {
    struct cts_launch_extras shape;
    struct cts_stack_room room; /* for its patches' stack */
    bool is_node;               /* of a graph */
};
void cts_launch_begin(const Sanitizer_LaunchData *launch, const struct cts_launch_call *call);
void cts_launches_switch(bool on); /* cudaProfilerStart, cts_start and so on */
/* From here on only launches in chosen NVTX ranges are recorded. */
void cts_launches_watch_ranges(void);

#endif
