/* Whatever is read holds what trace/catalogue.h promises: an id that a row names is none or that of
 * a row, and texts end. */
#ifndef CTS_TESTS_CATALOGUE_TOUCH_H
#define CTS_TESTS_CATALOGUE_TOUCH_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/catalogue.h"

static inline void die_of_catalogue(const char *what)
{
    fprintf(stderr, "the catalogue breaks a promise: %s\n", what);
    abort();
}

static inline bool known(uint32_t id, size_t count)
{
    return id == CTS_NONE || id < count;
}

/* Not const, so that the reads are not optimised away. */
static volatile size_t cts_fuzz_sum;

static inline void touch(const char *text)
{
    if (text) cts_fuzz_sum += strlen(text);
}

static inline void check_catalogue(const struct cts_catalogue *c)
{
    for (size_t i = 0; i < c->site_count; i++) {
        if (c->sites[i].site != i || !known(c->sites[i].source, c->source_count))
            die_of_catalogue("a site");
        touch(c->sites[i].function), touch(c->sites[i].inlined_at), touch(c->sites[i].variable);
    }
    for (size_t i = 0; i < c->kernel_count; i++) {
        if (!known(c->kernels[i].module, c->module_count)) die_of_catalogue("a kernel");
        touch(c->kernels[i].name), touch(c->kernels[i].mangled);
    }
    for (size_t i = 0; i < c->launch_count; i++) {
        const struct cts_launch *const l = &c->launches[i];
        if (!known(l->kernel, c->kernel_count)) die_of_catalogue("a launch");
        if (!known(l->stream, c->stream_count)) die_of_catalogue("a launch's stream");
        if (!cts_catalogue_launch(c, l->launch)) die_of_catalogue("a launch that is not found");
        touch(cts_catalogue_kernel_name(c, l->kernel));
    }
    for (size_t i = 0; i < c->rank_count; i++)
        touch(c->ranks[i].host), touch(c->ranks[i].program), touch(c->ranks[i].failure);
    for (size_t i = 0; i < cts_catalogue_key_count(c); i++) {
        const char *value;
        touch(cts_catalogue_key(c, i, &value)), touch(value);
    }
}

#endif
