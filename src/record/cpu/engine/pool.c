/* The pool: threads, launches, and who gets which CTAs.
 *
 * A launch is put into a list; the thread that launched it takes part at once, and pool threads
 * join. All take runs of consecutive CTAs from a shared counter until none is left: long runs,
 * because the recorder compresses CTAs that follow each other, but several per worker, because CTAs
 * differ. Whoever finds the counter at its end leaves; the launch is over when all have left. */
#include "record/cpu/engine/worker.h"
#include "common/promise.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    RUNS_PER_WORKER = 4,
    STACK_BYTES = 64 << 10,
    STACK_LEAST_BYTES = 16 << 10,
    STRAIGHT_STACK_BYTES = 1 << 20,
    THREAD_STACK_BYTES = 1 << 20,
    WORKERS_MAX = 1024,
};
static const uint64_t default_spin_limit_ns = 60000000000u;

__thread struct cts_worker *cts_worker_current __attribute__((tls_model("initial-exec")));
struct cts_engine_limits cts_engine_limits;

static struct {
    pthread_mutex_t lock;
    pthread_cond_t work;           /* a launch was added, or stop */
    pthread_mutex_t one_at_a_time; /* deterministic: launches */
    bool started, stop;
    uint32_t worker_count, thread_count;
    pthread_t threads[WORKERS_MAX];
    size_t stack_bytes;
    struct cts_grid *launches;
    struct cts_worker *free_workers, *all_workers;
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER,
          .work = PTHREAD_COND_INITIALIZER,
          .one_at_a_time = PTHREAD_MUTEX_INITIALIZER};

/* ---- Workers ---- */

static void free_worker(struct cts_worker *worker)
{
    if (worker->straight_cta) cts_window_release(&worker->straight_cta->window);
    free(worker->straight_cta);
    while (worker->free_ctas) {
        struct cts_cta *const cta = worker->free_ctas;
        worker->free_ctas = cta->next;
        cts_window_release(&cta->window);
        free(cta);
    }
    cts_stacks_release(&worker->stacks);
    cts_stacks_release(&worker->straight_stacks);
    free(worker->log);
    free(worker->rows);
    free(worker);
}

static void *lines(size_t bytes)
{
    void *const memory = aligned_alloc(64, bytes);
    if (memory) memset(memory, 0, bytes);
    return memory;
}

static struct cts_worker *new_worker(void)
{
    struct cts_worker *const worker = calloc(1, sizeof *worker);
    if (!worker) return NULL;
    worker->straight_cta = calloc(1, sizeof *worker->straight_cta);
    worker->log = lines((size_t)CTS_LOG_ROWS_ALL * CTS_WARP_LANES * sizeof *worker->log + 64);
    worker->rows = lines((size_t)CTS_ROW_ROWS_ALL * CTS_WARP_LANES * sizeof *worker->rows);
    if (!worker->straight_cta || !worker->log || !worker->rows) {
        free_worker(worker);
        return NULL;
    }
    worker->stacks.size_bytes = pool.stack_bytes;
    worker->straight_stacks.size_bytes =
        STRAIGHT_STACK_BYTES > pool.stack_bytes ? STRAIGHT_STACK_BYTES : pool.stack_bytes;
    worker->stream_cta = UINT64_MAX;
    return worker;
}

/* A worker for the calling thread, with the pool's lock held. */
static struct cts_worker *take_worker(void)
{
    CTS_ASSERT_HELD(&pool.lock);
    struct cts_worker *worker = pool.free_workers;
    if (worker) {
        pool.free_workers = worker->next;
        return worker;
    }
    worker = new_worker();
    if (!worker) return NULL;
    worker->next_of_all = pool.all_workers;
    pool.all_workers = worker;
    return worker;
}

static void give_worker(struct cts_worker *worker)
{
    worker->next = pool.free_workers;
    pool.free_workers = worker;
}

/* ---- A worker's part of a launch ---- */

