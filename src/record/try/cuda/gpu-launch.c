/* Copies of launches: the driver says how many parameters a kernel has, and of which sizes. */
#include <stdlib.h>
#include <string.h>

#include "record/try/cuda/gpu-capture.h"

static bool parameter_at(CUfunction function, size_t index, size_t *size_bytes)
{
    size_t offset;
    const struct cts_gpu_driver *const driver = cts_gpu_driver();
    if (driver->function_parameter(function, index, &offset, size_bytes) == CUDA_SUCCESS)
        return true;
    return driver->kernel_parameter((CUkernel)function, index, &offset, size_bytes) == CUDA_SUCCESS;
}

/* `parameters` NULL: the kernel has none, or they come in another way. */
static bool copy_parameters(void **parameters, struct cts_gpu_launch *launch)
{
    size_t total = 0, size = 0, count = 0;
    while (parameter_at(launch->function, count, &size)) {
        total += (size + 15) / 16 * 16 + 16;
        count++;
    }
    if (count && !parameters) return false;
    launch->sizes = calloc(count + 1, sizeof *launch->sizes);
    char *const block = malloc((count + 1) * sizeof(void *) + total + 16);
    launch->parameters = (void **)(void *)block;
    if (!launch->sizes || !block) return false;
    uintptr_t place = ((uintptr_t)(launch->parameters + count + 1) + 15) / 16 * 16;
    for (size_t i = 0; i < count; i++) {
        (void)parameter_at(launch->function, i, &launch->sizes[i]);
        launch->parameters[i] = (void *)place;
        memcpy(launch->parameters[i], parameters[i], launch->sizes[i]);
        place += (launch->sizes[i] + 15) / 16 * 16;
    }
    launch->count = count;
    return true;
}

bool cts_gpu_copy_launch(const CUlaunchConfig *config, CUfunction function, void **parameters,
                         struct cts_gpu_launch *launch)
{
    *launch = (struct cts_gpu_launch){.function = function, .config = *config};
    launch->config.attrs = NULL;
    bool good = copy_parameters(parameters, launch);
    if (good && config->numAttrs) {
        launch->config.attrs = malloc(config->numAttrs * sizeof *config->attrs);
        good = launch->config.attrs != NULL;
        if (good)
            memcpy(launch->config.attrs, config->attrs, config->numAttrs * sizeof *config->attrs);
    }
    if (!good) cts_gpu_release_launch(launch);
    return good;
}

void cts_gpu_release_launch(struct cts_gpu_launch *launch)
{
    free(launch->config.attrs);
    free((void *)launch->parameters);
    free(launch->sizes);
    *launch = (struct cts_gpu_launch){0};
}
