/* Memory of the device and of the host, as replays save, compare and restore it. */
#include <stdlib.h>
#include <string.h>

#include "record/try/cuda/gpu-steps.h"

enum { WINDOW_BYTES = 8 << 20 };

static struct cts_gpu_capture *capture;

/* Part of the device's memory, as it is read page by page; made invalid by whatever may change it.
 */
static struct {
    uint64_t address, size_bytes;
    uint8_t *bytes;
} window;

void cts_gpu_memory_use(struct cts_gpu_capture *used)
{
    capture = used;
    window.size_bytes = 0;
    if (used) return;
    free(window.bytes);
    window.bytes = NULL;
}

void cts_gpu_memory_changes(void)
{
    window.size_bytes = 0;
}

static bool is_payload(uint64_t address)
{
    for (size_t i = 0; capture && i < capture->operation_count; i++) {
        const struct cts_gpu_operation *const operation = capture->operations[i];
        if (operation && operation->brought &&
            address - (uint64_t)operation->brought < operation->size_bytes)
            return true;
    }
    return false;
}

static uint64_t region_end(uint64_t address)
{
    for (size_t i = 0; capture && i < capture->memory.count; i++) {
        const struct cts_try_region *const region = &capture->memory.items[i];
        if (address - region->address < region->size_bytes)
            return region->address + region->size_bytes;
    }
    return 0;
}

/* Pages are read one after the other: more than one is fetched at a time. */
static bool read_window(uint64_t address, void *to, size_t size_bytes)
{
    const bool is_inside = window.size_bytes && address >= window.address &&
                           address + size_bytes <= window.address + window.size_bytes;
    if (!is_inside) {
        const uint64_t end_address = region_end(address);
        if (end_address < address + size_bytes) return false;
        if (!window.bytes) window.bytes = malloc(WINDOW_BYTES);
        const uint64_t left = end_address - address;
        window.size_bytes = left < WINDOW_BYTES ? left : WINDOW_BYTES;
        window.address = address;
        if (!window.bytes || size_bytes > window.size_bytes) {
            window.size_bytes = 0;
            return false;
        }
        cts_gpu_note(cts_gpu_driver()->copy_to_host(window.bytes, address, window.size_bytes));
    }
    memcpy(to, window.bytes + (address - window.address), size_bytes);
    return true;
}

void cts_gpu_read_memory(void *state, uint64_t address, void *to, size_t size_bytes)
{
    (void)state;
    if (is_payload(address))
        memcpy(to, (const void *)address, size_bytes);
    else if (size_bytes < 64 || !read_window(address, to, size_bytes))
        cts_gpu_note(cts_gpu_driver()->copy_to_host(to, address, size_bytes));
}

void cts_gpu_write_memory(void *state, uint64_t address, const void *from, size_t size_bytes)
{
    (void)state;
    window.size_bytes = 0;
    if (is_payload(address))
        memcpy((void *)address, from, size_bytes);
    else
        cts_gpu_note(cts_gpu_driver()->copy_from_host(address, from, size_bytes));
}
