/* From one CUDA source to its object for an NVIDIA GPU, and what the link needs.
 *
 *     source --device--> K.ptx --> K.fatbin --host--> K.o
 *
 * With a toolkit (12 or 13) its headers are used, its device library, and the static runtime.
 * Without one, ours: the CPU device's headers, of which CTS_CUDART makes those of NVIDIA's runtime;
 * cuda-library.bc, which the plugin links; and a library of the runtime's name that has nothing but
 * its functions' names, so that the real one is found where the program runs.
 *
 * The host compile calls __cts_allocation_hint() with the names of allocations: record/cuda/hint.c.
 */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-fatbin.h"
#include "cc/cc-steps.h"
#include "common/install.h"

/* ---- commands ---- */

static const char *architecture_of(const struct cc_request *request)
{
    return request->architectures.count ? request->architectures.items[0] : "sm_75";
}

/* One stream per thread is clang's word, too: for launches. */
static void add_default_stream(struct cc_session *session, struct cc_process *process)
{
    const struct cc_list *const shared = &session->request->shared;
    for (size_t i = 0; i < shared->count; i++)
        if (strstr(shared->items[i], "CUDA_API_PER_THREAD_DEFAULT_STREAM")) {
            cc_add(process, "-Xclang", "-fgpu-default-stream=per-thread");
            cc_add(process, "-Wno-macro-redefined", NULL);
        }
}

static const char *runtime_define(struct cc_session *session)
{
    struct cc_request *const request = session->request;
    return cc_text(&request->pool, "-DCTS_CUDART=%u", request->toolkit.version);
}

void cc_open_for_gpu(struct cc_session *session, struct cc_process *process, const char *side)
{
    struct cc_request *const request = session->request;
    struct cc_pool *const pool = &request->pool;
    const char *const toolkit = request->toolkit.directory;
    if (!toolkit) {
        cc_open_own(session, process, side, architecture_of(request));
        cc_add(process, runtime_define(session), NULL);
        add_default_stream(session, process);
        return;
    }
    cc_add(process, session->clangxx, side);
    cc_add(process, cc_text(pool, "--cuda-path=%s", toolkit), NULL);
    cc_add(process, cc_text(pool, "--cuda-gpu-arch=%s", architecture_of(request)),
           "-Wno-unknown-cuda-version");
    if (request->toolkit.version >= 13) {
        /* clang 19 asks toolkit 13 for a header that it no longer has */
        cc_add(process, "-isystem", cc_part(session, cts_share_directory(), "cuda"));
        cc_add(process, "-isystem", cc_text(pool, "%s/include/cccl", toolkit));
    }
    cc_add_tolerances(session, process);
    cc_add_colours(process);
    cc_list_add_all(&process->command, &request->shared);
    add_default_stream(session, process);
}

void cc_add_runtime_headers(struct cc_session *session, struct cc_process *process)
{
    const struct cc_toolkit *const toolkit = &session->request->toolkit;
    if (toolkit->directory) {
        cc_add(process, "-idirafter", cc_part(session, toolkit->directory, "include"));
        return;
    }
    cc_add(process, "-idirafter", cc_part(session, cts_share_directory(), "cpu"));
    cc_add(process, runtime_define(session), NULL);
}

/* To PTX, which the driver compiles for its GPU. The plugin puts the producer in. */
static void ptx_command(struct cc_session *session, const struct cc_input *input, const char *unit,
                        const char *output, struct cc_process *process)
{
    struct cc_pool *const pool = &session->request->pool;
    const char *const libraries = cts_library_directory();
    cc_open_for_gpu(session, process, "--cuda-device-only");
    if (!session->request->toolkit.directory)
        /* CUDA 12.0's PTX. Products and sums of the program's become one operation, as with a
         * toolkit; those of the library, which counts on their errors, do not. */
        cc_add(process, "--cuda-feature=+ptx80", "-ffp-contract=fast-honor-pragmas");
    cc_list_add_all(&process->command, &session->request->device);
    cc_add(process, cc_device_optimisation(session->request), NULL);
    cc_add_device_dialect(process);
    cc_add(process, "-Xclang", "-debug-info-kind=limited");
    /* What is sunk behind the producer's branches keeps its operands in registers until there. */
    cc_add(process, "-mllvm", "-disable-machine-sink");
    cc_add_plugin(session, process);
    cc_add(process, "-S", NULL);
    cc_close_cuda(process, input, output);
    cc_add_settings(session, process, "device", unit);
    const char *const producer = cc_part(session, libraries, "cuda-producer.bc");
    cc_list_add(&process->settings, cc_text(pool, "CTS_PRODUCER=%s", producer));
    if (session->request->toolkit.directory) return;
    const char *const library = cc_part(session, libraries, "cuda-library.bc");
    cc_list_add(&process->settings, cc_text(pool, "CTS_LIBRARY=%s", library));
}

