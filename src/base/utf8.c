#include "base/utf8.h"

#include "base/invariant.h"

unsigned utf8_decode(const char *s, size_t len, uint32_t *cp)
{
	assert(len > 0);
	const unsigned char *p = (const unsigned char *)s;
	unsigned n;
	uint32_t c, min;
	if (p[0] < 0x80) {
		*cp = p[0];
		return 1;
	}
	if (p[0] >= 0xC2 && p[0] <= 0xDF)
		n = 2, c = p[0] & 0x1Fu, min = 0x80;
	else if (p[0] >= 0xE0 && p[0] <= 0xEF)
		n = 3, c = p[0] & 0x0Fu, min = 0x800;
	else if (p[0] >= 0xF0 && p[0] <= 0xF4)
		n = 4, c = p[0] & 0x07u, min = 0x10000;
	else
		return 0;
	if (len < n)
		return 0;
	for (unsigned i = 1; i < n; i++) {
		if ((p[i] & 0xC0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3Fu);
	}
	if (c < min || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
		return 0;
	assert(c >= 0x80 && n >= 2 && n <= 4);
	*cp = c;
	return n;
}

unsigned utf8_encode(uint32_t cp, char *out)
{
	assert(cp <= 0x10FFFF);
	if (cp < 0x80) {
		out[0] = (char)cp;
		return 1;
	}
	if (cp < 0x800) {
		out[0] = (char)(0xC0 | cp >> 6);
		out[1] = (char)(0x80 | (cp & 0x3F));
		return 2;
	}
	if (cp < 0x10000) {
		out[0] = (char)(0xE0 | cp >> 12);
		out[1] = (char)(0x80 | (cp >> 6 & 0x3F));
		out[2] = (char)(0x80 | (cp & 0x3F));
		return 3;
	}
	out[0] = (char)(0xF0 | cp >> 18);
	out[1] = (char)(0x80 | (cp >> 12 & 0x3F));
	out[2] = (char)(0x80 | (cp >> 6 & 0x3F));
	out[3] = (char)(0x80 | (cp & 0x3F));
	return 4;
}

unsigned utf8_width(uint32_t c)
{
	if ((c >= 0x0300 && c <= 0x036F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F) || c == 0xFEFF)
		return 0;
	if ((c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
	    (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
	    (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD))
		return 2;
	return 1;
}

size_t utf8_columns(const char *s, size_t len)
{
	size_t cols = 0;
	for (size_t i = 0; i < len;) {
		uint32_t cp;
		unsigned n = utf8_decode(s + i, len - i, &cp);
		cols += n ? utf8_width(cp) : 1;
		i += n ? n : 1;
	}
	assert(cols <= 2 * len);
	return cols;
}

int utf8_is_deceptive(uint32_t c)
{
	return (c >= 0x200B && c <= 0x200F) || (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x2069) || c == 0xFEFF ||
	       c == 0x061C || (c >= 0x80 && c < 0xA0) || c == 0x2028 || c == 0x2029;
}
