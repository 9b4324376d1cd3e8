/* The one walk over a launch's records: on random chunks each CTA comes once, whole and in order,
 * on any number of threads; and damage is refused in the same words by everything that walks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/access/access-analysis.h"
#include "analyze/communication/communication.h"
#include "analyze/communication/comm-query.h"
#include "analyze/partition/mapping.h"
#include "analyze/partition/partition.h"
#include "analyze/walk.h"
#include "random.h"
#include "record-fixture.h"
#include "view/selection/selection.h"

enum { CTAS = 24, FILES = 3, RECORDS = 400, CHUNKS = 64, THREADS = 4, PROGRAMS = 300 };

/* ---- a launch in memory ---- */

struct launch {
    struct cts_acc_chunk chunks[CHUNKS];
    size_t chunk_count;
    struct cts_access records[RECORDS];
    size_t record_count, damaged_chunk; /* a chunk that cannot be read; SIZE_MAX: none */
};

static enum cts_status read_chunk(const void *given, const struct cts_acc_chunk *chunk,
                                  struct cts_acc_batch *batch, struct cts_error *error)
{
    const struct launch *const l = given;
    if (l->damaged_chunk == (size_t)(chunk - l->chunks))
        return cts_fail(error, CTS_FORMAT, "cannot read '%u.acc': payload checksum differs",
                        chunk->file);
    if (batch_start(batch, chunk, error)) return CTS_MEMORY;
    for (size_t i = 0; i < chunk->record_count; i++)
        batch_put(batch, &l->records[chunk->offset_bytes + i]);
    return CTS_OK;
}

static const char *file_path(const void *given, uint32_t file)
{
    static const char *const names[] = {"0.acc", "1.acc", "2.acc"};
    (void)given;
    return names[file];
}

static struct cts_access_source source_of(const struct launch *l)
{
    return (struct cts_access_source){.chunks = l->chunks,
                                      .chunk_count = l->chunk_count,
                                      .state = l,
                                      .read = read_chunk,
                                      .path = file_path,
                                      .release = cts_acc_batch_release};
}

/* Opens a chunk; records that are put go into it. */
static void open_chunk(struct launch *l, uint32_t file)
{
    if (l->chunk_count == CHUNKS) fail_msg("too many chunks");
    l->chunks[l->chunk_count++] = (struct cts_acc_chunk){.file = file,
                                                         .first_cta = UINT32_MAX,
                                                         .last_address = UINT64_MAX,
                                                         .offset_bytes = l->record_count};
}

static void put(struct launch *l, uint32_t cta, uint32_t site, uint64_t base)
{
    struct cts_acc_chunk *const chunk = &l->chunks[l->chunk_count - 1];
    l->records[l->record_count++] = (struct cts_access){.cta = cta,
                                                        .site = site,
                                                        .mask = UINT32_MAX,
                                                        .space = CTS_SPACE_GLOBAL,
                                                        .pattern = CTS_PATTERN_AFFINE,
                                                        .s0 = 4,
                                                        .base = base};
    chunk->record_count++;
    chunk->access_count += CTS_WARP_LANES;
    if (cta < chunk->first_cta) chunk->first_cta = cta;
    if (cta > chunk->last_cta) chunk->last_cta = cta;
}

static int by_first_cta(const void *left, const void *right)
{
    const struct cts_acc_chunk *const a = left, *const b = right;
    if (a->first_cta != b->first_cta) return a->first_cta < b->first_cta ? -1 : 1;
    if (a->file != b->file) return a->file < b->file ? -1 : 1;
    return (a->offset_bytes > b->offset_bytes) - (a->offset_bytes < b->offset_bytes);
}

static void sort_chunks(struct launch *l)
{
    qsort(l->chunks, l->chunk_count, sizeof *l->chunks, by_first_cta);
}

/* Each CTA in one of the files, whose CTAs come in order or take turns; the base of a record is its
 * index among those of its CTA. */