static void place_threads(struct cts_worker *worker, const struct cts_grid *launch)
{
    const uint32_t *const block = launch->request->block;
    if (memcmp(worker->shape, block, sizeof worker->shape) == 0) return;
    uint32_t x = 0, y = 0, z = 0;
    for (uint32_t i = 0; i < launch->thread_count; i++) {
        worker->threads[i] = x | (uint64_t)y << 16 | (uint64_t)z << 32;
        if (++x < block[0]) continue;
        x = 0;
        if (++y < block[1]) continue;
        y = 0;
        z++;
    }
    memcpy(worker->shape, block, sizeof worker->shape);
}

/* The worker's stream of the launch's collector; without one it takes no part in the launch, and
 * the collector keeps why. */
static bool open_stream(struct cts_worker *worker, const struct cts_grid *launch)
{
    if (!launch->request->record || worker->collector == launch->request->collector) return true;
    struct cts_error error;
    struct cts_stream *stream;
    if (cts_collector_stream(launch->request->collector, &stream, &error) != CTS_OK) {
        cts_collector_fail(launch->request->collector, &error);
        return false;
    }
    worker->collector = launch->request->collector;
    worker->stream = stream;
    return true;
}

static void close_part(struct cts_worker *worker, struct cts_grid *launch)
{
    if (!launch->request->record || worker->collector != launch->request->collector) return;
    cts_stream_flush(worker->stream);
    const struct cts_stream_counts counts = cts_stream_take_counts(worker->stream);
    pthread_mutex_lock(&launch->lock);
    launch->records += counts.records;
    launch->accesses += counts.accesses;
    launch->hash.sum += counts.hash.sum;
    launch->hash.accesses += counts.hash.accesses;
    launch->dropped_accesses += counts.dropped_accesses + worker->invalid_count;
    pthread_mutex_unlock(&launch->lock);
    worker->invalid_count = 0;
}

static void cts_grid_set_fault(struct cts_grid *launch, const struct cts_fault *fault);

static void run_part(struct cts_worker *worker, struct cts_grid *launch)
{
    struct cts_worker *const outer = cts_worker_current;
    struct cts_thread_context *const outer_context = __cts_current;
    cts_faults_attach_thread();
    cts_fiber_home(&worker->home);
    cts_worker_current = worker;
    worker->launch = launch;
    worker->fault.kind = CTS_FAULT_NONE;
    worker->fault.code = NULL;
    place_threads(worker, launch);
    if (open_stream(worker, launch)) {
        if (launch->straight)
            cts_straight_run(worker, launch);
        else
            cts_host_run(worker, launch);
    }
    if (worker->fault.kind != CTS_FAULT_NONE) cts_grid_set_fault(launch, &worker->fault);
    close_part(worker, launch);
    worker->launch = NULL;
    cts_worker_current = outer;
    __cts_current = outer_context;
}

/* ---- Launches ---- */

static void cts_grid_set_fault(struct cts_grid *launch, const struct cts_fault *fault)
{
    pthread_mutex_lock(&launch->lock);
    if (launch->fault.kind == CTS_FAULT_NONE) launch->fault = *fault;
    atomic_store(&launch->stop, true);
    pthread_cond_broadcast(&launch->grid_changed);
    pthread_mutex_unlock(&launch->lock);
}

/* The first launch that still has CTAs to give. */
static struct cts_grid *find_work(void)
{
    for (struct cts_grid *launch = pool.launches; launch; launch = launch->next)
        if (!cts_grid_stopped(launch) &&
            atomic_load_explicit(&launch->next_cta, memory_order_relaxed) < launch->cta_count)
            return launch;
    return NULL;
}

static void *thread_main(void *argument)
{
    struct cts_worker *const worker = argument;
    pthread_mutex_lock(&pool.lock);
    for (;;) {
        struct cts_grid *const launch = find_work();
        if (launch) {
            atomic_fetch_add(&launch->participants, 1);
            pthread_mutex_unlock(&pool.lock);
            run_part(worker, launch);
            pthread_mutex_lock(&pool.lock);
            if (atomic_fetch_sub(&launch->participants, 1) == 1) pthread_cond_signal(&launch->left);
        } else if (pool.stop) {
            break;
        } else {
            pthread_cond_wait(&pool.work, &pool.lock);
        }
    }
    pthread_mutex_unlock(&pool.lock);
    return NULL;
}

