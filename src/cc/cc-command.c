/* The words of compile commands, for the CPU device (cc-compile.c) and for GPUs (cc-cuda.c): what
 * both ask of clang, of the plugin and of the program's own options. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-steps.h"
#include "common/hash.h"
#include "common/install.h"

/* ---- identity ---- */

static uint64_t hash_list(uint64_t hash, const struct cc_list *list)
{
    for (size_t i = 0; i < list->count; i++) hash = cts_hash_text(hash, list->items[i]);
    return cts_hash_text(hash, "");
}

const char *cc_unit(struct cc_session *session, const struct cc_input *input,
                    const char *object_name)
{
    struct cc_request *const request = session->request;
    char absolute[PATH_MAX];
    const char *const path = realpath(input->path, absolute) ? absolute : input->path;
    uint64_t hash = cts_hash_text(CTS_HASH_START, path);
    hash = cts_hash_text(hash, object_name);
    hash = hash_list(hash, &request->shared);
    hash = hash_list(hash, &request->host);
    hash = hash_list(hash, &request->device);
    hash = cts_hash_text(hash, request->optimisation);
    return cc_text(&request->pool, "tu%016llx", (unsigned long long)hash);
}

/* ---- commands ---- */

const char *cc_part(struct cc_session *session, const char *directory, const char *name)
{
    return cc_text(&session->request->pool, "%s/%s", directory, name);
}

void cc_add(struct cc_process *process, const char *first, const char *second)
{
    cc_list_add(&process->command, first);
    if (second) cc_list_add(&process->command, second);
}

void cc_add_settings(struct cc_session *session, struct cc_process *process, const char *step,
                     const char *unit)
{
    struct cc_request *const request = session->request;
    struct cc_list *const list = &process->settings;
    cc_list_add(list, request->for_cuda ? "CTS_DEVICE=cuda" : "CTS_DEVICE=cpu");
    cc_list_add(list, cc_text(&request->pool, "CTS_STEP=%s", step));
    cc_list_add(list, cc_text(&request->pool, "CTS_TU=%s", unit));
    /* No name matches 'a^': every kernel is left alone. */
    const char *const kernels = request->instrument ? request->kernels : "a^";
    if (kernels) cc_list_add(list, cc_text(&request->pool, "CTS_KERNELS=%s", kernels));
    if (request->sources)
        cc_list_add(list, cc_text(&request->pool, "CTS_SOURCES=%s", request->sources));
    if (request->locals) cc_list_add(list, "CTS_LOCALS=1");
    if (request->strict) cc_list_add(list, "CTS_STRICT=1");
    if (request->values) cc_list_add(list, "CTS_VALUES=1");
    if (request->host_accesses) cc_list_add(list, "CTS_HOST_ACCESSES=1");
    if (request->separate_units) cc_list_add(list, "CTS_RDC=1");
    if (request->debug || request->device_debug) cc_list_add(list, "CTS_DEBUG=1");
}

void cc_add_plugin(struct cc_session *session, struct cc_process *process)
{
    const char *const plugin = cc_part(session, cts_library_directory(), "ctascope-plugin.so");
    cc_add(process, cc_text(&session->request->pool, "-fpass-plugin=%s", plugin), NULL);
}

void cc_add_colours(struct cc_process *process)
{
    if (isatty(STDERR_FILENO) && !getenv("NO_COLOR")) cc_add(process, "-fcolor-diagnostics", NULL);
}

/* Warp code passes on variables that only one lane has set: if (lane == leader) n = atomicAdd(...);
 * n = __shfl_sync(mask, n, leader). clang would conclude that every lane that calls has set it, and
 * drop the condition. */
void cc_add_device_dialect(struct cc_process *process)
{
    cc_add(process, "-Xclang", "-no-enable-noundef-analysis");
}

void cc_add_tolerances(struct cc_session *session, struct cc_process *process)
{
    /* Errors of clang that nvcc's host compiler warns of, or says nothing of. */
    static const char *const kinds[] = {
        "register", "c++11-narrowing", "reserved-user-defined-literal", "enum-constexpr-conversion",
        "missing-template-arg-list-after-template-kw"};
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        cc_add(process, cc_text(&session->request->pool, "-Wno-error=%s", kinds[i]), NULL);
    cc_add(process, "-Xclang", "-fcuda-allow-variadic-functions");
    if (session->overlay) cc_add(process, "-ivfsoverlay", session->overlay);
}

