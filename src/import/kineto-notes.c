/* What a trace of PyTorch's profiler lacks, and what follows for the answers. */
#include "import/kineto-notes.h"

#include <inttypes.h>

#include "common/text-table.h"

static void note_missing_work(struct cts_profile_noting *n)
{
    const struct cts_profile_rank *const r = n->source->contents;
    const uint64_t work =
        r->counts[CTS_PROFILE_KERNEL] + r->counts[CTS_PROFILE_COPY] + r->counts[CTS_PROFILE_MEMSET];
    const uint64_t calls = r->counts[CTS_PROFILE_RUNTIME] + r->counts[CTS_PROFILE_DRIVER];
    if (!work)
        cts_profile_say(
            n, CTS_PROFILE_WARNING,
            "no kernels and copies (recorded without ProfilerActivity.CUDA): the answers are "
            "about the host alone");
    else if (!calls)
        cts_profile_say(
            n, CTS_PROFILE_WARNING,
            "no calls of the runtime or the driver: nothing ties kernels to the host, so neither "
            "launch latency nor the host's part in the critical path is known");
    else if (r->launched < work)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "%" PRIu64
                        " of %s without a call in the trace: why they start when they do is not "
                        "known",
                        work - r->launched,
                        cts_counted_text(work, "device activity is", "device activities are").text);
    if (work && r->waits_unplaced && !r->counts[CTS_PROFILE_SYNC])
        cts_profile_say(
            n, CTS_PROFILE_WARNING,
            "no synchronisation records (cuda_sync): %s which stream or event the host or a stream "
            "waits for, so these waits are missing",
            cts_counted_text(r->waits_unplaced, "call does not say", "calls do not say").text);
    else if (r->waits_without_record)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "%s not say which cudaEventRecord they wait for: these waits are missing",
                        cts_counted_text(r->waits_without_record, "synchronisation record does",
                                         "synchronisation records do")
                            .text);
}

static void note_missing_host(struct cts_profile_noting *n)
{
    const struct cts_profile_rank *const r = n->source->contents;
    if (!r->counts[CTS_PROFILE_PYTHON])
        cts_profile_say(
            n, CTS_PROFILE_NOTE,
            "no Python functions (recorded without with_stack=True): the host's time is named by "
            "operators and annotations");
    if (!r->counts[CTS_PROFILE_OPERATOR])
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "no operators (recorded without ProfilerActivity.CPU)");
    if (!r->flows)
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "no flows: calls and device activities are tied by correlation ids");
    if (r->memory_events)
        cts_profile_say(
            n, CTS_PROFILE_NOTE, "%s counted, not kept",
            cts_counted_text(r->memory_events, "memory event is", "memory events are").text);
    if (r->counts[CTS_PROFILE_GPU_ANNOTATION])
        cts_profile_say(n, CTS_PROFILE_NOTE, "%s left to the host's annotations of the same names",
                        cts_counted_text(r->counts[CTS_PROFILE_GPU_ANNOTATION],
                                         "annotation of a stream is", "annotations of streams are")
                            .text);
    if (n->source->file->has_rank && n->source->file->rank != (int64_t)n->source->rank)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "it says that it is rank %" PRId64 ", which another file is",
                        n->source->file->rank);
    if (n->source->file->world_size > (int64_t)n->source->file_count)
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "one of %" PRId64 " ranks: the others' traces are not here",
                        n->source->file->world_size);
}

void cts_kineto_describe(struct cts_profile_noting *n)
{
    note_missing_work(n);
    note_missing_host(n);
}
