/* The module's __device__, __constant__, __managed__ and __shared__ variables. */
#ifndef CTS_INSTRUMENT_DEVICE_VARIABLES_H
#define CTS_INSTRUMENT_DEVICE_VARIABLES_H

#include "record/instrument/notes.h"

void cts_note_variables(struct cts_notes *notes);

/* The globals that the header's __managed__ marks, by llvm.global.annotations: map global -> 1. */
void cts_find_managed(LLVMModuleRef module, struct cts_pointer_map *managed);

/* Gives the host's or the device's side of a managed variable the name and linkage that make them
 * one object (copy-marks.h). */
void cts_unite_managed(LLVMValueRef variable, const char *unit);

/* Texture and surface references: map global -> enum cts_variable_kind. */
void cts_find_textures(LLVMModuleRef module, struct cts_pointer_map *kinds);

#endif
