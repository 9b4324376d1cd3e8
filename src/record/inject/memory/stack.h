/* Room for the stack of patched code. */
#ifndef CTS_MEMORY_STACK_H
#define CTS_MEMORY_STACK_H

#include <stdbool.h>
#include <stdint.h>

/* Device memory before a launch, where it may be too little. */
struct cts_stack_room {
    bool is_short;
    uint32_t free_mib, needed_mib;
};
/* Before a launch of a function, or of a graph; asks the driver, but not in a launch's callback. */
struct cts_stack_room cts_stack_look(const void *function);

#endif
