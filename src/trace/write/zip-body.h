/* The pattern recogniser, included once per instruction set by zip.c, which defines before:
 *
 *   ZIP_TARGET        the function attribute that allows the instructions
 *   ZIP(name)         the name of a function of this set
 *   active_lanes      mask of the lanes of a row that are not 0
 *   step_breaks       bit l: row[l + 1] - row[l] != step, for l in 0..30
 *   affine_breaks     bit l: row[l] != base + s0 * l
 *   two_level_breaks  bit l: row[l] != base + s0 * (l % w) + s1 * (l / w)
 *   gather_list       the active lanes' distances from the least address; false: beyond 32 bits
 *   even_rows         a short cut for the usual full warps: 32 (affine), 16 or 8 (two-level, of so
 *                     many lanes in a row); 0: not one of them, or not seen
 *   clear_row         sets a row to 0
 *
 * A full warp is decided by the differences of neighbours alone: all equal is affine; if they
 * break, it must be after every w-th lane, and by the same amount. A partial warp takes its stride
 * from its first two lanes, and w from the first lane that breaks: the power of two below it, since
 * a row's first lanes may be inactive, or else that very lane. What matches neither is a list; what
 * is too far apart for a list is split by lanes. */

ZIP_TARGET static inline void ZIP(keep_values)(struct cts_acc_segment *segment,
                                               const struct cts_zip_row *row, uint32_t mask)
{
    const uint64_t *from = row->values;
    uint64_t *const to = segment->values + segment->value_count;
    if (mask == row->value_lanes) { /* but for rows that are split */
        const uint32_t count = (uint32_t)__builtin_popcount(mask) * row->value_words;
        for (uint32_t i = 0; i < count; i++) to[i] = from[i];
        segment->value_count += count;
        return;
    }
    for (uint32_t rest = row->value_lanes; rest; rest &= rest - 1, from += row->value_words) {
        if (!(mask & rest & -rest)) continue;
        memcpy(segment->values + segment->value_count, from, row->value_words * sizeof *from);
        segment->value_count += row->value_words;
    }
}

ZIP_TARGET static inline void ZIP(emit)(struct cts_acc_segment *segment,
                                        const struct cts_zip_row *row, uint32_t mask,
                                        enum cts_pattern pattern, unsigned row_lanes, uint64_t s0,
                                        uint64_t s1, uint64_t base)
{
    const uint32_t i = segment->record_count++;
    segment->shapes[i] = (struct cts_acc_shape){
        .site = row->site,
        .mask = mask,
        .s0 = (int32_t)s0,
        .s1 = (int32_t)s1,
        .warp = row->warp,
        .kind = cts_acc_kind(row->space, pattern, row_lanes, row->value_words),
    };
    segment->bases[i] = base - row->origin;
    if (row->values) ZIP(keep_values)(segment, row, mask);
}

ZIP_TARGET static inline bool ZIP(emit_affine)(struct cts_acc_segment *segment,
                                               const struct cts_zip_row *row, uint32_t mask,
                                               uint64_t s0, uint64_t base)
{
    if (!is_stride(s0)) return false;
    ZIP(emit)
    (segment, row, mask, s0 ? CTS_PATTERN_AFFINE : CTS_PATTERN_UNIFORM, 0, s0, 0, base);
    return true;
}

ZIP_TARGET static inline bool ZIP(recognise_full)(struct cts_acc_segment *segment,
                                                  const struct cts_zip_row *row,
                                                  const uint64_t *addresses)
{
    const uint64_t s0 = addresses[1] - addresses[0];
    const uint32_t breaks = ZIP(step_breaks)(addresses, s0);
    if (!breaks) return ZIP(emit_affine)(segment, row, UINT32_MAX, s0, addresses[0]);
    const unsigned w = (unsigned)__builtin_ctz(breaks) + 1;
    if (breaks != row_ends[w]) return false;
    if (ZIP(step_breaks)(addresses, addresses[w] - addresses[w - 1]) & breaks) return false;
    const uint64_t s1 = addresses[w] - addresses[0];
    if (!is_stride(s0) || !is_stride(s1)) return false;
    ZIP(emit)(segment, row, UINT32_MAX, CTS_PATTERN_TWO_LEVEL, w, s0, s1, addresses[0]);
    return true;
}

ZIP_TARGET static inline bool ZIP(try_two_level)(struct cts_acc_segment *segment,
                                                 const struct cts_zip_row *row, uint32_t mask,
                                                 const uint64_t *addresses, uint64_t s0,
                                                 uint64_t base, unsigned w, unsigned lane)
{
    const uint64_t s1 = addresses[lane] - base - s0 * (lane % w);
    const unsigned last = 31 - (unsigned)__builtin_clz(mask); /* tells most lists apart at once */
    if (addresses[last] != base + s0 * (last % w) + s1 * (last / w)) return false;
    if (!is_stride(s1) || ZIP(two_level_breaks)(addresses, base, s0, s1, w) & mask) return false;
    ZIP(emit)(segment, row, mask, CTS_PATTERN_TWO_LEVEL, w, s0, s1, base);
    return true;
}

