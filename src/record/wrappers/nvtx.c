/* NVTX: ranges and marks of programs as regions of their threads.
 *
 * A program's NVTX (header-only, version 3) loads the library that NVTX_INJECTION64_PATH names and
 * calls InitializeInjectionNvtx2(), which puts our functions into its tables, by module and number.
 * The CPU device's own header takes the same functions from ctascope_nvtx_function(). What we need
 * of NVTX's binary interface is declared here, so that no toolkit is needed.
 *
 *   push, pop     a region; domains are independent of each other (open-regions.h says what
 * happens) start, end    a region of the thread that starts it, if that thread ends it too. Else it
 * ends when its thread next calls NVTX, and the thread that ended it has a mark "end of NAME" at
 * the time marks         a region of no length
 *
 * Where a memory recording asks for chosen ranges, they are watched as well (nvtx-filter.h).
 *
 * Names of ranges in a domain are "domain: name". A thread that another one names gets the name at
 * its next call. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <wchar.h>

#include "record/wrappers/loader.h"
#include "record/wrappers/nvtx-filter.h"
#include "record/wrappers/open-regions.h"

#define CTS_EXPORT __attribute__((visibility("default")))
enum { TEXT_BYTES = 512 };

/* ---- NVTX's interface ---- */

struct domain { /* nvtxDomainHandle_t; NULL: the default domain */
    char name[TEXT_BYTES];
};
struct string { /* nvtxStringHandle_t */
    char text[TEXT_BYTES];
};
enum message_type { MESSAGE_NONE, MESSAGE_ASCII, MESSAGE_WIDE, MESSAGE_REGISTERED };
struct attributes { /* nvtxEventAttributes_t */
    uint16_t version, size;
    uint32_t category;
    int32_t color_type;
    uint32_t color;
    int32_t payload_type, reserved;
    uint64_t payload;
    int32_t message_type;
    union {
        const char *ascii;
        const wchar_t *wide;
        const struct string *registered;
    } message;
};
enum module { MODULE_CORE = 1, MODULE_CORE2 = 5 };
enum { EXPORT_TABLE_CALLBACKS = 1 };

typedef void any_function(void);
struct callbacks {
    size_t struct_size;
    int (*table_of)(int module, any_function ****table, unsigned *size);
};
typedef const void *get_export_table(uint32_t id);

/* ---- the recorder ---- */

static const struct cts_recorder *recorder;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of ranges and names */

static void load(void)
{
    const struct cts_recorder *const found = cts_recorder_load();
    if (found && found->is_on()) recorder = found;
}

static uint32_t this_thread_id(void)
{
    static __thread uint32_t id;
    if (!id) id = (uint32_t)syscall(SYS_gettid);
    return id;
}

/* ---- ranges that one thread may end for another, and names given to others ---- */

enum { RANGE_BUCKETS = 256 };
struct range {
    struct range *next;
    uint64_t id;
    uint32_t thread;
    bool ended;      /* by another thread */
    uint64_t filter; /* its number in the filter; 0: none */
    char name[TEXT_BYTES];
};
static struct range *ranges[RANGE_BUCKETS];
static uint64_t next_range = 1;
static struct name {
    struct name *next;
    uint32_t thread;
    char text[TEXT_BYTES];
} *names;
static atomic_uint left_for_others; /* ended ranges and names that their threads have not seen */

static const char range_owner;

static void take_names(uint32_t thread)
{
    for (struct name **place = &names; *place;) {
        struct name *const name = *place;
        if (name->thread != thread) {
            place = &name->next;
            continue;
        }
        recorder->name_thread(name->text);
        *place = name->next;
        free(name);
        atomic_fetch_sub(&left_for_others, 1);
    }
}

static void end_ranges(uint32_t thread, struct cts_open_regions *regions)
{
    for (size_t i = 0; i < RANGE_BUCKETS; i++) {
        for (struct range **place = &ranges[i]; *place;) {
            struct range *const range = *place;
            if (range->thread != thread || !range->ended) {
                place = &range->next;
                continue;
            }
            cts_open_pop(recorder, regions, &range_owner, range->id, false);
            *place = range->next;
            free(range);
            atomic_fetch_sub(&left_for_others, 1);
        }
    }
}

