/* `ctascope cc`: a compiler driver in nvcc's or clang++'s place. What its files share.
 *
 *   cc-list.c      lists of words
 *   cc-table.c     the options of nvcc, of clang and our own: one table
 *   cc-options.c   the command line, with that table; cc-options-file.c: words from files
 *   cc-process.c   running compilers: environment, temporary files, signals
 *   cc-tolerate.c  what nvcc takes and clang does not
 *   cc-compile.c   from one source to one object, for the CPU device
 *   cc-precompiled.c  the headers that all sources include first, compiled once
 *   cc-cuda.c      the same for GPUs, with a toolkit and without one
 *   cc-toolkit.c   which toolkit is installed
 *   cc-explain.c   what is not supported, and what to do
 *   verb-cc.c      the whole: sources, objects, link
 *
 * All texts belong to the request's pool and live as long as the request. */
#ifndef CTS_CC_CC_H
#define CTS_CC_CC_H

#include <stdbool.h>
#include <stddef.h>

#include "common/error.h"

/* A growing list of borrowed texts. Where it has any, NULL follows the last, as exec wants it. */
struct cc_list {
    const char **items;
    size_t count, capacity;
};

/* Texts that are freed together. */
struct cc_pool {
    char **texts;
    size_t count, capacity;
};

enum cc_stage {
    CC_LINK, /* the default */
    CC_OBJECT,
    CC_PREPROCESS,
    CC_DEPENDENCIES, /* -M, -MM */
    CC_DEVICE_LINK,  /* -dlink: nothing to do for the CPU but to write an empty object */
    CC_LIBRARY,      /* nvcc's -lib */
    CC_PRECOMPILE,   /* our headers */
    CC_VERSION,
    CC_HELP
};

enum cc_language { CC_LINKER_INPUT, CC_CUDA, CC_C, CC_CXX, CC_OTHER };

struct cc_input {
    const char *path;
    enum cc_language language;
    const char *clang_language; /* clang's -x for a language given by -x; NULL: by suffix */
};

/* What a command line asks for. */
struct cc_request {
    struct cc_pool pool;
    enum cc_stage stage;
    bool for_cuda;
    const char *output; /* -o, or NULL */
    const char *module; /* -fatbin, -cubin, -ptx without dashes: what cuModuleLoad() takes; NULL */
    const char *directory; /* -odir, or NULL */
    struct cc_input *inputs;
    size_t input_count, input_capacity;

    struct cc_list shared;  /* for every compile of a source: -I -D -std -W ... */
    struct cc_list host;    /* host compiles only: -fPIC -fopenmp -Xcompiler ... */
    struct cc_list device;  /* the first compile of device code only */
    struct cc_list machine; /* what decides host instructions: -march -m..., host and retarget */
    struct cc_list link;    /* the link, in order; inputs stand in it as themselves */
    struct cc_list architectures; /* sm_90, ... for --device=cuda */

    const char *optimisation; /* -O as given, or NULL */
    bool debug, device_debug, verbose, dry_run, separate_units;
    bool write_dependencies;         /* -MD, -MMD */
    bool user_headers_only;          /* -MM, -MMD */
    const char *dependency_file;     /* -MF */
    struct cc_list dependency_flags; /* -MT X, -MQ X, -MP */

    bool instrument, locals, values, host_accesses;
    bool strict;                   /* CPU device: an integer division by zero is a fault */
    const char *kernels, *sources; /* regular expressions or NULL */
    const char *keep;              /* directory for intermediate files, or NULL */

    /* --device=cuda */
    const char *toolkit_asked; /* --toolkit: a directory or "none"; NULL: what is found */
    unsigned cuda_version;     /* --cuda-version: 12 or 13; 0: not given */
    struct cc_toolkit {
        const char *directory; /* NULL: none; our own headers are used */
        unsigned version;      /* 12: 12.x */
    } toolkit;                 /* cc_find_toolkit */
};

/* Parses the arguments between those of NVCC_PREPEND_FLAGS and NVCC_APPEND_FLAGS; CTS_USAGE names
 * the first option that is not known or has no value. */
CTS_MUST_CHECK enum cts_status cc_request_parse(struct cc_request *request, int argument_count,
                                                char *const *arguments, struct cts_error *error);
