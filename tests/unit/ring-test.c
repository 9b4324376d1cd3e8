/* The ring: producers on CPU threads, with the code that the patches are made of, against a model.
 * What arrives in the access files is what was sent, nothing lost, and in each warp's order; small
 * bins make producers wait and positions wrap round many times. */
#include <pthread.h>
#include <stdatomic.h>

#include "acc-random.h"
#include "record/ring/batch.h"
#include "record/ring/consumer.h"
#include "record/ring/producer.h"
#include "record/ring/values.h"

enum { THREADS = 4, CTAS = 24, RECORDS_OF_CTA = 300, SITES = 8, LAUNCHES = 3 };

/* ---- names ---- */

struct told {
    atomic_uint_fast64_t records[LAUNCHES], accesses[LAUNCHES];
    bool by_warp;
    uint32_t unknown; /* a launch that nobody knows */
};

static bool launch_of(void *state, uint32_t number, uint32_t *launch, bool *by_warp)
{
    const struct told *const told = state;
    if (number == told->unknown || number >= LAUNCHES) return false;
    *launch = number + 100;
    *by_warp = told->by_warp;
    return true;
}

static uint32_t site_of(void *state, const struct cts_ring_record *record)
{
    (void)state;
    return record->pc < SITES ? record->pc : CTS_NONE;
}

static void count(void *state, uint32_t number, const struct cts_stream_counts *counts)
{
    struct told *const told = state;
    atomic_fetch_add(&told->records[number], counts->records);
    atomic_fetch_add(&told->accesses[number], counts->accesses);
}

/* ---- what is sent ---- */

