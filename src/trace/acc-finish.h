/* Closing an access file in place of a process that could not. */
#ifndef CTS_TRACE_ACC_FINISH_H
#define CTS_TRACE_ACC_FINISH_H

/* Cuts what was reserved and not used, and writes the footer. A file that has one, or that does
 * not end with whole chunks, stays as it is; so does one that cannot be written: it is readable
 * without. */
void cts_acc_finish(const char *path);

#endif