void cc_request_release(struct cc_request *request);

/* ---- lists; without memory they end the process ---- */

/* `array` with room for `count` items, moved or not; *capacity is what it now has room for. */
void *cc_grow(void *array, size_t *capacity, size_t count, size_t size_bytes);
/* A formatted text that lives as long as the pool. */
const char *cc_text(struct cc_pool *pool, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void cc_list_add(struct cc_list *list, const char *text);
void cc_list_add_all(struct cc_list *list, const struct cc_list *more);
void cc_list_release(struct cc_list *list);
void cc_pool_release(struct cc_pool *pool);
/* Adds the words of an options file, parted by blanks, with a shell's quotes and backslashes; the
 * pool keeps their texts. CTS_IO, CTS_LIMIT (16 MiB). */
CTS_MUST_CHECK enum cts_status cc_read_options_file(struct cc_pool *pool, const char *path,
                                                    struct cc_list *words, struct cts_error *error);

/* Adds the words of a text, parted the same way. */
void cc_split_words(struct cc_pool *pool, const char *text, struct cc_list *words);

/* ---- running compilers ---- */

struct cc_session {
    struct cc_request *request;
    const char *directory;       /* for intermediate files */
    const char *clang, *clangxx; /* paths */
    const char *overlay;         /* of the source being compiled (cc_tolerate), or NULL */
    /* The headers that a source includes first (cc_find_precompiled), or NULL: not precompiled. */
    const char *precompiled_device, *precompiled_host;
    struct cc_list created; /* files to remove at the end */
};

CTS_MUST_CHECK enum cts_status cc_session_open(struct cc_session *session,
                                               struct cc_request *request, struct cts_error *error);
/* Removes the intermediate files, unless they are to be kept. */
void cc_session_close(struct cc_session *session);
/* "<directory>/<stem of source>.<suffix>", to be removed at the end. */
const char *cc_session_file(struct cc_session *session, const char *source, const char *suffix);

/* One child. Settings are "NAME=value" texts; CTS_* of our own environment is not passed on. */
struct cc_process {
    struct cc_list command, settings;
    const char *messages; /* file that takes its stderr, or NULL: ours */
    int pid, status;      /* status: exit code, 128 + signal; 0 before */
};
void cc_process_start(struct cc_session *session, struct cc_process *process);
int cc_process_wait(struct cc_process *process);
/* Starts and waits, then releases the lists. */
int cc_process_run(struct cc_session *session, struct cc_process *process);
void cc_process_release(struct cc_process *process);
/* The signal that asked us to stop, or 0. */
int cc_stopped(void);

/* Does what the request asks for: all of it, or the first step that fails. Returns the exit status.
 */
int cc_request_run(struct cc_session *session);

/* ---- steps ---- */

/* Compiles one CUDA source. Its object, or for the CPU its objects (host and device), are added to
 * `objects`. Returns a compiler's status. */
int cc_compile_cuda(struct cc_session *session, const struct cc_input *input,
                    struct cc_list *objects, const char *object_name);
/* Preprocesses or lists the dependencies of a CUDA source. */
int cc_preprocess_cuda(struct cc_session *session, const struct cc_input *input);
/* Everything that a plain C or C++ compile needs but inputs and outputs. */
void cc_plain_command(struct cc_session *session, const struct cc_input *input,
                      struct cc_process *process);
void cc_add_dependency_options(struct cc_session *session, struct cc_list *command,
                               const char *object_name);
void cc_add_settings(struct cc_session *session, struct cc_process *process, const char *step,
                     const char *unit);
/* An identifier of the translation unit: from its absolute path, its output and the options. */
const char *cc_unit(struct cc_session *session, const struct cc_input *input,
                    const char *object_name);
/* Decides which toolkit compiles for a GPU, or that none does: request->toolkit. */
CTS_MUST_CHECK enum cts_status cc_find_toolkit(struct cc_request *request, struct cts_error *error);
/* What programs for a GPU are linked with, behind everything else. */
void cc_add_gpu_libraries(struct cc_session *session, struct cc_list *command);
/* Whether -lNAME names what is left out of such a link: the runtime, in place of which stands ours.
 */
bool cc_is_toolkit_library(const struct cc_request *request, const char *word);

#endif
