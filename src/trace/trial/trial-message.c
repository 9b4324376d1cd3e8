/* Each struct has one function that goes through its members. A *carrier* either appends them to a
 * message or takes them from one, so that both sides cannot disagree about the order. */
#include "trace/trial/trial-message.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/array.h"
#include "common/cursor.h"

enum { HEADER_BYTES = 24, VERSION = 2, TEXT_MAX = 1 << 16, STREAMS_MAX = 1 << 20 };
static const uint64_t message_bytes_max = UINT64_C(1) << 32, item_count_max = UINT64_C(1) << 28;

struct carrier {
    struct cts_buffer *buffer; /* NULL: reads */
    struct cts_cursor cursor;
    enum cts_status status;
    struct cts_error *error;
};

static void damaged(struct carrier *c, const char *what)
{
    if (!c->status)
        c->status = cts_fail(c->error, CTS_FORMAT, "a message of the trial is damaged: %s", what);
}

static void append(struct carrier *c, const void *bytes, size_t byte_count)
{
    if (!c->status) c->status = cts_buffer_append(c->buffer, bytes, byte_count, c->error);
}

static void number(struct carrier *c, uint64_t *value, size_t byte_count)
{
    if (c->status) return;
    if (c->buffer) {
        uint8_t bytes[8];
        for (size_t i = 0; i < byte_count; i++) bytes[i] = (uint8_t)(*value >> (8 * i));
        append(c, bytes, byte_count);
        return;
    }
    *value = cts_cursor_unsigned(&c->cursor, byte_count);
    if (c->cursor.overflow) damaged(c, "it is too short");
}

static void u64(struct carrier *c, uint64_t *value)
{
    number(c, value, 8);
}

static void u32(struct carrier *c, uint32_t *value)
{
    uint64_t wide = *value;
    number(c, &wide, 4);
    *value = (uint32_t)wide;
}

static void raw(struct carrier *c, uint8_t *bytes, size_t byte_count)
{
    if (c->buffer) {
        append(c, bytes, byte_count);
        return;
    }
    const uint8_t *const from = cts_cursor_bytes(&c->cursor, byte_count);
    if (from)
        memcpy(bytes, from, byte_count);
    else
        damaged(c, "it is too short");
}

/* What is read points into the message. */
static void text(struct carrier *c, const char **value)
{
    if (c->buffer) {
        const char *const from = *value ? *value : "";
        size_t length = strlen(from);
        if (length > TEXT_MAX) length = TEXT_MAX;
        uint32_t size = (uint32_t)length;
        u32(c, &size);
        append(c, from, length);
        append(c, "", 1);
        return;
    }
    uint32_t size = 0;
    u32(c, &size);
    const char *const from = (const char *)cts_cursor_bytes(&c->cursor, (size_t)size + 1);
    *value = "";
    if (!from || size > TEXT_MAX || memchr(from, 0, (size_t)size + 1) != from + size)
        damaged(c, "a text has no end");
    else
        *value = from;
}

/* The count of an array, and room for its items when they are read; the least that an item takes in
 * the message bounds what is allocated. */
static void *items(struct carrier *c, void *existing, size_t *count, size_t item_bytes,
                   size_t least_bytes)
{
    uint64_t wide = *count;
    u64(c, &wide);
    if (c->buffer) return existing;
    *count = 0;
    if (c->status) return NULL;
    if (wide > item_count_max || wide > cts_cursor_left(&c->cursor) / least_bytes) {
        damaged(c, "an array is longer than the message");
        return NULL;
    }
    void *const room = cts_array_zeroed((size_t)wide, item_bytes, c->error);
    if (!room) c->status = CTS_MEMORY;
    if (room) *count = (size_t)wide;
    return room;
}

static void numbers32(struct carrier *c, uint32_t **values, size_t *count)
{
    *values = items(c, *values, count, sizeof **values, 4);
    for (size_t i = 0; i < *count && !c->status; i++) u32(c, &(*values)[i]);
}

static void numbers64(struct carrier *c, uint64_t **values, size_t *count)
{
    *values = items(c, *values, count, sizeof **values, 8);
    for (size_t i = 0; i < *count && !c->status; i++) u64(c, &(*values)[i]);
}

