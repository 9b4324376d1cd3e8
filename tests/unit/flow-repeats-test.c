/* Repeated launches against a brute-force twin on random small programs with values.
 *
 * The twin keeps each launch's accesses as a sorted list and compares lists, and keeps the last
 * writer of each byte. Written from docs/flow.md, 'Repeated launches'. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/flow/flow.h"
#include "count.h"
#include "trace/value-hash.h"
#include "random.h"
#include "record-fixture.h"

enum {
    BYTES = 512,
    OPS_MAX = 24,
    CTAS = 3,
    RECORDS_MAX = 3,
    KERNELS = 2,
    KERNEL_SITES = 5, /* two loads, two stores, one that is atomic or volatile */
    SITES = KERNELS * KERNEL_SITES,
    BODIES = 4,
    LANES_MAX = CTAS * RECORDS_MAX * CTS_WARP_LANES,
    PROGRAMS = 4000,
    PROGRAMS_QUICK = 400,
};
static const uint64_t region = UINT64_C(0x7f0000010000) - 200;

/* What a kernel's launch does, but for the values that it loads. */
struct body {
    unsigned kernel;
    unsigned record_counts[CTAS];
    struct record records[CTAS][RECORDS_MAX];
    uint8_t constant; /* that it stores; 255: what the lane's CTA has loaded last, plus 1 */
};

/* One access of the twin's lists; compared with memcmp. */
struct touch {
    uint64_t site, cta, address, value;
};

struct launch {
    struct body body;
    uint64_t values[CTAS][RECORDS_MAX][CTS_WARP_LANES];
    bool has_no_values;
    struct touch touches[LANES_MAX];
    unsigned touch_count;
    bool is_known, in_place[OPS_MAX];
    uint64_t stored_bytes;
};

struct program {
    struct cts_catalogue catalogue;
    struct cts_rank ranks[1];
    struct cts_kernel kernels[KERNELS];
    struct cts_site sites[SITES];
    struct cts_cuda_stream streams[1];
    struct cts_launch rows[OPS_MAX];
    struct cts_copy copies[OPS_MAX];
    struct cts_allocation allocations[1];
    struct cts_acc_chunk chunks[OPS_MAX];
    unsigned chunk_count;
    struct body bodies[BODIES];
    struct launch launches[OPS_MAX];
    uint8_t memory[BYTES];
    unsigned writer[BYTES];          /* op of the last one */
    unsigned launch_at[OPS_MAX + 1]; /* by op: index + 1; 0: no launch */
    bool is_hashed;                  /* the recorder hashed the values and did not keep them */
    struct cts_fingerprint fingerprints[OPS_MAX];
};

/* ---- a program ---- */

static void make_sites(struct program *p)
{
    static const uint8_t operations[KERNEL_SITES] = {CTS_LOAD, CTS_LOAD, CTS_STORE, CTS_STORE,
                                                     CTS_ATOMIC_ADD};
    for (unsigned i = 0; i < SITES; i++) {
        const bool is_odd = i % KERNEL_SITES == 4;
        p->sites[i] = (struct cts_site){.site = i,
                                        .operation = operations[i % KERNEL_SITES],
                                        .space = CTS_SPACE_GLOBAL,
                                        .width_bytes = 1u << below(4),
                                        .is_volatile = is_odd && chance(50)};
        if (p->sites[i].is_volatile) p->sites[i].operation = CTS_STORE;
    }
}

