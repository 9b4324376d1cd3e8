/* Clocks of processes that nothing else ties, such as ranks of an imported trace: the kernels of a
 * collective end together on all its members, which gives offset and drift. The first process that
 * takes part keeps its clock; the others follow it, directly or by way of those that do. When
 * kernels begin says nothing, as they wait for each other. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "assemble/assemble-private.h"
#include "trace/collectives/clock-fit.h"
#include "trace/collectives/collective-kernels.h"

struct aligning {
    struct cts_assembler *assembler;
    CTS_LIST(struct cts_nccl_kernel) calls;
    struct cts_collective_match match;
    uint32_t *by_process; /* calls, by process */
    size_t *first;        /* [process + 1] in it */
    uint64_t *known_ns;   /* [operation]: its end by the first process's clock; 0: not known yet */
    bool *settled;        /* [process] */
    CTS_LIST(struct cts_clock_pair) pairs;
};

/* ---- the kernels ---- */

static bool has_collectives(const struct cts_log_process *p)
{
    for (size_t i = 0; i < p->regions.count; i++)
        if (cts_collective_is_kernel(p->regions.items[i].name)) return true;
    return false;
}

/* Whether its times are by a clock that is not known to be the first process's. */
static bool is_free(const struct cts_log_process *p)
{
    return p->clock.count && !p->same_clock && !p->is_mpi;
}

static enum cts_status take_activity(struct aligning *a, uint32_t process, uint32_t stream,
                                     const uint64_t *w, struct cts_error *error)
{
    const struct cts_log_process *const p = &a->assembler->processes.items[process];
    const uint32_t region = (uint32_t)(w[0] >> 32), present = (uint32_t)w[3];
    const uint32_t count = (uint32_t)(w[0] >> 8) & 0xffff;
    const bool is_told = count == CTS_ACTIVITY_OF_COLLECTIVE;
    if (region >= p->regions.count || !p->regions.items[region].name) return CTS_OK;
    const char *const name = p->regions.items[region].name;
    if (!is_told && (!cts_collective_is_kernel(name) || strstr(name, "SendRecv"))) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&a->calls, a->calls.count + 1, error)) return CTS_MEMORY;
    const bool is_numbered = is_told && present >> CTS_ATTRIBUTE_SEQUENCE & 1;
    const uint64_t *const told = w + CTS_ACTIVITY_SHAPED;
    a->calls.items[a->calls.count++] = (struct cts_nccl_kernel){
        .communicator = is_told ? told[0] : 0,
        .number = is_numbered ? told[1] : CTS_COLLECTIVE_NUMBER,
        .kind = cts_collective_kind_of(name),
        .bytes = is_told && present >> CTS_ATTRIBUTE_BYTES & 1 ? told[3] : 0,
        .begin_ns = cts_correct_time(p, w[1]),
        .end_ns = cts_correct_time(p, w[2]),
        .process = process,
        .stream = stream,
        .member_count = is_told ? (uint32_t)told[2] : 0};
    return CTS_OK;
}

static enum cts_status take_stream(struct aligning *a, uint32_t process, uint32_t log,
                                   struct cts_error *error)
{
    struct cts_log_reader reader;
    const struct cts_location_log *const stream =
        &a->assembler->processes.items[process].logs.items[log];
    enum cts_status status = cts_log_open(stream->path, &reader, error), ended = CTS_OK;
    if (status) return status;
    const uint64_t *words;
    uint32_t count;
    while (!status && (words = cts_log_next(&reader, &count, &ended, error)))
        if ((words[0] & 0xff) == CTS_RECORD_ACTIVITY && count >= CTS_ACTIVITY_PLAIN)
            status = take_activity(a, process, log, words, error);
    cts_log_reader_close(&reader);
    if (!status && ended == CTS_IO) status = ended;
    return status;
}

static enum cts_status take_kernels(struct aligning *a, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint32_t i = 0; i < a->assembler->processes.count && !status; i++) {
        const struct cts_log_process *const p = &a->assembler->processes.items[i];
        if (!has_collectives(p)) continue;
        for (uint32_t k = 0; k < p->logs.count && !status; k++)
            if (p->logs.items[k].header.kind == CTS_LOG_STREAM)
                status = take_stream(a, i, k, error);
    }
    return status;
}

/* ---- alignment ---- */

static enum cts_status sort_calls(struct aligning *a, struct cts_error *error)
{
    const size_t processes = a->assembler->processes.count;
    a->by_process = cts_array_zeroed(a->calls.count, sizeof *a->by_process, error);
    a->first = cts_array_zeroed(processes + 2, sizeof *a->first, error);
    a->known_ns = cts_array_zeroed(a->match.operation_count, sizeof *a->known_ns, error);
    a->settled = cts_array_zeroed(processes, sizeof *a->settled, error);
    if (!a->by_process || !a->first || !a->known_ns || !a->settled) return CTS_MEMORY;
    for (size_t i = 0; i < a->calls.count; i++) a->first[a->calls.items[i].process + 2]++;
    for (size_t p = 1; p < processes + 2; p++) a->first[p] += a->first[p - 1];
    for (size_t i = 0; i < a->calls.count; i++)
        a->by_process[a->first[a->calls.items[i].process + 1]++] = (uint32_t)i;
    return CTS_OK;
}

/* The ends of a process whose clock is settled are known to all. */
static void settle(struct aligning *a, uint32_t process, const struct cts_clock_fit *fit)
{
    a->settled[process] = true;
    for (size_t i = a->first[process]; i < a->first[process + 1]; i++) {
        const uint32_t call = a->by_process[i], operation = a->match.operation[call];
        if (operation == CTS_COLLECTIVE_NONE || a->known_ns[operation]) continue;
        const uint64_t end_ns = a->calls.items[call].end_ns;
        a->known_ns[operation] =
            fit ? (uint64_t)((int64_t)end_ns + llround(cts_clock_fit_at(fit, end_ns))) : end_ns;
    }
}

