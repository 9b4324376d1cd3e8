/* HTTP around the page and answers.c, by libmicrohttpd with a thread for each connection.
 *
 * A request is refused unless it has the token, names this server as its host (a page elsewhere
 * whose name was made to point here does not), comes from no other origin or site, and only reads.
 * What it may read are the page and answers that are made from the run that was opened: no text of
 * a request is ever used as a path. */
#include "view/server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>

#include "common/array.h"
#include "common/memory-limit.h"
#include "common/text-stream.h"
#include "report/page.h"
#include "view/answers.h"
#include "view/connections.h"
#include "view/page-bundle.h"
#include "view/prepare.h"

enum {
    TOKEN_BYTES = 16,
    TOKEN_DIGITS = 2 * TOKEN_BYTES,
    URL_MAX_BYTES = 192 << 10, /* of a request with all its headers */
};

struct cts_view_server {
    struct MHD_Daemon *daemon;
    struct cts_view_connections *connections;
    struct cts_view_run *run, *other;         /* run NULL: time is all there is */
    struct cts_view_preparation *preparation; /* of `run` */
    enum cts_status (*write_time)(void *state, const struct cts_asker *asker, FILE *file,
                                  struct cts_error *error);
    cts_view_findings_fn *write_findings;
    void *time_state;
    pthread_mutex_t timing; /* held by the one who has the next two made */
    char *time;             /* the JSON of the page of time, once it was asked for */
    size_t time_bytes;
    char token[TOKEN_DIGITS + 1];
    char url[80], entry[80];
    char hosts[2][32];   /* what the Host header may be */
    char origins[2][48]; /* what an Origin header may be */
    atomic_bool stopping;
};

/* ---- responses ---- */

enum { PART_BYTES = 1 << 16 };

/* Of an answer in the arena, from which no system call can send it. */
static ssize_t give_part(void *bytes, uint64_t offset, char *part, size_t part_bytes)
{
    memcpy(part, (const char *)bytes + offset, part_bytes);
    return (ssize_t)part_bytes;
}

/* Takes the bytes over. The policy is that of what may not run anything, if NULL. */
static struct MHD_Response *make_response(const char *type, void *bytes, size_t size_bytes,
                                          const char *policy)
{
    struct MHD_Response *const response =
        cts_memory_is_in_arena(bytes)
            ? MHD_create_response_from_callback(size_bytes, PART_BYTES, give_part, bytes, free)
            : MHD_create_response_from_buffer_with_free_callback(size_bytes, bytes, free);
    if (!response) {
        free(bytes);
        return NULL;
    }
    MHD_add_response_header(response, "Content-Type", type);
    MHD_add_response_header(response, "Cache-Control", "no-store");
    MHD_add_response_header(response, "X-Content-Type-Options", "nosniff");
    MHD_add_response_header(response, "X-Frame-Options", "DENY");
    MHD_add_response_header(response, "Referrer-Policy", "no-referrer");
    MHD_add_response_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    MHD_add_response_header(response, "Cross-Origin-Opener-Policy", "same-origin");
    MHD_add_response_header(response, "Content-Security-Policy",
                            policy ? policy : "default-src 'none'; frame-ancestors 'none'");
    return response;
}

static enum MHD_Result queue(struct MHD_Connection *connection, unsigned status,
                             struct MHD_Response *response)
{
    if (!response) return MHD_NO;
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        MHD_add_response_header(response, "Allow", "GET, HEAD");
    MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT,
                              (unsigned)CTS_VIEW_IDLE_SECONDS);
    const enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result respond_error(struct MHD_Connection *connection, unsigned status,
                                     const char *text)
{
    struct cts_text_stream stream;
    size_t body_bytes = 0;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return MHD_NO;
    struct cts_json json;
    cts_json_begin(&json, memory);
    cts_json_open_object_row(&json);
    cts_json_member_string(&json, "error", text);
    cts_json_close_object(&json);
    const enum cts_status written = cts_json_end(&json, NULL);
    char *const body = cts_text_stream_close(&stream, &body_bytes);
    if (!body || written) {
        free(body);
        return MHD_NO;
    }
    return queue(connection, status, make_response("application/json", body, body_bytes, NULL));
}

