/* A name is read once from left to right. A qualified name (a::b<c>::d) is parsed component by
 * component and only the last one is written, with its template arguments, which are names again;
 * everything else is copied. What cannot be parsed is copied, too: the worst result is a long name,
 * never a wrong one. */
#include "common/short-names.h"
#include "common/promise.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- demangling ---- */

static char *(*cxa_demangle)(const char *, char *, size_t *, int *);

static void find_demangler(void)
{
    void *const library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
    if (library) *(void **)&cxa_demangle = dlsym(library, "__cxa_demangle");
}

char *cts_demangled(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int status = 0;
    if (strncmp(name, "_Z", 2) != 0) return strdup(name);
    pthread_once(&once, find_demangler);
    char *const demangled = cxa_demangle ? cxa_demangle(name, NULL, NULL, &status) : NULL;
    return demangled ? demangled : strdup(name);
}

int cts_kernel_name_length(const char *name)
{
    const size_t length = strlen(name);
    unsigned depth = 0;
    for (size_t i = length; i-- > 0 && name[length - 1] == ')';) {
        depth += name[i] == ')';
        depth -= name[i] == '(';
        if (!depth) return i ? (int)i : (int)length;
    }
    return (int)length;
}

/* ---- shortening one name ---- */

enum { DEPTH_MAX = 32 };

struct writer {
    char *text; /* has room for three times what is read: brackets that miss, spaces */
    size_t length;
    bool namespaces; /* keep them */
    unsigned depth;  /* of template arguments */
};

struct range {
    const char *at, *end;
};

static void put(struct writer *w, const char *text, size_t length)
{
    memcpy(w->text + w->length, text, length);
    w->length += length;
}

static bool starts(struct range r, const char *text)
{
    const size_t length = strlen(text);
    return (size_t)(r.end - r.at) >= length && memcmp(r.at, text, length) == 0;
}

static bool is_name_start(char c)
{
    return isalpha((unsigned char)c) || c == '_' || c == '$' || c == '~' || c == '{' ||
           (unsigned char)c >= 0x80;
}

static bool is_name_part(char c)
{
    return isalnum((unsigned char)c) || c == '_' || c == '$' || c == '~' ||
           (unsigned char)c >= 0x80;
}

/* Behind the bracket that closes the one at `at`; the end if none does. */
static const char *behind_bracket(struct range r)
{
    unsigned depth = 0;
    for (const char *c = r.at; c < r.end; c++) {
        if (*c == '>' && c > r.at && c[-1] == '-') continue; /* an arrow */
        depth += *c == '<' || *c == '(' || *c == '{' || *c == '[';
        if (*c == '>' || *c == ')' || *c == '}' || *c == ']')
            if (--depth == 0) return c + 1;
    }
    return r.end;
}

/* Template arguments that libraries always pass, which say nothing. */
static bool is_noise(struct range argument)
{
    static const char *const begins[] = {"std::array<char*",
                                         "std::array<char *",
                                         "at::detail::Array<char*",
                                         "std::allocator<",
                                         "std::char_traits<",
                                         "std::less<",
                                         "std::equal_to<",
                                         "std::hash<",
                                         "std::default_delete<",
                                         "TrivialOffsetCalculator<",
                                         "at::native::TrivialOffsetCalculator<",
                                         "at::native::memory::LoadWithoutCast",
                                         "at::native::memory::StoreWithoutCast"};
    for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
        if (starts(argument, begins[i])) return true;
    return false;
}

static void write_text(struct writer *w, struct range r);

