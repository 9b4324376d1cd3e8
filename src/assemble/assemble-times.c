/* Local times by the readings of a process's clock: between two of them linear, and the outer ones
 * reach on. */
#include "assemble/assemble-private.h"

uint64_t cts_correct_time(const struct cts_log_process *p, uint64_t local_ns)
{
    if (p->same_clock || !p->clock.count) return local_ns;
    const struct cts_clock_reading *const r = p->clock.items;
    size_t after = 1; /* the segment [after - 1, after]; the outer ones reach on */
    while (after + 1 < p->clock.count && r[after].local_ns < local_ns) after++;
    __int128 offset = r[0].offset_ns;
    if (p->clock.count > 1 && r[after].local_ns > r[after - 1].local_ns) {
        const __int128 slope = (__int128)r[after].offset_ns - r[after - 1].offset_ns;
        const __int128 run = (__int128)r[after].local_ns - r[after - 1].local_ns;
        const __int128 product = slope * ((__int128)local_ns - r[after - 1].local_ns);
        const __int128 down = product % run < 0 ? 1 : 0; /* floor, so that order is kept */
        offset = r[after - 1].offset_ns + product / run - down;
    }
    const __int128 corrected = (__int128)local_ns + offset;
    return corrected < 0 ? 0 : corrected > UINT64_MAX ? UINT64_MAX : (uint64_t)corrected;
}
