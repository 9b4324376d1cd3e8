/* A chunk under construction. The collector adds *segments* (the records of one CTA, or a part of
 * a very long one) and takes out finished chunks. Private to trace/ and trace/write/.
 *
 * Words. A *shape* is what a record is apart from its base, offsets and values. A *template* is the
 * sequence of shapes of a segment; its *definition* is the first segment that had it. Each later
 * segment of the same shapes is an *instance*: it only keeps its *shift*, the vector of
 * differences of its bases to those of the template's last instance. Neighbouring CTAs mostly have
 * the same shift again, and make a *run*: a counter. */
#ifndef CTS_TRACE_ACC_BUILDER_H
#define CTS_TRACE_ACC_BUILDER_H

#include "common/buffer.h"
#include "trace/acc-format.h"

/* One segment; the arrays are the caller's. */
struct cts_acc_segment {
    struct cts_acc_shape *shapes;
    uint64_t *bases;
    uint32_t *offsets; /* of the lists, in order */
    uint64_t *values;  /* of the records that have any, in order */
    uint32_t record_count, offset_count, value_count;
    uint32_t more_records; /* that boxes become, beyond one each */
};

struct cts_acc_template {
    uint64_t hash;
    uint32_t first_record; /* of the definition, in shapes and bases */
    uint32_t record_count, access_count, list_count, barrier_count;
    uint32_t more_records;
    uint32_t offset_start, offset_count; /* the lists of the last instance, in offsets */
    uint32_t last_start;                 /* the bases of the last instance, in lasts; NONE: the
                                            definition is the only one */
    uint32_t shift;                      /* of the last instance, in shifts; NONE */
    uint32_t next;                       /* the template that came after it last time, or itself */
    uint32_t recent[8];                  /* its latest new shifts, a ring */
    uint32_t recent_count;
};

struct cts_acc_shift {
    uint64_t hash;
    uint32_t template_index;
    uint32_t start; /* in shift_values */
};

struct cts_acc_instance {
    uint32_t template_index;
    uint32_t shift; /* 0: the definition; else (index + 1) * 2 + (has lists of its own) */
    uint32_t step;  /* CTA minus the previous instance's, for each of the run */
    uint32_t repeat;
};

/* Zero-initialise, then cts_acc_builder_init(); owns everything in it. */
struct cts_acc_builder {
    struct cts_buffer shapes, bases;   /* of the definitions */
    struct cts_buffer offsets, values; /* of all lists and values kept */
    struct cts_buffer templates, instances;
    struct cts_buffer shifts, shift_values, lasts;
    struct cts_buffer combos, combo_ids, combo_slots, raw; /* for the encoder */
    uint32_t *slots;                                       /* hash table: template index + 1 */
    uint32_t template_count, instance_count, shift_count, list_count;
    uint32_t previous_template, previous_cta;
    uint32_t launch, first_cta, last_cta;
    uint32_t record_count;  /* with the barriers; boxes as the records that they become */
    uint32_t barrier_count; /* of them */
    uint64_t access_count;
    uint64_t first_address, last_address;
    void *zstd; /* ZSTD_CCtx */
    int compression_level;
    size_t target_raw_bytes; /* a chunk is closed when it has this much */
};

enum {
    CTS_ACC_SLOT_COUNT = 1 << 13,
    CTS_ACC_TARGET_RAW_BYTES = 4 << 20, /* of builder->target_raw_bytes */
    CTS_ACC_DEFAULT_LEVEL = -1, /* of zstd: the columns are dense already, and entropy coding what
                                   is left costs a third more time for a twentieth less space */
};

/* `compression_level` as for zstd; 0: the default. */
CTS_MUST_CHECK enum cts_status cts_acc_builder_init(struct cts_acc_builder *builder,
                                                    int compression_level, struct cts_error *error);
void cts_acc_builder_release(struct cts_acc_builder *builder);

/* Whether a segment of `record_count` more records still fits into the chunk. */
static inline bool cts_acc_builder_fits(const struct cts_acc_builder *b, uint32_t record_count)
{
    return b->record_count + record_count <= CTS_ACC_CHUNK_RECORDS_MAX;
}
/* Whether the chunk has reached its size. */
bool cts_acc_builder_full(const struct cts_acc_builder *builder);

/* Adds a segment that fits; its CTA belongs to `builder->launch`, which the caller sets while the
 * chunk is empty. On failure the segment is not in the chunk. */
CTS_MUST_CHECK enum cts_status cts_acc_builder_add(struct cts_acc_builder *builder, uint32_t cta,
                                                   const struct cts_acc_segment *segment,
                                                   struct cts_error *error);

/* Writes the chunk, header and all, in place of the content of `out`, describes it, and starts an
 * empty one. An empty chunk yields no bytes. On failure too the builder is empty afterwards. */
CTS_MUST_CHECK enum cts_status cts_acc_builder_finish(struct cts_acc_builder *builder,
                                                      struct cts_buffer *out,
                                                      struct cts_acc_chunk_header *header,
                                                      struct cts_error *error);
void cts_acc_builder_clear(struct cts_acc_builder *builder);

/* The encoder's part: the payload before compression into builder->raw. */
CTS_MUST_CHECK enum cts_status cts_acc_encode_payload(struct cts_acc_builder *builder,
                                                      struct cts_error *error);

#endif
