/* A trace in protobuf: messages of fields, each a number with a kind of encoding in front of it.
 *
 *     KernelTrace   warps 1, allocations 2, kernel 3, start 4, end 5, type 6, gridDim 7,
 *                   blockDim 8, warpSize 9, bankSize 10
 *     Warp          accesses 1, blockIdx 2, warpId 3, debugId 4, size 5, kind 6, space 7,
 *                   typeIndex 8, timestamp 9 (text)
 *     MemoryAccess  threadIdx 1, address 2 (text), value 3 (text)
 *     Dim3          x 1, y 2, z 3
 *     AllocRecord   address 1 (text), size 2, elementSize 3, space 4, typeIndex 5, typeString 6,
 *                   then either name 7, location 8, active 9 or nameIndex 7, nameString 8,
 *                   location 9, active 10
 *
 * Fields that are not known are passed over, as the encoding means it. */
#include "import/folder.h"

#include <stdlib.h>
#include <string.h>

#include "common/array.h"
#include "common/cursor.h"

enum wire { WIRE_VARINT = 0, WIRE_8_BYTES = 1, WIRE_BYTES = 2, WIRE_4_BYTES = 5 };

struct field {
    uint32_t number;
    enum wire wire;
    uint64_t value; /* varint; bits of 4 or 8 bytes */
    struct cts_cursor bytes;
};

struct reader {
    const uint8_t *begin;
    struct cts_error *error;
};

static enum cts_status bad(const struct reader *r, const struct cts_cursor *at, const char *what)
{
    return cts_fail(r->error, CTS_FORMAT, "byte %zu: %s", (size_t)(at->at - r->begin), what);
}

static uint64_t varint(struct cts_cursor *cursor)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        const uint8_t byte = cts_cursor_u8(cursor);
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80)) return value;
    }
    cursor->overflow = true;
    return 0;
}

/* The next field of a message. */
static enum cts_status next(const struct reader *r, struct cts_cursor *message, struct field *field)
{
    const uint64_t tag = varint(message);
    *field = (struct field){.number = (uint32_t)(tag >> 3), .wire = (enum wire)(tag & 7)};
    if (message->overflow || !field->number || tag >> 3 > 0x1fffffff)
        return bad(r, message, "invalid protobuf field");
    switch (field->wire) {
    case WIRE_VARINT:
        field->value = varint(message);
        break;
    case WIRE_8_BYTES:
        field->value = cts_cursor_u64(message);
        break;
    case WIRE_4_BYTES:
        field->value = cts_cursor_u32(message);
        break;
    case WIRE_BYTES: {
        const uint64_t count = varint(message);
        const uint8_t *const bytes =
            message->overflow || count > SIZE_MAX ? NULL : cts_cursor_bytes(message, (size_t)count);
        if (bytes) field->bytes = cts_cursor_of(bytes, (size_t)count);
        break;
    }
    default:
        return bad(r, message, "protobuf field of unknown type");
    }
    return message->overflow ? bad(r, message, "protobuf field extends past the end of the message")
                             : CTS_OK;
}

static enum cts_status as_text(const struct reader *r, const struct field *field, char **to)
{
    if (field->wire != WIRE_BYTES) return bad(r, &field->bytes, "expected a text");
    const size_t length = cts_cursor_left(&field->bytes);
    char *const copy = malloc(length + 1);
    if (!copy) return cts_fail(r->error, CTS_MEMORY, "no memory for %zu bytes", length);
    memcpy(copy, field->bytes.at, length);
    copy[length] = '\0';
    free(*to);
    *to = copy;
    return CTS_OK;
}

static enum cts_status as_number(const struct reader *r, const struct field *field,
                                 uint64_t *number)
{
    char digits[32];
    const size_t length = field->wire == WIRE_BYTES ? cts_cursor_left(&field->bytes) : 0;
    if (!length || length >= sizeof digits) return bad(r, &field->bytes, "expected a number");
    memcpy(digits, field->bytes.at, length);
    digits[length] = '\0';
    return cts_folder_number(digits, number) ? CTS_OK : bad(r, &field->bytes, "expected a number");
}

