/* Words and members that several answers use. */
#include "view/answers.h"

void cts_view_member_id(struct cts_json *json, const char *key, uint32_t id)
{
    cts_json_key(json, key);
    if (id == CTS_NONE)
        cts_json_null(json);
    else
        cts_json_u64(json, id);
}

void cts_view_member_line(struct cts_json *json, const char *key, uint32_t line)
{
    cts_json_key(json, key);
    if (line && line != CTS_NONE)
        cts_json_u64(json, line);
    else
        cts_json_null(json);
}

const char *cts_view_kind_text(unsigned operation)
{
    if (operation == CTS_STORE) return "store";
    return cts_operation_is_atomic(operation) ? "atomic" : "load";
}

const char *cts_view_space_text(uint8_t space)
{
    return space == CTS_SPACE_SHARED ? "shared" : space == CTS_SPACE_LOCAL ? "local" : "global";
}

void cts_view_write_sums(struct cts_json *json, const struct cts_selection_sums *sums)
{
    cts_json_member_u64(json, "records", sums->record_count);
    cts_json_member_u64(json, "accesses", sums->access_count);
    cts_json_member_u64(json, "bytes", sums->requested_bytes);
    cts_json_member_u64(json, "sectors", sums->sectors);
    cts_json_member_u64(json, "idealSectors", sums->ideal_sectors);
    cts_json_member_u64(json, "wavefronts", sums->wavefronts);
    cts_json_member_u64(json, "idealWavefronts", sums->ideal_wavefronts);
}
