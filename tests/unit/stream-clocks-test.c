/* The order that `comm` and `access` claim and the one of `flow` come from the same rules: random
 * calls of one host thread on streams of all kinds and two devices, and every pair of launches is
 * ordered in both or in neither. Then the rules of default streams one by one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "analyze/flow/flow-order.h"
#include "analyze/order/order.h"
#include "count.h"
#include "random.h"

enum { CALLS_MAX = 24, STREAMS = 6, EVENTS = 3 };

static struct cts_cuda_stream streams[STREAMS] = {
    {.stream = 0, .device = 0, .kind = "legacy default"},
    {.stream = 1, .device = 0, .kind = "blocking"},
    {.stream = 2, .device = 0, .kind = "non-blocking"},
    {.stream = 3, .device = 0, .kind = "per-thread default"},
    {.stream = 4, .device = 1, .kind = "legacy default"},
    {.stream = 5, .device = 1, .kind = "blocking"},
};

struct program {
    struct cts_launch launches[CALLS_MAX];
    struct cts_copy copies[CALLS_MAX];
    struct cts_sync syncs[CALLS_MAX];
    struct cts_catalogue catalogue;
};

static void add_launch(struct program *p, uint64_t op, uint32_t stream)
{
    struct cts_catalogue *const c = &p->catalogue;
    p->launches[c->launch_count] = (struct cts_launch){
        .launch = (uint32_t)c->launch_count, .op = op, .stream = stream, .start_ns = op};
    c->launch_count++;
}

static void add_sync(struct program *p, const struct cts_sync *row)
{
    p->syncs[p->catalogue.sync_count++] = *row;
}

static void start(struct program *p, size_t stream_count)
{
    *p = (struct program){.catalogue.stream_count = stream_count};
    p->catalogue.launches = p->launches;
    p->catalogue.copies = p->copies;
    p->catalogue.syncs = p->syncs;
    p->catalogue.streams = streams;
}

/* Streams that a call names may lack a row. */
static void draw_program(struct program *p)
{
    static const char *const kinds[] = {"event record", "event record", "stream wait",
                                        "stream wait",  "event sync",   "event query",
                                        "stream sync",  "stream query", "device sync"};
    start(p, 1 + below(STREAMS));
    const uint32_t count = 2 + below(CALLS_MAX - 2);
    for (uint64_t op = 1; op <= count; op++) {
        const uint32_t stream = below(STREAMS);
        const uint32_t what = below(8);
        if (what < 4) {
            add_launch(p, op, stream);
        } else if (what == 4) {
            p->copies[p->catalogue.copy_count++] =
                (struct cts_copy){.op = op,
                                  .stream = stream,
                                  .kind = below(2) ? "DtoH" : "HtoD",
                                  .asynchronous = below(2) != 0,
                                  .start_ns = op};
        } else {
            const char *const kind = kinds[below(sizeof kinds / sizeof *kinds)];
            add_sync(p, &(struct cts_sync){.op = op,
                                           .kind = kind,
                                           .stream = below(6) ? stream : CTS_NONE,
                                           .event = below(EVENTS),
                                           .result = below(8) ? 0 : 600});
        }
    }
}

static void compare(const struct program *p)
{
    struct cts_order order;
    struct cts_flow_order nodes;
    struct cts_error error;
    const struct cts_flow_order_options options = {.level = CTS_FLOW_THREADS};
    assert_int_equal(cts_order_build(&p->catalogue, &order, &error), CTS_OK);
    assert_int_equal(cts_flow_order_make(&p->catalogue, &options, &nodes, &error), CTS_OK);
    for (size_t u = 0; u < nodes.node_count; u++)
        for (size_t v = 0; v < nodes.node_count; v++) {
            const struct cts_flow_node *const a = &nodes.nodes[u], *const b = &nodes.nodes[v];
            if (a->kind != CTS_FLOW_LAUNCH || b->kind != CTS_FLOW_LAUNCH || u == v) continue;
            const bool supersteps = cts_order_precedes(&order, a->index, b->index);
            if (supersteps != cts_flow_precedes(&nodes, u, v))
                fail_msg("launches of op %llu and %llu: ordered by supersteps: %d, by nodes: %d",
                         (unsigned long long)a->op, (unsigned long long)b->op, supersteps,
                         !supersteps);
        }
    cts_flow_order_release(&nodes);
    cts_order_release(&order);
}

static void supersteps_and_nodes_have_one_order(void **state)
{
    (void)state;
    struct program p;
    random_start(17);
    for (unsigned i = 0; i < cts_test_count(500, 20000); i++) {
        draw_program(&p);
        compare(&p);
    }
}

static bool orders(uint32_t first, uint32_t second)
{
    struct program p;
    struct cts_order order;
    struct cts_error error;
    start(&p, STREAMS);
    add_launch(&p, 1, first);
    add_launch(&p, 2, second);
    assert_int_equal(cts_order_build(&p.catalogue, &order, &error), CTS_OK);
    const bool is_ordered = cts_order_precedes(&order, 0, 1);
    assert_false(cts_order_precedes(&order, 1, 0));
    cts_order_release(&order);
    return is_ordered;
}

static void default_streams(void **state)
{
    (void)state;
    assert_true(orders(0, 1)); /* legacy, then blocking */
    assert_true(orders(1, 0));
    assert_true(orders(0, 3)); /* a per-thread default stream is a blocking one */
    assert_true(orders(3, 0));
    assert_false(orders(1, 3));
    assert_false(orders(0, 2)); /* non-blocking */
    assert_false(orders(2, 0));
    assert_false(orders(0, 5)); /* another device's */
    assert_false(orders(4, 1));
    assert_true(orders(4, 5));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(supersteps_and_nodes_have_one_order),
        cmocka_unit_test(default_streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
