/* What nvcc takes in a source and clang does not, mended in copies that clang reads in the sources'
 * place (-ivfsoverlay: messages and debug information keep the names, lines and nearly all
 * columns):
 *
 *     kernel << <grid, block >> >(...)      blanks in the marks of a launch: put behind them
 *     asm("mov.u32 %0, %laneid;" ...)       one % before a special register of PTX: doubled
 *     kernel<<<grid, {32, 4, 1}>>>(...)     braces as a shape: dim3 put before them
 *     __shared__ alignas(16) float x[64];   alignas behind a memory space: written as _Alignas
 *     __shared__ cuda::barrier<...> bar;    libcu++'s has a destructor, which ends nothing here and
 *                                           which clang does not let shared variables have: renamed
 *
 * The source is looked at, and each header that it includes and that lies next to it or in a
 * directory of -I. A file in which nothing is to be mended is not copied. */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cc/cc-steps.h"

enum { FILES_MAX = 4096, FILE_BYTES_MAX = 1 << 24 };

struct tolerance {
    struct cc_session *session;
    struct cc_list seen;   /* real paths */
    struct cc_list copied; /* path, copy, path, copy, ... */
    bool has_barriers;     /* a source includes libcu++'s */
};

static void look_at(struct tolerance *tolerance, const char *path);

/* ---- files ---- */

/* The text of a regular file, to be freed; NULL if it is none or too large to be a source. */
static char *read_source(const char *path, size_t *length)
{
    struct stat status;
    FILE *const file = fopen(path, "r");
    char *text = NULL;
    if (file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode) &&
        status.st_size < FILE_BYTES_MAX && (text = malloc((size_t)status.st_size + 1))) {
        *length = fread(text, 1, (size_t)status.st_size, file);
        text[*length] = '\0';
    }
    if (file) fclose(file);
    return text;
}

static bool is_seen(struct tolerance *tolerance, const char *path)
{
    for (size_t i = 0; i < tolerance->seen.count; i++)
        if (strcmp(tolerance->seen.items[i], path) == 0) return true;
    cc_list_add(&tolerance->seen, cc_text(&tolerance->session->request->pool, "%s", path));
    return tolerance->seen.count > FILES_MAX;
}

static bool look_in(struct tolerance *tolerance, const char *directory, int directory_length,
                    const char *name)
{
    char real[PATH_MAX];
    struct cc_pool *const pool = &tolerance->session->request->pool;
    const char *const path =
        *name == '/' ? name : cc_text(pool, "%.*s/%s", directory_length, directory, name);
    if (!realpath(path, real)) return false;
    look_at(tolerance, path);
    return true;
}

/* One #include of a file: beside it, or in a directory of -I. Others' headers are not ours to mend.
 */
static void look_at_include(struct tolerance *tolerance, const char *path, const char *name)
{
    const char *const slash = strrchr(path, '/');
    const struct cc_list *const shared = &tolerance->session->request->shared;
    if (look_in(tolerance, slash ? path : ".", slash ? (int)(slash - path) : 1, name)) return;
    for (size_t i = 0; i + 1 < shared->count; i++) {
        const bool is_folder =
            strcmp(shared->items[i], "-I") == 0 || strcmp(shared->items[i], "-iquote") == 0;
        const char *const folder = shared->items[i + 1];
        if (is_folder && look_in(tolerance, folder, (int)strlen(folder), name)) return;
    }
}

/* ---- text ---- */

/* Behind the comment, string or character that starts here; `at` itself if none does. */
static char *skip_opaque(char *at)
{
    if (at[0] == '/' && at[1] == '/') return at + strcspn(at, "\n");
    if (at[0] == '/' && at[1] == '*') {
        char *const end = strstr(at + 2, "*/");
        return end ? end + 2 : at + strlen(at);
    }
    if (*at != '"' && *at != '\'') return at;
    const char quote = *at;
    for (at++; *at && *at != quote && *at != '\n'; at++)
        if (*at == '\\' && at[1]) at++;
    return *at ? at + 1 : at;
}

static char *skip_blanks(char *at)
{
    return at + strspn(at, " \t");
}

