/* The host's accesses of memory that it shares with the device. */
#ifndef CTS_CPU_HOSTS_H
#define CTS_CPU_HOSTS_H

#include "trace/catalogue.h"

void cts_hosts_start(void);

/* Writes the ranges noted since the last time, under an op number of their own. */
void cts_hosts_flush(struct cts_catalogue_writer *catalogue);

#endif
