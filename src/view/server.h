/* The server of `ctascope view`: the page and its answers, and the report's page of time, on this
 * machine's loopback alone.
 *
 * Everything lies below a path that starts with a random token, which only the one who has started
 * the server knows. docs/view-protocol.md describes the requests. */
#ifndef CTS_VIEW_SERVER_H
#define CTS_VIEW_SERVER_H

#include <stdint.h>
#include <stdio.h>

#include "common/asker.h"
#include "common/error.h"
#include "report/run-findings.h"

/* CTS_IO once the asker has gone. */
typedef enum cts_status cts_view_findings_fn(void *state, const struct cts_asker *asker,
                                             const struct cts_run_material *accesses,
                                             struct cts_json *json, struct cts_error *error);

struct cts_view_server_options {
    const char *run_path;   /* NULL: there is nothing but time */
    const char *other_path; /* the run to compare with; NULL: none */
    uint16_t port;          /* 0: any that is free */
    uint64_t memory_bytes;  /* of decoded records that are kept; 0: the default */
    unsigned threads;       /* per question; 0: one per processor */
    /* Writes the JSON of the report's page of time (report/page.h); NULL: there is none. Without a
     * run it is called at once, and its page is the one that is served; else when that page, below
     * "time", is first asked for, and again if that asker goes: CTS_IO. Never by two threads at
     * once. */
    enum cts_status (*write_time)(void *state, const struct cts_asker *asker, FILE *file,
                                  struct cts_error *error);
    /* With `write_time`: the run's findings with those of its time (cts_run_findings_json()), where
     * `accesses` has no path yet. Never by two threads at once for a state of the run. */
    cts_view_findings_fn *write_findings;
    void *time_state; /* of both */
};
struct cts_view_server;

CTS_MUST_CHECK enum cts_status cts_view_server_start(const struct cts_view_server_options *options,
                                                     struct cts_view_server **server,
                                                     struct cts_error *error);
/* Questions that are being answered are given up. */
void cts_view_server_stop(struct cts_view_server *server);
/* "http://127.0.0.1:PORT/TOKEN/"; lives as long as the server. */
const char *cts_view_server_url(const struct cts_view_server *server);
/* An address for a page of another origin, such as a file, to send the browser to: it leads to the
 * one above. It holds the token too; lives as long as the server. */
const char *cts_view_server_entry(const struct cts_view_server *server);

#endif
