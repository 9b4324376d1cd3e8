/* What the parts of libctascope_memory.so share. Everything here is inside the recorded program, in
 * callbacks that the driver makes: nothing prints, nothing exits, and no lock of ours is held while
 * the Sanitizer or the driver is called (they have locks of their own). */
#ifndef CTS_RECORD_MEMORY_H
#define CTS_RECORD_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <sanitizer.h>

#include "trace/write/collector.h"
#include "record/cpu/runtime/environment.h"
#include "record/ring/consumer.h"

/* ---- the Sanitizer and the driver, found at run time (library.c) ---- */

#define CTS_SANITIZER_FUNCTIONS(X)                                                                 \
    X(sanitizerSubscribe)                                                                          \
    X(sanitizerEnableDomain)                                                                       \
    X(sanitizerEnableCallback)                                                                     \
    X(sanitizerAddPatches)                                                                         \
    X(sanitizerPatchInstructions)                                                                  \
    X(sanitizerPatchModule)                                                                        \
    X(sanitizerUnpatchModule)                                                                      \
    X(sanitizerSetLaunchCallbackData)                                                              \
    X(sanitizerGetFunctionPcAndSize)                                                               \
    X(sanitizerAlloc)                                                                              \
    X(sanitizerAllocHost)                                                                          \
    X(sanitizerMemcpyHostToDeviceAsync)                                                            \
    X(sanitizerStreamSynchronize)                                                                  \
    X(sanitizerGetResultString)

#define CTS_DRIVER_FUNCTIONS(X)                                                                    \
    X(cuDeviceGetName)                                                                             \
    X(cuDeviceGetAttribute)                                                                        \
    X(cuDeviceTotalMem)                                                                            \
    X(cuDriverGetVersion)                                                                          \
    X(cuCtxGetDevice)                                                                              \
    X(cuCtxPushCurrent)                                                                            \
    X(cuCtxPopCurrent)                                                                             \
    X(cuMemGetInfo)                                                                                \
    X(cuModuleGetGlobal)                                                                           \
    X(cuStreamQuery)

/* NULL where the driver is too old for them. */
#define CTS_DRIVER_MORE_FUNCTIONS(X)                                                               \
    X(cuThreadExchangeStreamCaptureMode)                                                           \
    X(cuGraphGetNodes)                                                                             \
    X(cuGraphNodeGetType)                                                                          \
    X(cuGraphKernelNodeGetParams)                                                                  \
    X(cuGraphKernelNodeGetAttribute)                                                               \
    X(cuGraphChildGraphNodeGetGraph)

struct cts_sanitizer {
#define X(name) __typeof__(name) *name;
    CTS_SANITIZER_FUNCTIONS(X)
    CTS_DRIVER_FUNCTIONS(X)
    CTS_DRIVER_MORE_FUNCTIONS(X)
#undef X
    char path[512];
};
extern struct cts_sanitizer cts_sanitizer;

CTS_MUST_CHECK enum cts_status cts_sanitizer_open(const char *asked, struct cts_error *error);
const char *cts_sanitizer_text(SanitizerResult result);
/* Copies to the device; done when it returns. Not in a launch's callback. */
SanitizerResult cts_sanitizer_write(uint64_t address, void *bytes, size_t byte_count);

/* Another of our libraries, opened; NULL: it is not there. */
void *cts_library_beside(const char *name);

/* The patches, a fatbin that stands beside this library, with those that keep values or without;
 * read once, never freed. */
CTS_MUST_CHECK enum cts_status cts_patches_read(bool values, void **image, struct cts_error *error);

/* ---- shared; set before the first callback ---- */

extern struct cts_memory {
    struct cts_environment environment;
    struct cts_collector *collector;
    struct cts_catalogue_writer *catalogue;
    struct cts_ring_consumers *consumers;
    uint32_t rank;
    void *patches;
    bool global, shared, local; /* spaces that are recorded */
    bool barriers;              /* barriers, too */
    bool values;                /* what is loaded and stored, too */
    bool empty;                 /* for measurements: patches that do nothing */
    bool discard;               /* for measurements: records are forgotten */
    bool defer;                 /* modules are patched when a launch of theirs is wanted */
} cts_memory;

