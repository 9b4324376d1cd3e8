/* What an address is called in the source: "a", "tile", "p->next", "view.data". */
#ifndef CTS_INSTRUMENT_PLACES_H
#define CTS_INSTRUMENT_PLACES_H

#include <llvm-c/Target.h>

#include "record/instrument/debuginfo.h"
#include "record/instrument/shim.h"

enum { CTS_PLACE_NAME_BYTES = 160 };

/* Names the addresses of one function at a time. Zero-initialised with `debug` and `layout` set. */
struct cts_namer {
    struct cts_debug *debug;
    LLVMTargetDataRef layout;
    bool with_indices; /* "d_a[0]" rather than "d_a" */
    struct cts_named_value {
        struct cts_debug_variable seen;
        uint32_t next; /* of the same value: index + 1 */
    } *named;
    size_t named_count, named_capacity;
    struct cts_pointer_map first_of; /* value -> its first named + 1 */
};

void cts_namer_enter(struct cts_namer *namer, LLVMValueRef function);
void cts_namer_release(struct cts_namer *namer);

/* An object in memory. */
struct cts_memory_object {
    char name[CTS_PLACE_NAME_BYTES]; /* "" when unknown */
    LLVMMetadataRef type;            /* perhaps a typedef or qualified; NULL when unknown */
    int64_t offset;                  /* of the address, counted from an object of that type */
    bool is_pointee;                 /* reached through the pointer `name` */
    char index[32];                  /* the source's index, where it is a variable */
};

/* The object that `address` points into, seen from the source frame `frame` (or NULL): names that
 * this frame uses win. False when nothing is known. */
bool cts_namer_find(struct cts_namer *namer, LLVMValueRef address, LLVMMetadataRef frame,
                    struct cts_memory_object *place);

/* Goes down to the member or element that an access of `width_bytes` at the place touches. */
void cts_place_descend(const struct cts_namer *namer, struct cts_memory_object *place,
                       uint64_t width_bytes);

/* Goes down to the pointer object at the place; false when there is none. */
bool cts_place_to_pointer(const struct cts_namer *namer, struct cts_memory_object *place);

/* The DIGlobalVariable of a global, or NULL. */
LLVMMetadataRef cts_global_variable_info(LLVMValueRef global);

/* A global's name as in the source, without scopes. The caller frees it. */
char *cts_global_name(LLVMValueRef global);

#endif