/* Three of `mark` with blanks between some of them; behind them, or NULL. */
static char *behind_three(char *at, char mark, bool *parted)
{
    *parted = false;
    for (int i = 0; i < 3; i++) {
        char *const next = i ? skip_blanks(at) : at;
        if (*next != mark) return NULL;
        *parted |= next != at;
        at = next + 1;
    }
    return at;
}

static void join_three(char *at, const char *end, char mark)
{
    memset(at, ' ', (size_t)(end - at));
    memset(at, mark, 3);
}

/* From behind <<<: joins the marks that close the launch. Other blanks than those of a launch are
 * left alone: a<b<c<int>> >(x) is a template's. */
static bool close_launch(char *at)
{
    int depth = 0;
    bool parted;
    for (; *at && *at != ';' && *at != '{'; at++) {
        char *const behind = skip_opaque(at);
        if (behind != at) at = behind - 1;
        depth += (*at == '(') - (*at == ')');
        if (depth < 0) return false;
        char *const end = depth == 0 ? behind_three(at, '>', &parted) : NULL;
        if (!end || end[strspn(end, " \t\r\n\\")] != '(') continue;
        if (parted) join_three(at, end, '>');
        return parted;
    }
    return false;
}

static bool join_launches(char *text)
{
    bool changed = false, parted;
    for (char *at = text; *at;) {
        char *const behind = skip_opaque(at);
        char *const end = behind == at ? behind_three(at, '<', &parted) : NULL;
        if (end) {
            if (parted) join_three(at, end, '<');
            changed |= close_launch(end) | parted;
        }
        at = behind != at ? behind : end ? end : at + 1;
    }
    return changed;
}

/* Where a search is in the arguments of a launch. */
struct launch_place {
    int shapes_left; /* the grid and the block, which are still to come; 0: not in a launch */
    int depth;       /* of brackets in an argument */
    bool starts;     /* nothing but blanks since the argument's start */
};

static void pass_letter(struct launch_place *place, char letter)
{
    place->depth += (letter == '(' || letter == '{') - (letter == ')' || letter == '}');
    if (letter == ';' || letter == '>' || place->depth < 0) place->shapes_left = 0;
    const bool separates = letter == ',' && place->depth == 0;
    if (separates) place->shapes_left--;
    place->starts = separates || (place->starts && isspace((unsigned char)letter));
}

/* The next brace from `at` on that is the grid or the block of a launch, k<<<{8, 8}, {32, 4}>>>;
 * NULL: none. `place` is where `at` is, and then where the brace is. */
static char *next_braced_shape(char *at, struct launch_place *place)
{
    bool parted;
    while (*at) {
        char *const behind = skip_opaque(at);
        char *const end = behind == at ? behind_three(at, '<', &parted) : NULL;
        if (end) {
            *place = (struct launch_place){.shapes_left = 2, .starts = true};
            at = end;
        } else if (behind != at) {
            at = behind;
        } else if (place->shapes_left <= 0) {
            at++;
        } else {
            const bool is_shape = *at == '{' && place->starts;
            pass_letter(place, *at);
            if (is_shape) return at;
            at++;
        }
    }
    return NULL;
}

/* The length of the special register's name after a %; 0: none. */
static size_t special_register(const char *at)
{
    static const char *const names[] = {"tid",
                                        "ntid",
                                        "laneid",
                                        "warpid",
                                        "nwarpid",
                                        "ctaid",
                                        "nctaid",
                                        "smid",
                                        "nsmid",
                                        "gridid",
                                        "lanemask_eq",
                                        "lanemask_le",
                                        "lanemask_lt",
                                        "lanemask_ge",
                                        "lanemask_gt",
                                        "clock",
                                        "clock_hi",
                                        "clock64",
                                        "globaltimer",
                                        "globaltimer_lo",
                                        "clusterid",
                                        "nclusterid",
                                        "cluster_ctaid",
                                        "cluster_nctaid",
                                        "cluster_ctarank",
                                        "cluster_nctarank",
                                        "globaltimer_hi",
                                        "total_smem_size",
                                        "dynamic_smem_size"};
    size_t length = 0;
    while (isalnum((unsigned char)at[length]) || at[length] == '_') length++;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (strlen(names[i]) == length && strncmp(at, names[i], length) == 0) return length;
    return 0;
}

