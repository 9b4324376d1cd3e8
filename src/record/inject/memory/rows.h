/* Rows of allocations, copies, memsets, events and synchronisations. */
#ifndef CTS_MEMORY_ROWS_H
#define CTS_MEMORY_ROWS_H

#include <stdbool.h>
#include <stdint.h>

#include <sanitizer.h>

/* The call that allocates. */
struct cts_allocating_call {
    const char *name; /* NULL: none */
    bool is_mapped;   /* pinned memory that is to be mapped */
};
enum cts_memory_of {
    CTS_MEMORY_OF_DEVICE,
    CTS_MEMORY_OF_HOST,
    CTS_MEMORY_OF_POOL /* of the device, in the order of the stream that `data` names */
};
void cts_memory_allocated(const Sanitizer_ResourceMemoryData *data, enum cts_memory_of of,
                          const struct cts_allocating_call *call);
void cts_memory_freed(const Sanitizer_ResourceMemoryData *data, bool in_stream);
/* What a call or an event waits for: launches before a number of a context, and of a stream of it
 * (CTS_NONE: all). */
struct cts_awaited {
    CUcontext context; /* NULL: not known */
    uint32_t stream, launches;
};
/* A call that copies. Begun with the launches so far; a copy to the host that it waits for fills in
 * the rest. */
struct cts_copying_call {
    bool is_blocking;
    struct cts_awaited awaited;
};
struct cts_copying_call cts_memory_copy_begin(void);
void cts_memory_copied(const Sanitizer_MemcpyData *data, struct cts_copying_call *call);
void cts_memory_copy_end(struct cts_copying_call *call, int32_t result);
void cts_memory_set(const Sanitizer_MemsetData *data);
void cts_memory_event(const Sanitizer_EventData *data, const char *kind);
/* Its handle may be another event's from here on; 0: those of all. */
void cts_memory_event_forget(uint64_t event);

/* A synchronisation or query of the driver's API. */
struct cts_sync_call {
    uint64_t op, start_ns;
    uint32_t launches;          /* at its begin */
    struct cts_awaited awaited; /* by the event, as it was then */
};
/* `event`: 0 if it is not for one. */
struct cts_sync_call cts_memory_sync_begin(CUcontext context, uint64_t event);
/* What it waited for, and what it returned. */
struct cts_sync_end {
    const char *kind;
    CUcontext context;
    const CUstream *stream; /* NULL: all of the context's */
    uint64_t event;         /* 0: none */
    int32_t result;
};
void cts_memory_sync_end(const struct cts_sync_call *call, const struct cts_sync_end *end);

#endif
