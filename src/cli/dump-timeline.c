/* An event is a list of fields: names with a number or a text. The three forms print that list. */
#include "cli/dump-timeline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/run-timeline.h"
#include "common/json.h"
#include "common/text-table.h"

enum { FIELDS_MAX = 16 + CTS_ATTRIBUTE_COUNT };

struct fields {
    struct field {
        const char *name, *text; /* text NULL: the number counts */
        uint64_t number;
    } items[FIELDS_MAX];
    size_t count;
};

static void add_number(struct fields *fields, const char *name, uint64_t number)
{
    fields->items[fields->count++] = (struct field){.name = name, .number = number};
}

static void add_text(struct fields *fields, const char *name, const char *text)
{
    fields->items[fields->count++] = (struct field){.name = name, .text = text ? text : ""};
}

/* An index in one of the timeline's arrays: its name, or "none". */
static void add_communicator(struct fields *fields, const struct cts_timeline *t, uint32_t index)
{
    if (index >= t->communicator_count)
        add_text(fields, "communicator", "none");
    else if (*t->communicators[index].name)
        add_text(fields, "communicator", t->communicators[index].name);
    else
        add_number(fields, "communicator", index);
}

static void add_rank(struct fields *fields, const char *name, uint32_t rank)
{
    if (rank == CTS_TIMELINE_NONE)
        add_text(fields, name, "none");
    else
        add_number(fields, name, rank);
}

static void add_rma(struct fields *fields, const struct cts_timeline_event *e)
{
    add_rank(fields, "window", e->rma.window);
    switch (e->kind) {
    case CTS_EVENT_RMA_WIN_CREATE:
    case CTS_EVENT_RMA_WIN_DESTROY:
        return;
    case CTS_EVENT_RMA_COLLECTIVE_END:
        add_number(fields, "operation", e->rma.operation);
        add_number(fields, "level", e->rma.level);
        add_rank(fields, "root", e->rma.remote);
        add_number(fields, "sent_bytes", e->rma.bytes);
        add_number(fields, "received_bytes", e->rma.received_bytes);
        return;
    case CTS_EVENT_RMA_GROUP_SYNC:
        add_number(fields, "operation", e->rma.operation);
        add_rank(fields, "group_of_communicator", e->rma.level);
        return;
    case CTS_EVENT_RMA_OP_COMPLETE_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_NON_BLOCKING:
    case CTS_EVENT_RMA_OP_COMPLETE_REMOTE:
        add_number(fields, "matching", e->rma.matching);
        return;
    default:
        add_rank(fields, "remote", e->rma.remote);
        add_number(fields, "operation", e->rma.operation);
        add_number(fields, "bytes", e->rma.bytes);
        add_number(fields, "received_bytes", e->rma.received_bytes);
        add_number(fields, "matching", e->rma.matching);
    }
}

static void add_members(struct fields *fields, const struct cts_timeline *t,
                        const struct cts_timeline_event *e)
{
    switch (e->kind) {
    case CTS_EVENT_ENTER:
    case CTS_EVENT_LEAVE:
        add_text(fields, "region", e->region < t->region_count ? t->regions[e->region].name : "?");
        return;
    case CTS_EVENT_MPI_ISEND:
    case CTS_EVENT_MPI_IRECV:
    case CTS_EVENT_MPI_SEND:
    case CTS_EVENT_MPI_RECV:
        add_number(fields, "peer", e->message.peer);
        add_communicator(fields, t, e->message.communicator);
        add_number(fields, "tag", e->message.tag);
        add_number(fields, "bytes", e->message.bytes);
        if (e->kind == CTS_EVENT_MPI_ISEND || e->kind == CTS_EVENT_MPI_IRECV)
            add_number(fields, "request", e->message.request);
        return;
    case CTS_EVENT_MPI_ISEND_COMPLETE:
    case CTS_EVENT_MPI_IRECV_REQUEST:
    case CTS_EVENT_MPI_REQUEST_TEST:
    case CTS_EVENT_MPI_REQUEST_CANCELLED:
        add_number(fields, "request", e->message.request);
        return;
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_REQUEST:
        add_number(fields, "request", e->collective.request);
        return;
    case CTS_EVENT_MPI_COLLECTIVE_END:
    case CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE:
        add_number(fields, "operation", e->collective.operation);
        add_communicator(fields, t, e->collective.communicator);
        add_rank(fields, "root", e->collective.root);
        add_number(fields, "sent_bytes", e->collective.sent_bytes);
        add_number(fields, "received_bytes", e->collective.received_bytes);
        if (e->kind == CTS_EVENT_NON_BLOCKING_COLLECTIVE_COMPLETE)
            add_number(fields, "request", e->collective.request);
        return;
    case CTS_EVENT_BUFFER_FLUSH:
        add_number(fields, "end_ns", e->flush.end_ns);
        return;
    case CTS_EVENT_MEASUREMENT_ON_OFF:
        add_text(fields, "measurement", e->on ? "on" : "off");
        return;
    case CTS_EVENT_MPI_COLLECTIVE_BEGIN:
    case CTS_EVENT_RMA_COLLECTIVE_BEGIN:
    case CTS_EVENT_THREAD_JOIN:
    case CTS_EVENT_OTHER:
        return;
    default:
        break;
    }
    if (e->kind < CTS_EVENT_THREAD_FORK) {
        add_rma(fields, e);
        return;
    }
    if (e->kind == CTS_EVENT_THREAD_FORK) add_number(fields, "team_size", e->thread.team_size);
    if (e->thread.communicator != CTS_TIMELINE_NONE)
        add_communicator(fields, t, e->thread.communicator);
    if (e->kind > CTS_EVENT_THREAD_TEAM_END) {
        add_number(fields, "creator", e->thread.creator);
        add_number(fields, "sequence", e->thread.sequence);
    }
}

