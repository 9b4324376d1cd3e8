/* The socket that the program's part of `try` connects to, and the thread that answers. */
#ifndef CTS_CLI_TRY_SERVICE_H
#define CTS_CLI_TRY_SERVICE_H

#include <pthread.h>

#include "trace/trial/trial-message.h"

struct cts_try_service {
    /* A stretch has come, and further messages go over the socket. Called by the thread; the
     * message's buffer is lent. */
    void (*talk)(void *state, int socket, const struct cts_buffer *stretch);
    void *state;
    /* Filled by the thread; to be read once it is stopped. */
    struct cts_trial_absence absence; /* of the process with most launches; owned */
    bool has_absence, has_stretch;
    /* its own */
    int listener, stop_pipe[2];
    pthread_t thread;
    char folder[80], path[100];
};

/* Listens, and sets CTASCOPE_TRY for programs that are started from now on. */
CTS_MUST_CHECK enum cts_status cts_try_service_start(struct cts_try_service *service,
                                                     struct cts_error *error);
/* The program has ended: waits for the talk to end. */
void cts_try_service_stop(struct cts_try_service *service);

#endif
