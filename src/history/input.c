#include "history/input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/invariant.h"

#define INPUT_CHUNK ((size_t)1 << 20)

/* Compressed bytes wait in `in`; one of the two streams is active. */
struct decoder {
	bool zstd, done;
	z_stream z;
	ZSTD_DStream *ds;
	size_t pos, end;
	unsigned char in[1 << 17];
};

static ssize_t read_some(int fd, void *p, size_t n)
{
	ssize_t got;
	do
		got = read(fd, p, n);
	while (got < 0 && errno == EINTR);
	return got;
}

static bool start_decoder(struct input *in, bool zstd)
{
	assert(!in->dec);
	struct decoder *d = calloc(1, sizeof *d);
	if (!d) {
		in->error = "out of memory";
		return false;
	}
	d->zstd = zstd;
	in->dec = d;
	if (zstd ? !(d->ds = ZSTD_createDStream()) : inflateInit2(&d->z, 15 + 16) != Z_OK) {
		in->error = "out of memory";
		return false;
	}
	/* what was read to tell the kind is the start of the stream */
	memcpy(d->in, in->buf, in->end);
	d->end = in->end;
	in->end = 0;
	return true;
}

bool input_open(struct input *in, const char *path)
{
	memset(in, 0, sizeof *in);
	in->fd = -1;
	bool std = !strcmp(path, "-");
	in->name = std ? "<stdin>" : path;
	in->fd = std ? 0 : open(path, O_RDONLY | O_CLOEXEC);
	in->own_fd = !std;
	in->cap = INPUT_CHUNK;
	in->buf = in->fd < 0 ? NULL : malloc(in->cap + 1);
	if (!in->buf) {
		in->error = in->fd < 0 ? strerror(errno) : "out of memory";
		return false;
	}
	in->buf[0] = 0;
	while (in->end < 6) {
		ssize_t got = read_some(in->fd, in->buf + in->end, 6 - in->end);
		if (got < 0) {
			in->error = strerror(errno);
			return false;
		}
		if (got == 0)
			break;
		in->end += (size_t)got;
	}
	in->buf[in->end] = 0;
	if (in->end >= 4 && !memcmp(in->buf, "\x28\xB5\x2F\xFD", 4))
		return start_decoder(in, true);
	if (in->end >= 2 && !memcmp(in->buf, "\x1F\x8B", 2))
		return start_decoder(in, false);
	bool xz = in->end >= 6 && !memcmp(in->buf,
	                                  "\xFD"
	                                  "7zXZ",
	                                  6);
	if (xz || (in->end >= 4 && !memcmp(in->buf, "BZh", 3) && in->buf[3] >= '1' && in->buf[3] <= '9')) {
		in->error = xz ? "xz compression is not supported" : "bzip2 compression is not supported";
		in->hint = xz ? "decompress it first: xz -dc FILE | intact history -"
		              : "decompress it first: bzip2 -dc FILE | intact history -";
		return false;
	}
	return true;
}

/* What followed `had` in the window, once more. */
static void copy_from(struct input *in, size_t had)
{
	assert(had <= in->end);
	size_t n = in->end - had, left = in->copy ? in->copy_max - in->copy->len : 0;
	if (in->copy)
		buf_add(in->copy, in->buf + had, n < left ? n : left);
}

void input_keep(struct input *in, struct buf *copy, size_t max)
{
	assert(!in->copy);
	in->copy = copy;
	in->copy_max = max;
	copy_from(in, 0);
}

bool input_open_text(struct input *in, const char *name, const char *text, size_t len)
{
	memset(in, 0, sizeof *in);
	in->fd = -1;
	in->name = name;
	in->buf = malloc(len + 1);
	if (!in->buf)
		return false;
	memcpy(in->buf, text, len);
	in->buf[len] = 0;
	in->end = in->cap = len;
	in->eof = true;
	return true;
}

void input_close(struct input *in)
{
	if (in->dec) {
		if (in->dec->zstd)
			ZSTD_freeDStream(in->dec->ds);
		else
			inflateEnd(&in->dec->z);
		free(in->dec);
	}
	if (in->own_fd && in->fd >= 0)
		close(in->fd);
	free(in->buf);
	memset(in, 0, sizeof *in);
	in->fd = -1;
}