/* ---- the structs ---- */

static void carry_op(struct carrier *c, struct cts_trial_op *op)
{
    uint32_t *const words[] = {
        &op->kind,        &op->number,    &op->host_waits,   &op->device,       &op->stream,
        &op->thread,      &op->ordinal,   &op->grid[0],      &op->grid[1],      &op->grid[2],
        &op->block[0],    &op->block[1],  &op->block[2],     &op->shared_bytes, &op->after_first,
        &op->after_count, &op->is_linear, &op->resident_ctas};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) u32(c, words[i]);
    uint64_t *const longs[] = {&op->bytes,  &op->destination, &op->source,
                               &op->gap_ns, &op->start_ns,    &op->end_ns};
    for (size_t i = 0; i < sizeof longs / sizeof *longs; i++) u64(c, longs[i]);
    text(c, &op->name);
}

static void carry_region(struct carrier *c, struct cts_trial_region *region)
{
    u64(c, &region->address);
    u64(c, &region->size_bytes);
    u32(c, &region->element_bytes);
    u32(c, &region->op);
    u32(c, &region->is_live);
    u32(c, &region->number);
    text(c, &region->variable);
    text(c, &region->kind);
}

static void carry_stretch(struct carrier *c, struct cts_stretch *stretch)
{
    stretch->ops = items(c, stretch->ops, &stretch->op_count, sizeof *stretch->ops, 100);
    for (size_t i = 0; i < stretch->op_count && !c->status; i++) carry_op(c, &stretch->ops[i]);
    numbers32(c, &stretch->afters, &stretch->after_count);
    stretch->regions =
        items(c, stretch->regions, &stretch->region_count, sizeof *stretch->regions, 30);
    for (size_t i = 0; i < stretch->region_count && !c->status; i++)
        carry_region(c, &stretch->regions[i]);
    stretch->links = items(c, stretch->links, &stretch->link_count, sizeof *stretch->links, 8);
    for (size_t i = 0; i < stretch->link_count && !c->status; i++) {
        u32(c, &stretch->links[i].op);
        u32(c, &stretch->links[i].region);
    }
    u64(c, &stretch->elapsed_ns);
    u64(c, &stretch->busy_ns);
    u32(c, &stretch->can);
    u32(c, &stretch->thread_count);
    u32(c, &stretch->parallel_ctas);
    u64(c, &stretch->memory_bytes_per_us);
    text(c, &stretch->device);
    text(c, &stretch->refusal);
}

static void carry_absence(struct carrier *c, struct cts_trial_absence *absence)
{
    u32(c, &absence->launch_count);
    text(c, &absence->reason);
    absence->kernels =
        items(c, (void *)absence->kernels, &absence->kernel_count, sizeof *absence->kernels, 5);
    for (size_t i = 0; i < absence->kernel_count && !c->status; i++) text(c, &absence->kernels[i]);
}

static void carry_step(struct carrier *c, struct cts_trial_step *step)
{
    u32(c, &step->op);
    u32(c, &step->lane);
    u32(c, &step->host_waits);
    u32(c, &step->after_first);
    u32(c, &step->after_count);
    u64(c, &step->gap_ns);
    u64(c, &step->delay_ns);
    u32(c, &step->is_urgent);
    u32(c, &step->is_programmatic);
    u32(c, &step->cta_first);
    u32(c, &step->cta_count);
}

static void carry_pointer(struct carrier *c, struct cts_trial_pointer *pointer)
{
    u32(c, &pointer->step);
    u32(c, &pointer->buffer);
    u32(c, &pointer->is_written);
    u64(c, &pointer->from);
    u64(c, &pointer->size_bytes);
    u64(c, &pointer->to);
}

static void carry_ranges(struct carrier *c, struct cts_trial_range **ranges, size_t *count)
{
    *ranges = items(c, *ranges, count, sizeof **ranges, 16);
    for (size_t i = 0; i < *count && !c->status; i++) {
        u64(c, &(*ranges)[i].address);
        u64(c, &(*ranges)[i].size_bytes);
    }
}

