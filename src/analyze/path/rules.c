/* The rules by pattern, and their texts: all from the one table. */
#include "analyze/path/rule.h"

const char *const cts_path_pattern_names[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = text,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
const char *const cts_path_pattern_papers[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = paper,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
const char *const cts_path_pattern_texts[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = help,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
const struct cts_path_rule *const cts_path_rules[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = &cts_path_rule_##symbol,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
