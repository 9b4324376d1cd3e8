/* Choosing from a program which launches ctascope records.
 *
 *     #include <ctascope/record.h>
 *     ...
 *     cts_stop();       // the warm-up is not of interest
 *     warm_up<<<...>>>(...);
 *     cts_start();
 *     work<<<...>>>(...);
 *
 * The functions concern the launches that are made after them, from any thread. They do nothing in
 * a program that is not being recorded, and may be called in one that does not link ctascope's
 * runtime at all: what they call is a weak reference. With the environment variable
 * CTASCOPE_PROFILE_FROM_START=0 recording begins stopped, and cudaProfilerStart() and
 * cudaProfilerStop() do the same as these two.
 *
 * Launches that are not recorded still have rows in the run, and analyses say that they are
 * missing: last writers are then lower bounds. */
#ifndef CTASCOPE_RECORD_H
#define CTASCOPE_RECORD_H

#ifdef __cplusplus
extern "C" {
#endif

/* What the runtime exports; call cts_start() and cts_stop() instead. */
void ctascope_record_switch(int on) __attribute__((weak));

#ifdef __cplusplus
}
#endif

/* Records the launches from here on. */
static inline void cts_start(void)
{
    if (ctascope_record_switch) ctascope_record_switch(1);
}

/* Records no launches from here on. */
static inline void cts_stop(void)
{
    if (ctascope_record_switch) ctascope_record_switch(0);
}

#endif
