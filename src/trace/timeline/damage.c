/* Files of locations that turn out damaged while their events are read, by several threads at once
 * and of a timeline that nobody may change meanwhile: they wait here until someone names them. */
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "trace/timeline/timeline-private.h"

static char unnamed[] = "the events of a location are damaged"; /* no memory for the text */

void cts_timeline_note_damage(const struct cts_timeline_private *private, uint32_t location,
                              const struct cts_error *error)
{
    struct cts_timeline_damage *const damage = &private->damages[location];
    char *none = NULL, *const text = strdup(error->text);
    if (!atomic_compare_exchange_strong(&damage->text, &none, text ? text : unnamed)) free(text);
}

void cts_timeline_name_damage(struct cts_timeline *timeline)
{
    struct cts_timeline_private *const p = timeline->private_data;
    for (uint64_t i = 0; i < p->location_count; i++) {
        struct cts_timeline_damage *const damage = &p->damages[i];
        const char *const text = atomic_load(&damage->text);
        if (!text || damage->is_named) continue;
        damage->is_named = true;
        cts_gaps_add(&timeline->gaps, "%s", text);
    }
}

void cts_timeline_release_damages(struct cts_timeline_private *private)
{
    for (uint64_t i = 0; i < private->location_count; i++) {
        char *const text = atomic_load(&private->damages[i].text);
        if (text != unnamed) free(text);
    }
    free(private->damages);
}
