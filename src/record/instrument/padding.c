/* A byte is *padding* if no member covers it: a copy of the whole object reads it, and no store to
 * a member writes it. A byte of a union is an *alternative* if some members cover it and others do
 * not: it has a value only while one of the former is in use. */
#include "record/instrument/padding.h"

#include <stdlib.h>
#include <string.h>

#include "common/text-stream.h"
#include "record/instrument/shim.h"

enum { BYTES_MAX = 4096 /* larger types are not looked at */, DEPTH_MAX = 16 };
enum { OPERAND_ELEMENTS = 4 };

struct cover {
    uint64_t size_bytes;
    bool by_any[BYTES_MAX], by_all[BYTES_MAX]; /* members, of unions */
};

static void cover_type(struct cover *cover, LLVMMetadataRef type, uint64_t start_bits, int depth);

static void cover_bits(struct cover *cover, uint64_t start_bits, uint64_t size_bits)
{
    if (!size_bits) return;
    for (uint64_t at = start_bits / 8; at <= (start_bits + size_bits - 1) / 8; at++)
        if (at < cover->size_bytes) cover->by_any[at] = cover->by_all[at] = true;
}

static void cover_array(struct cover *cover, LLVMMetadataRef array, uint64_t start_bits, int depth)
{
    LLVMMetadataRef element = cts_type_plain(cts_type_base(array));
    const uint64_t bytes = cts_type_bytes(element), size_bytes = cts_type_bytes(array);
    if (!cts_type_is_record(element) || !bytes) {
        cover_bits(cover, start_bits, size_bytes * 8);
        return;
    }
    for (uint64_t at = 0; at + bytes <= size_bytes && at < cover->size_bytes; at += bytes)
        cover_type(cover, element, start_bits + at * 8, depth + 1);
}

static void cover_member(struct cover *cover, LLVMMetadataRef member, uint64_t start_bits,
                         int depth)
{
    LLVMMetadataRef type = cts_type_plain(member);
    const uint64_t at_bits = start_bits + LLVMDITypeGetOffsetInBits(member);
    const unsigned tag = cts_type_tag(type);
    if (cts_type_tag(member) == CTS_TAG_MEMBER && !LLVMDITypeGetSizeInBits(member))
        return; /* static */
    if (cts_type_is_record(type) || tag == CTS_TAG_ARRAY)
        cover_type(cover, type, at_bits, depth + 1);
    else
        cover_bits(cover, at_bits, LLVMDITypeGetSizeInBits(member));
}

/* What all members cover is known; what only some do is an alternative. */
static void cover_union(struct cover *cover, LLVMMetadataRef type, uint64_t start_bits, int depth)
{
    LLVMMetadataRef members = cts_metadata_operand(type, OPERAND_ELEMENTS);
    const unsigned count = cts_metadata_operand_count(members);
    struct cover *const each = calloc(1, sizeof *each);
    bool is_first = true;
    if (!each) return;
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef member = cts_metadata_operand(members, i);
        if (cts_type_tag(member) != CTS_TAG_MEMBER || !LLVMDITypeGetSizeInBits(member)) continue;
        *each = (struct cover){.size_bytes = cover->size_bytes};
        cover_member(each, member, start_bits, depth);
        const uint64_t end = start_bits / 8 + cts_type_bytes(type);
        for (uint64_t at = start_bits / 8; at < end && at < cover->size_bytes; at++) {
            cover->by_any[at] |= each->by_any[at];
            cover->by_all[at] = each->by_all[at] && (is_first || cover->by_all[at]);
        }
        is_first = false;
    }
    free(each);
}

static void cover_type(struct cover *cover, LLVMMetadataRef type, uint64_t start_bits, int depth)
{
    if (depth > DEPTH_MAX) return;
    if (cts_type_tag(type) == CTS_TAG_ARRAY) {
        cover_array(cover, type, start_bits, depth);
        return;
    }
    if (cts_type_tag(type) == CTS_TAG_UNION) {
        cover_union(cover, type, start_bits, depth);
        return;
    }
    LLVMMetadataRef members = cts_metadata_operand(type, OPERAND_ELEMENTS);
    const unsigned count = cts_metadata_operand_count(members);
    for (unsigned i = 0; i < count; i++) {
        LLVMMetadataRef member = cts_metadata_operand(members, i);
        const unsigned tag = cts_type_tag(member);
        if (tag == CTS_TAG_MEMBER || tag == CTS_TAG_INHERITANCE)
            cover_member(cover, member, start_bits, depth);
    }
}

/* "1-3,18-23" */
static char *ranges_text(const struct cover *cover, bool of_alternatives)
{
    struct cts_text_stream stream;
    FILE *const out = cts_text_stream_open(&stream);
    if (!out) return NULL;
    const char *separator = "";
    for (uint64_t at = 0, end; at < cover->size_bytes; at = end + 1) {
        for (end = at; end < cover->size_bytes; end++)
            if (of_alternatives ? !cover->by_any[end] || cover->by_all[end] : cover->by_any[end])
                break;
        if (end == at) continue;
        fprintf(out, "%s%llu-%llu", separator, (unsigned long long)at,
                (unsigned long long)(end - 1));
        separator = ",";
    }
    return cts_text_stream_close(&stream, NULL);
}

void cts_note_padding(struct cts_notes *notes, struct cts_pointer_map *known, LLVMMetadataRef type)
{
    type = cts_type_plain(type);
    while (cts_type_tag(type) == CTS_TAG_ARRAY) type = cts_type_plain(cts_type_base(type));
    const uint64_t size_bytes = cts_type_bytes(type);
    if (!cts_type_is_record(type) || !size_bytes || size_bytes > BYTES_MAX) return;
    uint64_t *const is_known = cts_pointer_map_insert(known, type);
    if (*is_known) return;
    *is_known = 1;
    struct cover *const cover = calloc(1, sizeof *cover);
    if (!cover) return;
    cover->size_bytes = size_bytes;
    cover_type(cover, type, 0, 0);
    char *const padding = ranges_text(cover, false);
    char *const alternatives = ranges_text(cover, true);
    char *const name = cts_type_name(type);
    if (padding && alternatives && *name && (*padding || *alternatives))
        cts_notes_add_padded_type(notes, &(struct cts_note_padded_type){name, padding, alternatives,
                                                                        (uint32_t)size_bytes});
    free(padding);
    free(alternatives);
    free(name);
    free(cover);
}
