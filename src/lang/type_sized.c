/*
 * type_sized: integers of 8 and 16 bits, and types that wrap.
 *
 * u8 is int[0..255] under another name: storing what does not fit is a fault. `wrap` before a type of integers makes storing
 * take the value modulo the number of values instead, as C does with its unsigned types. Arithmetic is in 32 bits either way,
 * as after C's promotions, and leaving those is a fault.
 */
#include <string.h>

#include "lang/type.h"

static const struct {
	const char *word;
	int32_t min, max;
} sized[] = {
	{ "u8", 0, UINT8_MAX },
	{ "i8", INT8_MIN, INT8_MAX },
	{ "u16", 0, UINT16_MAX },
	{ "i16", INT16_MIN, INT16_MAX },
};

#define SIZED (sizeof sized / sizeof *sized)

const char *sized_word(uint32_t i)
{
	return i < SIZED ? sized[i].word : NULL;
}

bool check_sized_type(struct checker *c, struct type_ref *ty)
{
	if (ty->kind != TY_ENUM || ty->enum_def || !ty->name || c->bound[ty->name])
		return false;
	for (size_t i = 0; i < SIZED; i++)
		if (!strcmp(sized[i].word, name_of(c, ty->name))) {
			ty->kind = TY_INT;
			ty->ranged = true;
			ty->min = sized[i].min;
			ty->max = sized[i].max;
			return true;
		}
	return false;
}

void check_wrap(struct checker *c, struct type_ref *ty)
{
	if (!ty->wrap)
		return;
	if (ty->kind != TY_INT) {
		diag_error(c->d, "type", c->src, ty->wrap_span, "only integers wrap");
	} else if ((int64_t)ty->max - ty->min >= WRAP_MAX) {
		diag_error(c->d, "type", c->src, ty->wrap_span, "only types of at most %d values wrap", WRAP_MAX);
		diag_hint(c->d, "arithmetic is in 32 bits, and leaving them is a fault; use wrap u8, wrap u16 or wrap int[lo..hi]");
	} else {
		return;
	}
	ty->wrap = false;
}