static void make_body(const struct program *p, struct body *body)
{
    body->kernel = below(KERNELS);
    body->constant = chance(60) ? (uint8_t)below(3) : 255;
    for (unsigned cta = 0; cta < CTAS; cta++) {
        body->record_counts[cta] = below(RECORDS_MAX + 1);
        for (unsigned i = 0; i < body->record_counts[cta]; i++) {
            struct record *const r = &body->records[cta][i];
            const unsigned kind = chance(4) ? 4 : below(4);
            *r = (struct record){.site = body->kernel * KERNEL_SITES + kind,
                                 .space = CTS_SPACE_GLOBAL,
                                 .pattern = CTS_PATTERN_AFFINE};
            const uint32_t width = p->sites[r->site].width_bytes;
            do {
                r->mask = (uint32_t)random_u64() | 1;
                r->base = region + below(BYTES - 8);
                r->s0 = (int32_t)width;
            } while (!stays_inside(r, width, region, BYTES));
        }
    }
}

/* Executes a record: its values, the twin's list, memory. */
static void execute_record(struct program *p, struct launch *launch, unsigned op, unsigned cta,
                           unsigned i, uint64_t *loaded)
{
    const struct record *const r = &launch->body.records[cta][i];
    const struct cts_site *const site = &p->sites[r->site];
    const uint32_t width = site->width_bytes;
    if (r->site % KERNEL_SITES == 4) launch->is_known = false;
    unsigned active = 0;
    for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(r->mask >> lane & 1)) continue;
        const uint64_t address = lane_address(r, lane, active);
        uint8_t *const at = p->memory + (address - region);
        uint64_t value = 0;
        if (site->operation == CTS_LOAD) {
            memcpy(&value, at, width);
            *loaded = value;
        } else {
            const uint64_t stored =
                launch->body.constant == 255 ? *loaded + 1 : launch->body.constant;
            memcpy(at, &stored, width);
            memcpy(&value, &stored, width);
            for (uint32_t b = 0; b < width; b++) p->writer[address - region + b] = op;
        }
        launch->values[cta][i][active++] = value;
        launch->touches[launch->touch_count++] = (struct touch){r->site, cta, address, value};
    }
}

static int by_touch(const void *left, const void *right)
{
    return memcmp(left, right, sizeof(struct touch));
}

/* Bytes that the launch stores, and whether each of them was last written by each earlier op. */
static void note_stores(const struct program *p, struct launch *launch, const unsigned *writer)
{
    bool stores[BYTES] = {false};
    for (unsigned t = 0; t < launch->touch_count; t++) {
        const struct cts_site *const site = &p->sites[launch->touches[t].site];
        for (uint32_t b = 0; site->operation != CTS_LOAD && b < site->width_bytes; b++)
            stores[launch->touches[t].address - region + b] = true;
    }
    for (unsigned op = 0; op < OPS_MAX; op++) launch->in_place[op] = true;
    for (unsigned i = 0; i < BYTES; i++) {
        launch->stored_bytes += stores[i];
        for (unsigned op = 0; stores[i] && op < OPS_MAX; op++)
            launch->in_place[op] &= writer[i] == op;
    }
}

static void make_launch(struct program *p, unsigned op)
{
    const size_t n = p->catalogue.launch_count++;
    struct launch *const launch = &p->launches[n];
    unsigned writer[BYTES], records = 0;
    launch->body = p->bodies[below(BODIES)];
    launch->has_no_values = chance(5);
    launch->is_known = !launch->has_no_values;
    memcpy(writer, p->writer, sizeof writer);
    for (unsigned cta = 0; cta < CTAS; cta++) {
        uint64_t loaded = 7;
        for (unsigned i = 0; i < launch->body.record_counts[cta]; i++, records++)
            execute_record(p, launch, op, cta, i, &loaded);
    }
    note_stores(p, launch, writer);
    qsort(launch->touches, launch->touch_count, sizeof *launch->touches, by_touch);
    p->launch_at[op] = (unsigned)n + 1;
    p->rows[n] = (struct cts_launch){.launch = (uint32_t)n,
                                     .op = op,
                                     .kernel = launch->body.kernel,
                                     .grid = {CTAS, 1, 1},
                                     .block = {32, 1, 1},
                                     .accesses = launch->touch_count,
                                     .recorded = "all",
                                     .end_ns = 1};
    if (records)
        p->chunks[p->chunk_count++] = (struct cts_acc_chunk){.launch = (uint32_t)n,
                                                             .last_cta = CTAS - 1,
                                                             .first_address = region,
                                                             .last_address = region + BYTES,
                                                             .record_count = records};
}

