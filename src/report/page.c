/* A page is a template with three markers: where its data stand, the nonce of its script, and whom
 * its script may ask: the server that sent the page, or nobody if it is a file. The report's data
 * are written by page-data.c. Data go into a script element of type application/json, which only a
 * '<' could end, so every '<' becomes the escape of it that JSON has. */
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/text-stream.h"
#include "report-page.html.h"

/* JSON as it may stand in a script element. */
static void cts_page_write_escaped(FILE *file, const char *json, size_t size_bytes)
{
    size_t start = 0;
    for (size_t i = 0; i < size_bytes; i++) {
        if (json[i] != '<') continue;
        fwrite(json + start, 1, i - start, file);
        fputs("\\u003c", file);
        start = i + 1;
    }
    fwrite(json + start, 1, size_bytes - start, file);
}

void cts_page_write_template(FILE *file, const char *page, const char *json, size_t size_bytes,
                             const char *nonce)
{
    static const char data_marker[] = "@@CTASCOPE_DATA@@", nonce_marker[] = "@@CTASCOPE_NONCE@@",
                      connect_marker[] = "@@CTASCOPE_CONNECT@@";
    for (const char *at = page;;) {
        const char *const mark = strstr(at, "@@CTASCOPE_");
        fwrite(at, 1, mark ? (size_t)(mark - at) : strlen(at), file);
        if (!mark) return;
        if (!strncmp(mark, data_marker, strlen(data_marker))) {
            cts_page_write_escaped(file, json, size_bytes);
            at = mark + strlen(data_marker);
        } else if (!strncmp(mark, nonce_marker, strlen(nonce_marker))) {
            fputs(nonce, file);
            at = mark + strlen(nonce_marker);
        } else if (!strncmp(mark, connect_marker, strlen(connect_marker))) {
            fputs(*nonce ? "'self'" : "'none'", file);
            at = mark + strlen(connect_marker);
        } else {
            fputc('@', file);
            at = mark + 1;
        }
    }
}

void cts_page_write_around(FILE *file, const char *json, size_t size_bytes, const char *nonce)
{
    cts_page_write_template(file, cts_report_page, json, size_bytes, nonce);
}

enum cts_status cts_page_write_of(cts_page_data_fn write, const void *state, FILE *file,
                                  struct cts_error *error)
{
    struct cts_text_stream stream;
    size_t json_bytes = 0;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for the report");
    enum cts_status status = write(state, memory, error);
    char *const json = cts_text_stream_close(&stream, &json_bytes);
    if (!json && !status) status = cts_fail(error, CTS_MEMORY, "no memory for the report");
    if (status) goto out;

    cts_page_write_around(file, json, json_bytes, "");
    errno = 0;
    if (fflush(file) || ferror(file))
        status = cts_fail_errno(error, errno, "cannot write the page");
out:
    free(json);
    return status;
}

static enum cts_status write_data(const void *state, FILE *file, struct cts_error *error)
{
    return cts_page_write_data(state, file, error);
}

enum cts_status cts_page_write(const struct cts_page *page, FILE *file, struct cts_error *error)
{
    return cts_page_write_of(write_data, page, file, error);
}