ZIP_TARGET static inline bool ZIP(recognise_partial)(struct cts_acc_segment *segment,
                                                     const struct cts_zip_row *row, uint32_t mask,
                                                     const uint64_t *addresses)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const uint32_t others = mask & (mask - 1);
    if (!others) return ZIP(emit_affine)(segment, row, mask, 0, addresses[first]);
    const unsigned second = (unsigned)__builtin_ctz(others);
    uint64_t s0 = addresses[second] - addresses[first];
    if (!divide_stride(&s0, second - first)) return false;
    const uint64_t base = addresses[first] - s0 * first;
    const uint32_t breaks = ZIP(affine_breaks)(addresses, base, s0) & mask;
    if (!breaks) return ZIP(emit_affine)(segment, row, mask, s0, base);
    const unsigned lane = (unsigned)__builtin_ctz(breaks); /* at least 2 */
    const unsigned power = 1u << (31 - __builtin_clz(lane));
    return ZIP(try_two_level)(segment, row, mask, addresses, s0, base, power, lane) ||
           (power != lane &&
            ZIP(try_two_level)(segment, row, mask, addresses, s0, base, lane, lane));
}

ZIP_TARGET static void ZIP(recognise)(struct cts_acc_segment *segment,
                                      const struct cts_zip_row *row, uint32_t mask,
                                      const uint64_t *addresses);

/* Rare: lanes that do not fit into one record become several, each of lanes that do. */
ZIP_TARGET __attribute__((noinline)) static void ZIP(split)(struct cts_acc_segment *segment,
                                                            const struct cts_zip_row *row,
                                                            uint32_t mask,
                                                            const uint64_t *addresses)
{
    while (mask) {
        const uint32_t part = near_lanes(mask, addresses);
        ZIP(recognise)(segment, row, part, addresses);
        mask &= ~part;
    }
}

ZIP_TARGET static inline void ZIP(emit_list)(struct cts_acc_segment *segment,
                                             const struct cts_zip_row *row, uint32_t mask,
                                             const uint64_t *addresses)
{
    uint64_t base;
    if (!ZIP(gather_list)(addresses, mask, segment->offsets + segment->offset_count, &base)) {
        ZIP(split)(segment, row, mask, addresses);
        return;
    }
    segment->offset_count += (uint32_t)__builtin_popcount(mask);
    ZIP(emit)(segment, row, mask, CTS_PATTERN_LIST, 0, 0, 0, base);
}

ZIP_TARGET static void ZIP(recognise)(struct cts_acc_segment *segment,
                                      const struct cts_zip_row *row, uint32_t mask,
                                      const uint64_t *addresses)
{
    const bool known = mask == UINT32_MAX ? ZIP(recognise_full)(segment, row, addresses)
                                          : ZIP(recognise_partial)(segment, row, mask, addresses);
    if (!known) ZIP(emit_list)(segment, row, mask, addresses);
}

ZIP_TARGET static inline bool ZIP(recognise_even)(struct cts_acc_segment *segment,
                                                  const struct cts_zip_row *row,
                                                  const uint64_t *addresses)
{
    const unsigned w = ZIP(even_rows)(addresses);
    if (!w) return false;
    const uint64_t s0 = addresses[1] - addresses[0];
    if (w == CTS_WARP_LANES) return ZIP(emit_affine)(segment, row, UINT32_MAX, s0, addresses[0]);
    const uint64_t s1 = addresses[w] - addresses[0];
    if (!is_stride(s0) || !is_stride(s1)) return false;
    ZIP(emit)(segment, row, UINT32_MAX, CTS_PATTERN_TWO_LEVEL, w, s0, s1, addresses[0]);
    return true;
}

/* The lanes of a row whose space is found at run time, by space. */
ZIP_TARGET static void ZIP(recognise_generic_space)(struct cts_acc_segment *segment,
                                                    const struct cts_row_batch *batch,
                                                    struct cts_zip_row row, uint32_t mask,
                                                    const uint64_t *addresses)
{
    const uint32_t shared =
        lanes_in_window(addresses, mask, batch->shared_base, batch->shared_bytes);
    row.space = CTS_SPACE_GLOBAL;
    if (mask & ~shared) ZIP(recognise)(segment, &row, mask & ~shared, addresses);
    row.space = CTS_SPACE_SHARED;
    row.origin = batch->shared_base;
    if (shared) ZIP(recognise)(segment, &row, shared, addresses);
}

ZIP_TARGET static uint32_t ZIP(rows)(struct cts_acc_segment *segment,
                                     const struct cts_row_batch *batch, uint32_t slot)
{
    for (; slot < batch->slot_count && !cts_segment_is_full(segment); slot++) {
        uint64_t *const addresses = batch->lanes + (size_t)slot * CTS_WARP_LANES;
        const uint8_t space = batch->spaces[slot];
        const struct cts_zip_row row = {
            .site = batch->sites[slot],
            .warp = batch->warp,
            .space = space,
            .origin = space == CTS_SPACE_SHARED ? batch->shared_base : 0,
        };
        if (space == CTS_SPACE_GENERIC || !ZIP(recognise_even)(segment, &row, addresses)) {
            const uint32_t mask = ZIP(active_lanes)(addresses);
            if (!mask) continue;
            if (space == CTS_SPACE_GENERIC)
                ZIP(recognise_generic_space)(segment, batch, row, mask, addresses);
            else
                ZIP(recognise)(segment, &row, mask, addresses);
        }
        ZIP(clear_row)(addresses);
    }
    return slot;
}

ZIP_TARGET static void ZIP(one)(struct cts_acc_segment *segment, const struct cts_zip_row *row,
                                uint32_t mask, const uint64_t *addresses)
{
    if (mask != UINT32_MAX || !ZIP(recognise_even)(segment, row, addresses))
        ZIP(recognise)(segment, row, mask, addresses);
}

#undef ZIP
#undef ZIP_TARGET
