/* Which CUDA toolkit is installed, and whether it is one that we know. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-steps.h"

enum { NEWEST_VERSION = 13 };

/* CUDA_VERSION of the toolkit's cuda.h, 12040: 12; 0: it says none. */
static unsigned version_of(struct cc_pool *pool, const char *directory)
{
    char line[512];
    unsigned version = 0;
    FILE *const file = fopen(cc_text(pool, "%s/include/cuda.h", directory), "r");
    while (file && !version && fgets(line, sizeof line, file)) {
        static const char name[] = "#define CUDA_VERSION";
        if (strncmp(line, name, strlen(name)) == 0)
            version = (unsigned)strtoul(line + strlen(name), NULL, 10) / 1000;
    }
    if (file) fclose(file);
    return version;
}

const char *cc_look_for_toolkit(struct cc_pool *pool)
{
    const char *const candidates[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda",
                                      "/opt/cuda"};
    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++) {
        if (!candidates[i] || !*candidates[i]) continue;
        if (strcmp(candidates[i], "none") == 0) return NULL;
        const char *const header = cc_text(pool, "%s/include/cuda.h", candidates[i]);
        const char *const ours = cc_text(pool, "%s/include/ctascope_cuda.h", candidates[i]);
        /* `ctascope env` names the stand-in, which is for the CPU device. */
        if (access(header, R_OK) == 0 && access(ours, R_OK) != 0) return candidates[i];
    }
    return NULL;
}

enum cts_status cc_find_toolkit(struct cc_request *request, struct cts_error *error)
{
    struct cc_toolkit *const toolkit = &request->toolkit;
    const char *const asked = request->toolkit_asked;
    const bool wants_none = asked && strcmp(asked, "none") == 0;
    toolkit->directory = asked ? asked : cc_look_for_toolkit(&request->pool);
    if (wants_none) toolkit->directory = NULL;
    if (!toolkit->directory) {
        toolkit->version = request->cuda_version ? request->cuda_version : NEWEST_VERSION;
        return CTS_OK;
    }
    toolkit->version = version_of(&request->pool, toolkit->directory);
    if (!toolkit->version)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "'%s' is not a CUDA toolkit: '%s/include/cuda.h' does not define "
                        "CUDA_VERSION (--toolkit=none compiles without a toolkit)",
                        toolkit->directory, toolkit->directory);
    if (toolkit->version < 12 || toolkit->version > NEWEST_VERSION)
        return cts_fail(error, CTS_UNSUPPORTED,
                        "the toolkit in '%s' is CUDA %u; only CUDA 12 and 13 are supported "
                        "(--toolkit=none compiles without a toolkit)",
                        toolkit->directory, toolkit->version);
    if (request->cuda_version && request->cuda_version != toolkit->version)
        return cts_fail(error, CTS_USAGE,
                        "the toolkit in '%s' is CUDA %u, but --cuda-version asks for %u",
                        toolkit->directory, toolkit->version, request->cuda_version);
    return CTS_OK;
}
