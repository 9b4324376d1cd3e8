/* The partition analysis against a brute-force twin on random small programs.
 *
 * The twin keeps one entry per byte: its last writer, everybody who read it since and when, and its
 * page's home; it asks every byte about every partition. It is written from docs/partition.md alone
 * and shares nothing with the analysis but the order of supersteps. Every number must agree, for
 * any number of threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/communication/communication.h"
#include "analyze/order/order.h"
#include "analyze/partition/partition.h"
#include "count.h"
#include "random.h"
#include "record-fixture.h"

enum {
    HALF_BYTES = 1500, /* of each of two regions */
    BYTES = 2 * HALF_BYTES,
    CALLS_MAX = 30,
    CTAS_MAX = 12,
    RECORDS_MAX = 6,
    SITES = 12,
    KERNELS = 3,
    STREAMS = 2,
    CHUNKS_MAX = CALLS_MAX * CTAS_MAX,
    PROGRAMS = 60,
    PROGRAMS_QUICK = 20,
    PAGE_BYTES = 4096,
};
/* The first region lies across the border of a 2 MiB block. */
static const uint64_t region = UINT64_C(0x7f0000200000) - 700;
static const uint64_t region_distance = 5 * 4096 + 1000;

/* ---- a program ---- */

struct cta {
    struct record records[RECORDS_MAX];
    unsigned record_count;
};
struct program {
    struct cts_catalogue catalogue;
    struct cts_rank ranks[1];
    struct cts_kernel kernels[KERNELS];
    struct cts_site sites[SITES];
    struct cts_cuda_stream streams[STREAMS];
    struct cts_launch launches[CALLS_MAX];
    struct cta ctas[CALLS_MAX][CTAS_MAX];
    struct cts_copy copies[CALLS_MAX];
    struct cts_allocation allocations[4];
    struct cts_host_access host_accesses[CALLS_MAX];
    struct cts_acc_chunk chunks[CHUNKS_MAX];
    struct {
        unsigned launch, cta, begin, end;
    } contents[CHUNKS_MAX];
    unsigned chunk_count;
};

static void make_record(const struct program *p, struct record *r)
{
    *r = (struct record){.site = below(SITES), .space = CTS_SPACE_GLOBAL};
    const uint32_t width = p->sites[r->site].width_bytes;
    const uint64_t start = region + (chance(50) ? region_distance : 0);
    for (int tries = 0; tries < 30; tries++) {
        r->mask = chance(60) ? UINT32_MAX : (uint32_t)random_u64() | 1u << below(32);
        r->base = start + below(HALF_BYTES - width);
        r->pattern = (uint8_t)(tries == 29 ? CTS_PATTERN_UNIFORM : below(4));
        if (tries == 29) r->base = start;
        r->s0 = chance(70) ? (int32_t)width : (int32_t)below(20) - 10;
        r->s1 = (int32_t)below(100) - 50;
        if (r->pattern == CTS_PATTERN_TWO_LEVEL) r->row_lanes = (uint8_t)(2 + below(30));
        for (unsigned i = 0; i < 32; i++)
            r->offsets[i] = chance(30) && i ? r->offsets[i - 1] + width : below(HALF_BYTES / 2);
        if (stays_inside(r, width, start, HALF_BYTES)) return;
    }
    fail_msg("no record fits");
}

static void make_chunks(struct program *p, unsigned launch)
{
    const unsigned cta_count =
        p->launches[launch].grid[0] * p->launches[launch].grid[1] * p->launches[launch].grid[2];
    for (unsigned cta = 0; cta < cta_count; cta++) {
        const unsigned count = p->ctas[launch][cta].record_count;
        for (unsigned begin = 0; begin < count;) {
            const unsigned end = chance(80) ? count : begin + 1 + below(count - begin);
            if (p->chunk_count == CHUNKS_MAX) fail_msg("too many chunks");
            p->contents[p->chunk_count].launch = launch;
            p->contents[p->chunk_count].cta = cta;
            p->contents[p->chunk_count].begin = begin;
            p->contents[p->chunk_count].end = end;
            p->chunks[p->chunk_count] = (struct cts_acc_chunk){.launch = p->launches[launch].launch,
                                                               .first_cta = cta,
                                                               .last_cta = cta,
                                                               .offset_bytes = p->chunk_count,
                                                               .record_count = end - begin};
            p->chunk_count++;
            begin = end;
        }
    }
}

