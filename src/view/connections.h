/* Which clients the server serves: the deadline of a request, and who goes when there are many;
 * private to view/.
 *
 * A connection *waits* from its start, or from its last answer, until the server has a whole
 * request. One that waits longer than CTS_VIEW_IDLE_SECONDS is closed, also if bytes keep dripping
 * in. From CTS_VIEW_CONNECTIONS_KEPT on, each new connection closes the one that has waited
 * longest, so that no number of silent clients keeps out one that asks. A connection whose request
 * is being answered is never closed here. There is room for more than that, since a closed
 * connection counts until its thread has ended: the library resets what comes beyond its limit.
 *
 * Functions may be called by any thread. */
#ifndef CTS_VIEW_CONNECTIONS_H
#define CTS_VIEW_CONNECTIONS_H

#include <microhttpd.h>

#include "common/error.h"

enum {
    CTS_VIEW_CONNECTIONS_KEPT = 48,
    CTS_VIEW_CONNECTIONS_MAX = 256, /* of the library */
    CTS_VIEW_IDLE_SECONDS = 20,
};

struct cts_view_connections;

/* To be stopped by the caller, after the server that it was given to; NULL is fine. */
CTS_MUST_CHECK enum cts_status cts_view_connections_start(struct cts_view_connections **connections,
                                                          struct cts_error *error);
void cts_view_connections_stop(struct cts_view_connections *connections);

/* For MHD_OPTION_NOTIFY_CONNECTION and MHD_OPTION_NOTIFY_COMPLETED; `state`: the connections. */
void cts_view_connection_changed(void *state, struct MHD_Connection *connection, void **context,
                                 enum MHD_ConnectionNotificationCode code);
void cts_view_connection_answered(void *state, struct MHD_Connection *connection, void **request,
                                  enum MHD_RequestTerminationCode code);
/* The request of this connection is complete. */
void cts_view_connection_asks(struct MHD_Connection *connection);

#endif
