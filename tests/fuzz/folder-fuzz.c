/* Fuzz target of the parsers of trace folders. The first byte chooses what the others are: 0 a
 * trace of either form, 1 metadata, 2 run.json (modulo 3). What a trace's parser accepts is put in
 * order, and every record of it is within the grid and block. */
#include <assert.h>
#include <stdlib.h>

#include "import/folder-order.h"
#include "import/folder-read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static enum cts_status check_record(void *state, const struct cts_folder_record *record,
                                    struct cts_error *error)
{
    const struct cts_folder_trace *const trace = state;
    (void)error;
    if (!record->mask || record->warp >= CTS_FOLDER_WARPS_MAX ||
        record->cta >= (uint64_t)trace->grid[0] * trace->grid[1] * trace->grid[2])
        abort();
    return CTS_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cts_error error;
    struct cts_folder_trace trace;
    struct cts_folder_metadata metadata;
    struct cts_folder_run run;
    if (size < 1) return 0;
    switch (data[0] % 3) {
    case 0:
        if (cts_folder_parse(data + 1, size - 1, &trace, &error)) return 0;
        if (cts_folder_in_order(&(struct cts_folder_order){
                .trace = &trace, .take = check_record, .state = &trace, .error = &error}))
            abort();
        cts_folder_trace_release(&trace);
        return 0;
    case 1:
        if (!cts_folder_parse_metadata(data + 1, size - 1, &metadata, &error))
            cts_folder_metadata_release(&metadata);
        return 0;
    default:
        if (!cts_folder_parse_run(data + 1, size - 1, &run, &error)) cts_folder_run_release(&run);
        return 0;
    }
}
