/* The command line of `ctascope cc`, with the table of cc-table.c: nvcc's long names become clang's
 * short ones. What is not in the table is refused by name, except after
 * -forward-unknown-to-host-compiler. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-table.h"

#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

struct parser {
    struct cc_request *request;
    char *const *arguments;
    int count, at;
    const char *language; /* of -x, or NULL */
    bool forward_unknown;
    unsigned depth; /* of options files */
    struct cts_error *error;
};

static const char *next_argument(const struct parser *parser)
{
    return parser->at + 1 < parser->count ? parser->arguments[parser->at + 1] : NULL;
}

/* ---- an option's value ---- */

/* What an option means that stands without the value that it may have; NULL: it must have one. */
static const char *value_left_out(const char *argument, const char *next)
{
    /* -O alone is -O1, unless a level follows (nvcc's -O 3). */
    if (strcmp(argument, "-O") == 0 && (!next || strlen(next) != 1 || !strchr("0123", *next)))
        return "1";
    /* nvcc's --keep stands alone, ours names a directory. */
    if (strcmp(argument, "--keep") == 0 && (!next || *next == '-' || strchr(next, '.'))) return ".";
    return NULL;
}

/* Behind '=', joined, or the next argument; NULL for an option that takes none. */
static enum cts_status take_value(struct parser *parser, const struct cc_option *option,
                                  size_t name_length, const char **value)
{
    const char *const argument = parser->arguments[parser->at];
    const char *const rest = argument + name_length;
    *value = NULL;
    if (option->form == CC_FLAG || option->form == CC_PREFIX) return CTS_OK;
    if (*rest) {
        *value = rest + (*rest == '=' && option->form != CC_GLUED);
        return CTS_OK;
    }
    const char *const next = next_argument(parser);
    *value = value_left_out(argument, next);
    if (*value) return CTS_OK;
    if (!next) return cts_fail(parser->error, CTS_USAGE, "option '%s' needs a value", argument);
    parser->at++;
    *value = next;
    return CTS_OK;
}

/* ---- lists ---- */