/* What the host's half is made of and compiled to. */
struct host_half {
    const char *unit;        /* the name that joins it with the device's half */
    const char *fatbin;      /* the device's half */
    const char *output;      /* the file that the compiler writes */
    const char *object_name; /* the object that the user sees: make's dependencies name it */
};

static void host_command(struct cc_session *session, const struct cc_input *input,
                         const struct host_half *half, struct cc_process *process)
{
    cc_open_for_gpu(session, process, "--cuda-host-only");
    cc_add_host_options(session, process);
    if (session->request->instrument) cc_add(process, "-Xclang", "-debug-info-kind=constructor");
    if (session->request->instrument) cc_add_plugin(session, process);
    cc_add(process, "-Xclang", "-fcuda-include-gpubinary");
    cc_add(process, "-Xclang", half->fatbin);
    cc_add_dependency_options(session, &process->command, half->object_name);
    cc_add(process, "-c", NULL);
    cc_close_cuda(process, input, half->output);
    cc_add_settings(session, process, "host", half->unit);
}

/* ---- the fat binary ---- */

/* clang 19 calls fatbinary with options that toolkit 13's no longer knows: we call it ourselves. */
static int call_fatbinary(struct cc_session *session, const char *program, const char *ptx,
                          const char *output)
{
    struct cc_pool *const pool = &session->request->pool;
    struct cc_process process = {0};
    cc_add(&process, program, "--64");
    cc_add(&process, cc_text(pool, "--create=%s", output), NULL);
    cc_add(&process,
           cc_text(pool, "--image3=kind=ptx,sm=%s,file=%s", architecture_of(session->request) + 3,
                   ptx),
           NULL);
    return cc_process_run(session, &process);
}

static char *read_text(const char *path)
{
    FILE *const file = fopen(path, "r");
    if (!file) return NULL;
    char *text = NULL;
    size_t size_bytes = 0;
    if (getdelim(&text, &size_bytes, '\0', file) < 0) {
        free(text);
        text = NULL;
    }
    fclose(file);
    return text;
}

static enum cts_status write_file(const char *path, const struct cts_buffer *content,
                                  struct cts_error *error)
{
    FILE *const file = fopen(path, "w");
    bool is_done =
        file && fwrite(content->data, 1, content->size_bytes, file) == content->size_bytes;
    if (file && fclose(file)) is_done = false;
    return is_done ? CTS_OK : cts_fail(error, CTS_IO, "cannot write '%s'", path);
}

static int pack(struct cc_session *session, const struct cc_input *input, const char *ptx,
                const char *output)
{
    struct cc_request *const request = session->request;
    struct cts_error error = {0};
    char name[256];
    if (request->dry_run) return 0;
    char *const text = read_text(ptx);
    struct cts_buffer fatbin = {0};
    enum cts_status status = CTS_OK;
    if (!text)
        status = cts_fail(&error, CTS_IO, "cannot read '%s'", ptx);
    else if (!request->toolkit.directory && cc_ptx_missing(text, name, sizeof name))
        status = cts_fail(&error, CTS_UNSUPPORTED,
                          "its device code calls '%s', which neither it nor ctascope's device "
                          "library defines; set CUDA_HOME if a CUDA toolkit defines it",
                          name);
    if (!status) status = cc_fatbin(text, architecture_of(request), &fatbin, &error);
    if (!status) status = write_file(output, &fatbin, &error);
    if (status) fprintf(stderr, "ctascope cc: '%s': %s\n", input->path, error.text);
    cts_buffer_release(&fatbin);
    free(text);
    return status ? 1 : 0;
}

