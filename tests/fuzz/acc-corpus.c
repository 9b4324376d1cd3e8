/* Makes the corpus of acc-fuzz: small chunks that together use every part of the format, each as a
 * payload, and files of them. Usage: acc-corpus directory */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace/acc-builder.h"

enum { RECORDS_MAX = 64 };

struct segment_arrays {
    struct cts_acc_shape shapes[RECORDS_MAX];
    uint64_t bases[RECORDS_MAX];
    uint32_t offsets[RECORDS_MAX * CTS_WARP_LANES];
    uint64_t values[RECORDS_MAX * CTS_WARP_LANES];
};

static void die(const char *what)
{
    fprintf(stderr, "acc-corpus: %s\n", what);
    exit(1);
}

static void write_input(const char *directory, const char *name, uint8_t mode, const void *first,
                        size_t first_bytes, const void *second, size_t second_bytes)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *const file = fopen(path, "wb");
    if (!file || fputc(mode, file) == EOF || fwrite(first, 1, first_bytes, file) != first_bytes ||
        fwrite(second, 1, second_bytes, file) != second_bytes || fclose(file))
        die(path);
}

/* What a chunk is made of: bits of `features`. */
enum {
    LISTS = 1,
    NEW_LISTS = 2, /* other offsets in each CTA */
    VALUES = 4,
    ROWS = 8,
    MASKS = 16,   /* other masks in each CTA: nothing repeats */
    BORDERS = 32, /* every fourth CTA is different */
    SPREAD = 64,  /* bases that differ in all bytes */
    MANY_SITES = 128,
    BOXES = 256 /* every second record is the box of a tensor copy */
};

/* Extents that differ by CTA with NEW_LISTS, with as many rows and records. */
static void add_box(struct cts_acc_segment *segment, unsigned features, uint32_t cta, uint32_t i)
{
    const bool turned = features & NEW_LISTS && cta % 3 == 0;
    const struct cts_box box = {{turned ? 4 : 8, turned ? 8 : 4, 1 + i % 3, 1},
                                {turned ? 4096 : 128, turned ? 128 : 4096, UINT64_C(1) << 33, 0},
                                i % 4};
    segment->shapes[segment->record_count] = (struct cts_acc_shape){
        .site = i % 7,
        .mask = 1u << i % 32,
        .s0 = (int32_t)cts_box_rows(&box),
        .s1 = (int32_t)cts_box_plan_of(&box).record_count,
        .warp = (uint16_t)(i / 4),
        .kind = cts_acc_kind(CTS_SPACE_GLOBAL, CTS_PATTERN_LIST, 0, 0) | CTS_ACC_KIND_BOX};
    segment->bases[segment->record_count++] = 0x10000u * i + 512 * cta;
    cts_box_put(&box, segment->offsets + segment->offset_count);
    segment->offset_count += CTS_BOX_WORDS;
}

static void add_record(struct cts_acc_segment *segment, unsigned features, uint32_t cta, uint32_t i)
{
    const unsigned pattern = features & LISTS && i % 3 == 1  ? CTS_PATTERN_LIST
                             : features & ROWS && i % 3 == 2 ? CTS_PATTERN_TWO_LEVEL
                                                             : i % 2;
    const unsigned words = features & VALUES ? i % 3 : 0;
    if (features & BOXES && i % 2) {
        add_box(segment, features, cta, i);
        return;
    }
    uint32_t mask = i % 5 == 4 ? 0x0fffff00u : UINT32_MAX;
    if (features & MASKS) mask = (mask >> (cta * 7 + i) % 31) | 1u << i % 32;
    if (features & BORDERS && cta % 4 == 0) mask &= 0xfffefffeu;
    segment->shapes[segment->record_count] = (struct cts_acc_shape){
        .site = features & MANY_SITES ? i * 100003 + cta : i % 7,
        .mask = mask,
        .s0 = pattern == CTS_PATTERN_AFFINE || pattern == CTS_PATTERN_TWO_LEVEL ? 4 + (int)i : 0,
        .s1 = pattern == CTS_PATTERN_TWO_LEVEL ? -1000000 * (int)i : 0,
        .warp = (uint16_t)(i / 4 * (features & MASKS ? 300 : 1)),
        .kind = cts_acc_kind(i % 4 ? CTS_SPACE_GLOBAL : CTS_SPACE_SHARED, pattern,
                             pattern == CTS_PATTERN_TWO_LEVEL ? 16 : 0, words),
    };
    segment->bases[segment->record_count++] =
        features & SPREAD ? 0x0123456789abcdefu * (cta * 31 + i) : 0x10000u * i + 512 * cta;
    const unsigned lanes = cts_lane_count(mask);
    for (unsigned k = 0; pattern == CTS_PATTERN_LIST && k < lanes; k++)
        segment->offsets[segment->offset_count++] =
            (features & NEW_LISTS ? k * k * (cta + 1) : 77 * k) * (features & SPREAD ? 1234567 : 4);
    for (unsigned k = 0; k < words * lanes; k++)
        segment->values[segment->value_count++] = 0x3f800000u + k * cta;
}