static uint32_t hash(uint32_t x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

enum { BLOCK = CTS_RING_REPEATS_MAX };
_Static_assert((int)BLOCK == (int)SITES, "sites of a block follow one another");

/* How many records with which a block of a CTA's begins are alike but for their distance; 0: none.
 * `is_repeated`: they are sent as one. */
static uint32_t alike_in_block(uint32_t launch, uint32_t cta, uint32_t block, bool *is_repeated)
{
    const uint32_t random = hash(launch * 7919u + cta * 104729u + block), rest = RECORDS_OF_CTA;
    const uint32_t count = 2 + (random >> 4) % (BLOCK - 1);
    *is_repeated = random >> 8 & 1;
    if (random % 3 == 0) return 0;
    return count < rest - block * BLOCK ? count : rest - block * BLOCK;
}

/* Record `k` of those that are alike in a block; record 0 and the distance say all of it. */
static struct cts_ring_record alike_record(uint32_t launch, uint32_t cta, uint32_t block,
                                           uint32_t k, int32_t *distance)
{
    const uint32_t random = hash(launch * 31337u + cta * 7u + block * 65537u);
    struct cts_ring_record record = {
        .base = (uint64_t)1 << 40 | random,
        .mask = UINT32_MAX,
        .cta = cta,
        .pc = k,
        .launch = launch,
        .warp = (uint8_t)(random % 7),
        .operation = CTS_RING_AS_SITE,
        .pattern = (uint8_t)(random >> 9 & 3),
    };
    if (record.pattern == CTS_RING_LIST) record.pattern = CTS_RING_AFFINE;
    if (record.pattern != CTS_RING_UNIFORM) record.s0 = random & 4096 ? 8 : -12;
    if (record.pattern == CTS_RING_TWO_LEVEL) record.s1 = 256 << (random & 7), record.row_lanes = 8;
    *distance = random & 1 << 20 ? (int32_t)hash(random) : random & 1 << 21 ? 0 : 16;
    record.base += (uint64_t)(int64_t)*distance * k;
    return record;
}

/* The record number `i` of a CTA, as the collector keeps it: its pattern depends on `i`. */
static struct cts_ring_record record_of(uint32_t launch, uint32_t cta, uint32_t i,
                                        int32_t offsets[CTS_WARP_LANES])
{
    bool is_repeated;
    int32_t distance;
    if (i % BLOCK < alike_in_block(launch, cta, i / BLOCK, &is_repeated))
        return alike_record(launch, cta, i / BLOCK, i % BLOCK, &distance);
    const uint32_t random = hash(launch * 1000003u + cta * 65537u + i);
    struct cts_ring_record record = {
        .base = (uint64_t)cta << 20 | (uint64_t)i << 8,
        .mask = i % 5 ? UINT32_MAX : random | 1,
        .cta = cta,
        .pc = i % SITES,
        .launch = launch,
        .warp = (uint8_t)(random % 7),
        .operation = (uint8_t)(i % 7 == 3    ? CTS_RING_STORE
                               : i % 31 == 5 ? CTS_RING_ATOMIC
                                             : CTS_RING_LOAD),
        .pattern = (uint8_t)(random >> 8 & 3),
        .width_log2 = (uint8_t)(random >> 16 & 3),
    };
    if (i % 6 == 1) record.width_log2 = 4;
    if (record.pattern == CTS_RING_AFFINE) record.s0 = i % 3 ? 4 : -4;
    if (record.pattern == CTS_RING_AFFINE && i % 13 == 0) record.s0 *= 0x14000000;
    if (i % 13 == 0) record.base += (uint64_t)1 << 40; /* for what goes down so far */
    if (record.pattern == CTS_RING_AFFINE && i % 3 == 0) record.base += 1 << 16;
    if (record.pattern == CTS_RING_TWO_LEVEL) {
        record.s0 = 4;
        record.s1 = i % 13 ? 4096 : -0x50000000;
        record.row_lanes = 16;
        record.mask = UINT32_MAX;
    }
    if (record.pattern == CTS_RING_LIST)
        for (uint32_t l = 0; l < CTS_WARP_LANES; l++)
            offsets[l] = (int32_t)(hash(random + l) % 100000) - (l ? 20000 : 0);
    if (record.pattern == CTS_RING_LIST) offsets[0] = 0, record.base += 1 << 18;
    return record;
}

/* Some records have values, of all widths. */
static bool has_values(const struct cts_ring_record *record)
{
    return record->operation != CTS_RING_AS_SITE && hash((uint32_t)record->base) % 3 == 0;
}
static void value_of(const struct cts_ring_record *record, uint32_t lane, uint32_t value[4])
{
    const uint32_t bytes = 1u << record->width_log2;
    for (uint32_t w = 0; w < 4; w++)
        value[w] = w * 4 < bytes ? hash((uint32_t)record->base + lane * 4 + w) : 0;
    if (bytes < 4) value[0] &= (1u << bytes * 8) - 1;
    if (lane == 5) memset(value, 0xff, bytes); /* bits 31 of all words */
}

static void addresses_of(const struct cts_ring_record *record, const int32_t *offsets,
                         uint64_t addresses[CTS_WARP_LANES])
{
    uint32_t k = 0;
    for (uint32_t l = 0; l < CTS_WARP_LANES; l++) {
        const uint32_t w = record->row_lanes ? record->row_lanes : CTS_WARP_LANES;
        addresses[l] = 0;
        if (!(record->mask >> l & 1)) continue;
        addresses[l] = record->pattern == CTS_RING_LIST
                           ? record->base + (uint64_t)(int64_t)offsets[k++]
                           : record->base + (uint64_t)((int64_t)record->s0 * (l % w)) +
                                 (uint64_t)((int64_t)record->s1 * (l / w));
    }
}

/* ---- producers ---- */

struct ring {
    struct cts_ring_bins bins;
    struct cts_ring_bin *heads;
};

static void make_ring(struct ring *ring, uint32_t bin_count, uint32_t slots_log2)
{
    const size_t slots = (size_t)bin_count << slots_log2;
    ring->bins =
        (struct cts_ring_bins){.slots = aligned_alloc(64, slots * CTS_RING_SLOT_BYTES),
                               .tails = calloc(bin_count, CTS_RING_TAIL_STRIDE * sizeof(uint64_t)),
                               .bin_count = bin_count,
                               .slots_log2 = slots_log2};
    ring->heads = calloc(bin_count, sizeof *ring->heads);
    assert_non_null(ring->bins.slots);
    memset(ring->bins.slots, 0, slots * CTS_RING_SLOT_BYTES);
    for (uint32_t b = 0; b < bin_count; b++) {
        ring->heads[b].slots =
            (uintptr_t)(ring->bins.slots + ((size_t)b << slots_log2) * CTS_RING_SLOT_WORDS);
        ring->heads[b].tail = (uintptr_t)(ring->bins.tails + (size_t)b * CTS_RING_TAIL_STRIDE);
    }
}

static void free_ring(struct ring *ring)
{
    free(ring->bins.slots);
    free(ring->bins.tails);
    free(ring->heads);
}

static void send(const struct ring *ring, uint32_t bin_index, const struct cts_ring_record *record,
                 const int32_t *offsets)
{
    struct cts_ring_bin *const bin = ring->heads + bin_index;
    const uint32_t log2 = ring->bins.slots_log2;
    const uint32_t lanes =
        record->pattern == CTS_RING_LIST ? (uint32_t)__builtin_popcount(record->mask) : 0;
    const uint32_t active = (uint32_t)__builtin_popcount(record->mask);
    const uint32_t bytes = 1u << record->width_log2;
    const uint32_t value_slots = has_values(record) ? cts_ring_value_slots(active, bytes) : 0;
    const uint64_t position = cts_ring_reserve(bin, cts_ring_slots(lanes) + value_slots, log2);
    if (value_slots)
        cts_ring_store_valued(bin, position, log2, record);
    else
        cts_ring_store(bin, position, log2, record);
    for (uint32_t l = CTS_WARP_LANES, k = active; value_slots && l-- > 0;) {
        uint32_t value[4];
        if (!(record->mask >> l & 1)) continue;
        value_of(record, l, value);
        cts_ring_store_value(&(struct cts_ring_place){bin, position, log2},
                             &(struct cts_ring_lane_value){value, bytes, lanes, active, --k});
    }
    for (uint32_t k = lanes; k-- > 0;) /* in no particular order, as on a GPU */
        cts_ring_store_offset(bin, position, log2, k, offsets[k]);
    if (lanes) cts_ring_fill_offsets(bin, position, log2, lanes);
}

/* One slot, as lanes of a GPU store it. */
static void send_repeated(const struct ring *ring, uint32_t bin_index,
                          struct cts_ring_record record, uint32_t count, int32_t distance)
{
    struct cts_ring_bin *const bin = ring->heads + bin_index;
    const uint32_t log2 = ring->bins.slots_log2;
    const uint64_t position = cts_ring_reserve(bin, 1, log2);
    record.mask = (uint32_t)distance;
    struct cts_ring_words words = cts_ring_pack(&record, cts_ring_parity(position, log2));
    cts_ring_set_count(&words, count);
    cts_ring_store_half(cts_ring_slot(bin, position, log2) + 4, words.w + 4);
    cts_ring_store_half(cts_ring_slot(bin, position, log2), words.w);
}

struct producer {
    const struct ring *ring;
    uint32_t index;
    pthread_t thread;
};

/* A CTA belongs to one bin, and to one thread: what a warp does has an order. */
static void *produce(void *state)
{
    const struct producer *const producer = state;
    int32_t offsets[CTS_WARP_LANES];
    for (uint32_t launch = 0; launch < LAUNCHES; launch++)
        for (uint32_t i = 0; i < RECORDS_OF_CTA; i++)
            for (uint32_t cta = producer->index; cta < CTAS; cta += THREADS) {
                const uint32_t bin = cta % producer->ring->bins.bin_count;
                const struct cts_ring_record record = record_of(launch, cta, i, offsets);
                bool is_repeated;
                int32_t distance;
                const uint32_t alike = alike_in_block(launch, cta, i / BLOCK, &is_repeated);
                if (!is_repeated || i % BLOCK >= alike) {
                    send(producer->ring, bin, &record, offsets);
                } else if (i % BLOCK == 0) {
                    (void)alike_record(launch, cta, i / BLOCK, 0, &distance);
                    send_repeated(producer->ring, bin, record, alike, distance);
                }
            }
    return NULL;
}

/* ---- what arrived ---- */

struct seen {
    uint32_t next[LAUNCHES][CTAS][8];     /* the last record of each warp, plus one */
    uint32_t next_of_cta[LAUNCHES][CTAS]; /* all before it have arrived */
    bool has_arrived[LAUNCHES][CTAS][RECORDS_OF_CTA];
    uint64_t records;
    bool by_warp;
};

/* Which record of its CTA this one must be, sorted by warp: the next one of the warp. */
static struct cts_ring_record next_of_warp(uint32_t *next, const struct cts_access *access,
                                           int32_t offsets[CTS_WARP_LANES])
{
    struct cts_ring_record record;
    do {
        assert_true(*next < RECORDS_OF_CTA);
        record = record_of(access->launch - 100, access->cta, (*next)++, offsets);
    } while (record.warp != access->warp);
    return record;
}

/* And otherwise: of the loads up to the next other access, the warp's first; when all of them have
 * arrived, that access. */
static struct cts_ring_record next_of_cta(struct seen *seen, const struct cts_access *access,
                                          int32_t offsets[CTS_WARP_LANES])
{
    const uint32_t launch = access->launch - 100, cta = access->cta;
    uint32_t *const next = &seen->next_of_cta[launch][cta];
    bool *const has_arrived = seen->has_arrived[launch][cta];
    struct cts_ring_record record;
    for (uint32_t i = *next;; i++) {
        assert_true(i < RECORDS_OF_CTA);
        record = record_of(launch, cta, i, offsets);
        if (record.operation != CTS_RING_LOAD) {
            assert_int_equal(i, *next);
            assert_int_equal(record.warp, access->warp);
        }
        if (has_arrived[i] || record.warp != access->warp) continue;
        has_arrived[i] = true;
        break;
    }
    while (*next < RECORDS_OF_CTA && has_arrived[*next]) ++*next;
    return record;
}

static void check_values(const struct cts_access *access, const struct cts_ring_record *record)
{
    const uint32_t words = record->width_log2 > 3 ? 2 : 1;
    assert_int_equal(access->value_words, has_values(record) ? words : 0);
    const uint64_t *found = access->values;
    for (uint32_t rest = has_values(record) ? record->mask : 0; rest; rest &= rest - 1) {
        uint32_t value[4];
        value_of(record, (uint32_t)__builtin_ctz(rest), value);
        for (uint32_t w = 0; w < words; w++)
            assert_int_equal(*found++, (uint64_t)value[2 * w + 1] << 32 | value[2 * w]);
    }
}

static void check_access(struct seen *seen, const struct cts_access *access)
{
    const uint32_t launch = access->launch - 100, cta = access->cta;
    int32_t offsets[CTS_WARP_LANES];
    uint64_t expected[CTS_WARP_LANES], addresses[CTS_WARP_LANES] = {0};
    assert_true(launch < LAUNCHES && cta < CTAS && access->warp < 8);
    const struct cts_ring_record record =
        seen->by_warp ? next_of_warp(&seen->next[launch][cta][access->warp], access, offsets)
                      : next_of_cta(seen, access, offsets);
    assert_int_equal(record.warp, access->warp);
    addresses_of(&record, offsets, expected);
    cts_access_addresses(access, addresses);
    assert_int_equal(access->mask, record.mask);
    assert_int_equal(access->site, record.pc);
    assert_int_equal(access->space, CTS_SPACE_GLOBAL);
    for (uint32_t l = 0; l < CTS_WARP_LANES; l++)
        if (record.mask >> l & 1) assert_int_equal(addresses[l], expected[l]);
    check_values(access, &record);
    seen->records++;
}

static int by_place(const void *a, const void *b)
{
    const struct cts_acc_chunk *const x = a, *const y = b;
    if (x->file != y->file) return x->file < y->file ? -1 : 1;
    return (x->offset_bytes > y->offset_bytes) - (x->offset_bytes < y->offset_bytes);
}

/* All records, as they were written. */
static void read_run(const char *run_path, struct seen *seen)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    size_t chunk_count;
    if (cts_acc_open(run_path, &reader, &error)) fail_msg("%s", error.text);
    const struct cts_acc_chunk *const borrowed = cts_acc_chunks(reader, &chunk_count);
    struct cts_acc_chunk *const chunks = malloc((chunk_count + 1) * sizeof *chunks);
    assert_non_null(chunks);
    memcpy(chunks, borrowed, chunk_count * sizeof *chunks);
    qsort(chunks, chunk_count, sizeof *chunks, by_place);
    for (size_t c = 0; c < chunk_count; c++) {
        if (cts_acc_read(reader, chunks + c, &batch, &error)) fail_msg("%s", error.text);
        for (size_t i = 0; i < batch.record_count; i++) {
            const struct cts_access access = cts_acc_record(&batch, i);
            check_access(seen, &access);
        }
    }
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    free(chunks);
}