static int make_fatbin(struct cc_session *session, const struct cc_input *input, const char *ptx,
                       const char *output)
{
    const char *const toolkit = session->request->toolkit.directory;
    const char *const program = toolkit ? cc_part(session, toolkit, "bin/fatbinary") : NULL;
    return program && access(program, X_OK) == 0 ? call_fatbinary(session, program, ptx, output)
                                                 : pack(session, input, ptx, output);
}

/* ---- the steps ---- */

static bool is_possible(const struct cc_request *request, const struct cc_input *input)
{
    if (request->separate_units)
        fprintf(
            stderr,
            "ctascope cc: '%s': --device=cuda cannot link device code of several files (-rdc)\n",
            input->path);
    else if (request->values)
        fprintf(stderr, "ctascope cc: '%s': --values is supported with --device=cpu only\n",
                input->path);
    return !request->separate_units && !request->values;
}

int cc_compile_for_gpu(struct cc_session *session, const struct cc_input *input,
                       struct cc_list *objects, const char *object_name)
{
    struct cc_request *const request = session->request;
    if (!is_possible(request, input)) return 1;
    const char *const unit = cc_unit(session, input, object_name);
    const char *const ptx = cc_session_file(session, input->path, "ptx");
    const char *const fatbin = cc_session_file(session, input->path, "fatbin");
    const char *const output =
        request->stage == CC_LINK ? cc_session_file(session, input->path, "o") : object_name;
    struct cc_process device = {0}, host = {0};
    ptx_command(session, input, unit, ptx, &device);
    const struct host_half half = {unit, fatbin, output, object_name};
    host_command(session, input, &half, &host);
    int status = cc_process_run(session, &device);
    if (!status) status = make_fatbin(session, input, ptx, fatbin);
    if (!status)
        status = cc_process_run(session, &host);
    else
        cc_process_release(&host);
    if (status == 0 && request->stage == CC_LINK) cc_list_add(objects, output);
    return status;
}

/* ---- the link ---- */

bool cc_is_toolkit_library(const struct cc_request *request, const char *word)
{
    static const char *const own[] = {"-lcudart", "-lcudart_static", "-lcuda", "-lcudadevrt",
                                      "-lnvToolsExt"};
    for (size_t i = 0; i < sizeof own / sizeof own[0] && !request->toolkit.directory; i++)
        if (strcmp(own[i], word) == 0) return true;
    return false;
}

static void add_rpath(struct cc_list *command, const char *directory)
{
    const char *const words[] = {"-Xlinker", "-rpath", "-Xlinker", directory};
    for (size_t i = 0; i < 4; i++) cc_list_add(command, words[i]);
}

void cc_add_gpu_libraries(struct cc_session *session, struct cc_list *command)
{
    struct cc_request *const request = session->request;
    struct cc_pool *const pool = &request->pool;
    const char *const libraries = cts_library_directory();
    const struct cc_toolkit *const toolkit = &request->toolkit;
    cc_list_add(command, "-Wl,-u,__cts_allocation_hint");
    cc_list_add(command, cc_part(session, libraries, "libctascope_hint.a"));
    if (toolkit->directory) {
        /* static, so that the program runs on a machine with a driver and no toolkit */
        cc_list_add(command, cc_text(pool, "-L%s/lib64", toolkit->directory));
        cc_list_add(command, "-lcudart_static");
    } else {
        cc_list_add(command,
                    cc_text(pool, "%s/cudart-%u/libcudart.so", libraries, toolkit->version));
        add_rpath(command, cc_text(pool, "/usr/local/cuda-%u/lib64", toolkit->version));
        add_rpath(command, "/usr/local/cuda/lib64");
    }
    cc_list_add(command, "-ldl");
    cc_list_add(command, "-lrt");
    cc_list_add(command, "-lpthread");
}
