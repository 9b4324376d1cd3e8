/* The catalogue's rows of a compiled file. */
#ifndef CTS_CPU_RECORD_FILE_H
#define CTS_CPU_RECORD_FILE_H

#include "registry.h"
#include "trace/catalogue.h"

/* Reserves ids (a file's sites, kernels, ... are consecutive) and writes all rows. */
void cts_record_file_rows(struct cts_catalogue_writer *catalogue, uint32_t rank,
                          struct cts_file *file);

/* Gives the file's sites their slots in the engine's log, once, before its first recorded launch.
 * False when the program has more sites than the log can tell apart. With the streams' lock. */
bool cts_record_file_slots(struct cts_file *file);

#endif
