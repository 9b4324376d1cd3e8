#include "analyze/path/raw.h"

#include <stdlib.h>

enum cts_status cts_path_add_dependency(struct cts_path_location *location,
                                        const struct cts_path_dependency *dependency,
                                        struct cts_error *error)
{
    struct cts_path_raw *const raw = location->raw;
    if (CTS_ARRAY_RESERVE(&raw->dependencies, raw->dependencies.count + 1, error))
        return CTS_MEMORY;
    raw->dependencies.items[raw->dependencies.count++] = *dependency;
    return CTS_OK;
}

void cts_path_drop_raw(struct cts_path_location *location)
{
    struct cts_path_raw *const raw = location->raw;
    if (!raw) return;
    free(raw->sends.items);
    free(raw->receives.items);
    free(raw->members.items);
    free(raw->locks.items);
    free(raw->ops.items);
    free(raw->teams.items);
    free(raw->barriers.items);
    free(raw->forks.items);
    free(raw->thread_events.items);
    free(raw->handovers.items);
    free(raw->functions.items);
    free(raw->kernels.items);
    free(raw->collective_calls.items);
    free(raw->correlations.items);
    free(raw->dependencies.items);
    free(raw);
    location->raw = NULL;
}