/* ---- the tests ---- */

static void run_ring(uint32_t bin_count, uint32_t slots_log2, uint32_t consumer_count,
                     struct told *told)
{
    struct fixture fixture;
    struct ring ring;
    struct producer producers[THREADS];
    struct cts_ring_consumers *consumers = NULL;
    struct cts_error error = {0};
    uint64_t lost = 0;
    const struct cts_ring_names names = {told, launch_of, site_of, count, NULL, NULL};
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){.values = true});
    make_ring(&ring, bin_count, slots_log2);
    if (cts_ring_start(
            &(struct cts_ring_options){
                .collector = collector, .count = consumer_count, .discard = false, .names = &names},
            &consumers, &error) ||
        cts_ring_add_bins(consumers, &ring.bins, &error))
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < THREADS; i++) {
        producers[i] = (struct producer){.ring = &ring, .index = i};
        assert_int_equal(pthread_create(&producers[i].thread, NULL, produce, producers + i), 0);
    }
    for (uint32_t i = 0; i < THREADS; i++) pthread_join(producers[i].thread, NULL);
    assert_true(cts_ring_drain(consumers, 60000));
    for (uint32_t b = 0; b < bin_count; b++) /* all that was reserved has been taken */
        assert_int_equal(ring.bins.tails[b * CTS_RING_TAIL_STRIDE],
                         ring.heads[b].head_and_tail >> 32);
    cts_ring_remove_bins(consumers, ring.bins.slots);
    free_ring(&ring);
    cts_ring_stop(consumers, &lost);
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    const uint64_t of_launch = (uint64_t)CTAS * RECORDS_OF_CTA;
    const bool all_known = told->unknown >= LAUNCHES;
    assert_int_equal(lost, all_known ? 0 : of_launch);
    struct seen seen = {.by_warp = told->by_warp};
    read_run(fixture.run_path, &seen);
    assert_int_equal(seen.records, (all_known ? LAUNCHES : LAUNCHES - 1) * of_launch);
    for (uint32_t l = 0; l < LAUNCHES; l++)
        assert_int_equal(told->records[l], l == told->unknown ? 0 : of_launch);
    fixture_remove(&fixture);
}