static void make_launch(struct launch *l)
{
    unsigned file_of[CTAS], left[CTAS], serial[CTAS] = {0};
    *l = (struct launch){.damaged_chunk = SIZE_MAX};
    for (unsigned cta = 0; cta < CTAS; cta++) {
        file_of[cta] = below(FILES);
        left[cta] = below(4) ? below(12) : 0;
    }
    for (unsigned file = 0; file < FILES; file++) {
        const bool turns = below(2);
        bool is_open = false;
        for (unsigned cta = 0, begun = 0; begun < CTAS;) {
            if (turns) cta = below(CTAS);
            for (begun = 0; begun < CTAS && (file_of[begun] != file || !left[begun]);) begun++;
            if (begun == CTAS) break;
            if (!turns) cta = begun;
            if (file_of[cta] != file || !left[cta]) continue;
            if (!is_open || !below(6)) open_chunk(l, file);
            is_open = true;
            put(l, cta, cta % 2, serial[cta]++);
            left[cta]--;
        }
    }
    sort_chunks(l);
}

/* ---- the walk itself ---- */

struct seen_cta {
    unsigned opened, closed, records;
    bool is_open;
};

struct seen {
    struct seen_cta ctas[CTAS];
    const struct cts_walk_ops *ops;
    unsigned records_wanted, records_seen; /* is_enough */
    unsigned thread_count;
};

struct cta_state {
    uint32_t cta;
    unsigned serial;
    void *memory; /* to be released */
};

static void begin(void *state, unsigned thread_count)
{
    ((struct seen *)state)->thread_count = thread_count;
}

static enum cts_status open_cta(void *state, unsigned thread, void *cta_state, uint32_t cta,
                                struct cts_error *error)
{
    struct seen *const seen = state;
    struct cta_state *const it = cta_state;
    assert_true(thread < seen->thread_count);
    if (!it->memory) it->memory = malloc(1);
    it->cta = cta;
    it->serial = 0;
    (void)error;
    __atomic_fetch_add(&seen->ctas[cta].opened, 1, __ATOMIC_RELAXED);
    return CTS_OK;
}

static enum cts_status take_run(void *state, unsigned thread, void *cta_state,
                                const struct cts_walk_run *run, struct cts_error *error)
{
    struct seen *const seen = state;
    struct cta_state *const it = cta_state;
    (void)thread;
    for (size_t i = run->begin; i < run->end; i++) {
        if (run->batch->cta[i] != it->cta || run->cta != it->cta)
            return cts_fail(error, CTS_USAGE, "a record of CTA %u for %u", run->cta, it->cta);
        if (!seen->ops->takes_parts && run->batch->base[i] != it->serial)
            return cts_fail(error, CTS_USAGE, "record %u of CTA %u out of order", it->serial,
                            it->cta);
        it->serial++;
    }
    __atomic_fetch_add(&seen->ctas[run->cta].records, (unsigned)(run->end - run->begin),
                       __ATOMIC_RELAXED);
    __atomic_fetch_add(&seen->records_seen, (unsigned)(run->end - run->begin), __ATOMIC_RELAXED);
    return CTS_OK;
}

static enum cts_status close_cta(void *state, unsigned thread, void *cta_state,
                                 struct cts_error *error)
{
    struct seen *const seen = state;
    const struct cta_state *const it = cta_state;
    (void)thread;
    (void)error;
    __atomic_fetch_add(&seen->ctas[it->cta].closed, 1, __ATOMIC_RELAXED);
    return CTS_OK;
}

static void release_cta(void *cta_state)
{
    free(((struct cta_state *)cta_state)->memory);
}

static bool is_enough(const void *state)
{
    const struct seen *const seen = state;
    return seen->records_seen >= seen->records_wanted;
}

static const struct cts_walk_ops whole = {.cta_bytes = sizeof(struct cta_state),
                                          .begin = begin,
                                          .open = open_cta,
                                          .record = take_run,
                                          .close = close_cta,
                                          .release = release_cta};
