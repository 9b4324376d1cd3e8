/* The CUDA headers that every source includes first, compiled once: two thirds of the time of a
 * small compile are theirs. `ctascope cc --precompile-headers` keeps them beside the libraries; a
 * compile uses them if its options mean the same to the headers. clang refuses precompiled headers
 * of which a file has changed since; cc-compile.c then compiles without. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cc/cc-steps.h"
#include "common/install.h"

/* Two of the host's: the headers see whether code is optimised (__OPTIMIZE__). Device code always
 * is. */
static const char *file_of(struct cc_session *session, bool for_host)
{
    const char *const level = session->request->optimisation;
    const bool optimised = level && strcmp(level, "-O0") != 0;
    return cc_text(&session->request->pool, "%s/precompiled/%s.pch", cts_library_directory(),
                   !for_host   ? "device"
                   : optimised ? "host-optimised"
                               : "host");
}

/* ---- which compiles may use them ---- */

/* What the headers find by name, but for their own directories: a user's directory may shadow it.
 */
static bool shadows_headers(struct cc_session *session, const char *directory)
{
    static const char *const names[] = {"cmath",    "cstdlib",  "stdlib.h",         "string.h",
                                        "stdio.h",  "time.h",   "limits.h",         "new",
                                        "math.h",   "stddef.h", "initializer_list", "stdint.h",
                                        "ctascope", "bits",     "features.h",       "cstdint"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (access(cc_part(session, directory, names[i]), F_OK) == 0) return true;
    return false;
}

/* Macros that a program of its own would define, and no header asks for. */
static bool is_own_macro(const char *definition)
{
    static const char *const asked_for[] = {"CUDA", "CTS", "CTASCOPE", "NV_", "NDEBUG", "DEBUG"};
    for (size_t i = 0; i < sizeof asked_for / sizeof asked_for[0]; i++)
        if (strncmp(definition, asked_for[i], strlen(asked_for[i])) == 0) return false;
    return definition[0] != '_';
}

static bool is_plain_list(struct cc_session *session, const struct cc_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *const word = list->items[i];
        const char *const value = i + 1 < list->count ? list->items[i + 1] : "";
        if (word[0] == '-' && (word[1] == 'W' || strcmp(word, "-w") == 0)) continue;
        if (strcmp(word, "-std=gnu++17") == 0) continue; /* clang 19's default */
        const bool is_folder = strcmp(word, "-I") == 0 || strcmp(word, "-isystem") == 0;
        if (!(is_folder && !shadows_headers(session, value)) &&
            !(strcmp(word, "-D") == 0 && is_own_macro(value)))
            return false;
        i++;
    }
    return true;
}

static bool is_plain(struct cc_session *session)
{
    static const char *const variables[] = {"CPATH", "CPLUS_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS"};
    const struct cc_request *const request = session->request;
    for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
        if (getenv(variables[i])) return false;
    const char *const level = request->optimisation;
    if (level && (strlen(level) != 3 || !strchr("0123", level[2]))) return false;
    return !request->for_cuda && !request->cuda_version && !request->device_debug &&
           !request->write_dependencies && !session->overlay && !request->host.count &&
           !request->device.count && !request->machine.count &&
           is_plain_list(session, &request->shared);
}

bool cc_find_precompiled(struct cc_session *session)
{
    const char *const device = file_of(session, false), *const host = file_of(session, true);
    if (!is_plain(session) || access(device, R_OK) != 0 || access(host, R_OK) != 0) return false;
    session->precompiled_device = device;
    session->precompiled_host = host;
    return true;
}

/* ---- making them ---- */

static int precompile(struct cc_session *session, bool for_host)
{
    struct cc_pool *const pool = &session->request->pool;
    const char *const file = file_of(session, for_host);
    const char *const fresh = cc_text(pool, "%s.%ld", file, (long)getpid());
    struct cc_process process = {0};
    cc_open_own(session, &process, for_host ? "--cuda-host-only" : "--cuda-device-only",
                CC_CPU_ARCHITECTURE);
    if (for_host)
        cc_add_host_options(session, &process);
    else
        cc_add(&process, "--cuda-feature=+ptx83", cc_device_optimisation(session->request));
    cc_add(&process, "-fsyntax-only", NULL);
    cc_add(&process, "-Xclang", "-emit-pch");
    cc_add(&process, "-Xclang", "-o");
    cc_add(&process, "-Xclang", fresh);
    cc_close_cuda(&process, &(struct cc_input){.path = "/dev/null"}, NULL);
    const int status = cc_process_run(session, &process);
    if (status == 0 && rename(fresh, file) == 0) return 0;
    unlink(fresh);
    return status ? status : 1;
}

int cc_precompile_headers(struct cc_session *session)
{
    struct cc_request *const request = session->request;
    const char *const folder = cc_part(session, cts_library_directory(), "precompiled");
    mkdir(folder, 0777);
    if (access(folder, W_OK) != 0) {
        fprintf(stderr, "ctascope cc: cannot write to '%s'\n", folder);
        return 1;
    }
    int status = precompile(session, false);
    for (int i = 0; i < 2 && status == 0; i++) {
        request->optimisation = i ? "-O2" : NULL;
        status = precompile(session, true);
    }
    return status;
}