static void carry_plan(struct carrier *c, struct cts_trial_plan *plan)
{
    plan->steps = items(c, plan->steps, &plan->step_count, sizeof *plan->steps, 52);
    for (size_t i = 0; i < plan->step_count && !c->status; i++) carry_step(c, &plan->steps[i]);
    numbers32(c, &plan->afters, &plan->after_count);
    plan->pointers = items(c, plan->pointers, &plan->pointer_count, sizeof *plan->pointers, 36);
    for (size_t i = 0; i < plan->pointer_count && !c->status; i++)
        carry_pointer(c, &plan->pointers[i]);
    carry_ranges(c, &plan->unused, &plan->unused_count);
    carry_ranges(c, &plan->dead, &plan->dead_count);
    numbers64(c, &plan->buffers, &plan->buffer_count);
    numbers32(c, &plan->ctas, &plan->cta_count);
    u32(c, &plan->lane_count);
    u32(c, &plan->repeats);
    u32(c, &plan->is_graph);
    u32(c, &plan->is_baseline);
}

static void carry_difference(struct carrier *c, struct cts_trial_difference *difference)
{
    u32(c, &difference->region);
    u32(c, &difference->replays);
    u32(c, &difference->origin);
    u64(c, &difference->first_offset);
    u64(c, &difference->byte_count);
    u64(c, &difference->dead_count);
    u64(c, &difference->masked_count);
    raw(c, difference->expected, CTS_TRIAL_VALUE_BYTES);
    raw(c, difference->found, CTS_TRIAL_VALUE_BYTES);
}

static void carry_times(struct carrier *c, struct cts_trial_time **times, size_t *count)
{
    *times = items(c, *times, count, sizeof **times, 16);
    for (size_t i = 0; i < *count && !c->status; i++) {
        u64(c, &(*times)[i].elapsed_ns);
        u64(c, &(*times)[i].busy_ns);
    }
}

static void carry_result(struct carrier *c, struct cts_trial_result *result)
{
    result->differences =
        items(c, result->differences, &result->difference_count, sizeof *result->differences, 60);
    for (size_t i = 0; i < result->difference_count && !c->status; i++)
        carry_difference(c, &result->differences[i]);
    size_t plain_count = result->plain ? result->repeats : 0;
    carry_times(c, &result->plain, &plain_count);
    carry_times(c, &result->changed, &result->repeats);
    if (!c->status && plain_count && plain_count != result->repeats)
        damaged(c, "it has different numbers of replays");
    if (!c->buffer && !plain_count) { /* no unchanged replays: who looks for one must see that */
        free(result->plain);
        result->plain = NULL;
    }
    numbers64(c, &result->step_ns, &result->step_count);
    u64(c, &result->changed_bytes);
    u64(c, &result->issue_ns);
    u64(c, &result->edge_ns);
    u64(c, &result->edge_issue_ns);
    u32(c, &result->is_refused);
    text(c, &result->fault);
}

/* ---- whole messages ---- */

static struct carrier begin(struct cts_buffer *buffer, enum cts_trial_message kind,
                            struct cts_error *error)
{
    struct carrier c = {.buffer = buffer, .error = error};
    uint32_t words[] = {VERSION, (uint32_t)kind, 0};
    uint64_t size = 0;
    buffer->ceiling_bytes = (size_t)message_bytes_max;
    append(&c, "CTST", 4);
    for (size_t i = 0; i < 3; i++) u32(&c, &words[i]);
    u64(&c, &size);
    return c;
}

static enum cts_status end(struct carrier *c)
{
    if (c->status) return c->status;
    const uint64_t size = c->buffer->size_bytes - HEADER_BYTES;
    for (size_t i = 0; i < 8; i++) c->buffer->data[16 + i] = (uint8_t)(size >> (8 * i));
    return CTS_OK;
}

enum cts_status cts_trial_put_stretch(struct cts_buffer *buffer, const struct cts_stretch *stretch,
                                      struct cts_error *error)
{
    struct carrier c = begin(buffer, CTS_TRIAL_STRETCH, error);
    struct cts_stretch copy = *stretch;
    carry_stretch(&c, &copy);
    return end(&c);
}