static void add_launch(struct cts_grid *launch)
{
    launch->next = NULL;
    struct cts_grid **end = &pool.launches;
    while (*end) end = &(*end)->next;
    *end = launch;
}

static void remove_launch(struct cts_grid *launch)
{
    struct cts_grid **at = &pool.launches;
    while (*at != launch) at = &(*at)->next;
    *at = launch->next;
}

/* False, and nothing has run, when it cannot be recorded. */
static bool run_launch(struct cts_grid *launch)
{
    pthread_mutex_lock(&pool.lock);
    struct cts_worker *const worker = take_worker();
    if (!worker) {
        pthread_mutex_unlock(&pool.lock);
        cts_grid_set_fault(launch, &(struct cts_fault){.kind = CTS_FAULT_MEMORY,
                                                       .text = "no memory for a worker"});
        return true;
    }
    if (launch->request->record && worker->collector != launch->request->collector) {
        pthread_mutex_unlock(&pool.lock);
        const bool records = open_stream(worker, launch);
        pthread_mutex_lock(&pool.lock);
        if (!records) {
            give_worker(worker);
            pthread_mutex_unlock(&pool.lock);
            return false;
        }
    }
    atomic_store(&launch->participants, 1);
    const bool alone = pool.thread_count == 0 || launch->cta_count <= launch->chunk_ctas;
    if (!alone) {
        add_launch(launch);
        pthread_cond_broadcast(&pool.work);
    }
    pthread_mutex_unlock(&pool.lock);
    run_part(worker, launch);
    pthread_mutex_lock(&pool.lock);
    if (!alone) remove_launch(launch);
    give_worker(worker);
    atomic_fetch_sub(&launch->participants, 1);
    while (atomic_load(&launch->participants) > 0) pthread_cond_wait(&launch->left, &pool.lock);
    pthread_mutex_unlock(&pool.lock);
    return true;
}

static void plan_rows(struct cts_grid *launch)
{
    const struct cts_kernel_desc *const kernel = launch->request->kernel;
    const struct cts_loaded_file *const file = launch->request->file;
    for (uint32_t i = 0; i < kernel->row_site_count; i++) {
        const uint32_t site = kernel->row_sites[i];
        launch->row_sites[i] = file->first_site + site;
        launch->row_spaces[i] = file->desc->sites[site].space;
        if (file->desc->flags & CTS_FILE_VALUES)
            launch->row_value_words[i] =
                (uint8_t)cts_slot_value_words(file->desc->sites[site].width_bytes);
        launch->rows_need_care |=
            launch->row_spaces[i] == CTS_SPACE_GENERIC || launch->row_spaces[i] == CTS_SPACE_LOCAL;
    }
}

static uint32_t shared_align_bytes(const struct cts_file_desc *file)
{
    enum { ALLOTTED_BYTES = 128, GPU_START_BYTES = 1024 };
    const uint32_t known = file->shared_align_bytes;
    if (!known || known > GPU_START_BYTES) return GPU_START_BYTES;
    return known < ALLOTTED_BYTES ? ALLOTTED_BYTES : known;
}

/* Where dynamic shared memory begins. A GPU places it behind the kernel's own variables, at the
 * window's begin if it has none; here the variables of the file's other kernels are in front of it,
 * too, and must not take its alignment away. */
static uint32_t dynamic_shared_offset(const struct cts_launch_request *request)
{
    enum { LEAST_BYTES = 16 };
    const struct cts_file_desc *const file = request->file->desc;
    const uint32_t own_bytes =
        file->shared_align_bytes > LEAST_BYTES ? file->shared_align_bytes : LEAST_BYTES;
    const uint32_t align_bytes =
        request->kernel->static_shared_bytes ? own_bytes : shared_align_bytes(file);
    return (file->shared_bytes + align_bytes - 1) / align_bytes * align_bytes;
}

