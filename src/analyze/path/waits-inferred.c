/* Waits of streams for events that the trace does not name: profilers write the calls alone.
 *
 *     thread   launch on X | record | wait | launch on Y
 *
 * A record is of the stream on which its thread launched last. A wait holds the stream on which its
 * thread launches next. It is for the thread's latest record of another stream whose work ends
 * before the held work begins: later ones contradict the times. */
#include <stdlib.h>

#include "common/map.h"

#include "analyze/path/path-launches.h"
#include "analyze/path/raw.h"

enum { LOOK_BACK_MAX = 64 }; /* records that a wait may be for */

/* A device activity of a stream; stream NONE: none. */
struct work {
    uint32_t stream, activity; /* location, index */
};

/* What a thread has done, by location. */
struct caller {
    struct work launched; /* last; on the way back: next */
    size_t record;        /* its last one: index in device->calls + 1; 0: none */
};

/* Of a call: what a wait holds, or what a record is of and the thread's record before it. */
struct meaning {
    struct work work;
    size_t before;
};

struct guess {
    struct cts_path_device *device;
    struct caller *callers;   /* [location] */
    struct meaning *meanings; /* [call] */
    struct cts_map known;     /* events that a call records */
    size_t count;             /* ops made */
};

static const struct work no_work = {CTS_PATH_NONE, CTS_PATH_NONE};

static bool is_unplaced(const struct cts_path_op *op)
{
    return op->stream == CTS_PATH_NONE && op->api == CTS_PATH_API_WAIT;
}

static uint64_t time_of(const struct guess *guess, struct work work, bool end)
{
    const struct cts_path_location *const at = &guess->device->graph->locations[work.stream];
    const struct cts_path_activity *const activity = &at->activities.items[work.activity];
    return at->time_ns[end ? activity->end : activity->begin];
}

static void forget_callers(struct guess *guess)
{
    const uint32_t count = guess->device->graph->system->location_count;
    for (uint32_t l = 0; l < count; l++) guess->callers[l] = (struct caller){.launched = no_work};
}

/* Backwards: what each wait holds. */
static void find_held(struct guess *guess)
{
    for (size_t i = guess->device->call_count; i-- > 0;) {
        const struct cts_path_call *const call = &guess->device->calls[i];
        struct caller *const caller = &guess->callers[call->location];
        if (call->stream != CTS_PATH_NONE)
            caller->launched = (struct work){call->stream, call->activity};
        guess->meanings[i].work = caller->launched;
    }
}

static void take_record(struct guess *guess, size_t index)
{
    const struct cts_path_call *const call = &guess->device->calls[index];
    struct caller *const caller = &guess->callers[call->location];
    const uint32_t stream = call->op->stream;
    if (stream != CTS_PATH_NONE && stream != caller->launched.stream) return;
    guess->meanings[index] = (struct meaning){caller->launched, caller->record};
    if (caller->launched.stream != CTS_PATH_NONE) caller->record = index + 1;
}

/* A copy of the call's op that may be changed. */
static struct cts_path_op *own_op(struct guess *guess, size_t index)
{
    struct cts_path_call *const call = &guess->device->calls[index];
    struct cts_path_op *const op = &guess->device->placed[guess->count++];
    *op = *call->op;
    call->op = op;
    return op;
}

/* The record that a wait of the caller is for, which holds `held`: index + 1; 0: none. */
static size_t record_of(const struct guess *guess, const struct caller *caller, struct work held)
{
    const uint64_t begin_ns = time_of(guess, held, false);
    size_t record = caller->record;
    for (unsigned i = 0; record && i < LOOK_BACK_MAX; i++) {
        const struct meaning *const meaning = &guess->meanings[record - 1];
        if (meaning->work.stream != held.stream && time_of(guess, meaning->work, true) <= begin_ns)
            return record;
        record = meaning->before;
    }
    return 0;
}

/* Whether the wait was placed. */
static bool place(struct guess *guess, size_t index)
{
    struct cts_path_call *const calls = guess->device->calls;
    const struct work held = guess->meanings[index].work;
    if (held.stream == CTS_PATH_NONE) return false;
    const size_t record = record_of(guess, &guess->callers[calls[index].location], held);
    if (!record) return false;
    if (calls[record - 1].op->stream == CTS_PATH_NONE)
        own_op(guess, record - 1)->stream = guess->meanings[record - 1].work.stream;
    struct cts_path_op *const wait = own_op(guess, index);
    wait->stream = held.stream;
    wait->reference = calls[record - 1].op->reference;
    return true;
}

static enum cts_status know_records(struct guess *guess, bool *any, struct cts_error *error)
{
    *any = false;
    for (size_t i = 0; i < guess->device->call_count; i++) {
        const struct cts_path_op *const op = guess->device->calls[i].op;
        *any |= is_unplaced(op);
        if (op->api == CTS_PATH_API_RECORD && !cts_map_at(&guess->known, op->reference, error))
            return CTS_MEMORY;
    }
    return CTS_OK;
}

static uint64_t place_all(struct guess *guess)
{
    uint64_t placed = 0;
    forget_callers(guess);
    find_held(guess);
    forget_callers(guess);
    for (size_t i = 0; i < guess->device->call_count; i++) {
        const struct cts_path_call *const call = &guess->device->calls[i];
        if (call->stream != CTS_PATH_NONE)
            guess->callers[call->location].launched = (struct work){call->stream, call->activity};
        else if (call->op->api == CTS_PATH_API_RECORD)
            take_record(guess, i);
        else if (is_unplaced(call->op) && !cts_map_find(&guess->known, call->op->reference))
            placed += place(guess, i);
    }
    return placed;
}

enum cts_status cts_path_infer_waits(struct cts_path_device *device, struct cts_error *error)
{
    struct guess guess = {.device = device};
    bool any;
    enum cts_status status = know_records(&guess, &any, error);
    if (!status && any) {
        guess.callers =
            cts_array_zeroed(device->graph->system->location_count, sizeof *guess.callers, error);
        guess.meanings = cts_array_zeroed(device->call_count, sizeof *guess.meanings, error);
        device->placed = cts_array_zeroed(device->call_count, sizeof *device->placed, error);
        if (!guess.callers || !guess.meanings || !device->placed) status = CTS_MEMORY;
    }
    if (!status && any)
        cts_path_warn(device->graph, CTS_PATH_WARNING_WAIT_INFERRED, place_all(&guess));
    cts_map_release(&guess.known);
    free(guess.callers);
    free(guess.meanings);
    return status;
}
