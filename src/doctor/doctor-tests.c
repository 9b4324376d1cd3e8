/* Whether recorders work is not guessed but tried: a kernel of known behaviour is recorded, and its
 * run is read back and counted. 3 accesses by each of 256 threads, in 8 warps: 768 accesses, 24
 * warp records. The kernels for the CPU device and for instrumented programs are compiled from
 * source; that for unmodified GPU programs is PTX in a program of ours
 * (record/inject/self-test). */
#include <glob.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/child.h"
#include "doctor/doctor.h"
#include "trace/timeline/timeline.h"
#include "common/install.h"
#include "trace/catalogue.h"

enum { COMPILE_TIMEOUT_S = 180, RUN_TIMEOUT_S = 60, TEST_ACCESSES = 768, TEST_RECORDS = 24 };

static const char test_source[] =
    "#include <cstdio>\n"
    "__global__ void ctascope_self_test(const float *a, const float *b, float *c)\n"
    "{\n"
    "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
    "    c[i] = a[i] + b[i];\n"
    "}\n"
    "int main()\n"
    "{\n"
    "    const int n = 256;\n"
    "    float h[n], *a, *b, *c;\n"
    "    for (int i = 0; i < n; i++) h[i] = float(i);\n"
    "    cudaMalloc(&a, sizeof h);\n"
    "    cudaMalloc(&b, sizeof h);\n"
    "    cudaMalloc(&c, sizeof h);\n"
    "    cudaMemcpy(a, h, sizeof h, cudaMemcpyHostToDevice);\n"
    "    cudaMemcpy(b, h, sizeof h, cudaMemcpyHostToDevice);\n"
    "    ctascope_self_test<<<n / 64, 64>>>(a, b, c);\n"
    "    if (cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (h[i] != 2.0f * float(i)) return 2;\n"
    "    return 0;\n"
    "}\n";

struct place {
    char directory[64], source[96], program[96], run[96];
    char ctascope[PATH_MAX];
};

/* ---- the directory ---- */

static bool write_source(const struct place *place)
{
    FILE *const file = fopen(place->source, "we");
    const bool written = file && fputs(test_source, file) >= 0;
    return file && fclose(file) == 0 && written;
}

static bool make_place(struct place *place, char *outcome, size_t outcome_bytes)
{
    const char *const temporary = getenv("TMPDIR");
    const bool fits = temporary && *temporary && strlen(temporary) <= 30;
    snprintf(place->directory, sizeof place->directory, "%.30s/ctascope-doctor-XXXXXX",
             fits ? temporary : "/tmp");
    const ssize_t length = readlink("/proc/self/exe", place->ctascope, sizeof place->ctascope - 1);
    const bool made = length > 0 && mkdtemp(place->directory);
    if (made) {
        place->ctascope[length] = 0;
        snprintf(place->source, sizeof place->source, "%s/test.cu", place->directory);
        snprintf(place->program, sizeof place->program, "%s/test", place->directory);
        snprintf(place->run, sizeof place->run, "%s/run", place->directory);
    }
    if (made && write_source(place)) return true;
    snprintf(outcome, outcome_bytes, "cannot write to '%s'", place->directory);
    return false;
}

static void remove_place(const struct place *place)
{
    const char *const argv[] = {"rm", "-rf", place->directory, NULL};
    struct cts_child_result ignored;
    cts_child_run(argv, RUN_TIMEOUT_S, &ignored);
}

/* ---- steps ---- */

/* One step of a test; the first line of what it said when it fails. */
static bool run_step(struct cts_doctor_recorder *recorder, const char *what,
                     const char *const argv[], unsigned timeout_s)
{
    struct cts_child_result result;
    cts_child_run(argv, timeout_s, &result);
    if (result.status == 0) return true;
    if (result.timed_out)
        snprintf(recorder->outcome, sizeof recorder->outcome, "%s took more than %u s", what,
                 timeout_s);
    else
        snprintf(recorder->outcome, sizeof recorder->outcome, "%s failed with status %d: %.*s",
                 what, result.status, (int)strcspn(result.output, "\n"), result.output);
    return false;
}

