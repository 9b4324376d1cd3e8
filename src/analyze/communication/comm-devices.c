/* Whose memory kernels access: device by device, from the sets of CTAs and the allocations that
 * they lie in. Pinned and mapped memory is the host's wherever it was allocated; where managed
 * memory lies at a time is not known. */
#include <stdlib.h>
#include <string.h>

#include "analyze/communication/comm-model.h"

/* Cells are by the accessing device and then by the memory: the devices', the host's, managed. */
enum { DEVICES_MAX = 256 };

static uint32_t memory_count(const struct cts_comm_model *model)
{
    return model->device_limit + 2;
}

/* The memory of an allocation, as a column of device_sums. */
static uint32_t memory_of(const struct cts_comm_model *model,
                          const struct cts_allocation *allocation)
{
    const char *const kind = allocation->kind ? allocation->kind : "";
    if (strcmp(kind, "managed") == 0) return model->device_limit + 1;
    const bool is_host = strcmp(kind, "pinned") == 0 || strcmp(kind, "mapped") == 0;
    return is_host ? model->device_limit : allocation->device;
}

enum cts_status cts_comm_devices_set_up(struct cts_comm_model *model, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    uint32_t most = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++)
        if (catalogue->launches[i].device > most) most = catalogue->launches[i].device;
    for (size_t i = 0; i < catalogue->allocation_count; i++)
        if (catalogue->allocations[i].device > most) most = catalogue->allocations[i].device;
    model->device_limit = most < DEVICES_MAX ? most + 1 : 0; /* else nobody counts them */
    model->place_memories =
        cts_array_zeroed(catalogue->allocation_count, sizeof *model->place_memories, error);
    if (!model->place_memories) return CTS_MEMORY;
    for (size_t i = 0; i < catalogue->allocation_count; i++)
        model->place_memories[i] = memory_of(model, &catalogue->allocations[i]);
    for (unsigned i = 0; i < model->worker_count; i++) {
        struct cts_comm_worker *const worker = &model->workers[i];
        worker->device_sums =
            cts_array_zeroed(cts_comm_device_cells(model), sizeof *worker->device_sums, error);
        if (!worker->device_sums) return CTS_MEMORY;
    }
    return CTS_OK;
}

size_t cts_comm_device_cells(const struct cts_comm_model *model)
{
    return (size_t)model->device_limit * memory_count(model);
}

struct cts_comm_device_sum *cts_comm_device_sum(struct cts_comm_worker *worker, size_t place)
{
    const struct cts_comm_model *const model = worker->model;
    const struct cts_catalogue *const catalogue = model->catalogue;
    if (!model->device_limit || place >= catalogue->allocation_count) return NULL;
    const size_t launch = model->result->launches[model->launch].index;
    return worker->device_sums + (size_t)catalogue->launches[launch].device * memory_count(model) +
           model->place_memories[place];
}

enum cts_status cts_comm_devices_conclude(struct cts_comm_model *model, struct cts_error *error)
{
    struct cts_comm *const result = model->result;
    const size_t cells = cts_comm_device_cells(model);
    const uint32_t memories = memory_count(model);
    result->device_pairs = cts_array_zeroed(cells, sizeof *result->device_pairs, error);
    if (!result->device_pairs) return CTS_MEMORY;
    for (size_t i = 0; i < cells; i++) {
        const struct cts_comm_device_sum *const sum = &model->workers[0].device_sums[i];
        const uint32_t memory = (uint32_t)(i % memories);
        if (!sum->read_bytes && !sum->written_bytes) continue;
        result->device_pairs[result->device_pair_count++] = (struct cts_comm_device_pair){
            .device = (uint32_t)(i / memories),
            .memory = memory == model->device_limit  ? CTS_COMM_MEMORY_HOST
                      : memory > model->device_limit ? CTS_COMM_MEMORY_MANAGED
                                                     : CTS_COMM_MEMORY_DEVICE,
            .memory_device = memory < model->device_limit ? memory : CTS_NONE,
            .sum = *sum};
    }
    return CTS_OK;
}
