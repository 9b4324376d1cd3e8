/* Makes .trc files such as cuda-memtrace writes, for benchmarks and tests.
 *
 *     trc-generate PATTERN RECORDS VERSION FILE
 *
 * PATTERN is vectoradd, stencil, gather or single; RECORDS the least number of thread accesses;
 * VERSION 2 or 3. A GPU runs many CTAs at once, whose warps write the records of their lanes side
 * by side: here RESIDENT CTAs take turns, one instruction of one warp at a time. `single` is a
 * gather whose CTAs take turns after every record, the worst that a reader can meet.
 *
 * Version 3 joins consecutive accesses to runs. A run of more than 65,535 is split. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 32, WARPS = 8, RESIDENT = 132 * 8, SMS = 132, RUN_MAX = 65535 };

struct record {
    uint64_t descriptor, address, cta;
};

struct output {
    FILE *file;
    int version;
    uint64_t written; /* thread accesses */
    struct record run;
    uint32_t run_length;
};

static void put(struct output *output, const void *bytes, size_t byte_count)
{
    if (fwrite_unlocked(bytes, 1, byte_count, output->file) != byte_count) {
        perror("trc-generate");
        exit(1);
    }
}

static void put_run(struct output *output)
{
    uint8_t bytes[27] = {output->run_length == 1 ? 0xff : 0xfe};
    if (!output->run_length) return;
    memcpy(bytes + 1, &output->run, 24);
    const uint16_t count = (uint16_t)output->run_length;
    memcpy(bytes + 25, &count, 2);
    put(output, bytes, output->run_length == 1 ? 25 : 27);
    output->run_length = 0;
}

static void put_record(struct output *output, const struct record *record)
{
    const struct record *const run = &output->run;
    const uint64_t next = run->address + (run->descriptor & 0x0fffffff) * output->run_length;
    output->written++;
    if (output->version == 3 && output->run_length && output->run_length < RUN_MAX &&
        run->descriptor == record->descriptor && run->cta == record->cta &&
        next == record->address) {
        output->run_length++;
        return;
    }
    put_run(output);
    output->run = *record;
    output->run_length = 1;
}

static void put_kernel(struct output *output, const char *name)
{
    put_run(output);
    const uint16_t length = (uint16_t)strlen(name);
    const uint8_t head[3] = {0, (uint8_t)length, (uint8_t)(length >> 8)};
    put(output, head, sizeof head);
    put(output, name, length);
}

/* ---- patterns: the address of a lane for an instruction, or 0 when it takes no part ---- */

struct pattern {
    const char *name;
    unsigned instruction_count, launch_count;
    bool by_record;           /* CTAs take turns after every record */
    const unsigned *is_store; /* per instruction */
    uint64_t (*address)(uint64_t n, uint64_t launch, uint64_t cta, unsigned warp,
                        unsigned instruction, unsigned lane);
};

static const uint64_t ARRAY_A = 0x7f0000000000, ARRAY_B = 0x7f4000000000, ARRAY_C = 0x7f8000000000;

static uint64_t vectoradd(uint64_t n, uint64_t launch, uint64_t cta, unsigned warp,
                          unsigned instruction, unsigned lane)
{
    (void)n, (void)launch;
    const uint64_t bases[] = {ARRAY_A, ARRAY_B, ARRAY_C};
    return bases[instruction] + 4 * ((cta * WARPS + warp) * LANES + lane);
}

/* A block of 32 x 8 threads of a field n blocks wide and as large as it takes. */
static uint64_t stencil(uint64_t n, uint64_t launch, uint64_t cta, unsigned warp,
                        unsigned instruction, unsigned lane)
{
    const uint64_t edge = n * LANES;
    const uint64_t x = cta % n * LANES + lane, y = cta / n * WARPS + warp;
    const uint64_t from = launch % 2 ? ARRAY_B : ARRAY_A, to = launch % 2 ? ARRAY_A : ARRAY_B;
    const uint64_t at = y * edge + x;
    switch (instruction) {
    case 0:
        return from + 4 * at;
    case 1:
        return x ? from + 4 * (at - 1) : 0;
    case 2:
        return x + 1 < edge ? from + 4 * (at + 1) : 0;
    case 3:
        return y ? from + 4 * (at - edge) : 0;
    case 4:
        return from + 4 * (at + edge);
    default:
        return to + 4 * at;
    }
}