/* Some launches repeat an earlier one to the letter. */
static void make_launch(struct program *p, uint64_t op)
{
    static const uint32_t grids[][3] = {{5, 1, 1}, {3, 2, 1}, {4, 3, 1}, {2, 2, 3},
                                        {1, 4, 2}, {1, 1, 7}, {1, 1, 1}, {3, 4, 1}};
    const unsigned index = (unsigned)p->catalogue.launch_count++;
    struct cts_launch *const row = &p->launches[index];
    *row = (struct cts_launch){.launch = 3 * index + 1,
                               .op = op,
                               .stream = chance(75) ? 0 : 1,
                               .kernel = below(KERNELS),
                               .recorded = chance(95) ? "all" : "none",
                               .start_ns = 10 * op,
                               .end_ns = 10 * op + 5 + below(4)};
    memcpy(row->grid, grids[below(8)], sizeof row->grid);
    if (index > 2 && chance(50)) { /* as two or three before */
        const unsigned like = index - 2 - below(2);
        row->kernel = p->launches[like].kernel;
        memcpy(row->grid, p->launches[like].grid, sizeof row->grid);
        memcpy(p->ctas[index], p->ctas[like], sizeof p->ctas[like]);
        if (!strcmp(p->launches[like].recorded, "none")) row->recorded = "none";
    } else {
        for (unsigned cta = 0; cta < row->grid[0] * row->grid[1] * row->grid[2]; cta++) {
            struct cta *const body = &p->ctas[index][cta];
            body->record_count = chance(8) ? 0 : below(RECORDS_MAX + 1);
            for (unsigned i = 0; i < body->record_count; i++) make_record(p, &body->records[i]);
        }
    }
    if (strcmp(row->recorded, "none") != 0) make_chunks(p, index);
}

static void make_copy(struct program *p, uint64_t op)
{
    static const char *const kinds[] = {"HtoD", "DtoD", "DtoD", "memset", "DtoH"};
    struct cts_copy *const row = &p->copies[p->catalogue.copy_count];
    *row = (struct cts_copy){.copy = (uint32_t)p->catalogue.copy_count++,
                             .op = op,
                             .kind = kinds[below(5)],
                             .start_ns = 10 * op,
                             .end_ns = 10 * op + 1,
                             .width_bytes = 1 + below(60),
                             .height = 1 + below(5),
                             .depth = 1};
    row->destination_pitch = row->width_bytes + below(20);
    row->source_pitch = row->width_bytes + below(20);
    row->destination_slice = row->source_slice = 0;
    row->destination = region + (chance(50) ? region_distance : 0) + below(HALF_BYTES - 400);
    row->source = region + (chance(50) ? region_distance : 0) + below(HALF_BYTES - 400);
    if (!strcmp(row->kind, "DtoH")) row->destination = 0x1000;
    if (!strcmp(row->kind, "HtoD")) row->source = 0x1000;
}

static void make_program(struct program *p)
{
    static const uint32_t widths[] = {1, 2, 4, 8, 16, 4};
    memset(p, 0, sizeof *p);
    struct cts_catalogue *const c = &p->catalogue;
    p->ranks[0] = (struct cts_rank){.end_ns = 1000000};
    for (unsigned i = 0; i < KERNELS; i++)
        p->kernels[i] = (struct cts_kernel){.kernel = i, .name = "k", .instrumented = true};
    for (unsigned i = 0; i < SITES; i++)
        p->sites[i] = (struct cts_site){.site = i,
                                        .operation = (uint8_t)(i % 3 == 0   ? CTS_STORE
                                                               : i % 7 == 1 ? CTS_ATOMIC_ADD
                                                                            : CTS_LOAD),
                                        .space = CTS_SPACE_GLOBAL,
                                        .width_bytes = widths[below(6)]};
    for (unsigned i = 0; i < STREAMS; i++)
        p->streams[i] = (struct cts_cuda_stream){
            .stream = i, .kind = i ? "blocking" : "legacy default", .destroyed_op = UINT64_MAX};
    *c = (struct cts_catalogue){.ranks = p->ranks,
                                .rank_count = 1,
                                .kernels = p->kernels,
                                .kernel_count = KERNELS,
                                .sites = p->sites,
                                .site_count = SITES,
                                .streams = p->streams,
                                .stream_count = STREAMS,
                                .launches = p->launches,
                                .copies = p->copies,
                                .allocations = p->allocations,
                                .host_accesses = p->host_accesses};
    const unsigned calls = 4 + below(CALLS_MAX - 4);
    for (unsigned i = 0; i < 4 && chance(70); i++) {
        const unsigned start = below(BYTES - 10);
        p->allocations[i] =
            (struct cts_allocation){.allocation = i,
                                    .op = below(calls),
                                    .address = region + start,
                                    .size_bytes = chance(50) ? 60000 : 1 + below(BYTES),
                                    .kind = "device",
                                    .variable = i & 1 ? "a" : "b"};
        p->allocations[i].freed_op =
            chance(30) ? UINT64_MAX : p->allocations[i].op + 1 + below(2 * calls);
        c->allocation_count++;
    }
    for (unsigned i = 0; i < calls; i++) {
        if (chance(70)) {
            make_launch(p, 2 * i);
        } else if (chance(70)) {
            make_copy(p, 2 * i);
        } else {
            p->host_accesses[c->host_access_count++] =
                (struct cts_host_access){.op = 2 * i + 1,
                                         .is_store = chance(60),
                                         .address = region + below(BYTES),
                                         .size_bytes = 1 + below(200)};
        }
    }
}