/* 64 slots: a list has five, and with values up to 25, so that producers wait and lists wrap round
 * all the time. */
static void test_small_bins_lose_nothing(void **state)
{
    (void)state;
    struct told told = {.unknown = UINT32_MAX};
    run_ring(3, 6, 2, &told);
}

static void test_order_of_each_warp_when_sorted_by_warp(void **state)
{
    (void)state;
    struct told told = {.unknown = UINT32_MAX, .by_warp = true};
    run_ring(5, 9, 3, &told);
}

static void test_large_bins(void **state)
{
    (void)state;
    struct told told = {.unknown = UINT32_MAX};
    run_ring(2, 15, 4, &told);
}

static void test_records_of_unknown_launches_are_counted(void **state)
{
    (void)state;
    struct told told = {.unknown = 1};
    run_ring(4, 8, 2, &told);
}

/* One taken when a batch has no room for eight more would overflow it. */
static void test_repeated_records_fill_batches(void **state)
{
    enum { LOG2 = 14, SLOTS = 1 << LOG2 };
    struct told told = {.unknown = UINT32_MAX};
    const struct cts_ring_names names = {&told, launch_of, site_of, count, NULL, NULL};
    struct cts_ring_consumers *consumers = NULL;
    struct cts_error error = {0};
    struct fixture fixture;
    struct ring ring;
    uint64_t lost = 0, sent = 0;
    (void)state;
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){.values = true});
    make_ring(&ring, 1, LOG2);
    for (uint32_t i = 0; i < SLOTS; i++) {
        int32_t distance;
        const struct cts_ring_record record = alike_record(0, i % 8, i, 0, &distance);
        const uint32_t alike = i % 5 == 0 ? 7 : 8;
        send_repeated(&ring, 0, record, alike, distance);
        sent += alike;
    }
    if (cts_ring_start(
            &(struct cts_ring_options){
                .collector = collector, .count = 1, .discard = false, .names = &names},
            &consumers, &error) ||
        cts_ring_add_bins(consumers, &ring.bins, &error))
        fail_msg("%s", error.text);
    assert_true(cts_ring_drain(consumers, 60000));
    cts_ring_remove_bins(consumers, ring.bins.slots);
    free_ring(&ring);
    cts_ring_stop(consumers, &lost);
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    assert_int_equal(lost, 0);
    assert_int_equal(told.records[0], sent);
    assert_int_equal(told.accesses[0], sent * CTS_WARP_LANES);
    fixture_remove(&fixture);
}

