/* What a command line of `ctascope cc` asks for, done: sources become objects (cc-compile.c),
 * objects a program that is linked with the CPU device's library, an archive, or what else its
 * stage is. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-steps.h"
#include "common/install.h"

static const char *base_name(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* "dir/k.cu" -> "k.SUFFIX", in the directory asked for. */
static const char *default_name(struct cc_request *request, const char *source, const char *suffix)
{
    const char *const base = base_name(source), *const dot = strrchr(base, '.');
    const int stem = (int)(dot ? (size_t)(dot - base) : strlen(base));
    const char *const directory = request->directory;
    return cc_text(&request->pool, "%s%s%.*s.%s", directory ? directory : "", directory ? "/" : "",
                   stem, base, suffix);
}

static const char *object_of(struct cc_request *request, const struct cc_input *input)
{
    if (request->stage == CC_OBJECT && request->output) return request->output;
    return default_name(request, input->path, "o");
}

/* ---- sources ---- */

static int compile_plain(struct cc_session *session, const struct cc_input *input,
                         struct cc_list *objects, const char *object_name)
{
    struct cc_request *const request = session->request;
    const bool to_object = request->stage == CC_OBJECT;
    const char *const output = to_object ? object_name : cc_session_file(session, input->path, "o");
    struct cc_process process = {0};
    cc_plain_command(session, input, &process);
    cc_add_dependency_options(session, &process.command, object_name);
    cc_list_add(&process.command, "-c");
    cc_list_add(&process.command, "-o");
    cc_list_add(&process.command, output);
    const int status = cc_process_run(session, &process);
    if (status == 0 && !to_object) cc_list_add(objects, output);
    return status;
}

static int preprocess_plain(struct cc_session *session, const struct cc_input *input)
{
    const struct cc_request *const request = session->request;
    struct cc_process process = {0};
    cc_plain_command(session, input, &process);
    cc_list_add(&process.command, request->stage == CC_PREPROCESS ? "-E"
                                  : request->user_headers_only    ? "-MM"
                                                                  : "-M");
    if (request->output) {
        cc_list_add(&process.command, "-o");
        cc_list_add(&process.command, request->output);
    }
    return cc_process_run(session, &process);
}

static int compile_input(struct cc_session *session, const struct cc_input *input,
                         struct cc_list *objects)
{
    struct cc_request *const request = session->request;
    const bool is_cuda = input->language == CC_CUDA;
    if (request->stage == CC_PREPROCESS || request->stage == CC_DEPENDENCIES)
        return is_cuda ? cc_preprocess_cuda(session, input) : preprocess_plain(session, input);
    const char *const object_name = object_of(request, input);
    if (request->stage == CC_LIBRARY && is_cuda) {
        const char *const object = cc_session_file(session, input->path, "o");
        cc_list_add(objects, object);
        return cc_compile_cuda(session, input, objects, object);
    }
    const int status = is_cuda ? cc_compile_cuda(session, input, objects, object_name)
                               : compile_plain(session, input, objects, object_name);
    if (status && request->stage == CC_OBJECT && !request->dry_run) unlink(object_name);
    return status;
}

/* ---- link ---- */

static void add_runtime(struct cc_session *session, struct cc_list *command)
{
    struct cc_pool *const pool = &session->request->pool;
    if (session->request->for_cuda) {
        cc_add_gpu_libraries(session, command);
        return;
    }
    const char *const directory = cts_library_directory();
    cc_list_add(command, cc_text(pool, "%s/libctascope_cpu.so", directory));
    cc_list_add(command, "-Xlinker");
    cc_list_add(command, "-rpath");
    cc_list_add(command, "-Xlinker");
    cc_list_add(command, directory);
}

/* Libraries of CUDA's names that are ours (src/record/cpu/libraries), whichever toolkit a -L names.
 */
static const char *own_library(struct cc_session *session, const char *word)
{
    static const char *const names[][2] = {
        {"-lcublas", "cublas"},     {"-lcublas_static", "cublas"},
        {"-lcurand", "curand"},     {"-lcurand_static", "curand"},
        {"-lcufft", "cufft"},       {"-lcufft_static", "cufft"},
        {"-lcusparse", "cusparse"}, {"-lcusparse_static", "cusparse"}};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!session->request->for_cuda && strcmp(word, names[i][0]) == 0)
            return cc_text(&session->request->pool, "%s/libctascope_%s.so", cts_library_directory(),
                           names[i][1]);
    return word;
}

static const char *linked_name(struct cc_request *request)
{
    if (request->output) return request->output;
    return request->module ? default_name(request, request->inputs[0].path, request->module)
                           : "a.out";
}