/* Thrust, CUB and libcu++ are headers only: those of an installed toolkit serve us, too, unless
 * Debian's packages of them are there, which the compiler finds by itself. */
static void add_core_libraries(struct cc_session *session, struct cc_process *process)
{
    struct cc_request *const request = session->request;
    const char *const asked = request->toolkit_asked;
    const char *const toolkit = asked ? asked : cc_look_for_toolkit(&request->pool);
    if (!toolkit) return;
    const char *const folder = cc_text(&request->pool, "%s/include/cccl", toolkit);
    if (access(folder, R_OK) == 0) cc_add(process, "-idirafter", folder);
}

/* The CPU device shows the API of CUDA 12 unless the command line asks for 13. */
void cc_add_cuda_version(struct cc_session *session, struct cc_process *process)
{
    const unsigned version = session->request->cuda_version;
    if (version && !session->request->for_cuda)
        cc_add(process, cc_text(&session->request->pool, "-DCTS_CUDA_VERSION=%u", version), NULL);
}

/* What every source includes first. */
static void add_own_headers(struct cc_process *process, const char *precompiled)
{
    if (precompiled) {
        cc_add(process, "-Xclang", "-include-pch");
        cc_add(process, "-Xclang", precompiled);
    } else {
        cc_add(process, "-include", "ctascope_cuda.h");
    }
}

/* clang in CUDA mode with our headers in place of a toolkit's. */
void cc_open_own(struct cc_session *session, struct cc_process *process, const char *side,
                 const char *architecture)
{
    const char *const headers = cc_part(session, cts_share_directory(), "cpu");
    cc_add(process, session->clangxx, side);
    cc_add(process, "-nocudainc", "-nocudalib");
    cc_add(process, "--cuda-path=/nonexistent", NULL);
    cc_add(process, cc_text(&session->request->pool, "--cuda-gpu-arch=%s", architecture), NULL);
    cc_add(process, "-Xclang", "-target-sdk-version=12.3");
    cc_add(process, "-Wno-unknown-cuda-version", NULL);
    cc_add(process, "-isystem", headers);
    add_own_headers(process, strcmp(side, "--cuda-host-only") == 0 ? session->precompiled_host
                                                                   : session->precompiled_device);
    cc_add_cuda_version(session, process);
    cc_add_tolerances(session, process);
    add_core_libraries(session, process);
    cc_add_colours(process);
    cc_list_add_all(&process->command, &session->request->shared);
}

void cc_close_cuda(struct cc_process *process, const struct cc_input *input, const char *output)
{
    cc_add(process, "-Wno-c11-extensions", NULL); /* cc-tolerate.c writes _Alignas */
    cc_add(process, "-x", "cuda");
    cc_add(process, input->path, NULL);
    if (output) cc_add(process, "-o", output);
}

const char *cc_device_optimisation(const struct cc_request *request)
{
    if (request->device_debug) return "-O1";
    return request->optimisation && strcmp(request->optimisation, "-Ofast") == 0 ? "-O3" : "-O2";
}

void cc_add_dependency_options(struct cc_session *session, struct cc_list *command,
                               const char *object_name)
{
    struct cc_request *const request = session->request;
    if (!request->write_dependencies) return;
    cc_list_add(command, request->user_headers_only ? "-MMD" : "-MD");
    const char *const dot = strrchr(object_name, '.'), *const slash = strrchr(object_name, '/');
    const int stem =
        (int)(dot && (!slash || dot > slash) ? (size_t)(dot - object_name) : strlen(object_name));
    cc_list_add(command, "-MF");
    cc_list_add(command, request->dependency_file
                             ? request->dependency_file
                             : cc_text(&request->pool, "%.*s.d", stem, object_name));
    bool has_target = false;
    for (size_t i = 0; i < request->dependency_flags.count; i++)
        has_target |= strcmp(request->dependency_flags.items[i], "-MP") != 0;
    if (!has_target) {
        cc_list_add(command, "-MT");
        cc_list_add(command, object_name);
    }
    cc_list_add_all(command, &request->dependency_flags);
}

void cc_add_host_options(struct cc_session *session, struct cc_process *process)
{
    struct cc_request *const request = session->request;
    cc_list_add_all(&process->command, &request->host);
    cc_list_add_all(&process->command, &request->machine);
    if (request->optimisation) cc_add(process, request->optimisation, NULL);
    if (request->debug) cc_add(process, "-g", NULL);
}
