/* Other tools' traces become a run; what `import` does, and verbs that open such traces directly.
 */
#ifndef CTS_CLI_IMPORT_RUN_H
#define CTS_CLI_IMPORT_RUN_H

#include "import/import.h"

/* Imports, makes the archive of a timeline and seals the run; prints what was imported, and what
 * the traces lack, after "ctascope VERB: ". `tells_result`: also how much it was. */
CTS_MUST_CHECK enum cts_status cts_cli_import(const char *verb, bool tells_result,
                                              const struct cts_import_options *options,
                                              struct cts_error *error);

#endif