/* ---- the page ---- */

/* Scripts are run by a nonce that no other page can know, so that nothing that a run holds can
 * become a script. */
static enum MHD_Result respond_html(struct MHD_Connection *connection,
                                    void (*write)(FILE *file, const char *data, size_t data_bytes,
                                                  const char *nonce),
                                    const char *data, size_t data_bytes)
{
    uint8_t random[TOKEN_BYTES];
    char nonce[TOKEN_DIGITS + 1], policy[400];
    struct cts_text_stream stream;
    size_t page_bytes = 0;
    if (getrandom(random, sizeof random, 0) != sizeof random) return MHD_NO;
    for (unsigned i = 0; i < TOKEN_BYTES; i++) snprintf(nonce + 2 * i, 3, "%02x", random[i]);
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return MHD_NO;
    write(memory, data, data_bytes, nonce);
    char *const page = cts_text_stream_close(&stream, &page_bytes);
    if (!page) return MHD_NO;
    snprintf(
        policy, sizeof policy,
        "default-src 'none'; script-src 'nonce-%s'; style-src 'unsafe-inline'; img-src 'self' "
        "data: blob:; font-src data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'",
        nonce);
    return queue(connection, MHD_HTTP_OK,
                 make_response("text/html; charset=utf-8", page, page_bytes, policy));
}

static enum MHD_Result respond_page(struct MHD_Connection *connection)
{
    static const char data[] = "{\"mode\":\"server\"}";
    return respond_html(connection, cts_view_page_write, data, strlen(data));
}

/* The file that opens the browser leads here, with the token behind '#', which no server is told.
 * A page that came from a file may not ask for more than this; what it goes on to comes from this
 * server itself. It holds nothing of the run, so anybody may read it. */
static const char entry_path[] = "/open";

static void write_entry(FILE *file, const char *data, size_t data_bytes, const char *nonce)
{
    (void)data;
    (void)data_bytes;
    fprintf(file,
            "<!doctype html><meta charset=\"utf-8\"><title>ctascope</title>"
            "<p>This address lacks the token that 'ctascope view' has printed.</p>"
            "<script nonce=\"%s\">if (/^#[0-9a-f]{%d}$/.test(location.hash)) "
            "location.replace('/' + location.hash.slice(1) + '/');</script>\n",
            nonce, (int)TOKEN_DIGITS);
}

static enum MHD_Result respond_entry(struct MHD_Connection *connection)
{
    return respond_html(connection, write_entry, "", 0);
}

static enum cts_status make_time(struct cts_view_server *server, const struct cts_asker *asker,
                                 struct cts_error *error)
{
    if (server->time) return CTS_OK;
    struct cts_text_stream stream;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for the page of time");
    enum cts_status status = server->write_time(server->time_state, asker, memory, error);
    server->time = cts_text_stream_close(&stream, &server->time_bytes);
    if (!server->time && !status)
        status = cts_fail(error, CTS_MEMORY, "no memory for the page of time");
    if (!status) return CTS_OK;
    free(server->time);
    server->time = NULL;
    return status;
}

/* ---- answers ---- */

struct waiting {
    struct cts_view_server *server;
    int socket;
};

/* Whether the client has closed its end, also behind what it has sent. */
static bool is_given_up(void *state)
{
    const struct waiting *const waiting = state;
    struct pollfd client = {.fd = waiting->socket, .events = POLLRDHUP};
    if (atomic_load_explicit(&waiting->server->stopping, memory_order_relaxed)) return true;
    return waiting->socket >= 0 && poll(&client, 1, 0) > 0;
}

static struct waiting waiting_of(struct cts_view_server *server, struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *const info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return (struct waiting){server, info ? info->connect_fd : -1};
}

