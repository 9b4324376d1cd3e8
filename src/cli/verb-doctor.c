/* What this machine can record, and why not. Parts are looked for as files and by asking programs
 * for their version; nothing here links or loads any of them. Whether the CPU device works is not
 * guessed but tried: a kernel of known behaviour is compiled, recorded and counted. */
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "cli/child.h"
#include "cli/verb.h"
#include "common/json.h"
#include "common/progress.h"
#include "common/text-table.h"
#include "trace/catalogue.h"

enum { VERSION_TIMEOUT_S = 20, COMPILE_TIMEOUT_S = 180, RUN_TIMEOUT_S = 60, PARTS_MAX = 24 };

struct part {
    const char *name;
    const char *purpose;
    bool needed; /* by the CPU device */
    bool found;
    char detail[512]; /* version and place, or what was looked for */
};

struct diagnosis {
    struct part parts[PARTS_MAX];
    size_t part_count;
    bool tested, works;
    char outcome[1024]; /* of the self-test */
};

/* ---- finding ---- */

static struct part *add_part(struct diagnosis *diagnosis, const char *name, const char *purpose,
                             bool needed)
{
    if (diagnosis->part_count == PARTS_MAX) abort(); /* our mistake */
    struct part *const part = &diagnosis->parts[diagnosis->part_count++];
    *part = (struct part){.name = name, .purpose = purpose, .needed = needed};
    return part;
}

/* A program by its answer to an option; the line of the answer that has `mark` is its version. */
static void look_for_program(struct part *part, const char *program, const char *option,
                             const char *mark)
{
    const char *const argv[] = {program, option, NULL};
    struct cts_child_result result;
    cts_child_run(argv, VERSION_TIMEOUT_S, &result);
    part->found = result.status == 0;
    const char *line = result.output;
    if (*mark) {
        const char *const marked = strstr(result.output, mark);
        if (marked) line = marked;
    }
    if (part->found)
        snprintf(part->detail, sizeof part->detail, "%.*s", (int)strcspn(line, "\n"), line);
    else
        snprintf(part->detail, sizeof part->detail, "'%s %s' does not work", program, option);
}

static void look_for_file(struct part *part, const char *directory, const char *name)
{
    snprintf(part->detail, sizeof part->detail, "%.300s/%.150s", directory, name);
    part->found = access(part->detail, R_OK) == 0;
    if (!part->found) {
        char path[400];
        snprintf(path, sizeof path, "%.399s", part->detail);
        snprintf(part->detail, sizeof part->detail, "no '%s'", path);
    }
}

/* The first file that matches one of several patterns. */
static void look_for_pattern(struct part *part, const char *const *patterns)
{
    for (; *patterns && !part->found; patterns++) {
        glob_t found = {0};
        if (glob(*patterns, GLOB_BRACE, NULL, &found) == 0 && found.gl_pathc) {
            part->found = true;
            snprintf(part->detail, sizeof part->detail, "%.500s",
                     found.gl_pathv[found.gl_pathc - 1]); /* the newest version sorts last */
        }
        globfree(&found);
    }
    if (!part->found) snprintf(part->detail, sizeof part->detail, "not found");
}

static const char *cuda_directory(void)
{
    static const char *const names[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *const value = getenv(names[i]);
        if (value && *value) return value;
    }
    return "/usr/local/cuda";
}

/* Ours, which the driver loads into a program; built where CUPTI's headers were. */
static void look_for_gpu_recorder(struct diagnosis *diagnosis)
{
    struct part *const part =
        add_part(diagnosis, "GPU recorder", "timelines of GPU programs", false);
    look_for_file(part, cts_library_directory(), "libctascope_cupti.so");
    if (!part->found)
        snprintf(part->detail, sizeof part->detail,
                 "not built: there were no CUPTI headers when ctascope was");
}

