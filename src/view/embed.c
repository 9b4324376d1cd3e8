/* The page gets the answers that the server would give about its launch, as they are, and the
 * launch's records as streams of bytes in the form of a binary answer, deflated (zlib) and in
 * base64. docs/view-protocol.md describes the streams; web/src/view/embedded.ts reads them.
 *
 * How large the streams become is known only when they are made: they are made of fewer and fewer
 * CTAs, and then of fewer warps of the last one, until the page fits. */
#include "view/embed.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "common/array.h"
#include "common/text-table.h"
#include "common/text-stream.h"
#include "view/answers.h"
#include "view/columns.h"
#include "view/page-bundle.h"

enum {
    SIZE_DEFAULT_BYTES = 20 << 20,
    RECORDS_MAX = 250000, /* a browser spreads each into 32 addresses */
    RECORDS_A_PAGE = 16384,
    TRIES = 12,
};

/* ---- streams ---- */

enum {
    NUMBERS = 9, /* one per record: index, cta, warp, site, mask, space, cost, ideal, valued */
    ADDRESSES = NUMBERS,
    VALUES,
    STREAMS,
};

struct streams {
    struct cts_buffer bytes[STREAMS];
    uint64_t index, last_address;
    uint32_t cta;
    uint64_t record_count;
};

static void streams_release(struct streams *streams)
{
    for (unsigned s = 0; s < STREAMS; s++) cts_buffer_release(&streams->bytes[s]);
    *streams = (struct streams){0};
}

static enum cts_status put(struct cts_buffer *buffer, uint64_t value, struct cts_error *error)
{
    uint8_t bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7) bytes[count++] = (uint8_t)(value | 0x80);
    bytes[count++] = (uint8_t)value;
    return cts_buffer_append(buffer, bytes, count, error);
}

static uint64_t folded(int64_t difference)
{
    return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

/* The bytes of the record's active lanes, all first ones, then all second ones: neighbours that are
 * alike deflate well. */
static enum cts_status add_values(struct streams *streams,
                                  const struct cts_selection_record *record, const uint8_t *values,
                                  unsigned value_bytes, struct cts_error *error)
{
    uint8_t bytes[CTS_WARP_LANES * UINT8_MAX];
    size_t count = 0;
    for (unsigned b = 0; b < record->width_bytes; b++)
        for (uint32_t mask = record->mask; mask; mask &= mask - 1)
            bytes[count++] = values[(unsigned)__builtin_ctz(mask) * value_bytes + b];
    return cts_buffer_append(&streams->bytes[VALUES], bytes, count, error);
}

static enum cts_status add_record(struct streams *streams,
                                  const struct cts_selection_record *record,
                                  struct cts_error *error)
{
    const uint64_t numbers[NUMBERS] = {
        record->index - streams->index,
        folded((int64_t)record->cta - (int64_t)streams->cta),
        record->warp,
        record->site,
        ~record->mask,
        record->space,
        (uint64_t)record->sectors + record->wavefronts,
        (uint64_t)record->ideal_sectors + record->ideal_wavefronts,
        record->has_values,
    };
    enum cts_status status = CTS_OK;
    for (unsigned s = 0; s < NUMBERS && !status; s++)
        status = put(&streams->bytes[s], numbers[s], error);
    uint64_t before = streams->last_address;
    for (uint32_t mask = record->mask; mask && !status; mask &= mask - 1) {
        const uint64_t address = record->addresses[__builtin_ctz(mask)];
        status = put(&streams->bytes[ADDRESSES], folded((int64_t)(address - before)), error);
        before = address;
    }
    streams->last_address = before;
    streams->index = record->index;
    streams->cta = record->cta;
    streams->record_count++;
    return status;
}

static enum cts_status make_streams(struct cts_selection *selection,
                                    const struct cts_selection_question *question,
                                    struct streams *streams, struct cts_error *error)
{
    enum cts_status status = CTS_OK;
    for (uint64_t from = 0, total = 1; from < total && !status; from += RECORDS_A_PAGE) {
        struct cts_selection_records page;
        const struct cts_selection_page wanted = {from, RECORDS_A_PAGE};
        status = cts_selection_records(selection, question, wanted, &page, error);
        if (status) return status;
        total = page.total;
        for (size_t i = 0; i < page.count && !status; i++) {
            status = add_record(streams, &page.items[i], error);
            if (!status && page.items[i].has_values)
                status = add_values(streams, &page.items[i],
                                    page.values + i * CTS_WARP_LANES * page.value_bytes,
                                    page.value_bytes, error);
        }
        cts_selection_records_release(&page);
    }
    return status;
}

/* The streams as a binary answer, deflated. */
static enum cts_status pack(const struct streams *streams, struct cts_buffer *packed,
                            struct cts_error *error)
{
    struct cts_view_column columns[STREAMS];
    const double numbers[] = {(double)streams->record_count};
    struct cts_buffer whole = {0};
    for (unsigned s = 0; s < STREAMS; s++)
        columns[s] = (struct cts_view_column){CTS_VIEW_U8, streams->bytes[s].size_bytes, NULL};
    enum cts_status status = cts_view_columns_make(
        &whole, &(struct cts_view_table){numbers, 1, columns, STREAMS}, error);
    if (status) return status;
    for (unsigned s = 0; s < STREAMS; s++)
        if (columns[s].count) memcpy(columns[s].items, streams->bytes[s].data, columns[s].count);
    uLongf size = compressBound(whole.size_bytes);
    packed->size_bytes = 0;
    status = cts_buffer_reserve(packed, size, error);
    if (!status && compress2(packed->data, &size, whole.data, whole.size_bytes, 6) != Z_OK)
        status = cts_fail(error, CTS_MEMORY, "no memory to compress accesses");
    if (!status) packed->size_bytes = size;
    cts_buffer_release(&whole);
    return status;
}

static void write_base64(FILE *file, const uint8_t *bytes, size_t count)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < count; i += 3) {
        const uint32_t second = i + 1 < count ? bytes[i + 1] : 0;
        const uint32_t third = i + 2 < count ? bytes[i + 2] : 0;
        const uint32_t word = (uint32_t)bytes[i] << 16 | second << 8 | third;
        const char text[4] = {digits[word >> 18], digits[word >> 12 & 63],
                              i + 1 < count ? digits[word >> 6 & 63] : '=',
                              i + 2 < count ? digits[word & 63] : '='};
        fwrite(text, 1, sizeof text, file);
    }
}

