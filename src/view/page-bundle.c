#include "view/page-bundle.h"

#include "report/page.h"
#include "view-page.html.h"

size_t cts_view_page_bytes(void)
{
    return sizeof cts_view_page;
}

void cts_view_page_write(FILE *file, const char *data, size_t data_bytes, const char *nonce)
{
    cts_page_write_template(file, cts_view_page, data, data_bytes, nonce);
}