static const char *get_value(void *state, const char *key)
{
    return MHD_lookup_connection_value(state, MHD_GET_ARGUMENT_KIND, key);
}

static unsigned http_status(enum cts_status status)
{
    switch (status) {
    case CTS_USAGE:
        return MHD_HTTP_BAD_REQUEST;
    case CTS_LIMIT:
        return MHD_HTTP_NOT_FOUND;
    case CTS_UNSUPPORTED:
        return MHD_HTTP_NOT_FOUND;
    default:
        return MHD_HTTP_INTERNAL_SERVER_ERROR;
    }
}

static enum MHD_Result respond_answer(struct cts_view_server *server,
                                      struct MHD_Connection *connection, struct cts_view_run *run,
                                      struct cts_view_run *other, const char *name)
{
    struct waiting waiting = waiting_of(server, connection);
    struct cts_view_request request = {
        .query = {get_value, connection},
        .run = run,
        .snapshot = cts_view_run_enter(run),
        .other = other,
        .other_snapshot = other ? cts_view_run_enter(other) : NULL,
        .has_time = run == server->run && server->write_time,
        .write_findings = run == server->run ? server->write_findings : NULL,
        .time_state = server->time_state,
        .is_given_up = is_given_up,
        .state = &waiting,
    };
    struct cts_view_answer answer;
    struct cts_error error = {0};
    /* Conflicts may be what the preparation is about. */
    const bool is_other = strcmp(name, "conflicts") != 0;
    if (is_other) cts_view_prepare_wait(server->preparation);
    const enum cts_status status = cts_view_answer(name, &request, &answer, &error);
    if (is_other) cts_view_prepare_go_on(server->preparation);
    uint64_t launch = UINT64_MAX;
    if (!status && run == server->run && !strcmp(name, "launch") &&
        !cts_view_query_number(&request.query, "launch", UINT32_MAX, &launch, NULL))
        cts_view_prepare_launch(server->preparation, (uint32_t)launch);
    char serial[24];
    snprintf(serial, sizeof serial, "%llu", (unsigned long long)request.snapshot->serial);
    cts_view_run_leave(run, request.snapshot);
    if (other) cts_view_run_leave(other, request.other_snapshot);
    if (status) return respond_error(connection, http_status(status), error.text);
    struct MHD_Response *const response =
        make_response(answer.content_type, answer.bytes, answer.size_bytes, NULL);
    if (response) MHD_add_response_header(response, "Ctascope-State", serial);
    return queue(connection, MHD_HTTP_OK, response);
}

/* ---- the page of time ---- */

/* The report's page; what went wrong, or was given up, is tried again when it is asked for again.
 */
static enum MHD_Result respond_time(struct cts_view_server *server,
                                    struct MHD_Connection *connection)
{
    struct waiting waiting = waiting_of(server, connection);
    const struct cts_asker asker = {is_given_up, &waiting};
    const struct cts_view_request request = {.is_given_up = is_given_up, .state = &waiting};
    struct cts_error error = {0};
    enum cts_status status = cts_view_lock(&request, &server->timing, &error);
    if (!status) {
        status = make_time(server, &asker, &error);
        pthread_mutex_unlock(&server->timing);
    }
    if (status) return respond_error(connection, MHD_HTTP_INTERNAL_SERVER_ERROR, error.text);
    return respond_html(connection, cts_page_write_around, server->time, server->time_bytes);
}

/* ---- requests ---- */

/* Takes as long whatever the text is. */
static bool has_token(const struct cts_view_server *server, const char *path)
{
    unsigned difference = *path != '/';
    if (strnlen(path, TOKEN_DIGITS + 2) < TOKEN_DIGITS + 2) return false;
    for (unsigned i = 0; i < TOKEN_DIGITS; i++)
        difference |= (unsigned char)path[1 + i] ^ (unsigned char)server->token[i];
    return !difference && path[1 + TOKEN_DIGITS] == '/';
}

