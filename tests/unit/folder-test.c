/* Trace folders of cuda-profile: random traces, written here in each of the forms that the tool
 * writes (JSON plain, indented, packed; protobuf in both layouts; the flat list of early versions),
 * imported and compared access by access; exported and imported again; damaged ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

#include "import/export.h"
#include "import/folder-read.h"
#include "import/import.h"
#include "trace/acc.h"
#include "trace/catalogue.h"
#include "count.h"
#include "random.h"

/* ---- what a folder is to say ---- */

enum { REQUESTS_MAX = 40, LAUNCHES = 3, SHARED_AT = 0x7f000000 };

struct request {
    uint32_t cta[3], warp, mask, width;
    unsigned store, shared;
    int place;
    uint64_t time, addresses[32], values[32];
};
struct launch {
    uint32_t grid[3], block[3];
    unsigned request_count;
    struct request requests[REQUESTS_MAX];
};

static uint32_t cta_of(const struct launch *l, const struct request *r)
{
    return r->cta[0] + l->grid[0] * (r->cta[1] + l->grid[1] * r->cta[2]);
}

static void make_launch(struct launch *l)
{
    static const uint32_t widths[] = {1, 2, 4, 8};
    for (unsigned d = 0; d < 3; d++) l->grid[d] = 1 + below(4);
    l->block[0] = 8 + below(40);
    l->block[1] = 1 + below(3);
    l->block[2] = 1 + below(2);
    const uint32_t threads = l->block[0] * l->block[1] * l->block[2];
    l->request_count = 1 + below(REQUESTS_MAX);
    for (unsigned i = 0; i < l->request_count; i++) {
        struct request *const r = &l->requests[i];
        for (unsigned d = 0; d < 3; d++) r->cta[d] = below(l->grid[d]);
        r->warp = below((threads + 31) / 32);
        const uint32_t live = threads - r->warp * 32 < 32 ? threads - r->warp * 32 : 32;
        const uint32_t all = live == 32 ? UINT32_MAX : (1u << live) - 1;
        do r->mask = (below(3) ? UINT32_MAX : (uint32_t)random_u64()) & all;
        while (!r->mask);
        r->width = widths[below(4)];
        r->store = below(2);
        r->shared = below(3) == 0;
        r->place = (int)below(3);
        r->time = 1000 + i; /* of its own, so that the order is known */
        for (unsigned lane = 0; lane < 32; lane++) {
            r->addresses[lane] = r->shared ? (uint64_t)below(512) * 8
                                           : 0x7f0000000000 + (uint64_t)below(1 << 16) * r->width;
            r->values[lane] = random_u64() >> (64 - 8 * r->width);
        }
    }
}

/* ---- writing them ---- */

struct text {
    char *bytes;
    size_t count, capacity;
};

static void put(struct text *t, const void *bytes, size_t count)
{
    if (t->count + count + 1 > t->capacity) {
        t->capacity = 2 * (t->count + count + 1);
        t->bytes = realloc(t->bytes, t->capacity);
        assert_non_null(t->bytes);
    }
    memcpy(t->bytes + t->count, bytes, count);
    t->count += count;
    t->bytes[t->count] = '\0';
}

__attribute__((format(printf, 2, 3))) static void say(struct text *t, const char *format, ...)
{
    char line[600];
    va_list arguments;
    va_start(arguments, format);
    const int count = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    assert_true(count >= 0 && (size_t)count < sizeof line);
    put(t, line, (size_t)count);
}

static void thread_of(const struct launch *l, const struct request *r, unsigned lane,
                      uint32_t id[3])
{
    const uint32_t thread = r->warp * 32 + lane;
    id[0] = thread % l->block[0];
    id[1] = thread / l->block[0] % l->block[1];
    id[2] = thread / l->block[0] / l->block[1];
}

static uint64_t address_of(const struct request *r, unsigned lane)
{
    return r->addresses[lane] + (r->shared ? SHARED_AT : 0);
}

enum form { PLAIN, INDENTED, FLAT, PROTOBUF, PROTOBUF_LATER, FORM_COUNT };

