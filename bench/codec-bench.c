/* What recording and reading cost per warp record, for streams as typical kernels make them:
 *
 *     fill     computing the lane addresses, as the kernel would; not ours, given for comparison
 *     zip      recognising the patterns (cts_stream_add_rows without what follows)
 *     encode   finding templates, coding, compressing and writing to a file
 *     decode   reading the file into columns
 *
 * in nanoseconds of processor time per record, best of the repeats; then bytes of file per thread
 * access. Usage: codec-bench [directory for the files [repeats [part of a workload's name [zip]]]];
 * without: /tmp, 3, all, and the fastest zip of generic, avx2 and avx512. */
#include <inttypes.h>
#include <stdalign.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "trace/write/collector-private.h"
#include "trace/acc.h"

enum { SLOTS_MAX = 8 };

static alignas(64) uint64_t lanes[SLOTS_MAX][CTS_WARP_LANES];
static const uint32_t sites[SLOTS_MAX] = {0, 1, 2, 3, 4, 5, 6, 7};
static const uint8_t spaces[SLOTS_MAX] = {1, 1, 1, 1, 1, 1, 1, 1};

/* Where the records of a workload go. */
enum pass { PASS_FILL, PASS_ZIP, PASS_RECORD };
struct sink {
    enum pass pass;
    struct cts_stream *stream;
    uint64_t random;
};

/* Of this process only: other work on the machine shall not count. */
static double now_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static uint32_t next_random(struct sink *sink)
{
    sink->random = sink->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(sink->random >> 33);
}

static void begin_cta(struct sink *sink, uint32_t cta)
{
    if (sink->pass == PASS_RECORD) cts_stream_begin_cta(sink->stream, 0, cta);
}

static void end_cta(struct sink *sink)
{
    if (sink->pass == PASS_RECORD) cts_stream_end_cta(sink->stream);
    if (sink->pass == PASS_ZIP) {
        struct cts_acc_segment *const segment = &sink->stream->segment;
        segment->record_count = segment->offset_count = segment->value_count = 0;
    }
}

static void put_rows(struct sink *sink, uint32_t slot_count, uint16_t warp)
{
    const struct cts_row_batch batch = {.lanes = lanes[0],
                                        .sites = sites,
                                        .spaces = spaces,
                                        .slot_count = slot_count,
                                        .warp = warp};
    if (sink->pass == PASS_RECORD)
        cts_stream_add_rows(sink->stream, &batch);
    else if (sink->pass == PASS_ZIP)
        (void)!sink->stream->zip->rows(&sink->stream->segment, &batch, 0);
    else
        __asm__ volatile("" ::: "memory");
}

static void put_record(struct sink *sink, uint32_t site, enum cts_space space, uint16_t warp)
{
    const struct cts_zip_row row = {.site = site, .warp = warp, .space = (uint8_t)space};
    if (sink->pass == PASS_RECORD) {
        cts_stream_add(sink->stream, &(struct cts_stream_row){.site = site,
                                                              .space = space,
                                                              .warp = warp,
                                                              .mask = UINT32_MAX,
                                                              .addresses = lanes[0],
                                                              .value_words = 0,
                                                              .values = NULL});
    } else if (sink->pass == PASS_ZIP) {
        sink->stream->zip->one(&sink->stream->segment, &row, UINT32_MAX, lanes[0]);
        if (cts_segment_is_full(&sink->stream->segment)) sink->stream->segment.record_count = 0;
    } else {
        __asm__ volatile("" ::: "memory");
    }
}

/* ---- workloads ---- */

static void vectoradd(struct sink *sink)
{
    for (uint32_t cta = 0; cta < 65536; cta++) {
        begin_cta(sink, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            const uint64_t first = 0x7f0000000000u + (cta * 256ull + warp * 32) * 4;
            for (unsigned l = 0; l < 32; l++)
                for (unsigned s = 0; s < 3; s++) lanes[s][l] = first + (s << 28) + 4 * l;
            put_rows(sink, 3, (uint16_t)warp);
        }
        end_cta(sink);
    }
}

/* 4096 x 2048 points, the border left out; five loads and a store. */
static void stencil(struct sink *sink, uint32_t block_x, uint32_t block_y)
{
    const uint64_t in = 0x7f0000000000u, out = 0x7f1000000000u;
    const uint32_t nx = 4096, ny = 2048;
    for (uint32_t cta = 0; cta < nx / block_x * (ny / block_y); cta++) {
        const uint32_t x0 = cta % (nx / block_x) * block_x, y0 = cta / (nx / block_x) * block_y;
        begin_cta(sink, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            for (unsigned l = 0; l < 32; l++) {
                const uint32_t thread = warp * 32 + l;
                const uint32_t x = x0 + thread % block_x, y = y0 + thread / block_x;
                const uint64_t p = ((uint64_t)y * nx + x) * 4;
                if (x == 0 || y == 0 || x == nx - 1 || y == ny - 1) continue;
                lanes[0][l] = in + p;
                lanes[1][l] = in + p - 4;
                lanes[2][l] = in + p + 4;
                lanes[3][l] = in + p - 4ull * nx;
                lanes[4][l] = in + p + 4ull * nx;
                lanes[5][l] = out + p;
            }
            put_rows(sink, 6, (uint16_t)warp);
        }
        end_cta(sink);
    }
}
static void stencil_32x8(struct sink *sink)
{
    stencil(sink, 32, 8);
}
static void stencil_16x16(struct sink *sink)
{
    stencil(sink, 16, 16);
}