/* The thread's regions, when there is a recording; what others left for the thread is done. */
static struct cts_open_regions *regions_of_thread(void)
{
    (void)cts_recorder_load(); /* outside of once: loader.h */
    pthread_once(&once, load);
    struct cts_open_regions *const regions = recorder ? cts_open_regions() : NULL;
    if (!regions || !atomic_load_explicit(&left_for_others, memory_order_relaxed)) return regions;
    pthread_mutex_lock(&lock);
    take_names(this_thread_id());
    end_ranges(this_thread_id(), regions);
    pthread_mutex_unlock(&lock);
    return regions;
}

/* ---- text ---- */

/* Wide characters as UTF-8, as many as fit whole. */
static void copy_wide(char *to, const wchar_t *from)
{
    size_t used = 0;
    for (; from && *from; from++) {
        const uint32_t c = (uint32_t)*from;
        const size_t bytes = c < 0x80 ? 1 : c < 0x800 ? 2 : c < 0x10000 ? 3 : 4;
        if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000) || used + bytes >= TEXT_BYTES) break;
        static const uint8_t lead[] = {0, 0, 0xC0, 0xE0, 0xF0};
        for (size_t i = bytes; i-- > 1;)
            to[used + i] = (char)(0x80 | (c >> (6 * (bytes - 1 - i)) & 0x3F));
        to[used] = (char)(lead[bytes] | c >> (6 * (bytes - 1)));
        used += bytes;
    }
    to[used] = 0;
}

static void copy_text(char *to, const char *from)
{
    snprintf(to, TEXT_BYTES, "%s", from && *from ? from : "range");
}

static void copy_message(char *to, const struct attributes *attributes)
{
    const bool has_message = attributes && attributes->size >= sizeof(*attributes);
    const enum message_type type =
        has_message ? (enum message_type)attributes->message_type : MESSAGE_NONE;
    if (type == MESSAGE_ASCII)
        copy_text(to, attributes->message.ascii);
    else if (type == MESSAGE_WIDE)
        copy_wide(to, attributes->message.wide);
    else if (type == MESSAGE_REGISTERED && attributes->message.registered)
        copy_text(to, attributes->message.registered->text);
    else
        copy_text(to, NULL);
}

static uint32_t region_of(const struct domain *domain, const char *text)
{
    char name[2 * TEXT_BYTES + 2];
    if (domain) snprintf(name, sizeof(name), "%s: %s", domain->name, text);
    return recorder->region(&(struct cts_timeline_region){.name = domain ? name : text,
                                                          .file = "NVTX",
                                                          .paradigm = CTS_PARADIGM_USER,
                                                          .role = CTS_ROLE_CODE});
}

/* ---- what ranges do ---- */

static const char default_domain;

static const void *owner_of(const struct domain *domain)
{
    return domain ? (const void *)domain : &default_domain;
}

static void mark(const struct domain *domain, const char *text)
{
    struct cts_log *const log = regions_of_thread() ? recorder->this_thread() : NULL;
    if (!log) return;
    struct cts_timeline_event event = {
        .time_ns = recorder->now_ns(), .kind = CTS_EVENT_ENTER, .region = region_of(domain, text)};
    recorder->event(log, &event, NULL);
    event.kind = CTS_EVENT_LEAVE;
    recorder->event(log, &event, NULL);
}

/* The level of the new range in its domain, from 0; negative: not recorded. */
static int push(const struct domain *domain, const char *text)
{
    struct cts_open_regions *const regions = regions_of_thread();
    int level = 0;
    if (cts_nvtx_filter_is_on())
        cts_nvtx_filter_push(domain ? domain->name : NULL, text, owner_of(domain));
    if (!regions) return -1;
    for (uint32_t i = 0; i < regions->count; i++)
        level += regions->open[i].owner == owner_of(domain);
    cts_open_push(
        recorder, regions,
        (struct cts_open_region){.owner = owner_of(domain), .region = region_of(domain, text)});
    return level;
}

