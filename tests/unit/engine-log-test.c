/* The merge of lane logs into warp records, against a brute-force model, and the masks that
 * structured programs must give. The collector's stream is replaced by one that keeps what it
 * gets. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "record/cpu/engine.h"
#include "record/cpu/engine/log.h"
#include "count.h"
#include "random.h"

enum { RECORDS_MAX = 1 << 20, LANE_ENTRIES_MAX = 1 << 14 };

struct record {
    uint32_t site, mask;
    uint8_t space;
    uint64_t addresses[CTS_WARP_LANES];
    uint64_t values[CTS_WARP_LANES]; /* the first word of each lane */
};
static struct record *records;
static size_t record_count;

void cts_stream_add(struct cts_stream *stream, const struct cts_stream_row *row)
{
    const uint64_t *values = row->values;
    (void)stream;
    assert_int_equal(row->warp, 3);
    assert_int_not_equal(row->mask, 0);
    assert_true(record_count < RECORDS_MAX);
    struct record *const record = &records[record_count++];
    record->site = row->site;
    record->mask = row->mask;
    record->space = (uint8_t)row->space;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        if (!(row->mask >> lane & 1)) continue;
        record->addresses[lane] = row->addresses[lane];
        if (!values) continue;
        record->values[lane] = *values;
        values += row->value_words;
    }
}

/* ---- A program: loops, guards and sites, by index ---- */

enum { NODES_MAX = 24, SITES_MAX = 64 };
enum node_kind { SITE, LOOP, GUARD };
struct node {
    enum node_kind kind;
    uint32_t site;   /* SITE */
    uint32_t chance; /* GUARD: percent; LOOP: most trips */
    uint32_t children[6], child_count;
};
struct program {
    struct node nodes[NODES_MAX];
    uint32_t node_count, site_count, loop_count;
    struct cts_site_desc sites[SITES_MAX];
    struct cts_loop_desc loops[NODES_MAX];
    struct cts_file_desc file;
    uint32_t first_slot;
};

static uint32_t add_node(struct program *program, enum node_kind kind, uint32_t loop,
                         uint32_t depth)
{
    const uint32_t index = program->node_count++;
    struct node *const node = &program->nodes[index];
    node->kind = kind;
    if (kind == SITE) {
        node->site = program->site_count++;
        program->sites[node->site] = (struct cts_site_desc){
            .width_bytes = 4, .operation = CTS_LOAD, .space = CTS_SPACE_GLOBAL, .loop = loop};
        return index;
    }
    node->chance = kind == LOOP ? 1 + below(9) : 20 + below(70);
    if (kind == LOOP) {
        program->loops[program->loop_count].parent = loop;
        loop = program->loop_count++;
    }
    const uint32_t children = 1 + below(4);
    for (uint32_t i = 0; i < children && program->node_count + 2 < NODES_MAX; i++) {
        /* The first thing in a loop is an access, so that every iteration shows in the log. */
        const uint32_t pick = depth > 4 || (kind == LOOP && i == 0) ? 0 : below(5);
        node->children[node->child_count++] = add_node(program,
                                                       pick < 3    ? SITE
                                                       : pick == 3 ? LOOP
                                                                   : GUARD,
                                                       loop, depth + 1);
    }
    return index;
}

static void register_program(struct program *program, uint32_t flags)
{
    program->file = (struct cts_file_desc){.flags = flags,
                                           .sites = program->sites,
                                           .loops = program->loops,
                                           .site_count = program->site_count,
                                           .loop_count = program->loop_count};
    program->first_slot = cts_engine_add_sites(&program->file, 1000);
    assert_int_not_equal(program->first_slot, CTS_SLOT_LIMIT);
}

/* ---- Running a program as the instrumented code would ---- */

#define MEETING UINT32_MAX /* instead of a site; the address is the mask of those who meet */

struct lane_trace {
    uint32_t count;
    uint32_t site[LANE_ENTRIES_MAX];
    uint64_t address[LANE_ENTRIES_MAX];
    uint64_t place[LANE_ENTRIES_MAX]; /* a hash of the site and the iterations around it */
};
static struct lane_trace *traces; /* [32] */

