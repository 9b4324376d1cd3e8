/* The shape of launches, said once. Most launches of a kernel have the same grid, block, registers
 * and shared memory; as attributes of each they would be half of what a launch takes on disk. So a
 * kernel's region says them, in its description, which other tools show:
 *
 *     launch: grid 64x1x1, block 256x1x1, registers 32, static shared 0, dynamic shared 1024
 *
 * and a launch has the attributes that differ from it. A launch whose shape nobody knows has a grid
 * of 0. Events in memory are as if each launch had said all, but for what goes without saying:
 * extents of 1 in y and z, and sizes of 0. */
#include <stdio.h>
#include <string.h>

#include "trace/timeline/timeline-private.h"

static const char *const words[CTS_SHAPE_COUNT] = {
    "launch: grid ",     "x", "x", ", block ", "x", "x", ", registers ", ", static shared ",
    ", dynamic shared ",
};

/* In the order of the attributes; 0 is no grid and no block. */
static const uint32_t unsaid[CTS_SHAPE_COUNT] = {0, 1, 1, 0, 1, 1, 0, 0, 0};

void cts_shape_describe(const struct cts_timeline_shape *shape, char *text, size_t text_bytes)
{
    size_t length = 0;
    *text = '\0';
    for (size_t i = 0; i < CTS_SHAPE_COUNT && length < text_bytes; i++)
        length += (size_t)snprintf(text + length, text_bytes - length, "%s%u", words[i],
                                   shape->values[i]);
}

static bool take_number(const char **text, uint32_t *number)
{
    uint64_t value = 0;
    const char *at = *text;
    while (*at >= '0' && *at <= '9' && value <= UINT32_MAX)
        value = value * 10 + (uint64_t)(*at++ - '0');
    if (at == *text || value > UINT32_MAX) return false;
    *text = at;
    *number = (uint32_t)value;
    return true;
}

bool cts_shape_parse(const char *text, struct cts_timeline_shape *shape)
{
    struct cts_timeline_shape found;
    for (size_t i = 0; i < CTS_SHAPE_COUNT; i++) {
        const size_t length = strlen(words[i]);
        if (strncmp(text, words[i], length) != 0) return false;
        text += length;
        if (!take_number(&text, &found.values[i])) return false;
    }
    if (*text || !found.values[0]) return false;
    *shape = found;
    return true;
}

static uint64_t value_of(const struct cts_event_attributes *attributes, size_t i,
                         uint64_t otherwise)
{
    const size_t id = CTS_ATTRIBUTE_GRID_X + i;
    return attributes->present >> id & 1 ? attributes->values[id] : otherwise;
}

static void set(struct cts_event_attributes *attributes, size_t i, uint64_t value, uint64_t omitted)
{
    const size_t id = CTS_ATTRIBUTE_GRID_X + i;
    attributes->present &= ~(1u << id);
    attributes->values[id] = value;
    if (value != omitted) attributes->present |= 1u << id;
}

void cts_shape_leave_out(const struct cts_timeline_shape *shape,
                         struct cts_event_attributes *attributes)
{
    if (!value_of(attributes, 0, 0)) { /* not known */
        set(attributes, 0, 0, UINT64_MAX);
        return;
    }
    for (size_t i = 0; i < CTS_SHAPE_COUNT; i++)
        set(attributes, i, value_of(attributes, i, unsaid[i]), shape->values[i]);
}

void cts_shape_fill_in(const struct cts_timeline_shape *shape,
                       struct cts_event_attributes *attributes)
{
    if (!value_of(attributes, 0, 1)) {
        set(attributes, 0, 0, 0);
        return;
    }
    for (size_t i = 0; i < CTS_SHAPE_COUNT; i++)
        set(attributes, i, value_of(attributes, i, shape->values[i]), unsaid[i]);
}