/* ---- as access files ---- */

static enum cts_status read_chunk(const void *state, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct program *const p = state;
    const unsigned launch = p->contents[chunk->offset_bytes].launch;
    const unsigned cta = p->contents[chunk->offset_bytes].cta;
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (unsigned i = p->contents[chunk->offset_bytes].begin;
         i < p->contents[chunk->offset_bytes].end; i++) {
        const struct cts_access record =
            record_access(&p->ctas[launch][cta].records[i], chunk->launch, cta);
        batch_put(batch, &record);
    }
    return CTS_OK;
}

static struct cts_access_source source_of(const struct program *p)
{
    return (struct cts_access_source){.chunks = p->chunks,
                                      .chunk_count = p->chunk_count,
                                      .state = p,
                                      .read = read_chunk,
                                      .release = cts_acc_batch_release};
}

/* ---- the twin ---- */

enum { NOBODY = -1, HOST = -2, P_MAX = 80 };

struct reading {
    int launch, cta;
    struct reading *next;
};

struct byte {
    int writer_launch; /* NOBODY, HOST, or an index in the catalogue; */
    int writer_cta;
    struct reading *readings; /* since it was written by a kernel; newest first */
    bool in_gpu_set, in_host_set;
};

struct home {
    int launch, cta; /* launch NOBODY: none */
};

struct twin_scale {
    uint64_t traffic, replica, shared, held, owner_write, touch_read, touch_write;
    uint64_t launch_bytes[CALLS_MAX];
    struct cts_partition_part parts[P_MAX];
    uint64_t kernel_bytes[KERNELS];
    double no_overlap_s, full_overlap_s;
    uint64_t footprints[CALLS_MAX][P_MAX]; /* by plan launch */
};

struct twin {
    const struct program *p;
    const struct cts_partition_options *options;
    struct byte bytes[BYTES];
    struct home homes[BYTES]; /* by page of its first byte */
    uint64_t pages[BYTES];
    size_t page_count;
    bool reads[CTAS_MAX][BYTES], writes[CTAS_MAX][BYTES];
    int plan_of[CALLS_MAX];                           /* by catalogue index */
    struct cts_partition_launch_sums sums[CALLS_MAX]; /* by plan launch */
    struct twin_scale *scales;
    size_t scale_count;
    int last_in_stream[STREAMS + 1];
};

static int index_of(uint64_t address)
{
    if (address >= region && address < region + HALF_BYTES) return (int)(address - region);
    if (address >= region + region_distance && address < region + region_distance + HALF_BYTES)
        return (int)(address - region - region_distance) + HALF_BYTES;
    return -1;
}
static uint64_t address_of(int index)
{
    return index < HALF_BYTES ? region + (uint64_t)index
                              : region + region_distance + (uint64_t)(index - HALF_BYTES);
}

static struct home *home_of(struct twin *t, uint64_t address)
{
    const uint64_t page = address / PAGE_BYTES;
    for (size_t i = 0; i < t->page_count; i++)
        if (t->pages[i] == page) return &t->homes[i];
    t->pages[t->page_count] = page;
    t->homes[t->page_count] = (struct home){NOBODY, 0};
    return &t->homes[t->page_count++];
}

