/* When device code goes wrong: signals become faults of the launch, and faults become text.
 *
 * A signal that hits a thread while it runs device code is answered by changing the place where
 * the thread goes on: it leaves the fiber and is home, where it finds worker->fault. No lock can be
 * held then, since the engine's own work is not done `in_device`. Any other signal goes to the
 * handler that was there before. */
#include "record/cpu/engine/lines.h"
#include "record/cpu/engine/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { ALTERNATE_STACK_BYTES = 64 << 10 };

static const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
enum { SIGNAL_COUNT = sizeof signals / sizeof signals[0] };
static struct sigaction previous[SIGNAL_COUNT];
static bool installed;
static pthread_key_t alternate_stack_key;
static pthread_once_t alternate_stack_once = PTHREAD_ONCE_INIT;

/* ---- Signals ---- */

static void fill_place(struct cts_worker *worker, const struct cts_cta *cta)
{
    struct cts_fault *const fault = &worker->fault;
    fault->has_thread = cta->fibers || worker->naming;
    fault->shared_base = (uint64_t)(uintptr_t)cta->context.shared;
    for (int i = 0; i < 3; i++) {
        fault->cta[i] = cta->context.ctaid[i];
        fault->thread[i] = cta->context.tid[i];
    }
}

static const struct cts_stack *running_stack(const struct cts_cta *cta)
{
    return cta->fibers ? cta->stack[cta->lane] : cta->worker->straight_stack;
}

static enum cts_fault_kind kind_of_signal(int number, const struct cts_cta *cta, uint64_t address)
{
    const struct cts_stack *const stack = running_stack(cta);
    switch (number) {
    case SIGFPE:
        return CTS_FAULT_ARITHMETIC;
    case SIGILL:
        return CTS_FAULT_TRAP;
    default:
        if (stack && (uint64_t)(uintptr_t)stack->low - address <= cts_page_bytes())
            return CTS_FAULT_STACK;
        return CTS_FAULT_ADDRESS;
    }
}

static const void *code_of(const ucontext_t *context)
{
#if defined(__x86_64__)
    return (const void *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#elif defined(__aarch64__)
    return (const void *)(uintptr_t)context->uc_mcontext.pc;
#else
    (void)context;
    return NULL;
#endif
}

/* Makes the interrupted thread go on as if it had called cts_fiber_jump(sp). */
static void go_home(ucontext_t *context, void *sp)
{
#if defined(__x86_64__)
    context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)cts_fiber_jump;
    context->uc_mcontext.gregs[REG_RDI] = (greg_t)(uintptr_t)sp;
    context->uc_mcontext.gregs[REG_EFL] &= ~(greg_t)0x400; /* direction flag */
#elif defined(__aarch64__)
    context->uc_mcontext.pc = (uint64_t)(uintptr_t)cts_fiber_jump;
    context->uc_mcontext.regs[0] = (uint64_t)(uintptr_t)sp;
#endif
}

/* What the signal does by default. A fault happens again when the handler returns; a signal that
 * somebody sent is sent again, and waits until then. */
static void do_default(int number, const struct sigaction *old, const siginfo_t *info)
{
    sigaction(number, old, NULL);
    if (info->si_code <= 0 && old->sa_handler == SIG_DFL) raise(number);
}

static void pass_on(int number, siginfo_t *info, void *context)
{
    for (int i = 0; i < SIGNAL_COUNT; i++) {
        if (signals[i] != number) continue;
        const struct sigaction *const old = &previous[i];
        if (old->sa_flags & SA_SIGINFO)
            old->sa_sigaction(number, info, context);
        else if (old->sa_handler == SIG_DFL || old->sa_handler == SIG_IGN)
            do_default(number, old, info);
        else
            old->sa_handler(number);
    }
}

/* Whether a SIGSEGV came of a read, as far as the processor says so. */
static bool is_read(const ucontext_t *context)
{
#if defined(__x86_64__)
    return !(context->uc_mcontext.gregs[REG_ERR] & 2);
#elif defined(__aarch64__)
    const struct _aarch64_ctx *at = (const void *)context->uc_mcontext.__reserved;
    for (; at->magic && at->magic != ESR_MAGIC; at = (const void *)((const char *)at + at->size)) {
    }
    return at->magic && !(((const struct esr_context *)at)->esr & 1 << 6);
#else
    (void)context;
    return false;
#endif
}

