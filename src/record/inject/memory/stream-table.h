/* Streams: their ids in the catalogue, and those that live. */
#ifndef CTS_MEMORY_STREAM_TABLE_H
#define CTS_MEMORY_STREAM_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sanitizer.h>

struct cts_memory_stream {
    CUcontext context;
    CUstream handle;
    Sanitizer_StreamHandle unique;
    uint32_t id, device, launch_count;
    bool is_gone;
};

/* What the call that creates a stream says of it. */
struct cts_stream_creation {
    bool non_blocking;
    int32_t priority;
};

/* The id of a stream in the catalogue, made at first use. */
uint32_t cts_memory_stream(CUcontext context, CUstream handle, Sanitizer_StreamHandle unique);
uint32_t cts_memory_stream_ordinal(uint32_t stream);
void cts_memory_stream_created(const Sanitizer_ResourceStreamData *data,
                               const struct cts_stream_creation *creation);
void cts_memory_stream_destroyed(const Sanitizer_ResourceStreamData *data);
/* Copies the handles of streams that live. */
size_t cts_memory_streams(struct cts_memory_stream *streams, size_t most);
/* Whether streams of ours still have work; asks the driver. */
bool cts_memory_streams_are_busy(void);

#endif
