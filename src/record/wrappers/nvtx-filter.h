/* Which NVTX ranges the user chose (--nvtx-include), and whether a thread is in one of them. */
#ifndef CTS_RECORD_NVTX_FILTER_H
#define CTS_RECORD_NVTX_FILTER_H

#include <stdbool.h>
#include <stdint.h>

/* Whether the user chose ranges at all. */
bool cts_nvtx_filter_is_on(void);

/* The calling thread opens a range, and closes the last one that it opened with this owner.
 * `domain` NULL: the default domain. `owner`: of the domain, for comparison alone. */
void cts_nvtx_filter_push(const char *domain, const char *text, const void *owner);
void cts_nvtx_filter_pop(const void *owner);

/* Ranges that any thread may close; all threads are in them. An id that is not 0. */
uint64_t cts_nvtx_filter_start(const char *domain, const char *text);
/* False: no range of ours. */
bool cts_nvtx_filter_end(uint64_t id);

#endif