/* "<a, b, c>" without noise; nothing if that is all. */
static void write_arguments(struct writer *w, struct range r)
{
    const char *end = behind_bracket(r);
    struct range argument = {r.at + 1, r.at + 1};
    unsigned written = 0;
    if (w->depth >= DEPTH_MAX) {
        put(w, r.at, (size_t)(end - r.at));
        return;
    }
    w->depth++;
    if (end > r.at + 1 && end[-1] == '>') end--;
    while (argument.end < end) {
        while (argument.at < end && *argument.at == ' ') argument.at++;
        argument.end = argument.at;
        while (argument.end < end && *argument.end != ',') {
            const bool opens = strchr("<({[", *argument.end) != NULL;
            argument.end =
                opens ? behind_bracket((struct range){argument.end, end}) : argument.end + 1;
        }
        const char *const next = argument.end;
        while (argument.end > argument.at && argument.end[-1] == ' ') argument.end--;
        if (argument.at < argument.end && !is_noise(argument)) {
            put(w, ", ", written ? 2 : 0);
            if (!written++) put(w, "<", 1);
            write_text(w, argument);
        }
        argument.at = argument.end = next < end ? next + 1 : end;
    }
    if (written) put(w, ">", 1);
    w->depth--;
}

struct component {
    struct range name, arguments; /* arguments: from their '<'; empty: none */
};

/* One component; false: none begins here. */
static bool read_component(struct range *r, struct component *component)
{
    const char *const begin = r->at;
    *component = (struct component){0};
    if (starts(*r, "(anonymous namespace)")) {
        r->at += strlen("(anonymous namespace)");
    } else if (r->at < r->end && *r->at == '{') {
        r->at = behind_bracket(*r);
    } else if (starts(*r, "operator") && r->end - r->at > 8 && !is_name_part(r->at[8])) {
        r->at += 8;
        if (starts(*r, "()")) r->at += 2;
        while (r->at < r->end && strchr("<>=+-*/%&|^!~[],", *r->at)) r->at++;
    } else {
        while (r->at < r->end && is_name_part(*r->at)) r->at++;
    }
    component->name = (struct range){begin, r->at};
    if (begin == r->at) return false;
    if (r->at < r->end && *r->at == '<') {
        component->arguments = *r;
        r->at = behind_bracket(*r);
        component->arguments.end = r->at;
    }
    if (r->at < r->end && *r->at == '(') { /* a function that something is local to */
        struct range after = {behind_bracket(*r), r->end};
        if (starts(after, " const")) after.at += 6;
        if (starts(after, "::")) r->at = after.at;
    }
    return true;
}

static void write_component(struct writer *w, const struct component *component)
{
    put(w, component->name.at, (size_t)(component->name.end - component->name.at));
    if (component->arguments.at) write_arguments(w, component->arguments);
}

/* What a lambda or operator() is of says more than itself. */
static bool needs_outer(const struct component *component)
{
    return *component->name.at == '{' || starts(component->name, "operator");
}

static void write_qualified(struct writer *w, struct range *r)
{
    struct component component, outer = {0};
    while (read_component(r, &component)) {
        const bool more = starts(*r, "::");
        if (w->namespaces || !more) {
            if (!w->namespaces && needs_outer(&component) && outer.name.at) {
                write_component(w, &outer);
                put(w, "::", 2);
            }
            write_component(w, &component);
        }
        if (!more) return;
        if (w->namespaces) put(w, "::", 2);
        outer = component;
        r->at += 2;
    }
}

/* "4u", "3ul": without the suffix. */
static void write_number(struct writer *w, struct range *r)
{
    const char *const begin = r->at;
    while (r->at < r->end && (isalnum((unsigned char)*r->at) || *r->at == '.')) r->at++;
    const char *end = r->at;
    const bool hex = end - begin > 1 && begin[1] == 'x';
    while (!hex && end > begin + 1 && strchr("uUlL", end[-1])) end--;
    put(w, begin, (size_t)(end - begin));
}

/* "(bool)1", "(unsigned int)4": a cast in front of a number. */
static bool skip_cast(struct writer *w, struct range *r)
{
    const char *const end = behind_bracket(*r);
    if (end >= r->end || (!isdigit((unsigned char)*end) && *end != '-')) return false;
    for (const char *c = r->at + 1; c < end - 1; c++)
        if (!is_name_part(*c) && *c != ' ' && *c != ':') return false;
    if (starts(*r, "(bool)")) {
        put(w, *end == '0' ? "false" : "true", *end == '0' ? 5 : 4);
        r->at = end + 1;
    } else {
        r->at = end;
    }
    return true;
}

