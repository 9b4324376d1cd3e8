/* What happens at a launch: whether it is recorded, and what its patches are told. */
#include "launching.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "common/clock.h"
#include "contexts.h"
#include "control.h"
#include "graph-steps.h"
#include "grids.h"
#include "launches.h"
#include "library.h"
#include "modules.h"
#include "rings.h"
#include "memory-run.h"
#include "settings.h"
#include "stream-table.h"
#include "launch-tensors.h"

static _Atomic uint64_t matched; /* launches that --kernel-name lets through */
static _Atomic bool is_on;

static int (*is_in_range)(void); /* of NVTX, that was chosen; NULL: nobody watches ranges */

void cts_launches_switch(bool on)
{
    atomic_store(&is_on, on);
}

void cts_launches_watch_ranges(void)
{
    void *const library = cts_library_beside("libctascope_nvtx.so");
    if (library) *(void **)&is_in_range = dlsym(library, "ctascope_nvtx_included");
}

static bool is_wanted(const struct cts_memory_kernel *kernel)
{
    const struct cts_environment *const environment = &cts_memory_settings.environment;
    if (!kernel->is_selected || !atomic_load(&is_on)) return false;
    if (environment->nvtx_include && !(is_in_range && is_in_range())) return false;
    const uint64_t number = atomic_fetch_add(&matched, 1);
    return number >= environment->launch_skip &&
           number - environment->launch_skip < environment->launch_count;
}

static struct cts_launch row_of(const Sanitizer_LaunchData *data,
                                const struct cts_launch_call *call, uint32_t kernel)
{
    const CUcontext context = call->is_node ? data->apiContext : data->context;
    const uint32_t stream =
        call->is_node ? cts_graph_step_stream(
                            cts_memory_stream(data->apiContext, data->apiStream, data->hApiStream))
                      : cts_memory_stream(context, data->stream, data->hStream);
    const uint64_t time_ns = cts_clock_ns();
    return (struct cts_launch){
        .launch = cts_catalogue_reserve(cts_memory_run.catalogue, CTS_ID_LAUNCH, 1),
        .rank = cts_memory_run.rank,
        .op = cts_memory_op(cts_context_device(data->context)),
        .device = cts_context_device(data->context),
        .stream = stream,
        .ordinal = cts_memory_stream_ordinal(stream),
        .kernel = kernel,
        .grid = {data->gridDim_x, data->gridDim_y, data->gridDim_z},
        .block = {data->blockDim_x, data->blockDim_y, data->blockDim_z},
        .dynamic_shared_bytes = call->shape.dynamic_shared_bytes,
        .cooperative = call->shape.cooperative,
        .call_ns = time_ns,
        .start_ns = time_ns,
    };
}

/* The driver tells those of the kernel's own code, of launch attributes and of nodes alike. */
static void keep_cluster(const Sanitizer_LaunchData *data, uint32_t launch)
{
    const struct cts_cluster row = {
        .launch = launch, .ctas = {data->clusterDim_x, data->clusterDim_y, data->clusterDim_z}};
    if (row.ctas[0] > 1 || row.ctas[1] > 1 || row.ctas[2] > 1)
        cts_catalogue_add_cluster(cts_memory_run.catalogue, &row);
}

static void set_user(const Sanitizer_LaunchData *data, uint64_t user)
{
    const SanitizerResult result = cts_sanitizer.sanitizerSetLaunchCallbackData(
        data->hLaunch, data->function, data->hStream, (const void *)(uintptr_t)user);
    if (result != SANITIZER_SUCCESS)
        cts_memory_say("error", "a launch of '%s' cannot be recorded: %s", data->functionName,
                       cts_sanitizer_text(result));
}

/* What the patches are given, less the launch's number. */
static uint64_t user_of(const Sanitizer_LaunchData *data)
{
    const uint64_t ctas = (uint64_t)data->gridDim_x * data->gridDim_y * data->gridDim_z;
    const uint64_t user = cts_memory_ring_user(data->context);
    return user && ctas >> 31 ? user | CTS_MEMORY_UNUSUAL : user;
}

/* The same for all nodes of a kernel, also for those that are not recorded. */
static uint64_t user_of_node(const Sanitizer_LaunchData *data)
{
    const uint64_t user = cts_memory_ring_user(data->context);
    return user ? user | CTS_MEMORY_BY_GRID : 0;
}

void cts_launch_begin(const Sanitizer_LaunchData *data, const struct cts_launch_call *call)
{
    const struct cts_memory_kernel kernel = cts_module_kernel(data);
    if (kernel.id == CTS_NONE) return; /* no memory */
    struct cts_memory_launch launch = {.row = row_of(data, call, kernel.id),
                                       .context = call->is_node ? data->apiContext : data->context,
                                       .stream = call->is_node ? data->hApiStream : data->hStream,
                                       .by_warp = kernel.by_warp};
    if (!kernel.is_instrumented && !cts_memory_settings.discard) launch.room = call->room;
    uint32_t number = 0;
    const bool wanted = is_wanted(&kernel);
    const bool patched = wanted || !cts_memory_settings.defer
                             ? cts_module_patch(data->module, true)
                             : !cts_module_patch(data->module, false);
    const uint64_t user = wanted && patched ? user_of(data) : 0;
    launch.row.recorded = cts_memory_settings.environment.cta_sample > 1 ? "sample" : "all";
    const bool recorded = user && cts_launches_add(&launch, &number);
    if (!recorded) {
        launch.row.recorded = "none";
        launch.row.end_ns = launch.row.start_ns;
    }
    cts_catalogue_add_launch(cts_memory_run.catalogue, &launch.row);
    cts_graph_step_note(launch.row.op);
    keep_cluster(data, launch.row.launch);
    cts_launch_tensors_add(launch.row.launch, kernel.tensors);
    const bool by_grid = kernel.is_instrumented || call->is_node;
    if (by_grid && !cts_memory_settings.empty)
        cts_grids_tell(data, launch.stream, recorded ? number : CTS_NONE);
    if (kernel.is_instrumented || !patched || cts_memory_settings.empty) return;
    if (call->is_node)
        set_user(data, user_of_node(data));
    else
        set_user(data, recorded ? user + number : 0);
}
