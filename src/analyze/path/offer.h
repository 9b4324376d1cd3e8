/* Offering what happens to the rules: all of them by pattern. */
#ifndef CTS_ANALYZE_PATH_OFFER_H
#define CTS_ANALYZE_PATH_OFFER_H

#include "analyze/path/rule.h"

extern const struct cts_path_rule *const cts_path_rules[CTS_PATH_PATTERN_COUNT];

/* Offers something to every rule that looks at such things. */
#define CTS_PATH_OFFER(hook, thing, error)                                                         \
    ({                                                                                             \
        enum cts_status offered = CTS_OK;                                                          \
        for (unsigned rule = 0; rule < CTS_PATH_PATTERN_COUNT && !offered; rule++)                 \
            if (cts_path_rules[rule]->hook) offered = cts_path_rules[rule]->hook(thing, error);    \
        offered;                                                                                   \
    })

#endif
