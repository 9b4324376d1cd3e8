#include "common/terminal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "common/utf8.h"

enum { CHARACTER_MAX = 4, BLOCK_BYTES = 4096 };

struct guard {
    int fd;
    bool passes;                     /* everything, as it is */
    char pending[CHARACTER_MAX + 1]; /* the start of a character that the last write cut */
    size_t pending_bytes;
    FILE *stream;
    int errnum; /* why a write failed; 0: none did */
};

static struct guard guards[2] = {{.fd = STDOUT_FILENO}, {.fd = STDERR_FILENO}};

static bool write_whole(struct guard *guard, const char *bytes, size_t byte_count)
{
    while (byte_count) {
        const ssize_t done = write(guard->fd, bytes, byte_count);
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) {
            guard->errnum = done < 0 ? errno : EIO;
            return false;
        }
        bytes += done;
        byte_count -= (size_t)done;
    }
    return true;
}

/* Whether the bytes may be the start of a character that the next write completes. */
static bool is_cut(const char *bytes, size_t byte_count)
{
    const unsigned char first = (unsigned char)bytes[0];
    const size_t wanted = first < 0xc2 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    return byte_count < wanted && first < 0xf5;
}

/* Copies what is plain, up to a cut character; returns the bytes written to `to`. */
static size_t neutralise(struct guard *guard, const char *bytes, size_t byte_count, char *to)
{
    size_t length = 0;
    for (size_t at = 0; at < byte_count;) {
        char character[CHARACTER_MAX + 1] = {0};
        const size_t left = byte_count - at;
        memcpy(character, bytes + at, left < CHARACTER_MAX ? left : CHARACTER_MAX);
        const bool passes = *character == '\n' || *character == '\t';
        const size_t size = *character ? cts_utf8_length(character) : 0;
        if (size == 0 && *character && is_cut(character, left)) {
            memcpy(guard->pending, character, left);
            guard->pending_bytes = left;
            break;
        }
        if (passes || (size && cts_utf8_is_plain(character))) {
            memcpy(to + length, character, size);
            length += size;
        } else {
            to[length++] = '?';
        }
        at += size ? size : 1;
    }
    return length;
}

static ssize_t guard_write(void *cookie, const char *bytes, size_t byte_count)
{
    struct guard *const guard = cookie;
    if (guard->passes) return write_whole(guard, bytes, byte_count) ? (ssize_t)byte_count : 0;
    for (size_t done = 0; done < byte_count;) {
        char from[BLOCK_BYTES + CHARACTER_MAX], to[BLOCK_BYTES + CHARACTER_MAX];
        const size_t left = byte_count - done;
        const size_t now = left < BLOCK_BYTES ? left : BLOCK_BYTES;
        const size_t before = guard->pending_bytes;
        memcpy(from, guard->pending, before);
        memcpy(from + before, bytes + done, now);
        guard->pending_bytes = 0;
        const size_t length = neutralise(guard, from, before + now, to);
        if (!write_whole(guard, to, length)) return 0;
        done += now;
    }
    return (ssize_t)byte_count;
}

static FILE *guarded(struct guard *guard, FILE *stream, int mode)
{
    const cookie_io_functions_t functions = {.write = guard_write};
    guard->stream = fopencookie(guard, "w", functions);
    if (!guard->stream) return stream; /* without memory nothing much will be printed */
    setvbuf(guard->stream, NULL, mode, mode == _IONBF ? 0 : BUFSIZ);
    return guard->stream;
}

void cts_terminal_guard(void)
{
    stdout = guarded(&guards[0], stdout, isatty(STDOUT_FILENO) ? _IOLBF : _IOFBF);
    stderr = guarded(&guards[1], stderr, _IONBF);
}

void cts_terminal_pass_stdout(void)
{
    guards[0].passes = !isatty(STDOUT_FILENO);
}

static struct guard *guard_of(FILE *file)
{
    for (size_t i = 0; i < sizeof guards / sizeof *guards; i++)
        if (file && guards[i].stream == file) return &guards[i];
    return NULL;
}

void cts_terminal_control(FILE *file, const char *sequence)
{
    struct guard *const guard = guard_of(file);
    if (!guard) {
        fputs(sequence, file);
        return;
    }
    flockfile(file);
    fflush(file);
    (void)write_whole(guard, sequence, strlen(sequence)); /* as bad as no colour */
    funlockfile(file);
}

int cts_terminal_errno(FILE *file)
{
    const struct guard *const guard = guard_of(file);
    const int number = guard ? guard->errnum : errno;
    return number ? number : EIO;
}

bool cts_is_terminal(FILE *file)
{
    const struct guard *const guard = guard_of(file);
    return isatty(guard ? guard->fd : fileno(file));
}

size_t cts_terminal_columns(FILE *file)
{
    enum { COLUMNS_MIN = 20, COLUMNS_MAX = 10000 };
    if (file != stdout && file != stderr) return 0;
    const char *const asked = getenv("COLUMNS");
    char *end = NULL;
    unsigned long columns = asked ? strtoul(asked, &end, 10) : 0;
    if (!asked || end == asked || *end || *asked == '-') columns = 0;
    if (!columns && cts_is_terminal(file)) {
        const struct guard *const guard = guard_of(file);
        struct winsize size = {0};
        if (!ioctl(guard ? guard->fd : fileno(file), TIOCGWINSZ, &size)) columns = size.ws_col;
    }
    if (!columns) return 0;
    return columns < COLUMNS_MIN ? COLUMNS_MIN : columns > COLUMNS_MAX ? COLUMNS_MAX : columns;
}
