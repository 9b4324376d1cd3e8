#include "trace/stream-name.h"

#include <stdio.h>
#include <string.h>

#include "common/map.h"

static bool is_default(const struct cts_cuda_stream *stream)
{
    return stream->kind && !strcmp(stream->kind, "legacy default");
}

enum cts_status cts_cuda_stream_number_all(struct cts_catalogue *catalogue, struct cts_error *error)
{
    struct cts_map counts = {0};
    enum cts_status status = CTS_OK;
    for (size_t i = 0; i < catalogue->stream_count && !status; i++) {
        struct cts_cuda_stream *const stream = &catalogue->streams[i];
        if (!stream->kind || is_default(stream)) continue;
        uint64_t *const count =
            cts_map_at(&counts, (uint64_t)stream->rank << 32 | stream->device, error);
        if (!count) status = CTS_MEMORY;
        if (count) stream->number = (uint32_t)++*count;
    }
    cts_map_release(&counts);
    return status;
}

static bool has_several_devices(const struct cts_catalogue *catalogue)
{
    for (size_t i = 0; i < catalogue->device_count; i++)
        if (catalogue->devices[i].device) return true;
    return false;
}

static const char *name(const struct cts_catalogue *catalogue, uint32_t id, bool is_cell,
                        char text[CTS_STREAM_NAME_BYTES])
{
    const struct cts_cuda_stream *const stream =
        id < catalogue->stream_count ? &catalogue->streams[id] : NULL;
    char device[24] = "";
    if (!stream || !stream->kind) return is_cell ? "?" : "an unknown stream";
    if (has_several_devices(catalogue))
        snprintf(device, sizeof device, " of device %u", stream->device);
    if (is_default(stream))
        snprintf(text, CTS_STREAM_NAME_BYTES, "%s%s", is_cell ? "default" : "the default stream",
                 device);
    else
        snprintf(text, CTS_STREAM_NAME_BYTES, "%s%u%s", is_cell ? "" : "stream ", stream->number,
                 device);
    return text;
}

const char *cts_cuda_stream_name(const struct cts_catalogue *catalogue, uint32_t stream,
                                 char text[CTS_STREAM_NAME_BYTES])
{
    return name(catalogue, stream, false, text);
}

const char *cts_cuda_stream_cell(const struct cts_catalogue *catalogue, uint32_t stream,
                                 char text[CTS_STREAM_NAME_BYTES])
{
    return name(catalogue, stream, true, text);
}
