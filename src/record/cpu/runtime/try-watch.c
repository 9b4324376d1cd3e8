#include "try-watch.h"

_Atomic int cts_try_phase;
const struct cts_try_watcher *cts_try_watcher;