static const struct cts_walk_ops parts = {.cta_bytes = sizeof(struct cta_state),
                                          .takes_parts = true,
                                          .begin = begin,
                                          .open = open_cta,
                                          .record = take_run,
                                          .close = close_cta,
                                          .release = release_cta};
static const struct cts_walk_ops limited = {.cta_bytes = sizeof(struct cta_state),
                                            .takes_parts = true,
                                            .begin = begin,
                                            .open = open_cta,
                                            .record = take_run,
                                            .release = release_cta,
                                            .is_enough = is_enough};

static void walk_once(struct cts_walk *walk, const struct cts_walk_ops *ops,
                      const struct cts_walk_scope *scope, struct seen *seen)
{
    struct cts_error error;
    seen->ops = ops;
    seen->records_wanted = UINT32_MAX;
    if (cts_walk_launch(walk, scope, seen, &error)) fail_msg("%s", error.text);
}

static void check_ctas(const struct launch *l, const struct seen *seen, bool once)
{
    for (uint32_t cta = 0; cta < CTAS; cta++) {
        unsigned records = 0;
        for (size_t i = 0; i < l->record_count; i++) records += l->records[i].cta == cta;
        assert_int_equal(seen->ctas[cta].records, records);
        assert_int_equal(seen->ctas[cta].closed, seen->ctas[cta].opened);
        if (once) assert_int_equal(seen->ctas[cta].opened, records > 0);
    }
}

/* All at once, and then in shares, as processes have them: together they are the whole. */
static void check_walk(const struct launch *l, const struct cts_walk_ops *ops, unsigned threads)
{
    const struct cts_access_source source = source_of(l);
    const struct cts_walk_options options = {.source = &source, .ops = ops, .threads = threads};
    const struct cts_walk_scope all = cts_walk_scope_of(&source, 0, CTAS);
    struct cts_walk *walk;
    struct cts_error error;
    if (cts_walk_new(&options, &walk, &error)) fail_msg("%s", error.text);
    struct seen seen = {.records_seen = 0}, shared = {.records_seen = 0};
    walk_once(walk, ops, &all, &seen);
    check_ctas(l, &seen, !ops->takes_parts);
    const unsigned share_count = 1 + below(4);
    for (unsigned share = 0; share < share_count; share++) {
        struct cts_walk_scope scope = all;
        cts_walk_share(&source, share, share_count, &scope);
        walk_once(walk, ops, &scope, &shared);
    }
    check_ctas(l, &shared, !ops->takes_parts);
    cts_walk_free(walk);
}

static void each_cta_comes_once_and_in_order(void **state)
{
    (void)state;
    struct launch *const l = calloc(1, sizeof *l);
    random_start(17);
    for (unsigned i = 0; i < PROGRAMS; i++) {
        make_launch(l);
        const unsigned threads = 1 + below(THREADS);
        check_walk(l, &whole, threads);
        check_walk(l, &parts, threads);
    }
    free(l);
}

static void a_walk_ends_when_it_is_enough(void **state)
{
    (void)state;
    struct launch *const l = calloc(1, sizeof *l);
    random_start(5);
    make_launch(l);
    const struct cts_access_source source = source_of(l);
    const struct cts_walk_options options = {.source = &source, .ops = &limited, .threads = 1};
    const struct cts_walk_scope all = cts_walk_scope_of(&source, 0, CTAS);
    struct cts_walk *walk;
    struct seen seen = {.ops = &limited, .records_wanted = 1};
    assert_int_equal(cts_walk_new(&options, &walk, NULL), CTS_OK);
    assert_int_equal(cts_walk_launch(walk, &all, &seen, NULL), CTS_OK);
    assert_int_equal(seen.records_seen, l->chunks[0].record_count);
    cts_walk_free(walk);
    free(l);
}

