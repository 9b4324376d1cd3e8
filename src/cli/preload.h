/* The libraries that see what a program does in time. */
#ifndef CTS_CLI_PRELOAD_H
#define CTS_CLI_PRELOAD_H

/* Sets LD_PRELOAD, CUDA_INJECTION64_PATH and NVTX_INJECTION64_PATH for `program`, a name or path as
 * execvp() takes it: those of our libraries that are there, and of the wrappers of MPI those of the
 * program's MPI. */
void cts_preload_recorders(const char *program);

/* Sets CUDA_INJECTION64_PATH to the recorder of memory accesses of programs on a GPU, if it is
 * there. Programs for the CPU device do not look at it. */
void cts_inject_memory_recorder(void);

/* Sets LD_PRELOAD so that the recorder of memory accesses of `program` learns what orders its host
 * threads. */
void cts_watch_threads(const char *program);

/* Sets LD_PRELOAD so that stretches of `program`, if it is one for a GPU, can be replayed. */
void cts_preload_replays(const char *program);

/* Sets LD_PRELOAD and NVTX_INJECTION64_PATH so that NVTX ranges are watched. */
void cts_watch_ranges(void);

#endif
