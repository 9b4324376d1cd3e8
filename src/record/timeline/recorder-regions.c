/* Interning. Regions are looked up without a lock: the table's entries are set once, by an atomic
 * store, and a table that has become too small is left in place for those that still read it (all
 * of them together are no larger than the last). Communicators and windows are few and take the
 * lock. */
#include "record/timeline/recorder-regions.h"

#include <stdlib.h>
#include <string.h>

#include "record/timeline/recorder-process.h"
#include "trace/log/region.h"

struct interned {
    uint64_t hash;
    uint32_t number;
    struct cts_timeline_region region; /* its strings follow */
};
struct table {
    size_t mask;
    struct interned *_Atomic entries[];
};

static struct table *_Atomic table;
static uint32_t region_count;

static struct interned *find(const struct table *in, uint64_t hash,
                             const struct cts_timeline_region *region)
{
    if (!in) return NULL;
    for (size_t at = hash >> 20 & in->mask;; at = (at + 1) & in->mask) {
        struct interned *const entry = atomic_load_explicit(&in->entries[at], memory_order_acquire);
        if (!entry) return NULL;
        if (entry->hash == hash && cts_region_is_same(&entry->region, region)) return entry;
    }
}

static void insert(struct table *into, struct interned *entry)
{
    size_t at = entry->hash >> 20 & into->mask;
    while (atomic_load(&into->entries[at])) at = (at + 1) & into->mask;
    atomic_store_explicit(&into->entries[at], entry, memory_order_release);
}

static struct table *grown_table(void)
{
    struct table *const old = atomic_load(&table);
    if (old && 2 * (size_t)(region_count + 1) <= old->mask) return old;
    const size_t size = old ? 2 * (old->mask + 1) : 1024;
    struct table *const grown = calloc(1, sizeof *grown + size * sizeof grown->entries[0]);
    if (!grown) return NULL;
    grown->mask = size - 1;
    for (size_t i = 0; old && i <= old->mask; i++)
        if (atomic_load(&old->entries[i])) insert(grown, atomic_load(&old->entries[i]));
    atomic_store(&table, grown);
    return grown;
}

static const char *copy_text(char **to, const char *text)
{
    if (!text) return NULL;
    const size_t bytes = strlen(text) + 1;
    char *const copy = *to;
    memcpy(copy, text, bytes);
    *to += bytes;
    return copy;
}

static struct interned *make_entry(const struct cts_timeline_region *region, uint64_t hash)
{
    const char *const texts[] = {region->name, region->canonical_name, region->file};
    size_t bytes = sizeof(struct interned);
    for (int i = 0; i < 3; i++) bytes += texts[i] ? strlen(texts[i]) + 1 : 0;
    struct interned *const entry = malloc(bytes);
    if (!entry) return NULL;
    char *to = (char *)(entry + 1);
    *entry = (struct interned){.hash = hash, .number = region_count, .region = *region};
    entry->region.name = copy_text(&to, region->name);
    entry->region.canonical_name = copy_text(&to, region->canonical_name);
    entry->region.file = copy_text(&to, region->file);
    return entry;
}

static void define_region(const struct interned *entry)
{
    const struct cts_timeline_region *const r = &entry->region;
    struct cts_definition *const d = cts_definition_begin();
    cts_definition_word(d, cts_log_pair(r->paradigm, r->role));
    cts_definition_word(d, cts_log_pair(r->begin_line, r->end_line));
    cts_definition_text(d, r->name);
    cts_definition_text(d, r->canonical_name);
    cts_definition_text(d, r->file);
    cts_definition_write(d, CTS_RECORD_REGION, entry->number, true);
}