/* The sources' objects take the places of their sources among the link's arguments. */
static int link_program(struct cc_session *session, const struct cc_list *objects_of_input)
{
    struct cc_request *const request = session->request;
    struct cc_process process = {0};
    cc_list_add(&process.command, session->clangxx);
    size_t at = 0;
    for (size_t i = 0; i < request->link.count; i++) {
        const char *const word = request->link.items[i];
        if (at < request->input_count && word == request->inputs[at].path) {
            if (request->inputs[at].language == CC_LINKER_INPUT)
                cc_list_add(&process.command, word);
            cc_list_add_all(&process.command, &objects_of_input[at]);
            at++;
        } else if (!request->for_cuda || !cc_is_toolkit_library(request, word)) {
            cc_list_add(&process.command, own_library(session, word));
        }
    }
    add_runtime(session, &process.command);
    cc_list_add(&process.command, "-o");
    cc_list_add(&process.command, linked_name(request));
    process.messages = cc_session_file(session, "link", "txt");
    const int status = cc_process_run(session, &process);
    char *const messages = cc_read_messages(process.messages);
    if (!request->dry_run) fputs(messages, stderr);
    if (status) cc_explain(messages);
    free(messages);
    return status;
}

static int make_library(struct cc_session *session, const struct cc_list *objects_of_input)
{
    struct cc_request *const request = session->request;
    struct cc_process process = {0};
    cc_list_add(&process.command, "/usr/bin/ar");
    cc_list_add(&process.command, "rcs");
    cc_list_add(&process.command, request->output ? request->output : "a.a");
    for (size_t i = 0; i < request->input_count; i++) {
        if (request->inputs[i].language == CC_LINKER_INPUT)
            cc_list_add(&process.command, request->inputs[i].path);
        cc_list_add_all(&process.command, &objects_of_input[i]);
    }
    return cc_process_run(session, &process);
}

/* nvcc -dlink makes an object for the link; here there is nothing left to link on the device. */
static int make_empty_object(struct cc_session *session)
{
    struct cc_request *const request = session->request;
    struct cc_process process = {0};
    static const char *const words[] = {"-x", "c", "-fPIC", "-c", "/dev/null", "-o"};
    cc_list_add(&process.command, session->clang);
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        cc_list_add(&process.command, words[i]);
    cc_list_add(&process.command, request->output ? request->output : "a_dlink.o");
    return cc_process_run(session, &process);
}

/* ---- the whole ---- */

static int print_version(struct cc_session *session)
{
    struct cc_process process = {0};
    /* Build systems know a compiler by words of its own. */
    printf(
        "ctascope cc %s, in the place of \"nvcc: NVIDIA (R) Cuda compiler driver\", release %s\n",
        CTASCOPE_VERSION,
        session->request->cuda_version == 13 ? "13.0, V13.0.88" : "12.9, V12.9.86");
    fflush(stdout);
    cc_list_add(&process.command, session->clangxx);
    cc_list_add(&process.command, "--version");
    return cc_process_run(session, &process);
}

static int finish(struct cc_session *session, const struct cc_list *objects_of_input)
{
    switch (session->request->stage) {
    case CC_LINK:
        return link_program(session, objects_of_input);
    case CC_LIBRARY:
        return make_library(session, objects_of_input);
    default:
        return 0;
    }
}

/* CMake looks for these lines in what `nvcc -v` prints: where the toolkit is, which architecture
 * kernels see, and a line for the link, known by the text behind LIBRARIES. For the link we name
 * ourselves. Where the C++ compiler links, CMake adds the runtime that stands there. That compiler
 * finds it through `ctascope env` alone. */
static void describe_toolkit(void)
{
    const char *const share = cts_share_directory();
    const char *const searched = getenv("LIBRARY_PATH");
    const bool found = searched && strstr(searched, "/nvcc/lib64");
    fprintf(stderr,
            "#$ TOP=%s/nvcc\n#$ NVVMIR_LIBRARY_DIR=%s/nvcc/nvvm/libdevice\n"
            "#$ PATH=%s/nvcc/bin:\n#$ INCLUDES=\"-I%s/cpu\"\n#$ LIBRARIES=\"-L%s/nvcc/lib64\"\n"
            "#$ ARCHITECTURE=-arch compute_90\n%s/nvcc/bin/nvcc \"-L%s/nvcc/lib64\"%s\n",
            share, share, share, share, share, share, share,
            found ? " -lcudadevrt -lcudart_static" : "");
}

int cc_request_run(struct cc_session *session)
{
    if (session->request->stage == CC_VERSION) return print_version(session);
    if (session->request->stage == CC_PRECOMPILE) return cc_precompile_headers(session);
    struct cc_request *const request = session->request;
    if (request->verbose && !request->for_cuda) describe_toolkit();
    if (request->stage == CC_DEVICE_LINK) return make_empty_object(session);
    struct cc_list *const objects = calloc(request->input_count, sizeof *objects);
    if (!objects) return 1;
    int status = 0;
    for (size_t i = 0; i < request->input_count && status == 0; i++) {
        if (request->inputs[i].language != CC_LINKER_INPUT)
            status = compile_input(session, &request->inputs[i], &objects[i]);
        else if (request->stage != CC_LINK && request->stage != CC_LIBRARY)
            fprintf(stderr, "ctascope cc: warning: '%s' is ignored: nothing is linked\n",
                    request->inputs[i].path);
    }
    if (status == 0) status = finish(session, objects);
    for (size_t i = 0; i < request->input_count; i++) cc_list_release(&objects[i]);
    free(objects);
    return status;
}