/* Whether the pointers among the parameters are aligned as the kernel's accesses assume. */
static bool parameters_are_aligned(const struct cts_launch_request *request)
{
    const struct cts_kernel_desc *const kernel = request->kernel;
    for (uint32_t i = 0; i < kernel->alignment_count; i++) {
        const struct cts_alignment_desc *const alignment = &kernel->alignments[i];
        const char *const parameter = request->args[alignment->parameter];
        uint64_t pointer;
        memcpy(&pointer, parameter + (alignment->offset_bytes ? alignment->offset_bytes - 1 : 0),
               sizeof pointer);
        if (pointer & (alignment->align_bytes - 1)) return false;
    }
    return true;
}

/* How the CTAs will run. Returns NULL, or why they cannot. */
static const char *plan(struct cts_grid *launch)
{
    const struct cts_launch_request *const request = launch->request;
    const struct cts_kernel_desc *const kernel = request->kernel;
    const uint64_t threads = (uint64_t)request->block[0] * request->block[1] * request->block[2];
    if (threads == 0 || threads > CTS_CTA_THREADS_MAX)
        return "a CTA of 0 or more than 1024 threads";
    launch->thread_count = (uint32_t)threads;
    launch->warp_count = (launch->thread_count + CTS_WARP_LANES - 1) / CTS_WARP_LANES;
    launch->cta_count = (uint64_t)request->grid[0] * request->grid[1] * request->grid[2];
    launch->shared_align_bytes = shared_align_bytes(request->file->desc);
    launch->static_shared_bytes = dynamic_shared_offset(request);
    launch->shared_bytes = launch->static_shared_bytes + request->dynamic_shared_bytes;
    const bool fibers = (kernel->flags & CTS_KERNEL_FIBERS) || !kernel->cta;
    /* A full log changes whose turn it is, and with it the order of atomics. */
    const bool instrumented = request->record || cts_engine_limits.deterministic;
    launch->tests_alignment = kernel->thread_rec && !parameters_are_aligned(request);
    launch->rows = instrumented && !launch->tests_alignment && kernel->row_rec && !fibers &&
                   kernel->row_site_count <= CTS_ROW_SLOTS_MAX;
    launch->log = instrumented && !launch->rows && kernel->thread_rec &&
                  request->file->first_slot != CTS_SLOT_LIMIT;
    launch->log |= launch->tests_alignment;
    launch->straight = !fibers && !launch->log;
    if (!launch->straight && !kernel->thread) return "the kernel has no version with fibers";
    if (launch->rows) plan_rows(launch);
    launch->worker_count = pool.worker_count;
    launch->chunk_ctas = launch->cta_count / ((uint64_t)pool.worker_count * RUNS_PER_WORKER);
    if (pool.worker_count == 1) launch->chunk_ctas = launch->cta_count;
    if (launch->chunk_ctas == 0) launch->chunk_ctas = 1;
    return NULL;
}

/* False, and nothing has run, when it cannot be recorded. */
static bool run(const struct cts_launch_request *request, struct cts_launch_result *result)
{
    struct cts_grid launch = {.request = request,
                              .lock = PTHREAD_MUTEX_INITIALIZER,
                              .grid_changed = PTHREAD_COND_INITIALIZER,
                              .left = PTHREAD_COND_INITIALIZER};
    memset(result, 0, sizeof *result);
    const char *const refusal = plan(&launch);
    if (refusal) {
        result->fault = CTS_FAULT_MEMORY;
        snprintf(result->text, sizeof result->text, "kernel '%s': %s",
                 request->kernel->display_name, refusal);
        return true;
    }
    if (launch.cta_count == 0) return true;
    if (request->record && launch.cta_count > UINT32_MAX) return false;
    if (cts_engine_limits.deterministic) pthread_mutex_lock(&pool.one_at_a_time);
    const bool done = run_launch(&launch);
    if (cts_engine_limits.deterministic) pthread_mutex_unlock(&pool.one_at_a_time);
    result->records = launch.records;
    result->accesses = launch.accesses;
    result->hash = launch.hash;
    result->dropped_accesses = launch.dropped_accesses;
    result->fault = launch.fault.kind;
    if (result->fault != CTS_FAULT_NONE) cts_fault_describe(&launch, &launch.fault, result);
    pthread_cond_destroy(&launch.left);
    pthread_cond_destroy(&launch.grid_changed);
    pthread_mutex_destroy(&launch.lock);
    return done;
}