static int pop(const struct domain *domain)
{
    struct cts_open_regions *const regions = regions_of_thread();
    int level = -1;
    if (cts_nvtx_filter_is_on()) cts_nvtx_filter_pop(owner_of(domain));
    if (!regions || !cts_open_pop(recorder, regions, owner_of(domain), 0, false)) return -1;
    for (uint32_t i = 0; i < regions->count; i++)
        level += regions->open[i].owner == owner_of(domain);
    return level + 1;
}

static uint64_t start(const struct domain *domain, const char *text)
{
    struct cts_open_regions *const regions = regions_of_thread();
    struct range *const range = regions ? malloc(sizeof(*range)) : NULL;
    if (!range)
        return cts_nvtx_filter_is_on() ? cts_nvtx_filter_start(domain ? domain->name : NULL, text)
                                       : 0;
    copy_text(range->name, text);
    range->thread = this_thread_id();
    range->ended = false;
    range->filter =
        cts_nvtx_filter_is_on() ? cts_nvtx_filter_start(domain ? domain->name : NULL, text) : 0;
    pthread_mutex_lock(&lock);
    const uint64_t id = range->id = next_range++;
    range->next = ranges[id % RANGE_BUCKETS];
    ranges[id % RANGE_BUCKETS] = range;
    pthread_mutex_unlock(&lock);
    cts_open_push(recorder, regions,
                  (struct cts_open_region){
                      .owner = &range_owner, .number = id, .region = region_of(domain, text)});
    return id;
}

static void range_end(uint64_t id)
{
    struct cts_open_regions *const regions = regions_of_thread();
    char text[TEXT_BYTES + 16] = "";
    if (cts_nvtx_filter_end(id) || !regions) return;
    pthread_mutex_lock(&lock);
    struct range **place = &ranges[id % RANGE_BUCKETS];
    while (*place && (*place)->id != id) place = &(*place)->next;
    struct range *const range = *place;
    const bool own = range && range->thread == this_thread_id();
    if (range && !range->ended) (void)cts_nvtx_filter_end(range->filter);
    if (own) {
        *place = range->next;
    } else if (range && !range->ended) {
        range->ended = true;
        atomic_fetch_add(&left_for_others, 1);
        snprintf(text, sizeof(text), "end of %s", range->name);
    }
    pthread_mutex_unlock(&lock);
    if (own) {
        cts_open_pop(recorder, regions, &range_owner, id, false);
        free(range);
    }
    if (*text) mark(NULL, text);
}

static void name_thread(uint32_t thread, const char *text)
{
    if (!regions_of_thread()) return;
    if (thread == this_thread_id()) {
        recorder->name_thread(text);
        return;
    }
    struct name *const name = malloc(sizeof(*name));
    if (!name) return;
    name->thread = thread;
    copy_text(name->text, text);
    pthread_mutex_lock(&lock);
    name->next = names;
    names = name;
    atomic_fetch_add(&left_for_others, 1);
    pthread_mutex_unlock(&lock);
}

static struct domain *domain_create(const char *name)
{
    struct domain *const domain = malloc(sizeof(*domain));
    if (domain) copy_text(domain->name, name);
    return domain;
}

/* Ranges may be open in it still, so it stays where it is. */
static void domain_destroy(struct domain *domain)
{
    (void)domain;
}

static struct string *register_string(struct domain *domain, const char *text)
{
    struct string *const string = malloc(sizeof(*string));
    (void)domain;
    if (string) copy_text(string->text, text);
    return string;
}

static void initialize(const void *reserved)
{
    (void)reserved;
}

/* ---- the forms in which they are called ---- */

#define EX(text)                                                                                   \
    char text[TEXT_BYTES];                                                                         \
    copy_message(text, attributes)
#define WIDE(text)                                                                                 \
    char text[TEXT_BYTES];                                                                         \
    copy_wide(text, wide)