static void forget_readings(struct byte *b)
{
    while (b->readings) {
        struct reading *const next = b->readings->next;
        free(b->readings);
        b->readings = next;
    }
}

static void set_writer(struct byte *b, int launch, int cta)
{
    forget_readings(b);
    b->writer_launch = launch;
    b->writer_cta = cta;
}

/* floor(M * p) for one CTA, from the definitions. */
static unsigned partition_of(const uint32_t grid[3], unsigned cta, const char *mapping, unsigned p)
{
    uint64_t n[3] = {1, 1, 1}, at[3] = {0, 0, 0};
    unsigned dimensions = 0;
    const uint64_t i[3] = {cta % grid[0], cta / grid[0] % grid[1], cta / grid[0] / grid[1]};
    const uint64_t count = (uint64_t)grid[0] * grid[1] * grid[2];
    for (unsigned d = 0; d < 3; d++) {
        if (grid[d] == 1) continue;
        n[dimensions] = grid[d];
        at[dimensions++] = i[d];
    }
    if (!strcmp(mapping, "block-cyclic")) {
        const uint64_t block = (count + 8 * p - 1) / (8 * p);
        return (unsigned)(cta / block % p);
    }
    if (!strcmp(mapping, "lexicographic") || dimensions < 2)
        return (unsigned)((at[0] + at[1] * n[0] + at[2] * n[0] * n[1]) * p / count);
    if (!strcmp(mapping, "colexicographic"))
        return (unsigned)((at[0] * n[1] * n[2] + at[1] * n[2] + at[2]) * p / count);
    if (!strcmp(mapping, "z-order")) {
        unsigned b = 0;
        for (unsigned d = 0; d < 3; d++)
            while ((1u << b) < n[d]) b++;
        uint64_t z = 0;
        for (unsigned bit = b; bit-- > 0;)
            for (unsigned d = dimensions; d-- > 0;) z = z << 1 | (((at[d] << b) / n[d]) >> bit & 1);
        return (unsigned)(z * p >> (b * dimensions));
    }
    /* Hilbert and what this twin has not been taught: what they must be is in
     * partition-mapping-test.c */
    const struct cts_mapping *const m = cts_mapping_named(mapping);
    const struct cts_mapping_grid g = cts_mapping_grid_of(grid);
    uint64_t positions[CTAS_MAX], length;
    assert_int_equal(cts_mapping_lay_out(m, &g, positions, &length, NULL), CTS_OK);
    return cts_mapping_partition(m, positions[cta], length, p, 0);
}

struct scale_of {
    const char *mapping;
    unsigned p;
    uint8_t parts[CALLS_MAX][CTAS_MAX];
};

static unsigned part_of(const struct twin *t, const struct scale_of *s, int launch, int cta)
{
    (void)t;
    return s->parts[launch][cta];
}

