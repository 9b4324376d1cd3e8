/* The recorder of this process, for libraries that are preloaded and must not bring it into
 * processes that record nothing. */
#ifndef CTS_RECORD_WRAPPERS_LOADER_H
#define CTS_RECORD_WRAPPERS_LOADER_H

#include "record/timeline/recorder.h"

/* The recorder that the process has already, or libctascope_timeline.so from beside this library
 * when the environment's CTASCOPE_TIMELINE asks for a timeline. NULL: nothing is recorded. The
 * first call asks the dynamic linker, which waits for a thread that loads a library and runs its
 * constructors: no lock may be held that a constructor can come to wait for, nor pthread_once(). */
const struct cts_recorder *cts_recorder_load(void);

/* The address of a function behind the calling library, else (programs that load their libraries
 * themselves, as Python does) in a loaded library whose file is named `library`...; NULL. */
void *cts_function_behind(const char *name, const char *library);
/* Likewise of a variable, which the program itself may hold (copy relocations). */
void *cts_variable_address(const char *name, const char *library);

#endif