static void look_for_toolkit(struct diagnosis *diagnosis)
{
    char nvcc[PATH_MAX], sanitizer[PATH_MAX], cupti[PATH_MAX];
    const char *const cuda = cuda_directory();
    struct part *part = add_part(diagnosis, "CUDA toolkit", "recording on a GPU", false);
    snprintf(nvcc, sizeof nvcc, "%s/bin/nvcc", cuda);
    look_for_program(part, access(nvcc, X_OK) == 0 ? nvcc : "nvcc", "--version", "release");
    if (!part->found)
        snprintf(part->detail, sizeof part->detail, "no nvcc in '%.300s' or PATH", cuda);

    part = add_part(diagnosis, "NVIDIA driver", "recording on a GPU", false);
    FILE *const file = fopen("/proc/driver/nvidia/version", "re");
    part->found = file && fgets(part->detail, sizeof part->detail, file);
    part->detail[strcspn(part->detail, "\n")] = 0;
    if (file) fclose(file);
    if (!part->found) snprintf(part->detail, sizeof part->detail, "not loaded");

    part = add_part(diagnosis, "Sanitizer API", "recording unmodified GPU programs", false);
    snprintf(sanitizer, sizeof sanitizer,
             "%s/{compute-sanitizer,extras/Sanitizer}/libsanitizer-public.so", cuda);
    look_for_pattern(part, (const char *const[]){sanitizer, NULL});

    part = add_part(diagnosis, "CUPTI", "timelines of GPU programs", false);
    snprintf(cupti, sizeof cupti, "%s/{lib64,extras/CUPTI/lib64,lib}/libcupti.so*", cuda);
    look_for_pattern(part, (const char *const[]){
                               cupti, "/usr/lib/*/libcupti.so*",
                               "/usr/lib/python3*/{site,dist}-packages/nvidia/*/lib/libcupti.so*",
                               "/usr/local/lib/python3*/{site,dist}-packages/nvidia/*/lib/"
                               "libcupti.so*",
                               NULL});
    look_for_gpu_recorder(diagnosis);
}

static void look_around(struct diagnosis *diagnosis)
{
    const char *const library = cts_library_directory();
    look_for_program(add_part(diagnosis, "clang 19", "compiling CUDA sources", true), "clang-19",
                     "--version", "");
    look_for_file(add_part(diagnosis, "plugin", "instrumenting device and host code", true),
                  library, "ctascope-plugin.so");
    look_for_file(add_part(diagnosis, "CPU device", "running kernels without a GPU", true), library,
                  "libctascope_cpu.so");
    look_for_file(add_part(diagnosis, "device library", "mathematics of device code", true),
                  library, "cpu-device.bc");
    look_for_file(add_part(diagnosis, "headers", "CUDA's language and runtime API", true),
                  cts_share_directory(), "cpu");
    look_for_program(add_part(diagnosis, "MPI", "programs with several ranks", false), "mpirun",
                     "--version", "");
    look_for_program(add_part(diagnosis, "OTF2", "timelines", false), "otf2-print", "--version",
                     "");
    look_for_toolkit(diagnosis);
}

/* ---- the self-test ---- */

/* 3 accesses by each of 256 threads, in 8 warps: 768 accesses, 24 warp records. */
static const char test_source[] =
    "#include <cstdio>\n"
    "__global__ void add(const float *a, const float *b, float *c)\n"
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
    "    add<<<n / 64, 64>>>(a, b, c);\n"
    "    if (cudaMemcpy(h, c, sizeof h, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        if (h[i] != 2.0f * float(i)) return 2;\n"
    "    return 0;\n"
    "}\n";
enum { TEST_ACCESSES = 768, TEST_RECORDS = 24 };

struct self_test {
    char directory[64];
    char source[96], program[96], run[96];
    char ctascope[PATH_MAX];
};

static bool prepare_test(struct self_test *test, struct diagnosis *diagnosis)
{
    const char *const temporary = getenv("TMPDIR");
    if (!temporary || strlen(temporary) > 30)
        snprintf(test->directory, sizeof test->directory, "/tmp/ctascope-doctor-XXXXXX");
    else
        snprintf(test->directory, sizeof test->directory, "%.30s/ctascope-doctor-XXXXXX",
                 temporary);
    const ssize_t length = readlink("/proc/self/exe", test->ctascope, sizeof test->ctascope - 1);
    if (length <= 0 || !mkdtemp(test->directory)) {
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "cannot make '%s'",
                 test->directory);
        return false;
    }
    test->ctascope[length] = 0;
    snprintf(test->source, sizeof test->source, "%s/test.cu", test->directory);
    snprintf(test->program, sizeof test->program, "%s/test", test->directory);
    snprintf(test->run, sizeof test->run, "%s/run", test->directory);
    FILE *const file = fopen(test->source, "we");
    const bool written = file && fputs(test_source, file) >= 0;
    if (file && fclose(file) == 0 && written) return true;
    snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "cannot write '%s'", test->source);
    return false;
}