static bool is_one_of(const char *text, const char *first, const char *second)
{
    return text && (!strcasecmp(text, first) || !strcasecmp(text, second));
}

static enum MHD_Result route(struct cts_view_server *server, struct MHD_Connection *connection,
                             const char *path)
{
    if (!*path && server->run) return respond_page(connection);
    if (server->write_time && (!*path || !strcmp(path, "time")))
        return respond_time(server, connection);
    if (!strncmp(path, "api/", 4) && server->run)
        return respond_answer(server, connection, server->run, server->other, path + 4);
    if (!strncmp(path, "other/api/", 10) && server->other)
        return respond_answer(server, connection, server->other, NULL, path + 10);
    return respond_error(connection, MHD_HTTP_NOT_FOUND, "there is nothing at this address");
}

/* Says that a request may not be answered, and why; NULL: it may. A browser says of each request
 * where it comes from; other programs say nothing. */
static const char *refusal_of(const struct cts_view_server *server,
                              struct MHD_Connection *connection, const char *path)
{
    const char *const host = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Host");
    const char *const origin = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Origin");
    const char *const site =
        MHD_lookup_connection_value(connection, MHD_HEADER_KIND, "Sec-Fetch-Site");
    const bool is_entry = !strcmp(path, entry_path);
    if (!is_one_of(host, server->hosts[0], server->hosts[1]))
        return "address this server as 127.0.0.1 or localhost";
    if ((origin && !is_one_of(origin, server->origins[0], server->origins[1])) ||
        (site && !is_entry && !is_one_of(site, "same-origin", "none")))
        return "this server does not answer requests from pages of other sites";
    if (!is_entry && !has_token(server, path))
        return "the address lacks the token that 'ctascope view' has printed";
    return NULL;
}

static enum MHD_Result handle(void *state, struct MHD_Connection *connection, const char *path,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_bytes, void **request)
{
    static char seen; /* its address marks a request whose headers have been seen */
    struct cts_view_server *const server = state;
    (void)version;
    (void)upload;
    if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) {
        *upload_bytes = 0;
        return respond_error(connection, MHD_HTTP_METHOD_NOT_ALLOWED,
                             "this server only answers GET and HEAD");
    }
    if (!*request) {
        *request = &seen;
        /* However long the answer takes: the time counts again once it is there. Until the request
         * is complete, connections.c has a deadline. */
        MHD_set_connection_option(connection, MHD_CONNECTION_OPTION_TIMEOUT, 0u);
        return MHD_YES;
    }
    if (*upload_bytes) { /* a question has no body: it is read and dropped */
        *upload_bytes = 0;
        return MHD_YES;
    }
    cts_view_connection_asks(connection);
    const char *const refusal = refusal_of(server, connection, path);
    if (refusal) return respond_error(connection, MHD_HTTP_FORBIDDEN, refusal);
    if (!strcmp(path, entry_path)) return respond_entry(connection);
    return route(server, connection, path + TOKEN_DIGITS + 2);
}

/* ---- the server ---- */

static enum cts_status make_token(struct cts_view_server *server, struct cts_error *error)
{
    uint8_t random[TOKEN_BYTES];
    if (getrandom(random, sizeof random, 0) != sizeof random)
        return cts_fail_errno(error, errno, "cannot make a random token");
    for (unsigned i = 0; i < TOKEN_BYTES; i++)
        snprintf(server->token + 2 * i, 3, "%02x", random[i]);
    return CTS_OK;
}

/* A socket of our own, so that the reason is known when the port is taken. */
static enum cts_status listen_on(uint16_t port, int *socket_out, uint16_t *port_out,
                                 struct cts_error *error)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    socklen_t bytes = sizeof address;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    if (listener >= 0) setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (listener < 0 || bind(listener, (const struct sockaddr *)&address, bytes) != 0 ||
        listen(listener, CTS_VIEW_CONNECTIONS_MAX) != 0 ||
        getsockname(listener, (struct sockaddr *)&address, &bytes) != 0) {
        const int reason = errno;
        if (listener >= 0) close(listener);
        return cts_fail_errno(error, reason, "cannot serve on port %u of 127.0.0.1", port);
    }
    *socket_out = listener;
    *port_out = ntohs(address.sin_port);
    return CTS_OK;
}

