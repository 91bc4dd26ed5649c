#include "fab/source.h"

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef FAB_COMPRESSION
#include <lzma.h>
#include <zlib.h>
#endif

#define BLOCK      ((size_t)1 << 16)
#define MOST_STEP  ((size_t)1 << 30)    /* of zlib, whose lengths are unsigned int */
#define FREE_BYTES (UINT64_C(64) << 20) /* of text, however small the file: a short list may be all alike */
#define MOST_RATIO 1000
#define XZ_MEMORY  (UINT64_C(128) << 20) /* xz -9 takes 65 MiB */

typedef enum packing { PLAIN, GZIP, XZ } packing;

struct fab_source {
    const char *path;
    FILE *in; /* NULL: standard input, which is read by its place so that it can begin anew */
    off_t at;
    packing packing;
    bool at_end;          /* of the file */
    bool is_done;         /* of the text that is packed */
    size_t first, n;      /* what is in the block and not taken yet */
    uint64_t n_in, n_out; /* packed and unpacked */
#ifdef FAB_COMPRESSION
    z_stream z;
    lzma_stream xz;
#endif
    unsigned char block[BLOCK];
};

/* --- bytes of the file -------------------------------------------------------------------------------------------- */

static fab_status read_failed(const char *path, fab_error *err) {
    return fab_fail(err, FAB_EIO, path, "cannot be read: %s", errno != 0 ? strerror(errno) : "a read failed");
}

/* Standard input from a pipe goes to a file without a name, in its place. */
static fab_status keep_input(fab_error *err) {
    fab_status status = FAB_OK;
    unsigned char *block = NULL;
    FILE *file = NULL;
    ssize_t n = 0;
    if (lseek(STDIN_FILENO, 0, SEEK_CUR) >= 0) {
        return FAB_OK;
    }
    FAB_RETURN_IF(errno != ESPIPE, read_failed("-", err));
    block = malloc(BLOCK);
    FAB_FAIL_IF(block == NULL, err, FAB_ENOMEM, "-", "no memory to read standard input");
    file = tmpfile();
    FAB_FAIL_IF(file == NULL, err, FAB_EIO, "-", "no temporary file to keep standard input in: %s", strerror(errno));
    while ((n = read(STDIN_FILENO, block, BLOCK)) > 0) {
        FAB_FAIL_IF(fwrite(block, 1, (size_t)n, file) != (size_t)n, err, FAB_EIO, "-",
                    "standard input cannot be kept: %s", strerror(errno));
    }
    FAB_TRY(n < 0 ? read_failed("-", err) : FAB_OK);
    FAB_FAIL_IF(fflush(file) != 0 || lseek(fileno(file), 0, SEEK_SET) != 0 || dup2(fileno(file), STDIN_FILENO) < 0, err,
                FAB_EIO, "-", "standard input cannot be kept: %s", strerror(errno));
done:
    free(block);
    if (file != NULL) {
        (void)fclose(file);
    }
    return status;
}

static fab_status read_raw(fab_source *s, void *to, size_t n, size_t *out_n, fab_error *err) {
    size_t got = 0;
    errno = 0;
    if (s->in != NULL) {
        got = fread(to, 1, n, s->in);
        FAB_RETURN_IF(ferror(s->in), read_failed(s->path, err));
    }
    while (s->in == NULL && got < n) {
        ssize_t more = pread(STDIN_FILENO, (char *)to + got, n - got, s->at);
        FAB_RETURN_IF(more < 0, read_failed(s->path, err));
        if (more == 0) {
            break;
        }
        got += (size_t)more;
        s->at += more;
    }
    s->at_end = got < n;
    s->n_in += got;
    *out_n = got;
    return FAB_OK;
}

static fab_status fill(fab_source *s, fab_error *err) {
    s->first = 0;
    return s->n > 0 || s->at_end ? FAB_OK : read_raw(s, s->block, BLOCK, &s->n, err);
}

