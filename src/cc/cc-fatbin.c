/* A fat binary is a header and images, all numbers little-endian:
 *
 *     0  4  magic 0xBA55ED50          4  2  version, 1       6  2  bytes of this header, 16
 *     8  8  bytes that follow
 *
 * and of each image
 *
 *     0  2  kind; 1: PTX              2  2  version 0x101    4  4  bytes of this header, 80
 *     8  8  bytes of the image, with padding to 8            16 4  if compressed: its bytes, else 0
 *    20  4  64                       24  4  version of PTX: minor, major, two bytes each
 *    28  4  compute capability, 75   32  8  name: none
 *    40  8  flags; 1: 64-bit, 0x10: Linux, 0x100000: for this architecture alone (sm_90a)
 *    48  8  0                        56  8  if compressed: bytes before, else 0
 *    64  8  72                       72  8  0
 *
 * The text of PTX ends with a zero byte. */
#include "cc/cc-fatbin.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_HEADER_BYTES = 16, IMAGE_HEADER_BYTES = 80, FLAGS = 0x11, FLAG_EXACT = 0x100000 };

static void put(uint8_t *to, size_t byte_count, uint64_t value)
{
    for (size_t i = 0; i < byte_count; i++) to[i] = (uint8_t)(value >> 8 * i);
}

/* A number of at most three digits; the text behind it, or NULL. */
static const char *number(const char *text, unsigned *value)
{
    char *end;
    if (*text < '0' || *text > '9') return NULL;
    *value = (unsigned)strtoul(text, &end, 10);
    return *value < 1000 ? end : NULL;
}

static const char *word_behind(const char *text, const char *directive)
{
    const char *const at = strstr(text, directive);
    return at ? at + strlen(directive) + strspn(at + strlen(directive), " \t") : NULL;
}

enum cts_status cc_fatbin(const char *ptx, const char *architecture, struct cts_buffer *fatbin,
                          struct cts_error *error)
{
    unsigned major, minor, capability;
    const char *version = word_behind(ptx, ".version ");
    version = version ? number(version, &major) : NULL;
    if (!version || *version != '.' || !number(version + 1, &minor))
        return cts_fail(error, CTS_FORMAT, "there is no PTX: no '.version'");
    const char *rest =
        strncmp(architecture, "sm_", 3) == 0 ? number(architecture + 3, &capability) : NULL;
    if (!rest || (*rest && strcmp(rest, "a") != 0))
        return cts_fail(error, CTS_FORMAT, "'%s' is not an architecture", architecture);
    const size_t length = strlen(ptx), image = (length / 8 + 1) * 8;
    uint8_t header[FILE_HEADER_BYTES + IMAGE_HEADER_BYTES] = {0};
    put(header, 4, 0xBA55ED50);
    put(header + 4, 2, 1);
    put(header + 6, 2, FILE_HEADER_BYTES);
    put(header + 8, 8, IMAGE_HEADER_BYTES + image);
    uint8_t *const at = header + FILE_HEADER_BYTES;
    put(at, 2, 1);
    put(at + 2, 2, 0x101);
    put(at + 4, 4, IMAGE_HEADER_BYTES);
    put(at + 8, 8, image);
    put(at + 20, 4, 64);
    put(at + 24, 2, minor);
    put(at + 26, 2, major);
    put(at + 28, 4, capability);
    put(at + 40, 8, FLAGS | (*rest ? FLAG_EXACT : 0));
    put(at + 64, 8, 72);
    static const uint8_t zeros[8];
    enum cts_status status = cts_buffer_append(fatbin, header, sizeof header, error);
    if (!status) status = cts_buffer_append(fatbin, ptx, length, error);
    return status ? status : cts_buffer_append(fatbin, zeros, image - length, error);
}

/* ---- functions that are missing ---- */

static bool is_drivers(const char *name, size_t length)
{
    static const char *const known[] = {"vprintf", "malloc", "free", "__assertfail"};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i]) == length && memcmp(known[i], name, length) == 0) return true;
    return false;
}

bool cc_ptx_missing(const char *ptx, char *name, size_t name_bytes)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$";
    for (const char *at = ptx; (at = word_behind(at, ".extern .func ")) != NULL;) {
        if (*at == '(') { /* what it returns */
            at = strchr(at, ')');
            if (!at) return false;
            at += 1 + strspn(at + 1, " \t\n");
        }
        const size_t length = strspn(at, letters);
        if (!length || is_drivers(at, length)) continue;
        const size_t copied = length < name_bytes ? length : name_bytes - 1;
        memcpy(name, at, copied);
        name[copied] = 0;
        return true;
    }
    return false;
}
