/* What analyses know of regions: the device API's by the table of names, MPI's and OpenMP's by name
 * and role. Behind the timeline's regions come the pseudo ones, which name what has no region. */
#include <stdlib.h>
#include <string.h>

#include "analyze/path/api.h"
#include "analyze/path/regions.h"
#include "common/array.h"
#include "trace/collectives/collective-kernels.h"

static const char *const pseudo_names[CTS_PATH_PSEUDO_COUNT] = {
#define X(name, text) [CTS_PATH_##name] = text,
    CTS_PATH_PSEUDO_MAP(X)
#undef X
};

static bool starts(const char *text, const char *start)
{
    return !strncmp(text, start, strlen(start));
}

static enum cts_path_class mpi_class(const char *name)
{
    if (!strcmp(name, "MPI_Init") || !strcmp(name, "MPI_Init_thread") ||
        !strcmp(name, "MPI_Finalize"))
        return CTS_PATH_ALL;
    if (!strcmp(name, "MPI_Probe") || !strcmp(name, "MPI_Mprobe")) return CTS_PATH_PROBE;
    static const struct {
        const char *name;
        enum cts_path_class class;
    } windows[] = {{"MPI_Win_post", CTS_PATH_POST},
                   {"MPI_Win_start", CTS_PATH_ACCESS},
                   {"MPI_Win_complete", CTS_PATH_COMPLETE},
                   {"MPI_Win_wait", CTS_PATH_EXPOSED},
                   {"MPI_Win_test", CTS_PATH_EXPOSED}};
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (!strcmp(name, windows[i].name)) return windows[i].class;
    if (starts(name, "MPI_Wait") || starts(name, "MPI_Test")) return CTS_PATH_WAITING;
    return CTS_PATH_PLAIN;
}

static bool is_test(const char *name)
{
    static const char *const names[] = {"MPI_Test", "MPI_Testall", "MPI_Testany", "MPI_Testsome",
                                        "MPI_Win_test"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(name, names[i])) return true;
    return false;
}

static enum cts_path_class thread_class(const struct cts_timeline_region *region)
{
    if (region->role == CTS_ROLE_BARRIER || region->role == CTS_ROLE_IMPLICIT_BARRIER)
        return CTS_PATH_BARRIER;
    return strstr(region->name, "implicit_task") || strstr(region->name, "implicit task")
               ? CTS_PATH_TASK
               : CTS_PATH_PLAIN;
}

static bool may_be_device_api(enum cts_paradigm paradigm)
{
    return paradigm == CTS_PARADIGM_CUDA || paradigm == CTS_PARADIGM_OPENCL ||
           paradigm == CTS_PARADIGM_OTHER || paradigm == CTS_PARADIGM_UNKNOWN;
}

/* The person's own lines count for calls of any paradigm, since who instruments a runtime names it
 * as he likes; the built-in ones only for those that a device's API may have. */
static struct cts_path_region classify(const struct cts_path_api_table *own,
                                       const struct cts_path_api_table *builtin,
                                       const struct cts_timeline_region *region)
{
    struct cts_path_region result = {.name = region->name ? region->name : "",
                                     .paradigm = region->paradigm};
    if (!region->name) return result;
    result.is_collective =
        may_be_device_api(region->paradigm) && cts_collective_is_kernel(region->name);
    result.is_pairwise = result.is_collective && strstr(region->name, "SendRecv");
    result.is_function =
        region->paradigm == CTS_PARADIGM_CUDA && !strcmp(region->name, "host function");
    if (region->paradigm == CTS_PARADIGM_MPI) {
        result.kind = (uint8_t)mpi_class(region->name);
        result.polls = is_test(region->name);
        return result;
    }
    const struct cts_path_api_name *name = cts_path_api_find(own, region->name);
    if (!name && may_be_device_api(region->paradigm))
        name = cts_path_api_find(builtin, region->name);
    if (name && name->api != CTS_PATH_API_NONE) {
        result.kind = CTS_PATH_API;
        result.api = (uint8_t)name->api;
        result.direction = (uint8_t)name->direction;
        result.polls =
            name->api == CTS_PATH_API_QUERY_STREAM || name->api == CTS_PATH_API_QUERY_EVENT;
    } else if (region->paradigm != CTS_PARADIGM_USER && region->paradigm != CTS_PARADIGM_COMPILER) {
        result.kind = (uint8_t)thread_class(region);
    }
    return result;
}

enum cts_status cts_path_regions(struct cts_path_system *system, struct cts_error *error)
{
    const struct cts_timeline *const timeline = system->timeline;
    const struct cts_path_options *const options = system->options;
    if (timeline->region_count > INT32_MAX - CTS_PATH_PSEUDO_COUNT)
        return cts_fail(error, CTS_LIMIT, "too many regions: %zu", timeline->region_count);
    struct cts_path_api_table own = {0}, builtin = {0};
    enum cts_status status = CTS_OK;
    if (options->api_table)
        status = cts_path_api_read(&own, options->api_table,
                                   options->api_table_name ? options->api_table_name : "api table",
                                   error);
    if (!status)
        status = cts_path_api_read(&builtin, cts_path_api_builtin(), "api-names.txt", error);
    if (status) goto out;
    system->pseudo = (uint32_t)timeline->region_count;
    system->region_count = system->pseudo + CTS_PATH_PSEUDO_COUNT;
    system->regions = cts_array_zeroed(system->region_count, sizeof *system->regions, error);
    if (!system->regions) {
        status = CTS_MEMORY;
        goto out;
    }
    for (uint32_t i = 0; i < system->pseudo; i++)
        system->regions[i] = classify(&own, &builtin, &timeline->regions[i]);
    for (uint32_t i = 0; i < CTS_PATH_PSEUDO_COUNT; i++)
        system->regions[system->pseudo + i] = (struct cts_path_region){
            .name = pseudo_names[i],
            .paradigm = i == CTS_PATH_MPI_TRANSFER ? CTS_PARADIGM_MPI : CTS_PARADIGM_UNKNOWN};
out:
    cts_path_api_release(&own);
    cts_path_api_release(&builtin);
    return status;
}
