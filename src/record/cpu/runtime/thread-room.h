/* Memory of a thread's own that is too large for a `__thread` variable.
 *
 * Compiled kernels read a variable of this library at a fixed distance from the thread's pointer,
 * so the library's `__thread` variables all lie in the block that the dynamic linker lays out when
 * the program starts. For a library that is loaded later (dlopen, Python's ctypes) it keeps only
 * about 512 bytes free, for all libraries together. Keep here what is larger than a few words. */
#ifndef CTS_THREAD_ROOM_H
#define CTS_THREAD_ROOM_H

#include <stddef.h>

/* `*room`, a `__thread` variable that begins as NULL: points to `bytes` zeroed bytes from the first
 * call on, until the thread ends. NULL: no memory. */
void *cts_thread_room(void **room, size_t bytes);

#endif