static enum cts_status serve(struct cts_view_server *server, uint16_t port, struct cts_error *error)
{
    int listener = -1;
    enum cts_status status = listen_on(port, &listener, &port, error);
    if (status) return status;
    snprintf(server->url, sizeof server->url, "http://127.0.0.1:%u/%s/", port, server->token);
    snprintf(server->entry, sizeof server->entry, "http://127.0.0.1:%u%s#%s", port, entry_path,
             server->token);
    snprintf(server->hosts[0], sizeof server->hosts[0], "127.0.0.1:%u", port);
    snprintf(server->hosts[1], sizeof server->hosts[1], "localhost:%u", port);
    for (unsigned i = 0; i < 2; i++)
        snprintf(server->origins[i], sizeof server->origins[i], "http://%s", server->hosts[i]);
    status = cts_view_connections_start(&server->connections, error);
    if (!status)
        server->daemon = MHD_start_daemon(
            MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION | MHD_USE_POLL, port,
            NULL, NULL, handle, server, MHD_OPTION_LISTEN_SOCKET, listener,
            MHD_OPTION_CONNECTION_LIMIT, (unsigned)CTS_VIEW_CONNECTIONS_MAX,
            MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)URL_MAX_BYTES,
            MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)CTS_VIEW_IDLE_SECONDS,
            MHD_OPTION_NOTIFY_CONNECTION, cts_view_connection_changed, server->connections,
            MHD_OPTION_NOTIFY_COMPLETED, cts_view_connection_answered, server->connections,
            MHD_OPTION_END);
    if (status) {
        close(listener);
        return status;
    }
    if (!server->daemon) {
        close(listener);
        return cts_fail(error, CTS_IO, "cannot start a server on port %u", port);
    }
    return CTS_OK;
}

enum cts_status cts_view_server_start(const struct cts_view_server_options *options,
                                      struct cts_view_server **out, struct cts_error *error)
{
    struct cts_view_server *const server = cts_array_zeroed(1, sizeof *server, error);
    if (!server) return CTS_MEMORY;
    struct cts_view_run_options run = {.path = options->run_path,
                                       .memory_bytes = options->memory_bytes,
                                       .threads = options->threads};
    server->write_time = options->write_time;
    server->write_findings = options->write_findings;
    server->time_state = options->time_state;
    pthread_mutex_init(&server->timing, NULL);
    enum cts_status status =
        run.path ? cts_view_run_open(&run, &server->run, error) : make_time(server, NULL, error);
    run.path = options->other_path;
    if (!status && run.path) status = cts_view_run_open(&run, &server->other, error);
    if (!status) status = make_token(server, error);
    if (!status && server->run) status = cts_view_prepare(server->run, &server->preparation, error);
    if (!status) status = serve(server, options->port, error);
    if (status)
        cts_view_server_stop(server);
    else
        *out = server;
    return status;
}

void cts_view_server_stop(struct cts_view_server *server)
{
    if (!server) return;
    atomic_store(&server->stopping, true);
    cts_view_prepare_cancel(server->preparation);
    if (server->daemon) MHD_stop_daemon(server->daemon);
    cts_view_connections_stop(server->connections);
    cts_view_prepare_stop(server->preparation);
    cts_view_run_close(server->run);
    cts_view_run_close(server->other);
    pthread_mutex_destroy(&server->timing);
    free(server->time);
    free(server);
}

const char *cts_view_server_url(const struct cts_view_server *server)
{
    return server->url;
}

const char *cts_view_server_entry(const struct cts_view_server *server)
{
    return server->entry;
}