static void write_text(struct writer *w, struct range r)
{
    while (r.at < r.end) {
        if (is_name_start(*r.at) || starts(r, "(anonymous namespace)")) {
            write_qualified(w, &r);
        } else if (isdigit((unsigned char)*r.at)) {
            write_number(w, &r);
        } else if (*r.at != '(' || !skip_cast(w, &r)) {
            put(w, r.at++, 1);
        }
    }
}

/* Where the name begins behind its return type: demanglers give one to templates only. */
static const char *behind_return_type(struct range r)
{
    const char *begin = r.at;
    if (!memchr(r.at, '<', (size_t)(r.end - r.at))) return begin;
    for (const char *c = r.at; c < r.end;) {
        if (starts((struct range){c, r.end}, "operator")) return begin;
        if (starts((struct range){c, r.end}, "(anonymous namespace)"))
            c += strlen("(anonymous namespace)");
        else if (strchr("<({[", *c))
            c = behind_bracket((struct range){c, r.end});
        else if (*c++ == ' ')
            begin = c;
    }
    while (begin < r.end && (*begin == '*' || *begin == '&')) begin++;
    return begin < r.end ? begin : r.at;
}

static bool is_of_cpp(const char *name)
{
    enum { PARSED_MAX = 8192 }; /* brackets are sought from each other: quadratic */
    return strlen(name) < PARSED_MAX &&
           (strstr(name, "::") || (strchr(name, '<') && strchr(name, '>')) ||
            name[strlen(name) - 1] == ')');
}

static char *shortened(const char *full, bool namespaces)
{
    if (!*full || !is_of_cpp(full)) return strdup(full);
    const size_t length = (size_t)cts_kernel_name_length(full);
    struct range r = {full, full + length};
    if (full[length]) r.at = behind_return_type(r);
    struct writer w = {.text = malloc(3 * strlen(full) + 8), .namespaces = namespaces};
    if (!w.text) return NULL;
    write_text(&w, r);
    while (w.length && w.text[w.length - 1] == ' ') w.length--;
    w.text[w.length] = 0;
    return w.text;
}

/* ---- lists ---- */

static int by_short_form(const void *left, const void *right, void *state)
{
    const struct cts_short_names *const names = state;
    const size_t a = *(const size_t *)left, b = *(const size_t *)right;
    const int order = strcmp(names->short_form[a], names->short_form[b]);
    return order ? order : (a > b) - (a < b);
}

/* Names that differ but look the same get a longer form. */
static enum cts_status tell_apart(struct cts_short_names *names, size_t *order, bool namespaces,
                                  struct cts_error *error)
{
    for (size_t i = 0; i < names->count; i++) order[i] = i;
    qsort_r(order, names->count, sizeof *order, by_short_form, names);
    for (size_t i = 0, end; i < names->count; i = end) {
        bool differ = false;
        for (end = i + 1; end < names->count &&
                          strcmp(names->short_form[order[i]], names->short_form[order[end]]) == 0;
             end++)
            differ |= strcmp(names->full[order[i]], names->full[order[end]]) != 0;
        for (size_t k = i; k < end && differ; k++) {
            const char *const full = names->full[order[k]];
            char *const longer = namespaces ? shortened(full, true) : strdup(full);
            if (!longer) return cts_fail(error, CTS_MEMORY, "no memory for names");
            free(names->short_form[order[k]]);
            names->short_form[order[k]] = longer;
        }
    }
    return CTS_OK;
}

enum cts_status cts_short_names_make(const char *const *names, size_t count,
                                     struct cts_short_names *result, struct cts_error *error)
{
    *result = (struct cts_short_names){.full = calloc(count + 1, sizeof *result->full),
                                       .short_form = calloc(count + 1, sizeof *result->short_form)};
    size_t *const order = calloc(count + 1, sizeof *order);
    enum cts_status status = CTS_OK;
    if (!result->full || !result->short_form || !order)
        status = cts_fail(error, CTS_MEMORY, "no memory for %zu names", count);
    for (size_t i = 0; i < count && !status; i++) {
        result->full[i] = cts_demangled(names[i] ? names[i] : "");
        result->short_form[i] = result->full[i] ? shortened(result->full[i], false) : NULL;
        result->count = i + 1;
        if (!result->short_form[i])
            status = cts_fail(error, CTS_MEMORY, "no memory for %zu names", count);
    }
    if (!status) status = tell_apart(result, order, true, error);
    if (!status) status = tell_apart(result, order, false, error);
    free(order);
    return status;
}