/* For attributes, a text and a wide one in the default domain, and attributes in any. */
#define FORMS(type, name)                                                                          \
    static type name##_ex(const struct attributes *attributes)                                     \
    {                                                                                              \
        EX(text);                                                                                  \
        return name(NULL, text);                                                                   \
    }                                                                                              \
    static type name##_a(const char *text)                                                         \
    {                                                                                              \
        return name(NULL, text);                                                                   \
    }                                                                                              \
    static type name##_w(const wchar_t *wide)                                                      \
    {                                                                                              \
        WIDE(text);                                                                                \
        return name(NULL, text);                                                                   \
    }                                                                                              \
    static type domain_##name(const struct domain *domain, const struct attributes *attributes)    \
    {                                                                                              \
        EX(text);                                                                                  \
        return name(domain, text);                                                                 \
    }
FORMS(void, mark)
FORMS(uint64_t, start)
FORMS(int, push)

static int pop_default(void)
{
    return pop(NULL);
}
static void name_thread_w(uint32_t thread, const wchar_t *wide)
{
    WIDE(text);
    name_thread(thread, text);
}
static void domain_end(const struct domain *domain, uint64_t id)
{
    (void)domain;
    range_end(id);
}
static struct string *register_string_w(struct domain *domain, const wchar_t *wide)
{
    WIDE(text);
    return register_string(domain, text);
}
static struct domain *domain_create_w(const wchar_t *wide)
{
    WIDE(text);
    return domain_create(text);
}

/* ---- the tables ---- */

#define FUNCTION(name) (any_function *)(name)
static any_function *const core[] = {NULL,
                                     FUNCTION(mark_ex),
                                     FUNCTION(mark_a),
                                     FUNCTION(mark_w),
                                     FUNCTION(start_ex),
                                     FUNCTION(start_a),
                                     FUNCTION(start_w),
                                     FUNCTION(range_end),
                                     FUNCTION(push_ex),
                                     FUNCTION(push_a),
                                     FUNCTION(push_w),
                                     FUNCTION(pop_default),
                                     NULL /* categories */,
                                     NULL,
                                     FUNCTION(name_thread),
                                     FUNCTION(name_thread_w)};
static any_function *const core2[] = {
    NULL,
    FUNCTION(domain_mark),
    FUNCTION(domain_start),
    FUNCTION(domain_end),
    FUNCTION(domain_push),
    FUNCTION(pop),
    NULL /* resources */,
    NULL,
    NULL /* categories */,
    NULL,
    FUNCTION(register_string),
    FUNCTION(register_string_w),
    FUNCTION(domain_create),
    FUNCTION(domain_create_w),
    FUNCTION(domain_destroy),
    FUNCTION(initialize),
};
enum { CORE_COUNT = sizeof(core) / sizeof(*core), CORE2_COUNT = sizeof(core2) / sizeof(*core2) };

/* For the CPU device's header: NULL where we do nothing. */
CTS_EXPORT any_function *ctascope_nvtx_function(unsigned module, unsigned id);
any_function *ctascope_nvtx_function(unsigned module, unsigned id)
{
    if (module == MODULE_CORE && id < CORE_COUNT) return core[id];
    if (module == MODULE_CORE2 && id < CORE2_COUNT) return core2[id];
    return NULL;
}

static void fill(const struct callbacks *callbacks, enum module module,
                 any_function *const *functions, unsigned count)
{
    any_function ***table = NULL;
    unsigned size = 0;
    if (!callbacks->table_of(module, &table, &size) || !table) return;
    for (unsigned i = 1; i < count && i < size; i++)
        if (functions[i] && table[i]) *table[i] = functions[i];
}

/* 1: NVTX calls us from now on; 0: it finds nobody. */
CTS_EXPORT int InitializeInjectionNvtx2(get_export_table *get_table);
int InitializeInjectionNvtx2(get_export_table *get_table)
{
    (void)cts_recorder_load(); /* outside of once: loader.h */
    pthread_once(&once, load);
    const struct callbacks *const callbacks =
        recorder || cts_nvtx_filter_is_on() ? get_table(EXPORT_TABLE_CALLBACKS) : NULL;
    if (!callbacks || callbacks->struct_size < sizeof(*callbacks)) return 0;
    fill(callbacks, MODULE_CORE, core, CORE_COUNT);
    fill(callbacks, MODULE_CORE2, core2, CORE2_COUNT);
    return 1;
}