enum cts_status cts_trial_put_absence(struct cts_buffer *buffer,
                                      const struct cts_trial_absence *absence,
                                      struct cts_error *error)
{
    struct carrier c = begin(buffer, CTS_TRIAL_ABSENT, error);
    struct cts_trial_absence copy = *absence;
    carry_absence(&c, &copy);
    return end(&c);
}

enum cts_status cts_trial_put_plan(struct cts_buffer *buffer, const struct cts_trial_plan *plan,
                                   struct cts_error *error)
{
    struct carrier c = begin(buffer, CTS_TRIAL_PLAN, error);
    struct cts_trial_plan copy = *plan;
    carry_plan(&c, &copy);
    return end(&c);
}

enum cts_status cts_trial_put_result(struct cts_buffer *buffer,
                                     const struct cts_trial_result *result, struct cts_error *error)
{
    struct carrier c = begin(buffer, CTS_TRIAL_RESULT, error);
    struct cts_trial_result copy = *result;
    carry_result(&c, &copy);
    return end(&c);
}

enum cts_status cts_trial_put_finish(struct cts_buffer *buffer, struct cts_error *error)
{
    struct carrier c = begin(buffer, CTS_TRIAL_FINISH, error);
    return end(&c);
}

static struct carrier open_message(const struct cts_buffer *buffer, struct cts_error *error)
{
    struct carrier c = {.cursor = cts_cursor_of(buffer->data, buffer->size_bytes), .error = error};
    if (!cts_cursor_bytes(&c.cursor, HEADER_BYTES)) damaged(&c, "it is too short");
    return c;
}

static enum cts_status close_message(struct carrier *c)
{
    if (!c->status && cts_cursor_left(&c->cursor)) damaged(c, "it is too long");
    return c->status;
}

/* A copy of the message, which texts that are read point into; NULL: *status says why. */
static struct cts_buffer keep(const struct cts_buffer *buffer, enum cts_status *status,
                              struct cts_error *error)
{
    struct cts_buffer kept = {0};
    *status = cts_buffer_append(&kept, buffer->data, buffer->size_bytes, error);
    return kept;
}

enum cts_status cts_trial_get_stretch(const struct cts_buffer *buffer, struct cts_stretch *stretch,
                                      struct cts_error *error)
{
    enum cts_status status;
    const struct cts_buffer kept = keep(buffer, &status, error);
    *stretch = (struct cts_stretch){.storage = kept.data};
    if (status) return status;
    struct carrier c = open_message(&kept, error);
    carry_stretch(&c, stretch);
    for (size_t i = 0; i < stretch->op_count && !c.status; i++) {
        const struct cts_trial_op *const op = &stretch->ops[i];
        bool good = op->kind < CTS_TRIAL_KINDS && op->stream < STREAMS_MAX &&
                    op->after_first <= stretch->after_count &&
                    op->after_count <= stretch->after_count - op->after_first;
        for (uint32_t k = 0; good && k < op->after_count; k++)
            good = stretch->afters[op->after_first + k] < i;
        if (!good) damaged(&c, "an operation makes no sense");
    }
    for (size_t i = 0; i < stretch->link_count && !c.status; i++)
        if (stretch->links[i].op >= stretch->op_count ||
            stretch->links[i].region >= stretch->region_count)
            damaged(&c, "an argument points nowhere");
    status = close_message(&c);
    if (status) cts_stretch_release(stretch);
    return status;
}

void cts_trial_absence_release(struct cts_trial_absence *absence)
{
    free((void *)absence->kernels);
    free(absence->storage);
    *absence = (struct cts_trial_absence){0};
}

enum cts_status cts_trial_get_absence(const struct cts_buffer *buffer,
                                      struct cts_trial_absence *absence, struct cts_error *error)
{
    enum cts_status status;
    const struct cts_buffer kept = keep(buffer, &status, error);
    *absence = (struct cts_trial_absence){.storage = kept.data};
    if (status) return status;
    struct carrier c = open_message(&kept, error);
    carry_absence(&c, absence);
    status = close_message(&c);
    if (status) cts_trial_absence_release(absence);
    return status;
}

