#include "record/wrappers/open-regions.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_key_t key;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static __thread struct cts_open_regions *own;

static void make_key(void)
{
    pthread_key_create(&key, free);
}

struct cts_open_regions *cts_open_regions(void)
{
    if (own) return own;
    pthread_once(&once, make_key);
    own = calloc(1, sizeof(*own));
    pthread_setspecific(key, own);
    return own;
}

static void report(const struct cts_recorder *recorder, enum cts_timeline_event_kind kind,
                   uint64_t time_ns, uint32_t region)
{
    const struct cts_timeline_event event = {.time_ns = time_ns, .kind = kind, .region = region};
    struct cts_log *const log = recorder->this_thread();
    if (log && region != CTS_NO_REGION) recorder->event(log, &event, NULL);
}

void cts_open_push(const struct cts_recorder *recorder, struct cts_open_regions *regions,
                   struct cts_open_region region)
{
    if (regions->count == CTS_OPEN_REGIONS_MAX) {
        if (regions->beyond++ == 0)
            recorder->lost("regions that are nested more than 1024 deep", 1);
        return;
    }
    regions->open[regions->count++] = region;
    report(recorder, CTS_EVENT_ENTER, 0, region.region);
}

bool cts_open_pop(const struct cts_recorder *recorder, struct cts_open_regions *regions,
                  const void *owner, uint64_t number, bool drops)
{
    if (regions->beyond) {
        regions->beyond--;
        return true;
    }
    uint32_t at = regions->count;
    while (at > 0 && (regions->open[at - 1].owner != owner ||
                      (number && regions->open[at - 1].number != number)))
        at--;
    if (at == 0) return false;
    const uint64_t now_ns = recorder->now_ns();
    for (uint32_t i = regions->count; i >= at; i--)
        report(recorder, CTS_EVENT_LEAVE, now_ns, regions->open[i - 1].region);
    uint32_t left = at - 1;
    for (uint32_t i = at; !drops && i < regions->count; i++) {
        report(recorder, CTS_EVENT_ENTER, now_ns, regions->open[i].region);
        regions->open[left++] = regions->open[i];
    }
    regions->count = left;
    return true;
}
