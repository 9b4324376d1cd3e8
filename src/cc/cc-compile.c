/* From one CUDA source to its object, for `ctascope cc`; for GPUs: cc-cuda.c.
 *
 * CPU device, four steps, the host compile beside the two of device code:
 *
 *     source --device--> K.bc --retarget--> K.dev.o --+
 *       |                                             +--> one object (ld -r), or the link
 *       +----host, with K.tu as fat binary --> K.host.o +
 *
 * K.tu holds the id of the translation unit; the object that retarget makes registers its kernels
 * under the same id, which is how the runtime joins the two.
 *
 * Both compiles of the source find the same errors. Their messages go to files first; what both
 * say is printed once. */
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cc/cc-steps.h"
#include "common/hash.h"
#include "common/install.h"
#include "common/text-stream.h"

/* ---- commands ---- */

static void device_command(struct cc_session *session, const struct cc_input *input,
                           const char *unit, const char *output, struct cc_process *process)
{
    cc_open_own(session, process, "--cuda-device-only", CC_CPU_ARCHITECTURE);
    /* nvcc says nothing of loops that it cannot unroll; "retarget" turns them inside out anyway. */
    cc_add(process, "--cuda-feature=+ptx83", "-Wno-pass-failed");
    cc_list_add_all(&process->command, &session->request->device);
    cc_add(process, cc_device_optimisation(session->request), NULL);
    cc_add_device_dialect(process);
    cc_add(process, "-Xclang", "-debug-info-kind=limited");
    cc_add_plugin(session, process);
    cc_add(process, "-c", "-emit-llvm");
    cc_close_cuda(process, input, output);
    cc_add_settings(session, process, "device", unit);
}

static void add_machine(struct cc_session *session, struct cc_process *process)
{
    const struct cc_list *const machine = &session->request->machine;
    bool has_march = false;
    for (size_t i = 0; i < machine->count; i++)
        has_march |= strncmp(machine->items[i], "-march=", 7) == 0;
    /* Of a machine that has a feature only with another one, clang would say so each time. */
    if (!has_march) cc_add(process, "-march=native", "-Wno-invalid-feature-combination");
    cc_list_add_all(&process->command, machine);
}

static void retarget_command(struct cc_session *session, const char *bitcode, const char *unit,
                             const char *output, struct cc_process *process)
{
    cc_add(process, session->clangxx, "-Wno-override-module");
    cc_add(process, "-Wno-pass-failed", NULL);
    cc_add(process, cc_device_optimisation(session->request), "-fPIC");
    add_machine(session, process);
    cc_add_plugin(session, process);
    cc_add(process, "-Xclang", "-mlink-builtin-bitcode");
    cc_add(process, "-Xclang", cc_part(session, cts_library_directory(), "cpu-device.bc"));
    cc_add(process, "-c", "-x");
    cc_add(process, "ir", bitcode);
    cc_add(process, "-o", output);
    cc_add_settings(session, process, "retarget", unit);
}

/* What the host's half is compiled to. */
struct host_half {
    const char *unit;        /* the name that joins it with the device's half */
    const char *output;      /* the file that the compiler writes */
    const char *object_name; /* the object that the user sees: make's dependencies name it */
};

static void host_command(struct cc_session *session, const struct cc_input *input,
                         const struct host_half *half, struct cc_process *process)
{
    const char *const unit_file = cc_session_file(session, input->path, "tu");
    FILE *const file = session->request->dry_run ? NULL : fopen(unit_file, "w");
    if (file) {
        fprintf(file, "%s\n", half->unit);
        fclose(file);
    }
    cc_open_own(session, process, "--cuda-host-only", CC_CPU_ARCHITECTURE);
    cc_add_host_options(session, process);
    if (session->request->instrument) {
        cc_add(process, "-Xclang", "-debug-info-kind=constructor");
    }
    cc_add_plugin(session, process);
    cc_add(process, "-Xclang", "-fcuda-include-gpubinary");
    cc_add(process, "-Xclang", unit_file);
    cc_add_dependency_options(session, &process->command, half->object_name);
    cc_add(process, "-c", NULL);
    cc_close_cuda(process, input, half->output);
    cc_add_settings(session, process, "host", half->unit);
}

