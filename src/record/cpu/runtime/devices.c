/* Which devices there are, and which one the thread uses. All are alike, and their memory is the
 * host's. */
#include <unistd.h>

#include "runtime.h"

static __thread int current_device;

int cts_current_device(void)
{
    return current_device;
}

void cts_set_current_device(int device)
{
    current_device = device;
}

int cts_device_count(void)
{
    return (int)cts_environment_get()->device_count;
}

bool cts_device_is_valid(int device)
{
    return device >= 0 && device < cts_device_count();
}

uint32_t cts_shared_limit_bytes(void)
{
    return cts_environment_get()->shared_bytes;
}

uint64_t cts_machine_memory_bytes(void)
{
    const long pages = sysconf(_SC_PHYS_PAGES), page_bytes = sysconf(_SC_PAGESIZE);
    return pages > 0 && page_bytes > 0 ? (uint64_t)pages * (uint64_t)page_bytes : (uint64_t)1 << 30;
}

uint64_t cts_device_memory_bytes(void)
{
    const uint64_t asked = cts_environment_get()->memory_bytes, most = (uint64_t)16 << 30;
    if (asked) return asked;
    const uint64_t machine = cts_machine_memory_bytes() & ~((uint64_t)(1 << 20) - 1);
    return machine < most ? machine : most;
}