static uint64_t hash(uint64_t a, uint64_t b)
{
    return (a ^ (b + 1)) * 0x9E3779B97F4A7C15u + (a >> 29);
}

static void run_node(const struct program *program, uint32_t index, uint32_t lane, uint64_t place)
{
    const struct node *const node = &program->nodes[index];
    struct lane_trace *const trace = &traces[lane];
    if (node->kind == SITE) {
        if (trace->count == LANE_ENTRIES_MAX) return;
        trace->site[trace->count] = node->site;
        trace->address[trace->count] = 0x7000000000 + ((uint64_t)lane << 24) + trace->count;
        trace->place[trace->count] = hash(place, index);
        trace->count++;
        return;
    }
    uint32_t trips = 1;
    if (node->kind == GUARD) trips = below(100) < node->chance;
    if (node->kind == LOOP) trips = below(node->chance + 1);
    for (uint32_t trip = 0; trip < trips; trip++)
        for (uint32_t i = 0; i < node->child_count; i++)
            run_node(program, node->children[i], lane,
                     node->kind == LOOP ? hash(hash(place, index), trip) : place);
}

static uint64_t log_rows[CTS_LOG_ROWS_ALL * CTS_WARP_LANES] __attribute__((aligned(64)));

/* The merge under test: the one that this machine uses, then the one for any machine. */
/* The stand-in above does not look at it; without one nothing is added. */
static struct cts_stream *const kept = (struct cts_stream *)1;

static void (*merge_log)(struct cts_log_merge *merge, struct cts_log_state *state) = cts_log_merge;

static uint64_t value_of(uint64_t address)
{
    return address * 3 + 1;
}

static bool has_meetings; /* of which a log may be full, without a record */

/* Feeds the traces through the log as the scheduler does: lanes fill their logs, the log is merged,
 * lanes with room go on. */
static void merge_traces(const struct program *program)
{
    struct cts_log_state state = {0};
    uint32_t count[CTS_WARP_LANES] = {0}, at[CTS_WARP_LANES] = {0};
    struct cts_log_merge merge = {.stream = kept, .log = log_rows, .row_count = count, .warp = 3};
    bool more = true;
    while (more) {
        more = false;
        merge.live = merge.open = 0;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
            const struct lane_trace *const trace = &traces[lane];
            while (at[lane] < trace->count && count[lane] < CTS_LOG_ROWS) {
                const uint32_t site = trace->site[at[lane]];
                const uint64_t slot =
                    site == MEETING ? CTS_SLOT_MEETING : program->first_slot + site;
                const uint64_t address = trace->address[at[lane]++];
                log_rows[count[lane]++ * CTS_WARP_LANES + lane] = slot << 48 | address;
                if (cts_slots[slot].value_words)
                    log_rows[count[lane]++ * CTS_WARP_LANES + lane] = value_of(address);
            }
            if (at[lane] < trace->count) merge.live |= 1u << lane;
        }
        merge.open = merge.live;
        const size_t before = record_count;
        merge_log(&merge, &state);
        if (merge.live) assert_true(record_count > before || has_meetings);
        more = merge.live != 0;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES && !merge.live; lane++)
            assert_int_equal(count[lane], 0);
    }
    assert_int_equal(merge.invalid_count, 0);
}

static void skip_meetings(uint32_t lane, uint32_t *at)
{
    while (*at < traces[lane].count && traces[lane].site[*at] == MEETING) ++*at;
}

