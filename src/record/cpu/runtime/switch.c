/* Switching the recording of launches on and off from the program. */
#include "record.h"
#include "runtime.h"
#include "try-watch.h"

#pragma GCC visibility push(default)
#include "ctascope/record.h"
#pragma GCC visibility pop

void ctascope_record_switch(int on)
{
    if (cts_enter_lenient() == cudaSuccess) cts_record_switch(on != 0);
}

/* The profiler's calls narrow the recording only where the user asked for that: many programs have
 * them around their main loop. */
static cudaError_t profiler(bool on)
{
    CTS_ENTER();
    if (!cts_environment_get()->profile_from_start) cts_record_switch(on);
    if (cts_try_is_on()) cts_try_watcher->profiler(on);
    return cudaSuccess;
}

cudaError_t cudaProfilerStart(void)
{
    return profiler(true);
}

cudaError_t cudaProfilerStop(void)
{
    return profiler(false);
}
