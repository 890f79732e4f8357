/*
 * varint: numbers in few bytes, for binary formats; also in the
 * runtime, which has no library.
 *
 * A varint is seven bits per byte, the lowest first; all bytes but the last
 * have the highest bit. A difference is zigzag-coded first, so that small ones
 * of either sign are short. A cursor that is asked for more than there is, or
 * for a number of over ten bytes, is `bad` from then on.
 */
#ifndef INTACT_BASE_VARINT_H
#define INTACT_BASE_VARINT_H

#include <stdbool.h>
#include <stdint.h>

static inline unsigned char *put_varint(unsigned char *s, uint64_t v)
{
	while (v >= 0x80) {
		*s++ = (unsigned char)(v | 0x80);
		v >>= 7;
	}
	*s++ = (unsigned char)v;
	return s;
}

static inline uint64_t zigzag(uint64_t now, uint64_t before)
{
	uint64_t d = now - before;
	return d << 1 ^ (uint64_t)((int64_t)d >> 63);
}

static inline uint64_t unzigzag(uint64_t z, uint64_t before)
{
	return before + (z >> 1 ^ (0 - (z & 1)));
}

struct cursor {
	const unsigned char *p, *end;
	bool bad;
};

static inline uint64_t get_varint(struct cursor *c)
{
	uint64_t v = 0;
	for (unsigned shift = 0; shift < 64 && c->p < c->end; shift += 7) {
		unsigned char b = *c->p++;
		v |= (uint64_t)(b & 0x7f) << shift;
		if (!(b & 0x80))
			return v;
	}
	c->bad = true;
	return 0;
}

static inline unsigned get_byte(struct cursor *c)
{
	if (c->p < c->end)
		return *c->p++;
	c->bad = true;
	return 0;
}

#endif