/* Every lane's accesses are in the records exactly once, in the lane's order. */
static void check_each_lane(bool values)
{
    uint32_t at[CTS_WARP_LANES] = {0};
    for (size_t i = 0; i < record_count; i++)
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
            const struct lane_trace *const trace = &traces[lane];
            if (!(records[i].mask >> lane & 1)) continue;
            skip_meetings(lane, &at[lane]);
            assert_true(at[lane] < trace->count);
            assert_int_equal(records[i].site, 1000 + trace->site[at[lane]]);
            assert_int_equal(records[i].addresses[lane], trace->address[at[lane]]);
            if (values)
                assert_int_equal(records[i].values[lane], value_of(trace->address[at[lane]]));
            at[lane]++;
        }
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        skip_meetings(lane, &at[lane]);
        assert_int_equal(at[lane], traces[lane].count);
    }
}

/* The lanes of a record are all that ever are at its place, where each lane is at most once. */
static void check_masks(void)
{
    uint32_t at[CTS_WARP_LANES] = {0};
    for (size_t i = 0; i < record_count; i++) {
        const uint32_t mask = records[i].mask;
        const uint32_t lead = (uint32_t)__builtin_ctz(mask);
        const uint64_t place = traces[lead].place[at[lead]];
        uint32_t expected = 0;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
            for (uint32_t k = 0; k < traces[lane].count; k++)
                expected |= (uint32_t)(traces[lane].place[k] == place) << lane;
        assert_int_equal(mask, expected);
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
            if (mask >> lane & 1) assert_int_equal(traces[lane].place[at[lane]++], place);
    }
}

static void random_programs(uint32_t flags)
{
    for (uint32_t trial = 0; trial < 300; trial++) {
        struct program program = {0};
        random_start(trial);
        for (uint32_t i = 0; i < 3 && program.node_count < 12; i++)
            add_node(&program, i == 1 ? LOOP : GUARD, UINT32_MAX, 0);
        register_program(&program, flags);
        memset(traces, 0, CTS_WARP_LANES * sizeof *traces);
        record_count = 0;
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
            for (uint32_t i = 0; i < program.node_count; i++) {
                bool is_child = false;
                for (uint32_t j = 0; j < program.node_count; j++)
                    for (uint32_t k = 0; k < program.nodes[j].child_count; k++)
                        is_child |= program.nodes[j].children[k] == i;
                if (!is_child) run_node(&program, i, lane, 1);
            }
        merge_traces(&program);
        check_each_lane(flags & CTS_FILE_VALUES);
        if (record_count < 3000) check_masks();
    }
}

static void random_programs_keep_every_access_in_order(void **state)
{
    (void)state;
    random_programs(0);
}

static void random_programs_keep_values(void **state)
{
    (void)state;
    random_programs(CTS_FILE_VALUES);
}

/* ---- Structured programs ---- */

static struct program structured;

static void add_access(uint32_t lane, uint32_t site)
{
    struct lane_trace *const trace = &traces[lane];
    trace->site[trace->count] = site;
    trace->address[trace->count] = 0x1000 + trace->count * 256 + lane * 4;
    trace->count++;
}

static void start_structured(uint32_t site_count, const uint32_t *loops)
{
    memset(&structured, 0, sizeof structured);
    structured.site_count = site_count;
    structured.loop_count = 2;
    structured.loops[0].parent = UINT32_MAX;
    structured.loops[1].parent = 0;
    for (uint32_t i = 0; i < site_count; i++)
        structured.sites[i] = (struct cts_site_desc){
            .width_bytes = 4, .operation = CTS_LOAD, .space = CTS_SPACE_GLOBAL, .loop = loops[i]};
    register_program(&structured, 0);
    memset(traces, 0, CTS_WARP_LANES * sizeof *traces);
    record_count = 0;
}

static void lock_step_gives_full_masks(void **state)
{
    (void)state;
    start_structured(2, (const uint32_t[]){0, 0});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        for (uint32_t trip = 0; trip < 500; trip++) {
            add_access(lane, 0);
            add_access(lane, 1);
        }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 1000);
    for (size_t i = 0; i < record_count; i++) assert_int_equal(records[i].mask, UINT32_MAX);
}