static void say_lane(struct text *t, const struct launch *l, const struct request *r, unsigned lane,
                     const char *gap)
{
    uint32_t id[3];
    thread_of(l, r, lane, id);
    say(t,
        "\"threadIdx\":%s{\"x\":%u,\"y\":%u,\"z\":%u},\"address\":\"0x%016llX\",%s"
        "\"value\":\"0x%016llX\"",
        gap, id[0], id[1], id[2], (unsigned long long)address_of(r, lane), gap,
        (unsigned long long)r->values[lane]);
}

static void say_rest(struct text *t, const struct request *r, const char *gap)
{
    say(t,
        "\"blockIdx\":{\"x\":%u,\"y\":%u,\"z\":%u},%s\"warpId\":7,\"debugId\":%d,\"kind\":%u,"
        "\"size\":%u.0,\"space\":%u,\"typeIndex\":0,\"timestamp\":\"%llu\"",
        r->cta[0], r->cta[1], r->cta[2], gap, r->place, r->store, r->width, r->shared,
        (unsigned long long)r->time);
}

static void write_json(struct text *t, const struct launch *l, enum form form, unsigned number)
{
    const char *const gap = form == INDENTED ? "\n    " : "";
    say(t, "{%s\"type\":\"trace\",\"kernel\":\"k%u\",%s\"allocations\":[", gap, number % 2, gap);
    say(t,
        "{\"typeString\":\"float\",\"nameString\":\"data\",\"address\":\"0x00007F0000000000\","
        "\"size\":1048576,\"elementSize\":4,\"space\":0,\"active\":true,\"location\":\"a.cu:29\"}");
    say(t,
        ",%s{\"typeIndex\":0,\"nameIndex\":0,\"address\":\"0x%X\",\"size\":4096,"
        "\"elementSize\":4,\"space\":1,\"active\":true,\"location\":\"\"}],%s\"%s\":[",
        gap, SHARED_AT, gap, form == FLAT ? "accesses" : "warps");
    const char *comma = "";
    for (unsigned i = 0; i < l->request_count; i++) {
        const struct request *const r = &l->requests[i];
        for (unsigned lane = 0; lane < 32 && form == FLAT; lane++) {
            if (!(r->mask >> lane & 1)) continue;
            say(t, "%s{", comma);
            say_lane(t, l, r, lane, gap);
            say(t, ",");
            say_rest(t, r, gap);
            say(t, "}");
            comma = ",";
        }
        if (form == FLAT) continue;
        say(t, "%s%s{\"accesses\":[", comma, gap);
        comma = "";
        for (unsigned lane = 32; lane-- > 0;) { /* any order will do */
            if (!(r->mask >> lane & 1)) continue;
            say(t, "%s{", comma);
            say_lane(t, l, r, lane, gap);
            say(t, "}");
            comma = ",";
        }
        say(t, "],%s", gap);
        say_rest(t, r, gap);
        say(t, "}");
    }
    say(t,
        "],\"start\":%u.25,\"end\":%u.5,\"gridDim\":{\"x\":%u,\"y\":%u,\"z\":%u},%s\"blockDim\":"
        "{\"x\":%u,\"y\":%u,\"z\":%u},\"warpSize\":32,\"bankSize\":4}\n",
        5000 + number, 5000 + number, l->grid[0], l->grid[1], l->grid[2], gap, l->block[0],
        l->block[1], l->block[2]);
}

static void varint(struct text *t, uint64_t number)
{
    for (; number > 127; number >>= 7) put(t, &(uint8_t){(uint8_t)(number | 128)}, 1);
    put(t, &(uint8_t){(uint8_t)number}, 1);
}
static void put_number(struct text *t, unsigned field, uint64_t number)
{
    varint(t, field << 3);
    varint(t, number);
}
static void put_bytes(struct text *t, unsigned field, const struct text *bytes)
{
    varint(t, field << 3 | 2);
    varint(t, bytes->count);
    if (bytes->count) put(t, bytes->bytes, bytes->count);
}
__attribute__((format(printf, 3, 4))) static void put_text(struct text *t, unsigned field,
                                                           const char *format, ...)
{
    char line[100];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    put_bytes(t, field, &(struct text){.bytes = line, .count = strlen(line)});
}
static void put_extents(struct text *t, unsigned field, const uint32_t extents[3])
{
    struct text message = {0};
    for (unsigned d = 0; d < 3; d++) put_number(&message, d + 1, extents[d]);
    put_bytes(t, field, &message);
    free(message.bytes);
}
static void put_double(struct text *t, unsigned field, double number)
{
    varint(t, field << 3 | 1);
    put(t, &number, sizeof number);
}