static bool compile(const struct place *place, struct cts_doctor_recorder *recorder,
                    const char *device)
{
    const char *const argv[] = {place->ctascope, "cc", device,         "-O2",
                                place->source,   "-o", place->program, NULL};
    return run_step(recorder, "compiling", argv, COMPILE_TIMEOUT_S);
}

static bool record(const struct place *place, struct cts_doctor_recorder *recorder,
                   const char *kind, const char *program)
{
    const char *const argv[] = {place->ctascope, "record", "--force", kind, "-o",
                                place->run,      "--",     program,   NULL};
    return run_step(recorder, "recording", argv, RUN_TIMEOUT_S);
}

static bool check_accesses(const struct place *place, struct cts_doctor_recorder *recorder)
{
    struct cts_catalogue catalogue;
    struct cts_error error;
    if (cts_catalogue_read(place->run, &catalogue, &error)) {
        snprintf(recorder->outcome, sizeof recorder->outcome, "%.900s", error.text);
        return false;
    }
    uint64_t records = 0, accesses = 0;
    for (size_t i = 0; i < catalogue.launch_count; i++) {
        records += catalogue.launches[i].records;
        accesses += catalogue.launches[i].accesses;
    }
    const bool right = records == TEST_RECORDS && accesses == TEST_ACCESSES;
    snprintf(recorder->outcome, sizeof recorder->outcome,
             right ? "%llu accesses in %llu records, as expected"
                   : "recorded %llu accesses in %llu records instead of %d in %d",
             (unsigned long long)accesses, (unsigned long long)records, TEST_ACCESSES,
             TEST_RECORDS);
    cts_catalogue_release(&catalogue);
    return right;
}

struct kernel_search {
    const struct cts_timeline *timeline;
    uint64_t count;
};

static bool count_kernel(void *state, uint32_t location, const struct cts_timeline_event *event,
                         const struct cts_event_attributes *attributes)
{
    struct kernel_search *const search = state;
    (void)location, (void)attributes;
    const char *const name =
        event->kind == CTS_EVENT_ENTER ? search->timeline->regions[event->region].name : NULL;
    search->count += name && strncmp(name, "ctascope_self_test", 18) == 0;
    return true;
}

/* One launch of the kernel, in a stream. */
static bool check_timeline(const struct place *place, struct cts_doctor_recorder *recorder)
{
    struct cts_timeline timeline;
    struct cts_error error;
    struct kernel_search search = {.timeline = &timeline};
    enum cts_status status = cts_timeline_open(place->run, &timeline, &error);
    if (status) {
        snprintf(recorder->outcome, sizeof recorder->outcome, "%.900s", error.text);
        return false;
    }
    for (uint32_t i = 0; !status && i < timeline.location_count; i++)
        if (timeline.locations[i].kind == CTS_LOCATION_STREAM)
            status = cts_timeline_read(&timeline, i, count_kernel, &search, &error);
    const bool right = !status && search.count == 1;
    if (status)
        snprintf(recorder->outcome, sizeof recorder->outcome, "%.900s", error.text);
    else
        snprintf(recorder->outcome, sizeof recorder->outcome,
                 right ? "the kernel ran once, as expected" : "the kernel ran %llu times, not once",
                 (unsigned long long)search.count);
    cts_timeline_close(&timeline);
    return right;
}

/* ---- recorders ---- */

static bool try_cpu_memory(const struct place *place, struct cts_doctor_recorder *recorder)
{
    return compile(place, recorder, "--device=cpu") &&
           record(place, recorder, "--memory", place->program) && check_accesses(place, recorder);
}

static bool try_cpu_timeline(const struct place *place, struct cts_doctor_recorder *recorder)
{
    if (access(place->program, X_OK) != 0 && !compile(place, recorder, "--device=cpu"))
        return false;
    return record(place, recorder, "--timeline", place->program) && check_timeline(place, recorder);
}