/* ---- tensor copies ---- */

/* A made-up tensor: words of the map are where it is, its rows and how far they are apart. */
static uint32_t touched_by(const struct cts_ring_copy *copy, struct cts_stream_box *box)
{
    box->base = copy->map[0] | (uint64_t)copy->point[4] << 32;
    box->box = (struct cts_box){.extents = {copy->map[1], 1, 1, 1},
                                .strides = {copy->map[15], 0, 0, 0},
                                .multicast = copy->multicast};
    return copy->point[0];
}

static uint32_t site_of_rows(void *state, const struct cts_ring_record *record, uint32_t row_bytes)
{
    (void)state;
    return row_bytes ? record->pc + row_bytes : CTS_NONE;
}

static struct cts_ring_copy random_copy(uint32_t i)
{
    struct cts_ring_copy copy;
    for (uint32_t k = 0; k < CTS_RING_MAP_WORDS; k++) copy.map[k] = hash(1000 * i + k);
    for (uint32_t k = 0; k < CTS_RING_POINT_WORDS; k++) copy.point[k] = hash(1000 * i + 99 + k);
    copy.map[1] = 1 + copy.map[1] % 32;
    copy.point[4] %= 1 << 16;
    copy.point[0] = i % 5;
    copy.multicast = hash(i) & 0xffff;
    return copy;
}

/* As the patch stores it. */
static void send_copy(const struct ring *ring, uint32_t i)
{
    struct cts_ring_bin *const bin = ring->heads;
    const uint32_t log2 = ring->bins.slots_log2;
    const struct cts_ring_copy copy = random_copy(i);
    const struct cts_ring_record record = {.mask = CTS_RING_COPY_MASK,
                                           .cta = 3,
                                           .s0 = (int32_t)(i % 32),
                                           .pc = 7,
                                           .warp = (uint8_t)(i % 3),
                                           .pattern = CTS_RING_LIST,
                                           .space = CTS_RING_BARRIER,
                                           .operation = CTS_RING_STORE,
                                           .width_log2 = 6};
    _Static_assert(CTS_RING_TENSOR_COPY == 1 << 6, "the width of a copy's record");
    const uint64_t position = cts_ring_reserve(bin, CTS_RING_COPY_SLOTS, log2);
    cts_ring_store(bin, position, log2, &record);
    for (uint32_t k = 0; k < CTS_RING_COPY_WORDS; k++)
        cts_ring_store_offset(bin, position, log2, k, (int32_t)cts_ring_copy_word(&copy, k));
}

static void check_copy(const struct cts_acc_batch *batch, size_t record, uint32_t i)
{
    const struct cts_ring_copy copy = random_copy(i);
    const struct cts_access access = cts_acc_record(batch, record);
    assert_int_equal(access.box, CTS_BOX_BEGINS);
    const struct cts_box box = cts_box_get(access.box_words);
    assert_int_equal(access.cta, 3);
    assert_int_equal(access.warp, i % 3);
    assert_int_equal(access.box_lane, i % 32);
    assert_int_equal(access.site, 7 + i % 5);
    assert_int_equal(access.base, copy.map[0] | (uint64_t)copy.point[4] << 32);
    assert_int_equal(box.extents[0], copy.map[1]);
    assert_int_equal(box.strides[0], copy.map[15]);
    assert_int_equal(box.multicast, copy.multicast);
}

