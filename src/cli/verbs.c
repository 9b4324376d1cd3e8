/* All verbs, in the order in which help lists them. A new verb is one line here and its file. */
#include "cli/verb.h"

#define CTS_VERBS(X)                                                                               \
    X(cc)                                                                                          \
    X(env)                                                                                         \
    X(record)                                                                                      \
    X(try)                                                                                         \
    X(import)                                                                                      \
    X(export)                                                                                      \
    X(info)                                                                                        \
    X(comm)                                                                                        \
    X(partition)                                                                                   \
    X(access)                                                                                      \
    X(flow)                                                                                        \
    X(diff)                                                                                        \
    X(path)                                                                                        \
    X(whatif)                                                                                      \
    X(report)                                                                                      \
    X(view)                                                                                        \
    X(query)                                                                                       \
    X(dump)                                                                                        \
    X(doctor)                                                                                      \
    X(help)

#define X(name) extern const struct cts_verb cts_verb_##name;
CTS_VERBS(X)
#undef X

const struct cts_verb *const cts_verbs[] = {
#define X(name) &cts_verb_##name,
    CTS_VERBS(X)
#undef X
        NULL,
};
