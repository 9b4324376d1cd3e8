/* Random kernels for tests of access files: sites whose addresses follow from CTA, warp and lane in
 * all the ways that the codec knows, and some that it does not. */
#ifndef CTS_TESTS_ACC_RANDOM_H
#define CTS_TESTS_ACC_RANDOM_H

#include "acc-fixture.h"

/* A site of a random kernel: how its addresses follow from CTA, warp and lane. */
struct random_site {
    uint32_t site;
    uint8_t space, kind, value_words;
    uint64_t base, cta_stride, warp_stride;
    int64_t lane_stride, row_stride;
    unsigned row_lanes;
};

enum { KIND_AFFINE, KIND_UNIFORM, KIND_ROWS, KIND_GATHER, KIND_FIXED_LIST, KIND_WILD, KIND_COUNT };

static inline struct random_site random_site(struct random *random, uint32_t site, bool values)
{
    static const uint8_t spaces[] = {CTS_SPACE_GLOBAL, CTS_SPACE_GLOBAL, CTS_SPACE_SHARED,
                                     CTS_SPACE_CONSTANT, CTS_SPACE_LOCAL};
    static const int64_t strides[] = {4,         8, 1, 16, -4, 0, 1000, 100000000, -2147483648ll,
                                      5000000000};
    return (struct random_site){
        .site = site * (random_below(random, 4) ? 1 : 77777),
        .space = spaces[random_below(random, 5)],
        .kind = (uint8_t)random_below(random, KIND_COUNT),
        .value_words = (uint8_t)(values ? random_below(random, 5) * random_below(random, 5) : 0),
        .base = (random_next(random) >> 17) + 4096,
        .cta_stride = random_below(random, 3) ? random_below(random, 4096) : 0,
        .warp_stride = random_below(random, 3) ? random_below(random, 65536) : 0,
        .lane_stride = strides[random_below(random, 10)],
        .row_stride = strides[random_below(random, 10)] * 3,
        .row_lanes = 2 + random_below(random, 30),
    };
}

static inline uint64_t site_address(const struct random_site *site, struct random *random,
                                    uint32_t cta, unsigned warp, unsigned lane)
{
    const uint64_t base = site->base + cta * site->cta_stride + warp * site->warp_stride;
    switch (site->kind) {
    case KIND_UNIFORM:
        return base;
    case KIND_AFFINE:
        return base + (uint64_t)site->lane_stride * lane;
    case KIND_ROWS:
        return base + (uint64_t)site->lane_stride * (lane % site->row_lanes) +
               (uint64_t)site->row_stride * (lane / site->row_lanes);
    case KIND_GATHER:
        return base + 4ull * random_below(random, 1 << 20);
    case KIND_FIXED_LIST:
        return base + 8ull * (lane * 2654435761u >> 20);
    default:
        return random_next(random) >> random_below(random, 60) | 1;
    }
}

/* Mostly full or the left or right part of a warp; now and then any lanes. */
static inline uint32_t random_mask(struct random *random)
{
    switch (random_below(random, 8)) {
    case 0:
        return UINT32_MAX >> random_below(random, 32);
    case 1:
        return UINT32_MAX << random_below(random, 32);
    case 2:
        return (uint32_t)random_next(random) | 1u << random_below(random, 32);
    case 3:
        return 0xfffefffeu;
    default:
        return UINT32_MAX;
    }
}

enum { SITES_MAX = 12, WARPS_MAX = 9 };

/* A kernel: its sites, and a mask per site and warp for CTAs inside and at the border. */
struct random_kernel {
    struct random_site sites[SITES_MAX];
    unsigned site_count, warp_count, loop_count, grid_width;
    bool changes_masks;
    uint32_t masks[2][WARPS_MAX][SITES_MAX];
};

static inline struct random_kernel random_kernel(struct random *random, bool values)
{
    struct random_kernel kernel = {
        .site_count = 1 + random_below(random, SITES_MAX),
        .warp_count = 1 + random_below(random, WARPS_MAX),
        .loop_count = random_below(random, 4) ? 1 : 1 + random_below(random, 40),
        .grid_width = 1 + random_below(random, 20),
        .changes_masks = random_below(random, 4) == 0,
    };
    for (unsigned s = 0; s < kernel.site_count; s++)
        kernel.sites[s] = random_site(random, s, values);
    for (unsigned border = 0; border < 2; border++)
        for (unsigned w = 0; w < kernel.warp_count; w++)
            for (unsigned s = 0; s < kernel.site_count; s++)
                kernel.masks[border][w][s] = border ? random_mask(random) : UINT32_MAX;
    return kernel;
}

static inline void record_one(struct cts_stream *stream, struct expected_list *list,
                              struct random *random, const struct expected *prototype)
{
    struct expected *const record = expected_add(list);
    *record = *prototype;
    uint64_t values[CTS_WARP_LANES * CTS_STREAM_VALUE_WORDS_MAX];
    const unsigned lanes = (unsigned)__builtin_popcount(record->mask);
    for (unsigned i = 0; i < lanes * record->value_words; i++)
        values[i] = random_next(random) >> random_below(random, 64);
    record->first_value = expected_add_values(list, values, lanes * record->value_words);
    list->access_count += lanes;
    cts_stream_add(stream, &(struct cts_stream_row){.site = record->site,
                                                    .space = record->space,
                                                    .warp = record->warp,
                                                    .mask = record->mask,
                                                    .addresses = record->addresses,
                                                    .value_words = record->value_words,
                                                    .values = record->value_words ? values : NULL});
}

static inline void record_cta(struct cts_stream *stream, struct expected_list *list,
                              struct random *random, const struct random_kernel *kernel,
                              uint32_t launch, uint32_t cta)
{
    const bool at_border = cta % kernel->grid_width == 0;
    cts_stream_begin_cta(stream, launch, cta);
    for (unsigned loop = 0; loop < kernel->loop_count; loop++) {
        for (unsigned warp = 0; warp < kernel->warp_count; warp++) {
            for (unsigned s = 0; s < kernel->site_count; s++) {
                const struct random_site *const site = &kernel->sites[s];
                struct expected record = {
                    .launch = launch,
                    .cta = cta,
                    .site = site->site,
                    .warp = (uint16_t)(warp * 7001),
                    .space = site->space,
                    .value_words = site->value_words,
                    .mask = kernel->changes_masks ? random_mask(random)
                                                  : kernel->masks[at_border][warp][s],
                };
                for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++)
                    record.addresses[lane] = site_address(site, random, cta, warp, lane);
                record_one(stream, list, random, &record);
            }
        }
    }
    cts_stream_end_cta(stream);
}

/* Three launches of random kernels, 5 to 7. */
static inline void record_random_launches(struct cts_stream *stream, struct expected_list *list,
                                          struct random *random)
{
    for (uint32_t launch = 5; launch < 8; launch++) {
        const struct random_kernel kernel = random_kernel(random, launch == 6);
        uint32_t cta = random_below(random, 100);
        const unsigned step = 1 + random_below(random, 2) * random_below(random, 9);
        const unsigned cta_count = 1 + random_below(random, 60);
        for (unsigned i = 0; i < cta_count; i++, cta += step) {
            record_cta(stream, list, random, &kernel, launch, cta);
            if (random_below(random, 16) == 0) cta = random_below(random, 1000);
        }
        if (random_below(random, 2)) cts_stream_flush(stream);
    }
}

#endif