static bool is_of_word(char letter)
{
    return isalnum((unsigned char)letter) || letter == '_';
}

static bool is_word(const char *at, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(at, word, length) == 0 && !is_of_word(at[length]);
}

static bool is_memory_space(const char *at)
{
    return is_word(at, "__shared__") || is_word(at, "__device__") || is_word(at, "__constant__") ||
           is_word(at, "__managed__");
}

/* An alignas that follows a memory space with blanks and comments alone between them; NULL: none.
 * clang takes no attribute of C++ behind one of GNU's, but does take C's _Alignas. */
static char *next_misplaced_alignas(char *text)
{
    bool behind_space = false;
    for (char *at = text; *at;) {
        char *const behind = skip_opaque(at);
        if (behind != at) {
            behind_space &= *at == '/';
            at = behind;
        } else if (is_of_word(*at)) {
            if (behind_space && is_word(at, "alignas")) return at;
            behind_space = is_memory_space(at);
            while (is_of_word(*at)) at++;
        } else {
            behind_space &= isspace((unsigned char)*at) || *at == '\\';
            at++;
        }
    }
    return NULL;
}

/* Writes the text with _Alignas for each misplaced alignas, dim3 before braced shapes and, inside
 * asm( ... ), with doubled %. */
static void write_mended(FILE *out, char *text)
{
    bool in_asm = false;
    int depth = 0;
    struct launch_place place = {0};
    char *misplaced = next_misplaced_alignas(text), *shape = next_braced_shape(text, &place);
    for (char *at = text; *at;) {
        if (at == shape) {
            fputs("dim3", out);
            shape = next_braced_shape(at + 1, &place);
        }
        if (at == misplaced) {
            at += strlen("alignas");
            fputs("_Alignas", out);
            misplaced = next_misplaced_alignas(at);
            continue;
        }
        char *const behind = skip_opaque(at);
        const bool word = behind == at && (at == text || !is_of_word(at[-1]));
        if (word && (strncmp(at, "asm", 3) == 0 || strncmp(at, "__asm", 5) == 0)) {
            in_asm = true;
            depth = 0;
        }
        if (behind == at) {
            depth += (*at == '(') - (*at == ')');
            if (*at == ';' || (*at == ')' && depth <= 0)) in_asm = false;
            putc(*at++, out);
            continue;
        }
        for (const char quote = *at; at < behind; at++) {
            putc(*at, out);
            if (!in_asm || quote != '"' || *at != '%') continue;
            if (at[1] == '%')
                putc(*++at, out);
            else if (special_register(at + 1))
                putc('%', out);
        }
    }
}

static bool has_single_percent(const char *text)
{
    for (const char *at = text; (at = strchr(at, '%')); at++) {
        if (at[1] == '%')
            at++;
        else if (special_register(at + 1))
            return true;
    }
    return false;
}

/* ---- the whole ---- */

static void look_at_includes(struct tolerance *tolerance, const char *path, const char *text)
{
    for (const char *at = text; (at = strstr(at, "include")); at++) {
        const char *before = at, *name = at + strlen("include");
        while (before > text && (before[-1] == ' ' || before[-1] == '\t')) before--;
        name += strspn(name, " \t");
        if (before == text || before[-1] != '#' || (*name != '"' && *name != '<')) continue;
        const size_t length = strcspn(name + 1, *name == '"' ? "\"\n" : ">\n");
        look_at_include(tolerance, path,
                        cc_text(&tolerance->session->request->pool, "%.*s", (int)length, name + 1));
    }
}

/* Opens the copy that clang is to read in the file's place; NULL: it cannot be written. */
static FILE *open_copy(struct tolerance *tolerance, const char *path)
{
    struct cc_pool *const pool = &tolerance->session->request->pool;
    char absolute[PATH_MAX];
    const char *const to = cc_session_file(
        tolerance->session, path, cc_text(pool, "%zu.mended", tolerance->copied.count / 2));
    /* The name's own place, not where a link leads: that is what clang opens. */
    if (*path != '/' && !realpath(".", absolute)) return NULL;
    FILE *const file = fopen(to, "w");
    if (!file) return NULL;
    cc_list_add(&tolerance->copied, *path == '/' ? path : cc_text(pool, "%s/%s", absolute, path));
    cc_list_add(&tolerance->copied, to);
    return file;
}