/* One step of the test; the first line of what it said when it fails. */
static bool run_step(struct diagnosis *diagnosis, const char *what, const char *const argv[],
                     unsigned timeout_s)
{
    struct cts_child_result result;
    cts_child_run(argv, timeout_s, &result);
    if (result.status == 0) return true;
    if (result.timed_out)
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "%s took more than %u s", what,
                 timeout_s);
    else
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "%s failed with status %d: %.*s",
                 what, result.status, (int)strcspn(result.output, "\n"), result.output);
    return false;
}

static bool check_run(const struct self_test *test, struct diagnosis *diagnosis)
{
    struct cts_catalogue catalogue;
    struct cts_error error;
    if (cts_catalogue_read(test->run, &catalogue, &error)) {
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "%.900s", error.text);
        return false;
    }
    uint64_t records = 0, accesses = 0;
    for (size_t i = 0; i < catalogue.launch_count; i++) {
        records += catalogue.launches[i].records;
        accesses += catalogue.launches[i].accesses;
    }
    const bool right = records == TEST_RECORDS && accesses == TEST_ACCESSES;
    if (!right)
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome,
                 "recorded %llu accesses in %llu records instead of %d in %d",
                 (unsigned long long)accesses, (unsigned long long)records, TEST_ACCESSES,
                 TEST_RECORDS);
    cts_catalogue_release(&catalogue);
    return right;
}

static void remove_test(const struct self_test *test)
{
    const char *const argv[] = {"rm", "-rf", test->directory, NULL};
    struct cts_child_result ignored;
    cts_child_run(argv, RUN_TIMEOUT_S, &ignored);
}

static void self_test(struct diagnosis *diagnosis)
{
    static const char *const filters[] = {"CTASCOPE_KERNEL_NAME", "CTASCOPE_LAUNCH_SKIP",
                                          "CTASCOPE_LAUNCH_COUNT", "CTASCOPE_CTA_SAMPLE",
                                          "CTASCOPE_MAX_SIZE"};
    static struct self_test test;
    diagnosis->tested = true;
    if (!prepare_test(&test, diagnosis)) return;
    const char *const compile[] = {test.ctascope, "cc", "--device=cpu", "-O2",
                                   test.source,   "-o", test.program,   NULL};
    const char *const record[] = {test.ctascope, "record",     "-o", test.run,
                                  "--",          test.program, NULL};
    struct timespec begin, end;
    for (size_t i = 0; i < sizeof filters / sizeof *filters; i++) unsetenv(filters[i]);
    clock_gettime(CLOCK_MONOTONIC, &begin);
    diagnosis->works = run_step(diagnosis, "compiling", compile, COMPILE_TIMEOUT_S) &&
                       run_step(diagnosis, "recording", record, RUN_TIMEOUT_S) &&
                       check_run(&test, diagnosis);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const double seconds =
        (double)(end.tv_sec - begin.tv_sec) + (double)(end.tv_nsec - begin.tv_nsec) * 1e-9;
    if (diagnosis->works)
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome,
                 "a kernel was compiled, run and recorded: %d accesses, as expected (%.1f s)",
                 TEST_ACCESSES, seconds);
    remove_test(&test);
}

/* Without the test: whether all that the CPU device needs is there. */
static void judge_parts(struct diagnosis *diagnosis)
{
    diagnosis->works = true;
    for (size_t i = 0; i < diagnosis->part_count; i++) {
        const struct part *const part = &diagnosis->parts[i];
        if (!part->needed || part->found || !diagnosis->works) continue;
        diagnosis->works = false;
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "%s is missing: %.500s", part->name,
                 part->detail);
    }
    if (diagnosis->works)
        snprintf(diagnosis->outcome, sizeof diagnosis->outcome, "all its parts are there");
}

