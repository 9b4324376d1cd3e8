/* Several processes write one archive: the library asks for the collective operations that it
 * needs when files are opened and closed, and gets those of our processes. The first is the root.
 */
#include <stdlib.h>
#include <string.h>

#include "trace/timeline/write-private.h"

static size_t bytes_of(OTF2_Type type)
{
    switch (type) {
    case OTF2_TYPE_UINT8:
    case OTF2_TYPE_INT8:
        return 1;
    case OTF2_TYPE_UINT16:
    case OTF2_TYPE_INT16:
        return 2;
    case OTF2_TYPE_UINT32:
    case OTF2_TYPE_INT32:
    case OTF2_TYPE_FLOAT:
        return 4;
    default:
        return 8;
    }
}

static OTF2_CallbackCode get_size(void *user, OTF2_CollectiveContext *context, uint32_t *size)
{
    (void)context;
    *size = ((const struct cts_processes *)user)->count;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode get_rank(void *user, OTF2_CollectiveContext *context, uint32_t *rank)
{
    (void)context;
    *rank = ((const struct cts_processes *)user)->rank;
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode barrier(void *user, OTF2_CollectiveContext *context)
{
    (void)context;
    cts_processes_barrier(user);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode broadcast(void *user, OTF2_CollectiveContext *context, void *data,
                                   uint32_t count, OTF2_Type type, uint32_t root)
{
    (void)context;
    cts_processes_broadcast(user, data, count * bytes_of(type), root);
    return OTF2_CALLBACK_SUCCESS;
}

/* What each sends may differ in size; all lies at the root, in the order of ranks. */
static OTF2_CallbackCode gather_bytes(const struct cts_processes *processes, const void *in,
                                      size_t in_bytes, void *out, uint32_t root)
{
    struct cts_error error;
    void *all = NULL;
    size_t *offsets = NULL;
    if (cts_processes_all_gather(processes, (struct cts_sent_block){in, in_bytes}, &all, &offsets,
                                 &error))
        return OTF2_CALLBACK_ERROR;
    if (processes->rank == root) memcpy(out, all, offsets[processes->count]);
    free(all);
    free(offsets);
    return OTF2_CALLBACK_SUCCESS;
}

static OTF2_CallbackCode gather(void *user, OTF2_CollectiveContext *context, const void *in,
                                void *out, uint32_t count, OTF2_Type type, uint32_t root)
{
    (void)context;
    return gather_bytes(user, in, count * bytes_of(type), out, root);
}

static OTF2_CallbackCode gather_varying(void *user, OTF2_CollectiveContext *context, const void *in,
                                        uint32_t in_count, void *out, const uint32_t *out_counts,
                                        OTF2_Type type, uint32_t root)
{
    (void)context, (void)out_counts;
    return gather_bytes(user, in, in_count * bytes_of(type), out, root);
}

/* The root sends `sizes[i]` bytes to process i, packed. */
static OTF2_CallbackCode scatter_bytes(const struct cts_processes *processes, const void *in,
                                       const size_t *sizes, void *out, size_t out_bytes)
{
    struct cts_error error;
    void *received = NULL;
    size_t *offsets = NULL;
    if (cts_processes_all_to_all(processes, (struct cts_sent_blocks){in, sizes}, &received,
                                 &offsets, &error))
        return OTF2_CALLBACK_ERROR;
    const bool whole = offsets[processes->count] == out_bytes;
    if (whole && out_bytes) memcpy(out, received, out_bytes);
    free(received);
    free(offsets);
    return whole ? OTF2_CALLBACK_SUCCESS : OTF2_CALLBACK_ERROR;
}

/* What the root has, and the elements of each process in `counts` (NULL: `count` each); where
 * `out_count` elements go here. */
struct scattered {
    const void *in;
    const uint32_t *counts;
    uint32_t count;
    void *out;
    uint32_t out_count;
};

static OTF2_CallbackCode scatter_counts(const struct cts_processes *processes,
                                        const struct scattered *blocks, OTF2_Type type,
                                        uint32_t root)
{
    size_t *const sizes = calloc(processes->count, sizeof *sizes);
    if (!sizes) return OTF2_CALLBACK_ERROR;
    for (unsigned i = 0; i < processes->count && processes->rank == root; i++)
        sizes[i] = (blocks->counts ? blocks->counts[i] : blocks->count) * bytes_of(type);
    const OTF2_CallbackCode code = scatter_bytes(processes, blocks->in, sizes, blocks->out,
                                                 blocks->out_count * bytes_of(type));
    free(sizes);
    return code;
}

static OTF2_CallbackCode scatter(void *user, OTF2_CollectiveContext *context, const void *in,
                                 void *out, uint32_t count, OTF2_Type type, uint32_t root)
{
    (void)context;
    return scatter_counts(
        user,
        &(struct scattered){
            .in = in, .counts = NULL, .count = count, .out = out, .out_count = count},
        type, root);
}

static OTF2_CallbackCode scatter_varying(void *user, OTF2_CollectiveContext *context,
                                         const void *in, const uint32_t *in_counts, void *out,
                                         uint32_t out_count, OTF2_Type type, uint32_t root)
{
    (void)context;
    return scatter_counts(
        user,
        &(struct scattered){
            .in = in, .counts = in_counts, .count = 0, .out = out, .out_count = out_count},
        type, root);
}

static const OTF2_CollectiveCallbacks callbacks = {
    .otf2_get_size = get_size,
    .otf2_get_rank = get_rank,
    .otf2_barrier = barrier,
    .otf2_bcast = broadcast,
    .otf2_gather = gather,
    .otf2_gatherv = gather_varying,
    .otf2_scatter = scatter,
    .otf2_scatterv = scatter_varying,
};

OTF2_ErrorCode cts_otf2_set_collectives(OTF2_Archive *archive,
                                        const struct cts_processes *processes)
{
    if (!processes || processes->count < 2)
        return OTF2_Archive_SetSerialCollectiveCallbacks(archive);
    return OTF2_Archive_SetCollectiveCallbacks(archive, &callbacks, (void *)(uintptr_t)processes,
                                               NULL, NULL);
}
