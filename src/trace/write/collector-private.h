/* What the collector's files share, and what tests and benchmarks use of it. */
#ifndef CTS_COLLECTOR_PRIVATE_H
#define CTS_COLLECTOR_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <sys/types.h>

#include "trace/write/access-file.h"
#include "trace/write/collector.h"
#include "trace/write/zip.h"

struct cts_collector {
    char *directory;                        /* of the rank */
    struct cts_catalogue_writer *catalogue; /* NULL: none */
    uint32_t rank;
    char *recorder;
    uint64_t max_size_bytes; /* 0: none */
    bool values;             /* kept, where there are some */
    bool hashes;             /* they are hashed */
    int compression_level;
    pid_t pid; /* a child after fork() has our memory and files, but must not write */
    atomic_uint_fast64_t size_bytes; /* of all access files, as they will be when closed */
    atomic_uint_fast64_t records, accesses, dropped_records, dropped_accesses;
    atomic_bool has_values; /* a record with some has come: the catalogue says so */
    atomic_bool is_full;    /* max_size_bytes is reached: no more chunks */
    atomic_bool has_failed; /* `failure` is set, and does not change any more */
    struct cts_error failure;
    pthread_mutex_t lock; /* of `failure` until it is set, and of the streams */
    struct cts_stream **streams;
    uint32_t stream_count, stream_capacity;
};

struct cts_stream {
    struct cts_collector *collector;
    const struct cts_zip *zip;
    struct cts_access_file file;
    uint32_t failure_count; /* of writes, since the last that did not fail */
    bool is_broken;         /* they go on failing: everything is dropped from then on */
    uint32_t cta;
    struct cts_acc_segment segment;
    struct cts_acc_builder builder;
    struct cts_buffer chunk;
    struct cts_stream_counts counts;
};

/* A collector that writes K.acc into an existing directory, without a catalogue. */
CTS_MUST_CHECK enum cts_status
cts_collector_open_directory(const char *directory, const struct cts_collector_options *options,
                             struct cts_collector **collector, struct cts_error *error);

/* ---- streams (collector-stream.c) ---- */

CTS_MUST_CHECK enum cts_status cts_stream_create(struct cts_collector *collector, uint32_t number,
                                                 struct cts_stream **stream,
                                                 struct cts_error *error);
/* Flushes, writes the footer and frees. */
void cts_stream_destroy(struct cts_stream *stream);

/* ---- what streams share (collector-shared.c) ---- */

/* As cts_collector_fail(), where the collector's lock is held. */
void cts_collector_fail_locked(struct cts_collector *collector, const struct cts_error *error);
/* Whether `byte_count` more may be written; they count as written then. */
CTS_MUST_CHECK bool cts_collector_reserve(struct cts_collector *collector, uint64_t byte_count);
void cts_collector_unreserve(struct cts_collector *collector, uint64_t byte_count);

#endif
