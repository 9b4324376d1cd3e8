/* Plays graphs, pools and host functions. */
#ifndef FAKE_GRAPHS_H
#define FAKE_GRAPHS_H

#include <stdbool.h>

#include <sanitizer.h>

#include <generated_cuda_meta.h> /* needs what sanitizer.h defines */

struct fake_gpu {
    void (*tell)(Sanitizer_CallbackDomain domain, Sanitizer_CallbackId id, const void *data);
    CUfunction (*function)(const char *name);
    CUcontext context;
    CUmodule module;
    CUstream stream;
};
/* Instantiates a graph and launches it twice. */
void fake_graph_launch(const struct fake_gpu *gpu, const char *text, bool destroyed);
void fake_pool(const struct fake_gpu *gpu);
void fake_host_functions(const struct fake_gpu *gpu);

#endif
