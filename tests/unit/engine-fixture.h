/* What the tests of the engine share: kernels are C functions that obey record/abi.h, so that no
 * compiler plugin is needed, and the collector is one that keeps the records in memory. */
#ifndef CTS_ENGINE_FIXTURE_H
#define CTS_ENGINE_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <cmocka.h>

#include "record/cpu/engine.h"
#include "record/instrument/nvvm-abi.h"

/* Kernels of the tests must have their locals on the fiber's stack, sanitized or not. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "detect_stack_use_after_return=0";
}

/* ---- The collector ---- */

struct fake_record {
    uint32_t launch, cta, site, mask;
    uint16_t warp;
    uint8_t space;
    uint64_t addresses[CTS_WARP_LANES];
};

struct cts_stream {
    struct cts_stream *next;
    uint32_t launch, cta;
    int inside; /* a CTA has begun */
    struct fake_record *records;
    size_t count, capacity, flushed;
    struct cts_stream_counts counts;
};

static pthread_mutex_t fake_lock = PTHREAD_MUTEX_INITIALIZER;
static struct cts_stream *fake_streams;

void cts_collector_fail(struct cts_collector *collector, const struct cts_error *error)
{
    (void)collector, (void)error;
}

enum cts_status cts_collector_stream(struct cts_collector *collector, struct cts_stream **stream,
                                     struct cts_error *error)
{
    (void)collector;
    (void)error;
    *stream = calloc(1, sizeof **stream);
    if (!*stream) return CTS_MEMORY;
    pthread_mutex_lock(&fake_lock);
    (*stream)->next = fake_streams;
    fake_streams = *stream;
    pthread_mutex_unlock(&fake_lock);
    return CTS_OK;
}

void cts_stream_begin_cta(struct cts_stream *stream, uint32_t launch, uint32_t cta)
{
    if (stream->inside) abort();
    stream->inside = 1;
    stream->launch = launch;
    stream->cta = cta;
}

void cts_stream_end_cta(struct cts_stream *stream)
{
    if (!stream->inside) abort();
    stream->inside = 0;
}

void cts_stream_flush(struct cts_stream *stream)
{
    if (stream->inside) abort();
    stream->flushed = stream->count;
}

void cts_stream_add(struct cts_stream *stream, const struct cts_stream_row *row)
{
    if (!stream->inside || row->mask == 0) abort();
    if (stream->count == stream->capacity) {
        stream->capacity = stream->capacity ? stream->capacity * 2 : 1024;
        stream->records = realloc(stream->records, stream->capacity * sizeof *stream->records);
        if (!stream->records) abort();
    }
    struct fake_record *const record = &stream->records[stream->count++];
    *record = (struct fake_record){.launch = stream->launch,
                                   .cta = stream->cta,
                                   .site = row->site,
                                   .mask = row->mask,
                                   .warp = row->warp,
                                   .space = (uint8_t)row->space};
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        if (row->mask >> lane & 1) record->addresses[lane] = row->addresses[lane];
    stream->counts.records++;
    stream->counts.accesses += (uint64_t)__builtin_popcount(row->mask);
}

void cts_stream_add_rows(struct cts_stream *stream, const struct cts_row_batch *batch)
{
    for (uint32_t slot = 0; slot < batch->slot_count; slot++) {
        uint64_t *const row = batch->lanes + slot * CTS_WARP_LANES;
        uint32_t mask = 0;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
            mask |= (uint32_t)(row[lane] != 0) << lane;
            if (row[lane] && batch->spaces[slot] == CTS_SPACE_SHARED)
                row[lane] -= batch->shared_base;
        }
        if (mask)
            cts_stream_add(stream, &(struct cts_stream_row){.site = batch->sites[slot],
                                                            .space = batch->spaces[slot],
                                                            .warp = batch->warp,
                                                            .mask = mask,
                                                            .addresses = row,
                                                            .value_words = 0,
                                                            .values = NULL});
        memset(row, 0, CTS_WARP_LANES * sizeof *row);
    }
}

struct cts_stream_counts cts_stream_take_counts(struct cts_stream *stream)
{
    const struct cts_stream_counts counts = stream->counts;
    stream->counts = (struct cts_stream_counts){0};
    return counts;
}

/* ---- Launching ---- */

static inline void fixture_start(const struct cts_engine_options *options)
{
    struct cts_error error;
    if (cts_engine_start(options, &error) != CTS_OK) fail_msg("%s", error.text);
}

static inline struct cts_launch_result fixture_run(const struct cts_launch_request *request)
{
    struct cts_launch_result result;
    cts_engine_run(request, &result);
    return result;
}

static inline uint32_t linear_tid(const struct cts_thread_context *c)
{
    return c->tid[0] + c->ntid[0] * (c->tid[1] + c->ntid[1] * c->tid[2]);
}

static inline uint32_t linear_cta(const struct cts_thread_context *c)
{
    return c->ctaid[0] + c->nctaid[0] * (c->ctaid[1] + c->nctaid[1] * c->ctaid[2]);
}

#define ARGUMENT(type, index) (*(type *)args[index])
#define ASSERT_RAN(result)                                                                         \
    do {                                                                                           \
        if ((result).fault != CTS_FAULT_NONE) fail_msg("%s", (result).text);                       \
    } while (0)

#endif