static void check_copies(const char *run_path, uint32_t count_sent)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    size_t chunk_count, record = 0;
    if (cts_acc_open(run_path, &reader, &error)) fail_msg("%s", error.text);
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    assert_int_equal(chunk_count, 1);
    if (cts_acc_read(reader, chunks, &batch, &error)) fail_msg("%s", error.text);
    for (uint32_t i = 0; i < count_sent; i++) {
        if (i % 5 == 0) continue;
        check_copy(&batch, record++, i);
        while (record < batch.record_count && batch.box[record] == CTS_BOX_CONTINUES) record++;
    }
    assert_int_equal(record, batch.record_count);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
}

/* Each word arrives with all of its bits; a copy whose map is not known is counted as lost. */
static void test_tensor_copies_become_boxes(void **state)
{
    (void)state;
    enum { COPIES = 400 };
    struct fixture fixture;
    struct ring ring;
    struct told told = {.unknown = UINT32_MAX, .by_warp = false};
    const struct cts_ring_names names = {&told, launch_of,  site_of,
                                         count, touched_by, site_of_rows};
    struct cts_ring_consumers *consumers = NULL;
    struct cts_error error = {0};
    uint64_t lost = 0;
    fixture_make(&fixture);
    struct cts_collector *const collector =
        fixture_collector(&fixture, (struct cts_collector_options){0});
    make_ring(&ring, 1, 12);
    const struct cts_ring_options options = {.collector = collector, .count = 1, .names = &names};
    if (cts_ring_start(&options, &consumers, &error) ||
        cts_ring_add_bins(consumers, &ring.bins, &error))
        fail_msg("%s", error.text);
    for (uint32_t i = 0; i < COPIES; i++) send_copy(&ring, i);
    assert_true(cts_ring_drain(consumers, 60000));
    cts_ring_remove_bins(consumers, ring.bins.slots);
    free_ring(&ring);
    cts_ring_stop(consumers, &lost);
    assert_int_equal(lost, COPIES / 5);
    if (cts_collector_close(collector, &error)) fail_msg("%s", error.text);
    check_copies(fixture.run_path, COPIES);
    fixture_remove(&fixture);
}

/* ---- deliveries ---- */

/* A ring with its threads, while a program runs. */
struct live {
    struct fixture fixture;
    struct told told;
    struct cts_ring_names names;
    struct cts_collector *collector;
    struct cts_ring_consumers *consumers;
    struct ring ring;
};

static void begin_live(struct live *live, uint32_t bin_count, uint32_t slots_log2,
                       uint32_t consumer_count)
{
    struct cts_error error = {0};
    *live = (struct live){.told.unknown = UINT32_MAX};
    live->names = (struct cts_ring_names){&live->told, launch_of, site_of, count, NULL, NULL};
    fixture_make(&live->fixture);
    live->collector =
        fixture_collector(&live->fixture, (struct cts_collector_options){.values = true});
    make_ring(&live->ring, bin_count, slots_log2);
    const struct cts_ring_options options = {
        .collector = live->collector, .count = consumer_count, .names = &live->names};
    if (cts_ring_start(&options, &live->consumers, &error) ||
        cts_ring_add_bins(live->consumers, &live->ring.bins, &error))
        fail_msg("%s", error.text);
}

static void end_live(struct live *live)
{
    struct cts_error error = {0};
    uint64_t lost;
    assert_true(cts_ring_drain(live->consumers, 60000));
    cts_ring_remove_bins(live->consumers, live->ring.bins.slots);
    free_ring(&live->ring);
    cts_ring_stop(live->consumers, &lost);
    assert_int_equal(lost, 0);
    if (cts_collector_close(live->collector, &error)) fail_msg("%s", error.text);
    fixture_remove(&live->fixture);
}

static void send_plain(const struct live *live, uint32_t bin, uint32_t launch)
{
    const struct cts_ring_record record = {.base = 1 << 20,
                                           .mask = UINT32_MAX,
                                           .launch = launch,
                                           .s0 = 4,
                                           .pattern = CTS_RING_AFFINE,
                                           .width_log2 = 2};
    send(&live->ring, bin, &record, NULL);
}

static uint64_t told_of(const struct live *live)
{
    uint64_t records = 0;
    for (uint32_t l = 0; l < LAUNCHES; l++) records += live->told.records[l];
    return records;
}

/* The records of whole chunks, as another process sees them if this one is killed now. */
static uint64_t records_in_files(const struct live *live)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    size_t chunk_count;
    uint64_t records = 0;
    if (cts_acc_open(live->fixture.run_path, &reader, &error)) fail_msg("%s", error.text);
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t c = 0; c < chunk_count; c++) records += chunks[c].record_count;
    cts_acc_close(reader);
    return records;
}

