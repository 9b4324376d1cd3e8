/* Calls of the C library that our code makes with memory that may lie in the arena (--wrap).
 *
 * The kernel refuses a system call's buffer in a closed window (common/memory-windows.h): here such
 * buffers go piece by piece through one on the stack. The C library gives long texts of %s to the
 * kernel as they lie: once there is an arena, what is printed is formatted first. With
 * _FORTIFY_SOURCE the compiler calls functions of other names (__read_chk): they go the same way.
 *
 * And qsort() allocates a copy of what it sorts from the C library, however large: a large array is
 * sorted with a copy that our own malloc() gives. The order is that of the C library, which keeps
 * equal elements in theirs. */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/memory-limit.h"

enum { PIECE_BYTES = 1 << 16, TEXT_BYTES = 1 << 10, LARGE_BYTES = 1 << 18 };

#define OUT_OF_LINE         __attribute__((noinline)) /* its large frame is for those who need it */
#define PRINTS(text, first) __attribute__((format(printf, text, first)))

typedef int compare_function(const void *, const void *, void *);

ssize_t __real_read(int file, void *bytes, size_t byte_count);
ssize_t __real___read_chk(int file, void *bytes, size_t byte_count, size_t room_bytes);
ssize_t __real_pread(int file, void *bytes, size_t byte_count, off_t offset);
ssize_t __real___pread_chk(int file, void *bytes, size_t byte_count, off_t offset,
                           size_t room_bytes);
ssize_t __real_write(int file, const void *bytes, size_t byte_count);
ssize_t __real_pwrite(int file, const void *bytes, size_t byte_count, off_t offset);
size_t __real_fread(void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __real___fread_chk(void *bytes, size_t room_bytes, size_t size_bytes, size_t count,
                          FILE *file);
size_t __real_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file);
int __real_fputs(const char *text, FILE *file);
int __real_puts(const char *text);
PRINTS(2, 0) int __real_vfprintf(FILE *file, const char *format, va_list arguments);
void __real_qsort(void *items, size_t count, size_t size_bytes,
                  int (*compare)(const void *, const void *));
void __real_qsort_r(void *items, size_t count, size_t size_bytes, compare_function *compare,
                    void *state);
ssize_t __wrap_read(int file, void *bytes, size_t byte_count);
ssize_t __wrap___read_chk(int file, void *bytes, size_t byte_count, size_t room_bytes);
ssize_t __wrap_pread(int file, void *bytes, size_t byte_count, off_t offset);
ssize_t __wrap___pread_chk(int file, void *bytes, size_t byte_count, off_t offset,
                           size_t room_bytes);
ssize_t __wrap_write(int file, const void *bytes, size_t byte_count);
ssize_t __wrap_pwrite(int file, const void *bytes, size_t byte_count, off_t offset);
size_t __wrap_fread(void *bytes, size_t size_bytes, size_t count, FILE *file);
size_t __wrap___fread_chk(void *bytes, size_t room_bytes, size_t size_bytes, size_t count,
                          FILE *file);
size_t __wrap_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file);
int __wrap_fputs(const char *text, FILE *file);
int __wrap_puts(const char *text);
PRINTS(2, 0) int __wrap_vfprintf(FILE *file, const char *format, va_list arguments);
PRINTS(3, 0) int __wrap___vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments);
PRINTS(2, 3) int __wrap_fprintf(FILE *file, const char *format, ...);
PRINTS(3, 4) int __wrap___fprintf_chk(FILE *file, int flag, const char *format, ...);
PRINTS(1, 2) int __wrap_printf(const char *format, ...);
PRINTS(2, 3) int __wrap___printf_chk(int flag, const char *format, ...);
void __wrap_qsort(void *items, size_t count, size_t size_bytes,
                  int (*compare)(const void *, const void *));
void __wrap_qsort_r(void *items, size_t count, size_t size_bytes, compare_function *compare,
                    void *state);

/* ---- system calls: a piece is a short read or write, which callers expect ---- */

static size_t piece_of(size_t byte_count)
{
    return byte_count < PIECE_BYTES ? byte_count : PIECE_BYTES;
}

OUT_OF_LINE static ssize_t read_piece(int file, void *bytes, size_t byte_count)
{
    char piece[PIECE_BYTES];
    const ssize_t got = __real_read(file, piece, piece_of(byte_count));
    if (got > 0) memcpy(bytes, piece, (size_t)got);
    return got;
}