void cc_plain_command(struct cc_session *session, const struct cc_input *input,
                      struct cc_process *process)
{
    const bool is_c = input->language == CC_C;
    cc_add(process, is_c ? session->clang : session->clangxx, NULL);
    if (session->request->for_cuda)
        cc_add_runtime_headers(session, process);
    else
        cc_add(process, "-idirafter", cc_part(session, cts_share_directory(), "cpu"));
    cc_add_cuda_version(session, process);
    cc_list_add_all(&process->command, &session->request->shared);
    cc_add_host_options(session, process);
    if (input->clang_language) cc_add(process, "-x", input->clang_language);
    cc_add(process, input->path, NULL);
}

/* ---- messages ---- */

char *cc_read_messages(const char *path)
{
    FILE *const file = fopen(path, "r");
    struct cts_text_stream stream;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) abort();
    int byte;
    while (file && (byte = getc(file)) != EOF) putc(byte, memory);
    if (file) fclose(file);
    char *const text = cts_text_stream_close(&stream, NULL);
    if (!text) abort();
    return text;
}

static bool is_noise(const char *line, size_t length)
{
    static const char layouts[] = "Linking two modules of different data layouts";
    return memmem(line, length, layouts, strlen(layouts)) != NULL;
}

static bool is_total(const char *line, size_t length)
{
    static const char generated[] = " generated";
    return line[0] >= '0' && line[0] <= '9' &&
           memmem(line, length, generated, strlen(generated)) != NULL;
}

static bool starts_message(const char *line, size_t length)
{
    return memmem(line, length, "error: ", 7) || memmem(line, length, "warning: ", 9) ||
           memmem(line, length, "In file included", 16);
}

/* Prints the messages of `text` that `printed` does not hold. */
static void print_messages(const char *text, const char *printed)
{
    while (*text) {
        size_t length = 0;
        do {
            const char *const line = text + length;
            length += strcspn(line, "\n") + (strchr(line, '\n') != NULL);
        } while (text[length] && !starts_message(text + length, strcspn(text + length, "\n")) &&
                 !is_total(text + length, strcspn(text + length, "\n")));
        const bool noise = is_noise(text, length) || (printed && is_total(text, length));
        const bool seen = printed && memmem(printed, strlen(printed), text, length);
        if (!noise && !seen && length > 1) fwrite(text, 1, length, stderr);
        text += length;
    }
}

/* Clang has no source at hand when it reads bitcode, and puts the position behind the kind:
 * "error: k.cu:3:10: text". Turned around, it reads as all of its messages do. */
static bool print_turned(const char *line, size_t length)
{
    static const char *const kinds[] = {"error: ", "warning: "};
    for (size_t i = 0; i < 2; i++) {
        const size_t kind = strlen(kinds[i]);
        int line_number, column, at = 0;
        const char *colon = line + kind;
        if (strncmp(line, kinds[i], kind) != 0) continue;
        while ((colon = memchr(colon, ':', length - (size_t)(colon - line)))) {
            char *end;
            line_number = (int)strtol(colon + 1, &end, 10);
            column = *end == ':' ? (int)strtol(end + 1, &end, 10) : 0;
            at = (int)(end - line);
            if (line_number > 0 && column > 0 && end[0] == ':') break;
            colon++;
        }
        if (!colon) return false;
        fprintf(stderr, "%.*s: %.*s%.*s", at - (int)kind, line + kind, (int)kind, kinds[i],
                (int)length - at - 2, line + at + 2);
        return true;
    }
    return false;
}

static void print_retarget_messages(const char *text)
{
    while (*text) {
        const size_t length = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
        if (!is_noise(text, length) && length > 1 && !print_turned(text, length))
            fwrite(text, 1, length, stderr);
        text += length;
    }
}

struct step_messages {
    const char *device, *retarget, *host; /* files */
};

static void report(const struct step_messages *messages, int device_status, int host_status)
{
    char *const device = cc_read_messages(messages->device);
    char *const host = cc_read_messages(messages->host);
    char *const retarget = cc_read_messages(messages->retarget);
    if (host_status || !device_status) {
        print_messages(host, NULL);
        print_messages(device, host);
    } else {
        print_messages(device, NULL);
        print_messages(host, device);
    }
    print_retarget_messages(retarget);
    if ((host_status || device_status) && !cc_explain(host) && !cc_explain(device))
        cc_explain(retarget);
    free(device);
    free(host);
    free(retarget);
}

