#include "import/kineto-input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "common/read-file.h"

enum { PIECE_BYTES = 128 << 10, ZSTD_WINDOW_LOG_MAX = 27 };

enum packing { PLAIN, GZIP, ZSTD };

struct cts_kineto_input {
    int file;
    const char *path; /* borrowed */
    enum packing packing;
    z_stream zlib;
    ZSTD_DCtx *zstd;
    bool at_boundary; /* between members or frames: the file may end here */
    const char *damage;
    uint8_t *piece; /* of the file */
    size_t at, count;
};

static enum cts_status fill(struct cts_kineto_input *in, struct cts_error *error)
{
    if (in->at < in->count) return CTS_OK;
    const ssize_t got = cts_read_file(in->file, in->piece, PIECE_BYTES);
    if (got < 0) return cts_fail_errno(error, errno, "cannot read '%s'", in->path);
    in->at = 0;
    in->count = (size_t)got;
    return CTS_OK;
}

static enum packing packing_of(const struct cts_kineto_input *in)
{
    static const uint8_t gzip[] = {0x1f, 0x8b}, zstd[] = {0x28, 0xb5, 0x2f, 0xfd};
    if (in->count >= sizeof gzip && !memcmp(in->piece, gzip, sizeof gzip)) return GZIP;
    if (in->count >= sizeof zstd && !memcmp(in->piece, zstd, sizeof zstd)) return ZSTD;
    return PLAIN;
}

static enum cts_status start_unpacking(struct cts_kineto_input *in, struct cts_error *error)
{
    enum { GZIP_ONLY = 15 + 16 };
    in->packing = packing_of(in);
    in->at_boundary = true;
    bool sound = true;
    if (in->packing == GZIP) sound = inflateInit2(&in->zlib, GZIP_ONLY) == Z_OK;
    if (in->packing == ZSTD) {
        in->zstd = ZSTD_createDCtx();
        sound = in->zstd && !ZSTD_isError(ZSTD_DCtx_setParameter(in->zstd, ZSTD_d_windowLogMax,
                                                                 ZSTD_WINDOW_LOG_MAX));
    }
    return sound ? CTS_OK : cts_fail(error, CTS_MEMORY, "no memory to unpack '%s'", in->path);
}

enum cts_status cts_kineto_input_open(const char *path, struct cts_kineto_input **input,
                                      struct cts_error *error)
{
    struct cts_kineto_input *const in = calloc(1, sizeof *in);
    *input = NULL;
    if (!in) return cts_fail(error, CTS_MEMORY, "no memory");
    in->path = path;
    in->piece = malloc(PIECE_BYTES);
    in->file = cts_open_regular_file(path, error);
    enum cts_status status = in->file < 0 ? error->status : CTS_OK;
    if (!status && !in->piece) status = cts_fail(error, CTS_MEMORY, "no memory");
    if (!status) status = fill(in, error);
    if (!status) status = start_unpacking(in, error);
    if (status)
        cts_kineto_input_close(in);
    else
        *input = in;
    return status;
}

/* True: something came out, or the end is reached. */
static bool inflate_some(struct cts_kineto_input *in, uint8_t *bytes, size_t room, size_t *got)
{
    in->zlib.next_in = in->piece + in->at;
    in->zlib.avail_in = (uInt)(in->count - in->at);
    in->zlib.next_out = bytes;
    in->zlib.avail_out = (uInt)room;
    const int result = inflate(&in->zlib, Z_NO_FLUSH);
    in->at = in->count - in->zlib.avail_in;
    *got = room - in->zlib.avail_out;
    in->at_boundary = result == Z_STREAM_END;
    if (result == Z_STREAM_END && inflateReset(&in->zlib) != Z_OK) in->damage = "no memory";
    if (result != Z_OK && result != Z_STREAM_END && result != Z_BUF_ERROR)
        in->damage = in->zlib.msg ? in->zlib.msg : "damaged gzip data";
    return *got || in->damage;
}

static bool unpack_zstd(struct cts_kineto_input *in, uint8_t *bytes, size_t room, size_t *got)
{
    ZSTD_inBuffer from = {in->piece, in->count, in->at};
    ZSTD_outBuffer to = {bytes, room, 0};
    const size_t result = ZSTD_decompressStream(in->zstd, &to, &from);
    in->at = from.pos;
    *got = to.pos;
    if (ZSTD_isError(result))
        in->damage = ZSTD_getErrorName(result);
    else
        in->at_boundary = result == 0;
    return *got || in->damage;
}

static enum cts_status read_plain(struct cts_kineto_input *in, void *bytes, size_t room,
                                  size_t *got, struct cts_error *error)
{
    const enum cts_status status = fill(in, error);
    if (status) return status;
    *got = in->count - in->at < room ? in->count - in->at : room;
    memcpy(bytes, in->piece + in->at, *got);
    in->at += *got;
    return CTS_OK;
}

enum cts_status cts_kineto_input_read(struct cts_kineto_input *in, void *bytes, size_t room,
                                      size_t *got, struct cts_error *error)
{
    *got = 0;
    if (in->packing == PLAIN) return read_plain(in, bytes, room, got, error);
    while (!in->damage) {
        const enum cts_status status = fill(in, error);
        if (status) return status;
        if (!in->count && in->at_boundary) return CTS_OK;
        const bool some = in->packing == GZIP ? inflate_some(in, bytes, room, got)
                                              : unpack_zstd(in, bytes, room, got);
        if (some) return CTS_OK;
        if (!in->count) in->damage = "it ends early";
    }
    return CTS_OK;
}

const char *cts_kineto_input_damage(const struct cts_kineto_input *in)
{
    return in->damage;
}

void cts_kineto_input_close(struct cts_kineto_input *in)
{
    if (!in) return;
    if (in->packing == GZIP) (void)inflateEnd(&in->zlib);
    ZSTD_freeDCtx(in->zstd);
    if (in->file >= 0) close(in->file);
    free(in->piece);
    free(in);
}
