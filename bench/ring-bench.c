/* What the ring's consumers cost: ring-bench DIRECTORY prints, for the warp records of five
 * kernels, ns per record of one thread that takes them out of the bins ("take"), and that also
 * hands them to a collector and writes them as files into DIRECTORY ("write"), and bytes per record
 * there.
 *
 * The records come in the order of a GPU of 132 multiprocessors, of which the thread serves eight:
 * each runs eight CTAs at a time (of n-body one), whose warps take turns by chance, and gets a new
 * CTA when one has ended. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "trace/write/collector-private.h"
#include "record/ring/batch.h"
#include "record/ring/producer.h"

enum {
    MULTIPROCESSORS = 132,
    BINS = 8,
    SLOTS_LOG2 = 18,
    RESIDENT = 8,
    WARPS = 8,
    LAUNCHES = 6, /* the first is not counted */
};

/* Of this thread: others may use the machine, too. */
static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t random_below(uint32_t n)
{
    static uint64_t state = 88172645463325252u;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)((state >> 32) * n >> 32);
}

/* ---- the kernels ---- */

struct kernel {
    const char *name;
    uint32_t ctas, resident;
    bool has_barriers; /* after every `phase` records of a warp */
    uint32_t phase;
    /* Record number `step` of a warp; false: there is none. */
    bool (*record)(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                   int32_t offsets[CTS_WARP_LANES]);
};

enum { A = 0x10000000, B = 0x20000000, C = 0x30000000, KIND_LOAD = 0, KIND_STORE = 1 };

static void affine(struct cts_ring_record *record, uint32_t pc, uint64_t base, int32_t s0,
                   bool is_store)
{
    record->pc = pc;
    record->base = base;
    record->s0 = s0;
    record->pattern = s0 ? CTS_RING_AFFINE : CTS_RING_UNIFORM;
    record->operation = is_store ? CTS_RING_STORE : CTS_RING_LOAD;
}

static bool add(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                int32_t *offsets)
{
    static const uint64_t arrays[] = {A, B, C};
    (void)offsets;
    if (step == 3) return false;
    affine(record, 10 + step, arrays[step] + (cta * 8ull + warp) * 128, 4, step == 2);
    return true;
}

static bool reduce(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                   int32_t *offsets)
{
    (void)offsets;
    if (step > 1 || (step == 1 && warp)) return false;
    affine(record, 10 + step, step ? B + 4ull * cta : A + (cta * 8ull + warp) * 128, step ? 0 : 4,
           step);
    if (step) record->mask = 1;
    return true;
}

static bool gather(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                   int32_t *offsets)
{
    if (step != 1) return add(cta, warp, step, record, offsets);
    affine(record, 11, B + 4ull * random_below(1 << 24), 0, false);
    record->pattern = CTS_RING_LIST;
    for (int l = 1; l < CTS_WARP_LANES; l++)
        offsets[l] = (int32_t)(B + 4ull * random_below(1 << 24) - record->base);
    offsets[0] = 0;
    return true;
}

static bool multiply(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                     int32_t *offsets)
{
    const uint64_t row = cta / 64 * 16 + 2 * warp, column = cta % 64 * 16, k = step / 2 * 16;
    (void)offsets;
    if (step > 128) return false;
    if (step == 128)
        affine(record, 12, C + 4 * (row * 1024 + column), 4, true);
    else if (step % 2)
        affine(record, 11, B + 4 * ((k + 2 * warp) * 1024 + column), 4, false);
    else
        affine(record, 10, A + 4 * (row * 1024 + k), 4, false);
    record->pattern = CTS_RING_TWO_LEVEL;
    record->s1 = 4096;
    record->row_lanes = 16;
    return true;
}

static bool bodies(uint32_t cta, uint32_t warp, uint32_t step, struct cts_ring_record *record,
                   int32_t *offsets)
{
    (void)offsets;
    if (step > 16385) return false;
    record->width_log2 = 4;
    if (step == 0 || step == 16385)
        affine(record, 10 + step % 2, (step ? C : A) + (cta * 8ull + warp) * 512, 16, step);
    else
        affine(record, 12 + step % 4, A + 16ull * (step - 1), 0, false); /* unrolled by four */
    return true;
}

