#include "report/faults-report.h"

static void json_position(struct cts_json *json, const char *key, const uint32_t position[3])
{
    cts_json_key(json, key);
    if (position[0] == CTS_NONE) {
        cts_json_null(json);
        return;
    }
    cts_json_open_array(json);
    for (int axis = 0; axis < 3; axis++) cts_json_u64(json, position[axis]);
    cts_json_close_array(json);
}

static void json_number(struct cts_json *json, const char *key, bool is_known, uint64_t value)
{
    cts_json_key(json, key);
    if (is_known)
        cts_json_u64(json, value);
    else
        cts_json_null(json);
}

void cts_json_faults(struct cts_json *json, const struct cts_catalogue *catalogue)
{
    cts_json_key(json, "faults");
    cts_json_open_array(json);
    for (size_t i = 0; i < catalogue->fault_count; i++) {
        const struct cts_launch_fault *const fault = &catalogue->faults[i];
        cts_json_open_object_row(json);
        cts_json_member_u64(json, "rank", fault->rank);
        cts_json_member_u64(json, "launch", fault->launch);
        cts_json_member_string(json, "kind", fault->kind);
        json_position(json, "cta", fault->cta);
        json_position(json, "thread", fault->thread);
        json_number(json, "address", fault->address != 0, fault->address);
        cts_json_member_string(json, "path", fault->path);
        json_number(json, "line", fault->line != 0, fault->line);
        json_number(json, "allocation", fault->allocation != CTS_NONE, fault->allocation);
        cts_json_member_string(json, "text", fault->text);
        cts_json_close_object(json);
    }
    cts_json_close_array(json);
}