/* int32: negative ones have 64 bits. */
static enum cts_status as_small(const struct reader *r, const struct field *field, uint32_t *number)
{
    if (field->wire != WIRE_VARINT || field->value > INT32_MAX)
        return bad(r, &field->bytes, "expected a number from 0 to 2^31 - 1");
    *number = (uint32_t)field->value;
    return CTS_OK;
}

static int32_t as_index(const struct field *field)
{
    return field->wire == WIRE_VARINT && field->value <= INT32_MAX ? (int32_t)field->value
                                                                   : CTS_FOLDER_NO_INDEX;
}

static double as_double(const struct field *field)
{
    double number;
    memcpy(&number, &field->value, sizeof number);
    return number;
}

static enum cts_status as_extents(const struct reader *r, const struct field *field, uint32_t to[3])
{
    if (field->wire != WIRE_BYTES) return bad(r, &field->bytes, "expected x, y and z");
    struct cts_cursor message = field->bytes;
    while (cts_cursor_left(&message)) {
        struct field member;
        enum cts_status status = next(r, &message, &member);
        if (!status && member.number <= 3) status = as_small(r, &member, &to[member.number - 1]);
        if (status) return status;
    }
    return CTS_OK;
}

static enum cts_status take_lane(const struct reader *r, struct cts_cursor message,
                                 struct cts_folder_trace *trace)
{
    if (CTS_ARRAY_RESERVE(&trace->lanes, trace->lanes.count + 1, r->error)) return CTS_MEMORY;
    struct cts_folder_lane *const lane = &trace->lanes.items[trace->lanes.count];
    bool has_address = false;
    *lane = (struct cts_folder_lane){0};
    while (cts_cursor_left(&message)) {
        struct field field;
        enum cts_status status = next(r, &message, &field);
        if (!status && field.number == 1) status = as_extents(r, &field, lane->thread);
        if (!status && field.number == 2) {
            status = as_number(r, &field, &lane->address);
            has_address = true;
        }
        if (!status && field.number == 3 && cts_cursor_left(&field.bytes)) {
            status = as_number(r, &field, &lane->value);
            lane->value_words = 1;
        }
        if (status) return status;
    }
    if (!has_address) return bad(r, &message, "an access without an address");
    trace->lanes.count++;
    return CTS_OK;
}

static enum cts_status take_request(const struct reader *r, struct cts_cursor message,
                                    struct cts_folder_trace *trace)
{
    if (CTS_ARRAY_RESERVE(&trace->requests, trace->requests.count + 1, r->error)) return CTS_MEMORY;
    struct cts_folder_request *const request = &trace->requests.items[trace->requests.count];
    uint32_t kind = UINT8_MAX, space = UINT8_MAX;
    *request = (struct cts_folder_request){.first_lane = trace->lanes.count,
                                           .place = CTS_FOLDER_NO_INDEX,
                                           .type_index = CTS_FOLDER_NO_INDEX};
    while (cts_cursor_left(&message)) {
        struct field field;
        enum cts_status status = next(r, &message, &field);
        if (status) return status;
        if (field.number == 1 && field.wire == WIRE_BYTES)
            status = take_lane(r, field.bytes, trace);
        if (field.number == 2) status = as_extents(r, &field, request->cta);
        if (field.number == 4) request->place = as_index(&field);
        if (field.number == 5) status = as_small(r, &field, &request->width_bytes);
        if (field.number == 6) status = as_small(r, &field, &kind);
        if (field.number == 7) status = as_small(r, &field, &space);
        if (field.number == 8) request->type_index = as_index(&field);
        if (field.number == 9) status = as_number(r, &field, &request->timestamp);
        if (status) return status;
    }
    request->kind = kind < UINT8_MAX ? (uint8_t)kind : UINT8_MAX;
    request->space = space < UINT8_MAX ? (uint8_t)space : UINT8_MAX;
    request->lane_count = trace->lanes.count - request->first_lane;
    if (request->lane_count) trace->requests.count++;
    return CTS_OK;
}

