/* The walk over the entries of a trace. It believes nothing: an entry is yielded when all of its
 * bytes are there.
 *
 *     .trc     magic { 00 length16 name | ff record24 | fe record24 count16 }*
 *     2017     24 LF { name LF record24* zero24 }*
 *
 * Warps write the records of their lanes side by side, so that stretches of up to 32 records differ
 * in their addresses only. They are yielded as one group: what is decided per CTA and operation is
 * decided once for all of them. */
#include "import/trc.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const uint8_t cts_trc_magic[2][CTS_TRC_MAGIC_BYTES] = {
    {0x19, 'C', 'U', 'D', 'A', 'T', 'R', 'A', 'C', 'E'},
    {0x1a, 'C', 'U', 'D', 'A', 'T', 'R', 'A', 'C', 'E'},
};

/* ---- formats ---- */

static bool is_descriptor_2017(uint64_t word)
{
    return cts_trc_operation(CTS_TRC_2017, cts_trc_type(word)) &&
           cts_trc_size_fits(cts_trc_size_bytes(word));
}

/* The paper's figure can be read in two ways; the type, never 0, tells which way a file took. */
static enum cts_trc_format order_of_2017(const uint8_t *bytes, size_t byte_count)
{
    struct cts_trc_walk walk = {.format = CTS_TRC_2017, .at = bytes, .end = bytes + byte_count};
    for (enum cts_trc_entry entry; (entry = cts_trc_next(&walk)) <= CTS_TRC_KERNEL;) {
        if (entry != CTS_TRC_GROUP) continue;
        const uint64_t last = cts_get_u64(walk.group.addresses + 8);
        const bool reversed =
            !is_descriptor_2017(walk.group.descriptor) && is_descriptor_2017(last);
        return reversed ? CTS_TRC_2017_REVERSED : CTS_TRC_2017;
    }
    return CTS_TRC_2017;
}

enum cts_trc_format cts_trc_format_of(const uint8_t *bytes, size_t byte_count, size_t *header_bytes)
{
    *header_bytes = CTS_TRC_MAGIC_BYTES;
    for (unsigned i = 0; byte_count >= CTS_TRC_MAGIC_BYTES && i < 2; i++)
        if (memcmp(bytes, cts_trc_magic[i], CTS_TRC_MAGIC_BYTES) == 0)
            return i ? CTS_TRC_3 : CTS_TRC_2;
    *header_bytes = 2;
    if (byte_count >= 2 && bytes[0] == CTS_TRC_RECORD_BYTES && bytes[1] == '\n')
        return order_of_2017(bytes + 2, byte_count - 2);
    return CTS_TRC_NONE;
}

/* ---- .trc ---- */

static enum cts_trc_entry next_kernel(struct cts_trc_walk *walk)
{
    const size_t left = (size_t)(walk->end - walk->at);
    walk->name = (const char *)walk->at + (left < 3 ? left : 3);
    walk->name_bytes = left < 3 ? 0 : left - 3;
    const size_t name_bytes = left < 3 ? 0 : cts_get_u16(walk->at + 1);
    if (left < 3 || name_bytes > walk->name_bytes) return CTS_TRC_CUT_KERNEL;
    walk->name_bytes = name_bytes;
    walk->at += 3 + name_bytes;
    return CTS_TRC_KERNEL;
}

static enum cts_trc_entry next_run(struct cts_trc_walk *walk)
{
    enum { ENTRY_BYTES = 1 + CTS_TRC_RECORD_BYTES + 2 };
    const uint8_t *const at = walk->at;
    if (walk->end - at < ENTRY_BYTES) return CTS_TRC_CUT_RECORD;
    const uint32_t count = cts_get_u16(at + 1 + CTS_TRC_RECORD_BYTES);
    walk->group = (struct cts_trc_group){.descriptor = cts_get_u64(at + 1),
                                         .cta = cts_get_u64(at + 17),
                                         .addresses = at + 9,
                                         .record_count = 1,
                                         .run_length = count ? count : CTS_TRC_WRAPPED_RUN,
                                         .wrapped = !count};
    walk->at += ENTRY_BYTES;
    return CTS_TRC_GROUP;
}

