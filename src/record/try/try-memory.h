/* The memory of a stretch: what it holds at the stretch's begin, and what the program itself left
 * in it at the end. */
#ifndef CTS_RECORD_TRY_MEMORY_H
#define CTS_RECORD_TRY_MEMORY_H

#include "record/try/try-device.h"

enum { CTS_TRY_PAGE_BYTES = 4096 };

/* One region (trial.h), at the same index as the stretch's. */
struct cts_try_region {
    uint64_t address, size_bytes;
    uint8_t *begin;  /* owned; NULL: what a copy brings to the host, nothing before */
    uint8_t *end;    /* owned; as the program left it */
    uint8_t *mask;   /* owned; a bit for each byte that is not compared; NULL: all are */
    uint8_t **first; /* owned; by page: as the first unchanged replay left it; NULL: as `end` */
    uint64_t excluded_bytes; /* of those in the mask: what the host may write meanwhile */
    bool stays;              /* begin and end are alike, and so did unchanged replays leave it */
};

struct cts_try_memory {
    struct cts_try_region *items;
    size_t count, capacity;
    uint64_t saved_bytes, limit_bytes;    /* of all owned copies; 0: no limit */
    const struct cts_trial_range *unused; /* of the present plan */
    size_t unused_count;
    const struct cts_trial_range *dead; /* likewise; ascending */
    size_t dead_count;
};

void cts_try_memory_release(struct cts_try_memory *memory);

/* Adds a region and saves its present content as the stretch's begin. CTS_LIMIT: that would take
 * more than the limit. */
CTS_MUST_CHECK enum cts_status cts_try_memory_add(struct cts_try_memory *memory,
                                                  const struct cts_try_device *device,
                                                  struct cts_trial_range range,
                                                  struct cts_error *error);
/* Adds what a copy brings to the host at `address`; `content`: what it brought to the program. */
CTS_MUST_CHECK enum cts_status cts_try_memory_add_payload(struct cts_try_memory *memory,
                                                          struct cts_trial_range range,
                                                          const void *content,
                                                          struct cts_error *error);
/* Saves the present content of all regions as the stretch's end. */
CTS_MUST_CHECK enum cts_status cts_try_memory_close(struct cts_try_memory *memory,
                                                    const struct cts_try_device *device,
                                                    struct cts_error *error);
/* Bytes of a region that are not compared. */
CTS_MUST_CHECK enum cts_status cts_try_memory_exclude(struct cts_try_memory *memory, size_t region,
                                                      struct cts_trial_range range,
                                                      struct cts_error *error);
/* Puts all memory back to the begin or the end of the stretch. What copies brought, and memory that
 * the plan does not use, is spoilt at the begin. */
void cts_try_memory_restore(const struct cts_try_memory *memory,
                            const struct cts_try_device *device, bool to_end);
/* The same to the begin, after an unchanged replay: leaves alone what such replays do not change,
 * so that caches hold of it what they hold in the program. */
void cts_try_memory_restore_changed(const struct cts_try_memory *memory,
                                    const struct cts_try_device *device);

static inline bool cts_try_is_masked(const struct cts_try_region *region, uint64_t offset)
{
    return region->mask && region->mask[offset / 8] >> (offset % 8) & 1;
}

/* ---- try-compare.c ---- */

/* Compares all memory with the program's own end and adds to the result's differences, one for each
 * region that has any. Bytes that an earlier replay was found to differ in count once. `seen`: an
 * array of a bitmap for each region, NULL at first, owned by the caller. */
CTS_MUST_CHECK enum cts_status cts_try_compare(const struct cts_try_memory *memory,
                                               const struct cts_try_device *device, uint8_t **seen,
                                               struct cts_trial_result *result,
                                               struct cts_error *error);
/* An unchanged replay has ended: bytes that differ from the first one are masked from now on.
 * `is_first`: it is that one. */
CTS_MUST_CHECK enum cts_status cts_try_learn(struct cts_try_memory *memory,
                                             const struct cts_try_device *device, bool is_first,
                                             struct cts_error *error);
/* What unchanged replays came to: differences that all of them have in common, masked bytes, and
 * how many bytes the stretch changes. */
CTS_MUST_CHECK enum cts_status cts_try_sum_up(const struct cts_try_memory *memory,
                                              struct cts_trial_result *result,
                                              struct cts_error *error);

#endif