/* A file of libcu++ with its barrier's destructor under another name. */
static void mend_barrier(struct tolerance *tolerance, const char *path)
{
    static const char destructor[] = "~barrier()";
    size_t length;
    char *const text = read_source(path, &length);
    char *const at = text ? strstr(text, destructor) : NULL;
    FILE *const file = at ? open_copy(tolerance, path) : NULL;
    if (file) {
        *at = '\0';
        fprintf(file, "%svoid cts_ended_()%s", text, at + strlen(destructor));
        fclose(file);
    }
    free(text);
}

static void mend_barriers(struct tolerance *tolerance)
{
    static const char *const files[] = {"cuda/__barrier/barrier_block_scope.h",
                                        "cuda/std/detail/libcxx/include/__cuda/barrier.h",
                                        "cuda/std/detail/__barrier"};
    struct cc_request *const request = tolerance->session->request;
    const char *const asked = request->toolkit_asked;
    const char *const toolkit = asked ? asked : cc_look_for_toolkit(&request->pool);
    for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
        mend_barrier(tolerance, cc_text(&request->pool, "/usr/include/%s", files[i]));
        if (toolkit)
            mend_barrier(tolerance,
                         cc_text(&request->pool, "%s/include/cccl/%s", toolkit, files[i]));
        for (size_t k = 0; k + 1 < request->shared.count; k++)
            if (strcmp(request->shared.items[k], "-I") == 0 ||
                strcmp(request->shared.items[k], "-isystem") == 0)
                mend_barrier(tolerance, cc_text(&request->pool, "%s/%s",
                                                request->shared.items[k + 1], files[i]));
    }
}

static void write_copy(struct tolerance *tolerance, const char *path, char *text)
{
    FILE *const file = open_copy(tolerance, path);
    if (!file) return;
    write_mended(file, text);
    fclose(file);
}

static void look_at(struct tolerance *tolerance, const char *path)
{
    char real[PATH_MAX];
    size_t length;
    if (!realpath(path, real) || is_seen(tolerance, real)) return;
    char *const text = read_source(path, &length);
    if (!text) return;
    /* A text with a NUL inside is no source. */
    struct launch_place place = {0};
    if (strlen(text) == length && (join_launches(text) || has_single_percent(text) ||
                                   next_misplaced_alignas(text) || next_braced_shape(text, &place)))
        write_copy(tolerance, path, text);
    tolerance->has_barriers |= strstr(text, "cuda/barrier") || strstr(text, "cuda/pipeline");
    look_at_includes(tolerance, path, text);
    free(text);
}

/* A path as a JSON text; the file's names are its user's. */
static void write_json(FILE *file, const char *text)
{
    putc('"', file);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') putc('\\', file);
        putc(*text, file);
    }
    putc('"', file);
}

const char *cc_tolerate(struct cc_session *session, const struct cc_input *input)
{
    struct tolerance tolerance = {.session = session};
    const char *overlay = NULL;
    look_at(&tolerance, input->path);
    if (tolerance.has_barriers) mend_barriers(&tolerance);
    if (tolerance.copied.count) {
        overlay = cc_session_file(session, input->path, "overlay.json");
        FILE *const file = fopen(overlay, "w");
        if (!file) abort();
        fputs("{\"version\": 0, \"use-external-names\": false, \"roots\": [", file);
        for (size_t i = 0; i < tolerance.copied.count; i += 2) {
            fputs(i ? ",\n{\"type\": \"file\", \"name\": " : "\n{\"type\": \"file\", \"name\": ",
                  file);
            write_json(file, tolerance.copied.items[i]);
            fputs(", \"external-contents\": ", file);
            write_json(file, tolerance.copied.items[i + 1]);
            putc('}', file);
        }
        fputs("]}\n", file);
        fclose(file);
    }
    cc_list_release(&tolerance.seen);
    cc_list_release(&tolerance.copied);
    return overlay;
}
