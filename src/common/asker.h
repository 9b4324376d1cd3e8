/* Who waits for an answer, and may go before it is there. */
#ifndef CTS_COMMON_ASKER_H
#define CTS_COMMON_ASKER_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

struct cts_asker {
    bool (*is_gone)(void *state); /* called by any thread; NULL: waits for ever */
    void *state;
};

static inline bool cts_asker_is_gone(const struct cts_asker *asker)
{
    return asker && asker->is_gone && asker->is_gone(asker->state);
}

/* CTS_IO once the asker (NULL: waits for ever) has gone. */
static inline enum cts_status cts_asker_check(const struct cts_asker *asker,
                                              struct cts_error *error)
{
    if (!cts_asker_is_gone(asker)) return CTS_OK;
    return cts_fail(error, CTS_IO, "the request was cancelled");
}

#endif
