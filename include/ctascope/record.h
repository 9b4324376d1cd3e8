/* Controls from within a program what ctascope records, and names parts of the program.
 *
 *     #include <ctascope/record.h>
 *     ...
 *     cts_stop();                // do not record the warm-up
 *     warm_up<<<...>>>(...);
 *     cts_start();
 *     cts_region_begin("solve"); // a region of the timeline
 *     work<<<...>>>(...);
 *     cts_region_end();
 *
 * These functions do nothing in a program that is not being recorded, and need no library.
 *
 * cts_start() and cts_stop() affect all later launches, from any thread. With the environment
 * variable CTASCOPE_PROFILE_FROM_START=0, recording is off at first, and cudaProfilerStart() and
 * cudaProfilerStop() have the same effect as these two. Launches that are not recorded still have
 * rows in the run. Analyses then report that they are missing, and that results based on last
 * writers are lower bounds.
 *
 * A region belongs to the thread that begins and ends it. Regions nest. */
#ifndef CTASCOPE_RECORD_H
#define CTASCOPE_RECORD_H

#include <dlfcn.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Exported by the runtime. Call cts_start() and cts_stop() instead. */
void ctascope_record_switch(int on) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* Keeps these functions out of the timeline of a program built with -finstrument-functions. */
#define CTS_NOT_INSTRUMENTED_ __attribute__((no_instrument_function))

/* Finds a function of the recorder, if the process has one (a NULL handle makes dlsym search all
 * libraries). `*found` caches the result; `*asked` is set once the result is cached. */
CTS_NOT_INSTRUMENTED_ static inline void *cts_recorder_function_(const char *name, void **found,
                                                                 int *asked)
{
    if (!__atomic_load_n(asked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(found, dlsym((void *)0, name), __ATOMIC_RELAXED);
        __atomic_store_n(asked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(found, __ATOMIC_RELAXED);
}

/* Turns the recorder on or off: that of the runtime that the program is linked with, or that of the
 * library that the driver loads into GPU programs, possibly after the first call here. */
CTS_NOT_INSTRUMENTED_ static inline void cts_switch_(int on)
{
    static void *found;
    static int asked;
    if (ctascope_record_switch) {
        ctascope_record_switch(on);
        return;
    }
    if (!__atomic_load_n(&asked, __ATOMIC_ACQUIRE)) {
        const char *const library = getenv("CTASCOPE_RUN") ? getenv("CUDA_INJECTION64_PATH") : 0;
        if (library && *library) (void)dlopen(library, RTLD_NOW | RTLD_GLOBAL);
    }
    void *const change = cts_recorder_function_("ctascope_record_switch", &found, &asked);
    if (change) ((void (*)(int))change)(on);
}

/* Starts recording launches. */
static inline void cts_start(void)
{
    cts_switch_(1);
}

/* Stops recording launches. */
static inline void cts_stop(void)
{
    cts_switch_(0);
}

/* Begins a region of the timeline in this thread. The name is copied. */
CTS_NOT_INSTRUMENTED_ static inline void cts_region_begin(const char *name)
{
    static void *found;
    static int asked;
    void *const enter = cts_recorder_function_("ctascope_region_enter", &found, &asked);
    if (enter) ((void (*)(const char *))enter)(name);
}

/* Ends the region that this thread began last. */
CTS_NOT_INSTRUMENTED_ static inline void cts_region_end(void)
{
    static void *found;
    static int asked;
    void *const leave = cts_recorder_function_("ctascope_region_leave", &found, &asked);
    if (leave) ((void (*)(void))leave)();
}

#endif
