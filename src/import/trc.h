/* The traces of the UniHD tools: .trc of versions 2 and 3 (cuda-memtrace) and the format of 2017
 * (paper 003, 5.1.2). docs/import.md has the tables.
 *
 * A *record* is one access of one thread, or a *run*: consecutive accesses of the same size. A
 * *group* is what the walk yields: records that follow one another in the file and agree in all but
 * the address. Private to import/. */
#ifndef CTS_IMPORT_TRC_H
#define CTS_IMPORT_TRC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trace/access.h"
#include "trace/acc-format.h"

enum cts_trc_format {
    CTS_TRC_NONE,
    CTS_TRC_2,
    CTS_TRC_3,
    CTS_TRC_2017,          /* words in the order of the .trc: descriptor, address, CTA */
    CTS_TRC_2017_REVERSED, /* as figure 5.2 can be read too: CTA, address, descriptor */
};

enum {
    CTS_TRC_MAGIC_BYTES = 10,
    CTS_TRC_ENTRY_KERNEL = 0x00,
    CTS_TRC_ENTRY_RUN = 0xfe,
    CTS_TRC_ENTRY_RECORD = 0xff,
    CTS_TRC_RECORD_BYTES = 24, /* without the byte that begins an entry */
    CTS_TRC_NAME_MAX_BYTES = 65535,
    CTS_TRC_RUN_MAX = 65535,
    CTS_TRC_WRAPPED_RUN = 65536,   /* what a count of 0 stands for, at least */
    CTS_TRC_SIZE_MAX_BYTES = 65536 /* of an access, as the catalogue has it */
};

/* The first bytes of a .trc, version 2 or 3. */
extern const uint8_t cts_trc_magic[2][CTS_TRC_MAGIC_BYTES];

struct cts_trc_group {
    uint64_t descriptor;      /* SM << 32 | type << 28 | size */
    uint64_t cta;             /* x << 32 | y << 16 | z */
    const uint8_t *addresses; /* of the first record: 8 bytes */
    size_t record_count;
    uint32_t stride_bytes; /* from record to record */
    uint32_t run_length;   /* accesses of each record; not 1: then there is one record */
    bool wrapped;          /* the count was 0: the writer's counter had wrapped */
};

enum cts_trc_entry {
    CTS_TRC_GROUP,
    CTS_TRC_KERNEL,
    CTS_TRC_END,
    CTS_TRC_CUT_RECORD, /* the file ends inside a record, or where one or an end must follow */
    CTS_TRC_CUT_KERNEL, /* the file ends inside a kernel's name: `name` is what there is of it */
    CTS_TRC_UNKNOWN     /* `at` is on a byte that begins no entry */
};

/* A walk over the entries of a file, or of a launch: from just behind its kernel entry. */
struct cts_trc_walk {
    enum cts_trc_format format;
    bool in_launch; /* 2017: records come, not a name */
    const uint8_t *at, *end;
    const uint8_t *entry; /* where the last entry began */
    struct cts_trc_group group;
    const char *name; /* of the last kernel; not NUL-terminated */
    size_t name_bytes;
};

/* What the bytes of a file are, and where its first entry is. */
enum cts_trc_format cts_trc_format_of(const uint8_t *bytes, size_t byte_count,
                                      size_t *header_bytes);

enum cts_trc_entry cts_trc_next(struct cts_trc_walk *walk);

/* Gives back the memory of mapped pages that have been walked over, up to walk->at, in steps of
 * CTS_TRC_WINDOW_BYTES; *from is where to begin, and moves. Reading them again reads the file. */
enum { CTS_TRC_WINDOW_BYTES = 64 << 20 };
void cts_trc_leave(const struct cts_trc_walk *walk, const uint8_t **from);

/* ---- what a descriptor says ---- */

static inline uint32_t cts_trc_sm(uint64_t descriptor)
{
    return (uint32_t)(descriptor >> 32);
}
static inline uint32_t cts_trc_size_bytes(uint64_t descriptor)
{
    return (uint32_t)descriptor & 0x0fffffff;
}
static inline unsigned cts_trc_type(uint64_t descriptor)
{
    return (unsigned)(descriptor >> 28) & 15;
}
/* 0: the type is none. */
static inline unsigned cts_trc_operation(enum cts_trc_format format, unsigned type)
{
    if (format == CTS_TRC_2017 || format == CTS_TRC_2017_REVERSED)
        return type <= CTS_ATOMIC_XOR ? type
                                      : 0; /* table 5.1; enum cts_operation has its numbers */
    return type == 0 ? CTS_LOAD : type == 1 ? CTS_STORE : type == 2 ? CTS_ATOMIC_OTHER : 0;
}
static inline bool cts_trc_size_fits(uint32_t size_bytes)
{
    return size_bytes >= 1 && size_bytes <= CTS_TRC_SIZE_MAX_BYTES;
}
/* Whether no access of a record extends past the address space. */
static inline bool cts_trc_address_fits(uint64_t address, uint64_t record_bytes)
{
    return address <= UINT64_MAX - record_bytes;
}
static inline uint32_t cts_trc_cta_x(uint64_t cta)
{
    return (uint32_t)(cta >> 32);
}
static inline uint32_t cts_trc_cta_y(uint64_t cta)
{
    return (uint32_t)(cta >> 16) & 0xffff;
}
static inline uint32_t cts_trc_cta_z(uint64_t cta)
{
    return (uint32_t)cta & 0xffff;
}

#endif
