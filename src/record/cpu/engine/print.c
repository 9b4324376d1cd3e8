/* Device-side printf. The arguments come in a buffer, each at a multiple of its own size (4 or 8
 * bytes), as clang lays them out. A call's output is formatted first and then written at once, so
 * that lines of different threads do not mix, and so that a fault at a bad %s happens while no lock
 * is held. */
#include "record/cpu/engine/worker.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record/instrument/nvvm-abi.h"

enum { TEXT_BYTES = 2048, SPEC_BYTES = 48 };

static _Atomic bool is_mute;

void cts_engine_mute(bool mute)
{
    atomic_store(&is_mute, mute);
}

struct output {
    char fixed[TEXT_BYTES];
    char *text; /* fixed, or from malloc */
    size_t length, capacity;
};

static void put(struct output *output, const char *text, size_t length)
{
    if (output->length + length > output->capacity) {
        const size_t capacity = (output->length + length) * 2;
        cts_worker_current->in_device = false;
        char *const more = malloc(capacity);
        if (more) {
            memcpy(more, output->text, output->length);
            if (output->text != output->fixed) free(output->text);
        }
        cts_worker_current->in_device = true;
        if (!more) return; /* the rest of the text is lost */
        output->text = more;
        output->capacity = capacity;
    }
    memcpy(output->text + output->length, text, length);
    output->length += length;
}

struct arguments {
    const char *start, *at;
    int32_t count; /* taken so far */
};

static uint64_t next_argument(struct arguments *arguments, size_t size_bytes)
{
    size_t offset = (size_t)(arguments->at - arguments->start);
    offset = (offset + size_bytes - 1) & ~(size_bytes - 1);
    uint64_t value = 0;
    memcpy(&value, arguments->start + offset, size_bytes);
    arguments->at = arguments->start + offset + size_bytes;
    arguments->count++;
    return value;
}

/* One conversion: %, flags, width, precision, conversion letter; length modifiers are replaced. */
struct conversion {
    char spec[SPEC_BYTES];
    size_t length;
    size_t integer_bytes;
    char letter;
};

static void add_spec(struct conversion *conversion, const char *text, size_t length)
{
    if (conversion->length + length >= SPEC_BYTES) return; /* a width of 40 digits */
    memcpy(conversion->spec + conversion->length, text, length);
    conversion->length += length;
    conversion->spec[conversion->length] = '\0';
}

static void add_number(struct conversion *conversion, int number)
{
    char text[16];
    add_spec(conversion, text, (size_t)snprintf(text, sizeof text, "%d", number));
}

/* Parses behind the '%'; returns what follows. */
static const char *parse(const char *format, struct arguments *arguments,
                         struct conversion *conversion)
{
    *conversion = (struct conversion){.integer_bytes = 4};
    add_spec(conversion, "%", 1);
    for (; *format && strchr("-+ #0123456789.*", *format); format++)
        if (*format == '*')
            add_number(conversion, (int)next_argument(arguments, 4));
        else
            add_spec(conversion, format, 1);
    for (; *format && strchr("hlLqjzt", *format); format++)
        if (*format != 'h' && *format != 'L') conversion->integer_bytes = 8;
    conversion->letter = *format;
    return *format ? format + 1 : format;
}

struct argument {
    uint64_t value;
    bool is_short, is_char;
};

