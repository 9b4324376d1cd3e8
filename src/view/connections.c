/* A slot for each connection, and a thread that closes what has waited too long. Closing is
 * shutdown(): the thread of the connection then reads its end, and the library frees it. */
#include "view/connections.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <time.h>

#include "common/array.h"
#include "common/clock.h"

/* From so many on, accepting pauses for those that are closed already to end. */
enum { CROWD = 2 * CTS_VIEW_CONNECTIONS_KEPT, PAUSE_NS = 2000000 };

struct slot {
    struct cts_view_connections *all;
    int socket; /* -1: the slot is free */
    bool is_waiting;
    uint64_t since_ns;
};

struct cts_view_connections {
    pthread_t thread;
    pthread_mutex_t lock; /* of all that follows */
    pthread_cond_t changed;
    bool is_stopping;
    unsigned count;
    struct slot slots[CTS_VIEW_CONNECTIONS_MAX];
};

static void shut(struct slot *slot)
{
    slot->is_waiting = false; /* once is enough */
    shutdown(slot->socket, SHUT_RDWR);
}

static void shut_overdue(struct cts_view_connections *all)
{
    const uint64_t now = cts_clock_ns(), most = CTS_VIEW_IDLE_SECONDS * UINT64_C(1000000000);
    for (unsigned i = 0; i < CTS_VIEW_CONNECTIONS_MAX; i++) {
        struct slot *const slot = &all->slots[i];
        if (slot->socket >= 0 && slot->is_waiting && now - slot->since_ns > most) shut(slot);
    }
}

static void shut_oldest(struct cts_view_connections *all)
{
    struct slot *oldest = NULL;
    for (unsigned i = 0; i < CTS_VIEW_CONNECTIONS_MAX; i++) {
        struct slot *const slot = &all->slots[i];
        if (slot->socket >= 0 && slot->is_waiting && (!oldest || slot->since_ns < oldest->since_ns))
            oldest = slot;
    }
    if (oldest) shut(oldest);
}

static void *watch(void *state)
{
    struct cts_view_connections *const all = state;
    pthread_mutex_lock(&all->lock);
    while (!all->is_stopping) {
        struct timespec next;
        clock_gettime(CLOCK_MONOTONIC, &next);
        next.tv_sec++;
        if (all->count)
            pthread_cond_timedwait(&all->changed, &all->lock, &next);
        else
            pthread_cond_wait(&all->changed, &all->lock);
        shut_overdue(all);
    }
    pthread_mutex_unlock(&all->lock);
    return NULL;
}

static void destroy(struct cts_view_connections *all)
{
    pthread_cond_destroy(&all->changed);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

enum cts_status cts_view_connections_start(struct cts_view_connections **connections,
                                           struct cts_error *error)
{
    struct cts_view_connections *const all = cts_array_zeroed(1, sizeof *all, error);
    if (!all) return CTS_MEMORY;
    for (unsigned i = 0; i < CTS_VIEW_CONNECTIONS_MAX; i++)
        all->slots[i] = (struct slot){.all = all, .socket = -1};
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_mutex_init(&all->lock, NULL);
    pthread_cond_init(&all->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    const int reason = pthread_create(&all->thread, NULL, watch, all);
    if (reason) {
        destroy(all);
        return cts_fail_errno(error, reason, "cannot start a thread");
    }
    *connections = all;
    return CTS_OK;
}

void cts_view_connections_stop(struct cts_view_connections *connections)
{
    if (!connections) return;
    pthread_mutex_lock(&connections->lock);
    connections->is_stopping = true;
    pthread_cond_signal(&connections->changed);
    pthread_mutex_unlock(&connections->lock);
    pthread_join(connections->thread, NULL);
    destroy(connections);
}

/* ---- what the library tells ---- */

static struct slot *take_slot(struct cts_view_connections *all, int socket)
{
    for (unsigned i = 0; i < CTS_VIEW_CONNECTIONS_MAX; i++) {
        struct slot *const slot = &all->slots[i];
        if (slot->socket >= 0) continue;
        slot->socket = socket;
        slot->is_waiting = true;
        slot->since_ns = cts_clock_ns();
        if (!all->count++) pthread_cond_signal(&all->changed);
        return slot;
    }
    return NULL;
}

void cts_view_connection_changed(void *state, struct MHD_Connection *connection, void **context,
                                 enum MHD_ConnectionNotificationCode code)
{
    struct cts_view_connections *const all = state;
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    bool is_crowd = false;
    pthread_mutex_lock(&all->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        is_crowd = all->count >= CROWD;
        if (all->count >= CTS_VIEW_CONNECTIONS_KEPT) shut_oldest(all);
        *context = info ? take_slot(all, info->connect_fd) : NULL;
    } else if (*context) {
        ((struct slot *)*context)->socket = -1;
        all->count--;
    }
    pthread_mutex_unlock(&all->lock);
    if (is_crowd) nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

static void set_waiting(struct MHD_Connection *connection, bool is_waiting)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    struct slot *const slot = info ? info->socket_context : NULL;
    if (!slot) return;
    pthread_mutex_lock(&slot->all->lock);
    slot->is_waiting = is_waiting;
    slot->since_ns = cts_clock_ns();
    pthread_mutex_unlock(&slot->all->lock);
}

void cts_view_connection_asks(struct MHD_Connection *connection)
{
    set_waiting(connection, false);
}

void cts_view_connection_answered(void *state, struct MHD_Connection *connection, void **request,
                                  enum MHD_RequestTerminationCode code)
{
    (void)state;
    (void)request;
    (void)code;
    set_waiting(connection, true);
}