size_t fab_source_size(const fab_source *source) {
    struct stat about;
    int file = source->in != NULL ? fileno(source->in) : STDIN_FILENO;
    return source->packing == PLAIN && fstat(file, &about) == 0 && S_ISREG(about.st_mode) && about.st_size >= 0
               ? (size_t)about.st_size
               : SIZE_MAX;
}

/* --- what is packed ----------------------------------------------------------------------------------------------- */

static const char *packer_of(const fab_source *source) {
    return source->packing == GZIP ? "gzip" : "xz";
}

#ifdef FAB_COMPRESSION

static fab_status no_memory(const fab_source *s, fab_error *err) {
    return fab_fail(err, FAB_ENOMEM, s->path, "no memory to unpack what %s has packed", packer_of(s));
}

static fab_status damaged(const fab_source *s, fab_error *err) {
    return fab_fail(err, FAB_EINPUT, s->path, "what %s has packed is damaged", packer_of(s));
}

/* One step: as many bytes as there are of the block, or as go into `to`. A gzip file may hold several, one behind the
 * other. */
static fab_status step_gzip(fab_source *s, unsigned char *to, size_t n, size_t *out_n, fab_error *err) {
    s->z.next_in = s->block + s->first;
    s->z.avail_in = (uInt)s->n;
    s->z.next_out = to;
    s->z.avail_out = (uInt)(n < MOST_STEP ? n : MOST_STEP);
    int code = inflate(&s->z, Z_NO_FLUSH);
    *out_n = (size_t)(s->z.next_out - to);
    s->first += s->n - s->z.avail_in;
    s->n = s->z.avail_in;
    if (code == Z_STREAM_END) {
        FAB_PASS(s->n == 0 ? fill(s, err) : FAB_OK);
        s->is_done = s->n == 0;
        return s->is_done || inflateReset(&s->z) == Z_OK ? FAB_OK : damaged(s, err);
    }
    FAB_RETURN_IF(code == Z_MEM_ERROR, no_memory(s, err));
    return code == Z_OK || code == Z_BUF_ERROR ? FAB_OK : damaged(s, err);
}

static fab_status step_xz(fab_source *s, unsigned char *to, size_t n, size_t *out_n, fab_error *err) {
    s->xz.next_in = s->block + s->first;
    s->xz.avail_in = s->n;
    s->xz.next_out = to;
    s->xz.avail_out = n;
    lzma_ret code = lzma_code(&s->xz, s->at_end ? LZMA_FINISH : LZMA_RUN);
    *out_n = n - s->xz.avail_out;
    s->first += s->n - s->xz.avail_in;
    s->n = s->xz.avail_in;
    s->is_done = code == LZMA_STREAM_END;
    FAB_RETURN_IF(code == LZMA_MEM_ERROR, no_memory(s, err));
    FAB_REFUSE_IF(code == LZMA_MEMLIMIT_ERROR, err, FAB_EINPUT, s->path,
                  "xz needs more than 128 MiB to unpack it: pack it by xz -9 or less");
    return code == LZMA_OK || code == LZMA_BUF_ERROR || s->is_done ? FAB_OK : damaged(s, err);
}

static fab_status read_packed(fab_source *s, unsigned char *to, size_t n, size_t *out_n, fab_error *err) {
    size_t got = 0;
    while (got < n && !s->is_done) {
        size_t more = 0;
        FAB_PASS(s->n == 0 ? fill(s, err) : FAB_OK);
        bool has_none = s->n == 0;
        FAB_PASS(s->packing == GZIP ? step_gzip(s, to + got, n - got, &more, err)
                                    : step_xz(s, to + got, n - got, &more, err));
        FAB_REFUSE_IF(more == 0 && has_none && !s->is_done, err, FAB_EINPUT, s->path,
                      "the file is truncated: it ends within what %s has packed", packer_of(s));
        got += more;
        s->n_out += more;
        FAB_REFUSE_IF(s->n_out > FREE_BYTES && s->n_out / MOST_RATIO > s->n_in, err, FAB_EINPUT, s->path,
                      "its text is more than 64 MiB and more than %d times what %s has packed", MOST_RATIO,
                      packer_of(s));
    }
    *out_n = got;
    return FAB_OK;
}

