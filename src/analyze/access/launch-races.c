/* Whether a launch is read once more for races inside its CTAs (cta-races.c), and whether they can
 * be told. */
#include <string.h>

#include "analyze/access/access-model.h"

static bool has_others(const struct cts_launch *launch)
{
    return launch->block[0] > 1 || launch->block[1] > 1 || launch->block[2] > 1;
}

static uint32_t module_flags(const struct cts_access_model *model)
{
    const struct cts_catalogue *const catalogue = model->catalogue;
    const uint32_t kernel = model->launch->kernel;
    if (kernel >= catalogue->kernel_count) return 0;
    const uint32_t module = catalogue->kernels[kernel].module;
    return module < catalogue->module_count ? catalogue->modules[module].flags : 0;
}

void cts_access_begin_races(struct cts_access_model *model, bool is_wanted)
{
    const uint32_t flags = module_flags(model);
    model->races.is_wanted = is_wanted && !model->options.per_launch &&
                             !model->options.costs_only && !model->result->packed_lanes &&
                             !model->launch->dropped_accesses;
    model->knows_barriers = flags & CTS_MODULE_BARRIERS;
    model->knows_fences = flags & CTS_MODULE_FENCES;
    model->knows_order = flags & CTS_MODULE_ORDER;
    model->races.has_shared_stores = model->races.has_suspects = model->races.is_untold = false;
}

enum cts_status cts_access_find_cta_races(struct cts_access_model *model, struct cts_error *error)
{
    const enum cts_access_look look = model->look;
    enum cts_status status = CTS_OK;
    if (!model->races.is_wanted || !has_others(model->launch)) return CTS_OK;
    if (!model->races.has_shared_stores && !model->races.has_suspects) return CTS_OK;
    if (!model->knows_barriers) {
        model->result->untold_race_launches++;
    } else {
        model->look = CTS_LOOK_RACES;
        status = cts_access_read_launch(model, error);
        model->witnesses.are_read = true;
        model->look = look;
        cts_access_forget_alike(&model->races);
    }
    cts_bits_clear(&model->races.suspects);
    if (model->races.has_suspects) memset(model->races.filter, 0, sizeof model->races.filter);
    return status;
}
