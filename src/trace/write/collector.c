/* The collector: the run's directory and catalogue, and its streams. What the streams use of it:
 * collector-shared.c. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "trace/write/collector-private.h"

static struct cts_collector *create(const char *directory,
                                    const struct cts_collector_options *options)
{
    struct cts_collector *const collector = calloc(1, sizeof *collector);
    if (!collector) return NULL;
    collector->directory = strdup(directory);
    collector->recorder = strdup(options->recorder ? options->recorder : "cpu");
    if (!collector->directory || !collector->recorder) {
        free(collector->directory);
        free(collector->recorder);
        free(collector);
        return NULL;
    }
    collector->max_size_bytes = options->max_size_bytes;
    collector->values = options->values;
    collector->hashes = options->hashes;
    collector->compression_level = options->compression_level;
    collector->pid = getpid();
    pthread_mutex_init(&collector->lock, NULL);
    return collector;
}

static void destroy(struct cts_collector *collector)
{
    for (uint32_t i = 0; i < collector->stream_count; i++)
        cts_stream_destroy(collector->streams[i]);
    free(collector->streams);
    free(collector->directory);
    free(collector->recorder);
    pthread_mutex_destroy(&collector->lock);
    free(collector);
}

enum cts_status cts_collector_open_directory(const char *directory,
                                             const struct cts_collector_options *options,
                                             struct cts_collector **out, struct cts_error *error)
{
    *out = create(directory, options);
    return *out ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory for a collector");
}

/* The row of this rank; the catalogue knows the other columns. */
static void write_rank(struct cts_collector *collector, uint64_t end_ns)
{
    const struct cts_stream_counts counts = cts_collector_counts(collector);
    const struct cts_error *const failure = cts_collector_failure(collector);
    cts_catalogue_add_rank(collector->catalogue, &(struct cts_rank){
                                                     .rank = collector->rank,
                                                     .recorder = collector->recorder,
                                                     .end_ns = end_ns,
                                                     .records = counts.records,
                                                     .accesses = counts.accesses,
                                                     .dropped_records = counts.dropped_records,
                                                     .dropped_accesses = counts.dropped_accesses,
                                                     .failure = failure ? failure->text : NULL,
                                                 });
}

enum cts_status cts_collector_open(const struct cts_collector_options *options,
                                   struct cts_collector **out, struct cts_error *error)
{
    *out = NULL;
    struct cts_catalogue_writer *catalogue = NULL;
    const enum cts_status status = cts_catalogue_create(options->run_path, &catalogue, error);
    if (status) return status;
    const uint32_t rank = cts_catalogue_rank(catalogue);
    char *directory = NULL;
    if (asprintf(&directory, "%s/rank-%u", options->run_path, rank) < 0) directory = NULL;
    struct cts_collector *const collector = directory ? create(directory, options) : NULL;
    free(directory);
    if (!collector) {
        (void)!cts_catalogue_close(catalogue, NULL);
        return cts_fail(error, CTS_MEMORY, "no memory for a collector");
    }
    collector->rank = rank;
    collector->catalogue = catalogue;
    write_rank(collector, 0);
    *out = collector;
    return CTS_OK;
}

enum cts_status cts_collector_close(struct cts_collector *collector, struct cts_error *error)
{
    if (!collector) return CTS_OK;
    for (uint32_t i = 0; i < collector->stream_count; i++)
        cts_stream_destroy(collector->streams[i]);
    collector->stream_count = 0;
    enum cts_status status = CTS_OK;
    struct cts_error catalogue_error;
    if (collector->catalogue && collector->pid == getpid()) {
        write_rank(collector, cts_clock_ns());
        status = cts_catalogue_close(collector->catalogue, &catalogue_error);
        collector->catalogue = NULL;
        if (status) cts_collector_fail(collector, &catalogue_error);
    }
    const struct cts_error *const failure = cts_collector_failure(collector);
    if (failure) status = cts_fail(error, failure->status, "%s", failure->text);
    destroy(collector);
    return status;
}

struct cts_catalogue_writer *cts_collector_catalogue(struct cts_collector *collector)
{
    return collector->catalogue;
}

static enum cts_status add_stream(struct cts_collector *collector, struct cts_stream **stream,
                                  struct cts_error *error)
{
    if (collector->stream_count == collector->stream_capacity) {
        const uint32_t capacity = collector->stream_capacity ? 2 * collector->stream_capacity : 8;
        struct cts_stream **const streams =
            realloc(collector->streams, capacity * sizeof(struct cts_stream *));
        if (!streams) return cts_fail(error, CTS_MEMORY, "no memory for a stream");
        collector->streams = streams;
        collector->stream_capacity = capacity;
    }
    const enum cts_status status =
        cts_stream_create(collector, collector->stream_count, stream, error);
    if (!status) collector->streams[collector->stream_count++] = *stream;
    return status;
}

enum cts_status cts_collector_stream(struct cts_collector *collector, struct cts_stream **stream,
                                     struct cts_error *error)
{
    pthread_mutex_lock(&collector->lock);
    const enum cts_status status = add_stream(collector, stream, error);
    pthread_mutex_unlock(&collector->lock);
    return status;
}