static fab_status begin_packed(fab_source *s, fab_error *err) {
    if (s->packing == GZIP) {
        return inflateInit2(&s->z, 16 + MAX_WBITS) == Z_OK ? FAB_OK : no_memory(s, err);
    }
    s->xz = (lzma_stream)LZMA_STREAM_INIT;
    return lzma_stream_decoder(&s->xz, XZ_MEMORY, LZMA_CONCATENATED) == LZMA_OK ? FAB_OK : no_memory(s, err);
}

static void end_packed(fab_source *s) {
    if (s->packing == GZIP) {
        (void)inflateEnd(&s->z);
    } else if (s->packing == XZ) {
        lzma_end(&s->xz);
    }
}

#else

static fab_status read_packed(fab_source *s, FAB_UNUSED unsigned char *to, FAB_UNUSED size_t n, size_t *out_n,
                              fab_error *err) {
    *out_n = 0;
    return fab_fail(err, FAB_EUNSUPPORTED, s->path, "packed by %s, which this build does not unpack", packer_of(s));
}

static fab_status begin_packed(fab_source *s, fab_error *err) {
    size_t none = 0;
    return read_packed(s, NULL, 0, &none, err);
}

static void end_packed(FAB_UNUSED fab_source *s) {}

#endif

/* --- all together ------------------------------------------------------------------------------------------------- */

static packing packing_of(const unsigned char *head, size_t n) {
    static const unsigned char GZIP_MARK[] = {0x1f, 0x8b, 8};
    static const unsigned char XZ_MARK[] = {0xfd, '7', 'z', 'X', 'Z', 0};
    bool is_gzip = n >= sizeof GZIP_MARK && memcmp(head, GZIP_MARK, sizeof GZIP_MARK) == 0;
    bool is_xz = n >= sizeof XZ_MARK && memcmp(head, XZ_MARK, sizeof XZ_MARK) == 0;
    return is_gzip ? GZIP : is_xz ? XZ : PLAIN;
}

fab_status fab_source_open(const char *path, fab_source **out, fab_error *err) {
    FAB_OWNS(fab_source_close_owned) fab_source *s = calloc(1, sizeof *s);
    FAB_REFUSE_IF(s == NULL, err, FAB_ENOMEM, path, "no memory to read it");
    s->path = path;
    errno = 0;
    if (strcmp(path, "-") == 0) {
        FAB_PASS(keep_input(err));
        s->at = lseek(STDIN_FILENO, 0, SEEK_CUR);
    } else if ((s->in = fopen(path, "rb")) == NULL) {
        return fab_fail(err, errno == 0 || errno == ENOMEM ? FAB_ENOMEM : FAB_EIO, path, "cannot be read: %s",
                        strerror(errno != 0 ? errno : ENOMEM));
    }
    FAB_PASS(fill(s, err));
    s->packing = packing_of(s->block, s->n);
    FAB_PASS(s->packing != PLAIN ? begin_packed(s, err) : FAB_OK);
    return FAB_GIVE(*out, s);
}

void fab_source_close(fab_source *source) {
    if (source == NULL) {
        return;
    }
    end_packed(source);
    if (source->in != NULL) {
        (void)fclose(source->in);
    }
    free(source);
}

fab_status fab_source_read(fab_source *s, void *to, size_t n, size_t *out_n, fab_error *err) {
    if (s->packing != PLAIN) {
        return read_packed(s, to, n, out_n, err);
    }
    size_t got = s->n < n ? s->n : n;
    size_t more = 0;
    memcpy(to, s->block + s->first, got);
    s->first += got;
    s->n -= got;
    FAB_PASS(got < n && !s->at_end ? read_raw(s, (char *)to + got, n - got, &more, err) : FAB_OK);
    *out_n = got + more;
    return FAB_OK;
}

fab_status fab_source_head(const char *path, void *to, size_t n, size_t *out_n, fab_error *err) {
    FAB_OWNS(fab_source_close_owned) fab_source *source = NULL;
    FAB_PASS(fab_source_open(path, &source, err));
    return fab_source_read(source, to, n, out_n, err);
}