/* Launches of different sizes, each followed by a synchronisation: nothing waits for more. */
static void test_what_is_delivered_is_in_the_files(void **state)
{
    enum { ROUNDS = 60, BINS = 5 };
    struct live live;
    uint64_t sent = 0;
    (void)state;
    begin_live(&live, BINS, 8, 3);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        const uint32_t records = round % 7 == 6 ? 3000 : 1 + hash(round) % 40;
        for (uint32_t i = 0; i < records; i++) send_plain(&live, i % BINS, round % LAUNCHES);
        sent += records;
        assert_true(cts_ring_deliver(live.consumers, false, 60000));
        assert_int_equal(told_of(&live), sent);
        assert_int_equal(records_in_files(&live), sent);
    }
    assert_true(cts_ring_deliver(live.consumers, false, 60000)); /* of nothing */
    assert_int_equal(told_of(&live), sent);
    end_live(&live);
}

/* A kernel of another stream has reserved a slot and not written it: the call gives up soon and
 * says so. What is before the slot and in other bins is delivered; the rest follows when it is
 * written. */
static void test_a_delivery_waits_for_no_producer(void **state)
{
    struct live live;
    (void)state;
    begin_live(&live, 2, 6, 1);
    const uint32_t log2 = live.ring.bins.slots_log2;
    send_plain(&live, 0, 0);
    const uint64_t reserved = cts_ring_reserve(live.ring.heads, 1, log2);
    send_plain(&live, 0, 0);
    send_plain(&live, 1, 1);
    assert_false(cts_ring_deliver(live.consumers, true, 60000)); /* within a few ms */
    assert_int_equal(live.told.records[0], 1);
    assert_int_equal(live.told.records[1], 1);
    const struct cts_ring_record record = {.mask = 1, .pattern = CTS_RING_UNIFORM};
    cts_ring_store(live.ring.heads, reserved, log2, &record);
    assert_true(cts_ring_deliver(live.consumers, true, 60000));
    assert_int_equal(live.told.records[0], 3);
    assert_int_equal(records_in_files(&live), 4);
    end_live(&live);
}

struct other_stream {
    const struct live *live;
    atomic_bool ends;
    uint64_t sent;
    pthread_t thread;
};

static void *produce_on_and_on(void *state)
{
    struct other_stream *const stream = state;
    while (!atomic_load(&stream->ends)) send_plain(stream->live, stream->sent++ % 2, 1);
    return NULL;
}

struct host_thread {
    struct live *live;
    uint32_t launch;
    uint64_t sent;
    pthread_t thread;
};

/* Its own records have arrived whenever its call returns, whatever others do. */
static void *synchronise_often(void *state)
{
    struct host_thread *const host = state;
    for (uint32_t round = 0; round < 40; round++) {
        for (uint32_t i = 0; i <= round % 5; i++, host->sent++)
            send_plain(host->live, (host->launch + i) % 2, host->launch);
        while (!cts_ring_deliver(host->live->consumers, true, 60000)) sched_yield();
        assert_true(host->live->told.records[host->launch] >= host->sent);
    }
    return NULL;
}

/* Bins that are always full, and two threads that synchronise. */
static void test_deliveries_under_load(void **state)
{
    struct live live;
    (void)state;
    begin_live(&live, 2, 6, 2);
    struct other_stream other = {.live = &live};
    struct host_thread hosts[] = {{.live = &live, .launch = 0}, {.live = &live, .launch = 2}};
    assert_int_equal(pthread_create(&other.thread, NULL, produce_on_and_on, &other), 0);
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&hosts[i].thread, NULL, synchronise_often, hosts + i), 0);
    for (int i = 0; i < 2; i++) pthread_join(hosts[i].thread, NULL);
    atomic_store(&other.ends, true);
    pthread_join(other.thread, NULL);
    assert_true(cts_ring_deliver(live.consumers, false, 60000));
    assert_int_equal(live.told.records[1], other.sent);
    for (int i = 0; i < 2; i++) {
        assert_true(hosts[i].sent > 0);
        assert_int_equal(live.told.records[hosts[i].launch], hosts[i].sent);
    }
    end_live(&live);
}

/* A thread is at work for long: the call gives up in time and says so. */
static pthread_mutex_t names_are_held = PTHREAD_MUTEX_INITIALIZER;

static uint32_t site_that_waits(void *state, const struct cts_ring_record *record)
{
    atomic_store((atomic_bool *)state, true);
    pthread_mutex_lock(&names_are_held);
    pthread_mutex_unlock(&names_are_held);
    return record->pc;
}

static bool launch_known(void *state, uint32_t number, uint32_t *launch, bool *by_warp)
{
    (void)state;
    *launch = number;
    *by_warp = false;
    return true;
}

static void count_nothing(void *state, uint32_t number, const struct cts_stream_counts *counts)
{
    (void)state, (void)number, (void)counts;
}

