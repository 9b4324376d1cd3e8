#include "common/utf8.h"

static int is_continuation(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

size_t cts_utf8_length(const char *text)
{
    const unsigned char *const t = (const unsigned char *)text;
    if (t[0] < 0x80) return 1;
    if (t[0] < 0xc2 || t[0] > 0xf4 || !is_continuation(t[1])) return 0;
    if (t[0] < 0xe0) return 2;
    if (t[0] == 0xe0 && t[1] < 0xa0) return 0; /* overlong */
    if (t[0] == 0xed && t[1] > 0x9f) return 0; /* surrogates */
    if (!is_continuation(t[2])) return 0;
    if (t[0] < 0xf0) return 3;
    if (t[0] == 0xf0 && t[1] < 0x90) return 0;
    if (t[0] == 0xf4 && t[1] > 0x8f) return 0;
    return is_continuation(t[3]) ? 4 : 0;
}

size_t cts_utf8_columns(const char *text)
{
    size_t columns = 0;
    while (*text) {
        const size_t length = cts_utf8_length(text);
        text += length ? length : 1;
        columns++;
    }
    return columns;
}
