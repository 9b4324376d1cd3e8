#include "analyze/path/offer.h"

const struct cts_path_rule *const cts_path_rules[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = &cts_path_rule_##symbol,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