static enum cts_trc_entry next_records(struct cts_trc_walk *walk)
{
    enum { ENTRY_BYTES = 1 + CTS_TRC_RECORD_BYTES };
    const uint8_t *at = walk->at;
    const uint8_t *const end = walk->end;
    if (end - at < ENTRY_BYTES) return CTS_TRC_CUT_RECORD;
    const uint64_t descriptor = cts_get_u64(at + 1), cta = cts_get_u64(at + 17);
    size_t count = 0;
    do {
        at += ENTRY_BYTES;
        count++;
    } while (end - at >= ENTRY_BYTES && *at == CTS_TRC_ENTRY_RECORD &&
             cts_get_u64(at + 1) == descriptor && cts_get_u64(at + 17) == cta);
    walk->group = (struct cts_trc_group){.descriptor = descriptor,
                                         .cta = cta,
                                         .addresses = walk->at + 9,
                                         .record_count = count,
                                         .stride_bytes = ENTRY_BYTES,
                                         .run_length = 1};
    walk->at = at;
    return CTS_TRC_GROUP;
}

static enum cts_trc_entry next_tagged(struct cts_trc_walk *walk)
{
    if (walk->at == walk->end) return CTS_TRC_END;
    switch (*walk->at) {
    case CTS_TRC_ENTRY_RECORD:
        return next_records(walk);
    case CTS_TRC_ENTRY_RUN:
        return next_run(walk);
    case CTS_TRC_ENTRY_KERNEL:
        return next_kernel(walk);
    default:
        return CTS_TRC_UNKNOWN;
    }
}

/* ---- 2017 ---- */

static enum cts_trc_entry next_name_2017(struct cts_trc_walk *walk)
{
    while (walk->at < walk->end && *walk->at == '\n') walk->at++; /* behind an end of records */
    if (walk->at == walk->end) return CTS_TRC_END;
    const size_t left = (size_t)(walk->end - walk->at);
    const uint8_t *const newline = memchr(walk->at, '\n', left);
    walk->name = (const char *)walk->at;
    walk->name_bytes = newline ? (size_t)(newline - walk->at) : left;
    if (walk->name_bytes > CTS_TRC_NAME_MAX_BYTES) return CTS_TRC_UNKNOWN;
    if (!newline) return CTS_TRC_CUT_KERNEL;
    walk->at = newline + 1;
    walk->in_launch = true;
    return CTS_TRC_KERNEL;
}

static bool is_end_2017(const uint8_t *record)
{
    return !(cts_get_u64(record) | cts_get_u64(record + 8) | cts_get_u64(record + 16));
}

static enum cts_trc_entry next_2017(struct cts_trc_walk *walk)
{
    if (walk->in_launch && walk->end - walk->at >= CTS_TRC_RECORD_BYTES && is_end_2017(walk->at)) {
        walk->at += CTS_TRC_RECORD_BYTES;
        walk->in_launch = false;
    }
    if (!walk->in_launch) return next_name_2017(walk);
    const unsigned place = walk->format == CTS_TRC_2017 ? 0 : 16;
    const uint8_t *at = walk->at;
    if (walk->end - at < CTS_TRC_RECORD_BYTES) return CTS_TRC_CUT_RECORD;
    const uint64_t descriptor = cts_get_u64(at + place), cta = cts_get_u64(at + 16 - place);
    size_t count = 0;
    do {
        at += CTS_TRC_RECORD_BYTES;
        count++;
    } while (walk->end - at >= CTS_TRC_RECORD_BYTES && cts_get_u64(at + place) == descriptor &&
             cts_get_u64(at + 16 - place) == cta && !is_end_2017(at));
    walk->group = (struct cts_trc_group){.descriptor = descriptor,
                                         .cta = cta,
                                         .addresses = walk->at + 8,
                                         .record_count = count,
                                         .stride_bytes = CTS_TRC_RECORD_BYTES,
                                         .run_length = 1};
    walk->at = at;
    return CTS_TRC_GROUP;
}

enum cts_trc_entry cts_trc_next(struct cts_trc_walk *walk)
{
    walk->entry = walk->at;
    const bool is_2017 = walk->format == CTS_TRC_2017 || walk->format == CTS_TRC_2017_REVERSED;
    return is_2017 ? next_2017(walk) : next_tagged(walk);
}

void cts_trc_leave(const struct cts_trc_walk *walk, const uint8_t **from)
{
    const uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    const uintptr_t begin = ((uintptr_t)*from + page_bytes - 1) & -page_bytes;
    const uintptr_t end = (uintptr_t)walk->at & -page_bytes;
    if (end < begin + CTS_TRC_WINDOW_BYTES) return;
    (void)!madvise((void *)begin, end - begin, MADV_DONTNEED); /* a wish */
    *from = (const uint8_t *)end;
}