static const struct kernel kernels[] = {
    {"vector add", 65536, RESIDENT, false, 0, add},
    {"reduce", 65536, RESIDENT, true, 1, reduce},
    {"gather", 65536, RESIDENT, false, 0, gather},
    {"matmul", 4096, RESIDENT, true, 2, multiply},
    {"n-body", 64, 1, false, 0, bodies},
};

/* ---- the GPU ---- */

struct cta {
    uint32_t number, steps[WARPS], running; /* mask of warps that are not done */
};
struct gpu {
    const struct kernel *kernel;
    uint32_t launch, next_cta;
    struct cta ctas[MULTIPROCESSORS][RESIDENT];
    uint32_t cta_count[MULTIPROCESSORS];
    uint32_t *slots;
    uint64_t heads[BINS];
    uint64_t records;
};

static void store(struct gpu *gpu, uint32_t bin_index, const struct cts_ring_record *record,
                  const int32_t *offsets)
{
    const struct cts_ring_bin bin = {
        .slots = (uintptr_t)(gpu->slots + ((size_t)bin_index << SLOTS_LOG2) * CTS_RING_SLOT_WORDS)};
    const uint64_t position = gpu->heads[bin_index];
    const uint32_t lanes = record->pattern == CTS_RING_LIST ? CTS_WARP_LANES : 0;
    cts_ring_store(&bin, position, SLOTS_LOG2, record);
    for (uint32_t k = 0; k < lanes; k++)
        cts_ring_store_offset(&bin, position, SLOTS_LOG2, k, offsets[k]);
    gpu->heads[bin_index] += cts_ring_slots(lanes);
    gpu->records++;
}

/* Whether a warp may go on: with barriers, only to the end of its phase before the others do. */
static bool may_step(const struct kernel *kernel, const struct cta *cta, uint32_t warp)
{
    if (!(cta->running >> warp & 1)) return false;
    for (uint32_t w = 0; kernel->has_barriers && w < WARPS; w++)
        if (cta->running >> w & 1 &&
            cta->steps[w] / kernel->phase < cta->steps[warp] / kernel->phase)
            return false;
    return true;
}

/* One record of a multiprocessor; false: it has nothing left to do. */
static bool step(struct gpu *gpu, uint32_t sm)
{
    struct cta *const ctas = gpu->ctas[sm];
    while (gpu->cta_count[sm] < gpu->kernel->resident && gpu->next_cta < gpu->kernel->ctas)
        ctas[gpu->cta_count[sm]++] =
            (struct cta){.number = gpu->next_cta++, .running = (1u << WARPS) - 1};
    while (gpu->cta_count[sm]) {
        const uint32_t which = random_below(gpu->cta_count[sm]);
        struct cta *const cta = ctas + which;
        uint32_t warp = random_below(WARPS);
        while (!may_step(gpu->kernel, cta, warp)) warp = (warp + 1) % WARPS;
        int32_t offsets[CTS_WARP_LANES];
        struct cts_ring_record record = {.mask = UINT32_MAX,
                                         .cta = cta->number,
                                         .launch = gpu->launch,
                                         .warp = (uint8_t)warp,
                                         .width_log2 = 2};
        if (gpu->kernel->record(cta->number, warp, cta->steps[warp], &record, offsets)) {
            cta->steps[warp]++;
            if (sm < BINS) store(gpu, sm, &record, offsets);
            return true;
        }
        cta->running &= ~(1u << warp);
        if (!cta->running) *cta = ctas[--gpu->cta_count[sm]];
    }
    return false;
}

static void run_launch(struct gpu *gpu, uint32_t launch)
{
    gpu->launch = launch;
    gpu->next_cta = 0;
    bool any = true;
    while (any) {
        any = false;
        for (uint32_t sm = 0; sm < MULTIPROCESSORS; sm++) any = step(gpu, sm) || any;
    }
}

/* ---- the consumer ---- */

