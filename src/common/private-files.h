/* A thread whose file descriptors are not the program's.
 *
 * A recorder lives in somebody else's program, which may close every descriptor that it does not
 * know, open files of its own at any number, have no descriptor left, change its directory, its
 * root or its umask at any moment. So the recorder never opens a file in the program's table: it
 * asks a thread of its own, which has given up sharing descriptors (close_range with
 * CLOSE_RANGE_UNSHARE) and directory with the rest, and keeps none of the program's. Where the
 * system refuses that, files are open only as long as one piece of work takes.
 *
 * All functions are thread-safe. errno and the caller's signals stay as they are; the caller is not
 * cancelled inside. A child after fork() starts anew. */
#ifndef CTS_COMMON_PRIVATE_FILES_H
#define CTS_COMMON_PRIVATE_FILES_H

#include <stdbool.h>

/* Starts the thread, or counts one more user of it. Where no thread can be started, work is done in
 * the thread that asks. */
void cts_private_files_begin(void);
/* The last user's call ends the thread, which closes what it still has open. */
void cts_private_files_end(void);

/* Does `work(argument)` in the thread, and returns when it is done. */
void cts_private_files_do(void (*work)(void *argument), void *argument);
/* Whether descriptors that work leaves open are out of the program's reach. Asked in work. */
bool cts_private_files_are_private(void);

#endif
