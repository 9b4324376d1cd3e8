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

bool cts_utf8_is_plain(const char *text)
{
    const unsigned char *const t = (const unsigned char *)text;
    switch (cts_utf8_length(text)) {
    case 1:
        return t[0] >= 0x20 && t[0] != 0x7f;
    case 2: /* U+0080 to U+009F, U+061C */
        return !(t[0] == 0xc2 && t[1] < 0xa0) && !(t[0] == 0xd8 && t[1] == 0x9c);
    case 3: /* U+200E, U+200F, U+2028 to U+202E, U+2066 to U+2069 */
        if (t[0] != 0xe2) return true;
        if (t[1] == 0x80) return t[2] != 0x8e && t[2] != 0x8f && !(t[2] >= 0xa8 && t[2] <= 0xae);
        return !(t[1] == 0x81 && t[2] >= 0xa6 && t[2] <= 0xa9);
    default:
        return true;
    }
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

size_t cts_utf8_make_plain(char *text)
{
    char *to = text;
    for (const char *at = text; *at;) {
        const size_t size = cts_utf8_length(at);
        if (size && cts_utf8_is_plain(at))
            for (size_t i = 0; i < size; i++) *to++ = at[i];
        else
            *to++ = '?';
        at += size ? size : 1;
    }
    *to = 0;
    return (size_t)(to - text);
}
