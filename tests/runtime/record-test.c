/* Recording: the test starts itself anew as the traced program, with one of the scripts below and
 * CTASCOPE_* set, and reads what it left. */
#include "kernels.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "ctascope/record.h"
#include "record/abi.h"
#include "trace/acc.h"
#include "trace/catalogue.h"

/* ---- the traced programs ---- */

enum { COUNT = 1000 };

static int everything(void)
{
    static const struct cts_allocation_desc hint = {.variable = "d_data",
                                                    .type_name = "int",
                                                    .path = "/src/host.cu",
                                                    .function = "main",
                                                    .line = 12,
                                                    .column = 3,
                                                    .element_bytes = 4};
    int *data, *hinted, host[COUNT] = {0};
    size_t pitch;
    cudaStream_t stream;
    cudaEvent_t event;
    __cts_allocation_hint(&hint);
    if (cudaMalloc((void **)&hinted, sizeof host)) return 1;
    if (cudaMallocPitch((void **)&data, &pitch, 100, 8)) return 1;
    if (cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking)) return 1;
    if (cudaEventCreate(&event)) return 1;
    if (cudaMemcpy(hinted, host, sizeof host, cudaMemcpyHostToDevice)) return 1;
    if (cudaMemset(hinted, 0, 100)) return 1;
    if (launch_fill(hinted, 5, COUNT, NULL)) return 1;
    if (cudaEventRecord(event, NULL)) return 1;
    if (cudaStreamWaitEvent(stream, event, 0)) return 1;
    if (launch_add(hinted, 1, COUNT, stream)) return 1;
    if (cudaStreamSynchronize(stream)) return 1;
    if (cudaMemcpy2D(data, pitch, hinted, 50, 50, 8, cudaMemcpyDeviceToDevice)) return 1;
    if (cudaMemcpy(host, hinted, sizeof host, cudaMemcpyDeviceToHost)) return 1;
    if (cudaDeviceSynchronize()) return 1;
    if (cudaFree(hinted)) return 1;
    if (cudaStreamDestroy(stream)) return 1;
    return host[0] == 6 && host[999] == 1005 ? 42 : 1;
}