/* One launch under one scale. */
static void run_scale(struct twin *t, int launch, const struct scale_of *s, struct twin_scale *r)
{
    const struct cts_launch *const row = &t->p->launches[launch];
    const unsigned ctas = row->grid[0] * row->grid[1] * row->grid[2];
    const int plan = t->plan_of[launch];
    uint64_t read[P_MAX] = {0}, written[P_MAX] = {0}, in[P_MAX] = {0}, out[P_MAX] = {0};
    uint64_t refetched[CALLS_MAX][P_MAX];
    unsigned part[CTAS_MAX];
    memset(refetched, 0, sizeof refetched);
    for (unsigned c = 0; c < ctas; c++) part[c] = part_of(t, s, launch, (int)c);
    for (int x = 0; x < BYTES; x++) {
        const struct byte *const b = &t->bytes[x];
        const struct home *const home = home_of(t, address_of(x));
        bool reads[P_MAX] = {false}, writes[P_MAX] = {false};
        unsigned writers = 0;
        bool fetched = false; /* by a partition other than the writer's: now, */
        for (unsigned c = 0; c < ctas; c++) {
            reads[part[c]] |= t->reads[c][x];
            writes[part[c]] |= t->writes[c][x];
        }
        for (unsigned q = 0; q < s->p; q++) {
            read[q] += reads[q];
            written[q] += writes[q];
            writers += writes[q];
            const bool away = home->launch == NOBODY || part_of(t, s, home->launch, home->cta) != q;
            r->touch_read += reads[q] && away;
            r->touch_write += writes[q] && away;
            if (!reads[q] || b->writer_launch < 0) continue;
            const unsigned w = part_of(t, s, b->writer_launch, b->writer_cta);
            if (w == q) continue;
            fetched = true;
            in[q]++;
            out[w]++;
            r->kernel_bytes[t->p->launches[b->writer_launch].kernel]++;
            int last = -1; /* when this partition last read it */
            for (const struct reading *old = b->readings; old; old = old->next)
                if (part_of(t, s, old->launch, old->cta) == q && t->plan_of[old->launch] > last)
                    last = t->plan_of[old->launch];
            if (last < 0) r->replica++;
            if (last >= 0) refetched[last][q]++;
        }
        bool before = false; /* and before */
        for (const struct reading *old = fetched ? b->readings : NULL; old; old = old->next)
            before |= part_of(t, s, old->launch, old->cta) !=
                      part_of(t, s, b->writer_launch, b->writer_cta);
        r->shared += fetched && !before;
        r->owner_write += writers ? writers - 1 : 0;
    }
    double slow = 0, slow_overlap = 0;
    for (unsigned q = 0; q < s->p; q++) {
        unsigned share = 0;
        r->footprints[plan][q] = read[q] + written[q];
        for (unsigned c = 0; c < ctas; c++) share += part[c] == q;
        r->parts[q].ctas += share;
        r->parts[q].read_bytes += read[q];
        r->parts[q].written_bytes += written[q];
        r->parts[q].in_bytes += in[q];
        r->parts[q].out_bytes += out[q];
        r->traffic += in[q];
        r->launch_bytes[plan] += in[q];
        const double compute = t->options->launch_times
                                   ? (double)(row->end_ns - row->start_ns) * 1e-9 * share / ctas
                                   : 0;
        const double local = (double)(read[q] + written[q] - in[q]) / t->options->local_bytes_per_s;
        const double link =
            (double)(in[q] > out[q] ? in[q] : out[q]) / t->options->link_bytes_per_s;
        double most = compute;
        if (local > most) most = local;
        if (link > most) most = link;
        if (compute + local + link > slow) slow = compute + local + link;
        if (most > slow_overlap) slow_overlap = most;
        for (int last = 0; last < plan; last++) {
            uint64_t touched = 0;
            for (int u = last; u <= plan; u++) touched += r->footprints[u][q];
            if (touched <= t->options->l2_bytes && t->options->l2_bytes)
                r->held += refetched[last][q];
        }
    }
    const double launching = t->options->launch_s > 0 ? t->options->launch_s : 0;
    r->no_overlap_s += launching + slow;
    r->full_overlap_s += launching + slow_overlap;
}

static void expand(struct twin *t, int launch)
{
    memset(t->reads, 0, sizeof t->reads);
    memset(t->writes, 0, sizeof t->writes);
    const struct cts_launch *const row = &t->p->launches[launch];
    for (unsigned c = 0; c < row->grid[0] * row->grid[1] * row->grid[2]; c++) {
        const struct cta *const body = &t->p->ctas[launch][c];
        for (unsigned i = 0; i < body->record_count; i++) {
            const struct record *const r = &body->records[i];
            const struct cts_site *const site = &t->p->sites[r->site];
            unsigned active = 0;
            for (unsigned lane = 0; lane < 32; lane++) {
                if (!(r->mask >> lane & 1)) continue;
                const int x = index_of(lane_address(r, lane, active++));
                t->sums[t->plan_of[launch]].accesses++;
                for (uint32_t k = 0; k < site->width_bytes; k++) {
                    if (site->operation != CTS_STORE) t->reads[c][x + (int)k] = true;
                    if (site->operation != CTS_LOAD) t->writes[c][x + (int)k] = true;
                }
            }
        }
    }
}