uint64_t cts_memory_now_ns(void);
uint64_t cts_memory_op(void);
/* A message of the run, and for an error the run's failure. */
void cts_memory_say(const char *severity, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* ---- callbacks (callbacks.c) ---- */

CTS_MUST_CHECK enum cts_status cts_callbacks_start(struct cts_error *error);
/* From here on callbacks do nothing. */
void cts_callbacks_stop(void);

/* What a launch's own callback does not tell. */
struct cts_launch_extras {
    uint32_t dynamic_shared_bytes;
    bool cooperative;
};

/* Device memory before a launch, where it may be too little for the stack of patched code. */
struct cts_stack_room {
    bool is_short;
    uint32_t free_mib, needed_mib;
};

/* What the calling thread is doing, as its API callbacks told. */
struct cts_api_call {
    const char *allocating; /* the function that allocates; NULL: none */
    bool is_mapped;         /* pinned memory that is to be mapped */
    bool creates_stream, non_blocking;
    int32_t priority;
    uint64_t sync_op, sync_start_ns; /* of the synchronisation it is in */
    uint32_t sync_launches;          /* launches at its begin */
    struct cts_launch_extras launch; /* that it makes */
    struct cts_stack_room room;      /* for it */
};
extern __thread struct cts_api_call cts_api_call;

/* ---- contexts and their rings (contexts.c) ---- */

/* The creation of a context begins; and something happens in one, which so becomes known. When a
 * creation has ended the Sanitizer would tell, too, but then every launch takes 2 us longer. */
void cts_context_begun(void);
void cts_context_seen(CUcontext context);
void cts_context_destroyed(CUcontext context);
/* Of contexts that were made before the recorder was there nothing is known. */
bool cts_context_is_known(CUcontext context);
uint32_t cts_context_device(CUcontext context);
/* True once per context: the patches have to be loaded into it. */
bool cts_context_wants_patches(CUcontext context);
/* What patches are given for launch number 0 of a context (control.h); its ring is made at the
 * first call. 0: there is none. */
uint64_t cts_context_user(CUcontext context);
struct cts_memory_control;
/* The address of the bins of a context's ring, and what its control says; 0: there is none. */
uint64_t cts_context_ring(CUcontext context, struct cts_memory_control *control);
/* Whether streams of ours still have work; asks the driver. */
bool cts_contexts_are_busy(void);

/* ---- room for the stack of patched code (stack.c) ---- */

/* Before a launch of a function, or of a graph; asks the driver, but not in a launch's callback. */
struct cts_stack_room cts_stack_look(const void *function);

/* ---- which launch a grid belongs to (grids.c) ---- */

/* Makes a context's table, if there is none. */
SanitizerResult cts_grids_make(CUcontext context, uint64_t *address);
uint64_t cts_grids_address(CUcontext context); /* 0: it has none */
/* It is destroyed, and another one may get its handle. */
void cts_grids_forget(CUcontext context);
/* Before the launch, in its stream: `number` in the ring, or CTS_NONE for one that is not
 * recorded. */
void cts_grids_tell(const Sanitizer_LaunchData *launch, Sanitizer_StreamHandle stream,
                    uint32_t number);

/* ---- graphs (graphs.c) ---- */

/* Notes the shapes of a graph's launches when it is instantiated. */
void cts_graph_instantiated(CUgraph graph);
/* Of a node that is launched; zeros: not known. */
struct cts_launch_extras cts_graph_shape(CUgraphNode node, const Sanitizer_LaunchData *launch);

/* ---- streams, allocations, copies, events (rows.c) ---- */

struct cts_memory_stream {
    CUcontext context;
    CUstream handle;
    Sanitizer_StreamHandle unique;
    uint32_t id, device, launch_count;
    bool is_gone;
};
/* The id of a stream in the catalogue, made at first use. */
uint32_t cts_memory_stream(CUcontext context, CUstream handle, Sanitizer_StreamHandle unique);
uint32_t cts_memory_stream_ordinal(uint32_t stream);
void cts_memory_stream_created(const Sanitizer_ResourceStreamData *data);
void cts_memory_stream_destroyed(const Sanitizer_ResourceStreamData *data);
/* Copies the handles of streams that live. */
size_t cts_memory_streams(struct cts_memory_stream *streams, size_t most);

void cts_memory_allocated(const Sanitizer_ResourceMemoryData *data, bool on_host);
void cts_memory_freed(uint64_t address);
void cts_memory_copied(const Sanitizer_MemcpyData *data);
void cts_memory_set(const Sanitizer_MemsetData *data);
void cts_memory_event(const Sanitizer_EventData *data, const char *kind);
/* A synchronisation or query of the driver's API. */
void cts_memory_sync_begin(void);
void cts_memory_sync_end(const char *kind, CUcontext context, const CUstream *stream,
                         uint64_t event, int32_t result);

/* ---- modules, kernels and sites (modules.c, cubin.c) ---- */

struct cts_memory_kernel {
    uint32_t id;          /* in the catalogue */
    bool is_selected;     /* by --kernel-name */
    bool by_warp;         /* it has no barrier */
    bool is_instrumented; /* it records by itself (instrumented.h) */
};
void cts_module_loaded(const Sanitizer_ResourceModuleData *data);
void cts_module_unloaded(const Sanitizer_ResourceModuleData *data);
/* Makes the kernel's rows at its first launch. */
struct cts_memory_kernel cts_module_kernel(const Sanitizer_LaunchData *launch);
/* Patches a module, or takes the patches away, if it is not so already. False: it cannot be. */
bool cts_module_patch(CUmodule module, bool patched);
uint32_t cts_module_site(void *unused, const struct cts_ring_record *record);

/* ---- launches (launches.c) ---- */

void cts_launch_begin(const Sanitizer_LaunchData *launch, const struct cts_launch_extras *shape,
                      bool is_node);
void cts_launches_switch(bool on); /* cudaProfilerStart, cts_start and so on */
/* From here on only launches in chosen NVTX ranges are recorded. */
void cts_launches_watch_ranges(void);
uint32_t cts_launches_begun(void);
/* Launches before `number` of a context, and of a stream of it (CTS_NONE: all), have ended. */
void cts_launches_ended(CUcontext context, uint32_t stream, uint32_t number);
/* All of them; the rows are written with their counts. `complete`: they have ended. Tells of those
 * that ran without patches. */
void cts_launches_finish(bool complete);
bool cts_launch_of_number(void *unused, uint32_t number, uint32_t *launch, bool *by_warp);
void cts_launch_counts(void *unused, uint32_t number, const struct cts_stream_counts *counts);
/* Whether launches were to be recorded, and how many. */
uint64_t cts_launches_recorded(void);

#endif
