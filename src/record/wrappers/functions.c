/* User code as regions: what include/ctascope/record.h calls, and the functions of code that was
 * compiled with -finstrument-functions, whose entries and exits come here.
 *
 * A function is looked up by its address in a table that is read without a lock. The first time,
 * its name comes from the symbol table of its module's file (symbols.h), since the dynamic linker
 * knows no static functions. CTASCOPE_FUNCTIONS is an extended regular expression; functions that
 * it does not match are not recorded. */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "record/wrappers/loader.h"
#include "record/wrappers/open-regions.h"
#include "record/wrappers/symbols.h"

#define CTS_EXPORT __attribute__((visibility("default")))

/* ---- the recorder ---- */

static const struct cts_recorder *recorder;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static regex_t filter;
static bool has_filter;
static __thread bool busy; /* looking up a name may call instrumented code (an allocator's) */

static void load(void)
{
    const struct cts_recorder *const found = cts_recorder_load();
    const char *const wish = getenv("CTASCOPE_FUNCTIONS");
    char message[300], problem[150];
    if (!found || !found->is_on()) return;
    if (wish && *wish) {
        const int error = regcomp(&filter, wish, REG_EXTENDED | REG_NOSUB);
        has_filter = error == 0;
        if (error) {
            regerror(error, &filter, problem, sizeof(problem));
            snprintf(message, sizeof(message), "CTASCOPE_FUNCTIONS '%.80s': %s", wish, problem);
            found->message("error", message);
        }
    }
    recorder = found;
}

/* The thread's regions, when there is a recording. */
static struct cts_open_regions *regions_of_thread(void)
{
    if (busy) return NULL;
    (void)cts_recorder_load(); /* outside of once: loader.h */
    pthread_once(&once, load);
    return recorder ? cts_open_regions() : NULL;
}

/* ---- regions that the program names ---- */

static const char user; /* their owner */

CTS_EXPORT void ctascope_region_enter(const char *name);
CTS_EXPORT void ctascope_region_leave(void);

void ctascope_region_enter(const char *name)
{
    struct cts_open_regions *const regions = regions_of_thread();
    if (!regions) return;
    const uint32_t region = recorder->region(&(struct cts_timeline_region){
        .name = name ? name : "region", .paradigm = CTS_PARADIGM_USER, .role = CTS_ROLE_CODE});
    cts_open_push(recorder, regions, (struct cts_open_region){.owner = &user, .region = region});
}

void ctascope_region_leave(void)
{
    struct cts_open_regions *const regions = regions_of_thread();
    if (regions) cts_open_pop(recorder, regions, &user, 0, false);
}

/* ---- instrumented functions ---- */

enum { TABLE_BITS = 16, TABLE_SIZE = 1 << TABLE_BITS };
static struct entry {
    _Atomic(uintptr_t) function;
    _Atomic uint32_t region; /* + 2; 0: not known yet; 1: not recorded */
} table[TABLE_SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t entry_count;

static uint32_t define(uintptr_t function)
{
    struct cts_symbol symbol;
    char address[32];
    snprintf(address, sizeof(address), "%#llx", (unsigned long long)function);
    if (!cts_symbol_of(function, &symbol))
        symbol = (struct cts_symbol){.name = address, .module = NULL};
    char *const readable = cts_symbol_readable(symbol.name);
    const char *const name = readable ? readable : symbol.name;
    uint32_t region = CTS_NO_REGION;
    if (!has_filter || regexec(&filter, name, 0, NULL, 0) == 0)
        region = recorder->region(&(struct cts_timeline_region){
            .name = name,
            .canonical_name = symbol.name,
            .file = symbol.module,
            .paradigm = CTS_PARADIGM_COMPILER,
            .role = CTS_ROLE_FUNCTION,
        });
    free(readable);
    return region;
}

static uint32_t define_in(struct entry *entry, uintptr_t function)
{
    const int saved_errno = errno;
    busy = true;
    pthread_mutex_lock(&lock);
    uint32_t known = atomic_load(&entry->region);
    if (!known) {
        known = define(function) + 2; /* NO_REGION becomes 1 */
        atomic_store_explicit(&entry->region, known, memory_order_release);
    }
    pthread_mutex_unlock(&lock);
    busy = false;
    errno = saved_errno;
    return known - 2;
}

static struct entry *find_or_insert(uintptr_t function)
{
    size_t at = (size_t)(cts_hash(function) >> (64 - TABLE_BITS));
    for (;; at = (at + 1) % TABLE_SIZE) {
        uintptr_t there = atomic_load_explicit(&table[at].function, memory_order_acquire);
        if (there == function) return &table[at];
        if (there) continue;
        if (__atomic_load_n(&entry_count, __ATOMIC_RELAXED) > TABLE_SIZE / 2) return NULL;
        if (atomic_compare_exchange_strong(&table[at].function, &there, function)) {
            __atomic_add_fetch(&entry_count, 1, __ATOMIC_RELAXED);
            return &table[at];
        }
        if (there == function) return &table[at];
    }
}

static uint32_t region_of(uintptr_t function)
{
    struct entry *const entry = find_or_insert(function);
    if (!entry) return CTS_NO_REGION; /* more functions than anybody wants to see */
    const uint32_t known = atomic_load_explicit(&entry->region, memory_order_acquire);
    return known ? known - 2 : define_in(entry, function);
}

CTS_EXPORT void __cyg_profile_func_enter(void *function, void *call_site);
CTS_EXPORT void __cyg_profile_func_exit(void *function, void *call_site);

void __cyg_profile_func_enter(void *function, void *call_site)
{
    struct cts_open_regions *const regions = regions_of_thread();
    (void)call_site;
    if (!regions) return;
    cts_open_push(recorder, regions,
                  (struct cts_open_region){.owner = &table,
                                           .number = (uintptr_t)function,
                                           .region = region_of((uintptr_t)function)});
}

/* Functions that were left by longjmp() are still open above this one: they end with it. */
void __cyg_profile_func_exit(void *function, void *call_site)
{
    struct cts_open_regions *const regions = regions_of_thread();
    (void)call_site;
    if (regions) cts_open_pop(recorder, regions, &table, (uintptr_t)function, true);
}