static void on_signal(int number, siginfo_t *info, void *context)
{
    struct cts_worker *const worker = cts_worker_current;
    const bool from_kernel = info->si_code > 0;
    if (!worker || !worker->in_device || !from_kernel) {
        const int kept = errno;
        pass_on(number, info, context);
        errno = kept;
        return;
    }
    const struct cts_cta *const cta = cts_cta_current();
    const uint64_t address = (uint64_t)(uintptr_t)info->si_addr;
    if (number == SIGSEGV && info->si_code != SI_KERNEL && cts_engine_limits.allow_read &&
        is_read(context)) {
        const int kept = errno;
        const bool allowed = cts_engine_limits.allow_read(address);
        errno = kept;
        if (allowed) return; /* and the read is tried again */
    }
    worker->in_device = false;
    worker->fault.kind = kind_of_signal(number, cta, address);
    worker->fault.address = address;
    worker->fault.has_address = info->si_code != SI_KERNEL;
    worker->fault.code = code_of(context);
    worker->fault.text[0] = '\0';
    fill_place(worker, cta);
#ifdef CTS_ENGINE_TSAN
    __tsan_switch_to_fiber(worker->home.fiber, 0);
#endif
#ifdef CTS_ENGINE_ASAN
    __sanitizer_start_switch_fiber(NULL, worker->home.low, worker->home.size_bytes);
#endif
    go_home(context, worker->home_sp);
}

void cts_faults_install(void)
{
    if (installed) return;
    struct sigaction action = {.sa_sigaction = on_signal, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigemptyset(&action.sa_mask);
    for (int i = 0; i < SIGNAL_COUNT; i++) sigaction(signals[i], &action, &previous[i]);
    installed = true;
}

void cts_faults_restore(void)
{
    for (int i = 0; installed && i < SIGNAL_COUNT; i++) {
        struct sigaction now;
        if (sigaction(signals[i], NULL, &now) == 0 && (now.sa_flags & SA_SIGINFO) &&
            now.sa_sigaction == on_signal)
            sigaction(signals[i], &previous[i], NULL);
    }
    installed = false;
}

static void free_alternate_stack(void *memory)
{
    const stack_t none = {.ss_flags = SS_DISABLE};
    sigaltstack(&none, NULL);
    munmap(memory, ALTERNATE_STACK_BYTES);
}

static void make_key(void)
{
    pthread_key_create(&alternate_stack_key, free_alternate_stack);
}

/* A fiber's stack may be what is wrong: signals need another. A thread that has one keeps it. */
void cts_faults_attach_thread(void)
{
    stack_t now;
    pthread_once(&alternate_stack_once, make_key);
    if (pthread_getspecific(alternate_stack_key)) return;
    if (sigaltstack(NULL, &now) != 0 || !(now.ss_flags & SS_DISABLE)) return;
    void *const memory = mmap(NULL, ALTERNATE_STACK_BYTES, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) return; /* a stack overflow ends the process then */
    const stack_t mine = {.ss_sp = memory, .ss_size = ALTERNATE_STACK_BYTES};
    sigaltstack(&mine, NULL);
    pthread_setspecific(alternate_stack_key, memory);
}

/* ---- Faults that the engine finds ---- */

__attribute__((format(printf, 3, 0))) static void
set_fault(struct cts_cta *cta, enum cts_fault_kind kind, const char *format, va_list args)
{
    struct cts_worker *const worker = cta->worker;
    worker->in_device = false;
    worker->fault.kind = kind;
    worker->fault.has_address = false;
    fill_place(worker, cta);
    vsnprintf(worker->fault.text, sizeof worker->fault.text, format, args);
}

void cts_raise(struct cts_cta *cta, enum cts_fault_kind kind, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    set_fault(cta, kind, format, args);
    va_end(args);
    cts_fiber_leave(cta->worker->home_sp, &cta->worker->home);
}

CTS_EXPORT void __cts_misaligned(const void *address, uint64_t mask)
{
    struct cts_cta *const cta = cts_cta_current();
    struct cts_worker *const worker = cta->worker;
    worker->in_device = false;
    worker->fault = (struct cts_fault){.kind = CTS_FAULT_MISALIGNED,
                                       .address = (uint64_t)(uintptr_t)address,
                                       .has_address = true,
                                       .align_bytes = (uint32_t)mask + 1,
                                       .code = (const char *)__builtin_return_address(0) - 1};
    fill_place(worker, cta);
    cts_fiber_leave(worker->home_sp, &worker->home);
}

void cts_fault_set(struct cts_cta *cta, uint32_t lane, enum cts_fault_kind kind, const char *format,
                   ...)
{
    struct cts_worker *const worker = cta->worker;
    va_list args;
    va_start(args, format);
    set_fault(cta, kind, format, args);
    va_end(args);
    worker->fault.has_thread = lane != UINT32_MAX;
    if (lane != UINT32_MAX) {
        const uint64_t position = worker->threads[lane];
        worker->fault.thread[0] = (uint16_t)position;
        worker->fault.thread[1] = (uint16_t)(position >> 16);
        worker->fault.thread[2] = (uint32_t)(position >> 32);
    }
}

/* ---- Text ---- */

const char *cts_fault_kind_text(enum cts_fault_kind kind)
{
    static const char *const texts[] = {
        [CTS_FAULT_ADDRESS] = "address",
        [CTS_FAULT_MISALIGNED] = "misaligned",
        [CTS_FAULT_TRAP] = "trap",
        [CTS_FAULT_ASSERT] = "assert",
        [CTS_FAULT_BARRIER] = "barrier",
        [CTS_FAULT_STACK] = "stack",
        [CTS_FAULT_ARITHMETIC] = "arithmetic",
        [CTS_FAULT_DEADLOCK] = "deadlock",
        [CTS_FAULT_MEMORY] = "memory",
    };
    return texts[kind];
}

static const char *fault_text(const struct cts_fault *fault)
{
    if (fault->text[0]) return fault->text;
    switch (fault->kind) {
    case CTS_FAULT_STACK:
        return "stack overflow (deep recursion or large local arrays; CTASCOPE_STACK sets the "
               "stack size of a thread)";
    case CTS_FAULT_ARITHMETIC:
        return "integer division by zero or overflow";
    case CTS_FAULT_TRAP:
        return "trap";
    case CTS_FAULT_MISALIGNED:
        return "misaligned address";
    default:
        return "invalid address";
    }
}

/* ---- Where ---- */

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text), end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