static void put_allocation(struct text *t, enum form form, uint64_t address, unsigned shared)
{
    struct text a = {0};
    put_text(&a, 1, "0x%llX", (unsigned long long)address);
    put_number(&a, 2, shared ? 4096 : 1048576);
    put_number(&a, 3, 4);
    put_number(&a, 4, shared);
    put_text(&a, 6, "float");
    if (form == PROTOBUF) {
        put_text(&a, 7, "data");
        put_text(&a, 8, "a.cu:29");
        put_number(&a, 9, 1);
    } else {
        put_text(&a, 8, "data");
        put_text(&a, 9, "a.cu:29");
        put_number(&a, 10, 1);
    }
    put_bytes(t, 2, &a);
    free(a.bytes);
}

static void write_protobuf(struct text *t, const struct launch *l, enum form form, unsigned number)
{
    for (unsigned i = 0; i < l->request_count; i++) {
        const struct request *const r = &l->requests[i];
        struct text warp = {0};
        for (unsigned lane = 0; lane < 32; lane++) {
            if (!(r->mask >> lane & 1)) continue;
            struct text access = {0};
            uint32_t id[3];
            thread_of(l, r, lane, id);
            put_extents(&access, 1, id);
            put_text(&access, 2, "0x%llX", (unsigned long long)address_of(r, lane));
            put_text(&access, 3, "0x%llX", (unsigned long long)r->values[lane]);
            put_bytes(&warp, 1, &access);
            free(access.bytes);
        }
        put_extents(&warp, 2, r->cta);
        put_number(&warp, 3, 9);
        put_number(&warp, 4, (uint64_t)r->place);
        put_number(&warp, 5, r->width);
        put_number(&warp, 6, r->store);
        put_number(&warp, 7, r->shared);
        put_number(&warp, 8, 0);
        put_text(&warp, 9, "%llu", (unsigned long long)r->time);
        put_number(&warp, 77, UINT64_MAX); /* of a version to come */
        put_bytes(t, 1, &warp);
        free(warp.bytes);
    }
    put_allocation(t, form, 0x7f0000000000, 0);
    put_allocation(t, form, SHARED_AT, 1);
    put_text(t, 3, "k%u", number % 2);
    put_double(t, 4, 5000.25 + number);
    put_double(t, 5, 5000.5 + number);
    put_text(t, 6, "trace");
    put_extents(t, 7, l->grid);
    put_extents(t, 8, l->block);
    put_number(t, 9, 32);
    put_number(t, 10, 4);
}

static void write_trace(struct text *t, const struct launch *l, enum form form, unsigned number)
{
    if (form < PROTOBUF)
        write_json(t, l, form, number);
    else
        write_protobuf(t, l, form, number);
}

/* ---- folders ---- */

static char folder[64], path[300], command[400];

static void save(const char *name, const struct text *t, bool packed)
{
    snprintf(path, sizeof path, "%s/in/%s", folder, name);
    gzFile file = gzopen(path, packed ? "wb" : "wbT");
    assert_non_null(file);
    assert_int_equal(gzwrite(file, t->bytes, (unsigned)t->count), (int)t->count);
    assert_int_equal(gzclose(file), Z_OK);
}

static void save_text(const char *name, const char *content)
{
    struct text t = {0};
    put(&t, content, strlen(content));
    save(name, &t, false);
    free(t.bytes);
}

static void clear(void)
{
    snprintf(command, sizeof command, "rm -rf %s/in %s/out %s/run %s/run2 && mkdir %s/in", folder,
             folder, folder, folder, folder);
    assert_int_equal(system(command), 0);
}

