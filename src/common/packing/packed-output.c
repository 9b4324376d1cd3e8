#include "common/packing/packed-output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>
#include <zlib.h>

enum { BUFFER_BYTES = 1 << 18, PIECE_MAX_BYTES = 1 << 30 };

struct packing {
    gzFile file;
    struct cts_packed_output *output;
};

static void note_failure(struct cts_packed_output *output, int errnum)
{
    if (!output->errnum) output->errnum = errnum ? errnum : EIO;
}

static ssize_t write_packed(void *cookie, const char *bytes, size_t count)
{
    const struct packing *const packing = cookie;
    const unsigned most = count < PIECE_MAX_BYTES ? (unsigned)count : PIECE_MAX_BYTES;
    errno = 0;
    const int written = gzwrite(packing->file, bytes, most);
    if (written <= 0) note_failure(packing->output, errno);
    return written > 0 ? written : 0;
}

static int close_packed(void *cookie)
{
    struct packing *const packing = cookie;
    errno = 0;
    const int code = gzclose(packing->file);
    if (code != Z_OK) note_failure(packing->output, errno);
    free(packing);
    return code == Z_OK ? 0 : EOF;
}

/* A stream that packs into a descriptor of its own; NULL and errno. */
static FILE *open_packing(struct cts_packed_output *output, int to)
{
    struct packing *const packing = malloc(sizeof *packing);
    const int copy = fcntl(to, F_DUPFD_CLOEXEC, 0);
    if (!packing || copy < 0) goto failed;
    *packing = (struct packing){.file = gzdopen(copy, "wb1"), .output = output};
    if (!packing->file) {
        errno = ENOMEM;
        goto failed;
    }
    FILE *const stream = fopencookie(
        packing, "w", (cookie_io_functions_t){.write = write_packed, .close = close_packed});
    if (stream) return stream;
    gzclose(packing->file);
    free(packing);
    errno = ENOMEM;
    return NULL;
failed:
    if (copy >= 0) close(copy);
    free(packing);
    return NULL;
}

enum cts_status cts_packed_output_open(const char *path, bool is_packed,
                                       struct cts_packed_output *packed, struct cts_error *error)
{
    *packed = (struct cts_packed_output){.is_packed = is_packed};
    const enum cts_status status = cts_output_open(path, &packed->output, error);
    if (status) return status;
    packed->file =
        is_packed ? open_packing(packed, fileno(packed->output.file)) : packed->output.file;
    if (!packed->file)
        return cts_output_close(&packed->output,
                                cts_fail_errno(error, errno, "cannot write '%s'", path), error);
    (void)setvbuf(packed->file, NULL, _IOFBF, BUFFER_BYTES);
    return CTS_OK;
}

enum cts_status cts_packed_output_close(struct cts_packed_output *packed, enum cts_status status,
                                        struct cts_error *error)
{
    if (packed->is_packed) {
        (void)fclose(packed->file);
        if (packed->errnum && (!status || status == CTS_IO))
            status =
                cts_fail_errno(error, packed->errnum, "cannot write '%s'", packed->output.path);
    }
    packed->file = NULL;
    return cts_output_close(&packed->output, status, error);
}