static void fill_chunk(struct cts_acc_builder *builder, unsigned features, uint32_t cta_count,
                       uint32_t records)
{
    static struct segment_arrays arrays;
    struct cts_error error;
    for (uint32_t cta = 3; cta < 3 + cta_count; cta++) {
        struct cts_acc_segment segment = {.shapes = arrays.shapes,
                                          .bases = arrays.bases,
                                          .offsets = arrays.offsets,
                                          .values = arrays.values};
        for (uint32_t i = 0; i < records; i++) add_record(&segment, features, cta, i);
        if (cts_acc_builder_add(builder, cta, &segment, &error)) die(error.text);
    }
}

static void write_payload(const char *directory, const char *name,
                          const struct cts_acc_builder *builder,
                          const struct cts_acc_chunk_header *header)
{
    uint8_t fields[28];
    cts_put_u32(fields, header->record_count);
    cts_put_u32(fields + 4, header->offset_count);
    cts_put_u32(fields + 8, header->value_count);
    cts_put_u32(fields + 12, header->first_cta);
    cts_put_u32(fields + 16, header->last_cta);
    cts_put_u64(fields + 20, header->access_count);
    write_input(directory, name, 3, fields, sizeof fields, builder->raw.data,
                builder->raw.size_bytes);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        unsigned features;
        uint32_t cta_count, records;
    } chunks[] = {
        {"plain", 0, 12, 6},
        {"lists", LISTS, 5, 6},
        {"new-lists", LISTS | NEW_LISTS | BORDERS, 6, 7},
        {"rows", ROWS | BORDERS, 9, 9},
        {"values", VALUES, 3, 5},
        {"irregular", LISTS | ROWS | MASKS | SPREAD, 4, 12},
        {"many-sites", LISTS | MASKS | MANY_SITES, 6, 50},
        {"spread", LISTS | NEW_LISTS | SPREAD, 4, 5},
        {"boxes", BOXES, 5, 6},
        {"new-boxes", BOXES | NEW_LISTS | LISTS, 7, 7},
        {"one", 0, 1, 1},
    };
    enum { CHUNK_COUNT = sizeof chunks / sizeof *chunks };
    if (argc != 2) die("usage: acc-corpus directory");
    struct cts_acc_builder builder;
    struct cts_error error;
    if (cts_acc_builder_init(&builder, 0, &error)) die(error.text);
    struct cts_buffer chunk = {0}, file = {0};
    struct cts_acc_chunk index[CHUNK_COUNT];
    uint8_t header_bytes[CTS_ACC_HEADER_BYTES];
    cts_acc_put_file_header(header_bytes, &(struct cts_acc_file_header){.version = 1, .stream = 2});
    if (cts_buffer_append(&file, header_bytes, sizeof header_bytes, &error)) die(error.text);
    for (size_t i = 0; i < CHUNK_COUNT; i++) {
        struct cts_acc_chunk_header header;
        char name[64];
        builder.launch = (uint32_t)i / 2;
        fill_chunk(&builder, chunks[i].features, chunks[i].cta_count, chunks[i].records);
        if (cts_acc_builder_finish(&builder, &chunk, &header, &error)) die(error.text);
        snprintf(name, sizeof name, "payload-%s", chunks[i].name);
        write_payload(argv[1], name, &builder, &header);
        index[i] = cts_acc_chunk_of(&header, file.size_bytes);
        if (cts_buffer_append(&file, chunk.data, chunk.size_bytes, &error)) die(error.text);
    }
    write_input(argv[1], "file-killed", 0, file.data, file.size_bytes, NULL, 0);
    uint8_t *const footer = malloc(cts_acc_footer_bytes(CHUNK_COUNT));
    if (!footer) die("no memory");
    cts_acc_put_footer(footer, index, CHUNK_COUNT, file.size_bytes);
    write_input(argv[1], "file", 0, file.data, file.size_bytes, footer,
                cts_acc_footer_bytes(CHUNK_COUNT));
    write_input(argv[1], "file-repaired", 1, file.data, file.size_bytes, footer,
                cts_acc_footer_bytes(CHUNK_COUNT));
    cts_acc_put_footer(footer, index, 0, sizeof header_bytes);
    write_input(argv[1], "file-empty", 1, header_bytes, sizeof header_bytes, footer,
                cts_acc_footer_bytes(0));
    free(footer);
    cts_buffer_release(&chunk);
    cts_buffer_release(&file);
    cts_acc_builder_release(&builder);
    return 0;
}