/* Only options that are passed on as they are have no name to be passed on under. */
static void add_to(struct parser *parser, struct cc_list *list, const struct cc_option *option,
                   const char *value)
{
    const char *const name = option->as ? option->as : parser->arguments[parser->at];
    const char last = name[strlen(name) - 1];
    if (!value || !option->as) {
        cc_list_add(list, name);
    } else if (last == '=' || last == ',') {
        cc_list_add(list, cc_text(&parser->request->pool, "%s%s", name, value));
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
static void add_host_words(struct cc_request *request, const char *value)
{
    const size_t before = request->host.count;
    add_split(request, &request->host, value, NULL);
    for (size_t i = before; i < request->host.count; i++) {
        size_t length;
        const struct cc_option *const option = cc_option_find(request->host.items[i], &length);
        if (option && option->place == CC_HOST_AND_LINK)
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
    for (size_t i = 0; i < COUNT_OF(own) && !request->for_cuda; i++)
        if (strcmp(own[i], value) == 0) return;
    /* What clang compiled with -fopenmp needs its own library, which is gcc's as well. */
    if (strcmp(value, "gomp") == 0 && !request->for_cuda) {
        cc_list_add(&request->link, "-fopenmp");
        return;
    }
    cc_list_add(&request->link, cc_text(&request->pool, "-l%s", value));
}

/* --kernel-name NAME or regex:EXPRESSION, as an expression on names with their template arguments
 * and parameters. */
static void set_kernel_name(struct cc_request *request, const char *value)
{
    static const char prefix[] = "regex:";
    if (strncmp(value, prefix, sizeof prefix - 1) == 0) {
        request->kernels = cc_text(&request->pool, "%s", value + sizeof prefix - 1);
        return;
    }
    const char *text = "";
    for (const char *c = value; *c; c++)
        text = cc_text(&request->pool, "%s%s%c", text, strchr(".[\\()*+?{|^$", *c) ? "\\" : "", *c);
    request->kernels =
        cc_text(&request->pool, "^((\\(anonymous namespace\\)|[^(<])*::)?%s($|[(<])", text);
}

static void add_dependency_flag(struct cc_request *request, const struct cc_option *option,
                                const char *value)
{
    cc_list_add(&request->dependency_flags, option->as);
    if (value) cc_list_add(&request->dependency_flags, value);
}

/* ---- options that mean something of their own ---- */

static bool is_true(const char *value)
{
    return strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
}

static enum cts_status set_device(struct parser *parser, const char *value)
{
    if (strcmp(value, "cuda") != 0 && strcmp(value, "cpu") != 0)
        return cts_fail(parser->error, CTS_USAGE, "unknown --device value '%s' (one of: cpu, cuda)",
                        value);
    parser->request->for_cuda = strcmp(value, "cuda") == 0;
    return CTS_OK;
}

static enum cts_status set_cuda_version(struct parser *parser, const char *value)
{
    const bool is_known = strcmp(value, "12") == 0 || strcmp(value, "13") == 0;
    if (!is_known)
        return cts_fail(parser->error, CTS_USAGE,
                        "unknown --cuda-version value '%s' (one of: 12, 13)", value);
    parser->request->cuda_version = value[1] == '2' ? 12 : 13;
    return CTS_OK;
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
    const char *const next = next_argument(parser);
    for (size_t i = 0; next && i < COUNT_OF(kinds); i++) {
        if (strcmp(next, kinds[i]) != 0) continue;
        parser->at++;
        if (i != 0) return;
    }
    cc_list_add(&parser->request->shared, "-Werror");
}

static enum cts_status read_options_file(struct parser *parser, const char *path);

/* What only changes the request. */
static void change(struct parser *parser, const struct cc_option *option, const char *value)
{
    struct cc_request *const request = parser->request;
    switch (option->special) {
    case CC_SET_OBJECT:
        if (request->stage == CC_LINK) request->stage = CC_OBJECT;
        break;
    case CC_SET_OBJECT_RDC:
        request->separate_units = true;
        request->stage = CC_OBJECT;
        break;
    case CC_SET_USER_DEPENDENCIES:
        request->user_headers_only = true;
        request->stage = CC_DEPENDENCIES;
        break;
    case CC_WRITE_USER_DEPENDENCIES:
        request->user_headers_only = true;
        request->write_dependencies = true;
        break;
    case CC_ADD_DEPENDENCY_FLAG:
        add_dependency_flag(request, option, value);
        break;
    case CC_SET_OPTIMISATION:
        request->optimisation = cc_text(&request->pool, "-O%s", value);
        break;
    case CC_SET_DEBUG:
        request->debug = strcmp(parser->arguments[parser->at], "-g0") != 0;
        break;
    case CC_SET_RDC:
        request->separate_units = is_true(value);
        break;
    case CC_SET_ARCHITECTURE:
        add_architecture(request, value);
        break;
    case CC_SET_FAST_MATH:
        cc_list_add(&request->device, "-fgpu-approx-transcendentals");
        cc_list_add(&request->host, "-fgpu-approx-transcendentals");
        break;
    case CC_SET_CONTRACTION:
        if (!is_true(value)) cc_list_add(&request->device, "-ffp-contract=off");
        break;
    case CC_SET_DEFAULT_STREAM:
        if (strcmp(value, "per-thread") == 0)
            cc_list_add(&request->shared, "-DCUDA_API_PER_THREAD_DEFAULT_STREAM=1");
        break;
    case CC_SET_SHARED_LIBRARY:
        cc_list_add(&request->link, "-shared");
        cc_list_add(&request->host, "-fPIC");
        break;
    case CC_SET_MODULE:
        request->module = parser->arguments[parser->at];
        request->module += strspn(request->module, "-");
        cc_list_add(&request->link, "-shared");
        cc_list_add(&request->link, "-Wl,-Bsymbolic"); /* its variables are its own */
        cc_list_add(&request->host, "-fPIC");
        break;
    case CC_SET_KERNEL_NAME:
        set_kernel_name(request, value);
        break;
    case CC_ADD_HOST_WORDS:
        add_host_words(request, value);
        break;
    case CC_ADD_LINK_WORDS:
        add_split(request, &request->link, value, "-Xlinker");
        break;
    case CC_ADD_LIBRARY:
        add_library(request, value);
        break;
    default:
        break;
    }
}

/* What may fail, or changes how the rest is read. */
static enum cts_status handle(struct parser *parser, const struct cc_option *option,
                              const char *value)
{
    switch (option->special) {
    case CC_SET_DEVICE:
        return set_device(parser, value);
    case CC_SET_CUDA_VERSION:
        return set_cuda_version(parser, value);
    case CC_READ_OPTIONS_FILE:
        return read_options_file(parser, value);
    case CC_SET_LANGUAGE:
        parser->language = strcmp(value, "none") == 0 ? NULL : value;
        return CTS_OK;
    case CC_FORWARD_UNKNOWN:
        parser->forward_unknown = true;
        return CTS_OK;
    case CC_SET_NVCC_WERROR:
        add_werror(parser);
        return CTS_OK;
    default:
        change(parser, option, value);
        return CTS_OK;
    }
}

/* ---- where options go ---- */

static void set_text(struct cc_request *request, size_t member, const char *text)
{
    memcpy((char *)request + member, &text, sizeof text);
}

static void set_switch(struct cc_request *request, size_t member, bool on)
{
    memcpy((char *)request + member, &on, sizeof on);
}

static enum cts_status place(struct parser *parser, const struct cc_option *option,
                             const char *value)
{
    struct cc_request *const request = parser->request;
    switch (option->place) {
    case CC_IGNORED:
        break;
    case CC_REFUSED:
        return cts_fail(parser->error, CTS_USAGE,
                        "option '%s' is not supported: ctascope cc makes machine code for this "
                        "host, in objects, libraries and programs",
                        parser->arguments[parser->at]);
    case CC_SHARED:
        add_to(parser, &request->shared, option, value);
        break;
    case CC_HOST:
        add_to(parser, &request->host, option, value);
        break;
    case CC_MACHINE:
        add_to(parser, &request->machine, option, value);
        break;
    case CC_LINKED:
        add_to(parser, &request->link, option, value);
        break;
    case CC_HOST_AND_LINK:
        add_to(parser, &request->host, option, value);
        add_to(parser, &request->link, option, value);
        break;
    case CC_TEXT:
        set_text(request, option->member, value ? value : option->as);
        break;
    case CC_ON:
        set_switch(request, option->member, true);
        break;
    case CC_OFF:
        set_switch(request, option->member, false);
        break;
    case CC_STAGE:
        request->stage = option->stage;
        break;
    case CC_SPECIAL:
        return handle(parser, option, value);
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
    for (size_t i = 0; dot && i < COUNT_OF(known); i++)
        if (strcmp(dot, known[i].suffix) == 0) return known[i].language;
    return CC_LINKER_INPUT;
}

static void add_input(struct parser *parser, const char *path)
{
    struct cc_request *const request = parser->request;
    request->inputs = cc_grow(request->inputs, &request->input_capacity, request->input_count + 1,
                              sizeof *request->inputs);
    struct cc_input *const input = &request->inputs[request->input_count++];
    *input = (struct cc_input){.path = path, .language = language_of_path(path)};
    if (parser->language) {
        input->language = language_of_name(parser->language);
        input->clang_language = input->language == CC_CUDA ? "cuda" : parser->language;
    }
    cc_list_add(&request->link, path);
}

static enum cts_status parse_all(struct parser *parser);

static enum cts_status read_options_file(struct parser *parser, const char *path)
{
    if (parser->depth > 16)
        return cts_fail(parser->error, CTS_USAGE, "options file '%s' includes itself", path);
    struct cc_list words = {0};
    enum cts_status status =
        cc_read_options_file(&parser->request->pool, path, &words, parser->error);
    if (status) return status;
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
    size_t name_length;
    const struct cc_option *const option = cc_option_find(argument, &name_length);
    if (!option && parser->forward_unknown) {
        cc_list_add(&parser->request->host, argument);
        return CTS_OK;
    }
    if (!option) return cts_fail(parser->error, CTS_USAGE, "unknown option '%s'", argument);
    const char *value;
    const enum cts_status status = take_value(parser, option, name_length, &value);
    return status ? status : place(parser, option, value);
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
    if (request->module && request->for_cuda)
        return cts_fail(error, CTS_USAGE, "option '-%s' is for the CPU device (--device=cpu) only",
                        request->module);
    size_t source_count = 0;
    for (size_t i = 0; i < request->input_count; i++)
        source_count += request->inputs[i].language != CC_LINKER_INPUT;
    if (request->stage >= CC_PRECOMPILE) return CTS_OK; /* needs no source */
    if (request->input_count == 0) return cts_fail(error, CTS_USAGE, "no input files");
    if ((request->stage == CC_OBJECT || request->stage == CC_PREPROCESS) && request->output &&
        source_count > 1)
        return cts_fail(
            error, CTS_USAGE,
            "'-o %s' names one file for %zu sources: compile them one at a time, or link them",
            request->output, source_count);
    return CTS_OK;
}

enum cts_status cc_request_parse(struct cc_request *request, int argument_count,
                                 char *const *arguments, struct cts_error *error)
{
    *request = (struct cc_request){.instrument = true};
    const char *const before = getenv("NVCC_PREPEND_FLAGS"), *const after =
                                                                 getenv("NVCC_APPEND_FLAGS");
    struct cc_list words = {0};
    if (before) cc_split_words(&request->pool, before, &words);
    for (int i = 0; i < argument_count; i++) cc_list_add(&words, arguments[i]);
    if (after) cc_split_words(&request->pool, after, &words);
    struct parser parser = {.request = request,
                            .arguments = (char *const *)(void *)words.items,
                            .count = (int)words.count,
                            .error = error};
    const enum cts_status status = parse_all(&parser);
    cc_list_release(&words);
    if (!status && !request->for_cuda) demote_toolkit_headers(request);
    return status ? status : check(request, error);
}

void cc_request_release(struct cc_request *request)
{
    struct cc_list *const lists[] = {
        &request->shared, &request->host,          &request->device,          &request->machine,
        &request->link,   &request->architectures, &request->dependency_flags};
    for (size_t i = 0; i < COUNT_OF(lists); i++) cc_list_release(lists[i]);
    cc_pool_release(&request->pool);
    free(request->inputs);
    *request = (struct cc_request){0};
}
