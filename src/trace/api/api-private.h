/* What the files of the public library share. */
#ifndef CTS_TRACE_API_PRIVATE_H
#define CTS_TRACE_API_PRIVATE_H

#include "common/error.h"
#include "ctascope/ctascope.h"

/* Writes a failure's text to the caller's buffer; returns its status. */
enum cts_result cts_api_give(const struct cts_error *failure, char *error, size_t error_bytes);

/* Gives the caller, whose struct begins with the size that its header knew, the members of `full`
 * that both know; what a newer header has beyond them becomes 0. CTS_RESULT_USAGE: a struct without
 * its size. */
enum cts_result cts_api_deliver(void *info, const void *full, size_t full_bytes);

#endif