static bool try_gpu_memory(const struct place *place, struct cts_doctor_recorder *recorder)
{
    return record(place, recorder, "--memory", cts_doctor_gpu_program()) &&
           check_accesses(place, recorder);
}

static bool try_gpu_timeline(const struct place *place, struct cts_doctor_recorder *recorder)
{
    return record(place, recorder, "--timeline", cts_doctor_gpu_program()) &&
           check_timeline(place, recorder);
}

static bool try_gpu_instrumented(const struct place *place, struct cts_doctor_recorder *recorder)
{
    return compile(place, recorder, "--device=cuda") &&
           record(place, recorder, "--memory", place->program) && check_accesses(place, recorder);
}

/* A recorder, the parts that it cannot do without, and its test. */
static const struct kind {
    const char *name;
    const char *parts[8];
    bool (*try)(const struct place *place, struct cts_doctor_recorder *recorder);
} kinds[] = {
    {"CPU device, memory",
     {"clang 19", "plugin", "CPU device", "device library", "headers"},
     try_cpu_memory},
    {"CPU device, timeline",
     {"clang 19", "plugin", "CPU device", "device library", "headers"},
     try_cpu_timeline},
    {"GPU, memory, any program",
     {"GPU", "GPU memory recorder", "GPU patches", "Compute Sanitizer"},
     try_gpu_memory},
    {"GPU, memory, compiled by cc",
     {"GPU", "GPU memory recorder", "GPU patches", "Compute Sanitizer", "GPU device library",
      "clang 19", "plugin"},
     try_gpu_instrumented},
    {"GPU, timeline", {"GPU", "GPU timeline recorder", "CUPTI"}, try_gpu_timeline},
};

static void judge_parts(const struct cts_doctor *doctor, const struct kind *kind,
                        struct cts_doctor_recorder *recorder)
{
    recorder->possible = true;
    snprintf(recorder->outcome, sizeof recorder->outcome, "not tested; its parts are installed");
    for (size_t i = 0; i < sizeof kind->parts / sizeof *kind->parts && kind->parts[i]; i++) {
        const struct cts_doctor_part *const part = cts_doctor_part(doctor, kind->parts[i]);
        if (part->found) continue;
        recorder->possible = false;
        snprintf(recorder->outcome, sizeof recorder->outcome, "%s is missing: %.500s", part->name,
                 part->detail);
        return;
    }
}

static void run_test(const struct kind *kind, const struct place *place,
                     struct cts_doctor_recorder *recorder)
{
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    recorder->tested = true;
    recorder->works = kind->try(place, recorder);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    const size_t length = strlen(recorder->outcome);
    if (recorder->works)
        snprintf(recorder->outcome + length, sizeof recorder->outcome - length, " (%.1f s)",
                 seconds);
}

void cts_doctor_try(struct cts_doctor *doctor, bool test)
{
    static const char *const filters[] = {
        "CTASCOPE_KERNEL_NAME", "CTASCOPE_LAUNCH_SKIP",  "CTASCOPE_LAUNCH_COUNT",
        "CTASCOPE_CTA_SAMPLE",  "CTASCOPE_MAX_SIZE",     "CTASCOPE_SPACES",
        "CTASCOPE_MEMORY_MODE", "CTASCOPE_NVTX_INCLUDE", "CTASCOPE_PROFILE_FROM_START",
        "CTASCOPE_RING_SIZE",   "CTASCOPE_VALUES"};
    struct place place = {0};
    char trouble[256] = "";
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) unsetenv(filters[i]);
    const bool ready = test && make_place(&place, trouble, sizeof trouble);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct cts_doctor_recorder *const recorder = &doctor->recorders[doctor->recorder_count++];
        recorder->name = kinds[i].name;
        judge_parts(doctor, &kinds[i], recorder);
        recorder->works = recorder->possible && !test;
        if (!recorder->possible || !test) continue;
        if (ready)
            run_test(&kinds[i], &place, recorder);
        else
            snprintf(recorder->outcome, sizeof recorder->outcome, "%s", trouble);
    }
    if (*place.directory && ready) remove_place(&place);
}
