/* The command line of `ctascope cc`. One table holds the options of nvcc and of clang that we know:
 * how they take their value, and where they go. nvcc's long names become clang's short ones. What
 * is not in the table is refused by name, except after -forward-unknown-to-host-compiler. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cc.h"

/* ---- lists and texts ---- */

static void *grow(void *array, size_t *capacity, size_t count, size_t size_bytes)
{
    if (count <= *capacity) return array;
    *capacity = *capacity ? *capacity * 2 : 16;
    array = reallocarray(array, *capacity, size_bytes);
    if (!array) {
        fputs("ctascope cc: out of memory\n", stderr);
        abort();
    }
    return array;
}

const char *cc_text(struct cc_pool *pool, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    char *text = NULL;
    if (vasprintf(&text, format, arguments) < 0) abort();
    va_end(arguments);
    pool->texts = grow(pool->texts, &pool->capacity, pool->count + 1, sizeof *pool->texts);
    pool->texts[pool->count++] = text;
    return text;
}

void cc_list_add(struct cc_list *list, const char *text)
{
    list->items = grow(list->items, &list->capacity, list->count + 2, sizeof *list->items);
    list->items[list->count++] = text;
    list->items[list->count] = NULL;
}

void cc_list_add_all(struct cc_list *list, const struct cc_list *more)
{
    for (size_t i = 0; i < more->count; i++) cc_list_add(list, more->items[i]);
}

void cc_list_release(struct cc_list *list)
{
    free(list->items);
    *list = (struct cc_list){0};
}

/* ---- the table ---- */

enum form {
    FLAG,     /* exactly the name */
    PREFIX,   /* anything that starts with the name; passed on as it is */
    VALUE,    /* NAME VALUE or NAME=VALUE */
    JOINED,   /* NAMEVALUE or NAME VALUE; nvcc's NAME=VALUE too where `equals` is set */
    EQUALS,   /* NAME=VALUE only */
    OPTIONAL, /* NAME or NAME=VALUE */
};

enum place {
    IGNORED,
    SHARED,  /* every compile */
    HOST,    /* host compiles */
    DEVICE,  /* the first compile of device code */
    MACHINE, /* host and retarget */
    LINKED,  /* the link */
    HOST_AND_LINK,
    REFUSED, /* known, and not possible */
    SPECIAL  /* handle() */
};

enum special {
    NO_SPECIAL,
    SET_OUTPUT,
    SET_DIRECTORY,
    SET_OBJECT,
    SET_OBJECT_RDC,
    SET_PREPROCESS,
    SET_DEPENDENCIES,
    SET_USER_DEPENDENCIES,
    SET_DEVICE_LINK,
    SET_LIBRARY,
    SET_VERSION,
    SET_HELP,
    SET_OPTIMISATION,
    SET_DEBUG,
    SET_DEVICE_DEBUG,
    SET_VERBOSE,
    SET_DRY_RUN,
    SET_RDC,
    SET_DEVICE,
    SET_TOOLKIT,
    SET_CUDA_VERSION,
    SET_KERNELS,
    SET_SOURCES,
    SET_LOCALS,
    SET_VALUES,
    SET_HOST_ACCESSES,
    SET_NO_INSTRUMENT,
    SET_KEEP,
    SET_KEEP_HERE,
    SET_LANGUAGE,
    SET_ARCHITECTURE,
    SET_GENERATE_CODE,
    SET_FAST_MATH,
    SET_CONTRACTION,
    SET_DEFAULT_STREAM,
    SET_SHARED_LIBRARY,
    SET_WRITE_DEPENDENCIES,
    SET_WRITE_USER_DEPENDENCIES,
    SET_DEPENDENCY_FILE,
    ADD_DEPENDENCY_FLAG,
    ADD_HOST_LIST,
    ADD_LINK_LIST,
    ADD_LIBRARY,
    SET_FORWARD,
    SET_NVCC_WERROR,
    READ_FILE
};

struct row {
    const char *name;
    enum form form;
    enum place place;
    const char *as; /* what clang calls it; NULL: the same name */
    enum special special;
};

