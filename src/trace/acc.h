/* Access files (.acc): warp records in self-contained chunks; docs/format.md is the specification.
 *
 * Writing is done through the collector (trace/write); this header is for reading. A reader
 * maps a run's access files, knows their chunks from the footers (or by walking a file that has
 * none), and decodes one chunk at a time into a batch of warp records. */
#ifndef CTS_TRACE_ACC_H
#define CTS_TRACE_ACC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/error.h"
#include "trace/access.h"

struct cts_acc_reader;

/* What the index says of a chunk. */
struct cts_acc_chunk {
    uint32_t launch;
    uint32_t file;                        /* index of the access file in the reader */
    uint32_t first_cta, last_cta;         /* inclusive */
    uint64_t first_address, last_address; /* least and greatest lane address in global memory; an
                                             access reaches up to its width further. first > last:
                                             there are none */
    uint64_t offset_bytes, size_bytes;    /* in the file */
    uint64_t record_count, access_count;  /* of accesses, and their lanes; barriers count in
                                             neither */
    uint32_t barrier_count;
};

/* Opens every rank-N/K.acc below `run_path`. A file without a footer is read up to its last whole
 * chunk and counted in cts_acc_incomplete_count(); a damaged one is an error. */
CTS_MUST_CHECK enum cts_status cts_acc_open(const char *run_path, struct cts_acc_reader **reader,
                                            struct cts_error *error);
/* The same, but of a damaged file what stands before the damage: `note` is told what is wrong with
 * each; they do not count as incomplete. NULL: as above. */
CTS_MUST_CHECK enum cts_status
cts_acc_open_readable(const char *run_path, struct cts_acc_reader **reader,
                      void (*note)(void *state, const struct cts_error *error), void *state,
                      struct cts_error *error);
void cts_acc_close(struct cts_acc_reader *reader);

/* All chunks, ordered by launch, then first CTA, then file and offset; borrowed from the reader. */
const struct cts_acc_chunk *cts_acc_chunks(const struct cts_acc_reader *reader, size_t *count);
/* The index, among chunks so ordered, of the first of a launch or of a later one; `count`: none. */
size_t cts_acc_first_chunk(const struct cts_acc_chunk *chunks, size_t count, uint32_t launch);
/* How many files end too early. */
size_t cts_acc_incomplete_count(const struct cts_acc_reader *reader);
size_t cts_acc_file_count(const struct cts_acc_reader *reader);
uint64_t cts_acc_file_size(const struct cts_acc_reader *reader, uint32_t file); /* bytes */
/* Takes chunks out of the list for which `is_out` says so; returns how many. */
size_t cts_acc_leave_out(struct cts_acc_reader *reader,
                         bool (*is_out)(void *state, const struct cts_acc_chunk *chunk),
                         void *state);
/* Borrowed from the reader; `file` as in a chunk. */
const char *cts_acc_file_path(const struct cts_acc_reader *reader, uint32_t file);

/* A barrier or fence, as a warp executed it: a record that is no access. */
struct cts_acc_barrier {
    uint32_t before; /* records of the batch that were recorded before it */
    uint32_t cta, site, mask;
    uint64_t argument; /* see CTS_BARRIER_MAP in trace/access.h */
    uint16_t warp;
};

/* A decoded chunk as columns; element i of each column belongs to record i. Records of one CTA are
 * contiguous (unless the CTA was interrupted by a grid-wide barrier) and in the order in which they
 * were recorded; a CTA of very many records may go on in the next chunk of the same file.
 * Several records may share one list of offsets. Reused from chunk to chunk; freed by
 * cts_acc_batch_release(). Zero-initialise. One batch per thread; readers are shared freely. */
struct cts_acc_batch {
    size_t record_count;
    uint32_t launch;
    uint32_t *cta;
    uint32_t *site;
    uint32_t *mask;
    uint16_t *warp;
    uint8_t *space;
    uint8_t *pattern;
    uint8_t *row_lanes;
    uint8_t *box; /* enum cts_box_place; NULL: no record is of a box */
    int32_t *s0, *s1;
    uint64_t *base;
    uint8_t *value_words;   /* per active lane, of records that have values; of a box, the lane that
                               executed the copy; else undefined */
    uint32_t *offset_start; /* list: index of its first offset in offsets[]; box: of its words */
    uint32_t *value_start;  /* values: index of its first word in values[]; UINT32_MAX: none */
    uint32_t *offsets;
    size_t offset_count;
    uint64_t *values;
    size_t value_count;
    struct cts_acc_barrier *barriers; /* in the order in which they were recorded */
    size_t barrier_count;
    struct cts_acc_batch_private *private_data;
};
void cts_acc_batch_release(struct cts_acc_batch *batch);

/* Decodes one of the reader's chunks into `batch`, over what it held; after a failure it holds
 * nothing of use. CTS_FORMAT for damage, CTS_IO, CTS_MEMORY. */
CTS_MUST_CHECK enum cts_status cts_acc_read(const struct cts_acc_reader *reader,
                                            const struct cts_acc_chunk *chunk,
                                            struct cts_acc_batch *batch, struct cts_error *error);

/* Record i of a batch; offsets and values point into the batch. */
struct cts_access cts_acc_record(const struct cts_acc_batch *batch, size_t i);

#endif