/* ---- the steps ---- */

static int compile_device(struct cc_session *session, struct cc_process *device,
                          struct cc_process *retarget)
{
    int status = cc_process_wait(device);
    if (status == 0) {
        cc_process_start(session, retarget);
        status = cc_process_wait(retarget);
    }
    return status;
}

static int join_objects(struct cc_session *session, const char *host, const char *device,
                        const char *output)
{
    struct cc_process process = {0};
    cc_add(&process, session->clangxx, "-r");
    cc_add(&process, "-nostdlib", host);
    cc_add(&process, device, "-o");
    cc_add(&process, output, NULL);
    return cc_process_run(session, &process);
}

/* What a compile with precompiled headers failed for it does not say: they may be the reason. */
static int try_for_cpu(struct cc_session *session, const struct cc_input *input,
                       struct cc_list *objects, const char *object_name)
{
    const bool to_object = session->request->stage != CC_LINK;
    const char *const unit = cc_unit(session, input, object_name);
    const char *const bitcode = cc_session_file(session, input->path, "bc");
    const char *const device_object = cc_session_file(session, input->path, "dev.o");
    const char *const host_object = cc_session_file(session, input->path, "host.o");
    const struct step_messages messages = {
        .device = cc_session_file(session, input->path, "device.txt"),
        .retarget = cc_session_file(session, input->path, "retarget.txt"),
        .host = cc_session_file(session, input->path, "host.txt")};
    struct cc_process device = {.messages = messages.device};
    struct cc_process retarget = {.messages = messages.retarget};
    struct cc_process host = {.messages = messages.host};
    device_command(session, input, unit, bitcode, &device);
    retarget_command(session, bitcode, unit, device_object, &retarget);
    host_command(session, input, &(struct host_half){unit, host_object, object_name}, &host);
    cc_process_start(session, &device);
    cc_process_start(session, &host);
    const int device_status = compile_device(session, &device, &retarget);
    const int host_status = cc_process_wait(&host);
    if (!session->request->dry_run && !cc_stopped() &&
        !(session->precompiled_host && (device_status || host_status)))
        report(&messages, device_status, host_status);
    cc_process_release(&device);
    cc_process_release(&retarget);
    cc_process_release(&host);
    if (device_status || host_status) return device_status ? device_status : host_status;
    if (to_object) return join_objects(session, host_object, device_object, object_name);
    cc_list_add(objects, host_object);
    cc_list_add(objects, device_object);
    return 0;
}

static int compile_for_cpu(struct cc_session *session, const struct cc_input *input,
                           struct cc_list *objects, const char *object_name)
{
    if (cc_find_precompiled(session)) {
        const int status = try_for_cpu(session, input, objects, object_name);
        session->precompiled_device = session->precompiled_host = NULL;
        if (status == 0 || cc_stopped()) return status;
    }
    return try_for_cpu(session, input, objects, object_name);
}

int cc_compile_cuda(struct cc_session *session, const struct cc_input *input,
                    struct cc_list *objects, const char *object_name)
{
    session->overlay = cc_tolerate(session, input);
    return session->request->for_cuda ? cc_compile_for_gpu(session, input, objects, object_name)
                                      : compile_for_cpu(session, input, objects, object_name);
}

int cc_preprocess_cuda(struct cc_session *session, const struct cc_input *input)
{
    struct cc_request *const request = session->request;
    struct cc_process process = {0};
    session->overlay = cc_tolerate(session, input);
    if (request->for_cuda)
        cc_open_for_gpu(session, &process, "--cuda-host-only");
    else
        cc_open_own(session, &process, "--cuda-host-only", CC_CPU_ARCHITECTURE);
    cc_list_add_all(&process.command, &request->host);
    if (request->stage == CC_PREPROCESS) {
        cc_add(&process, "-E", NULL);
    } else {
        cc_add(&process, request->user_headers_only ? "-MM" : "-M", NULL);
        cc_list_add_all(&process.command, &request->dependency_flags);
        if (request->dependency_file) cc_add(&process, "-MF", request->dependency_file);
    }
    cc_close_cuda(&process, input, request->output);
    return cc_process_run(session, &process);
}