ssize_t __wrap_read(int file, void *bytes, size_t byte_count)
{
    return cts_memory_is_in_arena(bytes) ? read_piece(file, bytes, byte_count)
                                         : __real_read(file, bytes, byte_count);
}

ssize_t __wrap___read_chk(int file, void *bytes, size_t byte_count, size_t room_bytes)
{
    return cts_memory_is_in_arena(bytes) && byte_count <= room_bytes
               ? read_piece(file, bytes, byte_count)
               : __real___read_chk(file, bytes, byte_count, room_bytes);
}

OUT_OF_LINE static ssize_t pread_piece(int file, void *bytes, size_t byte_count, off_t offset)
{
    char piece[PIECE_BYTES];
    const ssize_t got = __real_pread(file, piece, piece_of(byte_count), offset);
    if (got > 0) memcpy(bytes, piece, (size_t)got);
    return got;
}

ssize_t __wrap_pread(int file, void *bytes, size_t byte_count, off_t offset)
{
    return cts_memory_is_in_arena(bytes) ? pread_piece(file, bytes, byte_count, offset)
                                         : __real_pread(file, bytes, byte_count, offset);
}

ssize_t __wrap___pread_chk(int file, void *bytes, size_t byte_count, off_t offset,
                           size_t room_bytes)
{
    return cts_memory_is_in_arena(bytes) && byte_count <= room_bytes
               ? pread_piece(file, bytes, byte_count, offset)
               : __real___pread_chk(file, bytes, byte_count, offset, room_bytes);
}

OUT_OF_LINE static ssize_t write_piece(int file, const void *bytes, size_t byte_count)
{
    char piece[PIECE_BYTES];
    memcpy(piece, bytes, piece_of(byte_count));
    return __real_write(file, piece, piece_of(byte_count));
}

ssize_t __wrap_write(int file, const void *bytes, size_t byte_count)
{
    return cts_memory_is_in_arena(bytes) ? write_piece(file, bytes, byte_count)
                                         : __real_write(file, bytes, byte_count);
}

OUT_OF_LINE static ssize_t pwrite_piece(int file, const void *bytes, size_t byte_count,
                                        off_t offset)
{
    char piece[PIECE_BYTES];
    memcpy(piece, bytes, piece_of(byte_count));
    return __real_pwrite(file, piece, piece_of(byte_count), offset);
}

ssize_t __wrap_pwrite(int file, const void *bytes, size_t byte_count, off_t offset)
{
    return cts_memory_is_in_arena(bytes) ? pwrite_piece(file, bytes, byte_count, offset)
                                         : __real_pwrite(file, bytes, byte_count, offset);
}

/* ---- files of the C library ---- */

OUT_OF_LINE static size_t fread_pieces(void *bytes, size_t all, FILE *file)
{
    char piece[PIECE_BYTES];
    size_t done = 0;
    while (done < all) {
        const size_t wanted = piece_of(all - done), got = __real_fread(piece, 1, wanted, file);
        memcpy((char *)bytes + done, piece, got);
        done += got;
        if (got < wanted) break;
    }
    return done;
}

size_t __wrap_fread(void *bytes, size_t size_bytes, size_t count, FILE *file)
{
    if (!size_bytes || !cts_memory_is_in_arena(bytes))
        return __real_fread(bytes, size_bytes, count, file);
    return fread_pieces(bytes, size_bytes * count, file) / size_bytes;
}

size_t __wrap___fread_chk(void *bytes, size_t room_bytes, size_t size_bytes, size_t count,
                          FILE *file)
{
    size_t all;
    const bool fits = !__builtin_mul_overflow(size_bytes, count, &all) && all <= room_bytes;
    return fits ? __wrap_fread(bytes, size_bytes, count, file)
                : __real___fread_chk(bytes, room_bytes, size_bytes, count, file);
}

OUT_OF_LINE static size_t fwrite_pieces(const void *bytes, size_t all, FILE *file)
{
    char piece[PIECE_BYTES];
    size_t done = 0;
    while (done < all) {
        const size_t wanted = piece_of(all - done);
        memcpy(piece, (const char *)bytes + done, wanted);
        const size_t written = __real_fwrite(piece, 1, wanted, file);
        done += written;
        if (written < wanted) break;
    }
    return done;
}

size_t __wrap_fwrite(const void *bytes, size_t size_bytes, size_t count, FILE *file)
{
    if (!size_bytes || !cts_memory_is_in_arena(bytes))
        return __real_fwrite(bytes, size_bytes, count, file);
    return fwrite_pieces(bytes, size_bytes * count, file) / size_bytes;
}

