/* Bytes of records that hold no value: reading them uninitialised, as a copy of a whole record
 * does, is no mistake. */
#ifndef CTS_ACCESS_RECORD_PADDING_H
#define CTS_ACCESS_RECORD_PADDING_H

#include "common/error.h"
#include "trace/catalogue.h"

/* A record type. Bits of bytes, from the first on. */
struct cts_access_layout {
    uint32_t module;
    const char *type; /* the catalogue's */
    uint64_t size_bytes;
    uint64_t *padding; /* no member covers it */
    uint64_t
        *alternatives; /* padding, too, or some members of a union cover it and others do not */
};

struct cts_access_padding {
    struct cts_access_layout *layouts;
    size_t layout_count;
    size_t *of_allocation, *of_site, *of_variable; /* index + 1 of its type's layout; 0: none */
};

/* Refuses a table that makes no sense. Zero-initialised is empty. */
CTS_MUST_CHECK enum cts_status cts_access_padding_init(struct cts_access_padding *padding,
                                                       const struct cts_catalogue *catalogue,
                                                       struct cts_error *error);
void cts_access_padding_release(struct cts_access_padding *padding);

/* NULL: its type has none, or is not known. */
const struct cts_access_layout *
cts_access_allocation_layout(const struct cts_access_padding *padding, size_t allocation);
/* Of the records that a site accesses: whole, or in part. */
const struct cts_access_layout *cts_access_site_layout(const struct cts_access_padding *padding,
                                                       const struct cts_site *site);
static inline bool cts_access_takes_whole(const struct cts_access_layout *layout,
                                          const struct cts_site *site)
{
    return layout && site->width_bytes % layout->size_bytes == 0;
}

/* Of the shared variable of a module that has the byte, which begins at *origin; NULL also if
 * several have it, as those of different kernels may. */
const struct cts_access_layout *cts_access_shared_layout(const struct cts_access_padding *padding,
                                                         const struct cts_catalogue *catalogue,
                                                         uint32_t module, uint64_t offset,
                                                         uint64_t *origin);

/* Which of the 64 bytes from `start` on hold no value, if records lie at `origin` and behind it
 * (bytes before it do); with `alternatives` also those of unions. */
uint64_t cts_access_padding_mask(const struct cts_access_layout *layout, uint64_t origin,
                                 uint64_t start, bool alternatives);

#endif
