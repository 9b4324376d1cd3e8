/* A trace's requests as warp records, CTA after CTA. Private to import/. */
#ifndef CTS_IMPORT_FOLDER_ORDER_H
#define CTS_IMPORT_FOLDER_ORDER_H

#include "import/folder.h"

enum { CTS_FOLDER_WARPS_MAX = 32 };

struct cts_folder_record {
    const struct cts_folder_request *request; /* place, type, width, kind, space */
    uint32_t cta;
    uint16_t warp;
    uint8_t value_words;                /* of each of its lanes; 0: not all have as many */
    uint32_t mask;                      /* never 0 */
    uint64_t addresses[32], values[32]; /* values as in struct cts_folder_lane */
};

struct cts_folder_order {
    const struct cts_folder_trace *trace; /* checked */
    enum cts_status (*take)(void *state, const struct cts_folder_record *record,
                            struct cts_error *error);
    void *state;
    struct cts_error *error;
};

/* Calls take() for each record: by CTA, then time, then place in the file, then warp. */
CTS_MUST_CHECK enum cts_status cts_folder_in_order(const struct cts_folder_order *order);

#endif
