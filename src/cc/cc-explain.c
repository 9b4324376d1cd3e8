/* The two lines that end a compile or link which failed for something that we do not have: what it
 * is, and what to do. Other errors are the program's own, and their messages say enough. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cc/cc-steps.h"

static const char gpu_advice[] = "compile for a GPU ('ctascope cc --device=cuda'), or leave that "
                                 "part out (#ifndef __CTASCOPE__)";

/* A message that holds `mark` is about what stands between `open` and the next `close` behind the
 * mark (both NULL: `what` itself). If `prefixes` is given, only names that begin with one of its
 * words, parted by blanks, are ours to explain. */
struct explanation {
    const char *mark, *open, *close, *prefixes;
    const char *what, *advice;
};

static const struct explanation explanations[] = {
    {.mark = " is not supported on the CPU device",
     .open = "error: ",
     .close = " is not supported on the CPU device",
     .what = "%s",
     .advice = gpu_advice},
    {.mark = " are not supported on the CPU device",
     .open = "error: ",
     .close = " are not supported on the CPU device",
     .what = "%s",
     .advice = gpu_advice},
    {.mark = "reference to __global__ function",
     .what = "launches from device code (dynamic parallelism)",
     .advice = gpu_advice},
    {.mark = "' file not found",
     .open = "error: '",
     .close = "'",
     .prefixes = "thrust/ cub/ cuda/ nv/",
     .what = "<%s>: no CCCL (Thrust, CUB, libcu++) is installed",
     .advice = "install it (Debian: apt install libthrust-dev libcub-dev libcu++-dev; or a CUDA "
               "toolkit in /usr/local/cuda), or name its folder with -I"},
    {.mark = "' file not found",
     .open = "error: '",
     .close = "'",
     .prefixes = "cublas cudnn cufft curand cusparse cusolver cutlass/ cute/ nccl npp nvjpeg nvml "
                 "nvrtc nvJitLink cuda_gl_interop cudaGL cuda_awbarrier cuda_fp4 "
                 "cuda_fp6 cutensor "
                 "optix GL/",
     .what = "<%s>, a header that ctascope does not have",
     .advice = gpu_advice},
    {.mark = "use of undeclared identifier '",
     .open = "use of undeclared identifier '",
     .close = "'",
     .prefixes = "cuda cu __ CU_ CUDA_ CUDART_ nvcuda",
     .what = "%s, which the CPU device does not have",
     .advice = gpu_advice},
    {.mark = "no matching function for call to 'cuda",
     .open = "no matching function for call to '",
     .close = "'",
     .prefixes = "cudaMemPrefetchAsync cudaMemAdvise cudaGraphExecUpdate cudaGraphGetEdges "
                 "cudaGraphAddDependencies cudaGraphRemoveDependencies cudaGraphNodeGet "
                 "cudaStreamGetCaptureInfo cudaStreamUpdateCaptureDependencies",
     .what = "%s with these arguments, which CUDA 12 and 13 declare differently",
     .advice = "compile for the CUDA version that the program was written for: '--cuda-version=12' "
               "(the default) or '--cuda-version=13'"},
    {.mark = "unknown type name '",
     .open = "unknown type name '",
     .close = "'",
     .prefixes = "cublas curand cufft cusparse cusolver",
     .what = "%s, which the CPU device does not have",
     .advice = gpu_advice},
    {.mark = "undefined reference to `",
     .open = "undefined reference to `",
     .close = "'",
     .prefixes = "cuda cublas cudnn cufft curand cusparse cusolver nccl nvrtc npp nvml cu",
     .what = "%s, which ctascope's runtime does not have",
     .advice = gpu_advice},
    {.mark = "cannot find -l",
     .open = "cannot find -l",
     .close = ":",
     .prefixes = "cu nv npp nccl",
     .what = "the library %s",
     .advice = gpu_advice},
};

static bool has_prefix(const char *name, const char *prefixes)
{
    while (prefixes && *prefixes) {
        const size_t length = strcspn(prefixes, " ");
        if (strncmp(name, prefixes, length) == 0) return true;
        prefixes += length;
        prefixes += strspn(prefixes, " ");
    }
    return !prefixes;
}

/* Whether one line of a compiler's messages is what the explanation is for; then prints. */
static bool explain_line(const char *line, const struct explanation *explanation)
{
    char name[160] = "";
    if (!strstr(line, explanation->mark)) return false;
    if (explanation->open) {
        const char *const open = strstr(line, explanation->open);
        if (!open) return false;
        const char *start = open + strlen(explanation->open);
        if (*start == '"') start++; /* of an #error of ours */
        const char *const end = strstr(start, explanation->close);
        const size_t length = end ? (size_t)(end - start) : strcspn(start, "\n");
        if (!length || !has_prefix(start, explanation->prefixes)) return false;
        snprintf(name, sizeof name, "%.*s", (int)length, start);
    }
    fputs("ctascope cc: not supported: ", stderr);
    for (const char *at = explanation->what; *at; at++) {
        if (at[0] == '%' && at[1] == 's') {
            fputs(name, stderr);
            at++;
        } else {
            putc(*at, stderr);
        }
    }
    fprintf(stderr, "\nctascope cc: what to do: %s\n", explanation->advice);
    return true;
}

bool cc_explain(const char *messages)
{
    char *const text = strdup(messages);
    char *rest = text;
    bool explained = false;
    for (char *line; text && !explained && (line = strsep(&rest, "\n"));)
        for (size_t i = 0; i < sizeof explanations / sizeof explanations[0] && !explained; i++)
            explained = explain_line(line, &explanations[i]);
    free(text);
    return explained;
}