/* out[i] = in[index[i]], 2^24 elements. */
static void gather(struct sink *sink)
{
    for (uint32_t cta = 0; cta < 4096; cta++) {
        begin_cta(sink, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            const uint64_t i = cta * 256ull + warp * 32;
            for (unsigned l = 0; l < 32; l++) {
                lanes[0][l] = 0x7f0000000000u + (i + l) * 4;
                lanes[1][l] = 0x7f1000000000u + (next_random(sink) & 0xffffff) * 4ull;
                lanes[2][l] = 0x7f2000000000u + (i + l) * 4;
            }
            put_rows(sink, 3, (uint16_t)warp);
        }
        end_cta(sink);
    }
}

static void put_affine(struct sink *sink, uint32_t site, enum cts_space space, uint32_t warp,
                       uint64_t base, uint64_t s0, uint64_t s1)
{
    for (unsigned l = 0; l < 32; l++) lanes[0][l] = base + s0 * (l % 16) + s1 * (l / 16);
    put_record(sink, site, space, (uint16_t)warp);
}

/* 1024 x 1024 matrices in tiles of 16 x 16, the inner loop of 16 unrolled; two rows of CTAs. */
static void matmul(struct sink *sink)
{
    const uint64_t a = 0x7f0000000000u, b = 0x7f1000000000u, c = 0x7f2000000000u;
    for (uint32_t cta = 0; cta < 128; cta++) {
        const uint64_t row = cta / 64 * 16 * 4096ull, column = cta % 64 * 64ull;
        begin_cta(sink, cta);
        for (uint64_t tile = 0; tile < 64; tile++) {
            for (uint32_t w = 0; w < 8; w++) {
                const uint64_t in_a = a + row + w * 2 * 4096ull + tile * 64;
                const uint64_t in_b = b + column + (w * 2 + tile * 16) * 4096ull;
                put_affine(sink, 0, CTS_SPACE_GLOBAL, w, in_a, 4, 4096);
                put_affine(sink, 1, CTS_SPACE_SHARED, w, w * 128ull, 4, 64);
                put_affine(sink, 2, CTS_SPACE_GLOBAL, w, in_b, 4, 4096);
                put_affine(sink, 3, CTS_SPACE_SHARED, w, 1024 + w * 128ull, 4, 64);
            }
            for (uint32_t w = 0; w < 8; w++) {
                for (uint32_t k = 0; k < 16; k++) {
                    put_affine(sink, 4 + 2 * k, CTS_SPACE_SHARED, w, w * 128ull + k * 4, 0, 64);
                    put_affine(sink, 5 + 2 * k, CTS_SPACE_SHARED, w, 1024 + k * 64ull, 4, 0);
                }
            }
        }
        for (uint32_t w = 0; w < 8; w++)
            put_affine(sink, 40, CTS_SPACE_GLOBAL, w, c + row + column + w * 8192ull, 4, 4096);
        end_cta(sink);
    }
}

/* Rows of about 10 random lanes; one row of five gathers, the others are affine. */
static void bfs(struct sink *sink)
{
    for (uint32_t cta = 0; cta < 4096; cta++) {
        begin_cta(sink, cta);
        for (uint32_t warp = 0; warp < 8; warp++) {
            for (uint32_t k = 0; k < 3; k++) {
                const uint32_t some = next_random(sink);
                const uint32_t mask = (some & next_random(sink)) | (some << 16 & next_random(sink));
                const uint64_t i = next_random(sink) & 0xfffff;
                for (unsigned l = 0; l < 32; l++) {
                    if (!(mask >> l & 1)) continue;
                    lanes[0][l] = 0x7f0000000000u + ((cta * 8ull + warp) * 32 + l) * 4;
                    lanes[1][l] = 0x7f1000000000u + (i + l) * 4;
                    lanes[2][l] = 0x7f2000000000u + (next_random(sink) & 0xfffff) * 4ull;
                    lanes[3][l] = 0x7f3000000000u + (i + l) * 4;
                    lanes[4][l] = 0x7f4000000000u + (i + l);
                }
                put_rows(sink, 5, (uint16_t)warp);
            }
        }
        end_cta(sink);
    }
}

static const struct workload {
    const char *name;
    void (*run)(struct sink *sink);
} workloads[] = {
    {"vectoradd 16M", vectoradd}, {"stencil 32x8", stencil_32x8}, {"stencil 16x16", stencil_16x16},
    {"random gather", gather},    {"matmul 16x16", matmul},       {"bfs-like", bfs},
};