/* loop { if (lane != 0) L; R; } */
static void guard_in_a_loop_reconverges(void **state)
{
    (void)state;
    start_structured(2, (const uint32_t[]){0, 0});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        for (uint32_t trip = 0; trip < 300; trip++) {
            if (lane) add_access(lane, 0);
            add_access(lane, 1);
        }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 600);
    for (size_t i = 0; i < record_count; i++)
        assert_int_equal(records[i].mask, i % 2 ? UINT32_MAX : UINT32_MAX - 1);
}

/* A; loop (lane trips) B; C   with C behind the loop */
static void different_trip_counts_meet_behind_the_loop(void **state)
{
    (void)state;
    start_structured(3, (const uint32_t[]){UINT32_MAX, 0, UINT32_MAX});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        add_access(lane, 0);
        for (uint32_t trip = 0; trip < lane * 5; trip++) add_access(lane, 1);
        add_access(lane, 2);
    }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 2 + 31 * 5);
    assert_int_equal(records[0].mask, UINT32_MAX);
    assert_int_equal(records[record_count - 1].mask, UINT32_MAX);
    for (uint32_t trip = 0; trip < 31 * 5; trip++)
        assert_int_equal(records[1 + trip].mask, UINT32_MAX << (trip / 5 + 1));
}

/* loop 0 { A; loop 1 (lane-dependent trips) B; C }: C of each iteration has all lanes */
static void inner_loops_keep_outer_iterations_apart(void **state)
{
    (void)state;
    start_structured(3, (const uint32_t[]){0, 1, 0});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        for (uint32_t outer = 0; outer < 20; outer++) {
            add_access(lane, 0);
            for (uint32_t trip = 0; trip < (lane * 7 + outer) % 11; trip++) add_access(lane, 1);
            add_access(lane, 2);
        }
    merge_traces(&structured);
    check_each_lane(false);
    uint32_t full = 0;
    for (size_t i = 0; i < record_count; i++)
        if (records[i].site != 1001) {
            assert_int_equal(records[i].mask, UINT32_MAX);
            full++;
        }
    assert_int_equal(full, 40);
}

/* if (odd) A else B; C */
static void branches_are_apart_and_meet_again(void **state)
{
    (void)state;
    start_structured(3, (const uint32_t[]){UINT32_MAX, UINT32_MAX, UINT32_MAX});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        add_access(lane, lane % 2 ? 0 : 1);
        add_access(lane, 2);
    }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 3);
    assert_int_equal(records[0].mask, 0xAAAAAAAA);
    assert_int_equal(records[1].mask, 0x55555555);
    assert_int_equal(records[2].mask, UINT32_MAX);
}

/* A function without loops, called twice: f; g; f */
static void repeats_outside_of_loops_stay_apart(void **state)
{
    (void)state;
    start_structured(2, (const uint32_t[]){UINT32_MAX, UINT32_MAX});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        add_access(lane, 0);
        add_access(lane, 1);
        if (lane < 8) add_access(lane, 0);
    }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 3);
    assert_int_equal(records[2].mask, 0xFF);
}

static void meet(uint32_t lanes)
{
    for (uint32_t left = lanes; left; left &= left - 1) {
        struct lane_trace *const trace = &traces[__builtin_ctz(left)];
        trace->site[trace->count] = MEETING;
        trace->address[trace->count++] = lanes;
    }
}

/* loop { if (lane == 0 && some) A; meet; if (more) B; }: iterations of which some lanes log nothing
 * would set them apart for good. */
static void lanes_that_meet_go_on_together(void **state)
{
    (void)state;
    start_structured(2, (const uint32_t[]){0, 0});
    has_meetings = true;
    for (uint32_t trip = 0; trip < 300; trip++) {
        if (trip % 3 == 0) add_access(0, 0);
        meet(UINT32_MAX);
        for (uint32_t lane = 0; lane < CTS_WARP_LANES && trip % 2; lane++) add_access(lane, 1);
    }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 250);
    for (size_t i = 0; i < record_count; i++)
        assert_int_equal(records[i].mask, records[i].site == 1000 ? 1 : UINT32_MAX);
    has_meetings = false;
}

/* loop (lane trips) A; meet; loop 0 { meet of each half; B }: lanes of both halves stay together.
 */
