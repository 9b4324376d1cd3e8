/* Which bytes of a record type hold no value: padding, and what only some members of a union use.
 */
#ifndef CTS_INSTRUMENT_PADDING_H
#define CTS_INSTRUMENT_PADDING_H

#include "record/instrument/debuginfo.h"
#include "record/instrument/notes.h"

/* Notes the type, or the elements of an array, if it is a record with such bytes that `known` does
 * not have yet. NULL is no record. */
void cts_note_padding(struct cts_notes *notes, struct cts_pointer_map *known, LLVMMetadataRef type);

#endif