/* ---- output ---- */

static enum cts_status render_table(const struct diagnosis *diagnosis, struct cts_error *error)
{
    struct cts_text_table table = {0};
    const bool colours = cts_colours_wanted(stdout);
    if (colours) {
        table.title_start = "\033[1m";
        table.title_end = "\033[0m";
    }
    cts_text_table_column(&table, "part", CTS_LEFT);
    cts_text_table_column(&table, "", CTS_LEFT);
    cts_text_table_column(&table, "for", CTS_LEFT);
    cts_text_table_column(&table, "version or place", CTS_LEFT);
    for (size_t i = 0; i < diagnosis->part_count; i++) {
        const struct part *const part = &diagnosis->parts[i];
        cts_text_table_cell(&table, "%s", part->name);
        cts_text_table_cell(&table, "%s",
                            part->found    ? "found"
                            : part->needed ? "MISSING"
                                           : "absent");
        cts_text_table_cell(&table, "%s", part->purpose);
        cts_text_table_cell(&table, "%s", part->detail);
    }
    const enum cts_status status = cts_text_table_print(&table, stdout, error);
    cts_text_table_release(&table);
    printf("\nOn the CPU device, this machine %s record: %s\n", diagnosis->works ? "can" : "CANNOT",
           diagnosis->outcome);
    printf("On a GPU it cannot: ctascope %s records on the CPU device only\n", CTASCOPE_VERSION);
    return status;
}

static enum cts_status render_json(const struct diagnosis *diagnosis, struct cts_error *error)
{
    struct cts_json json;
    cts_json_begin(&json, stdout);
    cts_json_open_object(&json);
    cts_json_member_string(&json, "ctascope_version", CTASCOPE_VERSION);
    cts_json_key(&json, "parts");
    cts_json_open_array(&json);
    for (size_t i = 0; i < diagnosis->part_count; i++) {
        const struct part *const part = &diagnosis->parts[i];
        cts_json_open_object_row(&json);
        cts_json_member_string(&json, "name", part->name);
        cts_json_member_bool(&json, "found", part->found);
        cts_json_member_bool(&json, "needed", part->needed);
        cts_json_member_string(&json, "purpose", part->purpose);
        cts_json_member_string(&json, "detail", part->detail);
        cts_json_close_object(&json);
    }
    cts_json_close_array(&json);
    cts_json_member_bool(&json, "cpu_works", diagnosis->works);
    cts_json_member_bool(&json, "cpu_tested", diagnosis->tested);
    cts_json_member_string(&json, "cpu_outcome", diagnosis->outcome);
    cts_json_member_bool(&json, "gpu_works", false);
    cts_json_close_object(&json);
    return cts_json_end(&json, error);
}

static int run_doctor(const struct cts_arguments *arguments)
{
    static struct diagnosis diagnosis;
    struct cts_error error;
    look_around(&diagnosis);
    judge_parts(&diagnosis);
    if (diagnosis.works && !cts_argument_given(arguments, "no-test")) self_test(&diagnosis);
    const char *const format = cts_argument(arguments, "format");
    const enum cts_status status = format && strcmp(format, "json") == 0
                                       ? render_json(&diagnosis, &error)
                                       : render_table(&diagnosis, &error);
    if (status) return cts_report_error(arguments, &error);
    return diagnosis.works ? CTS_EXIT_OK : CTS_EXIT_MACHINE;
}

static const struct cts_option doctor_options[] = {
    {.name = "no-test", .help = "only look for the parts; do not compile and record a kernel"},
    {.name = "format", .argument = "table|json", .help = "the form of the output (default: table)"},
    {0},
};

const struct cts_verb cts_verb_doctor = {
    .name = "doctor",
    .synopsis = "[--no-test] [--format table|json]",
    .summary = "Says what this machine can record, and why not",
    .description =
        "Looks for the parts that recording needs, and tries it: a small kernel is\n"
        "compiled and recorded in a temporary directory. Ends with 0 when the CPU device\n"
        "works, with 4 when nothing can be recorded.",
    .options = doctor_options,
    .run = run_doctor,
};