uint32_t cts_recorder_region(const struct cts_timeline_region *region)
{
    const uint64_t hash = cts_region_hash(region);
    const struct interned *entry =
        find(atomic_load_explicit(&table, memory_order_acquire), hash, region);
    if (CTS_LIKELY(entry != NULL)) return entry->number;
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    entry = find(atomic_load(&table), hash, region);
    struct table *const into = entry ? NULL : grown_table();
    if (into) {
        struct interned *const made = make_entry(region, hash);
        if (made) {
            region_count++;
            define_region(made); /* before anybody can use its number */
            insert(into, made);
            entry = made;
        }
    }
    if (!entry)
        cts_recorder_fail("no memory for the name of a region; events from here on are lost");
    cts_recorder_release(&hold);
    return entry ? entry->number : CTS_TIMELINE_NONE;
}

/* ---- communicators and windows ---- */

static struct known_communicator {
    uint32_t creator, number;
    bool group, has_members, has_name;
} *communicators;
static uint32_t communicator_count, window_count;

static uint32_t find_communicator(const struct cts_recorder_communicator *wanted)
{
    uint32_t i = communicator_count;
    while (i-- > 0)
        if (communicators[i].creator == wanted->creator &&
            communicators[i].number == wanted->number && communicators[i].group == wanted->group)
            return i;
    struct known_communicator *const grown =
        reallocarray(communicators, communicator_count + 1, sizeof *grown);
    if (!grown) {
        cts_recorder_fail("no memory for a communicator; events from here on are lost");
        return CTS_TIMELINE_NONE;
    }
    communicators = grown;
    grown[communicator_count] = (struct known_communicator){
        .creator = wanted->creator, .number = wanted->number, .group = wanted->group};
    return communicator_count++;
}

/* Members go into records of their own, as many as they need. */
static void define_members(uint32_t number, const uint32_t *members, uint32_t count)
{
    enum { AT_ONCE = 2 * (CTS_LOG_RECORD_WORDS_MAX - 2) };
    for (uint32_t first = 0; first < count; first += AT_ONCE) {
        const uint32_t part = count - first < AT_ONCE ? count - first : AT_ONCE;
        struct cts_definition *const d = cts_definition_begin();
        cts_definition_word(d, cts_log_pair(first, part));
        for (uint32_t i = 0; i < part; i += 2)
            cts_definition_word(
                d, cts_log_pair(members[first + i], i + 1 < part ? members[first + i + 1] : 0));
        cts_definition_write(d, CTS_RECORD_MEMBERS, number, true);
    }
}

uint32_t cts_recorder_communicator(const struct cts_recorder_communicator *wanted)
{
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    const uint32_t before = communicator_count;
    const uint32_t number = find_communicator(wanted);
    struct known_communicator *const known =
        number != CTS_TIMELINE_NONE ? &communicators[number] : NULL;
    const bool more_members = known && wanted->members && !known->has_members;
    const bool more_name = known && wanted->name && !known->has_name;
    if (known && (communicator_count != before || more_members || more_name)) {
        struct cts_definition *const d = cts_definition_begin();
        cts_definition_word(d, cts_log_pair(wanted->creator, wanted->number));
        cts_definition_word(d, cts_log_pair(wanted->parent_creator, wanted->parent_number));
        cts_definition_word(d,
                            cts_log_pair(more_members ? wanted->member_count : 0, wanted->group));
        cts_definition_text(d, wanted->name);
        cts_definition_write(d, CTS_RECORD_COMMUNICATOR, number, true);
        if (more_members) define_members(number, wanted->members, wanted->member_count);
        known->has_members |= more_members;
        known->has_name |= more_name;
    }
    cts_recorder_release(&hold);
    return number;
}

uint32_t cts_recorder_window(uint32_t communicator, const char *name)
{
    struct cts_recorder_hold hold;
    cts_recorder_hold(&hold);
    const uint32_t number = window_count++;
    struct cts_definition *const d = cts_definition_begin();
    cts_definition_word(d, communicator);
    cts_definition_text(d, name);
    cts_definition_write(d, CTS_RECORD_WINDOW, number, true);
    cts_recorder_release(&hold);
    return number;
}