static int launches(void)
{
    int *data;
    if (cudaMalloc((void **)&data, COUNT * sizeof *data)) return 1;
    cts_stop();
    launch_fill(data, 0, COUNT, NULL);
    cts_start();
    for (int i = 0; i < 6; i++) {
        launch_add(data, i, COUNT, NULL);
        launch_fill(data, i, COUNT, NULL);
        if (i == 2) cudaProfilerStart();
        if (i == 4) cudaProfilerStop();
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

static int profiled(void)
{
    int *data;
    if (cudaMalloc((void **)&data, COUNT * sizeof *data)) return 1;
    for (int i = 0; i < 6; i++) {
        if (i == 2) cudaProfilerStart();
        if (i == 4) cudaProfilerStop();
        launch_add(data, i, COUNT, NULL);
    }
    return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}

static int host_accesses(void)
{
    int *managed, *device, own[100];
    if (cudaMallocManaged((void **)&managed, 4000, cudaMemAttachGlobal)) return 1;
    if (cudaMalloc((void **)&device, 4000)) return 1;
    for (int i = 0; i < 100; i++) {
        __cts_host_access(&managed[i], 4, 1);
        __cts_host_access(&own[i], 4, 1);
    }
    __cts_host_access(&managed[500], 8, 0);
    launch_add(managed, 1, COUNT, NULL);
    if (cudaDeviceSynchronize()) return 1;
    for (int i = 99; i >= 0; i--) __cts_host_access(&managed[i], 4, 0);
    return cudaFree(managed) == cudaSuccess ? 0 : 1;
}

static int no_synchronisation(void)
{
    int *data;
    if (cudaMalloc((void **)&data, COUNT * sizeof *data)) return 1;
    for (int i = 0; i < 20; i++)
        if (launch_fill(data, i, COUNT, NULL)) return 1;
    return 7;
}

static int killed(void)
{
    int *data;
    if (cudaMalloc((void **)&data, COUNT * sizeof *data)) return 1;
    launch_fill(data, 1, COUNT, NULL);
    if (cudaDeviceSynchronize()) return 1;
    launch_poke((void *)0x40, NULL);
    cudaDeviceSynchronize();
    usleep(500000); /* rows are committed ten times a second */
    _exit(9);
}

static const struct {
    const char *name;
    int (*run)(void);
} programs[] = {
    {"everything", everything},
    {"launches", launches},
    {"profiled", profiled},
    {"host_accesses", host_accesses},
    {"no_synchronisation", no_synchronisation},
    {"killed", killed},
};

/* ---- running them ---- */

static const char *self;
static char run_path[200];

/* Runs a program with variables "NAME=value", NULL at the end; returns its status and what it
 * wrote to stderr. */
static int run_program(const char *name, const char *const *variables, char *text, size_t capacity)
{
    static unsigned number;
    snprintf(run_path, sizeof run_path, "/tmp/ctascope-record-test-%d-%u", getpid(), number++);
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        setenv("CTASCOPE_RUN", run_path, 1);
        for (; *variables; variables++) putenv((char *)(uintptr_t)*variables);
        execl(self, self, name, (char *)NULL);
        _exit(127);
    }
    close(ends[1]);
    size_t length = 0;
    ssize_t got;
    while ((got = read(ends[0], text + length, capacity - 1 - length)) > 0) length += (size_t)got;
    text[length] = '\0';
    close(ends[0]);
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void read_run(struct cts_catalogue *catalogue)
{
    struct cts_error error;
    if (cts_catalogue_read(run_path, catalogue, &error) != CTS_OK) fail_msg("%s", error.text);
}

static void remove_run(void)
{
    char command[300];
    snprintf(command, sizeof command, "rm -rf '%s'", run_path);
    assert_int_equal(system(command), 0);
}

#define RUN(name, ...)                                                                             \
    run_program(name, (const char *const[]){__VA_ARGS__ __VA_OPT__(, ) NULL}, text, sizeof text)

/* ---- the tests ---- */

static const struct cts_launch *launch_of(const struct cts_catalogue *catalogue, const char *name,
                                          unsigned number)
{
    for (size_t i = 0; i < catalogue->launch_count; i++)
        if (strstr(catalogue->kernels[catalogue->launches[i].kernel].name, name) && number-- == 0)
            return &catalogue->launches[i];
    fail_msg("no launch of %s", name);
    return NULL;
}

static const struct cts_sync *sync_of(const struct cts_catalogue *catalogue, const char *kind)
{
    for (size_t i = 0; i < catalogue->sync_count; i++)
        if (strcmp(catalogue->syncs[i].kind, kind) == 0) return &catalogue->syncs[i];
    fail_msg("no sync of kind %s", kind);
    return NULL;
}

static void check_file_rows(const struct cts_catalogue *catalogue)
{
    assert_int_equal(catalogue->module_count, 1);
    assert_string_equal(catalogue->modules[0].name, "/src/kernels.cu");
    assert_int_equal(catalogue->source_count, 1);
    assert_string_equal(catalogue->sources[0].text, "// the source\n");
    assert_int_equal(catalogue->kernel_count, 8);
    assert_string_equal(catalogue->kernels[0].name, "fill(int *, int, int)");
    assert_string_equal(catalogue->kernels[0].mangled, "_Z4fillPiii");
    assert_true(catalogue->kernels[0].instrumented);
    assert_false(catalogue->kernels[2].instrumented);
    assert_int_equal(catalogue->site_count, 3);
    assert_int_equal(catalogue->sites[1].line, 4);
    assert_int_equal(catalogue->sites[1].operation, CTS_LOAD);
    assert_string_equal(catalogue->sites[1].variable, "data");
    assert_int_equal(catalogue->variable_count, 5);
    assert_string_equal(catalogue->variables[4].kind, "shared");
    assert_int_equal(catalogue->variables[4].address, 64);
    assert_int_equal(catalogue->skipped_count, 1);
}

static const struct cts_allocation *allocation_of(const struct cts_catalogue *catalogue,
                                                  const char *call)
{
    for (size_t i = 0; i < catalogue->allocation_count; i++)
        if (catalogue->allocations[i].call && strcmp(catalogue->allocations[i].call, call) == 0)
            return &catalogue->allocations[i];
    fail_msg("no allocation by %s", call);
    return NULL;
}

static void check_allocations(const struct cts_catalogue *catalogue)
{
    const struct cts_allocation *const hinted = allocation_of(catalogue, "cudaMalloc");
    assert_string_equal(hinted->variable, "d_data");
    assert_string_equal(hinted->type, "int");
    assert_string_equal(hinted->kind, "device");
    assert_int_equal(hinted->line, 12);
    assert_int_equal(hinted->size_bytes, COUNT * 4);
    assert_true(hinted->freed_op > hinted->op && hinted->freed_op != UINT64_MAX);
    const struct cts_allocation *const pitched = allocation_of(catalogue, "cudaMallocPitch");
    assert_null(pitched->variable); /* a hint is used up */
    assert_int_equal(pitched->size_bytes, 512 * 8);
    assert_true(pitched->freed_op == UINT64_MAX);
    unsigned variables = 0;
    for (size_t i = 0; i < catalogue->allocation_count; i++)
        if (strcmp(catalogue->allocations[i].kind, "variable") == 0) variables++;
    assert_int_equal(variables, 2); /* table, constants; a texture's handle is no memory */
}

static void check_copies(const struct cts_catalogue *catalogue)
{
    assert_int_equal(catalogue->copy_count, 4);
    const struct cts_copy *const copies = catalogue->copies;
    assert_string_equal(copies[0].kind, "HtoD");
    assert_int_equal(copies[0].width_bytes, COUNT * 4);
    assert_int_equal(copies[0].height, 1);
    assert_false(copies[0].asynchronous);
    assert_string_equal(copies[1].kind, "memset");
    assert_int_equal(copies[1].width_bytes, 100);
    assert_string_equal(copies[2].kind, "DtoD");
    assert_int_equal(copies[2].width_bytes, 50);
    assert_int_equal(copies[2].height, 8);
    assert_int_equal(copies[2].destination_pitch, 512);
    assert_int_equal(copies[2].source_pitch, 50);
    assert_string_equal(copies[3].kind, "DtoH");
    for (int i = 0; i < 4; i++) {
        assert_true(copies[i].call_ns <= copies[i].start_ns);
        assert_true(copies[i].start_ns <= copies[i].end_ns);
        assert_true(i == 0 || copies[i].op > copies[i - 1].op);
    }
    assert_int_equal(copies[0].destination, allocation_of(catalogue, "cudaMalloc")->address);
}

/* Checks that the launch's accesses at a site are its COUNT elements in order. */
static void check_records(const struct cts_launch *launch, uint32_t site, uint64_t address)
{
    struct cts_acc_reader *reader = NULL;
    struct cts_error error;
    if (cts_acc_open(run_path, &reader, &error) != CTS_OK) fail_msg("%s", error.text);
    struct cts_acc_batch batch = {0};
    size_t chunk_count, lanes = 0;
    const struct cts_acc_chunk *const chunks = cts_acc_chunks(reader, &chunk_count);
    for (size_t i = 0; i < chunk_count; i++) {
        if (chunks[i].launch != launch->launch) continue;
        assert_int_equal(cts_acc_read(reader, &chunks[i], &batch, &error), CTS_OK);
        for (size_t k = 0; k < batch.record_count; k++) {
            const struct cts_access access = cts_acc_record(&batch, k);
            uint64_t addresses[CTS_WARP_LANES];
            cts_access_addresses(&access, addresses);
            for (unsigned lane = 0; lane < 32 && access.site == site; lane++) {
                if (!(access.mask >> lane & 1)) continue;
                const uint32_t element = access.cta * 64 + access.warp * 32u + lane;
                assert_int_equal(addresses[lane], address + 4 * element);
                lanes++;
            }
        }
    }
    assert_int_equal(lanes, COUNT);
    cts_acc_batch_release(&batch);
    cts_acc_close(reader);
}

static void a_run_has_every_row(void **state)
{
    (void)state;
    char text[2000];
    assert_int_equal(RUN("everything"), 42); /* the program's own status */
    assert_string_equal(text, "");
    struct cts_catalogue catalogue;
    read_run(&catalogue);
    check_file_rows(&catalogue);
    check_allocations(&catalogue);
    check_copies(&catalogue);
    assert_int_equal(catalogue.rank_count, 1);
    assert_int_not_equal(catalogue.ranks[0].end_ns, 0);
    assert_int_equal(catalogue.ranks[0].accesses, 3 * COUNT);
    assert_null(catalogue.ranks[0].failure);
    assert_int_equal(catalogue.device_count, 1);
    assert_string_equal(catalogue.devices[0].kind, "cpu");
    assert_int_equal(catalogue.stream_count, 2);
    assert_string_equal(catalogue.streams[0].kind, "non-blocking");
    assert_true(catalogue.streams[0].destroyed_op != UINT64_MAX);
    assert_string_equal(catalogue.streams[1].kind, "legacy default");

    assert_int_equal(catalogue.launch_count, 2);
    const struct cts_launch *const fill = launch_of(&catalogue, "fill", 0);
    const struct cts_launch *const add = launch_of(&catalogue, "add", 0);
    assert_int_equal(fill->grid[0], 16);
    assert_int_equal(fill->block[0], 64);
    assert_string_equal(fill->recorded, "all");
    assert_int_equal(fill->accesses, COUNT);
    assert_int_equal(fill->records, (COUNT + 31) / 32);
    assert_int_equal(add->accesses, 2 * COUNT);
    assert_int_equal(add->dropped_accesses, 0);
    assert_int_equal(add->ordinal, 0); /* in its own stream */
    assert_true(fill->end_ns >= fill->start_ns && fill->start_ns >= fill->call_ns);
    assert_true(add->start_ns >= fill->end_ns); /* the event's order */

    const struct cts_sync *const record = sync_of(&catalogue, "event record");
    const struct cts_sync *const wait = sync_of(&catalogue, "stream wait");
    assert_true(fill->op < record->op && record->op < wait->op && wait->op < add->op);
    assert_int_equal(record->event, wait->event);
    assert_int_equal(record->stream, fill->stream);
    assert_int_equal(wait->stream, add->stream);
    assert_true(sync_of(&catalogue, "stream sync")->end_ns >= add->end_ns);
    assert_int_equal(sync_of(&catalogue, "device sync")->stream, CTS_NONE);
    const uint64_t address = allocation_of(&catalogue, "cudaMalloc")->address;
    check_records(fill, 0, address);
    check_records(add, 1, address);
    check_records(add, 2, address);
    cts_catalogue_release(&catalogue);
    remove_run();
}

/* "1" for each launch with accesses, "0" without, in order. */
static void recorded_pattern(const struct cts_catalogue *catalogue, char *pattern)
{
    for (size_t i = 0; i < catalogue->launch_count; i++)
        *pattern++ = strcmp(catalogue->launches[i].recorded, "none") != 0 ? '1' : '0';
    *pattern = '\0';
}

static void filters_choose_launches(void **state)
{
    (void)state;
    /* stop, fill, start, then add and fill six times */
    const struct {
        const char *first, *second, *third, *pattern;
    } cases[] = {
        {"A=", "B=", "C=", "0111111111111"},
        {"CTASCOPE_KERNEL_NAME=add", "B=", "C=", "0101010101010"},
        {"CTASCOPE_KERNEL_NAME=add(int *, int, int)", "B=", "C=", "0101010101010"},
        {"CTASCOPE_KERNEL_NAME=ad", "B=", "C=", "0000000000000"},
        {"CTASCOPE_KERNEL_NAME=regex:^f|^x", "B=", "C=", "0010101010101"},
        {"CTASCOPE_LAUNCH_SKIP=3", "B=", "C=", "0000111111111"},
        {"CTASCOPE_LAUNCH_SKIP=3", "CTASCOPE_LAUNCH_COUNT=2", "C=", "0000110000000"},
        {"CTASCOPE_KERNEL_NAME=regex:add", "CTASCOPE_LAUNCH_SKIP=1", "CTASCOPE_LAUNCH_COUNT=2",
         "0001010000000"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000], pattern[50];
        assert_int_equal(RUN("launches", cases[i].first, cases[i].second, cases[i].third), 0);
        assert_string_equal(text, "");
        struct cts_catalogue catalogue;
        read_run(&catalogue);
        recorded_pattern(&catalogue, pattern);
        assert_string_equal(pattern, cases[i].pattern);
        cts_catalogue_release(&catalogue);
        remove_run();
    }
}

static void the_profiler_calls_switch_when_asked(void **state)
{
    (void)state;
    char text[2000], pattern[50];
    struct cts_catalogue catalogue;
    assert_int_equal(RUN("profiled"), 0);
    read_run(&catalogue);
    recorded_pattern(&catalogue, pattern);
    assert_string_equal(pattern, "111111");
    cts_catalogue_release(&catalogue);
    remove_run();
    assert_int_equal(RUN("profiled", "CTASCOPE_PROFILE_FROM_START=0"), 0);
    read_run(&catalogue);
    recorded_pattern(&catalogue, pattern);
    assert_string_equal(pattern, "001100");
    cts_catalogue_release(&catalogue);
    remove_run();
}

static void samples_of_ctas(void **state)
{
    (void)state;
    char text[2000];
    assert_int_equal(RUN("everything", "CTASCOPE_CTA_SAMPLE=1/4"), 42);
    struct cts_catalogue catalogue;
    read_run(&catalogue);
    const struct cts_launch *const fill = launch_of(&catalogue, "fill", 0);
    assert_string_equal(fill->recorded, "sample");
    assert_int_equal(fill->accesses, 4 * 64); /* CTAs 0, 4, 8, 12 of 16 */
    cts_catalogue_release(&catalogue);
    remove_run();
}

static void accesses_of_the_host(void **state)
{
    (void)state;
    char text[2000];
    assert_int_equal(RUN("host_accesses", "CTASCOPE_HOST_ACCESSES=1"), 0);
    assert_string_equal(text, "");
    struct cts_catalogue catalogue;
    read_run(&catalogue);
    const struct cts_host_access *const rows = catalogue.host_accesses;
    const struct cts_launch *const add = launch_of(&catalogue, "add", 0);
    const struct cts_sync *const sync = sync_of(&catalogue, "device sync");
    const struct cts_allocation *const managed = allocation_of(&catalogue, "cudaMallocManaged");
    assert_string_equal(managed->kind, "managed");
    assert_int_equal(catalogue.host_access_count, 3);
    assert_true(rows[0].is_store);
    assert_int_equal(rows[0].address, managed->address);
    assert_int_equal(rows[0].size_bytes, 400);
    assert_false(rows[1].is_store);
    assert_int_equal(rows[1].address, managed->address + 2000);
    assert_int_equal(rows[1].size_bytes, 8);
    assert_true(rows[0].op < add->op && rows[1].op < add->op);
    assert_int_equal(rows[2].address, managed->address);
    assert_int_equal(rows[2].size_bytes, 400);
    assert_true(rows[2].op > sync->op && rows[2].op < managed->freed_op);
    cts_catalogue_release(&catalogue);
    remove_run();
    assert_int_equal(RUN("host_accesses"), 0); /* not asked for */
    read_run(&catalogue);
    assert_int_equal(catalogue.host_access_count, 0);
    cts_catalogue_release(&catalogue);
    remove_run();
}

static void work_in_flight_ends_before_the_recording(void **state)
{
    (void)state;
    char text[2000];
    assert_int_equal(RUN("no_synchronisation"), 7);
    assert_string_equal(text, "");
    struct cts_catalogue catalogue;
    read_run(&catalogue);
    assert_int_equal(catalogue.launch_count, 20);
    for (size_t i = 0; i < 20; i++) {
        assert_int_equal(catalogue.launches[i].accesses, COUNT);
        assert_int_equal(catalogue.launches[i].ordinal, i);
    }
    cts_catalogue_release(&catalogue);
    remove_run();
}

static void a_program_that_ends_suddenly_leaves_its_rows(void **state)
{
    (void)state;
    char text[2000];
    assert_int_equal(RUN("killed"), 9);
    assert_int_equal(strncmp(text, "ctascope: kernel 'poke(int *)'", 30), 0);
    struct cts_catalogue catalogue;
    read_run(&catalogue);
    assert_int_equal(catalogue.ranks[0].end_ns, 0);
    assert_int_equal(catalogue.launch_count, 2);
    assert_int_equal(catalogue.launches[0].accesses, COUNT);
    assert_int_equal(catalogue.message_count, 1);
    assert_string_equal(catalogue.messages[0].severity, "error");
    cts_catalogue_release(&catalogue);
    remove_run();
}

static void bad_settings_refuse_the_recording(void **state)
{
    (void)state;
    static const struct {
        const char *variable, *text;
    } cases[] = {
        {"CTASCOPE_CTA_SAMPLE=none",
         "ctascope: CTASCOPE_CTA_SAMPLE='none' is not a number; nothing is recorded\n"},
        {"CTASCOPE_KERNEL_NAME=regex:(",
         "ctascope: CTASCOPE_KERNEL_NAME='regex:(' is not a regular expression: "},
        {"CTASCOPE_RUN=/proc/nowhere/run", "ctascope: "},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[2000];
        assert_int_equal(RUN("everything", cases[i].variable), 42); /* the program goes on */
        assert_int_equal(strncmp(text, cases[i].text, strlen(cases[i].text)), 0);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        assert_non_null(strstr(text, "; nothing is recorded\n"));
        struct stat ignored;
        assert_int_not_equal(stat(run_path, &ignored), 0);
    }
}

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(argv[1], programs[i].name) == 0) return programs[i].run();
    self = argv[0];
    unsetenv("CTASCOPE_RUN");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_has_every_row),
        cmocka_unit_test(filters_choose_launches),
        cmocka_unit_test(the_profiler_calls_switch_when_asked),
        cmocka_unit_test(samples_of_ctas),
        cmocka_unit_test(accesses_of_the_host),
        cmocka_unit_test(work_in_flight_ends_before_the_recording),
        cmocka_unit_test(a_program_that_ends_suddenly_leaves_its_rows),
        cmocka_unit_test(bad_settings_refuse_the_recording),
    };
    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}