static void add_attributes(struct fields *fields, const struct cts_timeline *t,
                           const struct cts_event_attributes *attributes)
{
    for (uint32_t id = 0; attributes && id < CTS_ATTRIBUTE_COUNT; id++) {
        if (!(attributes->present >> id & 1)) continue;
        const uint64_t value = attributes->values[id];
        const bool location = id == CTS_ATTRIBUTE_STREAM_REF || id == CTS_ATTRIBUTE_QUEUE_REF;
        if (location && value < t->location_count)
            add_text(fields, cts_attribute_names[id], t->locations[value].name);
        else
            add_number(fields, cts_attribute_names[id], value);
    }
}

/* ---- forms ---- */

struct event_dump {
    const struct cts_timeline *timeline;
    char form; /* of --format: 't', 'j', 'c' */
    struct cts_json json;
    uint64_t printed, limit;
};

static void print_fields_plain(const struct fields *fields)
{
    for (size_t i = 0; i < fields->count; i++) {
        printf("%s%s=", i ? " " : "", fields->items[i].name);
        if (fields->items[i].text)
            cts_print_plain(stdout, fields->items[i].text);
        else
            printf("%" PRIu64, fields->items[i].number);
    }
}

static void print_csv(const struct event_dump *dump, uint32_t location,
                      const struct cts_timeline_event *event, const struct fields *fields)
{
    printf("%u,", location);
    cts_csv_field(stdout, dump->timeline->locations[location].name);
    printf(",%" PRIu64 ",%s,", event->time_ns, cts_timeline_event_names[event->kind]);
    char text[8192] = "";
    size_t length = 0;
    for (size_t i = 0; i < fields->count && length < sizeof text - 1; i++) {
        const struct field *const field = &fields->items[i];
        const int added = field->text
                              ? snprintf(text + length, sizeof text - length, "%s%s=%s",
                                         i ? " " : "", field->name, field->text)
                              : snprintf(text + length, sizeof text - length, "%s%s=%" PRIu64,
                                         i ? " " : "", field->name, field->number);
        length += added > 0 ? (size_t)added : 0;
    }
    cts_csv_field(stdout, text);
    putchar('\n');
}

static void print_json(struct event_dump *dump, uint32_t location,
                       const struct cts_timeline_event *event, const struct fields *fields)
{
    struct cts_json *const json = &dump->json;
    cts_json_open_object_row(json);
    cts_json_member_u64(json, "location", location);
    cts_json_member_u64(json, "time_ns", event->time_ns);
    cts_json_member_string(json, "event", cts_timeline_event_names[event->kind]);
    for (size_t i = 0; i < fields->count; i++) {
        if (fields->items[i].text)
            cts_json_member_string(json, fields->items[i].name, fields->items[i].text);
        else
            cts_json_member_u64(json, fields->items[i].name, fields->items[i].number);
    }
    cts_json_close_object(json);
}

