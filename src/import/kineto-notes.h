/* Private to import/. */
#ifndef CTS_IMPORT_KINETO_NOTES_H
#define CTS_IMPORT_KINETO_NOTES_H

#include "import/profile-notes.h"

/* A source's `describe`. */
void cts_kineto_describe(struct cts_profile_noting *noting);

#endif
