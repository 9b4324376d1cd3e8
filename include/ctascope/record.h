/* Choosing from a program what ctascope records, and naming parts of it.
 *
 *     #include <ctascope/record.h>
 *     ...
 *     cts_stop();                // the warm-up is not of interest
 *     warm_up<<<...>>>(...);
 *     cts_start();
 *     cts_region_begin("solve"); // a region of the timeline
 *     work<<<...>>>(...);
 *     cts_region_end();
 *
 * The functions do nothing in a program that is not being recorded, and need no library to link.
 *
 * cts_start() and cts_stop() concern the launches that are made after them, from any thread. With
 * the environment variable CTASCOPE_PROFILE_FROM_START=0 recording begins stopped, and
 * cudaProfilerStart() and cudaProfilerStop() do the same as these two. Launches that are not
 * recorded still have rows in the run, and analyses say that they are missing: last writers are
 * then lower bounds.
 *
 * Regions belong to the thread that begins and ends them; they nest. */
#ifndef CTASCOPE_RECORD_H
#define CTASCOPE_RECORD_H

#include <dlfcn.h>
#include <stdlib.h>

#ifdef __cplusplus
extern "C" {
#endif

/* What the runtime exports; call cts_start() and cts_stop() instead. */
void ctascope_record_switch(int on) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* A region is no function of the program, however that is compiled. */
#define CTS_NOT_INSTRUMENTED_ __attribute__((no_instrument_function))

/* A function of the recorder, when there is one in the process (NULL as dlsym's handle: anywhere).
 * `*found` keeps the answer; `*asked` says that there is one. */
CTS_NOT_INSTRUMENTED_ static inline void *cts_recorder_function_(const char *name, void **found,
                                                                 int *asked)
{
    if (!__atomic_load_n(asked, __ATOMIC_ACQUIRE)) {
        __atomic_store_n(found, dlsym((void *)0, name), __ATOMIC_RELAXED);
        __atomic_store_n(asked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(found, __ATOMIC_RELAXED);
}

/* The recorder's switch: that of the runtime the program is linked with, or of the library that the
 * driver loads into programs on a GPU, perhaps later than the first call here. */
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

/* Records the launches from here on. */
static inline void cts_start(void)
{
    cts_switch_(1);
}

/* Records no launches from here on. */
static inline void cts_stop(void)
{
    cts_switch_(0);
}

/* A region of the timeline begins in this thread. The name is copied. */
CTS_NOT_INSTRUMENTED_ static inline void cts_region_begin(const char *name)
{
    static void *found;
    static int asked;
    void *const enter = cts_recorder_function_("ctascope_region_enter", &found, &asked);
    if (enter) ((void (*)(const char *))enter)(name);
}

/* The region that this thread began last ends. */
CTS_NOT_INSTRUMENTED_ static inline void cts_region_end(void)
{
    static void *found;
    static int asked;
    void *const leave = cts_recorder_function_("ctascope_region_leave", &found, &asked);
    if (leave) ((void (*)(void))leave)();
}

#endif
