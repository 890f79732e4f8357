#include "event/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/invariant.h"

#define RAW_SIZE ((size_t)256 << 10)

enum codec { PLAIN, ZSTD, GZIP };

struct trace_input {
	int fd;
	bool owns_fd, eof, between; /* between: at a frame's border */
	enum codec codec;
	const char *error;
	size_t raw_pos, raw_len;
	ZSTD_DStream *zstd;
	z_stream gz;
	bool gz_open;
	unsigned char raw[RAW_SIZE];
};

/* Reads more raw bytes after what is there; false at the end. */
static bool fill(struct trace_input *in)
{
	assert(in->raw_pos <= in->raw_len && in->raw_len <= RAW_SIZE);
	if (in->raw_pos == in->raw_len)
		in->raw_pos = in->raw_len = 0;
	if (in->eof || in->raw_len == RAW_SIZE)
		return in->raw_pos < in->raw_len;
	for (;;) {
		ssize_t n = read(in->fd, in->raw + in->raw_len, RAW_SIZE - in->raw_len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			in->error = strerror(errno);
		if (n <= 0) {
			in->eof = true;
			return in->raw_pos < in->raw_len;
		}
		in->raw_len += (size_t)n;
		return true;
	}
}

static bool start_codec(struct trace_input *in, struct why *why)
{
	while (in->raw_len < 4 && !in->eof)
		fill(in);
	const unsigned char *p = in->raw;
	in->between = true;
	if (in->raw_len >= 4 && !memcmp(p, "\x28\xB5\x2F\xFD", 4)) {
		in->codec = ZSTD;
		in->zstd = ZSTD_createDStream();
		why_set(why, "out of memory");
		return in->zstd && !ZSTD_isError(ZSTD_initDStream(in->zstd));
	}
	if (in->raw_len >= 2 && p[0] == 0x1F && p[1] == 0x8B) {
		in->codec = GZIP;
		why_set(why, "out of memory");
		in->gz_open = inflateInit2(&in->gz, 15 + 16) == Z_OK;
		return in->gz_open;
	}
	return true;
}

struct trace_input *trace_input_open(const char *path, struct why *why)
{
	struct trace_input *in = calloc(1, sizeof *in);
	struct stat st;
	why_set(why, "out of memory");
	if (!in)
		return NULL;
	in->owns_fd = strcmp(path, "-") != 0;
	in->fd = in->owns_fd ? open(path, O_RDONLY | O_CLOEXEC) : 0;
	if (in->fd < 0) {
		why_set(why, "%s", strerror(errno));
		free(in);
		return NULL;
	}
	if (fstat(in->fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		why_set(why, "is a directory");
		trace_input_close(in);
		return NULL;
	}
	if (!start_codec(in, why)) {
		trace_input_close(in);
		return NULL;
	}
	return in;
}

void trace_input_close(struct trace_input *in)
{
	if (!in)
		return;
	if (in->owns_fd)
		close(in->fd);
	ZSTD_freeDStream(in->zstd);
	if (in->gz_open)
		inflateEnd(&in->gz);
	free(in);
}

static size_t read_plain(struct trace_input *in, void *to, size_t n)
{
	if (in->raw_pos == in->raw_len && !fill(in))
		return 0;
	size_t have = in->raw_len - in->raw_pos;
	if (n > have)
		n = have;
	memcpy(to, in->raw + in->raw_pos, n);
	in->raw_pos += n;
	return n;
}

static size_t read_zstd(struct trace_input *in, void *to, size_t n)
{
	ZSTD_outBuffer out = { to, n, 0 };
	while (!out.pos) {
		if (in->raw_pos == in->raw_len && !fill(in)) {
			if (!in->between && !in->error)
				in->error = "the zstd stream ends early";
			/* what the decoder still holds */
			ZSTD_inBuffer none = { in->raw, 0, 0 };
			if (!in->between)
				ZSTD_decompressStream(in->zstd, &out, &none);
			return out.pos;
		}
		ZSTD_inBuffer src = { in->raw, in->raw_len, in->raw_pos };
		size_t rc = ZSTD_decompressStream(in->zstd, &out, &src);
		in->raw_pos = src.pos;
		if (ZSTD_isError(rc)) {
			in->error = "the zstd stream is damaged";
			in->eof = true;
			in->raw_pos = in->raw_len;
			in->between = true;
			return out.pos;
		}
		in->between = rc == 0;
	}
	return out.pos;
}

static size_t read_gzip(struct trace_input *in, void *to, size_t n)
{
	in->gz.next_out = to;
	in->gz.avail_out = (uInt)(n < (1u << 30) ? n : 1u << 30);
	size_t want = in->gz.avail_out;
	while (in->gz.avail_out == want) {
		if (in->raw_pos == in->raw_len && !fill(in)) {
			if (!in->between && !in->error)
				in->error = "the gzip stream ends early";
			return 0;
		}
		in->gz.next_in = in->raw + in->raw_pos;
		in->gz.avail_in = (uInt)(in->raw_len - in->raw_pos);
		int rc = inflate(&in->gz, Z_NO_FLUSH);
		in->raw_pos = in->raw_len - in->gz.avail_in;
		in->between = rc == Z_STREAM_END;
		if (rc == Z_STREAM_END)
			inflateReset(&in->gz); /* members may follow */
		else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			in->error = "the gzip stream is damaged";
			in->eof = in->between = true;
			in->raw_pos = in->raw_len;
			break;
		}
	}
	return want - in->gz.avail_out;
}

size_t trace_input_read(struct trace_input *in, void *to, size_t n)
{
	assert(n > 0);
	switch (in->codec) {
	case ZSTD:
		return read_zstd(in, to, n);
	case GZIP:
		return read_gzip(in, to, n);
	default:
		return read_plain(in, to, n);
	}
}

const char *trace_input_error(const struct trace_input *in)
{
	return in->error;
}

const char *trace_input_codec(const struct trace_input *in)
{
	return in->codec == ZSTD ? "zstd" : in->codec == GZIP ? "gzip" : "plain";
}