enum cts_status cts_trial_get_plan(const struct cts_buffer *buffer, struct cts_trial_plan *plan,
                                   struct cts_error *error)
{
    struct carrier c = open_message(buffer, error);
    *plan = (struct cts_trial_plan){0};
    carry_plan(&c, plan);
    const enum cts_status status = close_message(&c);
    if (status) cts_trial_plan_release(plan);
    return status;
}

enum cts_status cts_trial_get_result(const struct cts_buffer *buffer,
                                     struct cts_trial_result *result, struct cts_error *error)
{
    enum cts_status status;
    const struct cts_buffer kept = keep(buffer, &status, error);
    *result = (struct cts_trial_result){.storage = kept.data};
    if (status) return status;
    struct carrier c = open_message(&kept, error);
    carry_result(&c, result);
    status = close_message(&c);
    if (status) cts_trial_result_release(result);
    return status;
}

/* ---- the socket ---- */

enum cts_status cts_trial_send(int socket, const struct cts_buffer *buffer, struct cts_error *error)
{
    for (size_t sent = 0; sent < buffer->size_bytes;) {
        const ssize_t count =
            send(socket, buffer->data + sent, buffer->size_bytes - sent, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return cts_fail_errno(error, errno, "cannot send a message");
        sent += (size_t)count;
    }
    return CTS_OK;
}

/* Fills `bytes`, or what comes until the other side is gone; -1: the system refuses. */
static ssize_t fill(int socket, uint8_t *bytes, size_t byte_count)
{
    size_t got = 0;
    while (got < byte_count) {
        const ssize_t count = recv(socket, bytes + got, byte_count - got, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return -1;
        if (count == 0) break;
        got += (size_t)count;
    }
    return (ssize_t)got;
}

static enum cts_status receive_rest(int socket, struct cts_buffer *buffer, uint64_t size_bytes,
                                    struct cts_error *error)
{
    enum { PART_BYTES = 1 << 20 };
    for (uint64_t left = size_bytes; left;) {
        const size_t part = left < PART_BYTES ? (size_t)left : PART_BYTES;
        if (cts_buffer_reserve(buffer, part, error)) return CTS_MEMORY;
        if (fill(socket, buffer->data + buffer->size_bytes, part) != (ssize_t)part)
            return cts_fail(error, CTS_IO, "the other side ended in the middle of a message");
        buffer->size_bytes += part;
        left -= part;
    }
    return CTS_OK;
}

enum cts_status cts_trial_receive(int socket, struct cts_buffer *buffer,
                                  enum cts_trial_message *kind, struct cts_error *error)
{
    uint8_t header[HEADER_BYTES];
    *kind = 0;
    buffer->ceiling_bytes = (size_t)message_bytes_max;
    cts_buffer_clear(buffer);
    const ssize_t got = fill(socket, header, sizeof header);
    if (got < 0) return cts_fail_errno(error, errno, "cannot receive a message");
    if (got == 0) return CTS_OK;
    if (got != HEADER_BYTES)
        return cts_fail(error, CTS_IO, "the other side ended in the middle of a message");
    struct cts_cursor cursor = cts_cursor_of(header + 4, sizeof header - 4);
    const uint32_t version = cts_cursor_u32(&cursor), named = cts_cursor_u32(&cursor);
    const uint32_t zero = cts_cursor_u32(&cursor);
    const uint64_t size_bytes = cts_cursor_u64(&cursor);
    if (memcmp(header, "CTST", 4) != 0 || zero || !named || named > CTS_TRIAL_FINISH)
        return cts_fail(error, CTS_FORMAT, "what was received is not a message of a trial");
    if (version != VERSION)
        return cts_fail(error, CTS_VERSION, "a message has version %u, not %d", version, VERSION);
    if (size_bytes > message_bytes_max - HEADER_BYTES)
        return cts_fail(error, CTS_LIMIT, "a message has %llu bytes",
                        (unsigned long long)size_bytes);
    enum cts_status status = cts_buffer_append(buffer, header, sizeof header, error);
    if (!status) status = receive_rest(socket, buffer, size_bytes, error);
    *kind = (enum cts_trial_message)named;
    return status;
}
