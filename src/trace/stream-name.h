/* What a stream is called in everything that people read. CUDA's stream 0 is the default stream, so
 * no other stream may be called that: streams that the program creates count from 1 on each device
 * of a process, in order of creation, as their locations CUDA[device:number] in timelines do. */
#ifndef CTS_TRACE_STREAM_NAME_H
#define CTS_TRACE_STREAM_NAME_H

#include "trace/catalogue.h"

enum { CTS_STREAM_NAME_BYTES = 64 };

/* Fills in `number` of all streams of the catalogue. */
CTS_MUST_CHECK enum cts_status cts_cuda_stream_number_all(struct cts_catalogue *catalogue,
                                                          struct cts_error *error);

/* "the default stream", "stream 1"; in runs with several devices "stream 1 of device 0". With
 * `stream` CTS_NONE, or one that the catalogue does not have: "an unknown stream". */
const char *cts_cuda_stream_name(const struct cts_catalogue *catalogue, uint32_t stream,
                                 char text[CTS_STREAM_NAME_BYTES]);

/* The same for a cell of a table: "default", "1", "1 of device 0". */
const char *cts_cuda_stream_cell(const struct cts_catalogue *catalogue, uint32_t stream,
                                 char text[CTS_STREAM_NAME_BYTES]);

#endif
