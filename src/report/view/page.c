/* The page is a template with two markers: where its data stand, and the nonce of its script. */
#include "report/view/page.h"

#include <string.h>

#include "report/page.h"
#include "view-page.html.h"

size_t cts_view_page_bytes(void)
{
    return sizeof cts_view_page;
}

void cts_view_page_write(FILE *file, const char *data, size_t data_bytes, const char *nonce)
{
    static const char data_marker[] = "@@CTASCOPE_DATA@@", nonce_marker[] = "@@CTASCOPE_NONCE@@";
    for (const char *at = cts_view_page;;) {
        const char *const mark = strstr(at, "@@CTASCOPE_");
        fwrite(at, 1, mark ? (size_t)(mark - at) : strlen(at), file);
        if (!mark) return;
        if (!strncmp(mark, data_marker, strlen(data_marker))) {
            cts_page_write_escaped(file, data, data_bytes);
            at = mark + strlen(data_marker);
        } else if (!strncmp(mark, nonce_marker, strlen(nonce_marker))) {
            fputs(nonce, file);
            at = mark + strlen(nonce_marker);
        } else {
            fputc('@', file);
            at = mark + 1;
        }
    }
}
