/* Feeds ELF images to the reader of cubins. What it accepts must hold together: every index that it
 * gives lies below its count, calls that were inlined end, and code lies within the image. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "record/inject/cubin/cubin.h"
#include "record/inject/cubin/copy-marks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_lines(const struct cts_cubin *cubin, const struct cts_cubin_function *function)
{
    assert((uint64_t)function->first_line + function->line_count <= cubin->line_count);
    for (uint32_t i = 0; i < function->line_count; i++) {
        const struct cts_cubin_line *const line = &cubin->lines[function->first_line + i];
        assert(&cubin->functions[line->function] == function && line->file < cubin->file_count);
        size_t depth = 0;
        for (uint32_t c = line->call; c != CTS_CUBIN_NONE; c = cubin->calls[c].parent) {
            assert(c < cubin->call_count && ++depth <= cubin->call_count);
            assert(cubin->calls[c].file < cubin->file_count);
            (void)strlen(cts_cubin_callee(cubin, &cubin->calls[c]));
        }
        assert(!i || line[-1].offset_bytes <= line->offset_bytes);
        /* Line 0: code that belongs to none. */
        const struct cts_cubin_line *const found =
            cts_cubin_line_at(cubin, function, line->offset_bytes);
        assert(!found || (found->line && found->offset_bytes == line->offset_bytes));
    }
}

static void check_marks(const struct cts_cubin *cubin, const struct cts_cubin_function *function)
{
    assert((uint64_t)function->first_mark + function->mark_count <= cubin->mark_count);
    for (uint32_t i = 0; i < function->mark_count; i++) {
        const struct cts_cubin_mark *const mark = &cubin->marks[function->first_mark + i];
        assert(cts_cubin_mark_at(cubin, function, mark->offset_bytes) == mark);
        (void)cts_cubin_part_at(cubin, function, mark->offset_bytes);
    }
}

static void check_reach(const struct cts_cubin *cubin, const struct cts_cubin_function *function)
{
    bool *const reached = calloc(cubin->function_count, sizeof *reached);
    if (!reached) return;
    cts_cubin_reach(cubin, function, reached);
    assert(reached[function - cubin->functions]);
    free(reached);
}

static void check(const struct cts_cubin *cubin, const uint8_t *image, size_t size)
{
    const void *object;
    size_t bytes;
    for (size_t f = 0; f < cubin->function_count; f++) {
        const struct cts_cubin_function *const function = &cubin->functions[f];
        check_lines(cubin, function);
        check_marks(cubin, function);
        if (f < 16) check_reach(cubin, function);
        const uint8_t *const code = cts_cubin_code(image, size, function, &bytes);
        assert(!code || (code >= image && bytes <= size - (size_t)(code - image)));
    }
    for (size_t i = 0; i < cubin->edge_count; i++)
        assert(cubin->edges[i].caller < cubin->function_count &&
               cubin->edges[i].callee < cubin->function_count);
    for (size_t i = 0; i < cubin->part_count; i++)
        assert(cubin->parts[i].function < cubin->function_count && cubin->parts[i].name);
    for (size_t i = 0; i < cubin->variable_count; i++)
        if (cts_cubin_object(image, size, cubin->variables[i].name, &object, &bytes))
            assert((const uint8_t *)object >= image &&
                   bytes <= size - (size_t)((const uint8_t *)object - image));
}

/* Markers of tensor copies: what is made of the image has as many as it says. */
static void check_marked(const uint8_t *data, size_t size)
{
    struct cts_marked marked;
    struct cts_error error = {0};
    struct cts_cubin cubin;
    if (cts_marks_put(data, size, &marked, &error)) {
        assert(*error.text && !marked.image);
        return;
    }
    if (!marked.image) return;
    assert(marked.copies && marked.bytes > size);
    assert(cts_marks_check(data, size, &marked, &error) == CTS_OK);
    if (cts_cubin_read(marked.image, marked.bytes, &cubin, &error) == CTS_OK) {
        check(&cubin, marked.image, marked.bytes);
        cts_cubin_release(&cubin);
    }
    free(marked.image);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct cts_cubin cubin;
    struct cts_error error = {0};
    check_marked(data, size);
    if (cts_cubin_read(data, size, &cubin, &error)) {
        assert(*error.text);
        return 0;
    }
    check(&cubin, data, size);
    cts_cubin_release(&cubin);
    return 0;
}
