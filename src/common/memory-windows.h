/* The windows of a stretch of addresses that a file backs: how much of it the process holds at
 * most.
 *
 * A *window* is closed at first: no page of it is resident, and who touches it takes a fault. The
 * handler of the fault opens it, and closes all others before if more would be open than may be. So
 * at most as many pages are resident as lie in open windows, whoever touches what in which order.
 * What a window holds stays with the file.
 *
 *     | open | closed | closed | open | open | closed | ...      one window: a few times 64 KiB
 *
 * The kernel takes no such fault for a system call's buffer: it refuses the call (EFAULT). What
 * reads or writes such memory copies it piece by piece (common/wrap).
 *
 * One stretch in a process. Threads may touch windows at any time, with SIGSEGV unblocked. */
#ifndef CTS_COMMON_MEMORY_WINDOWS_H
#define CTS_COMMON_MEMORY_WINDOWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* As many are always allowed: an instruction can touch many at a time (a gather), on each thread.
 */
enum { CTS_WINDOWS_LEAST = 128 };

/* Before all others: a power of two. */
void cts_windows_init(size_t window_bytes);
size_t cts_windows_bytes(void);

/* Reserves the addresses; false: the system refuses them, or the handler. `all_closed` is called in
 * the handler when no page of the stretch is resident; it may set the room. */
bool cts_windows_begin(uint64_t stretch_bytes, void (*all_closed)(void));
char *cts_windows_base(void); /* NULL: not begun */

/* Backs offset to offset + size_bytes, multiples of a window, with the file's bytes at that offset;
 * or nothing any more. What a window held does not count for one that is mapped anew. */
bool cts_windows_map(int file, uint64_t offset, uint64_t size_bytes);
void cts_windows_unmap(uint64_t offset, uint64_t size_bytes);

/* Opens the windows of a stretch for whom cannot fault, and keeps all that are open so, even beyond
 * the room, until it is let go as many times. */
void cts_windows_hold(uint64_t offset, uint64_t size_bytes);
void cts_windows_let_go(void);

/* From now on at most `bytes` are resident, but always at least CTS_WINDOWS_LEAST windows. */
void cts_windows_set_room(uint64_t bytes);

#endif
