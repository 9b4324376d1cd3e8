/* Kineto says of a collective its name, group, sizes and, in versions since 2026, its number; of a
 * send or receive also the rank at the other end. It says so on the operator record_param_comms
 * and, since PyTorch 2.3, on the kernel. */
#include "import/profile-collective.h"

#include <string.h>

#include "common/array.h"
#include "common/hash.h"

static uint64_t element_bytes(const char *dtype)
{
    static const struct {
        const char *name;
        unsigned bytes;
    } types[] = {{"Float", 4},         {"BFloat16", 2},    {"Half", 2},     {"Double", 8},
                 {"Long", 8},          {"Int", 4},         {"Short", 2},    {"Char", 1},
                 {"Byte", 1},          {"Bool", 1},        {"float", 4},    {"c10::BFloat16", 2},
                 {"Float8_e4m3fn", 1}, {"Float8_e5m2", 1}, {"c10::Half", 2}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].name, dtype)) return types[i].bytes;
    return 0;
}

static int64_t number_or(const struct cts_profile_event *e, enum cts_profile_field field,
                         int64_t otherwise)
{
    return cts_profile_has(e, field) ? cts_profile_number(e, field) : otherwise;
}

static uint64_t group_of(const struct cts_profile_event *e)
{
    uint64_t hash = cts_hash_text(CTS_HASH_START, cts_profile_text(e, CTS_PROFILE_GROUP_NAME));
    hash = cts_hash_text(hash, cts_profile_text(e, CTS_PROFILE_GROUP_RANKS));
    return hash ? hash : 1;
}

static uint64_t bytes_of(const struct cts_profile_event *e)
{
    const int64_t in = cts_profile_number(e, CTS_PROFILE_IN_ELEMENTS);
    const int64_t out = cts_profile_number(e, CTS_PROFILE_OUT_ELEMENTS);
    const uint64_t elements = in > out ? (uint64_t)in : out > 0 ? (uint64_t)out : 0;
    return elements * element_bytes(cts_profile_text(e, CTS_PROFILE_DTYPE));
}

/* A kernel of sends and receives, which not all members of the group need run: only some operations
 * of all members are made of them. */
static bool is_of_some(const struct cts_profile_event *e, const char *name)
{
    return strstr(cts_profile_text(e, CTS_PROFILE_NAME), "SendRecv") && !strstr(name, "all") &&
           !strstr(name, "gather") && !strstr(name, "scatter");
}

enum cts_status cts_profile_take_collective(struct cts_profile_rank *rank,
                                            const struct cts_profile_event *e, uint32_t *index,
                                            struct cts_error *error)
{
    *index = 0;
    if (!cts_profile_has(e, CTS_PROFILE_COLLECTIVE)) return CTS_OK;
    if (CTS_ARRAY_RESERVE(&rank->collectives, rank->collectives.count + 1, error))
        return CTS_MEMORY;
    const char *const name = cts_profile_text(e, CTS_PROFILE_COLLECTIVE);
    const bool is_pair = !strcmp(name, "send") || !strcmp(name, "recv");
    const int64_t members = cts_profile_number(e, CTS_PROFILE_GROUP_SIZE);
    struct cts_profile_collective collective = {
        .group = !is_pair && is_of_some(e, name) ? 0 : group_of(e),
        .bytes = bytes_of(e),
        .sequence = number_or(e, CTS_PROFILE_SEQUENCE, -1),
        .peer = -1,
        .members = members > 0 && members < UINT32_MAX ? (uint32_t)members : 0,
        .is_send = is_pair && *name == 's',
        .is_receive = is_pair && *name == 'r'};
    if (is_pair)
        collective.peer = number_or(
            e, collective.is_send ? CTS_PROFILE_TARGET_RANK : CTS_PROFILE_SOURCE_RANK, -1);
    rank->collectives.items[rank->collectives.count] = collective;
    *index = (uint32_t)++rank->collectives.count;
    return CTS_OK;
}

uint64_t cts_profile_communicator(const struct cts_profile_collective *c, int64_t own_rank)
{
    if (!c->is_send && !c->is_receive) return c->group;
    if (c->peer < 0 || own_rank < 0) return 0;
    uint64_t hash = cts_hash_add(c->group, (uint64_t)(c->is_send ? own_rank : c->peer));
    hash = cts_hash_add(hash, (uint64_t)(c->is_send ? c->peer : own_rank));
    return hash ? hash : 1;
}