static void run_launch(struct twin *t, int launch, const struct scale_of *scales)
{
    const struct cts_launch *const row = &t->p->launches[launch];
    const unsigned ctas = row->grid[0] * row->grid[1] * row->grid[2];
    int *const last = &t->last_in_stream[t->options->per_stream ? row->stream : STREAMS];
    const int previous = *last;
    *last = launch;
    if (!strcmp(row->recorded, "none")) return;
    struct cts_partition_launch_sums *const sums = &t->sums[t->plan_of[launch]];
    expand(t, launch);
    for (unsigned c = 0; c < ctas; c++) { /* the lowest CTA comes first */
        for (int x = 0; x < BYTES; x++) {
            if (!t->reads[c][x] && !t->writes[c][x]) continue;
            struct home *const home = home_of(t, address_of(x));
            if (home->launch == NOBODY) *home = (struct home){launch, (int)c};
        }
    }
    for (size_t s = 0; s < t->scale_count; s++) run_scale(t, launch, &scales[s], &t->scales[s]);
    for (int x = 0; x < BYTES; x++) {
        struct byte *const b = &t->bytes[x];
        unsigned readers = 0, writers = 0;
        for (unsigned c = 0; c < ctas; c++) {
            readers += t->reads[c][x];
            writers += t->writes[c][x];
        }
        sums->read_unique_bytes += readers;
        sums->written_unique_bytes += writers;
        sums->written_bytes += writers > 0;
        sums->conflict_bytes += writers > 1;
        if (readers) {
            const bool gpu = b->writer_launch >= 0;
            sums->read_bytes++;
            *(gpu ? &sums->gpu_set_bytes : &sums->host_set_bytes) += 1;
            *(gpu ? &b->in_gpu_set : &b->in_host_set) = true;
            if (gpu) sums->received_bytes += readers;
            if (gpu && b->writer_launch == previous) sums->critical_bytes++;
            if (gpu &&
                (!t->options->per_stream || t->p->launches[b->writer_launch].stream == row->stream))
                sums->critical_base_bytes++;
        }
        for (unsigned c = 0; c < ctas; c++) {
            if (!t->reads[c][x] || b->writer_launch < 0) continue;
            struct reading *const reading = malloc(sizeof *reading);
            *reading = (struct reading){launch, (int)c, b->readings};
            b->readings = reading;
        }
        for (unsigned c = 0; c < ctas; c++)
            if (t->writes[c][x]) set_writer(b, launch, (int)c);
    }
}

static void run_copy(struct twin *t, const struct cts_copy *copy)
{
    static struct byte before[BYTES];
    memcpy(before, t->bytes, sizeof before);
    if (t->options->paper_model) return;
    for (uint64_t y = 0; y < copy->height; y++) {
        for (uint64_t k = 0; k < copy->width_bytes; k++) {
            const int to = index_of(copy->destination + y * copy->destination_pitch + k);
            const int from = index_of(copy->source + y * copy->source_pitch + k);
            if (to < 0) continue;
            if (strcmp(copy->kind, "DtoD") != 0)
                set_writer(&t->bytes[to], HOST, 0);
            else if (from < 0)
                set_writer(&t->bytes[to], NOBODY, 0);
            else
                set_writer(&t->bytes[to], before[from].writer_launch, before[from].writer_cta);
        }
    }
}

static void run_range(struct twin *t, uint64_t start, uint64_t size_bytes, int writer)
{
    if (t->options->paper_model) return;
    for (int x = 0; x < BYTES; x++)
        if (address_of(x) >= start && address_of(x) - start < size_bytes)
            set_writer(&t->bytes[x], writer, 0);
    for (size_t i = 0; writer == NOBODY && i < t->page_count; i++)
        if (t->pages[i] * PAGE_BYTES >= start &&
            (t->pages[i] + 1) * PAGE_BYTES <= start + size_bytes)
            t->homes[i].launch = NOBODY;
}

static void run_twin(struct twin *t, const struct scale_of *scales)
{
    struct cts_order order;
    struct cts_error error;
    assert_int_equal(cts_order_build(&t->p->catalogue, &order, &error), CTS_OK);
    int plan = 0;
    for (unsigned i = 0; i <= STREAMS; i++) t->last_in_stream[i] = NOBODY;
    for (int x = 0; x < BYTES; x++) t->bytes[x].writer_launch = NOBODY;
    for (size_t i = 0; i < order.step_count; i++)
        if (order.steps[i].kind == CTS_STEP_LAUNCH) t->plan_of[order.steps[i].index] = plan++;
    for (size_t i = 0; i < order.step_count; i++) {
        const size_t index = order.steps[i].index;
        const struct cts_allocation *const a = &t->p->allocations[index & 3];
        const struct cts_host_access *const h = &t->p->host_accesses[index % CALLS_MAX];
        switch (order.steps[i].kind) {
        case CTS_STEP_LAUNCH:
            run_launch(t, (int)index, scales);
            break;
        case CTS_STEP_COPY:
            run_copy(t, &t->p->copies[index]);
            break;
        case CTS_STEP_FREE:
            run_range(t, a->address, a->size_bytes, NOBODY);
            break;
        case CTS_STEP_HOST_ACCESS:
            if (h->is_store) run_range(t, h->address, h->size_bytes, HOST);
            break;
        }
    }
    cts_order_release(&order);
}

