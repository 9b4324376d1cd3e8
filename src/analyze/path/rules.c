/* The texts of the table. */
#include "analyze/path/rules.h"

const char *const cts_path_pattern_names[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = text,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
const char *const cts_path_pattern_texts[CTS_PATH_PATTERN_COUNT] = {
#define X(name, symbol, text, paper, help) [CTS_PATH_PATTERN_##name] = help,
    CTS_PATH_PATTERN_MAP(X)
#undef X
};