static uint64_t gather(uint64_t n, uint64_t launch, uint64_t cta, unsigned warp,
                       unsigned instruction, unsigned lane)
{
    (void)launch;
    const uint64_t i = (cta * WARPS + warp) * LANES + lane;
    const uint64_t mixed = (i * UINT64_C(0x9e3779b97f4a7c15)) ^ (i << 7);
    if (instruction == 0) return ARRAY_A + 4 * i;
    if (instruction == 1)
        return ARRAY_B + 4 * ((mixed * UINT64_C(0xbf58476d1ce4e5b9) >> 24) % (n * n * LANES));
    return ARRAY_C + 4 * i;
}

static const unsigned last_of_three[] = {0, 0, 1};
static const unsigned last_of_six[] = {0, 0, 0, 0, 0, 1};

static const struct pattern patterns[] = {
    {"vectoradd", 3, 1, false, last_of_three, vectoradd},
    {"stencil", 6, 4, false, last_of_six, stencil},
    {"gather", 3, 1, false, last_of_three, gather},
    {"single", 3, 1, true, last_of_three, gather},
};

static void put_access(struct output *output, const struct pattern *pattern, uint64_t n,
                       uint64_t launch, uint64_t cta, unsigned warp, unsigned instruction,
                       unsigned lane)
{
    const uint64_t address = pattern->address(n, launch, cta, warp, instruction, lane);
    const struct record record = {.descriptor = (cta % SMS) << 32 |
                                                (uint64_t)pattern->is_store[instruction] << 28 | 4,
                                  .address = address,
                                  .cta = cta << 32};
    if (address) put_record(output, &record);
}

/* The CTAs from `first` on that are on the GPU at once. */
static void put_window(struct output *output, const struct pattern *pattern, uint64_t n,
                       uint64_t launch, uint64_t first, uint64_t end)
{
    const unsigned turns = pattern->by_record ? LANES : 1, lanes = LANES / turns;
    for (unsigned warp = 0; warp < WARPS; warp++)
        for (unsigned i = 0; i < pattern->instruction_count; i++)
            for (unsigned turn = 0; turn < turns; turn++)
                for (uint64_t cta = first; cta < end; cta++)
                    for (unsigned lane = turn * lanes; lane < (turn + 1) * lanes; lane++)
                        put_access(output, pattern, n, launch, cta, warp, i, lane);
}

static void generate(struct output *output, const struct pattern *pattern, uint64_t records)
{
    static const uint8_t magic[] = {0x19, 'C', 'U', 'D', 'A', 'T', 'R', 'A', 'C', 'E'};
    put(output, output->version == 3 ? "\x1a" : "\x19", 1);
    put(output, magic + 1, sizeof magic - 1);
    const uint64_t per_cta =
        (uint64_t)pattern->instruction_count * WARPS * LANES * pattern->launch_count;
    const uint64_t cta_count = (records + per_cta - 1) / per_cta;
    uint64_t n = 1;
    while (n * n * WARPS < cta_count * LANES) n++; /* about as wide as high */
    n = n / (LANES / WARPS) + 1;
    for (uint64_t launch = 0; launch < pattern->launch_count; launch++) {
        put_kernel(output, pattern->name);
        for (uint64_t cta = 0; cta < cta_count; cta += RESIDENT)
            put_window(output, pattern, n, launch, cta,
                       cta + RESIDENT < cta_count ? cta + RESIDENT : cta_count);
    }
    put_run(output);
}

int main(int argc, char **argv)
{
    const struct pattern *pattern = NULL;
    for (size_t i = 0; argc == 5 && i < sizeof patterns / sizeof *patterns; i++)
        if (!strcmp(argv[1], patterns[i].name)) pattern = &patterns[i];
    struct output output = {.version = argc == 5 ? (int)strtol(argv[3], NULL, 10) : 0};
    if (!pattern || (output.version != 2 && output.version != 3)) {
        fprintf(stderr, "usage: %s vectoradd|stencil|gather|single RECORDS 2|3 FILE\n", argv[0]);
        return 2;
    }
    output.file = fopen(argv[4], "wb");
    if (!output.file) {
        perror(argv[4]);
        return 1;
    }
    setvbuf(output.file, NULL, _IOFBF, 1 << 20);
    generate(&output, pattern, strtoull(argv[2], NULL, 10));
    if (fclose(output.file)) {
        perror(argv[4]);
        return 1;
    }
    printf("%" PRIu64 "\n", output.written);
    return 0;
}