/* ---- measuring ---- */

struct result {
    double seconds[PASS_RECORD + 1], decode_seconds;
    uint64_t records, accesses, file_bytes;
};

static void die(const char *what)
{
    fprintf(stderr, "codec-bench: %s\n", what);
    exit(1);
}

static double run_pass(const struct workload *workload, enum pass pass, struct cts_stream *stream)
{
    struct sink sink = {.pass = pass, .stream = stream, .random = 1};
    memset(lanes, 0, sizeof lanes);
    const double start = now_seconds();
    workload->run(&sink);
    if (pass == PASS_RECORD) cts_stream_flush(stream);
    return now_seconds() - start;
}

static void decode(const char *run_path, struct result *result)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_error error;
    struct cts_acc_batch batch = {0};
    if (cts_acc_open(run_path, &reader, &error)) die(error.text);
    size_t count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &count);
    for (int round = 0; round < 2; round++) { /* the first one pays for fresh memory */
        const double start = now_seconds();
        for (size_t i = 0; i < count; i++)
            if (cts_acc_read(reader, &chunks[i], &batch, &error)) die(error.text);
        result->decode_seconds = now_seconds() - start;
    }
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
}

static struct result measure(const struct workload *workload, const char *directory,
                             const struct cts_zip *zip)
{
    char run_path[512], rank_path[540], file_path[560];
    snprintf(run_path, sizeof run_path, "%s/codec-bench-%d", directory, (int)getpid());
    snprintf(rank_path, sizeof rank_path, "%s/rank-0", run_path);
    snprintf(file_path, sizeof file_path, "%s/0.acc", rank_path);
    if (mkdir(run_path, 0777) || mkdir(rank_path, 0777)) die("cannot make the directory");
    struct cts_collector *collector;
    struct cts_stream *stream;
    struct cts_error error;
    const struct cts_collector_options options = {0};
    if (cts_collector_open_directory(rank_path, &options, &collector, &error)) die(error.text);
    if (cts_collector_stream(collector, &stream, &error)) die(error.text);
    stream->zip = zip;
    struct result result = {0};
    for (enum pass pass = PASS_FILL; pass <= PASS_RECORD; pass++)
        result.seconds[pass] = run_pass(workload, pass, stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(stream);
    if (cts_collector_close(collector, &error)) die(error.text);
    struct stat status;
    if (stat(file_path, &status)) die("the file is not there");
    result.records = counts.records;
    result.accesses = counts.accesses;
    result.file_bytes = (uint64_t)status.st_size;
    decode(run_path, &result);
    if (unlink(file_path) || rmdir(rank_path) || rmdir(run_path)) die("cannot clean up");
    return result;
}

static void print(const struct workload *workload, const struct result *r)
{
    const double per_record = 1e9 / (double)r->records;
    printf("%-14s %9" PRIu64 " %8.2f %8.2f %8.2f %8.2f %12.5f\n", workload->name, r->records,
           r->seconds[PASS_FILL] * per_record,
           (r->seconds[PASS_ZIP] - r->seconds[PASS_FILL]) * per_record,
           (r->seconds[PASS_RECORD] - r->seconds[PASS_ZIP]) * per_record,
           r->decode_seconds * per_record, (double)r->file_bytes / (double)r->accesses);
}

static const struct cts_zip *zip_of(const char *name)
{
    if (strcmp(name, cts_zip_best()->name) == 0) return cts_zip_best();
#if defined(__x86_64__)
    if (strcmp(name, "avx2") == 0 && __builtin_cpu_supports("avx2")) return &cts_zip_avx2;
#endif
    if (strcmp(name, "generic") != 0) die("no such zip on this machine");
    return &cts_zip_generic;
}

int main(int argc, char **argv)
{
    const char *const directory = argc > 1 ? argv[1] : "/tmp";
    const long repeats = argc > 2 ? strtol(argv[2], NULL, 10) : 3;
    const struct cts_zip *const zip = argc > 4 ? zip_of(argv[4]) : cts_zip_best();
    printf("%-14s %9s %8s %8s %8s %8s %12s   (%s)\n", "ns per record", "records", "fill", "zip",
           "encode", "decode", "bytes/access", zip->name);
    for (size_t w = 0; w < sizeof workloads / sizeof *workloads; w++) {
        if (argc > 3 && !strstr(workloads[w].name, argv[3])) continue;
        struct result best = measure(&workloads[w], directory, zip);
        for (long i = 1; i < repeats; i++) {
            const struct result r = measure(&workloads[w], directory, zip);
            for (int p = 0; p <= PASS_RECORD; p++)
                if (r.seconds[p] < best.seconds[p]) best.seconds[p] = r.seconds[p];
            if (r.decode_seconds < best.decode_seconds) best.decode_seconds = r.decode_seconds;
        }
        print(&workloads[w], &best);
    }
    return 0;
}