/* One step of inflate; a gzip file may be several members in a row. */
static bool step_gzip(struct input *in, struct decoder *d)
{
	assert(in->end <= in->cap && d->pos <= d->end);
	d->z.next_in = d->in + d->pos;
	d->z.avail_in = (uInt)(d->end - d->pos);
	d->z.next_out = (unsigned char *)in->buf + in->end;
	d->z.avail_out = (uInt)(in->cap - in->end);
	int rc = inflate(&d->z, Z_NO_FLUSH);
	d->pos = d->end - d->z.avail_in;
	in->end = in->cap - d->z.avail_out;
	d->done = rc == Z_STREAM_END;
	if (d->done)
		rc = inflateReset2(&d->z, 15 + 16);
	if (rc == Z_OK || rc == Z_BUF_ERROR)
		return true;
	in->error = "damaged gzip data";
	return false;
}

static bool step_zstd(struct input *in, struct decoder *d)
{
	assert(in->end <= in->cap && d->pos <= d->end);
	ZSTD_inBuffer src = { d->in, d->end, d->pos };
	ZSTD_outBuffer dst = { in->buf, in->cap, in->end };
	size_t rc = ZSTD_decompressStream(d->ds, &dst, &src);
	d->pos = src.pos;
	in->end = dst.pos;
	d->done = rc == 0;
	if (!ZSTD_isError(rc))
		return true;
	in->error = "damaged zstd data";
	assert(in->end <= in->cap && d->pos <= d->end);
	return false;
}

static bool fill_decoded(struct input *in)
{
	assert(in->dec);
	struct decoder *d = in->dec;
	size_t had = in->end;
	while (in->end == had) {
		if (d->pos == d->end) {
			ssize_t got = read_some(in->fd, d->in, sizeof d->in);
			d->pos = 0;
			d->end = got > 0 ? (size_t)got : 0;
			if (got < 0)
				in->error = strerror(errno);
			else if (got == 0 && !d->done)
				in->error = d->zstd ? "the zstd data ends too early" : "the gzip data ends too early";
			if (got <= 0) {
				in->eof = true;
				return false;
			}
		}
		if (!(d->zstd ? step_zstd(in, d) : step_gzip(in, d))) {
			in->eof = true;
			return false;
		}
	}
	return true;
}

bool input_fill(struct input *in)
{
	assert(in->pos <= in->end && in->end <= in->cap);
	if (in->eof)
		return false;
	if (in->pos) {
		memmove(in->buf, in->buf + in->pos, in->end - in->pos);
		in->end -= in->pos;
		in->pos = 0;
	}
	if (in->end == in->cap) {
		char *p = in->cap >= INPUT_MAX_RECORD ? NULL : realloc(in->buf, in->cap * 2 + 1);
		if (!p) {
			in->error = "a record is larger than 64 MiB";
			in->eof = true;
			return false;
		}
		in->buf = p;
		in->cap *= 2;
	}
	bool more;
	size_t had = in->end;
	if (in->dec) {
		more = fill_decoded(in);
	} else {
		ssize_t got = read_some(in->fd, in->buf + in->end, in->cap - in->end);
		if (got < 0)
			in->error = strerror(errno);
		if (got <= 0)
			in->eof = true;
		more = got > 0;
		in->end += more ? (size_t)got : 0;
	}
	in->buf[in->end] = 0;
	copy_from(in, had);
	return more;
}

bool input_idle(const struct input *in, int64_t ns)
{
	struct pollfd p = { .fd = in->fd, .events = POLLIN };
	size_t pos = in->pos;
	while (pos < in->end && (in->buf[pos] == '\n' || in->buf[pos] == ' ' || in->buf[pos] == '\r'))
		pos++;
	return pos == in->end && !in->eof && !in->dec && in->fd >= 0 &&
	       poll(&p, 1, ns / 1000000 < 60000 ? (int)(ns / 1000000) : 60000) == 0;
}