/* The user's source that a line table calls `name`; NULL: none. */
static const struct cts_source_desc *find_source(const struct cts_file_desc *file, const char *name)
{
    const char *plain = name;
    while (strncmp(plain, "./", 2) == 0) plain += 2;
    for (uint32_t i = 0; i < file->source_count; i++) {
        const struct cts_source_desc *const source = &file->sources[i];
        if (!source->text || !*source->text) continue;
        if (strcmp(source->path, name) == 0) return source;
        const size_t length = strlen(source->path), plain_length = strlen(plain);
        if (ends_with(source->path, plain) && length > plain_length &&
            source->path[length - plain_length - 1] == '/')
            return source;
    }
    const char *const slash = strrchr(name, '/'); /* "../a/k.cu" */
    return slash ? find_source(file, slash + 1) : NULL;
}

static bool is_users(const void *user, const char *name)
{
    return find_source(user, name) != NULL;
}

static bool has_line(const struct cts_fault *fault)
{
    switch (fault->kind) {
    case CTS_FAULT_ADDRESS:
    case CTS_FAULT_MISALIGNED:
    case CTS_FAULT_TRAP:
    case CTS_FAULT_STACK:
    case CTS_FAULT_ARITHMETIC:
        return fault->code != NULL;
    default:
        return false; /* the text says it, or it is no single place */
    }
}

static void find_line(const struct cts_grid *launch, const struct cts_fault *fault,
                      struct cts_launch_result *result)
{
    struct cts_line line;
    const struct cts_file_desc *const file = launch->request->file->desc;
    if (!has_line(fault) || !cts_line_of(fault->code, is_users, file, &line)) return;
    const struct cts_source_desc *const source = find_source(file, line.file);
    snprintf(result->fault_path, sizeof result->fault_path, "%s",
             source ? source->path : line.file);
    result->fault_line = line.line;
}

/* ---- Shared memory ---- */

static const struct cts_variable_desc *nearest_shared(const struct cts_file_desc *file,
                                                      int64_t offset)
{
    const struct cts_variable_desc *best = NULL;
    for (uint32_t i = 0; i < file->variable_count; i++) {
        const struct cts_variable_desc *const variable = &file->variables[i];
        if (variable->kind != CTS_VARIABLE_SHARED) continue;
        const int64_t begin = (int64_t)variable->shared_offset;
        const bool is_closer = !best || (offset < 0 ? begin < (int64_t)best->shared_offset
                                                    : begin > (int64_t)best->shared_offset);
        if ((offset < 0 || begin <= offset) && is_closer) best = variable;
    }
    return best;
}

