/* The page is a template with a marker; what stands there is written by page-data.c. The data go
 * into a script element of type application/json, which only a '<' could end, so every '<' becomes
 * the escape of it that JSON has. */
#include "report/page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "report-page.html.h"

static const char marker[] = "@@CTASCOPE_DATA@@";

void cts_page_write_escaped(FILE *file, const char *json, size_t size_bytes)
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

enum cts_status cts_page_write(const struct cts_page *page, FILE *file, struct cts_error *error)
{
    const char *const place = strstr(cts_report_page, marker);
    char *json = NULL;
    size_t json_bytes = 0;
    FILE *const memory = open_memstream(&json, &json_bytes);
    if (!memory) return cts_fail_errno(error, errno, "cannot make the report");
    enum cts_status status = cts_page_write_data(page, memory, error);
    if (fclose(memory) && !status) status = cts_fail(error, CTS_MEMORY, "no memory for the report");
    if (status) goto out;

    fwrite(cts_report_page, 1, (size_t)(place - cts_report_page), file);
    cts_page_write_escaped(file, json, json_bytes);
    fputs(place + strlen(marker), file);
    errno = 0;
    if (fflush(file) || ferror(file))
        status = cts_fail_errno(error, errno, "cannot write the page");
out:
    free(json);
    return status;
}
