/* UTF-8: decoding with every malformed sequence refused, and column widths. */
#ifndef INTACT_BASE_UTF8_H
#define INTACT_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Decodes the character at s (len > 0 bytes there). Returns its length in
 * bytes (1..4), or 0 when the bytes are not UTF-8 (overlong forms, surrogates
 * and values past U+10FFFF included); *cp is set only on success.
 */
unsigned utf8_decode(const char *s, size_t len, uint32_t *cp);
/* How many terminal columns the character takes: 0, 1 or 2. */
unsigned utf8_width(uint32_t cp);
/* Columns of a whole string; an undecodable byte counts as one. */
size_t utf8_columns(const char *s, size_t len);
/* Characters that change how neighbours are shown (bidi overrides etc.). */
int utf8_is_deceptive(uint32_t cp);
/* Writes the encoding of cp to out (4 bytes room); returns its length. */
unsigned utf8_encode(uint32_t cp, char *out);

#endif