static void save_metadata(void)
{
    for (unsigned k = 0; k < 2; k++) {
        char name[40], content[500];
        snprintf(name, sizeof name, "k%u.metadata.json", k);
        snprintf(
            content, sizeof content,
            "{\"type\": \"metadata\", \"kernel\": \"k%u\", \"locations\": [{\"name\": \"load\","
            " \"file\": \"a.cu\", \"line\": 10}, {\"file\": \"a.cu\", \"line\": 11}, {\"file\":"
            " \"b.h\", \"line\": 12}], \"typeMap\": [\"float\"], \"nameMap\": [\"tile\"],"
            " \"source\": {\"file\": \"a.cu\", \"line\": 4, \"content\": \"one\\ntwo\\n\"}}",
            k);
        save_text(name, content);
    }
}

static enum cts_status import(const char *from, const char *to, struct cts_error *error)
{
    char in[100], out[100];
    snprintf(in, sizeof in, "%s/%s", folder, from);
    snprintf(out, sizeof out, "%s/%s", folder, to);
    const char *const paths[] = {in};
    struct cts_import_result result;
    const enum cts_status status =
        cts_import(&(struct cts_import_options){.paths = paths, .path_count = 1, .run_path = out},
                   &result, error);
    if (!status) cts_import_result_release(&result);
    return status;
}

/* ---- comparing ---- */

/* The records of a launch in the order that is expected: by CTA, then time. */
static int by_cta(const void *left, const void *right, void *state)
{
    const struct launch *const l = state;
    const struct request *const a = left, *const b = right;
    const uint32_t i = cta_of(l, a), k = cta_of(l, b);
    if (i != k) return i < k ? -1 : 1;
    return (a->time > b->time) - (a->time < b->time);
}

static void compare_record(const struct cts_catalogue *c, const struct launch *l,
                           const struct request *r, const struct cts_access *access)
{
    const struct cts_site *const site = &c->sites[access->site];
    uint64_t addresses[32];
    cts_access_addresses(access, addresses);
    assert_int_equal(access->cta, cta_of(l, r));
    assert_int_equal(access->warp, r->warp);
    assert_int_equal(access->mask, r->mask);
    assert_int_equal(access->space, r->shared ? CTS_SPACE_SHARED : CTS_SPACE_GLOBAL);
    assert_int_equal(site->operation, r->store ? CTS_STORE : CTS_LOAD);
    assert_int_equal(site->width_bytes, r->width);
    assert_int_equal(site->line, 10 + r->place);
    assert_string_equal(c->sources[site->source].path, r->place == 2 ? "b.h" : "a.cu");
    assert_string_equal(site->type, "float");
    assert_non_null(access->values);
    for (unsigned lane = 0, k = 0; lane < 32; lane++) {
        if (!(r->mask >> lane & 1)) continue;
        assert_int_equal(addresses[lane], r->addresses[lane]);
        assert_int_equal(access->values[k++], r->values[lane]);
    }
}

static void compare(const char *run, struct launch *launches)
{
    struct cts_catalogue c = {0};
    struct cts_acc_reader *reader = NULL;
    struct cts_acc_batch batch = {0};
    struct cts_error error = {0};
    snprintf(path, sizeof path, "%s/%s", folder, run);
    if (cts_catalogue_read(path, &c, &error) || cts_acc_open(path, &reader, &error))
        fail_msg("%s", error.text);
    assert_int_equal(c.launch_count, LAUNCHES);
    assert_int_equal(c.kernel_count, 2);
    assert_int_equal(c.allocation_count, 1);
    assert_string_equal(c.allocations[0].variable, "data");
    assert_string_equal(c.allocations[0].path, "a.cu");
    assert_int_equal(c.allocations[0].line, 29);
    size_t chunk_count;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < LAUNCHES; i++) {
        struct launch *const l = &launches[i];
        const struct cts_launch *const row = &c.launches[i];
        qsort_r(l->requests, l->request_count, sizeof *l->requests, by_cta, l);
        assert_string_equal(c.kernels[row->kernel].name, i % 2 ? "k1" : "k0");
        assert_memory_equal(row->grid, l->grid, sizeof l->grid);
        assert_memory_equal(row->block, l->block, sizeof l->block);
        assert_int_equal(row->end_ns - row->start_ns, 250000);
        unsigned next = 0;
        for (size_t k = 0; k < chunk_count; k++) {
            if (chunks[k].launch != row->launch) continue;
            assert_int_equal(cts_acc_read(reader, &chunks[k], &batch, &error), CTS_OK);
            for (size_t n = 0; n < batch.record_count; n++) {
                const struct cts_access access = cts_acc_record(&batch, n);
                assert_true(next < l->request_count);
                compare_record(&c, l, &l->requests[next++], &access);
            }
        }
        assert_int_equal(next, l->request_count);
    }
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
    cts_catalogue_release(&c);
}