static void test_a_delivery_gives_up_in_time(void **state)
{
    atomic_bool is_waiting = false;
    struct live live;
    struct cts_ring_consumers *consumers = NULL;
    struct cts_error error = {0};
    (void)state;
    begin_live(&live, 1, 6, 1); /* its collector and its bins serve other threads here */
    cts_ring_remove_bins(live.consumers, live.ring.bins.slots);
    const struct cts_ring_names names = {&is_waiting,   launch_known, site_that_waits,
                                         count_nothing, NULL,         NULL};
    const struct cts_ring_options options = {
        .collector = live.collector, .count = 1, .names = &names};
    if (cts_ring_start(&options, &consumers, &error) ||
        cts_ring_add_bins(consumers, &live.ring.bins, &error))
        fail_msg("%s", error.text);
    pthread_mutex_lock(&names_are_held);
    send_plain(&live, 0, 0);
    while (!atomic_load(&is_waiting)) sched_yield();
    assert_false(cts_ring_deliver(consumers, false, 20));
    pthread_mutex_unlock(&names_are_held);
    assert_true(cts_ring_deliver(consumers, false, 60000));
    assert_int_equal(records_in_files(&live), 1);
    cts_ring_remove_bins(consumers, live.ring.bins.slots);
    cts_ring_stop(consumers, NULL);
    end_live(&live);
}

/* What no producer stores: a count that is too large is the largest, and none is one. */
static void test_counts_of_slots(void **state)
{
    (void)state;
    struct cts_ring_record record = {.operation = CTS_RING_AS_SITE, .mask = UINT32_MAX};
    for (uint32_t count = 0; count < 128; count++) {
        struct cts_ring_words words = cts_ring_pack(&record, 0);
        cts_ring_set_count(&words, count);
        const uint32_t expected = !count ? 1 : count > BLOCK ? BLOCK : count;
        assert_int_equal(cts_ring_count_of(words.w), expected);
    }
    record.operation = CTS_RING_LOAD;
    for (record.width_log2 = 0; record.width_log2 < 8; record.width_log2++)
        assert_int_equal(cts_ring_count_of(cts_ring_pack(&record, CTS_RING_PARITY).w), 1);
}

static void test_a_slot_is_what_was_packed(void **state)
{
    (void)state;
    const struct cts_ring_record cases[] = {
        {.base = 0x7f0c45e00000,
         .mask = UINT32_MAX,
         .cta = UINT32_MAX,
         .s0 = INT32_MIN,
         .s1 = INT32_MAX,
         .pc = (1u << CTS_RING_PC_BITS) - 1,
         .launch = CTS_RING_LAUNCHES - 1,
         .warp = 31,
         .row_lanes = 31,
         .pattern = CTS_RING_LIST,
         .space = CTS_RING_LOCAL,
         .operation = CTS_RING_ATOMIC,
         .width_log2 = 7},
        {.base = (uint64_t)-4096, .mask = 1u << 31, .s0 = -1, .s1 = -128, .cta = 1u << 31},
        {.base = ((uint64_t)1 << 51) - 1, .mask = 1, .pattern = CTS_RING_TWO_LEVEL, .row_lanes = 2},
        {0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (uint32_t lap = 0; lap < 2; lap++) {
            const uint32_t parity = cts_ring_parity((uint64_t)lap << 6, 6);
            const struct cts_ring_words words = cts_ring_pack(&cases[i], parity);
            struct cts_ring_record record = {0};
            for (int w = 0; w < CTS_RING_SLOT_WORDS; w++)
                assert_int_equal(words.w[w] & CTS_RING_PARITY, lap ? 0 : CTS_RING_PARITY);
            cts_ring_unpack(&words, &record);
            assert_int_equal(record.base, cases[i].base);
            assert_int_equal(record.mask, cases[i].mask);
            assert_int_equal(record.cta, cases[i].cta);
            assert_int_equal(record.s0, cases[i].s0);
            assert_int_equal(record.s1, cases[i].s1);
            assert_int_equal(record.pc, cases[i].pc);
            assert_int_equal(record.launch, cases[i].launch);
            assert_int_equal(record.warp, cases[i].warp);
            assert_int_equal(record.row_lanes, cases[i].row_lanes);
            assert_int_equal(record.pattern, cases[i].pattern);
            assert_int_equal(record.space, cases[i].space);
            assert_int_equal(record.operation, cases[i].operation);
            assert_int_equal(record.width_log2, cases[i].width_log2);
        }
    for (int32_t offset = -(1 << 30); offset < (1 << 30) - 777777; offset += 777777) {
        assert_int_equal(cts_ring_unpack_offset(cts_ring_pack_offset(offset, 0)), offset);
        assert_int_equal(cts_ring_unpack_offset(cts_ring_pack_offset(offset, CTS_RING_PARITY)),
                         offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_slot_is_what_was_packed),
        cmocka_unit_test(test_counts_of_slots),
        cmocka_unit_test(test_small_bins_lose_nothing),
        cmocka_unit_test(test_repeated_records_fill_batches),
        cmocka_unit_test(test_order_of_each_warp_when_sorted_by_warp),
        cmocka_unit_test(test_large_bins),
        cmocka_unit_test(test_records_of_unknown_launches_are_counted),
        cmocka_unit_test(test_what_is_delivered_is_in_the_files),
        cmocka_unit_test(test_tensor_copies_become_boxes),
        cmocka_unit_test(test_a_delivery_waits_for_no_producer),
        cmocka_unit_test(test_deliveries_under_load),
        cmocka_unit_test(test_a_delivery_gives_up_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
