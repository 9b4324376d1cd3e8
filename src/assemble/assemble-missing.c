/* Writes into the archive what it lacks: recorders that failed, events that were lost, processes
 * that ended early.
 *
 * A process that ended by itself without the recorder's last word (_exit, quick_exit, exec) lacks
 * nothing if all that its calls asked of a device has ended: each call that queues work has a
 * correlation, which the work's activity carries. What a signal ended may always lack something. */
#include <inttypes.h>
#include <stdlib.h>

#include "assemble/assemble-private.h"
#include "assemble/log-read.h"
#include "trace/failures.h"

struct work {
    CTS_LIST(uint64_t) asked;
    CTS_LIST(uint64_t) done;
    uint64_t last_ns;
};

static enum cts_status take_thread(struct work *work, const uint64_t *words, uint32_t count,
                                   struct cts_error *error)
{
    struct cts_timeline_event event;
    struct cts_event_attributes attributes = {0};
    if (!cts_log_unpack_event(words, count, &event, &attributes)) return CTS_OK;
    if (event.time_ns > work->last_ns) work->last_ns = event.time_ns;
    if (event.kind != CTS_EVENT_ENTER || !(attributes.present >> CTS_ATTRIBUTE_CORRELATION & 1))
        return CTS_OK;
    const enum cts_status status = CTS_ARRAY_RESERVE(&work->asked, work->asked.count + 1, error);
    if (!status)
        work->asked.items[work->asked.count++] = attributes.values[CTS_ATTRIBUTE_CORRELATION];
    return status;
}

static enum cts_status take_stream(struct work *work, const uint64_t *words, uint32_t count,
                                   struct cts_error *error)
{
    if (count < 5) return CTS_OK;
    if (words[2] > work->last_ns) work->last_ns = words[2];
    const enum cts_status status = CTS_ARRAY_RESERVE(&work->done, work->done.count + 1, error);
    if (!status) work->done.items[work->done.count++] = words[4];
    return status;
}

static enum cts_status read_log(const struct cts_location_log *log, struct work *work,
                                struct cts_error *error)
{
    struct cts_log_reader reader;
    enum cts_status status = cts_log_open(log->path, &reader, error);
    const uint64_t *words;
    uint32_t count;
    if (status) return status;
    while (!status && (words = cts_log_next(&reader, &count, &status, error)))
        status = log->header.kind == CTS_LOG_STREAM ? take_stream(work, words, count, error)
                                                    : take_thread(work, words, count, error);
    cts_log_reader_close(&reader);
    return status == CTS_FORMAT ? CTS_OK : status; /* damage is told when events are read */
}

static int compare(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t count_pending(struct work *work)
{
    uint64_t pending = 0;
    size_t at = 0;
    if (work->asked.count)
        qsort(work->asked.items, work->asked.count, sizeof *work->asked.items, compare);
    if (work->done.count)
        qsort(work->done.items, work->done.count, sizeof *work->done.items, compare);
    for (size_t i = 0; i < work->asked.count; i++) {
        while (at < work->done.count && work->done.items[at] < work->asked.items[i]) at++;
        pending += at == work->done.count || work->done.items[at] != work->asked.items[i];
    }
    return pending;
}

static const struct cts_process_end *end_of(const struct cts_assembler *a,
                                            const struct cts_log_process *p)
{
    for (size_t i = 0; i < a->end_count; i++)
        if (a->ends[i].pid == p->pid) return &a->ends[i];
    return NULL;
}

/* A process that said nothing at its end. */
static enum cts_status judge_end(struct cts_assembler *a, struct cts_log_process *p,
                                 struct cts_error *error)
{
    const struct cts_process_end *const end = end_of(a, p);
    struct cts_gaps *const gaps = &a->timeline.gaps;
    struct work work = {0};
    enum cts_status status = CTS_OK;
    if (!end) {
        cts_gaps_add(gaps, "rank %u did not exit normally: its last events may be missing",
                     p->catalogue_rank);
    } else if (end->is_signal) {
        cts_gaps_add(gaps, "rank %u was ended by signal %u: its last events may be missing",
                     p->catalogue_rank, end->status);
    } else {
        for (size_t i = 0; i < p->logs.count && !status; i++)
            status = read_log(&p->logs.items[i], &work, error);
        const uint64_t pending = status ? 0 : count_pending(&work);
        if (pending)
            cts_gaps_add(gaps, "rank %u ended before the device work of %" PRIu64 " calls finished",
                         p->catalogue_rank, pending);
        else if (!status)
            p->finish_ns = work.last_ns ? work.last_ns : p->start_ns;
    }
    free(work.asked.items);
    free(work.done.items);
    return status;
}

enum cts_status cts_assemble_judge(struct cts_assembler *a, struct cts_error *error)
{
    struct cts_gaps *const gaps = &a->timeline.gaps;
    enum cts_status status = CTS_OK;
    cts_failures_list(a->run_path, CTS_FAILURE_TIMELINE, CTS_FAILURE_NO_TIMELINE, gaps);
    for (size_t i = 0; i < a->processes.count && !status; i++) {
        struct cts_log_process *const p = &a->processes.items[i];
        for (size_t k = 0; k < p->messages.count; k++)
            if (p->messages.items[k].level == 2 && p->messages.items[k].text)
                cts_gaps_add(gaps, "rank %u: %s", p->catalogue_rank, p->messages.items[k].text);
        if (p->lost_count)
            cts_gaps_add(gaps, "rank %u lost %" PRIu64 " events", p->catalogue_rank, p->lost_count);
        if (!p->finish_ns) status = judge_end(a, p, error);
    }
    return status;
}

void cts_assemble_judge_events(struct cts_assembler *a)
{
    struct cts_gaps *const gaps = &a->timeline.gaps;
    const uint64_t damaged = atomic_load(&a->damaged_count),
                   unknown = atomic_load(&a->unknown_count);
    if (damaged)
        cts_gaps_add(gaps, "%" PRIu64 " of the recorder's logs could be read up to their damage",
                     damaged);
    if (unknown)
        cts_gaps_add(gaps, "%" PRIu64 " events refer to something undefined and are left out",
                     unknown);
}
