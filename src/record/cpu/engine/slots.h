/* The program-wide table of slots: what a log entry's upper 16 bits stand for. Files are added
 * before their first launch; entries never change afterwards, so readers take no lock. */
#ifndef CTS_ENGINE_SLOTS_H
#define CTS_ENGINE_SLOTS_H

#include <stdbool.h>
#include <stdint.h>

#include "record/abi.h"

enum {
    CTS_SLOT_LOOPS_MAX = 8, /* loops nested deeper count as part of the eighth */
    /* No site: an entry that the engine adds where lanes have met (log.c); the lower 32 bits are
     * the mask of those lanes. */
    CTS_SLOT_MEETING = CTS_SLOT_LIMIT - 1,
};

struct cts_log_slot {
    uint32_t site;       /* catalogue id */
    uint8_t space;       /* enum cts_space */
    uint8_t value_words; /* that follow an entry in the log and go into its record */
    uint8_t loop_count;  /* loops around it, at most CTS_SLOT_LOOPS_MAX */
    bool valid;
    bool is_mbarrier; /* its argument is 1 + an address: in the record, an offset in the window */
    /* The loops around the site, outermost first. A loop is named by the lowest slot in it: on one
     * level that is unique, and it says where the loop stands among the sites. */
    uint16_t loops[CTS_SLOT_LOOPS_MAX];
};

/* The value words of an access. */
static inline uint32_t cts_slot_value_words(uint32_t width_bytes)
{
    const uint32_t words = width_bytes / 8 + (width_bytes % 8 != 0);
    return words < CTS_LOG_VALUE_WORDS_MAX ? words : CTS_LOG_VALUE_WORDS_MAX;
}

extern struct cts_log_slot cts_slots[CTS_SLOT_LIMIT + 1];

/* Whether an address lies in a __constant__ variable of a file that was added. */
bool cts_slots_is_constant(uint64_t address);

#endif