static void halves_that_meet_apart_stay_in_step(void **state)
{
    (void)state;
    start_structured(2, (const uint32_t[]){UINT32_MAX, 0});
    has_meetings = true;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++)
        for (uint32_t trip = 0; trip < lane % 5; trip++) add_access(lane, 0);
    meet(UINT32_MAX);
    for (uint32_t trip = 0; trip < 100; trip++) {
        meet(0xFFFF);
        meet(0xFFFF0000);
        for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) add_access(lane, 1);
    }
    merge_traces(&structured);
    check_each_lane(false);
    assert_int_equal(record_count, 4 + 100);
    for (size_t i = 4; i < record_count; i++) assert_int_equal(records[i].mask, UINT32_MAX);
    has_meetings = false;
}

enum { MEETINGS_MAX = 300 };

/* What lanes did before they met comes before what any of them does afterwards. The place of a
 * meeting is its number. */
static void check_meetings(uint32_t meeting_count)
{
    uint32_t at[CTS_WARP_LANES] = {0};
    size_t last_before[MEETINGS_MAX] = {0}, first_after[MEETINGS_MAX], last[CTS_WARP_LANES] = {0};
    for (uint32_t m = 0; m < meeting_count; m++) first_after[m] = SIZE_MAX;
    for (size_t i = 0; i < record_count; i++)
        for (uint32_t left = records[i].mask; left; left &= left - 1) {
            const uint32_t lane = (uint32_t)__builtin_ctz(left);
            const struct lane_trace *const trace = &traces[lane];
            uint32_t k = at[lane];
            for (; trace->site[k] == MEETING; k++) {
                const uint64_t m = trace->place[k];
                if (last[lane] > last_before[m]) last_before[m] = last[lane];
            }
            /* The meetings since the lane's access before this one. */
            for (uint32_t j = at[lane]; j < k; j++)
                if (i < first_after[trace->place[j]]) first_after[trace->place[j]] = i;
            last[lane] = i + 1;
            at[lane] = k + 1;
        }
    for (uint32_t m = 0; m < meeting_count; m++) assert_true(last_before[m] <= first_after[m]);
}

/* Any lanes, any sites: nothing is lost. */
static void records_keep_the_order_of_meetings(void **state)
{
    (void)state;
    has_meetings = true;
    for (uint32_t trial = 0; trial < cts_test_count(150, 3000); trial++) {
        random_start(trial);
        start_structured(6, (const uint32_t[]){UINT32_MAX, 0, 0, 1, 0, UINT32_MAX});
        const uint32_t steps = 1 + below(MEETINGS_MAX);
        const bool sparse = below(3);
        uint32_t meetings = 0;
        for (uint32_t step = 0; step < steps; step++) {
            uint32_t lanes = below(1 << 16) << 16 | below(1 << 16);
            if (sparse) lanes &= below(1 << 16) << 16 | below(1 << 16);
            if (below(4) == 0) lanes = UINT32_MAX;
            if (lanes && below(3) == 0) {
                meet(lanes);
                for (uint32_t left = lanes; left; left &= left - 1) {
                    struct lane_trace *const trace = &traces[__builtin_ctz(left)];
                    trace->place[trace->count - 1] = meetings;
                }
                meetings++;
                continue;
            }
            const uint32_t site = below(6);
            for (uint32_t left = lanes; left; left &= left - 1)
                add_access((uint32_t)__builtin_ctz(left), site);
        }
        merge_traces(&structured);
        check_each_lane(false);
        check_meetings(meetings);
    }
    has_meetings = false;
}

