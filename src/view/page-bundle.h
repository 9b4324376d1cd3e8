/* The bundled page; private to view/. */
#ifndef CTS_VIEW_PAGE_H
#define CTS_VIEW_PAGE_H

#include <stddef.h>
#include <stdio.h>

size_t cts_view_page_bytes(void);
/* The page with this JSON in it; `nonce` lets its script run where a policy asks for one. */
void cts_view_page_write(FILE *file, const char *data, size_t data_bytes, const char *nonce);

#endif