int __wrap_fputs(const char *text, FILE *file)
{
    if (!cts_memory_is_in_arena(text)) return __real_fputs(text, file);
    const size_t length = strlen(text);
    return fwrite_pieces(text, length, file) == length ? 1 : EOF;
}

int __wrap_puts(const char *text)
{
    if (!cts_memory_is_in_arena(text)) return __real_puts(text);
    return __wrap_fputs(text, stdout) == EOF ? EOF : putchar('\n');
}

int __wrap_vfprintf(FILE *file, const char *format, va_list arguments)
{
    char few[TEXT_BYTES], *many = NULL;
    va_list again;
    if (!cts_memory_has_arena()) return __real_vfprintf(file, format, arguments);
    va_copy(again, arguments);
    const int length = vsnprintf(few, sizeof few, format, again);
    va_end(again);
    if (length < 0) return length;
    if ((size_t)length >= sizeof few) {
        many = malloc((size_t)length + 1);
        if (!many) return __real_vfprintf(file, format, arguments);
        (void)vsnprintf(many, (size_t)length + 1, format, arguments);
    }
    const size_t written = __wrap_fwrite(many ? many : few, 1, (size_t)length, file);
    free(many);
    return written == (size_t)length ? length : -1;
}

int __wrap___vfprintf_chk(FILE *file, int flag, const char *format, va_list arguments)
{
    (void)flag;
    return __wrap_vfprintf(file, format, arguments);
}

int __wrap_fprintf(FILE *file, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___fprintf_chk(FILE *file, int flag, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    const int length = __wrap_vfprintf(file, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap_printf(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    const int length = __wrap_vfprintf(stdout, format, arguments);
    va_end(arguments);
    return length;
}

int __wrap___printf_chk(int flag, const char *format, ...)
{
    va_list arguments;
    (void)flag;
    va_start(arguments, format);
    const int length = __wrap_vfprintf(stdout, format, arguments);
    va_end(arguments);
    return length;
}

/* ---- sorting ---- */

struct sorting {
    size_t size_bytes;
    compare_function *compare;
    void *state;
};

/* Merges two sorted stretches, which lie behind one another, into `to`. */
static void merge(const struct sorting *s, const char *from, size_t middle_bytes, size_t end_bytes,
                  char *to)
{
    size_t a = 0, b = middle_bytes;
    for (; a < middle_bytes && b < end_bytes; to += s->size_bytes) {
        size_t *const next = s->compare(from + a, from + b, s->state) <= 0 ? &a : &b;
        memcpy(to, from + *next, s->size_bytes);
        *next += s->size_bytes;
    }
    memcpy(to, from + a, middle_bytes - a);
    memcpy(to + (middle_bytes - a), from + b, end_bytes - b);
}

/* Half by half, so that what is at work lies close together; what is short by the C library. */
static void sort_part(const struct sorting *s, char *items, size_t all_bytes, char *copy,
                      bool to_copy)
{
    const size_t half_bytes = all_bytes / s->size_bytes / 2 * s->size_bytes;
    if (all_bytes <= LARGE_BYTES || !half_bytes) {
        __real_qsort_r(items, all_bytes / s->size_bytes, s->size_bytes, s->compare, s->state);
        if (to_copy) memcpy(copy, items, all_bytes);
        return;
    }
    sort_part(s, items, half_bytes, copy, !to_copy);
    sort_part(s, items + half_bytes, all_bytes - half_bytes, copy + half_bytes, !to_copy);
    merge(s, to_copy ? items : copy, half_bytes, all_bytes, to_copy ? copy : items);
}

void __wrap_qsort_r(void *items, size_t count, size_t size_bytes, compare_function *compare,
                    void *state)
{
    const bool is_large = cts_memory_is_limited() && count > LARGE_BYTES / size_bytes;
    char *const copy = is_large ? malloc(count * size_bytes) : NULL;
    const struct sorting sorting = {size_bytes, compare, state};
    if (copy)
        sort_part(&sorting, items, count * size_bytes, copy, false);
    else
        __real_qsort_r(items, count, size_bytes, compare, state);
    free(copy);
}

static int compare_plainly(const void *a, const void *b, void *state)
{
    int (*const *const compare)(const void *, const void *) = state;
    return (*compare)(a, b);
}

void __wrap_qsort(void *items, size_t count, size_t size_bytes,
                  int (*compare)(const void *, const void *))
{
    __wrap_qsort_r(items, count, size_bytes, compare_plainly, &compare);
}
