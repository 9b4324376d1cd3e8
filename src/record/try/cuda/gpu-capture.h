/* The stretch of a program on a GPU as it is captured: operations with their arguments, what they
 * come after, and memory. One lock covers all; calls that take it say so. */
#ifndef CTS_RECORD_TRY_GPU_CAPTURE_H
#define CTS_RECORD_TRY_GPU_CAPTURE_H

#include "record/try/cuda/gpu-driver.h"
#include "record/try/try-memory.h"

enum cts_gpu_kind { CTS_GPU_LAUNCH, CTS_GPU_GRAPH, CTS_GPU_COPY, CTS_GPU_SET };

struct cts_gpu_launch {
    CUfunction function;
    CUlaunchConfig config; /* `attrs` owned */
    void **parameters;     /* owned: pointers and copies of the values in one block */
    size_t *sizes;         /* owned: of the parameters, in bytes */
    size_t count;
    bool is_cooperative;
};

struct cts_gpu_operation {
    enum cts_gpu_kind kind;
    CUstream stream;
    bool is_per_thread; /* the default stream is the thread's */
    bool host_waits;
    bool from_host, to_host; /* copy */
    struct cts_gpu_launch launch;
    CUgraphExec graph;
    uint64_t destination, source, size_bytes; /* copy, set: of `count` elements */
    uint64_t count;
    uint32_t value, element_bytes; /* set */
    void *payload;                 /* owned: what a copy from the host reads */
    bool is_payload_pinned;        /* as the program's memory is: the device reads it as fast */
    void *brought;                 /* owned, pinned: what a copy to the host brought */
    bool has_brought;
    CUevent events[2]; /* in the program's own pass, around it; NULL: none */
};

/* Owned by the caller; false: it cannot be kept. */
bool cts_gpu_copy_launch(const CUlaunchConfig *config, CUfunction function, void **parameters,
                         struct cts_gpu_launch *launch);
void cts_gpu_release_launch(struct cts_gpu_launch *launch);

struct cts_gpu_capture {
    struct cts_stretch stretch;
    struct cts_gpu_operation **operations; /* at the stretch's indices; NULL: waits */
    size_t operation_count, operation_capacity;
    struct cts_try_memory memory;
    uint64_t start_ns, last_return_ns;
    CUevent events[3]; /* when the stretch opens; between the last two lies nothing */
    bool is_open;
    char refusal[400], device[80];
};

struct cts_gpu_counts {
    uint32_t launches, copies, waits;
    bool lists_kernels;
    const char **kernels; /* of all launches, if they are to be listed */
    size_t kernel_count, kernel_capacity;
};
extern struct cts_gpu_counts cts_gpu_counts;

/* The program makes a call that replays cannot make: refused if the stretch is open. */
void cts_gpu_refuse_call(const char *call);
void cts_gpu_refuse(const char *format, ...) __attribute__((format(printf, 1, 2)));

void cts_gpu_capture_open(uint64_t limit_bytes, const struct cts_try_device *device);
/* An operation is asked for; it is taken over. `call_ns`: when the call began. */
void cts_gpu_capture_add(struct cts_gpu_operation *operation, uint64_t call_ns);
/* Its call has returned. */
void cts_gpu_capture_returned(void);
void cts_gpu_capture_event(CUevent event, CUstream stream, bool is_per_thread);
void cts_gpu_capture_wait_event(CUstream stream, bool is_per_thread, CUevent event);
/* The host has waited: for an event, a stream or (both NULL, `all`) everything. */
void cts_gpu_capture_waited(CUevent event, CUstream stream, bool is_per_thread, bool all,
                            const char *call);
/* Memory that exists from now on, or no more. The second returns whether the driver is to keep it
 * until the replays are over. */
struct cts_gpu_block {
    uint64_t address, size_bytes;
    const char *kind, *variable; /* variable "": unknown; kept */
};
void cts_gpu_capture_allocated(const struct cts_gpu_block *block);
bool cts_gpu_capture_freed(uint64_t address);
/* Time that was spent on saving memory does not count as the program's. */
void cts_gpu_capture_spent(uint64_t since_ns);
struct cts_gpu_capture *cts_gpu_capture_close(void);
void cts_gpu_capture_release(void);

#endif
