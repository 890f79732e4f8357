/*
 * zlib.h: what Intact uses of zlib, for WebAssembly. The checksum is whole. Nothing is decompressed: a text of the playground is UTF-8,
 * and no UTF-8 begins with gzip's two bytes, so the decoder of history/input.c is never started; if it were, it would fail.
 */
#ifndef INTACT_PLAYGROUND_ZLIB_H
#define INTACT_PLAYGROUND_ZLIB_H

#include <stddef.h>
#include <stdint.h>

typedef unsigned int uInt;
typedef struct {
	const unsigned char *next_in;
	unsigned char *next_out;
	uInt avail_in, avail_out;
} z_stream;
enum { Z_OK = 0, Z_STREAM_END = 1, Z_STREAM_ERROR = -2, Z_BUF_ERROR = -5, Z_NO_FLUSH = 0 };

static inline int inflateInit2(z_stream *z, int bits)
{
	(void)z, (void)bits;
	return Z_STREAM_ERROR;
}

static inline int inflateReset2(z_stream *z, int bits)
{
	(void)z, (void)bits;
	return Z_STREAM_ERROR;
}

static inline int inflate(z_stream *z, int flush)
{
	(void)z, (void)flush;
	return Z_STREAM_ERROR;
}

static inline int inflateEnd(z_stream *z)
{
	(void)z;
	return Z_OK;
}

/* IEEE, bit by bit: it is asked about some hundred bytes. */
static inline unsigned long crc32_z(unsigned long start, const unsigned char *p, size_t n)
{
	uint32_t c = ~(uint32_t)start;
	for (; n; n--) {
		c ^= *p++;
		for (int k = 0; k < 8; k++)
			c = c >> 1 ^ (0xEDB88320u & -(c & 1));
	}
	return (uint32_t)~c;
}

#endif
