/*
 * Folding, as in "Fast CRC Computation for Generic Polynomials Using PCLMULQDQ
 * Instruction" (Gopal et al., Intel 2009), bits reflected: four lanes of 128 bits
 * are multiplied past 64 bytes and added to the next 64; then the lanes to one,
 * that to 64 bits, and these reduced (Barrett). The constants are powers of x
 * modulo the polynomial (section 5). What is left over at the end, and all of it
 * on other processors, is zlib's to do. Tested against zlib for all short lengths.
 */
#include "event/crc.h"

#include <zlib.h>

#if defined(__x86_64__)
#include <immintrin.h>

enum { LEAST = 64 };

#define CLMUL(a, k, part) _mm_clmulepi64_si128(a, k, part)

__attribute__((target("pclmul,sse4.1"))) static inline __m128i fold(__m128i x, __m128i k, __m128i next)
{
	return _mm_xor_si128(_mm_xor_si128(CLMUL(x, k, 0x00), CLMUL(x, k, 0x11)), next);
}

__attribute__((target("pclmul,sse4.1"))) static inline __m128i load(const unsigned char *p)
{
	return _mm_loadu_si128((const __m128i *)(const void *)p);
}

/* 128 bits to 32. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t reduce(__m128i x, __m128i k34)
{
	const __m128i low = _mm_setr_epi32(-1, 0, -1, 0), k5 = _mm_set_epi64x(0, 0x163cd6124);
	const __m128i poly = _mm_set_epi64x(0x1f7011641, 0x1db710641);
	x = _mm_xor_si128(_mm_srli_si128(x, 8), CLMUL(x, k34, 0x10));
	x = _mm_xor_si128(_mm_srli_si128(x, 4), CLMUL(_mm_and_si128(x, low), k5, 0x00));
	__m128i q = _mm_and_si128(CLMUL(_mm_and_si128(x, low), poly, 0x10), low);
	return (uint32_t)_mm_extract_epi32(_mm_xor_si128(x, CLMUL(q, poly, 0x00)), 1);
}

/* `len` bytes, a multiple of 16 and at least LEAST. */
__attribute__((target("pclmul,sse4.1"))) static uint32_t folded(const unsigned char *p, size_t len)
{
	const __m128i k12 = _mm_set_epi64x(0x1c6e41596, 0x154442bd4);
	const __m128i k34 = _mm_set_epi64x(0x0ccaa009e, 0x1751997d0);
	__m128i a = _mm_xor_si128(load(p), _mm_cvtsi32_si128(-1)), b = load(p + 16);
	__m128i c = load(p + 32), d = load(p + 48);
	for (p += 64, len -= 64; len >= 64; p += 64, len -= 64) {
		a = fold(a, k12, load(p));
		b = fold(b, k12, load(p + 16));
		c = fold(c, k12, load(p + 32));
		d = fold(d, k12, load(p + 48));
	}
	a = fold(fold(fold(a, k34, b), k34, c), k34, d);
	for (; len; p += 16, len -= 16)
		a = fold(a, k34, load(p));
	return ~reduce(a, k34);
}
#endif

uint32_t crc_of(const void *data, size_t len)
{
	const unsigned char *p = data;
	uint32_t crc = 0;
#if defined(__x86_64__)
	if (len >= LEAST && __builtin_cpu_supports("pclmul") && __builtin_cpu_supports("sse4.1")) {
		size_t n = len & ~(size_t)15;
		crc = folded(p, n);
		p += n;
		len -= n;
	}
#endif
	return len ? (uint32_t)crc32_z(crc, p, len) : crc;
}