/* ---- tests ---- */

static void export_again(struct launch *launches, bool indented, bool packed)
{
    struct cts_catalogue c = {0};
    struct cts_acc_reader *reader = NULL;
    struct cts_error error = {0};
    struct cts_export_result result;
    char out[100];
    snprintf(out, sizeof out, "%s/out", folder);
    snprintf(path, sizeof path, "%s/run", folder);
    if (cts_catalogue_read(path, &c, &error) || cts_acc_open(path, &reader, &error))
        fail_msg("%s", error.text);
    const struct cts_export_text_options options = {
        .path = out,
        .indented = indented,
        .packed = packed,
        .selection = {.rank = CTS_NONE,
                      .stream = CTS_NONE,
                      .site = CTS_NONE,
                      .last_launch = CTS_NONE,
                      .last_cta = CTS_NONE},
    };
    if (cts_export_folder(&c, reader, &options, &result, &error)) fail_msg("%s", error.text);
    assert_int_equal(result.launches, LAUNCHES);
    cts_acc_close(reader);
    cts_catalogue_release(&c);
    if (import("out", "run2", &error)) fail_msg("%s", error.text);
    compare("run2", launches);
}

static void forms(void **state)
{
    (void)state;
    static struct launch launches[LAUNCHES];
    for (unsigned round = 0, count = cts_test_count(40, 200); round < count; round++) {
        const enum form form = (enum form)(round % FORM_COUNT);
        const bool packed = round / FORM_COUNT % 2;
        struct cts_error error = {0};
        clear();
        for (unsigned i = 0; i < LAUNCHES; i++) {
            struct text t = {0};
            char name[60];
            make_launch(&launches[i]);
            write_trace(&t, &launches[i], form, i);
            snprintf(name, sizeof name, "k%u-%u.trace%s.%s", i % 2, i, packed ? ".gzip" : "",
                     form < PROTOBUF ? "json" : "protobuf");
            save(name, &t, packed);
            free(t.bytes);
        }
        save_metadata();
        save_text("run.json", "{\"type\": \"run\", \"start\": 5000.0, \"end\": 5009.0}");
        if (import(round % 3 || form >= PROTOBUF ? "in" : "in/run.json", "run", &error))
            fail_msg("form %d: %s", form, error.text);
        compare("run", launches);
        export_again(launches, round % 2, round % 3 == 0);
    }
}

/* What is wrong with a trace is said, and nothing is made. */
static void expect_error(const char *name, const char *content, const char *expected)
{
    struct cts_error error = {0};
    struct stat facts;
    clear();
    save_metadata();
    save_text(name, content);
    assert_int_not_equal(import("in", "run", &error), CTS_OK);
    if (!strstr(error.text, expected)) fail_msg("'%s', not '%s'", error.text, expected);
    assert_non_null(strstr(error.text, "/in"));
    snprintf(path, sizeof path, "%s/run", folder);
    assert_int_equal(stat(path, &facts), -1);
}

#define HEAD                                                                                       \
    "{\"kernel\":\"k0\",\"gridDim\":{\"x\":1,\"y\":1,\"z\":1},\"blockDim\":{\"x\":32,\"y\":1,"     \
    "\"z\":1},\"start\":1,\"end\":2,"
#define REQUEST(cta, thread, size, address)                                                        \
    "{\"accesses\":[{\"threadIdx\":{\"x\":" thread ",\"y\":0,\"z\":0},\"address\":" address        \
    ",\"value\":\"\"}],\"blockIdx\":{\"x\":" cta ",\"y\":0,\"z\":0},\"warpId\":0,\"debugId\":0,"   \
    "\"kind\":0,\"size\":" size ",\"space\":0,\"typeIndex\":0,\"timestamp\":\"5\"}"