static void make_memset(struct program *p, unsigned op)
{
    const size_t n = p->catalogue.copy_count++;
    const uint32_t first = op == 1 ? 0 : below(BYTES - 1);
    const uint32_t size = op == 1 ? BYTES : 1 + below(BYTES - first < 40 ? BYTES - first : 40);
    p->copies[n] = (struct cts_copy){.copy = (uint32_t)n,
                                     .op = op,
                                     .kind = "memset",
                                     .destination = region + first,
                                     .width_bytes = size,
                                     .height = 1,
                                     .depth = 1,
                                     .destination_pitch = size};
    memset(p->memory + first, 0, size);
    for (uint32_t i = 0; i < size; i++) p->writer[first + i] = op;
}

static void make_program(struct program *p)
{
    memset(p, 0, sizeof *p);
    p->ranks[0] = (struct cts_rank){.end_ns = 1};
    for (unsigned i = 0; i < KERNELS; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    make_sites(p);
    p->streams[0] = (struct cts_cuda_stream){.kind = "legacy default", .destroyed_op = UINT64_MAX};
    p->allocations[0] = (struct cts_allocation){
        .freed_op = UINT64_MAX, .kind = "device", .address = region, .size_bytes = BYTES};
    p->catalogue = (struct cts_catalogue){.ranks = p->ranks,
                                          .rank_count = 1,
                                          .kernels = p->kernels,
                                          .kernel_count = KERNELS,
                                          .sites = p->sites,
                                          .site_count = SITES,
                                          .streams = p->streams,
                                          .stream_count = 1,
                                          .launches = p->rows,
                                          .copies = p->copies,
                                          .allocations = p->allocations,
                                          .allocation_count = 1};
    for (unsigned i = 0; i < BODIES; i++) make_body(p, &p->bodies[i]);
    make_memset(p, 1);
    const unsigned end = 4 + below(OPS_MAX - 4);
    for (unsigned op = 2; op < end; op++) {
        if (chance(85))
            make_launch(p, op);
        else
            make_memset(p, op);
    }
}

/* What a recorder counts: accesses that have a value, atomics and volatile ones, too. */
static void hash_values(struct program *p)
{
    p->is_hashed = true;
    p->catalogue.fingerprints = p->fingerprints;
    for (size_t n = p->catalogue.launch_count; n-- > 0;) {
        const struct launch *const launch = &p->launches[n];
        struct cts_value_hash hash = {.sum = 0};
        for (uint32_t cta = 0; cta < CTAS && !launch->has_no_values; cta++)
            for (unsigned i = 0; i < launch->body.record_counts[cta]; i++) {
                const struct record *const r = &launch->body.records[cta][i];
                uint64_t addresses[CTS_WARP_LANES] = {0}, values[CTS_WARP_LANES] = {0};
                unsigned active = 0;
                for (unsigned lane = 0; lane < CTS_WARP_LANES; lane++) {
                    if (!(r->mask >> lane & 1)) continue;
                    addresses[lane] = lane_address(r, lane, active);
                    values[lane] = launch->values[cta][i][active++];
                }
                cts_value_hash_add(&hash, &(struct cts_value_hash_record){.site = r->site,
                                                                          .cta = cta,
                                                                          .mask = r->mask,
                                                                          .addresses = addresses,
                                                                          .values = values,
                                                                          .words = 1,
                                                                          .lane_step = 1,
                                                                          .word_step = 1});
            }
        if (hash.accesses)
            p->fingerprints[p->catalogue.fingerprint_count++] =
                (struct cts_fingerprint){(uint32_t)n, hash.sum, hash.accesses};
    }
}

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const p = state;
    const struct launch *const launch = &p->launches[chunk->launch];
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (uint32_t cta = 0; cta < CTAS; cta++)
        for (unsigned i = 0; i < launch->body.record_counts[cta]; i++) {
            struct cts_access record =
                record_access(&launch->body.records[cta][i], chunk->launch, cta);
            if (!launch->has_no_values && !p->is_hashed) {
                record.values = launch->values[cta][i];
                record.value_words = 1;
            }
            batch_put(batch, &record);
        }
    return CTS_OK;
}

