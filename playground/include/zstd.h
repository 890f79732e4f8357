/*
 * zstd.h: what Intact uses of zstd, for WebAssembly. As with zlib.h beside it, no UTF-8 begins as a zstd frame does, so no stream is ever
 * made. States that a checkpoint puts aside stay in memory here and are kept as they are.
 */
#ifndef INTACT_PLAYGROUND_ZSTD_H
#define INTACT_PLAYGROUND_ZSTD_H

#include <stddef.h>
#include <string.h>

typedef struct ZSTD_DStream ZSTD_DStream;
typedef struct {
	const void *src;
	size_t size, pos;
} ZSTD_inBuffer;
typedef struct {
	void *dst;
	size_t size, pos;
} ZSTD_outBuffer;

static inline ZSTD_DStream *ZSTD_createDStream(void)
{
	return NULL;
}

static inline size_t ZSTD_freeDStream(ZSTD_DStream *d)
{
	(void)d;
	return 0;
}

static inline size_t ZSTD_decompressStream(ZSTD_DStream *d, ZSTD_outBuffer *out, ZSTD_inBuffer *in)
{
	(void)d, (void)out, (void)in;
	return (size_t)-1;
}

#define ZSTD_COMPRESSBOUND(n) ((size_t)(n))

static inline size_t ZSTD_compressBound(size_t n)
{
	return n;
}

static inline size_t ZSTD_compress(void *to, size_t room, const void *from, size_t n, int level)
{
	(void)level;
	if (n > room)
		return (size_t)-1;
	memcpy(to, from, n);
	return n;
}

static inline size_t ZSTD_decompress(void *to, size_t room, const void *from, size_t n)
{
	return ZSTD_compress(to, room, from, n, 0);
}

static inline unsigned ZSTD_isError(size_t code)
{
	return code > (size_t)-120;
}

#endif