static bool print_event(void *state, uint32_t location, const struct cts_timeline_event *event,
                        const struct cts_event_attributes *attributes)
{
    struct event_dump *const dump = state;
    struct fields fields = {.count = 0};
    if (dump->printed == dump->limit) return false;
    add_members(&fields, dump->timeline, event);
    add_attributes(&fields, dump->timeline, attributes);
    if (dump->form == 'j') {
        print_json(dump, location, event, &fields);
    } else if (dump->form == 'c') {
        print_csv(dump, location, event, &fields);
    } else {
        printf("%6u  %16" PRIu64 "  %-24s  ", location, event->time_ns,
               cts_timeline_event_names[event->kind]);
        print_fields_plain(&fields);
        putchar('\n');
    }
    return ++dump->printed < dump->limit;
}

static enum cts_status dump_events(struct event_dump *dump, uint64_t only, struct cts_error *error)
{
    const struct cts_timeline *const t = dump->timeline;
    enum cts_status status = CTS_OK;
    cts_json_begin(&dump->json, stdout);
    if (dump->form == 'j')
        cts_json_open_array(&dump->json);
    else if (dump->form == 'c')
        printf("location,name,time_ns,event,fields\n");
    else
        printf("location           time_ns  event                     fields\n");
    for (uint32_t i = 0; i < t->location_count && dump->printed < dump->limit; i++) {
        if (only != UINT64_MAX && only != i) continue;
        struct cts_error problem;
        const enum cts_status read = cts_timeline_read(t, i, print_event, dump, &problem);
        if (read && !status) { /* the others are printed all the same */
            status = read;
            *error = problem;
        }
    }
    if (dump->form == 'j') {
        struct cts_error problem;
        cts_json_close_array(&dump->json);
        const enum cts_status ended = cts_json_end(&dump->json, &problem);
        if (ended && !status) {
            status = ended;
            *error = problem;
        }
    }
    return status;
}

/* ---- the check ---- */

static enum cts_status print_check(const struct cts_timeline *timeline, const char *path,
                                   struct cts_error *error)
{
    struct cts_timeline_check c;
    const enum cts_status status = cts_cli_check_timeline(timeline, &c, error);
    if (status) return status;
    const struct {
        const char *what;
        uint64_t count;
    } faults[] = {
        {"events go back in time", c.backwards},
        {"regions are not nested", c.unmatched},
        {"messages lack an end", c.lost_messages},
        {"receives end before their send begins", c.early_receives},
        {"requests are not completed exactly once", c.open_requests},
        {"events refer to undefined definitions", c.bad_references},
    };
    char text[400] = "";
    size_t length = 0;
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        if (!faults[i].count) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%" PRIu64 " %s",
                                   length ? ", " : "", faults[i].count, faults[i].what);
    }
    if (length) return cts_fail(error, CTS_FORMAT, "'%s': %s", path, text);
    printf("'%s': in order, nested, complete: %s matched\n", path,
           cts_counted_text(c.messages, "message", "messages").text);
    return CTS_OK;
}

int cts_dump_timeline(const struct cts_arguments *arguments)
{
    const char *const path = arguments->positional[0];
    const char *const format = cts_argument(arguments, "format");
    struct cts_error error;
    struct cts_timeline timeline;
    struct event_dump dump = {
        .timeline = &timeline, .form = format ? format[0] : 't', .limit = UINT64_MAX};
    uint64_t only = UINT64_MAX;
    if (cts_argument_given(arguments, "limit") &&
        !cts_argument_u64(arguments, "limit", &dump.limit))
        return CTS_EXIT_USAGE;
    if (!dump.limit) dump.limit = UINT64_MAX;
    if (cts_argument_given(arguments, "location") &&
        !cts_argument_u64(arguments, "location", &only))
        return CTS_EXIT_USAGE;
    enum cts_status status = cts_cli_open_timeline(path, &timeline, &error);
    if (status) return cts_report_error(arguments, &error);
    if (only != UINT64_MAX && only >= timeline.location_count)
        status = cts_fail(&error, CTS_USAGE, "'%s' has no location %" PRIu64, path, only);
    else if (cts_argument_given(arguments, "check"))
        status = print_check(&timeline, path, &error);
    else
        status = dump_events(&dump, only, &error);
    cts_timeline_close(&timeline);
    return status ? cts_report_error(arguments, &error) : CTS_EXIT_OK;
}