/* ---- a part of the launch ---- */

struct part {
    uint64_t cta_count, all_cta_count, record_count;
    uint32_t warp_count, all_warp_count; /* of each CTA; some only of one CTA */
    bool is_for_size;                    /* it is a part because of the page's size, not of the
                                            number of requests */
    struct cts_buffer packed;
};

/* `count` of the numbers below `all` as ranges, one out of each stretch; none where they are all.
 * At equal distances they would meet the rows of a grid, and what is a sample would look like a
 * pattern of the program: the place within a stretch moves on by the golden ratio. */
static enum cts_status choose(uint64_t count, uint64_t all, struct cts_selection_range **ranges,
                              size_t *range_count, struct cts_error *error)
{
    if (count == all) return CTS_OK;
    *ranges = cts_array_zeroed(count, sizeof **ranges, error);
    if (!*ranges) return CTS_MEMORY;
    for (uint64_t i = 0; i < count; i++) {
        const uint64_t first = i * all / count, next = (i + 1) * all / count;
        const double turn = 0.6180339887498949 * (double)i;
        const uint64_t place = (uint64_t)((turn - floor(turn)) * (double)(next - first));
        const uint32_t number = (uint32_t)(first + place);
        (*ranges)[i] = (struct cts_selection_range){number, number};
    }
    *range_count = (size_t)count;
    return CTS_OK;
}

static enum cts_status make_part(struct cts_selection *selection, uint32_t launch,
                                 struct part *part, struct cts_error *error)
{
    struct cts_selection_range *ctas = NULL, *warps = NULL;
    struct cts_selection_filter filter = {0};
    struct streams streams = {0};
    enum cts_status status =
        choose(part->cta_count, part->all_cta_count, &ctas, &filter.cta_count, error);
    if (!status)
        status = choose(part->warp_count, part->all_warp_count, &warps, &filter.warp_count, error);
    filter.ctas = ctas;
    filter.warps = warps;
    const struct cts_selection_question question = {.launch = launch, .filter = &filter};
    if (!status) status = make_streams(selection, &question, &streams, error);
    if (!status) status = pack(&streams, &part->packed, error);
    part->record_count = streams.record_count;
    streams_release(&streams);
    free(ctas);
    free(warps);
    return status;
}

/* Takes about this share of it, and less than all; false: it cannot be less. */
static bool shrink(struct part *part, double share)
{
    const double ctas = (double)part->cta_count * share;
    if (part->cta_count == 1 && part->warp_count == 1) return false;
    if (part->cta_count > 1 && ctas >= 1) {
        part->cta_count = (uint64_t)ctas;
        return true;
    }
    const double warps = (double)part->warp_count * ctas;
    part->cta_count = 1;
    part->warp_count = warps >= 1 ? (uint32_t)warps : 1;
    return true;
}