/* "shared memory, 16 B behind the CTA's window of 4,096 B: 16 B behind 's'" */
static void describe_shared(const struct cts_grid *launch, int64_t offset, char *text,
                            size_t text_bytes)
{
    const int64_t window = launch->shared_bytes;
    const struct cts_variable_desc *const variable =
        nearest_shared(launch->request->file->desc, offset);
    const bool is_before = offset < 0;
    int used = snprintf(text, text_bytes, ": shared memory, %lld B %s the CTA's window of %lld B",
                        (long long)(is_before ? -offset : offset - window),
                        is_before ? "before" : "past", (long long)window);
    if (!variable || used < 0 || (size_t)used >= text_bytes) return;
    const int64_t begin = (int64_t)variable->shared_offset,
                  end = begin + (int64_t)variable->size_bytes;
    if (launch->request->dynamic_shared_bytes && !is_before) return; /* behind the dynamic part */
    snprintf(text + used, text_bytes - (size_t)used, ", %lld B %s '%s'",
             (long long)(is_before ? begin - offset : offset - end), is_before ? "before" : "past",
             variable->display_name);
}

/* Where an address is that misses the CTA's window; false: it cannot be meant. */
static bool shared_offset(const struct cts_fault *fault, int64_t *offset)
{
    /* What an index of 32 bits reaches; see window.c. */
    const int64_t reach_bytes = (int64_t)1 << 36;
    *offset = (int64_t)(fault->address - fault->shared_base);
    return fault->has_address && fault->shared_base && *offset >= -reach_bytes &&
           *offset < reach_bytes && cts_window_is_apart(fault->shared_base);
}

/* ---- The whole ---- */

static void describe_address(const struct cts_fault *fault, char *text, size_t text_bytes)
{
    const bool is_access = fault->kind == CTS_FAULT_ADDRESS || fault->kind == CTS_FAULT_MISALIGNED;
    *text = '\0';
    if (is_access && fault->has_address)
        snprintf(text, text_bytes, " 0x%llx", (unsigned long long)fault->address);
    else if (is_access && !fault->text[0])
        snprintf(text, text_bytes, " (beyond 48 bits)");
    const size_t used = strlen(text);
    if (fault->kind == CTS_FAULT_MISALIGNED)
        snprintf(text + used, text_bytes - used, " of an access that needs a multiple of %u",
                 fault->align_bytes);
}

static void describe_place(const struct cts_launch_result *result, char *text, size_t text_bytes)
{
    const char *const slash = strrchr(result->fault_path, '/');
    *text = '\0';
    if (*result->fault_path)
        snprintf(text, text_bytes, " at %s:%u", slash ? slash + 1 : result->fault_path,
                 result->fault_line);
}

/* Names of templates of templates have thousands of characters: of a long one its begin and end, so
 * that what follows has room. */
static void describe_kernel(const struct cts_kernel_desc *kernel, char *text, size_t text_bytes)
{
    const char *const name =
        kernel->display_name && *kernel->display_name ? kernel->display_name : kernel->name;
    const size_t length = strlen(name), end_length = text_bytes / 3;
    if (length < text_bytes)
        snprintf(text, text_bytes, "%s", name);
    else
        snprintf(text, text_bytes, "%.*s..%s", (int)(text_bytes - end_length - 3), name,
                 name + length - end_length);
}

void cts_fault_describe(const struct cts_grid *launch, const struct cts_fault *fault,
                        struct cts_launch_result *result)
{
    char thread[64] = "one of its threads", address[96], place[300], shared[300] = "";
    char kernel_text[200];
    int64_t offset = 0;
    if (fault->has_thread)
        snprintf(thread, sizeof thread, "thread (%u,%u,%u)", fault->thread[0], fault->thread[1],
                 fault->thread[2]);
    result->fault_has_thread = fault->has_thread;
    memcpy(result->fault_cta, fault->cta, sizeof result->fault_cta);
    memcpy(result->fault_thread, fault->thread, sizeof result->fault_thread);
    const bool is_access = fault->kind == CTS_FAULT_ADDRESS || fault->kind == CTS_FAULT_MISALIGNED;
    if (is_access && fault->has_address) result->fault_address = fault->address;
    result->fault_is_shared = is_access && shared_offset(fault, &offset);
    find_line(launch, fault, result);
    describe_address(fault, address, sizeof address);
    describe_place(result, place, sizeof place);
    describe_kernel(launch->request->kernel, kernel_text, sizeof kernel_text);
    if (result->fault_is_shared && fault->kind == CTS_FAULT_ADDRESS)
        describe_shared(launch, offset, shared, sizeof shared);
    snprintf(result->text, sizeof result->text, "kernel '%s': CTA (%u,%u,%u), %s: %s%s%s%s",
             kernel_text, fault->cta[0], fault->cta[1], fault->cta[2], thread, fault_text(fault),
             address, place, shared);
}

