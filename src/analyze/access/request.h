/* What one request costs. A *request* is a warp's execution of a memory instruction: up to 32 lanes
 * with an address each.
 *
 * Global and local memory move in sectors of 32 bytes; the ideal of a request is ceil(distinct
 * bytes / 32). Local memory is interleaved: word w (4 bytes) of lane l lies beside word w of lane
 * l + 1, and the addresses of a record are offsets in the frames of its lanes. Shared memory has 32
 * banks: a request goes in phases of 32 lanes (up to 4 bytes a lane), 16 (8 bytes) or 8 (16 bytes),
 * and a phase takes as many *wavefronts* as the bank with the most distinct words needs; lanes that
 * read the same word do not conflict. A load whose lanes have one address in pairs (all l and l + 1
 * of an even l, or all l and l + 2 of the first two of four; a lane that is not active suits any)
 * goes in phases of twice as many lanes: so an H200 counts, see docs/access.md. */
#ifndef CTS_ACCESS_REQUEST_H
#define CTS_ACCESS_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "trace/access.h"

enum { CTS_SECTOR_BYTES = 32, CTS_LINE_BYTES = 128, CTS_BANKS = 32, CTS_WIDTH_MAX = 64 };
enum { CTS_LOCAL_WORD_BYTES = 4 };
enum { CTS_ROW_WIDTH_MAX = 2048 }; /* of rows of a tensor copy */

/* How the addresses of consecutive active lanes lie. */
#define CTS_LANE_LAYOUTS(X)                                                                        \
    X(UNIFORM, "uniform") /* one address */                                                        \
    X(DENSE, "dense")     /* side by side, in either direction */                                  \
    X(STRIDED, "strided") /* a constant distance otherwise, also of lanes that are not there */    \
    X(TWO_LEVEL, "two-level") /* rows of a constant distance */                                    \
    X(IRREGULAR, "irregular")

enum cts_lane_layout {
#define X(name, text) CTS_LAYOUT_##name,
    CTS_LANE_LAYOUTS(X)
#undef X
        CTS_LAYOUT_COUNT
};
const char *cts_lane_layout_text(enum cts_lane_layout layout);

struct cts_request_cost {
    uint8_t lanes;                               /* active */
    uint8_t layout;                              /* enum cts_lane_layout */
    uint8_t same_address;                        /* most lanes at one address */
    uint16_t wavefronts, ideal_wavefronts, ways; /* shared memory; ways: of the worst phase */
    uint16_t sectors, lines;                     /* other memory */
    uint32_t distinct_bytes;
    int64_t stride_bytes; /* strided, and two-level without such rows: between neighbouring lanes */
    uint8_t row_lanes;    /* two-level, lanes of a row side by side, or at one address: lanes of a
                             row; else 0 */
    bool row_is_uniform;  /* at one address */
    bool is_compact;      /* irregular, but the bytes are adjacent: in another order than the lanes,
                             or to some of the lanes only */
    bool is_gapped;       /* dense, and the sectors begin with lane 0, or the last of 32: all lanes
                             would not touch more of them than they need */
    int32_t row_pitch_bytes; /* of such rows: from one to the next */
};

/* `width_bytes` 1 to CTS_WIDTH_MAX, of a box's record to CTS_ROW_WIDTH_MAX; mask not 0;
 * `bank_bytes` is 4 or 8; loads: it is no store and no atomic. */
struct cts_request_cost cts_request_cost(const struct cts_access *access, uint32_t width_bytes,
                                         unsigned bank_bytes, bool loads);

/* Costs of regular requests are remembered: they depend on the pattern and on where the base lies
 * in a few lines. One memory per thread. Zero-initialise. */
enum { CTS_COST_SLOTS = 1 << 12 };
struct cts_cost_memory {
    struct cts_cost_slot {
        uint64_t key[3];
        struct cts_request_cost cost;
        bool used;
    } slots[CTS_COST_SLOTS];
    struct cts_cost_list { /* the last list of offsets: of a load, whose store often follows */
        bool used, loads;
        uint8_t space;
        uint32_t mask, width_bytes;
        uint64_t base;
        uint32_t offsets[CTS_WARP_LANES];
        uint64_t sorted[CTS_WARP_LANES]; /* ascending, from `base` on */
        struct cts_request_cost cost;
    } list;
};
struct cts_request_cost cts_request_cost_remembered(struct cts_cost_memory *memory,
                                                    const struct cts_access *access,
                                                    uint32_t width_bytes, unsigned bank_bytes,
                                                    bool loads);

#endif
