/* The talk with `ctascope try` once a stretch is closed. */
#ifndef CTS_RECORD_TRY_SESSION_H
#define CTS_RECORD_TRY_SESSION_H

#include "record/try/try-memory.h"

struct cts_try_session {
    int socket;
    const struct cts_try_device *device;
    struct cts_try_memory *memory;
    const struct cts_stretch *stretch;
};

/* Connects to `ctascope try`; -1: it is not there, or has another process's stretch already. */
int cts_try_connect(const char *path);

/* Sends the stretch, makes the replays that are asked for, and puts the memory back to the
 * stretch's end. */
void cts_try_converse(struct cts_try_session *session);

#endif