/* As much of the launch as `room_bytes` hold, and a browser: but for one warp. */
static enum cts_status fit(struct cts_view_snapshot *snapshot, const struct cts_launch *launch,
                           uint64_t room_bytes, struct part *part, struct cts_error *error)
{
    const uint64_t record_count =
        snapshot->launches[launch - snapshot->recording.catalogue.launches].record_count;
    const uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    uint64_t needed = 0;
    part->all_cta_count = (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
    part->cta_count = part->all_cta_count;
    part->all_warp_count = (uint32_t)((threads + CTS_WARP_LANES - 1) / CTS_WARP_LANES);
    part->warp_count = part->all_warp_count;
    if (record_count > RECORDS_MAX) shrink(part, (double)RECORDS_MAX / (double)record_count);
    for (unsigned i = 0; i < TRIES; i++) {
        const enum cts_status status = make_part(snapshot->selection, launch->launch, part, error);
        if (status) return status;
        needed = (uint64_t)part->packed.size_bytes / 3 * 4 + 4;
        const double bytes = 0.9 * (double)room_bytes / (double)needed;
        const double records = 0.95 * RECORDS_MAX / (double)(part->record_count + 1);
        const bool is_small = part->record_count <= RECORDS_MAX;
        if (needed <= room_bytes && is_small) return CTS_OK;
        part->is_for_size = bytes < records;
        if (shrink(part, bytes < records ? bytes : records)) continue;
        if (needed <= room_bytes) return CTS_OK;
        break;
    }
    return cts_fail(error, CTS_LIMIT,
                    "one warp of launch %u needs %llu bytes more than the page may have",
                    launch->launch, (unsigned long long)(needed - room_bytes));
}

/* ---- answers ---- */

struct words {
    char launch[16], source[24];
    uint32_t bins;
};

static const char *get_word(void *state, const char *key)
{
    const struct words *const words = state;
    if (!strcmp(key, "launch") && *words->launch) return words->launch;
    if (!strcmp(key, "source") && *words->source) return words->source;
    return NULL;
}

static enum cts_status write_answer(FILE *file, const char *key, const char *name,
                                    const struct cts_view_request *request, struct cts_error *error)
{
    struct cts_view_answer answer;
    const enum cts_status status = cts_view_answer(name, request, &answer, error);
    if (status) return status;
    fprintf(file, "\"%s\": ", key);
    fwrite(answer.bytes, 1, answer.size_bytes, file);
    fputs(",\n", file);
    cts_view_answer_release(&answer);
    return CTS_OK;
}

/* Text and lines of each source that a site of the run is in. */
static enum cts_status write_sources(FILE *file, struct cts_view_request *request,
                                     struct words *words, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &request->snapshot->recording.catalogue;
    enum cts_status status = CTS_OK;
    for (size_t s = 0; s < catalogue->source_count && !status; s++) {
        bool is_used = false;
        char key[32];
        struct cts_json json;
        for (size_t i = 0; i < catalogue->site_count && !is_used; i++)
            is_used = catalogue->sites[i].function && catalogue->sites[i].source == s;
        if (!is_used) continue;
        snprintf(words->source, sizeof words->source, "%zu", s);
        snprintf(key, sizeof key, "lines %zu", s);
        status = write_answer(file, key, "lines", request, error);
        if (status || !catalogue->sources[s].text) continue;
        fprintf(file, "\"source %zu\": ", s);
        cts_json_begin(&json, file);
        cts_json_string(&json, catalogue->sources[s].text);
        fputs(",\n", file);
    }
    words->source[0] = 0;
    return status;
}

static void write_sampled(FILE *file, const struct part *part)
{
    struct cts_json json;
    char text[300], why[80];
    if (part->is_for_size)
        snprintf(why, sizeof why, "the page would be too large (--max-page-size)");
    else
        snprintf(why, sizeof why, "a page holds at most %s requests",
                 cts_count_text(RECORDS_MAX).text);
    const bool is_all =
        part->cta_count == part->all_cta_count && part->warp_count == part->all_warp_count;
    if (part->warp_count < part->all_warp_count)
        snprintf(text, sizeof text,
                 "%u of the %u warps of one of %s CTAs are in this page, with all their accesses: "
                 "%s.",
                 part->warp_count, part->all_warp_count, cts_count_text(part->all_cta_count).text,
                 why);
    else
        snprintf(text, sizeof text,
                 "%s of %s CTAs are in this page, spread unevenly over the grid, with all their "
                 "accesses: %s.",
                 cts_count_text(part->cta_count).text, cts_count_text(part->all_cta_count).text,
                 why);
    fputs("\"sampled\": ", file);
    cts_json_begin(&json, file);
    cts_json_string(&json, is_all ? NULL : text);
    fputs(",\n", file);
}

/* All but the records: the object stays open. */
static enum cts_status write_answers(FILE *file, struct cts_view_request *request,
                                     struct words *words, uint32_t launch, struct cts_error *error)
{
    fputs("{\"mode\": \"embedded\",\n", file);
    words->launch[0] = 0;
    enum cts_status status = write_answer(file, "run", "run", request, error);
    if (!status) status = write_answer(file, "timeline", "timeline", request, error);
    snprintf(words->launch, sizeof words->launch, "%u", launch);
    if (!status) status = write_answer(file, "launch", "launch", request, error);
    if (!status) status = write_answer(file, "findings", "findings", request, error);
    return status ? status : write_sources(file, request, words, error);
}

/* ---- the page ---- */

static const struct cts_launch *choose_launch(const struct cts_view_snapshot *snapshot,
                                              uint32_t wanted, struct cts_error *error)
{
    const struct cts_catalogue *const catalogue = &snapshot->recording.catalogue;
    const struct cts_launch *chosen = NULL;
    uint64_t most = 0;
    for (size_t i = 0; i < catalogue->launch_count; i++) {
        const bool is_wanted = catalogue->launches[i].launch == wanted;
        if (wanted != CTS_NONE ? !is_wanted : snapshot->launches[i].access_count <= most) continue;
        chosen = &catalogue->launches[i];
        most = snapshot->launches[i].access_count;
    }
    if (chosen && most) return chosen;
    if (wanted == CTS_NONE)
        (void)cts_fail(error, CTS_FORMAT, "'%s' holds no accesses to show",
                       snapshot->recording.path);
    else
        (void)cts_fail(error, CTS_USAGE,
                       chosen ? "launch %u holds no accesses" : "there is no launch %u", wanted);
    return NULL;
}

/* `request` says of which run; it asks what the page needs. */
static enum cts_status embed(struct cts_view_request *request,
                             const struct cts_view_embed_options *options, FILE *file,
                             struct cts_view_embedded *embedded, struct cts_error *error)
{
    const uint64_t bound = options->max_size_bytes ? options->max_size_bytes : SIZE_DEFAULT_BYTES;
    struct cts_view_snapshot *const snapshot = request->snapshot;
    const struct cts_launch *const launch = choose_launch(snapshot, options->launch, error);
    if (!launch) return CTS_USAGE;
    struct words words = {0};
    struct part part = {0};
    request->query = (struct cts_view_query){get_word, &words};
    struct cts_text_stream stream;
    size_t data_bytes = 0;
    FILE *const memory = cts_text_stream_open(&stream);
    if (!memory) return cts_fail(error, CTS_MEMORY, "no memory for the page");
    enum cts_status status = write_answers(memory, request, &words, launch->launch, error);
    data_bytes = cts_text_stream_bytes(&stream);
    const uint64_t taken = cts_view_page_bytes() + data_bytes + data_bytes / 16 + 1000;
    if (!status && taken >= bound)
        status = cts_fail(error, CTS_LIMIT, "the page needs %llu bytes even without accesses",
                          (unsigned long long)taken);
    if (!status) status = fit(snapshot, launch, bound - taken, &part, error);
    if (!status) {
        write_sampled(memory, &part);
        fputs("\"records\": \"", memory);
        write_base64(memory, part.packed.data, part.packed.size_bytes);
        fputs("\"}\n", memory);
    }
    char *const data = cts_text_stream_close(&stream, &data_bytes);
    if (!data && !status) status = cts_fail(error, CTS_MEMORY, "no memory for the page");
    if (!status) cts_view_page_write(file, data, data_bytes, "");
    errno = 0;
    if (!status && (fflush(file) || ferror(file)))
        status = cts_fail_errno(error, errno, "cannot write the page");
    const off_t end = ftello(file);
    *embedded = (struct cts_view_embedded){
        .launch = launch->launch,
        .cta_count = part.cta_count,
        .all_cta_count = part.all_cta_count,
        .is_for_size = part.is_for_size,
        .record_count = part.record_count,
        .warp_count = part.warp_count,
        .all_warp_count = part.all_warp_count,
        .size_bytes = end > 0 ? (uint64_t)end : 0,
    };
    cts_buffer_release(&part.packed);
    free(data);
    return status;
}

enum cts_status cts_view_embed(const struct cts_view_embed_options *options, FILE *file,
                               struct cts_view_embedded *embedded, struct cts_error *error)
{
    const struct cts_view_run_options run_options = {.path = options->run_path,
                                                     .threads = options->threads};
    struct cts_view_run *run;
    enum cts_status status = cts_view_run_open(&run_options, &run, error);
    if (status) return status;
    struct cts_view_snapshot *const snapshot = cts_view_run_enter(run);
    struct cts_view_request request = {.run = run, .snapshot = snapshot};
    status = embed(&request, options, file, embedded, error);
    cts_view_run_leave(run, snapshot);
    cts_view_run_close(run);
    return status;
}
