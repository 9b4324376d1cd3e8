/* The parts that recording needs, as files or by asking programs for their version. The driver and
 * NVIDIA's libraries are asked by a program of ours (record/inject/self-test), since loading them
 * here could fail in ways that end the process. */
#include "doctor/doctor.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/child.h"
#include "common/install.h"

static struct cts_doctor_part *add_part(struct cts_doctor *doctor, const char *name,
                                        const char *purpose, const char *remedy)
{
    if (doctor->part_count == CTS_DOCTOR_PARTS_MAX) abort(); /* our mistake */
    struct cts_doctor_part *const part = &doctor->parts[doctor->part_count++];
    *part = (struct cts_doctor_part){.name = name, .purpose = purpose, .remedy = remedy};
    return part;
}

const struct cts_doctor_part *cts_doctor_part(const struct cts_doctor *doctor, const char *name)
{
    for (size_t i = 0; i < doctor->part_count; i++)
        if (strcmp(doctor->parts[i].name, name) == 0) return &doctor->parts[i];
    abort(); /* our mistake */
}

/* ---- programs ---- */

static void set_line(struct cts_doctor_part *part, const char *line)
{
    snprintf(part->detail, sizeof part->detail, "%.*s", (int)strcspn(line, "\n"), line);
}

/* A program by its answer to an option; the line of the answer that has `mark` is its version. */
static void look_for_program(struct cts_doctor_part *part, const char *program, const char *option,
                             const char *mark)
{
    const char *const argv[] = {program, option, NULL};
    struct cts_child_result result;
    cts_child_run(argv, CTS_DOCTOR_VERSION_TIMEOUT_S, &result);
    const char *const marked = strstr(result.output, mark);
    part->found = result.status == 0;
    if (part->found)
        set_line(part, marked ? marked : result.output);
    else
        snprintf(part->detail, sizeof part->detail, "'%.400s %s' does not work", program, option);
}

/* An MPI by its launcher, which names `mark`; plain mpirun may be either's. */
static void look_for_mpi(struct cts_doctor_part *part, const char *const *launchers,
                         const char *mark, const char *version)
{
    char tried[256] = "";
    for (; *launchers; launchers++) {
        const char *const argv[] = {*launchers, "--version", NULL};
        struct cts_child_result result;
        cts_child_run(argv, CTS_DOCTOR_VERSION_TIMEOUT_S, &result);
        if (result.status == 0 && strstr(result.output, mark)) {
            const char *line = strstr(result.output, version);
            line = line ? line + strlen(version) : result.output;
            line += strspn(line, " ");
            part->found = true;
            snprintf(part->detail, sizeof part->detail, "%s: %.*s", *launchers,
                     (int)strcspn(line, "\n"), line);
            return;
        }
        const size_t length = strlen(tried);
        snprintf(tried + length, sizeof tried - length, "%s%s", length ? ", " : "", *launchers);
    }
    snprintf(part->detail, sizeof part->detail, "not found; tried %s", tried);
}

const char *cts_doctor_gpu_program(void)
{
    static char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/gpu-self-test", cts_library_directory());
    return path;
}

/* What our program says; false: nothing good. */
static bool ask(const char *first, const char *second, const char *third,
                struct cts_child_result *result)
{
    const char *const argv[] = {cts_doctor_gpu_program(), first, second, third, NULL};
    cts_child_run(argv, CTS_DOCTOR_VERSION_TIMEOUT_S, result);
    return result->status == 0;
}

/* ---- files ---- */

static void look_for_file(struct cts_doctor_part *part, const char *directory, const char *name)
{
    char path[480];
    snprintf(path, sizeof path, "%.300s/%.150s", directory, name);
    part->found = access(path, R_OK) == 0;
    snprintf(part->detail, sizeof part->detail, part->found ? "%s" : "no '%s'", path);
}

/* The first file that matches one of several patterns. */
static void look_for_pattern(struct cts_doctor_part *part, const char *const *patterns)
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

/* ---- a GPU ---- */

static void look_for_driver(struct cts_doctor *doctor)
{
    static const char get_driver[] =
        "an NVIDIA GPU and its driver, from the distribution or https://www.nvidia.com/drivers";
    struct cts_child_result result;
    struct cts_doctor_part *part =
        add_part(doctor, "NVIDIA driver", "recording on a GPU", get_driver);
    FILE *const file = fopen("/proc/driver/nvidia/version", "re");
    part->found = file && fgets(part->detail, sizeof part->detail, file);
    part->detail[strcspn(part->detail, "\n")] = 0;
    if (file) fclose(file);
    if (!part->found) snprintf(part->detail, sizeof part->detail, "not loaded");

    part = add_part(doctor, "GPU", "recording on a GPU", get_driver);
    part->found = ask("devices", NULL, NULL, &result);
    set_line(part, *result.output ? result.output : "it does not respond");
}

/* Where the recorder looks, too (record/inject/memory/library.c). */
static void look_for_sanitizer(struct cts_doctor *doctor, const char *cuda)
{
    char sanitizer[PATH_MAX], program[PATH_MAX];
    struct cts_child_result result = {.status = 127};
    const char *const asked = getenv("CTASCOPE_SANITIZER");
    struct cts_doctor_part *const part =
        add_part(doctor, "Compute Sanitizer", "memory accesses of unmodified GPU programs",
                 "the CUDA toolkit's cuda-sanitizer package; set CUDA_HOME or CTASCOPE_SANITIZER "
                 "to its location");
    snprintf(sanitizer, sizeof sanitizer,
             "%s/{compute-sanitizer,extras/Sanitizer}/libsanitizer-public.so", cuda);
    look_for_pattern(part, (const char *const[]){asked && *asked ? asked : sanitizer,
                                                 asked && *asked ? NULL : sanitizer, NULL});
    if (!part->found) return;
    snprintf(program, sizeof program, "%s/bin/compute-sanitizer", cuda);
    cts_child_run((const char *const[]){access(program, X_OK) == 0 ? program : "compute-sanitizer",
                                        "--version", NULL},
                  CTS_DOCTOR_VERSION_TIMEOUT_S, &result);
    const char *const version = strstr(result.output, "Version ");
    const size_t length = strlen(part->detail);
    if (result.status == 0 && version && length < sizeof part->detail)
        snprintf(part->detail + length, sizeof part->detail - length, ", %.*s",
                 (int)strcspn(version, "\n"), version);
}