/* What we cannot record runs all the same. */
void cts_engine_run(const struct cts_launch_request *request, struct cts_launch_result *result)
{
    if (run(request, result)) return;
    struct cts_launch_request unrecorded = *request;
    unrecorded.record = false;
    (void)run(&unrecorded, result);
    result->is_unrecorded = true;
}

void cts_engine_forget_collector(const struct cts_collector *collector)
{
    pthread_mutex_lock(&pool.lock);
    for (struct cts_worker *worker = pool.all_workers; worker; worker = worker->next_of_all)
        if (worker->collector == collector) {
            worker->collector = NULL;
            worker->stream = NULL;
        }
    pthread_mutex_unlock(&pool.lock);
}

/* ---- Start and stop ---- */

static uint32_t online_cores(void)
{
    const long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count > 0 ? (uint32_t)count : 1;
}

static void start_threads(void)
{
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    int status = 0;
    while (status == 0 && pool.thread_count + 1 < pool.worker_count) {
        pthread_mutex_lock(&pool.lock);
        struct cts_worker *const worker = take_worker();
        pthread_mutex_unlock(&pool.lock);
        status = worker ? pthread_create(&pool.threads[pool.thread_count], &attributes, thread_main,
                                         worker)
                        : ENOMEM;
        if (status == 0) pool.thread_count++;
    }
    pthread_attr_destroy(&attributes);
    pool.worker_count = pool.thread_count + 1; /* fewer do it too: the caller's thread is one */
}

enum cts_status cts_engine_start(const struct cts_engine_options *options, struct cts_error *error)
{
    if (pool.started) return cts_fail(error, CTS_USAGE, "the engine has already been started");
    const size_t page = cts_page_bytes();
    size_t stack = options->fiber_stack_bytes ? options->fiber_stack_bytes : STACK_BYTES;
    if (stack > (size_t)1 << 30)
        return cts_fail(error, CTS_LIMIT, "a stack of %zu bytes for each thread", stack);
    if (stack < STACK_LEAST_BYTES) stack = STACK_LEAST_BYTES;
    pool.stack_bytes = (stack + page - 1) / page * page;
    pool.worker_count = options->worker_count ? options->worker_count : online_cores();
    if (options->deterministic) pool.worker_count = 1;
    if (pool.worker_count > WORKERS_MAX) pool.worker_count = WORKERS_MAX;
    cts_engine_limits.deterministic = options->deterministic;
    cts_engine_limits.allow_read = options->allow_read;
    cts_engine_limits.spin_limit_ns =
        options->spin_limit_ns ? options->spin_limit_ns : default_spin_limit_ns;
    pool.stop = false;
    pool.started = true;
    cts_faults_install();
    start_threads();
    return CTS_OK;
}

void cts_engine_stop(void)
{
    if (!pool.started) return;
    pthread_mutex_lock(&pool.lock);
    pool.stop = true;
    pthread_cond_broadcast(&pool.work);
    pthread_mutex_unlock(&pool.lock);
    for (uint32_t i = 0; i < pool.thread_count; i++) pthread_join(pool.threads[i], NULL);
    cts_faults_restore();
    while (pool.all_workers) {
        struct cts_worker *const worker = pool.all_workers;
        pool.all_workers = worker->next_of_all;
        free_worker(worker);
    }
    pool.free_workers = NULL;
    pool.thread_count = 0;
    pool.started = false;
}

uint32_t cts_engine_worker_count(void)
{
    return pool.worker_count;
}