static enum cts_status pair_up(struct aligning *a, uint32_t process, struct cts_error *error)
{
    a->pairs.count = 0;
    for (size_t i = a->first[process]; i < a->first[process + 1]; i++) {
        const uint32_t call = a->by_process[i], operation = a->match.operation[call];
        if (operation == CTS_COLLECTIVE_NONE || !a->known_ns[operation]) continue;
        if (CTS_ARRAY_RESERVE(&a->pairs, a->pairs.count + 1, error)) return CTS_MEMORY;
        const uint64_t end_ns = a->calls.items[call].end_ns;
        a->pairs.items[a->pairs.count++] =
            (struct cts_clock_pair){end_ns, (int64_t)(a->known_ns[operation] - end_ns)};
    }
    return CTS_OK;
}

/* Readings of the process's clock after which its times are the first process's. */
static enum cts_status adjust(struct cts_log_process *p, const struct cts_clock_fit *fit,
                              struct cts_error *error)
{
    const uint64_t local_ns[] = {p->start_ns,
                                 p->finish_ns > p->start_ns ? p->finish_ns : p->start_ns + 1};
    struct cts_clock_reading readings[2];
    for (unsigned i = 0; i < 2; i++) {
        const uint64_t time_ns = cts_correct_time(p, local_ns[i]);
        const int64_t fitted_ns = (int64_t)time_ns + llround(cts_clock_fit_at(fit, time_ns));
        readings[i] = (struct cts_clock_reading){local_ns[i], fitted_ns - (int64_t)local_ns[i]};
    }
    if (CTS_ARRAY_RESERVE(&p->clock, 2, error)) return CTS_MEMORY;
    memcpy(p->clock.items, readings, sizeof readings);
    p->clock.count = 2;
    return CTS_OK;
}

static enum cts_status say(struct cts_log_process *p, uint32_t level, char *text,
                           struct cts_error *error)
{
    if (!text || CTS_ARRAY_RESERVE(&p->messages, p->messages.count + 1, error)) {
        free(text);
        return cts_fail(error, CTS_MEMORY, "no memory for a message");
    }
    p->messages.items[p->messages.count++] =
        (struct cts_process_message){.level = level, .text = text};
    return CTS_OK;
}

static enum cts_status align(struct aligning *a, uint32_t process, struct cts_error *error)
{
    struct cts_log_process *const p = &a->assembler->processes.items[process];
    struct cts_clock_alignment *const clocks = &a->assembler->clocks;
    struct cts_clock_fit fit;
    char *text;
    cts_clock_fit(a->pairs.items, a->pairs.count, &fit);
    settle(a, process, &fit);
    if (asprintf(&text,
                 "clock aligned by the ends of %zu collectives: %+.3f us, drift %+.3f ppm, "
                 "residual %.3f us",
                 fit.pair_count, fit.offset_ns / 1e3, fit.drift * 1e6, fit.residual_ns / 1e3) < 0)
        text = NULL;
    clocks->aligned_count++;
    clocks->collective_count += fit.pair_count;
    if (fit.residual_ns > clocks->residual_ns) clocks->residual_ns = fit.residual_ns;
    const enum cts_status status = adjust(p, &fit, error);
    if (status) {
        free(text);
        return status;
    }
    return say(p, 0, text, error);
}

/* Processes that share an operation with a settled one, until there is none. */
static enum cts_status align_all(struct aligning *a, struct cts_error *error)
{
    const uint32_t count = (uint32_t)a->assembler->processes.count;
    enum cts_status status = CTS_OK;
    for (bool more = true; more && !status;) {
        more = false;
        for (uint32_t i = 0; i < count && !status; i++) {
            if (a->settled[i]) continue;
            status = pair_up(a, i, error);
            if (status || !a->pairs.count) continue;
            status = align(a, i, error);
            more = true;
        }
    }
    for (uint32_t i = 0; i < count && !status; i++) {
        if (a->settled[i]) continue;
        a->assembler->clocks.alone_count++;
        status = say(&a->assembler->processes.items[i], 1,
                     strdup("clock cannot be aligned: no collective is known to be shared with the "
                            "ranks before it; its times are those of its own clock"),
                     error);
    }
    return status;
}

static enum cts_status align_processes(struct aligning *a, struct cts_error *error)
{
    enum cts_status status = sort_calls(a, error);
    uint32_t first = 0;
    const uint32_t count = (uint32_t)a->assembler->processes.count;
    while (first < count && a->first[first] == a->first[first + 1]) first++;
    for (uint32_t i = 0; i < count && !status; i++) {
        const bool keeps = i == first || !is_free(&a->assembler->processes.items[i]);
        if (keeps) settle(a, i, NULL);
    }
    return status ? status : align_all(a, error);
}

enum cts_status cts_align_clocks(struct cts_assembler *assembler, struct cts_error *error)
{
    struct aligning a = {.assembler = assembler};
    size_t free_count = 0;
    for (size_t i = 0; i < assembler->processes.count; i++)
        free_count += is_free(&assembler->processes.items[i]);
    if (assembler->processes.count < 2 || !free_count) return CTS_OK;
    enum cts_status status = take_kernels(&a, error);
    if (!status && a.calls.count)
        status = cts_collectives_match(a.calls.items, a.calls.count, &a.match, error);
    if (!status) status = align_processes(&a, error);
    cts_collective_match_release(&a.match);
    free(a.calls.items);
    free(a.by_process);
    free(a.first);
    free(a.known_ns);
    free(a.settled);
    free(a.pairs.items);
    return status;
}