#define VALUES(text)                                                                               \
    "{\"accesses\":[{\"threadIdx\":{\"x\":0,\"y\":0,\"z\":0},\"address\":16,\"values\":\"" text    \
    "\"}],\"blockIdx\":{\"x\":0,\"y\":0,\"z\":0},\"debugId\":0,\"kind\":0,\"size\":8,"             \
    "\"space\":0,\"typeIndex\":0,\"timestamp\":\"5\"}"

static void damage(void **state)
{
    (void)state;
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("1", "0", "4", "\"0x10\"") "]}",
                 "request 0: block x = 1 in a grid of 1");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("0", "32", "4", "\"0x10\"") "]}",
                 "request 0: thread x = 32 in a block of 32");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("0", "0", "0", "\"0x10\"") "]}",
                 "0 bytes per lane");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("0", "0", "4", "\"16 bytes\"") "]}",
                 "warps[0]: 'address' is not a number");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("0", "0", "4", "\"0x10\"") ",{}]}",
                 "warps[1]: expected an object with x, y and z");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" REQUEST("0", "0", "4", "\"0x10\"") "]",
                 "',' or '}' expected");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" VALUES("0x12") "]}",
                 "'values' is not 1 to 16 times 16 hexadecimal digits");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" VALUES("0123456789abcdef") "]}",
                 "'values' is not 1 to 16 times 16 hexadecimal digits");
    expect_error("k0-0.trace.json", HEAD "\"warps\":[" VALUES("0x0123456789abcdeg") "]}",
                 "'values' has a character that is not a hexadecimal digit");
    expect_error("k0-0.trace.json", "{\"warps\":[]}", "it does not name its kernel");
    expect_error("k0-0.trace.json", HEAD "\"warpSize\":64}", "warps of 64 threads");
    expect_error("k0-0.trace.json", "", "it is empty");
    expect_error("k0-0.trace.capnp", "x", "Cap'n Proto");
    expect_error("k0-0.trace.protobuf", "\x0a\x7f",
                 "protobuf field extends past the end of the message");
    expect_error("k0-0.trace.protobuf", "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
                 "invalid protobuf field");
    expect_error("k1.metadata.json", "{\"kernel\": 5}", "expected a text");
    expect_error("nothing.txt", "", "no KERNEL-N.trace.json");
    expect_error("run.json", "{\"traces\": [\"gone-0.trace.json\"]}", "which does not exist");
}

/* A packed file that ends early, at every length. */
static void cut(void **state)
{
    (void)state;
    static struct launch launch;
    struct text t = {0};
    clear();
    make_launch(&launch);
    write_trace(&t, &launch, PLAIN, 0);
    save("whole.gz", &t, true);
    snprintf(path, sizeof path, "%s/in/whole.gz", folder);
    char bytes[1 << 16];
    FILE *const file = fopen(path, "rb");
    assert_non_null(file);
    const size_t count = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    snprintf(path, sizeof path, "%s/in/cut", folder);
    for (size_t k = 2; k < count; k += 1 + count / 50) {
        struct cts_buffer text = {0};
        struct cts_error error = {0};
        FILE *const short_file = fopen(path, "wb");
        assert_non_null(short_file);
        fwrite(bytes, 1, k, short_file);
        fclose(short_file);
        const enum cts_status status = cts_folder_read(path, 1 << 24, &text, &error);
        struct cts_folder_trace trace;
        if (!status) /* then what came out of it is no whole trace */
            assert_int_not_equal(cts_folder_parse(text.data, text.size_bytes, &trace, &error),
                                 CTS_OK);
        cts_buffer_release(&text);
    }
    struct cts_buffer text = {0};
    struct cts_error error = {0};
    snprintf(path, sizeof path, "%s/in/whole.gz", folder);
    assert_int_equal(cts_folder_read(path, 100, &text, &error), CTS_LIMIT);
    cts_buffer_release(&text);
    free(t.bytes);
}

static int set_up(void **state)
{
    (void)state;
    snprintf(folder, sizeof folder, "/tmp/folder-test-XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", folder);
    return system(command);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(forms), cmocka_unit_test(damage),
                                       cmocka_unit_test(cut)};
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