/* ---- the comparison ---- */

static bool are_equal(const struct program *p, unsigned u, unsigned v)
{
    const struct launch *const a = &p->launches[u], *const b = &p->launches[v];
    return a->is_known && b->is_known && a->body.kernel == b->body.kernel &&
           a->touch_count == b->touch_count &&
           !memcmp(a->touches, b->touches, a->touch_count * sizeof *a->touches);
}

/* Pairs by whether the result of the first is still in place, and the bytes of the second. */
struct counts {
    uint64_t pairs[2];
    uint64_t launches; /* that have a value of each access */
};

static void count_by_twin(const struct program *p, struct counts *counts)
{
    for (unsigned v = 0; v < p->catalogue.launch_count; v++) {
        counts->launches += p->launches[v].is_known;
        if (!p->launches[v].stored_bytes) continue;
        for (unsigned u = v; u-- > 0;) {
            if (!are_equal(p, u, v)) continue;
            counts->pairs[p->launches[v].in_place[p->rows[u].op]]++;
            break;
        }
    }
}

static void compare(const struct program *p, const struct cts_flow_result *flow,
                    struct counts *counts)
{
    struct counts twin = {.launches = 0}, ours = {.launches = 0};
    count_by_twin(p, &twin);
    for (size_t i = 0; i < flow->finding_count; i++) {
        const struct cts_flow_finding *const f = &flow->findings[i];
        if (f->kind != CTS_FLOW_REPEATED_LAUNCH) continue;
        assert_true(f->reason == CTS_FLOW_REASON_CERTAIN || f->reason == CTS_FLOW_REASON_REPLACED);
        ours.pairs[f->reason == CTS_FLOW_REASON_CERTAIN] += f->times;
    }
    for (unsigned k = 0; k < 2; k++) {
        assert_int_equal(ours.pairs[k], twin.pairs[k]);
        counts->pairs[k] += twin.pairs[k];
    }
    counts->launches += twin.launches;
}

static unsigned seed;

static void same_as_the_twin(void **state)
{
    (void)state;
    struct program *const p = malloc(sizeof *p);
    const unsigned count = cts_test_count(PROGRAMS_QUICK, PROGRAMS);
    struct counts counts = {.launches = 0};
    for (seed = 0; seed < count; seed++) {
        random_start(seed);
        make_program(p);
        if (chance(50)) hash_values(p);
        const struct cts_access_source source = {.chunks = p->chunks,
                                                 .chunk_count = p->chunk_count,
                                                 .state = p,
                                                 .read = read_chunk,
                                                 .release = cts_acc_batch_release};
        const struct cts_flow_options options = {.threads = 1 + seed % 3};
        struct cts_flow_result flow;
        struct cts_error error;
        if (cts_flow_analyze(&p->catalogue, &source, &options, &flow, &error))
            fail_msg("%s", error.text);
        compare(p, &flow, &counts);
        cts_flow_release(&flow);
    }
    print_message("%u programs, %llu launches with values: %llu repeated with the result in place, "
                  "%llu without\n",
                  count, (unsigned long long)counts.launches, (unsigned long long)counts.pairs[1],
                  (unsigned long long)counts.pairs[0]);
    assert_true(counts.pairs[0] > count / 8 && counts.pairs[1] > count / 8);
    free(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(same_as_the_twin)};
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    if (failed) print_message("seed %u\n", seed);
    return failed;
}