/* ---- damage, and all who meet it ---- */

enum { SITE_LOAD, SITE_STORE, SITE_USELESS, SITES };

struct run {
    struct cts_catalogue catalogue;
    struct cts_kernel kernels[1];
    struct cts_rank ranks[1];
    struct cts_site sites[SITES];
    struct cts_launch launches[1];
    struct cts_allocation allocations[1];
    struct launch launch;
};

enum { GRID = 8, MEMORY = 0x10000 };

/* A launch of 8 CTAs: 0 to 3 in file 0, where CTA 1 goes on in the second chunk; 4 to 7 in file 1.
 */
static void make_run(struct run *run)
{
    *run = (struct run){.launch.damaged_chunk = SIZE_MAX};
    run->kernels[0] = (struct cts_kernel){.name = "kernel", .instrumented = 1};
    run->ranks[0] = (struct cts_rank){.end_ns = 9};
    run->sites[SITE_LOAD] = (struct cts_site){.operation = CTS_LOAD, .width_bytes = 4};
    run->sites[SITE_STORE] =
        (struct cts_site){.site = SITE_STORE, .operation = CTS_STORE, .width_bytes = 4};
    run->sites[SITE_USELESS] = (struct cts_site){.site = SITE_USELESS, .operation = CTS_LOAD};
    run->launches[0] = (struct cts_launch){.op = 2,
                                           .grid = {GRID, 1, 1},
                                           .block = {32, 1, 1},
                                           .recorded = "all",
                                           .start_ns = 1,
                                           .end_ns = 2};
    run->allocations[0] = (struct cts_allocation){
        .op = 1, .freed_op = UINT64_MAX, .address = MEMORY, .size_bytes = 4096, .kind = "device"};
    run->catalogue = (struct cts_catalogue){.kernels = run->kernels,
                                            .kernel_count = 1,
                                            .ranks = run->ranks,
                                            .rank_count = 1,
                                            .sites = run->sites,
                                            .site_count = SITES,
                                            .launches = run->launches,
                                            .launch_count = 1,
                                            .allocations = run->allocations,
                                            .allocation_count = 1};
    static const struct {
        uint32_t file, first, last;
    } chunks[] = {{0, 0, 1}, {0, 1, 3}, {1, 4, 5}, {1, 6, 7}};
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
        open_chunk(&run->launch, chunks[k].file);
        for (uint32_t cta = chunks[k].first; cta <= chunks[k].last; cta++) {
            put(&run->launch, cta, SITE_STORE, MEMORY + 128 * cta);
            put(&run->launch, cta, SITE_LOAD, MEMORY + 128 * cta);
        }
    }
    sort_chunks(&run->launch);
}

/* How somebody's walk over a run ended; `threads` at most. */
typedef enum cts_status walker(const struct run *run, const struct cts_access_source *source,
                               unsigned threads, struct cts_error *error);

static enum cts_status walk_communication(const struct run *run,
                                          const struct cts_access_source *source, unsigned threads,
                                          struct cts_error *error)
{
    const struct cts_comm_options options = {.threads = threads};
    struct cts_comm result;
    const enum cts_status status =
        cts_comm_analyze(&run->catalogue, source, &options, &result, error);
    if (!status) cts_comm_release(&result);
    return status;
}

static enum cts_status walk_query(const struct run *run, const struct cts_access_source *source,
                                  unsigned threads, struct cts_error *error)
{
    struct cts_query query;
    (void)threads;
    const struct cts_interval range = {MEMORY, MEMORY + 4096};
    const enum cts_status status = cts_comm_query(&run->catalogue, source, range, &query, error);
    if (!status) cts_query_release(&query);
    return status;
}

static enum cts_status walk_access(const struct run *run, const struct cts_access_source *source,
                                   unsigned threads, struct cts_error *error)
{
    const struct cts_access_options options = {.threads = threads};
    struct cts_access_result result;
    const enum cts_status status =
        cts_access_analyze(&run->catalogue, source, &options, &result, error);
    if (!status) cts_access_release(&result);
    return status;
}

