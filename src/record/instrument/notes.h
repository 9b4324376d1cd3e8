/* What the device pass writes down: the named metadata that marks.h describes. */
#ifndef CTS_INSTRUMENT_NOTES_H
#define CTS_INSTRUMENT_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "record/instrument/debuginfo.h"
#include "trace/access.h"

/* Where something is in the source. */
struct cts_note_position {
    uint32_t source; /* index into debug->sources, or CTS_NO_SOURCE */
    unsigned line, column;
};

struct cts_note_site {
    struct cts_note_position at;
    uint32_t width_bytes;
    enum cts_operation operation;
    enum cts_space space;
    bool is_volatile;
    uint32_t loop_depth, loop; /* loop: as cts_notes_add_loop() said, or CTS_NO_LOOP */
    const char *function, *type_name, *variable, *inlined_at;
};

struct cts_note_variable {
    const char *symbol, *display_name, *type_name, *function;
    uint32_t kind; /* enum cts_variable_kind */
    struct cts_note_position at;
};

struct cts_note_kernel {
    const char *symbol, *display_name;
    struct cts_note_position at;
    uint32_t flags; /* enum cts_kernel_flags */
};

/* A record type with bytes that hold no value (padding.h); ranges as "1-3,18-23". */
struct cts_note_padded_type {
    const char *name, *padding, *alternatives;
    uint32_t size_bytes;
};

struct cts_notes {
    LLVMModuleRef module;
    LLVMContextRef context;
    struct cts_debug *debug; /* whose sources the positions name */
    bool is_printing;        /* also to stderr */
    uint32_t site_count, loop_count;
};

/* Each returns the index of what was added. */
uint32_t cts_notes_add_site(struct cts_notes *notes, const struct cts_note_site *site);
uint32_t cts_notes_add_loop(struct cts_notes *notes, uint32_t parent);
void cts_notes_add_variable(struct cts_notes *notes, const struct cts_note_variable *variable);
void cts_notes_add_kernel(struct cts_notes *notes, const struct cts_note_kernel *kernel);
void cts_notes_add_padded_type(struct cts_notes *notes, const struct cts_note_padded_type *type);
void cts_notes_add_skipped(struct cts_notes *notes, const char *what, const char *reason,
                           struct cts_note_position at);

/* Writes the sources, with the text of the user's files, and the options. Last. */
void cts_notes_finish(struct cts_notes *notes, uint32_t file_flags);

#endif
