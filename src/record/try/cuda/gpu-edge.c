/* The cost of order between lanes: as many small memsets in one lane, and going to and fro between
 * two. All are queued behind a pause, so that the device and not the host decides how long they
 * take. */
#include <stdlib.h>

#include "common/clock.h"
#include "record/try/cuda/gpu-steps.h"

enum { LINKS = 48, ROUNDS = 5, PAUSE_NS = 2 * 1000 * 1000, PLACE_BYTES = 256 };

struct chain {
    const CUstream *lanes;
    CUevent first, last, link[LINKS];
    CUdeviceptr place;
    uint64_t device_ns, host_ns; /* of the last run */
};

static void run(struct chain *chain, bool to_and_fro)
{
    float ms = 0;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    (void)cts_gpu_pause(chain->lanes[0], PAUSE_NS);
    (void)driver->event_record(chain->first, chain->lanes[0]);
    const uint64_t start_ns = cts_clock_ns();
    for (int i = 0; i < LINKS; i++) {
        const CUstream lane = chain->lanes[to_and_fro ? i % 2 : 0];
        if (to_and_fro && i) (void)driver->stream_wait_event(lane, chain->link[i - 1], 0);
        if (to_and_fro && !i) (void)driver->stream_wait_event(lane, chain->first, 0);
        (void)driver->set_8(chain->place, 0, 1, lane);
        if (to_and_fro) (void)driver->event_record(chain->link[i], lane);
    }
    chain->host_ns = cts_clock_ns() - start_ns;
    (void)driver->event_record(chain->last, chain->lanes[to_and_fro ? (LINKS - 1) % 2 : 0]);
    (void)driver->event_synchronize(chain->last);
    (void)driver->event_elapsed(&ms, chain->first, chain->last);
    chain->device_ns = ms > 0 ? (uint64_t)((double)ms * 1e6) : 0;
}

static void keep_least(uint64_t *least, uint64_t value)
{
    if (!*least || value < *least) *least = value;
}

static uint64_t each(uint64_t with_ns, uint64_t without_ns)
{
    return with_ns > without_ns ? (with_ns - without_ns) / LINKS : 0;
}

static void measure(struct chain *chain, struct cts_try_edge *edge)
{
    uint64_t device_ns[2] = {0}, host_ns[2] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < 2; i++) {
            run(chain, i);
            keep_least(&device_ns[i], chain->device_ns);
            keep_least(&host_ns[i], chain->host_ns);
        }
    edge->latency_ns = each(device_ns[1], device_ns[0]);
    edge->issue_ns = each(host_ns[1], host_ns[0]);
}

void cts_gpu_measure_edge(const CUstream lanes[2], struct cts_try_edge *edge)
{
    struct chain chain = {.lanes = lanes};
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    CUevent *const all[] = {&chain.first, &chain.last};
    bool good = driver->allocate(&chain.place, PLACE_BYTES) == CUDA_SUCCESS;
    for (int i = 0; i < 2; i++)
        good &= driver->event_create(all[i], CU_EVENT_DEFAULT) == CUDA_SUCCESS;
    for (int i = 0; i < LINKS; i++)
        good &= driver->event_create(&chain.link[i], CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS;
    if (good) measure(&chain, edge);
    for (int i = 0; i < 2; i++)
        if (*all[i]) (void)driver->event_destroy(*all[i]);
    for (int i = 0; i < LINKS; i++)
        if (chain.link[i]) (void)driver->event_destroy(chain.link[i]);
    if (chain.place) (void)driver->free(chain.place);
}