/* A generic site: shared window, own stack and the rest become records of their spaces. */
static void generic_accesses_are_split_by_space(void **state)
{
    (void)state;
    static char window[4096], stack_memory[32][256];
    struct cts_stack stacks[CTS_WARP_LANES], *stack_of[CTS_WARP_LANES];
    struct cts_log_state log_state = {0};
    uint32_t count[CTS_WARP_LANES];
    start_structured(1, (const uint32_t[]){UINT32_MAX});
    cts_slots[structured.first_slot].space = CTS_SPACE_GENERIC;
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        stacks[lane] = (struct cts_stack){
            .low = stack_memory[lane], .top = stack_memory[lane] + 256, .size_bytes = 256};
        stack_of[lane] = &stacks[lane];
        const char *const address = lane < 8    ? window + lane * 4
                                    : lane < 20 ? stack_memory[lane] + 16
                                                : (const char *)&record_count;
        log_rows[lane] = (uint64_t)structured.first_slot << 48 | (uint64_t)(uintptr_t)address;
        count[lane] = 1;
    }
    struct cts_log_merge merge = {.stream = kept,
                                  .log = log_rows,
                                  .row_count = count,
                                  .warp = 3,
                                  .shared_base = (uint64_t)(uintptr_t)window,
                                  .shared_bytes = sizeof window,
                                  .stacks = stack_of};
    merge_log(&merge, &log_state);
    assert_int_equal(record_count, 3);
    for (size_t i = 0; i < 3; i++) {
        const struct record *const record = &records[i];
        if (record->space == CTS_SPACE_SHARED) {
            assert_int_equal(record->mask, 0xFF);
            assert_int_equal(record->addresses[7], 28);
        } else if (record->space == CTS_SPACE_LOCAL) {
            assert_int_equal(record->mask, 0xFFF00);
            assert_int_equal(record->addresses[8], 16);
            assert_int_equal(record->addresses[19], 16);
        } else {
            assert_int_equal(record->space, CTS_SPACE_GLOBAL);
            assert_int_equal(record->mask, 0xFFF00000);
            assert_int_equal(record->addresses[31], (uint64_t)(uintptr_t)&record_count);
        }
    }
}

/* Code of a file that got no slots logs at the limit. */
static void entries_without_a_slot_are_counted(void **unused)
{
    (void)unused;
    struct cts_log_state log_state = {0};
    uint32_t count[CTS_WARP_LANES] = {0};
    start_structured(2, (const uint32_t[]){UINT32_MAX, UINT32_MAX});
    for (uint32_t lane = 0; lane < CTS_WARP_LANES; lane++) {
        const uint64_t slot = lane < 5 ? CTS_SLOT_LIMIT : structured.first_slot;
        log_rows[lane] = slot << 48 | 4096;
        count[lane] = 1;
    }
    struct cts_log_merge merge = {.stream = kept, .log = log_rows, .row_count = count, .warp = 3};
    merge_log(&merge, &log_state);
    assert_int_equal(merge.invalid_count, 5);
    assert_int_equal(record_count, 1);
    assert_int_equal(records[0].mask, 0xFFFFFFE0);
}

int main(void)
{
    records = malloc(RECORDS_MAX * sizeof *records);
    traces = malloc(CTS_WARP_LANES * sizeof *traces);
    if (!records || !traces) return 1;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lock_step_gives_full_masks),
        cmocka_unit_test(guard_in_a_loop_reconverges),
        cmocka_unit_test(different_trip_counts_meet_behind_the_loop),
        cmocka_unit_test(inner_loops_keep_outer_iterations_apart),
        cmocka_unit_test(branches_are_apart_and_meet_again),
        cmocka_unit_test(repeats_outside_of_loops_stay_apart),
        cmocka_unit_test(lanes_that_meet_go_on_together),
        cmocka_unit_test(halves_that_meet_apart_stay_in_step),
        cmocka_unit_test(records_keep_the_order_of_meetings),
        cmocka_unit_test(generic_accesses_are_split_by_space),
        cmocka_unit_test(entries_without_a_slot_are_counted),
        cmocka_unit_test(random_programs_keep_every_access_in_order),
        cmocka_unit_test(random_programs_keep_values),
    };
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    merge_log = cts_log_merge_generic;
    failed += cmocka_run_group_tests_name("any machine", tests, NULL, NULL);
    free(records);
    free(traces);
    return failed;
}