void cts_short_names_release(struct cts_short_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        free(names->full[i]);
        free(names->short_form[i]);
    }
    free(names->full);
    free(names->short_form);
    *names = (struct cts_short_names){0};
}

/* ---- fitting ---- */

/* Not within a character of UTF-8. */
static size_t whole(const char *text, size_t at)
{
    while (at > 0 && ((unsigned char)text[at] & 0xc0) == 0x80) at--;
    return at;
}

/* The parts of a name that are shown. */
struct window {
    size_t begin; /* so many bytes at its start, */
    size_t from, room;
    size_t end; /* and at its end */
};

/* Where the name first differs from another that is longer than `width` and looks the same; 0: none
 * does. */
static size_t first_difference(const struct cts_short_names *names, size_t index,
                               const struct window *shown, size_t width)
{
    const char *const name = names->short_form[index];
    const size_t name_length = strlen(name);
    size_t first = 0;
    for (size_t i = 0; i < names->count; i++) {
        const char *const other = names->short_form[i];
        const size_t length = strlen(other);
        if (i == index || length <= width || strncmp(name, other, shown->begin) != 0 ||
            memcmp(name + name_length - shown->end, other + length - shown->end, shown->end) != 0 ||
            (shown->room && (length <= shown->from ||
                             strncmp(name + shown->from, other + shown->from, shown->room) != 0)))
            continue;
        size_t same = shown->begin;
        while (name[same] && name[same] == other[same]) same++;
        if (strcmp(name, other) != 0 && (!first || same < first)) first = same;
    }
    return first;
}

/* A bit of what is in front of a difference says what it is of. */
static size_t window_at(const char *name, size_t begin, size_t differs)
{
    const size_t from = whole(name, differs > 2 ? differs - 2 : differs);
    return from < begin ? begin : from;
}

const char *cts_short_name_fitted(const struct cts_short_names *names, size_t index, char *buffer,
                                  size_t size)
{
    assert(index < names->count && size >= 8);
    const char *const name = names->short_form[index];
    const size_t length = strlen(name), width = size - 1;
    if (length <= width) {
        memcpy(buffer, name, length + 1);
        return buffer;
    }
    size_t tail = (width - 2) / 3;
    const size_t head = whole(name, width - 2 - tail);
    tail = length - whole(name, length - tail);
    if (head + 2 + tail > width) tail = 0;
    /* A difference in the first half of the tail is easily missed: "r<float>>", "d<float>>". */
    struct window shown = {.begin = head, .end = tail / 2};
    const size_t differs = first_difference(names, index, &shown, width);
    if (!differs) {
        snprintf(buffer, size, "%.*s..%s", (int)head, name, name + length - tail);
        return buffer;
    }
    const size_t begin = whole(name, width / 3);
    const size_t room = width - begin - 4; /* "begin..middle.." */
    shown = (struct window){begin, window_at(name, begin, differs), room, 0};
    /* What tells it from the first such name may be what it shares with the next one. */
    for (size_t next = differs, i = 0; next && i < names->count; i++) {
        next = first_difference(names, index, &shown, width);
        if (next && window_at(name, begin, next) > shown.from)
            shown.from = window_at(name, begin, next);
    }
    const size_t from = shown.from;
    if (length - from <= room + 2)
        snprintf(buffer, size, "%.*s..%s", (int)begin, name,
                 name + whole(name, length - (width - begin - 2)));
    else
        snprintf(buffer, size, "%.*s..%.*s..", (int)begin, name,
                 (int)(whole(name, from + room) - from), name + from);
    return buffer;
}