/* First match wins: exact names stand before the prefixes that they start with. */
static const struct row rows[] = {
    /* ours */
    {"--device", VALUE, SPECIAL, NULL, SET_DEVICE},
    {"--toolkit", VALUE, SPECIAL, NULL, SET_TOOLKIT},
    {"--cuda-path", VALUE, SPECIAL, NULL, SET_TOOLKIT},
    {"--cuda-version", VALUE, SPECIAL, NULL, SET_CUDA_VERSION},
    {"--kernels", VALUE, SPECIAL, NULL, SET_KERNELS},
    {"--sources", VALUE, SPECIAL, NULL, SET_SOURCES},
    {"--locals", FLAG, SPECIAL, NULL, SET_LOCALS},
    {"--values", FLAG, SPECIAL, NULL, SET_VALUES},
    {"--host-accesses", FLAG, SPECIAL, NULL, SET_HOST_ACCESSES},
    {"--no-instrument", FLAG, SPECIAL, NULL, SET_NO_INSTRUMENT},
    {"--keep", VALUE, SPECIAL, NULL, SET_KEEP},
    {"--keep-dir", VALUE, SPECIAL, NULL, SET_KEEP},
    {"-keep-dir", VALUE, SPECIAL, NULL, SET_KEEP},
    {"-keep", FLAG, SPECIAL, NULL, SET_KEEP_HERE},
    {"-save-temps", FLAG, SPECIAL, NULL, SET_KEEP_HERE},

    /* what to make */
    {"-odir", VALUE, SPECIAL, NULL, SET_DIRECTORY},
    {"-optf", VALUE, SPECIAL, NULL, READ_FILE},
    {"-objtemp", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-o", JOINED, SPECIAL, NULL, SET_OUTPUT},
    {"--output-file", VALUE, SPECIAL, NULL, SET_OUTPUT},
    {"--output-directory", VALUE, SPECIAL, NULL, SET_DIRECTORY},
    {"-c", FLAG, SPECIAL, NULL, SET_OBJECT},
    {"--compile", FLAG, SPECIAL, NULL, SET_OBJECT},
    {"-dc", FLAG, SPECIAL, NULL, SET_OBJECT_RDC},
    {"--device-c", FLAG, SPECIAL, NULL, SET_OBJECT_RDC},
    {"-dw", FLAG, SPECIAL, NULL, SET_OBJECT},
    {"--device-w", FLAG, SPECIAL, NULL, SET_OBJECT},
    {"-dlink", FLAG, SPECIAL, NULL, SET_DEVICE_LINK},
    {"--device-link", FLAG, SPECIAL, NULL, SET_DEVICE_LINK},
    {"-lib", FLAG, SPECIAL, NULL, SET_LIBRARY},
    {"--lib", FLAG, SPECIAL, NULL, SET_LIBRARY},
    {"-E", FLAG, SPECIAL, NULL, SET_PREPROCESS},
    {"--preprocess", FLAG, SPECIAL, NULL, SET_PREPROCESS},
    {"-ptx", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--ptx", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-cubin", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--cubin", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-fatbin", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--fatbin", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-cuda", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--cuda", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-S", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-run", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--run", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"-m32", FLAG, REFUSED, NULL, NO_SPECIAL},
    {"--version", FLAG, SPECIAL, NULL, SET_VERSION},
    {"-V", FLAG, SPECIAL, NULL, SET_VERSION},
    {"--help", FLAG, SPECIAL, NULL, SET_HELP},
    {"-h", FLAG, SPECIAL, NULL, SET_HELP},
    {"-v", FLAG, SPECIAL, NULL, SET_VERBOSE},
    {"--verbose", FLAG, SPECIAL, NULL, SET_VERBOSE},
    {"-###", FLAG, SPECIAL, NULL, SET_DRY_RUN},
    {"--dryrun", FLAG, SPECIAL, NULL, SET_DRY_RUN},
    {"-dryrun", FLAG, SPECIAL, NULL, SET_DRY_RUN},
    {"-x", JOINED, SPECIAL, NULL, SET_LANGUAGE},
    {"--x", VALUE, SPECIAL, NULL, SET_LANGUAGE},
    {"--options-file", VALUE, SPECIAL, NULL, READ_FILE},

    /* dependencies */
    {"-M", FLAG, SPECIAL, NULL, SET_DEPENDENCIES},
    {"--generate-dependencies", FLAG, SPECIAL, NULL, SET_DEPENDENCIES},
    {"-MM", FLAG, SPECIAL, NULL, SET_USER_DEPENDENCIES},
    {"--generate-nonsystem-dependencies", FLAG, SPECIAL, NULL, SET_USER_DEPENDENCIES},
    {"-MD", FLAG, SPECIAL, NULL, SET_WRITE_DEPENDENCIES},
    {"--generate-dependencies-with-compile", FLAG, SPECIAL, NULL, SET_WRITE_DEPENDENCIES},
    {"-MMD", FLAG, SPECIAL, NULL, SET_WRITE_USER_DEPENDENCIES},
    {"--generate-nonsystem-dependencies-with-compile", FLAG, SPECIAL, NULL,
     SET_WRITE_USER_DEPENDENCIES},
    {"-MF", JOINED, SPECIAL, NULL, SET_DEPENDENCY_FILE},
    {"--dependency-output", VALUE, SPECIAL, NULL, SET_DEPENDENCY_FILE},
    {"-MT", JOINED, SPECIAL, "-MT", ADD_DEPENDENCY_FLAG},
    {"--dependency-target-name", VALUE, SPECIAL, "-MT", ADD_DEPENDENCY_FLAG},
    {"-MQ", JOINED, SPECIAL, "-MQ", ADD_DEPENDENCY_FLAG},
    {"-MP", FLAG, SPECIAL, "-MP", ADD_DEPENDENCY_FLAG},
    {"--generate-dependency-targets", FLAG, SPECIAL, "-MP", ADD_DEPENDENCY_FLAG},

    /* preprocessor and language */
    {"-I", JOINED, SHARED, "-I", NO_SPECIAL},
    {"--include-path", VALUE, SHARED, "-I", NO_SPECIAL},
    {"-isystem", JOINED, SHARED, "-isystem", NO_SPECIAL},
    {"--system-include", VALUE, SHARED, "-isystem", NO_SPECIAL},
    {"-iquote", JOINED, SHARED, "-iquote", NO_SPECIAL},
    {"-idirafter", JOINED, SHARED, "-idirafter", NO_SPECIAL},
    {"-include", VALUE, SHARED, "-include", NO_SPECIAL},
    {"--pre-include", VALUE, SHARED, "-include", NO_SPECIAL},
    {"-imacros", VALUE, SHARED, "-imacros", NO_SPECIAL},
    {"-D", JOINED, SHARED, "-D", NO_SPECIAL},
    {"--define-macro", VALUE, SHARED, "-D", NO_SPECIAL},
    {"-U", JOINED, SHARED, "-U", NO_SPECIAL},
    {"--undefine-macro", VALUE, SHARED, "-U", NO_SPECIAL},
    {"-std", VALUE, SHARED, "-std=", NO_SPECIAL},
    {"--std", VALUE, SHARED, "-std=", NO_SPECIAL},
    {"-stdlib", EQUALS, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"--sysroot", VALUE, SHARED, "--sysroot=", NO_SPECIAL},
    {"-ansi", FLAG, SHARED, NULL, NO_SPECIAL},
    {"-pedantic", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-nostdinc", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-undef", FLAG, SHARED, NULL, NO_SPECIAL},
    {"-P", FLAG, HOST, NULL, NO_SPECIAL},
    {"-C", FLAG, HOST, NULL, NO_SPECIAL},

    /* optimisation and debugging */
    {"-O", JOINED, SPECIAL, NULL, SET_OPTIMISATION},
    {"--optimize", VALUE, SPECIAL, NULL, SET_OPTIMISATION},
    {"-G", FLAG, SPECIAL, NULL, SET_DEVICE_DEBUG},
    {"--device-debug", FLAG, SPECIAL, NULL, SET_DEVICE_DEBUG},
    {"--debug", FLAG, SPECIAL, NULL, SET_DEBUG},
    {"-gencode", VALUE, SPECIAL, NULL, SET_GENERATE_CODE},
    {"--generate-code", VALUE, SPECIAL, NULL, SET_GENERATE_CODE},
    {"-g", PREFIX, SPECIAL, NULL, SET_DEBUG},
    {"-lineinfo", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--generate-line-info", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-pg", FLAG, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"--profile", FLAG, HOST_AND_LINK, "-pg", NO_SPECIAL},
    {"-use_fast_math", FLAG, SPECIAL, NULL, SET_FAST_MATH},
    {"--use_fast_math", FLAG, SPECIAL, NULL, SET_FAST_MATH},
    {"-fmad", VALUE, SPECIAL, NULL, SET_CONTRACTION},
    {"--fmad", VALUE, SPECIAL, NULL, SET_CONTRACTION},
    {"-ftz", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--ftz", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-prec-div", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--prec-div", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-prec-sqrt", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--prec-sqrt", VALUE, IGNORED, NULL, NO_SPECIAL},

    /* the GPU */
    {"-arch", VALUE, SPECIAL, NULL, SET_ARCHITECTURE},
    {"--gpu-architecture", VALUE, SPECIAL, NULL, SET_ARCHITECTURE},
    {"--cuda-gpu-arch", VALUE, SPECIAL, NULL, SET_ARCHITECTURE},
    {"--offload-arch", VALUE, SPECIAL, NULL, SET_ARCHITECTURE},
    {"-code", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--gpu-code", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-rdc", VALUE, SPECIAL, NULL, SET_RDC},
    {"--relocatable-device-code", VALUE, SPECIAL, NULL, SET_RDC},
    {"-fgpu-rdc", FLAG, SPECIAL, "true", SET_RDC},
    {"-fno-gpu-rdc", FLAG, SPECIAL, "false", SET_RDC},
    {"-maxrregcount", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--maxrregcount", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-default-stream", VALUE, SPECIAL, NULL, SET_DEFAULT_STREAM},
    {"--default-stream", VALUE, SPECIAL, NULL, SET_DEFAULT_STREAM},
    {"-extended-lambda", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--extended-lambda", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-expt-extended-lambda", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--expt-extended-lambda", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-expt-relaxed-constexpr", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--expt-relaxed-constexpr", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Xptxas", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--ptxas-options", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xcuda-ptxas", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xcuda-fatbinary", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xnvlink", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--nvlink-options", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xfatbin", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--fatbin-options", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xcudafe", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-Xarchive", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--archive-options", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-ccbin", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--compiler-bindir", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-allow-unsupported-compiler", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--allow-unsupported-compiler", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-cudart", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--cudart", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-cudadevrt", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--cudadevrt", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-target-dir", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--target-directory", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-dlto", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--dlink-time-opt", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-restrict", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--restrict", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-res-usage", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--resource-usage", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-src-in-ptx", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--source-in-ptx", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-time", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-t", JOINED, IGNORED, NULL, NO_SPECIAL},
    {"--threads", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--split-compile", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--time", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-clean", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--objdir-as-tempdir", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-diag-suppress", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag-suppress", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag_suppress", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-diag-warn", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag-warn", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag_warning", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-diag-error", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag-error", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--diag_error", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"--display-error-number", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--no-display-error-number", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-err-no", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-noprof", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-forward-unknown-to-host-compiler", FLAG, SPECIAL, NULL, SET_FORWARD},
    {"--forward-unknown-to-host-compiler", FLAG, SPECIAL, NULL, SET_FORWARD},
    {"-forward-unknown-opts", FLAG, SPECIAL, NULL, SET_FORWARD},

    /* warnings */
    {"-Wl,", PREFIX, LINKED, NULL, NO_SPECIAL},
    {"-Wa,", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-Wp,", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-Wno-deprecated-gpu-targets", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Wno-deprecated-declarations", FLAG, SHARED, NULL, NO_SPECIAL},
    {"-Wreorder", FLAG, SHARED, NULL, NO_SPECIAL},
    {"-Wdefault-stream-launch", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Wext-lambda-captures-this", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Wmissing-launch-bounds", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Werror", FLAG, SPECIAL, NULL, SET_NVCC_WERROR},
    {"-W", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-w", FLAG, SHARED, NULL, NO_SPECIAL},
    {"--disable-warnings", FLAG, SHARED, "-w", NO_SPECIAL},

    /* passed to the host's compiler and linker */
    {"-Xcompiler", VALUE, SPECIAL, NULL, ADD_HOST_LIST},
    {"--compiler-options", VALUE, SPECIAL, NULL, ADD_HOST_LIST},
    {"-Xlinker", VALUE, SPECIAL, NULL, ADD_LINK_LIST},
    {"--linker-options", VALUE, SPECIAL, NULL, ADD_LINK_LIST},
    {"-Xarch_host", VALUE, SPECIAL, NULL, ADD_HOST_LIST},
    {"-Xarch_device", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-L", JOINED, LINKED, "-L", NO_SPECIAL},
    {"--library-path", VALUE, LINKED, "-L", NO_SPECIAL},
    {"--library", VALUE, SPECIAL, NULL, ADD_LIBRARY},
    {"-l", JOINED, SPECIAL, NULL, ADD_LIBRARY},
    {"-shared", FLAG, SPECIAL, NULL, SET_SHARED_LIBRARY},
    {"--shared", FLAG, SPECIAL, NULL, SET_SHARED_LIBRARY},
    {"-static", PREFIX, LINKED, NULL, NO_SPECIAL},
    {"-rdynamic", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-pie", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-no-pie", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-nostdlib", PREFIX, LINKED, NULL, NO_SPECIAL},
    {"-nodefaultlibs", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-s", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-r", FLAG, LINKED, NULL, NO_SPECIAL},
    {"-z", JOINED, LINKED, "-z", NO_SPECIAL},
    {"-u", JOINED, LINKED, "-u", NO_SPECIAL},
    {"-T", JOINED, LINKED, "-T", NO_SPECIAL},
    {"-B", JOINED, LINKED, "-B", NO_SPECIAL},
    {"-rpath", VALUE, LINKED, "-Wl,-rpath,", NO_SPECIAL},
    {"-fuse-ld", EQUALS, LINKED, NULL, NO_SPECIAL},
    {"-pthread", FLAG, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"-fopenmp", PREFIX, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"-fsanitize", PREFIX, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"-fno-sanitize", PREFIX, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"--coverage", FLAG, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"-fprofile", PREFIX, HOST_AND_LINK, NULL, NO_SPECIAL},
    {"-fcoverage", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-flto", PREFIX, IGNORED, NULL, NO_SPECIAL},
    {"-fno-lto", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-fPI", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fpi", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fno-pi", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fno-PI", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fstack", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fno-stack", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fcf-protection", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-fvisibility", PREFIX, HOST, NULL, NO_SPECIAL},
    {"-ffunction-sections", FLAG, HOST, NULL, NO_SPECIAL},
    {"-fdata-sections", FLAG, HOST, NULL, NO_SPECIAL},
    {"-fno-omit-frame-pointer", FLAG, MACHINE, NULL, NO_SPECIAL},
    {"-fomit-frame-pointer", FLAG, MACHINE, NULL, NO_SPECIAL},
    {"-fcuda", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-fgpu", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-f", PREFIX, SHARED, NULL, NO_SPECIAL},
    {"-m64", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--machine", VALUE, IGNORED, NULL, NO_SPECIAL},
    {"-m", PREFIX, MACHINE, NULL, NO_SPECIAL},
    {"-pipe", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-Qunused-arguments", FLAG, SHARED, NULL, NO_SPECIAL},
    {"-Xclang", VALUE, SHARED, "-Xclang", NO_SPECIAL},
    {"-mllvm", VALUE, SHARED, "-mllvm", NO_SPECIAL},
    {"-nocudainc", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"-nocudalib", FLAG, IGNORED, NULL, NO_SPECIAL},
    {"--no-cuda-version-check", FLAG, IGNORED, NULL, NO_SPECIAL},
};

/* ---- parsing ---- */

struct parser {
    struct cc_request *request;
    char *const *arguments;
    int count, at;
    const char *language; /* of -x, or NULL */
    bool forward_unknown;
    unsigned depth; /* of options files */
    struct cts_error *error;
};

static bool matches(const struct row *row, const char *argument)
{
    const size_t length = strlen(row->name);
    if (strncmp(argument, row->name, length) != 0) return false;
    const char *const rest = argument + length;
    switch (row->form) {
    case FLAG:
        return *rest == '\0';
    case VALUE:
    case OPTIONAL:
        return *rest == '\0' || *rest == '=';
    case EQUALS:
        return *rest == '=';
    case JOINED:
    case PREFIX:
        return true;
    }
    return false;
}

static const struct row *find_row(const char *argument)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (matches(&rows[i], argument)) return &rows[i];
    return NULL;
}

/* The option's value: behind '=', joined, or the next argument. */
static enum cts_status take_value(struct parser *parser, const struct row *row, const char **value)
{
    const char *const argument = parser->arguments[parser->at];
    const char *const rest = argument + strlen(row->name);
    *value = NULL;
    if (row->form == FLAG) return CTS_OK;
    if (row->form == PREFIX) {
        *value = rest;
        return CTS_OK;
    }
    const bool is_path = strcmp(row->name, "-D") != 0 && strcmp(row->name, "-U") != 0;
    if (*rest) {
        /* nvcc takes -I=dir as well as -Idir. */
        *value = rest + (*rest == '=' && (row->form != JOINED || is_path));
        return CTS_OK;
    }
    if (row->form == OPTIONAL) return CTS_OK;
    const char *const next =
        parser->at + 1 < parser->count ? parser->arguments[parser->at + 1] : NULL;
    /* -O alone is -O1, unless a level follows (nvcc's -O 3). */
    if (strcmp(argument, "-O") == 0 && (!next || strlen(next) != 1 || !strchr("0123", *next))) {
        *value = "1";
        return CTS_OK;
    }
    /* nvcc's --keep stands alone, ours names a directory. */
    if (strcmp(argument, "--keep") == 0 && (!next || *next == '-' || strchr(next, '.'))) {
        *value = ".";
        return CTS_OK;
    }
    if (!next) return cts_fail(parser->error, CTS_USAGE, "option '%s' needs a value", argument);
    *value = parser->arguments[++parser->at];
    return CTS_OK;
}

static void add_to(struct parser *parser, struct cc_list *list, const struct row *row,
                   const char *value)
{
    struct cc_request *const request = parser->request;
    if (row->form == FLAG || row->form == PREFIX) {
        cc_list_add(list, row->as ? row->as : parser->arguments[parser->at]);
        return;
    }
    const char *const name = row->as ? row->as : row->name;
    const size_t length = strlen(name);
    const bool joins = name[length - 1] == '=' || name[length - 1] == ',';
    if (joins) {
        cc_list_add(list, cc_text(&request->pool, "%s%s", name, value));
    } else if (row->form == EQUALS) {
        cc_list_add(list, cc_text(&request->pool, "%s=%s", name, value));
    } else {
        cc_list_add(list, name);
        cc_list_add(list, value);
    }
}

/* nvcc splits lists at commas; people also put several options into one quoted text. */
static void add_split(struct cc_request *request, struct cc_list *list, const char *value,
                      const char *prefix)
{
    while (*value) {
        const size_t length = strcspn(value, ", \t");
        if (length && prefix) cc_list_add(list, prefix);
        if (length) cc_list_add(list, cc_text(&request->pool, "%.*s", (int)length, value));
        value += length;
        value += strspn(value, ", \t");
    }
}

/* -Xcompiler: nvcc links through the host's compiler too, with the same words. */
static void add_host_list(struct cc_request *request, const char *value)
{
    const size_t before = request->host.count;
    add_split(request, &request->host, value, NULL);
    for (size_t i = before; i < request->host.count; i++) {
        const struct row *const row = find_row(request->host.items[i]);
        if (row && row->place == HOST_AND_LINK && row->form != VALUE && row->form != JOINED)
            cc_list_add(&request->link, request->host.items[i]);
    }
}

static void add_architecture(struct cc_request *request, const char *value)
{
    /* "sm_80", "compute_80", "sm_80,compute_80"; "native" and "all" say nothing to clang */
    const char *const digits = strpbrk(value, "0123456789");
    if (!digits) return;
    cc_list_add(&request->architectures,
                cc_text(&request->pool, "sm_%.*s", (int)strspn(digits, "0123456789a"), digits));
}

static void add_library(struct cc_request *request, const char *value)
{
    /* What the CPU device's library stands in for. */
    static const char *const own[] = {"cudart", "cudart_static", "cuda", "cudadevrt", "nvToolsExt"};
    for (size_t i = 0; i < sizeof own / sizeof own[0] && !request->for_cuda; i++)
        if (strcmp(own[i], value) == 0) return;
    /* What clang compiled with -fopenmp needs its own library, which is gcc's as well. */
    if (strcmp(value, "gomp") == 0 && !request->for_cuda) {
        cc_list_add(&request->link, "-fopenmp");
        return;
    }
    cc_list_add(&request->link, cc_text(&request->pool, "-l%s", value));
}

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static enum cts_status set_device(struct parser *parser, const char *value)
{
    if (strcmp(value, "cuda") != 0 && strcmp(value, "cpu") != 0)
        return cts_fail(parser->error, CTS_USAGE, "--device is 'cpu' or 'cuda', not '%s'", value);
    parser->request->for_cuda = strcmp(value, "cuda") == 0;
    return CTS_OK;
}

static enum cts_status set_cuda_version(struct parser *parser, const char *value)
{
    const bool is_known = strcmp(value, "12") == 0 || strcmp(value, "13") == 0;
    if (!is_known)
        return cts_fail(parser->error, CTS_USAGE, "--cuda-version is 12 or 13, not '%s'", value);
    parser->request->cuda_version = value[1] == '2' ? 12 : 13;
    return CTS_OK;
}

static void set_optimisation(struct cc_request *request, const char *value)
{
    request->optimisation = cc_text(&request->pool, "-O%s", value);
}

static void add_dependency_flag(struct cc_request *request, const struct row *row,
                                const char *value)
{
    cc_list_add(&request->dependency_flags, row->as);
    if (value) cc_list_add(&request->dependency_flags, value);
}

/* nvcc: -Werror all-warnings, -Werror=cross-execution-space-call; clang: -Werror */
static void add_werror(struct parser *parser)
{
    static const char *const kinds[] = {"all-warnings",
                                        "cross-execution-space-call",
                                        "reorder",
                                        "deprecated-declarations",
                                        "default-stream-launch",
                                        "ext-lambda-captures-this",
                                        "missing-launch-bounds"};
    const char *const next =
        parser->at + 1 < parser->count ? parser->arguments[parser->at + 1] : "";
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (strcmp(next, kinds[i]) != 0) continue;
        parser->at++;
        if (i != 0) return;
    }
    cc_list_add(&parser->request->shared, "-Werror");
}

static enum cts_status parse_all(struct parser *parser);
static enum cts_status read_options_file(struct parser *parser, const char *path);

static void set_own(struct cc_request *request, enum special special, const char *value)
{
    switch (special) {
    case SET_KERNELS:
        request->kernels = value;
        break;
    case SET_SOURCES:
        request->sources = value;
        break;
    case SET_LOCALS:
        request->locals = true;
        break;
    case SET_VALUES:
        request->values = true;
        break;
    case SET_HOST_ACCESSES:
        request->host_accesses = true;
        break;
    case SET_NO_INSTRUMENT:
        request->instrument = false;
        break;
    case SET_KEEP:
        request->keep = value;
        break;
    case SET_KEEP_HERE:
        request->keep = ".";
        break;
    default:
        break;
    }
}

static void set_stage(struct cc_request *request, enum special special)
{
    switch (special) {
    case SET_OBJECT_RDC:
        request->separate_units = true;
        request->stage = CC_OBJECT;
        break;
    case SET_OBJECT:
        if (request->stage == CC_LINK) request->stage = CC_OBJECT;
        break;
    case SET_PREPROCESS:
        request->stage = CC_PREPROCESS;
        break;
    case SET_USER_DEPENDENCIES:
        request->user_headers_only = true;
        request->stage = CC_DEPENDENCIES;
        break;
    case SET_DEPENDENCIES:
        request->stage = CC_DEPENDENCIES;
        break;
    case SET_DEVICE_LINK:
        request->stage = CC_DEVICE_LINK;
        break;
    case SET_LIBRARY:
        request->stage = CC_LIBRARY;
        break;
    case SET_VERSION:
        request->stage = CC_VERSION;
        break;
    case SET_HELP:
        request->stage = CC_HELP;
        break;
    default:
        break;
    }
}

static void set_codegen(struct parser *parser, const struct row *row, const char *value)
{
    struct cc_request *const request = parser->request;
    switch (row->special) {
    case SET_OPTIMISATION:
        set_optimisation(request, value);
        break;
    case SET_DEBUG:
        request->debug = strcmp(parser->arguments[parser->at], "-g0") != 0;
        break;
    case SET_DEVICE_DEBUG:
        request->device_debug = true;
        break;
    case SET_RDC:
        request->separate_units = is_true(value ? value : row->as);
        break;
    case SET_ARCHITECTURE:
        add_architecture(request, value);
        break;
    case SET_GENERATE_CODE:
        add_architecture(request, value);
        break;
    case SET_FAST_MATH:
        cc_list_add(&request->device, "-fgpu-approx-transcendentals");
        cc_list_add(&request->host, "-fgpu-approx-transcendentals");
        break;
    case SET_CONTRACTION:
        if (!is_true(value)) cc_list_add(&request->device, "-ffp-contract=off");
        break;
    case SET_DEFAULT_STREAM:
        if (strcmp(value, "per-thread") == 0)
            cc_list_add(&request->shared, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        break;
    case SET_SHARED_LIBRARY:
        cc_list_add(&request->link, "-shared");
        cc_list_add(&request->host, "-fPIC");
        break;
    case ADD_HOST_LIST:
        add_host_list(request, value);
        break;
    case ADD_LINK_LIST:
        add_split(request, &request->link, value, "-Xlinker");
        break;
    case ADD_LIBRARY:
        add_library(request, value);
        break;
    default:
        break;
    }
}

static enum cts_status handle(struct parser *parser, const struct row *row, const char *value)
{
    struct cc_request *const request = parser->request;
    switch (row->special) {
    case SET_OUTPUT:
        request->output = value;
        break;
    case SET_DIRECTORY:
        request->directory = value;
        break;
    case SET_VERBOSE:
        request->verbose = true;
        break;
    case SET_DRY_RUN:
        request->dry_run = true;
        break;
    case SET_DEVICE:
        return set_device(parser, value);
    case SET_TOOLKIT:
        request->toolkit_asked = value;
        break;
    case SET_CUDA_VERSION:
        return set_cuda_version(parser, value);
    case SET_LANGUAGE:
        parser->language = strcmp(value, "none") == 0 ? NULL : value;
        break;
    case SET_WRITE_USER_DEPENDENCIES:
        request->user_headers_only = true;
        request->write_dependencies = true;
        break;
    case SET_WRITE_DEPENDENCIES:
        request->write_dependencies = true;
        break;
    case SET_DEPENDENCY_FILE:
        request->dependency_file = value;
        break;
    case ADD_DEPENDENCY_FLAG:
        add_dependency_flag(request, row, value);
        break;
    case SET_FORWARD:
        parser->forward_unknown = true;
        break;
    case SET_NVCC_WERROR:
        add_werror(parser);
        break;
    case READ_FILE:
        return read_options_file(parser, value);
    default:
        set_own(request, row->special, value);
        set_stage(request, row->special);
        set_codegen(parser, row, value);
    }
    return CTS_OK;
}

static enum cts_status place(struct parser *parser, const struct row *row, const char *value)
{
    struct cc_request *const request = parser->request;
    switch (row->place) {
    case IGNORED:
        return CTS_OK;
    case SHARED:
        add_to(parser, &request->shared, row, value);
        return CTS_OK;
    case HOST:
        add_to(parser, &request->host, row, value);
        return CTS_OK;
    case DEVICE:
        add_to(parser, &request->device, row, value);
        return CTS_OK;
    case MACHINE:
        add_to(parser, &request->machine, row, value);
        return CTS_OK;
    case LINKED:
        add_to(parser, &request->link, row, value);
        return CTS_OK;
    case HOST_AND_LINK:
        add_to(parser, &request->host, row, value);
        add_to(parser, &request->link, row, value);
        return CTS_OK;
    case REFUSED:
        return cts_fail(parser->error, CTS_USAGE, "option '%s' is not supported", row->name);
    case SPECIAL:
        return handle(parser, row, value);
    }
    return CTS_OK;
}

/* ---- inputs ---- */

static enum cc_language language_of_name(const char *name)
{
    if (strcmp(name, "cu") == 0 || strcmp(name, "cuda") == 0) return CC_CUDA;
    if (strcmp(name, "c") == 0) return CC_C;
    if (strcmp(name, "c++") == 0) return CC_CXX;
    return CC_OTHER;
}

static enum cc_language language_of_path(const char *path)
{
    static const struct {
        const char *suffix;
        enum cc_language language;
    } known[] = {{".cu", CC_CUDA}, {".c", CC_C},     {".cc", CC_CXX},  {".cpp", CC_CXX},
                 {".cxx", CC_CXX}, {".C", CC_CXX},   {".c++", CC_CXX}, {".cp", CC_CXX},
                 {".s", CC_OTHER}, {".S", CC_OTHER}, {".i", CC_C},     {".ii", CC_CXX}};
    const char *const dot = strrchr(path, '.');
    for (size_t i = 0; dot && i < sizeof known / sizeof known[0]; i++)
        if (strcmp(dot, known[i].suffix) == 0) return known[i].language;
    return CC_LINKER_INPUT;
}

static void add_input(struct parser *parser, const char *path)
{
    struct cc_request *const request = parser->request;
    request->inputs = grow(request->inputs, &request->input_capacity, request->input_count + 1,
                           sizeof *request->inputs);
    struct cc_input *const input = &request->inputs[request->input_count++];
    *input = (struct cc_input){.path = path, .language = language_of_path(path)};
    if (parser->language) {
        input->language = language_of_name(parser->language);
        input->clang_language = input->language == CC_CUDA ? "cuda" : parser->language;
    }
    cc_list_add(&request->link, path);
}

/* ---- options files ---- */

/* Splits a file's text into arguments as the shell would: blanks, quotes, backslashes. */
static void split_text(struct cc_pool *pool, char *text, struct cc_list *words)
{
    char *to = text, *start = NULL, quote = 0;
    for (char *at = text;; at++) {
        const bool ends = *at == '\0' || (!quote && strchr(" \t\r\n", *at));
        if (ends && start) {
            cc_list_add(words, cc_text(pool, "%.*s", (int)(to - start), start));
            start = NULL;
        }
        if (*at == '\0') break;
        if (ends) continue;
        if (!start) start = to = at;
        if (quote && *at == quote) {
            quote = 0;
        } else if (!quote && (*at == '"' || *at == '\'')) {
            quote = *at;
        } else {
            if (*at == '\\' && quote != '\'' && at[1]) at++;
            *to++ = *at;
        }
    }
}

static enum cts_status read_text(const char *path, char **text, struct cts_error *error)
{
    enum { OPTIONS_FILE_BYTES_MAX = 1 << 24 };
    FILE *const file = fopen(path, "r");
    *text = NULL;
    if (!file) return cts_fail(error, CTS_IO, "cannot read options file '%s'", path);
    char *const buffer = malloc(OPTIONS_FILE_BYTES_MAX);
    const size_t length = buffer ? fread(buffer, 1, OPTIONS_FILE_BYTES_MAX, file) : 0;
    fclose(file);
    if (!buffer || length == OPTIONS_FILE_BYTES_MAX) {
        free(buffer);
        return cts_fail(error, CTS_LIMIT, "options file '%s' is too large", path);
    }
    buffer[length] = '\0';
    *text = buffer;
    return CTS_OK;
}

static enum cts_status read_options_file(struct parser *parser, const char *path)
{
    if (parser->depth > 16)
        return cts_fail(parser->error, CTS_USAGE, "options file '%s' includes itself", path);
    char *text;
    enum cts_status status = read_text(path, &text, parser->error);
    if (status) return status;
    struct cc_list words = {0};
    split_text(&parser->request->pool, text, &words);
    free(text);
    struct parser inner = *parser;
    inner.depth++;
    inner.arguments = (char *const *)(void *)words.items;
    inner.count = (int)words.count;
    status = parse_all(&inner);
    parser->language = inner.language;
    parser->forward_unknown = inner.forward_unknown;
    cc_list_release(&words);
    return status;
}

/* ---- the whole ---- */

/* Makefiles name the toolkit's headers, "-I$(CUDA_HOME)/include". The CPU device has its own for
 * them, which must come first; whatever else lies there is still found. */
static void demote_toolkit_headers(struct cc_request *request)
{
    for (size_t i = 0; i + 1 < request->shared.count; i++) {
        const char *const option = request->shared.items[i];
        const char *const directory = request->shared.items[i + 1];
        if (strcmp(option, "-I") != 0 && strcmp(option, "-isystem") != 0) continue;
        if (access(cc_text(&request->pool, "%s/cuda_runtime.h", directory), R_OK) == 0 &&
            access(cc_text(&request->pool, "%s/crt/host_config.h", directory), R_OK) == 0)
            request->shared.items[i] = "-idirafter";
        i++;
    }
}

static enum cts_status parse_option(struct parser *parser, const char *argument)
{
    const struct row *const row = find_row(argument);
    if (!row && parser->forward_unknown) {
        cc_list_add(&parser->request->host, argument);
        return CTS_OK;
    }
    if (!row) return cts_fail(parser->error, CTS_USAGE, "unknown option '%s'", argument);
    const char *value;
    const enum cts_status status = take_value(parser, row, &value);
    return status ? status : place(parser, row, value);
}

static enum cts_status parse_all(struct parser *parser)
{
    for (parser->at = 0; parser->at < parser->count; parser->at++) {
        const char *const argument = parser->arguments[parser->at];
        enum cts_status status = CTS_OK;
        if (argument[0] == '@' && argument[1])
            status = read_options_file(parser, argument + 1);
        else if (argument[0] == '-' && argument[1])
            status = parse_option(parser, argument);
        else
            add_input(parser, argument);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status check(const struct cc_request *request, struct cts_error *error)
{
    size_t source_count = 0;
    for (size_t i = 0; i < request->input_count; i++)
        source_count += request->inputs[i].language != CC_LINKER_INPUT;
    if (request->stage == CC_VERSION || request->stage == CC_HELP) return CTS_OK;
    if (request->input_count == 0) return cts_fail(error, CTS_USAGE, "no input files");
    if ((request->stage == CC_OBJECT || request->stage == CC_PREPROCESS) && request->output &&
        source_count > 1)
        return cts_fail(error, CTS_USAGE, "'-o %s' with %zu sources", request->output,
                        source_count);
    return CTS_OK;
}

enum cts_status cc_request_parse(struct cc_request *request, int argument_count,
                                 char *const *arguments, struct cts_error *error)
{
    *request = (struct cc_request){.instrument = true};
    struct parser parser = {
        .request = request, .arguments = arguments, .count = argument_count, .error = error};
    const enum cts_status status = parse_all(&parser);
    if (!status && !request->for_cuda) demote_toolkit_headers(request);
    return status ? status : check(request, error);
}

void cc_request_release(struct cc_request *request)
{
    struct cc_list *const lists[] = {
        &request->shared, &request->host,          &request->device,          &request->machine,
        &request->link,   &request->architectures, &request->dependency_flags};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) cc_list_release(lists[i]);
    for (size_t i = 0; i < request->pool.count; i++) free(request->pool.texts[i]);
    free(request->pool.texts);
    free(request->inputs);
    *request = (struct cc_request){0};
}