static enum cts_status walk_costs(const struct run *run, const struct cts_access_source *source,
                                  unsigned threads, struct cts_error *error)
{
    const struct cts_access_options options = {.threads = threads, .costs_only = true};
    struct cts_access_result result;
    const enum cts_status status =
        cts_access_analyze(&run->catalogue, source, &options, &result, error);
    if (!status) cts_access_release(&result);
    return status;
}

static enum cts_status walk_partition(const struct run *run, const struct cts_access_source *source,
                                      unsigned threads, struct cts_error *error)
{
    static const uint32_t counts[] = {2};
    const struct cts_partition_options options = {.counts = counts,
                                                  .count_count = 1,
                                                  .mappings = cts_mappings,
                                                  .mapping_count = 1,
                                                  .threads = threads};
    struct cts_partition result;
    const enum cts_status status =
        cts_partition_analyze(&run->catalogue, source, &options, &result, error);
    if (!status) cts_partition_release(&result);
    return status;
}

/* The page goes on without a damaged chunk, and says so. */
static enum cts_status walk_selection(const struct run *run, const struct cts_access_source *source,
                                      unsigned threads, struct cts_error *error)
{
    const struct cts_selection_options options = {.threads = threads};
    const struct cts_selection_question question = {.launch = 0};
    struct cts_selection *selection;
    struct cts_selection_launch launch;
    struct cts_error why;
    if (cts_selection_open(&run->catalogue, source, &options, &selection, error))
        return error->status;
    assert_int_equal(cts_selection_launch(selection, &question, &launch, error), CTS_OK);
    cts_selection_launch_release(&launch);
    const size_t count = cts_selection_damage(selection, &why);
    static const char prefix[] = "launch 0: ";
    enum cts_status status = CTS_OK;
    if (count) {
        assert_memory_equal(why.text, prefix, strlen(prefix));
        status = cts_fail(error, CTS_FORMAT, "%s", why.text + strlen(prefix));
    }
    cts_selection_close(selection);
    return status;
}

enum { SEES_SITES = 1, SEES_FILES = 2 };
static const struct {
    const char *name;
    walker *walk;
    unsigned sees; /* what it cannot do with: unknown sites, a CTA in several files */
} walkers[] = {{"communication", walk_communication, SEES_SITES | SEES_FILES},
               {"query", walk_query, SEES_SITES},
               {"access", walk_access, SEES_SITES | SEES_FILES},
               {"access, costs", walk_costs, SEES_SITES | SEES_FILES},
               {"partition", walk_partition, SEES_SITES | SEES_FILES},
               {"selection", walk_selection, 0}};

/* Everybody ends the same way: with `expected`, or well where it is NULL. */
static void check_all(const struct run *run, unsigned needed, const char *expected)
{
    const struct cts_access_source source = source_of(&run->launch);
    for (size_t k = 0; k < sizeof walkers / sizeof *walkers; k++) {
        for (unsigned threads = 1; threads <= THREADS; threads *= 2) {
            struct cts_error error = {0};
            const bool refuses = expected && (walkers[k].sees & needed) == needed;
            const enum cts_status status = walkers[k].walk(run, &source, threads, &error);
            if (status != (refuses ? CTS_FORMAT : CTS_OK))
                fail_msg("%s on %u threads: status %u (%s)", walkers[k].name, threads, status,
                         error.text);
            if (refuses && strcmp(error.text, expected) != 0)
                fail_msg("%s on %u threads: '%s' instead of '%s'", walkers[k].name, threads,
                         error.text, expected);
        }
    }
}

static void good_input_is_walked_by_all(void **state)
{
    (void)state;
    struct run *const run = calloc(1, sizeof *run);
    make_run(run);
    check_all(run, 0, NULL);
    free(run);
}