static bool launch_of(void *state, uint32_t number, uint32_t *launch, bool *by_warp)
{
    *launch = number;
    *by_warp = !((const struct kernel *)state)->has_barriers;
    return true;
}
static uint32_t site_of(void *state, const struct cts_ring_record *record)
{
    (void)state;
    return record->pc;
}
static void count(void *state, uint32_t number, const struct cts_stream_counts *counts)
{
    (void)state;
    (void)number;
    (void)counts;
}

static void fail(const char *text)
{
    fprintf(stderr, "ring-bench: %s\n", text);
    exit(1);
}

/* ns and records of all launches but the first. */
static double consume(const struct kernel *kernel, struct cts_stream *stream, uint64_t *records)
{
    static uint64_t tails[BINS * CTS_RING_TAIL_STRIDE];
    const struct cts_ring_names names = {
        (void *)(uintptr_t)kernel, launch_of, site_of, count, NULL, NULL};
    struct cts_error error;
    struct gpu *const gpu = calloc(1, sizeof *gpu);
    const size_t bytes = ((size_t)BINS << SLOTS_LOG2) * CTS_RING_SLOT_BYTES;
    if (!gpu || !(gpu->slots = aligned_alloc(64, bytes))) fail("no memory");
    memset(gpu->slots, 0, bytes);
    gpu->kernel = kernel;
    struct cts_batch batch = {.names = &names};
    if (cts_batch_init(&batch, &error)) fail(error.text);
    batch.names = &names;
    batch.stream = stream;
    struct cts_ring_source sources[BINS];
    for (uint32_t b = 0; b < BINS; b++)
        sources[b] = (struct cts_ring_source){.slots = gpu->slots + ((size_t)b << SLOTS_LOG2) *
                                                                        CTS_RING_SLOT_WORDS,
                                              .tail_at = tails + (size_t)b * CTS_RING_TAIL_STRIDE,
                                              .slots_log2 = SLOTS_LOG2};
    uint64_t ns = 0;
    for (uint32_t launch = 0; launch < LAUNCHES; launch++) {
        gpu->records = 0;
        run_launch(gpu, launch);
        const uint64_t start_ns = now_ns();
        for (bool any = true; any;) {
            any = false;
            for (uint32_t b = 0; b < BINS; b++) { /* a quarter of a bin at a time */
                any = cts_batch_take(&batch, sources + b, 1 << 14) || any;
                if (cts_batch_is_full(&batch)) cts_batch_feed(&batch);
            }
            cts_batch_feed(&batch);
        }
        cts_batch_settle(&batch);
        if (launch) ns += now_ns() - start_ns;
        if (launch) *records += gpu->records;
    }
    cts_batch_release(&batch);
    free(gpu->slots);
    free(gpu);
    return (double)ns;
}

int main(int argc, char **argv)
{
    if (argc < 2) fail("which directory?");
    for (size_t k = 0; k < sizeof kernels / sizeof *kernels; k++) {
        if (argc > 2 && strcmp(argv[2], kernels[k].name) != 0) continue;
        const struct cts_collector_options options = {.run_path = NULL};
        struct cts_collector *collector;
        struct cts_stream *stream = NULL;
        struct cts_error error;
        char path[4096];
        snprintf(path, sizeof path, "%s/0.acc", argv[1]);
        unlink(path);
        uint64_t taken = 0, written = 0;
        const double take_ns = consume(kernels + k, NULL, &taken);
        if (cts_collector_open_directory(argv[1], &options, &collector, &error) ||
            cts_collector_stream(collector, &stream, &error))
            fail(error.text);
        const double write_ns = consume(kernels + k, stream, &written);
        const double bytes = (double)atomic_load(&collector->size_bytes);
        if (cts_collector_close(collector, &error)) fail(error.text);
        printf("%-12s take %6.1f write %6.1f ns/record %7.2f bytes/record %9llu records\n",
               kernels[k].name, take_ns / (double)taken, write_ns / (double)written,
               bytes / (double)written * (LAUNCHES - 1) / LAUNCHES, (unsigned long long)written);
        unlink(path);
    }
    return 0;
}