static void look_for_cupti(struct cts_doctor *doctor, const char *cuda)
{
    char pattern[PATH_MAX];
    struct cts_child_result result;
    struct cts_doctor_part *const part =
        add_part(doctor, "CUPTI", "timelines of GPU programs",
                 "the CUDA toolkit's cuda-cupti package; set CUDA_HOME to its location");
    snprintf(pattern, sizeof pattern, "%s/{lib64,extras/CUPTI/lib64,lib}/libcupti.so*", cuda);
    look_for_pattern(part, (const char *const[]){
                               pattern, "/usr/lib/*/libcupti.so*",
                               "/usr/lib/python3*/{site,dist}-packages/nvidia/*/lib/libcupti.so*",
                               "/usr/local/lib/python3*/{site,dist}-packages/nvidia/*/lib/"
                               "libcupti.so*",
                               NULL});
    if (!part->found || !ask("version", part->detail, "cuptiGetVersion", &result)) return;
    const size_t length = strlen(part->detail);
    snprintf(part->detail + length, sizeof part->detail - length, ", API %.*s",
             (int)strcspn(result.output, "\n"), result.output);
}

/* Ours, which the driver loads into a program; built where NVIDIA's headers were. */
static void look_for_gpu_recorders(struct cts_doctor *doctor)
{
    static const struct {
        const char *name, *purpose, *file, *needs;
    } ours[] = {
        {"GPU memory recorder", "memory accesses of unmodified GPU programs",
         "libctascope_memory.so", "a ctascope built on a machine with Compute Sanitizer's headers"},
        {"GPU patches", "memory accesses of unmodified GPU programs", "ctascope_patches.fatbin",
         "a ctascope built on a machine with nvcc"},
        {"GPU timeline recorder", "timelines of GPU programs", "libctascope_cupti.so",
         "a ctascope built on a machine with CUPTI's headers"},
    };
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        struct cts_doctor_part *const part =
            add_part(doctor, ours[i].name, ours[i].purpose, ours[i].needs);
        look_for_file(part, cts_library_directory(), ours[i].file);
    }
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof pattern, "%s/cuda-*.bc", cts_library_directory());
    look_for_pattern(add_part(doctor, "GPU device library", "GPU programs compiled by ctascope cc",
                              "the Debian package ctascope-gpu; otherwise install ctascope again"),
                     (const char *const[]){pattern, NULL});
}

static void look_for_toolkit(struct cts_doctor *doctor)
{
    char nvcc[PATH_MAX];
    const char *const cuda = cuda_directory();
    look_for_driver(doctor);
    struct cts_doctor_part *const part =
        add_part(doctor, "CUDA toolkit", "textures and the driver API in programs for a GPU",
                 "the CUDA toolkit; set CUDA_HOME to its location");
    snprintf(nvcc, sizeof nvcc, "%s/bin/nvcc", cuda);
    look_for_program(part, access(nvcc, X_OK) == 0 ? nvcc : "nvcc", "--version", "release");
    if (!part->found)
        snprintf(part->detail, sizeof part->detail, "no nvcc in '%.300s' or PATH", cuda);
    look_for_sanitizer(doctor, cuda);
    look_for_cupti(doctor, cuda);
    look_for_gpu_recorders(doctor);
}

/* ---- everything ---- */

static void look_for_cpu_device(struct cts_doctor *doctor)
{
    static const char install[] =
        "the Debian package ctascope-cpu; otherwise install ctascope again";
    const char *const library = cts_library_directory();
    const size_t first = doctor->part_count;
    look_for_program(add_part(doctor, "clang 19", "compiling CUDA sources", "apt install clang-19"),
                     "clang-19", "--version", "clang version");
    look_for_file(add_part(doctor, "plugin", "instrumenting device and host code", install),
                  library, "ctascope-plugin.so");
    look_for_file(add_part(doctor, "CPU device", "running kernels without a GPU", install), library,
                  "libctascope_cpu.so");
    look_for_file(add_part(doctor, "device library", "math functions of device code", install),
                  library, "cpu-device.bc");
    look_for_file(add_part(doctor, "headers", "CUDA's language and runtime API", install),
                  cts_share_directory(), "cpu");
    for (size_t i = first; i < doctor->part_count; i++) doctor->parts[i].needed = true;
}

void cts_doctor_look(struct cts_doctor *doctor)
{
    look_for_cpu_device(doctor);
    look_for_mpi(
        add_part(doctor, "Open MPI", "programs with several ranks", "apt install openmpi-bin"),
        (const char *const[]){"mpirun.openmpi", "mpirun", NULL}, "open-mpi", "(Open MPI) ");
    look_for_mpi(add_part(doctor, "MPICH", "programs with several ranks", "apt install mpich"),
                 (const char *const[]){"mpirun.mpich", "mpiexec.hydra", "mpirun", NULL}, "HYDRA",
                 "Version:");
    look_for_program(add_part(doctor, "OTF2 tools", "printing timelines with otf2-print",
                              "apt install otf2-tools"),
                     "otf2-print", "--version", "");
    look_for_toolkit(doctor);
}
