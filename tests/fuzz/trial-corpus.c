/* Makes the corpus of trial-fuzz: one message of each kind that uses every member. Usage:
 * trial-corpus directory */
#include <stdio.h>
#include <stdlib.h>

#include "trace/trial/trial-message.h"

static void check(bool good, const char *what)
{
    if (good) return;
    fprintf(stderr, "trial-corpus: %s\n", what);
    exit(1);
}

static void write_input(const char *directory, const char *name, uint8_t mode,
                        struct cts_buffer *message)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const file = fopen(path, "wb");
    check(file && fputc(mode, file) != EOF &&
              fwrite(message->data, 1, message->size_bytes, file) == message->size_bytes &&
              fclose(file) == 0,
          path);
    cts_buffer_release(message);
}

static void write_stretch(const char *directory)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_stretch stretch = {.elapsed_ns = 1000,
                                  .busy_ns = 500,
                                  .thread_count = 1,
                                  .can = CTS_TRIAL_CAN_PRIORITY,
                                  .parallel_ctas = 4,
                                  .memory_bytes_per_us = 1000,
                                  .device = "a device",
                                  .refusal = ""};
    for (uint32_t i = 0; i < 4; i++) {
        const struct cts_trial_op op = {.kind = i,
                                        .number = i,
                                        .stream = i % 2,
                                        .grid = {2, 1, 1},
                                        .block = {32, 1, 1},
                                        .resident_ctas = 8,
                                        .bytes = 64,
                                        .destination = 4096,
                                        .source = 8192,
                                        .gap_ns = 5,
                                        .name = i ? "DtoD" : "k"};
        check(!cts_stretch_add_op(&stretch, &op, &error), error.text);
        if (i) check(!cts_stretch_add_after(&stretch, i - 1, &error), error.text);
    }
    const struct cts_trial_region region = {.address = 4096,
                                            .size_bytes = 64,
                                            .element_bytes = 4,
                                            .op = CTS_TRIAL_NONE,
                                            .is_live = 1,
                                            .variable = "x",
                                            .kind = "device"};
    const uint64_t pointer = 4100;
    check(!cts_stretch_add_region(&stretch, &region, &error), error.text);
    check(!cts_stretch_add_links(&stretch, 0, &pointer, sizeof pointer, &error), error.text);
    check(!cts_trial_put_stretch(&message, &stretch, &error), error.text);
    write_input(directory, "stretch", 0, &message);
    cts_stretch_release(&stretch);
}

static void write_absence(const char *directory)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    const char *kernels[] = {"a", "b", "a"};
    const struct cts_trial_absence absence = {
        .launch_count = 3, .reason = "", .kernels = kernels, .kernel_count = 3};
    check(!cts_trial_put_absence(&message, &absence, &error), error.text);
    write_input(directory, "absence", 1, &message);
}

static void write_plan(const char *directory)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_trial_plan plan = {.lane_count = 2, .repeats = 10, .is_graph = 1};
    const uint32_t ctas[] = {1, 0};
    for (uint32_t i = 0; i < 3; i++) {
        const struct cts_trial_step step = {
            .op = i, .lane = i % 2, .delay_ns = i, .is_urgent = i == 1};
        check(!cts_trial_plan_add_step(&plan, &step, &error), error.text);
        if (i) check(!cts_trial_plan_add_after(&plan, i - 1, &error), error.text);
    }
    const struct cts_trial_pointer to_buffer = {1, 0, 1, 4096, 64, 0};
    const struct cts_trial_pointer last = {CTS_TRIAL_NONE, CTS_TRIAL_NONE, 0, 4096, 64, 8192};
    check(!cts_trial_plan_add_buffer(&plan, 64, &error) &&
              !cts_trial_plan_add_pointer(&plan, &to_buffer, &error) &&
              !cts_trial_plan_add_pointer(&plan, &last, &error) &&
              !cts_trial_plan_set_ctas(&plan, 2, ctas, 2, &error) &&
              !cts_trial_plan_add_unused(&plan, &(struct cts_trial_range){1, 2}, &error) &&
              !cts_trial_plan_add_dead(&plan, &(struct cts_trial_range){3, 4}, &error),
          error.text);
    check(!cts_trial_put_plan(&message, &plan, &error), error.text);
    write_input(directory, "plan", 2, &message);
    cts_trial_plan_release(&plan);
}

static void write_result(const char *directory)
{
    struct cts_error error;
    struct cts_buffer message = {0};
    struct cts_trial_time times[2] = {{100, 50}, {110, 60}}, changed[2] = {{90, 40}, {80, 30}};
    uint64_t step_ns[] = {10, 20};
    struct cts_trial_difference differences[] = {
        {.region = 0, .replays = 2, .origin = 1, .byte_count = 3, .found = {1, 2, 3}},
        {.region = 1, .replays = 1, .origin = 0, .dead_count = 4, .masked_count = 5}};
    const struct cts_trial_result result = {.differences = differences,
                                            .difference_count = 2,
                                            .plain = times,
                                            .changed = changed,
                                            .step_ns = step_ns,
                                            .repeats = 2,
                                            .step_count = 2,
                                            .changed_bytes = 1000,
                                            .issue_ns = 7,
                                            .edge_ns = 8,
                                            .fault = ""};
    check(!cts_trial_put_result(&message, &result, &error), error.text);
    write_input(directory, "result", 3, &message);
}

int main(int argc, char **argv)
{
    check(argc == 2, "usage: trial-corpus directory");
    write_stretch(argv[1]);
    write_absence(argv[1]);
    write_plan(argv[1]);
    write_result(argv[1]);
    return 0;
}