/* ---- comparing ---- */

#define SAME(ours, twins)                                                                          \
    do {                                                                                           \
        if ((ours) != (twins))                                                                     \
            fail_msg("%s: %llu, the twin says %llu (program %d, %s, p %u)", #ours,                 \
                     (unsigned long long)(ours), (unsigned long long)(twins), program_number,      \
                     mapping, p);                                                                  \
    } while (0)

static int program_number;

static void compare_scale(const struct cts_partition_scale *ours, const struct twin_scale *twins,
                          const struct cts_partition *result, const char *mapping, unsigned p)
{
    SAME(ours->traffic_bytes, twins->traffic);
    SAME(ours->replica_bytes, twins->replica);
    SAME(ours->shared_bytes, twins->shared);
    assert_true(ours->shared_bytes <= result->total.written_bytes);
    SAME(ours->held_bytes, twins->held);
    SAME(ours->owner_remote_write_bytes, twins->owner_write);
    SAME(ours->touch_remote_read_bytes, twins->touch_read);
    SAME(ours->touch_remote_write_bytes, twins->touch_write);
    for (size_t i = 0; i < result->launch_count; i++)
        SAME(ours->launch_bytes[i], twins->launch_bytes[i]);
    for (unsigned q = 0; q < p; q++) {
        SAME(ours->parts[q].ctas, twins->parts[q].ctas);
        SAME(ours->parts[q].read_bytes, twins->parts[q].read_bytes);
        SAME(ours->parts[q].written_bytes, twins->parts[q].written_bytes);
        SAME(ours->parts[q].in_bytes, twins->parts[q].in_bytes);
        SAME(ours->parts[q].out_bytes, twins->parts[q].out_bytes);
    }
    for (size_t k = 0; k < result->kernel_count; k++)
        SAME(ours->kernel_bytes[k], twins->kernel_bytes[result->kernels[k]]);
    uint64_t sum = 0;
    for (size_t k = 0; k < result->place_count; k++) sum += ours->allocation_bytes[k];
    SAME(sum, ours->traffic_bytes);
    assert_true(ours->time.no_overlap_s >= twins->no_overlap_s * 0.999999 &&
                ours->time.no_overlap_s <= twins->no_overlap_s * 1.000001);
    assert_true(ours->time.full_overlap_s >= twins->full_overlap_s * 0.999999 &&
                ours->time.full_overlap_s <= twins->full_overlap_s * 1.000001);
}

static void compare_run(const struct twin *t, const struct cts_partition *result)
{
    const char *const mapping = "run";
    const unsigned p = 0;
    uint64_t gpu = 0, host = 0, both = 0, empty = 0;
    for (size_t i = 0; i < result->launch_count; i++) {
        const uint64_t *const ours = (const uint64_t *)&result->launches[i].sums;
        const uint64_t *const twins = (const uint64_t *)&t->sums[i];
        for (size_t k = 0; k < CTS_PARTITION_LAUNCH_FIELD_COUNT; k++) SAME(ours[k], twins[k]);
        empty += result->launches[i].counted && !t->sums[i].critical_base_bytes;
    }
    for (int x = 0; x < BYTES; x++) {
        gpu += t->bytes[x].in_gpu_set;
        host += t->bytes[x].in_host_set;
        both += t->bytes[x].in_gpu_set && t->bytes[x].in_host_set;
    }
    SAME(result->sets.gpu_bytes, gpu);
    SAME(result->sets.host_bytes, host);
    SAME(result->sets.both_bytes, both);
    SAME(result->sets.working_bytes, gpu + host - both);
    SAME(result->empty_gpu_sets, empty);
}

/* What the communication analysis says must agree with it. */
static void compare_communication(const struct program *program, const struct cts_partition *result,
                                  bool paper_model)
{
    struct cts_comm comm;
    struct cts_error error;
    const struct cts_access_source source = source_of(program);
    const struct cts_comm_options options = {.threads = 1, .paper_model = paper_model};
    const char *const mapping = "comm";
    const unsigned p = 0;
    if (cts_comm_analyze(&program->catalogue, &source, &options, &comm, &error))
        fail_msg("%s", error.text);
    SAME(result->total.received_bytes, comm.total.received_bytes);
    SAME(result->total.read_unique_bytes, comm.total.global_read_unique_bytes);
    SAME(result->total.written_unique_bytes, comm.total.global_written_unique_bytes);
    for (size_t i = 0; i < result->launch_count; i++)
        SAME(result->launches[i].sums.received_bytes, comm.launches[i].counts.received_bytes);
    cts_comm_release(&comm);
}

