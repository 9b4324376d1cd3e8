/* --cta-order [OP,]ORDER, and files that list CTAs. */
#ifndef CTS_CLI_TRY_CTA_FILE_H
#define CTS_CLI_TRY_CTA_FILE_H

#include "cli/try-talk.h"
#include "cli/verb.h"

/* 0, or an exit code after an error, which is then printed. */
int cts_try_read_cta_order(const struct cts_arguments *arguments, const char *value,
                           struct cts_try_wish *wish);

#endif
