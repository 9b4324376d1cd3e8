/* dump --timeline: the events of a timeline, and whether it is what it should be. */
#ifndef CTS_CLI_DUMP_TIMELINE_H
#define CTS_CLI_DUMP_TIMELINE_H

#include "cli/verb.h"

/* Runs `dump --timeline [--check] [--location N] [--limit N] [--format F]`. */
int cts_dump_timeline(const struct cts_arguments *arguments);

#endif