/* The index of a record of a chunk in run->launch.records. */
static struct cts_access *record_of(struct run *run, size_t chunk, size_t i)
{
    return &run->launch.records[run->launch.chunks[chunk].offset_bytes + i];
}

static void damaged_records_are_refused_by_all(void **state)
{
    (void)state;
    struct run *const run = calloc(1, sizeof *run);
    make_run(run);
    record_of(run, 3, 1)->cta = GRID;
    run->launch.chunks[3].last_cta = GRID;
    check_all(
        run, 0,
        "'1.acc': chunk at byte 14 of launch 0: a record names CTA 8 of a launch with 8 CTAs, "
        "in a chunk for CTAs 6 to 8");
    make_run(run);
    record_of(run, 1, 2)->cta = 4;
    check_all(run, 0,
              "'0.acc': chunk at byte 4 of launch 0: a record names CTA 4 of a launch with 8 CTAs, "
              "in a chunk for CTAs 1 to 3");
    make_run(run);
    record_of(run, 2, 3)->mask = 0;
    check_all(run, 0,
              "'1.acc': chunk at byte 10 of launch 0: a record of site 0 has no active lane");
    make_run(run);
    record_of(run, 2, 2)->space = CTS_SPACE_GENERIC;
    check_all(run, 0,
              "'1.acc': chunk at byte 10 of launch 0: a record of site 1 has no memory space");
    free(run);
}

static void unknown_sites_are_refused_by_analyses(void **state)
{
    (void)state;
    struct run *const run = calloc(1, sizeof *run);
    make_run(run);
    record_of(run, 0, 1)->site = SITES;
    check_all(run, SEES_SITES,
              "'0.acc': chunk at byte 0 of launch 0: a record names site 3, which the catalogue "
              "does not have");
    make_run(run);
    record_of(run, 1, 5)->site = SITE_USELESS;
    check_all(run, SEES_SITES,
              "'0.acc': chunk at byte 4 of launch 0: a record names site 2, which the catalogue "
              "gives no usable operation and width");
    free(run);
}

static void unreadable_chunks_are_reported_by_all(void **state)
{
    (void)state;
    struct run *const run = calloc(1, sizeof *run);
    make_run(run);
    run->launch.damaged_chunk = 2;
    check_all(run, 0, "cannot read '1.acc': payload checksum differs");
    free(run);
}

/* Which of the two files comes first depends on the threads; the words do not. */
static void a_cta_in_two_files_is_refused_by_analyses(void **state)
{
    (void)state;
    struct run *const run = calloc(1, sizeof *run);
    make_run(run);
    record_of(run, 3, 2)->cta = record_of(run, 3, 3)->cta = 3;
    run->launch.chunks[3].first_cta = 3;
    const struct cts_access_source source = source_of(&run->launch);
    for (size_t k = 0; k < sizeof walkers / sizeof *walkers; k++) {
        for (unsigned threads = 1; threads <= THREADS; threads *= 2) {
            struct cts_error error = {0};
            const enum cts_status status = walkers[k].walk(run, &source, threads, &error);
            if (!(walkers[k].sees & SEES_FILES)) {
                assert_int_equal(status, CTS_OK);
                continue;
            }
            assert_int_equal(status, CTS_FORMAT);
            if (!strstr(error.text, "of launch 0: the records of CTA 3 are in several files"))
                fail_msg("%s: %s", walkers[k].name, error.text);
        }
    }
    free(run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_cta_comes_once_and_in_order),
        cmocka_unit_test(a_walk_ends_when_it_is_enough),
        cmocka_unit_test(good_input_is_walked_by_all),
        cmocka_unit_test(damaged_records_are_refused_by_all),
        cmocka_unit_test(unknown_sites_are_refused_by_analyses),
        cmocka_unit_test(unreadable_chunks_are_reported_by_all),
        cmocka_unit_test(a_cta_in_two_files_is_refused_by_analyses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
