/* Exports of Nsight Systems become the logs of a run, one process for each of the file's. */
#include "import/importer.h"

#include <inttypes.h>
#include <stdlib.h>

#include "common/text-stream.h"
#include "common/text-table.h"
#include "import/nsys-read.h"
#include "import/profile-run.h"

/* ---- notes ---- */

static uint64_t device_work(const struct cts_profile_rank *r)
{
    return r->counts[CTS_PROFILE_KERNEL] + r->counts[CTS_PROFILE_COPY] +
           r->counts[CTS_PROFILE_MEMSET];
}

static void describe_device(struct cts_profile_noting *n)
{
    const struct cts_profile_rank *const r = n->source->contents;
    const uint64_t work = device_work(r);
    const uint64_t calls = r->counts[CTS_PROFILE_RUNTIME] + r->counts[CTS_PROFILE_DRIVER];
    if (!work)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "no kernels and copies (recorded without --trace=cuda): the answers are "
                        "about the host alone");
    else if (!calls)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "no calls of the runtime or the driver: nothing ties kernels to the host, "
                        "so neither launch latency nor the host's part in the critical path is "
                        "known");
    else if (r->launched < work)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "%" PRIu64
                        " of %s without a call in the file: why they start when they do is not "
                        "known",
                        work - r->launched,
                        cts_counted_text(work, "device activity is", "device activities are").text);
    if (work && !r->counts[CTS_PROFILE_SYNC] && r->waits_unplaced)
        cts_profile_say(
            n, CTS_PROFILE_WARNING,
            "no synchronisation records: %s which stream or event the host or a stream waits for, "
            "so these waits are missing",
            cts_counted_text(r->waits_unplaced, "call does not say", "calls do not say").text);
    else if (r->waits_without_record)
        cts_profile_say(n, CTS_PROFILE_WARNING,
                        "%s not say which cudaEventRecord they wait for (recorded without "
                        "--cuda-event-trace=true): these waits are missing",
                        cts_counted_text(r->waits_without_record, "synchronisation record does",
                                         "synchronisation records do")
                            .text);
}

static void describe_ignored(struct cts_profile_noting *n, const struct cts_nsys *nsys)
{
    struct cts_text_stream stream;
    FILE *const text = nsys->ignored_count ? cts_text_stream_open(&stream) : NULL;
    char *list = NULL;
    for (size_t i = 0; text && i < nsys->ignored_count; i++)
        fprintf(text, "%s%s (%s)", i ? ", " : "", nsys->ignored[i].name,
                cts_counted_text(nsys->ignored[i].row_count, "row", "rows").text);
    if (text) list = cts_text_stream_close(&stream, NULL);
    if (list)
        cts_profile_say(n, CTS_PROFILE_NOTE, "not imported: %s", list);
    else if (nsys->ignored_count)
        n->status = cts_fail(n->error, CTS_MEMORY, "no memory for a note");
    free(list);
}

/* What concerns the file and none of its processes. */
static void describe_file(struct cts_profile_noting *n, const struct cts_nsys *nsys)
{
    if (nsys->other_count)
        cts_profile_say(n, CTS_PROFILE_NOTE, "%s without CUDA left out",
                        cts_counted_text(nsys->other_count, "process", "processes").text);
    if (!nsys->has_stream_kinds)
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "no list of streams: stream 7 is taken as the null stream, all others as "
                        "non-blocking");
    describe_ignored(n, nsys);
}

static void describe(struct cts_profile_noting *n)
{
    const struct cts_profile_rank *const r = n->source->contents;
    describe_device(n);
    if (!r->counts[CTS_PROFILE_ANNOTATION] && !r->counts[CTS_PROFILE_OPERATOR])
        cts_profile_say(n, CTS_PROFILE_NOTE,
                        "no NVTX ranges: the host's time is named by calls of CUDA%s",
                        r->counts[CTS_PROFILE_SYSTEM] ? " and of the system" : "");
    if (n->source->of_format) describe_file(n, n->source->of_format);
}

/* ---- files ---- */

static enum cts_status import_process(struct cts_profile_run *run, struct cts_nsys *nsys,
                                      struct cts_profile_source *source, size_t process,
                                      struct cts_error *error)
{
    struct cts_profile_rank rank;
    struct cts_profile_file file = {0};
    cts_profile_run_begin_rank(run, &rank);
    enum cts_status status = cts_nsys_read(nsys, process, &rank, &file, error);
    source->file = &file;
    if (!status) status = cts_profile_run_add(run, source, &rank, error);
    cts_profile_file_release(&file);
    cts_profile_rank_release(&rank);
    return status;
}

/* `place`: of the file's first process among all; then of the next file's. */
static enum cts_status import_file(struct cts_profile_run *run, const char *path, size_t *place,
                                   struct cts_error *error)
{
    struct cts_nsys nsys;
    enum cts_status status = cts_nsys_open(path, &nsys, error);
    for (size_t i = 0; i < nsys.process_count && !status; i++) {
        struct cts_profile_source source = {.path = path,
                                            .place = (*place)++,
                                            .file_count = nsys.process_count,
                                            .describe = describe,
                                            .of_format = i ? NULL : &nsys};
        status = import_process(run, &nsys, &source, i, error);
    }
    cts_nsys_close(&nsys);
    return status;
}

static enum cts_status import_exports(const struct cts_import_options *options,
                                      struct cts_import_result *result, struct cts_error *error)
{
    struct cts_profile_run *const run = calloc(1, sizeof *run);
    size_t place = 0;
    if (!run) return cts_fail(error, CTS_MEMORY, "no memory");
    enum cts_status status = cts_profile_run_begin(run, options, result, error);
    for (size_t i = 0; i < options->path_count && !status; i++)
        status = import_file(run, options->paths[i], &place, error);
    cts_profile_run_end(run, status);
    free(run);
    return status;
}

const struct cts_importer cts_importer_nsys = {
    .name = "exports of Nsight Systems (SQLite)",
    .is_of_time = true,
    .claims = cts_nsys_is_export,
    .import = import_exports,
};
