/* Names of functions and kernels as people read them.
 *
 *     full    _Z6reduceIfLi256EEvPfi        void reduce<float, 256>(float*, int)
 *     short   reduce<float, 256>            no return type, parameters, namespaces, default
 *                                           arguments of templates and such noise; "3ul" is "3"
 *     fitted  vectorized..FillFunctor<int>  cut in the middle to a width
 *
 * Of several names that would look the same, short and fitted ones keep what makes them differ.
 * Names that are not of C++ ("!$omp for @a.c:12", "copy host to device") stay as they are. */
#ifndef CTS_COMMON_SHORT_NAMES_H
#define CTS_COMMON_SHORT_NAMES_H

#include <stddef.h>

#include "common/error.h"

/* A copy of the name, demangled if it is mangled and a demangler (libstdc++) is there; free() it.
 * NULL: no memory. May be called by several threads. */
char *cts_demangled(const char *name);

/* The length of a kernel's name without its parameters, "f(g<(1)>(int))" -> "f": up to the bracket
 * that the last one closes. */
int cts_kernel_name_length(const char *name);

/* All names of one list, by index; each text is valid until release. */
struct cts_short_names {
    char **full;       /* demangled */
    char **short_form; /* different for names whose full forms differ */
    size_t count;
};

/* NULL among `names` counts as "". What was made must be released, also after a failure. */
CTS_MUST_CHECK enum cts_status cts_short_names_make(const char *const *names, size_t count,
                                                    struct cts_short_names *result,
                                                    struct cts_error *error);
void cts_short_names_release(struct cts_short_names *names);

/* The short form of name `index` in fewer than `size` bytes (at least 8), with NUL, in `buffer`. */
const char *cts_short_name_fitted(const struct cts_short_names *names, size_t index, char *buffer,
                                  size_t size);

#endif