/* Fields 7 to 10 by which of the two layouts it is. */
static enum cts_status name_allocation(const struct reader *r, const struct field late[4],
                                       struct cts_folder_allocation *a)
{
    const bool is_later = late[3].number || (late[0].number && late[0].wire == WIRE_VARINT);
    const struct field *const name = is_later ? &late[1] : &late[0];
    const struct field *const location = is_later ? &late[2] : &late[1];
    const struct field *const active = is_later ? &late[3] : &late[2];
    enum cts_status status = CTS_OK;
    if (is_later && late[0].number) a->name_index = as_index(&late[0]);
    if (name->number) status = as_text(r, name, &a->name);
    if (!status && location->number) status = as_text(r, location, &a->location);
    a->active = !active->number || active->value;
    return status;
}

static enum cts_status take_allocation(const struct reader *r, struct cts_cursor message,
                                       struct cts_folder_trace *trace)
{
    if (CTS_ARRAY_RESERVE(&trace->allocations, trace->allocations.count + 1, r->error))
        return CTS_MEMORY;
    struct cts_folder_allocation *const a = &trace->allocations.items[trace->allocations.count++];
    struct field late[4] = {{0}, {0}, {0}, {0}};
    uint32_t size = 0, space = 0;
    *a = (struct cts_folder_allocation){.type_index = CTS_FOLDER_NO_INDEX,
                                        .name_index = CTS_FOLDER_NO_INDEX};
    while (cts_cursor_left(&message)) {
        struct field field;
        enum cts_status status = next(r, &message, &field);
        if (status) return status;
        if (field.number == 1) status = as_number(r, &field, &a->address);
        if (field.number == 2) status = as_small(r, &field, &size);
        if (field.number == 3) status = as_small(r, &field, &a->element_bytes);
        if (field.number == 4) status = as_small(r, &field, &space);
        if (field.number == 5) a->type_index = as_index(&field);
        if (field.number == 6) status = as_text(r, &field, &a->type);
        if (field.number >= 7 && field.number <= 10) late[field.number - 7] = field;
        if (status) return status;
    }
    a->size_bytes = size;
    a->space = space < UINT8_MAX ? (uint8_t)space : UINT8_MAX;
    return name_allocation(r, late, a);
}

static enum cts_status take_field(const struct reader *r, const struct field *field,
                                  struct cts_folder_trace *trace)
{
    if (field->number <= 2 && field->wire != WIRE_BYTES)
        return bad(r, &field->bytes, "expected a message");
    switch (field->number) {
    case 1:
        return take_request(r, field->bytes, trace);
    case 2:
        return take_allocation(r, field->bytes, trace);
    case 3:
        return as_text(r, field, &trace->kernel);
    case 4:
        trace->start_ms = as_double(field);
        return CTS_OK;
    case 5:
        trace->end_ms = as_double(field);
        return CTS_OK;
    case 7:
        return as_extents(r, field, trace->grid);
    case 8:
        return as_extents(r, field, trace->block);
    case 9:
        return as_small(r, field, &trace->warp_size);
    case 10:
        return as_small(r, field, &trace->bank_bytes);
    default:
        return CTS_OK;
    }
}

enum cts_status cts_folder_parse_protobuf(const uint8_t *bytes, size_t byte_count,
                                          struct cts_folder_trace *trace, struct cts_error *error)
{
    const struct reader r = {.begin = bytes, .error = error};
    struct cts_cursor message = cts_cursor_of(bytes, byte_count);
    enum cts_status status = CTS_OK;
    *trace = (struct cts_folder_trace){0};
    while (!status && cts_cursor_left(&message)) {
        struct field field;
        status = next(&r, &message, &field);
        if (!status) status = take_field(&r, &field, trace);
    }
    if (!status) status = cts_folder_check(trace, error);
    if (status) cts_folder_trace_release(trace);
    return status;
}