static void make_scale(const struct program *program, struct scale_of *scale, const char *mapping,
                       unsigned p)
{
    scale->mapping = mapping;
    scale->p = p;
    for (size_t i = 0; i < program->catalogue.launch_count; i++) {
        const uint32_t *const grid = program->launches[i].grid;
        for (unsigned c = 0; c < grid[0] * grid[1] * grid[2]; c++)
            scale->parts[i][c] = (uint8_t)partition_of(grid, c, mapping, p);
    }
}

static void check_program(struct program *program)
{
    static const uint32_t counts[] = {1, 2, 3, 5, 12, 70};
    enum { COUNTS = 6 };
    const struct cts_mapping *const *const mappings = cts_mappings;
    const size_t mapping_count = CTS_MAPPING_COUNT;
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = COUNTS,
                                                  .mappings = mappings,
                                                  .mapping_count = mapping_count,
                                                  .best_found = chance(30),
                                                  .paper_model = chance(20),
                                                  .per_stream = chance(30),
                                                  .page_bytes = PAGE_BYTES,
                                                  .l2_bytes = chance(70) ? 1 + below(20000) : 0,
                                                  .link_bytes_per_s = 1e9,
                                                  .local_bytes_per_s = 7e9,
                                                  .launch_s = chance(50) ? 3e-6 : -1,
                                                  .launch_times = chance(30),
                                                  .threads = 1 + below(3),
                                                  .pattern_bytes = chance(30) ? 2000 : 0};
    struct twin *const t = calloc(1, sizeof *t);
    struct scale_of *const scales = calloc(COUNTS * mapping_count, sizeof *scales);
    t->p = program;
    t->options = &options;
    t->scale_count = COUNTS * mapping_count;
    t->scales = calloc(t->scale_count, sizeof *t->scales);
    for (size_t i = 0; i < t->scale_count; i++)
        make_scale(program, &scales[i], mappings[i / COUNTS]->name, counts[i % COUNTS]);
    run_twin(t, scales);

    struct cts_partition result;
    struct cts_error error;
    const struct cts_access_source source = source_of(program);
    if (cts_partition_analyze(&program->catalogue, &source, &options, &result, &error))
        fail_msg("%s", error.text);
    assert_int_equal(result.launch_count, program->catalogue.launch_count);
    assert_int_equal(result.scale_count, t->scale_count + (options.best_found ? COUNTS : 0));
    for (size_t i = 0; i < t->scale_count; i++)
        compare_scale(&result.scales[i], &t->scales[i], &result, scales[i].mapping, scales[i].p);
    compare_run(t, &result);
    compare_communication(program, &result, options.paper_model);
    for (size_t i = t->scale_count; i < result.scale_count; i++) {
        const struct cts_partition_scale *const best = &result.scales[i];
        assert_string_equal(result.mappings[best->mapping], "best-found");
        for (size_t k = 0; k < t->scale_count; k++)
            if (result.scales[k].partition_count == best->partition_count &&
                result.scales[k].cta_imbalance <= 1.1)
                assert_true(best->traffic_bytes <= result.scales[k].traffic_bytes);
    }
    cts_partition_release(&result);
    for (int x = 0; x < BYTES; x++) forget_readings(&t->bytes[x]);
    free(t->scales);
    free(scales);
    free(t);
}

static void random_programs_agree_with_the_twin(void **state)
{
    (void)state;
    struct program *const program = malloc(sizeof *program);
    const char *const first = getenv("CTS_TEST_PROGRAM"); /* to look at one again */
    const int only = first ? (int)strtol(first, NULL, 10) : -1;
    const int programs = (int)cts_test_count(PROGRAMS_QUICK, PROGRAMS);
    for (program_number = 0; program_number < programs || program_number <= only;
         program_number++) {
        if (only >= 0 && program_number != only) continue;
        random_start((uint64_t)program_number * 1000003);
        make_program(program);
        check_program(program);
    }
    free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_programs_agree_with_the_twin)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
