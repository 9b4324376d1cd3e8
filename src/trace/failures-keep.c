#include "trace/failures-keep.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/catalogue-sql.h"

static const struct {
    const char *what, *key, *prefix;
} kinds[] = {{CTS_FAILURE_MEMORY, CTS_FAILURE_MEMORY_KEY, CTS_FAILURE_NO_MEMORY},
             {CTS_FAILURE_TIMELINE, "failure_timeline", CTS_FAILURE_NO_TIMELINE}};
enum { KIND_COUNT = sizeof kinds / sizeof *kinds };

/* Lines of all gaps, NULL: no memory. */
static char *joined(const struct cts_gaps *gaps)
{
    size_t bytes = 1;
    for (size_t i = 0; i < gaps->named_count; i++) bytes += strlen(gaps->texts[i]) + 1;
    char *const lines = calloc(1, bytes);
    char *at = lines;
    for (size_t i = 0; lines && i < gaps->named_count; i++)
        at += snprintf(at, bytes - (size_t)(at - lines), "%s\n", gaps->texts[i]);
    return lines;
}

void cts_failures_keep(const char *run_path)
{
    struct cts_gaps gaps[KIND_COUNT] = {{0}};
    bool any = false, kept = true;
    for (int i = 0; i < KIND_COUNT; i++) {
        cts_failures_list(run_path, kinds[i].what, "", &gaps[i]);
        any = any || gaps[i].count;
        kept = kept && gaps[i].count == gaps[i].named_count;
    }
    sqlite3 *db = NULL;
    if (any && kept && !cts_catalogue_open_database(run_path, &db, NULL)) {
        for (int i = 0; i < KIND_COUNT && kept; i++) {
            char *const lines = gaps[i].count ? joined(&gaps[i]) : NULL;
            kept = !gaps[i].count ||
                   (lines && !cts_catalogue_store_key(db, kinds[i].key, lines, true, NULL));
            free(lines);
        }
        cts_catalogue_close_database(db);
        if (kept) cts_failures_forget(run_path);
    }
    for (int i = 0; i < KIND_COUNT; i++) cts_gaps_release(&gaps[i]);
}

void cts_failures_recall(struct cts_catalogue *catalogue, struct cts_gaps *timeline_gaps)
{
    for (int i = 0; i < KIND_COUNT; i++) {
        const char *line = cts_catalogue_get(catalogue, kinds[i].key);
        while (line && *line) {
            const size_t length = strcspn(line, "\n");
            cts_gaps_add(i ? timeline_gaps : &catalogue->gaps, "%s%.*s", kinds[i].prefix,
                         (int)length, line);
            line += length + (line[length] == '\n');
        }
    }
    const char *const import = cts_catalogue_get(catalogue, CTS_FAILURE_IMPORT_KEY);
    if (import) cts_gaps_add(&catalogue->gaps, "the import ended early: %s", import);
}