/* Formats into `text`; returns the length that the whole has, as snprintf does. */
static int convert(char *text, size_t text_bytes, struct conversion *conversion,
                   struct argument argument)
{
    const char *const spec = conversion->spec;
    double number;
    memcpy(&number, &argument.value, sizeof number);
    switch (conversion->letter) {
    case 'd':
    case 'i':
        if (conversion->integer_bytes == 8)
            return snprintf(text, text_bytes, spec, (long long)argument.value);
        if (argument.is_char)
            return snprintf(text, text_bytes, spec, (long long)(signed char)argument.value);
        if (argument.is_short)
            return snprintf(text, text_bytes, spec, (long long)(short)argument.value);
        return snprintf(text, text_bytes, spec, (long long)(int)argument.value);
    case 'c':
        return snprintf(text, text_bytes, spec, (int)argument.value);
    case 's':
        return snprintf(text, text_bytes, spec,
                        argument.value ? (const char *)(uintptr_t)argument.value : "(null)");
    case 'p':
        return snprintf(text, text_bytes, spec, (void *)(uintptr_t)argument.value);
    case 'e':
    case 'E':
    case 'f':
    case 'F':
    case 'g':
    case 'G':
    case 'a':
    case 'A':
        return snprintf(text, text_bytes, spec, number);
    default: /* o u x X */
        if (argument.is_char) argument.value = (unsigned char)argument.value;
        if (argument.is_short) argument.value = (unsigned short)argument.value;
        return snprintf(text, text_bytes, spec, (unsigned long long)argument.value);
    }
}

static void print_one(struct output *output, struct conversion *conversion, uint64_t value,
                      const char *modifiers)
{
    char small[512];
    const bool is_char = modifiers[0] == 'h' && modifiers[1] == 'h';
    const bool is_short = modifiers[0] == 'h' && !is_char;
    const int length =
        convert(small, sizeof small, conversion, (struct argument){value, is_short, is_char});
    if (length < 0) return;
    if ((size_t)length < sizeof small) {
        put(output, small, (size_t)length);
        return;
    }
    cts_worker_current->in_device = false;
    char *const large = malloc((size_t)length + 1);
    cts_worker_current->in_device = true;
    if (!large) return;
    convert(large, (size_t)length + 1, conversion, (struct argument){value, is_short, is_char});
    put(output, large, (size_t)length);
    cts_worker_current->in_device = false;
    free(large);
    cts_worker_current->in_device = true;
}

/* Formats one conversion whose '%' is at format[-1]; returns what follows. */
static const char *print_conversion(struct output *output, const char *format,
                                    struct arguments *arguments)
{
    struct conversion conversion;
    const char *const end = parse(format, arguments, &conversion);
    char letter[2] = {conversion.letter, '\0'};
    const char *modifiers = "";
    for (const char *at = format; at < end; at++)
        if (*at == 'h') {
            modifiers = at;
            break;
        }
    if (conversion.letter == '\0') return end;
    if (conversion.letter == '%') {
        put(output, "%", 1);
        return end;
    }
    if (strchr("eEfFgGaAsp", conversion.letter)) {
        add_spec(&conversion, letter, 1);
        print_one(output, &conversion, next_argument(arguments, 8), "");
    } else if (conversion.letter == 'c') {
        add_spec(&conversion, letter, 1);
        print_one(output, &conversion, next_argument(arguments, 4), "");
    } else if (strchr("diouxX", conversion.letter)) {
        add_spec(&conversion, "ll", 2);
        add_spec(&conversion, letter, 1);
        print_one(output, &conversion, next_argument(arguments, conversion.integer_bytes),
                  modifiers);
    } else { /* not a conversion: as it stands */
        put(output, format - 1, (size_t)(end - format) + 1);
    }
    return end;
}

CTS_EXPORT int32_t __cts_dev_vprintf(const char *format, const char *buffer)
{
    struct output output;
    struct arguments arguments = {.start = buffer, .at = buffer};
    output.text = output.fixed;
    output.length = 0;
    output.capacity = sizeof output.fixed;
    while (*format) {
        const size_t plain = strcspn(format, "%");
        put(&output, format, plain);
        format += plain;
        if (*format == '%') format = print_conversion(&output, format + 1, &arguments);
    }
    cts_worker_current->in_device = false;
    if (!atomic_load_explicit(&is_mute, memory_order_relaxed))
        fwrite(output.text, 1, output.length, stdout);
    if (output.text != output.fixed) free(output.text);
    cts_worker_current->in_device = true;
    return arguments.count;
}