static const char *const wait_texts[] = {
    [CTS_WAIT_NONE] = "nothing",
    [CTS_WAIT_BARRIER] = "barrier",
    [CTS_WAIT_GRID] = "a grid barrier",
    [CTS_WAIT_YIELD] = "a spin loop",
    [CTS_WAIT_CATCH_UP] = "a shared-memory access",
    [CTS_WAIT_SYNC] = "__syncwarp",
    [CTS_WAIT_SHUFFLE] = "a shuffle",
    [CTS_WAIT_ALL] = "a vote (all)",
    [CTS_WAIT_ANY] = "a vote (any)",
    [CTS_WAIT_UNI] = "a vote (uni)",
    [CTS_WAIT_BALLOT] = "a ballot",
    [CTS_WAIT_ACTIVE] = "__activemask",
    [CTS_WAIT_MATCH_ANY] = "a match (any)",
    [CTS_WAIT_MATCH_ALL] = "a match (all)",
    [CTS_WAIT_ADD] = "a reduction (add)",
    [CTS_WAIT_UMIN] = "a reduction (umin)",
    [CTS_WAIT_UMAX] = "a reduction (umax)",
    [CTS_WAIT_MIN] = "a reduction (min)",
    [CTS_WAIT_MAX] = "a reduction (max)",
    [CTS_WAIT_AND] = "a reduction (and)",
    [CTS_WAIT_OR] = "a reduction (or)",
    [CTS_WAIT_XOR] = "a reduction (xor)",
};

static void describe_wait(const struct cts_cta *cta, uint32_t lane, char *text, size_t text_bytes)
{
    const enum cts_wait_kind wait = cta->wait[lane];
    if (wait == CTS_WAIT_BARRIER) {
        const struct cts_barrier *const barrier = &cta->barrier[cta->wait_mask[lane]];
        snprintf(text, text_bytes, "barrier %u of the CTA (%u of %u threads have arrived)",
                 cta->wait_mask[lane], barrier->arrived,
                 barrier->expected ? barrier->expected : cta->live_count);
    } else if (wait >= CTS_WAIT_SYNC) {
        snprintf(text, text_bytes, "%s with mask 0x%08x", wait_texts[wait], cta->wait_mask[lane]);
    } else {
        snprintf(text, text_bytes, "%s", wait_texts[wait]);
    }
}

static bool waits_alike(const struct cts_cta *cta, uint32_t a, uint32_t b)
{
    return cta->wait[a] == cta->wait[b] && cta->wait_mask[a] == cta->wait_mask[b];
}

static bool is_live(const struct cts_cta *cta, uint32_t lane)
{
    return cta->warps[lane / CTS_WARP_LANES].live >> lane % CTS_WARP_LANES & 1;
}

/* Nobody in the CTA can run: names a thread that waits, and one that waits for something else. */
void cts_fault_stuck(struct cts_cta *cta)
{
    const uint32_t count = cta->launch->thread_count;
    uint32_t first = 0, other;
    bool barrier = false;
    while (first < count && !is_live(cta, first)) first++;
    if (first == count) return;
    for (uint32_t i = 0; i < count; i++)
        barrier |= is_live(cta, i) && cta->wait[i] == CTS_WAIT_BARRIER;
    for (other = first; other < count; other++)
        if (is_live(cta, other) && !waits_alike(cta, first, other)) break;
    char first_text[96], other_text[96];
    describe_wait(cta, first, first_text, sizeof first_text);
    const enum cts_fault_kind kind = barrier ? CTS_FAULT_BARRIER : CTS_FAULT_DEADLOCK;
    if (other == count) {
        cts_fault_set(cta, first, kind, "waits forever at %s", first_text);
        return;
    }
    describe_wait(cta, other, other_text, sizeof other_text);
    const uint64_t position = cta->worker->threads[other];
    cts_fault_set(cta, first, kind, "waits forever at %s, while thread (%u,%u,%u) waits at %s",
                  first_text, (unsigned)(uint16_t)position, (unsigned)(uint16_t)(position >> 16),
                  (unsigned)(position >> 32), other_text);
}
