/* words: gathered from the tables that the lexer, the parser and the type checker use themselves. */
#include "lang/words.h"

#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "lang/lex.h"
#include "lang/type.h"

static bool found(struct lang_word *w, const char *text, size_t len, enum lang_word_kind kind)
{
	assert(len && len < sizeof w->text);
	memcpy(w->text, text, len);
	w->text[len] = 0;
	w->kind = kind;
	return true;
}

bool lang_word(uint32_t i, bool sml, struct lang_word *w)
{
	const char *t;
	uint32_t n = 0;
	for (; (t = lex_word(n, sml)); n++)
		if (n == i)
			return found(w, t, strlen(t), WORD_RESERVED);
	if (sml)
		return false;
	i -= n;
	if (i <= T_DEFAULT - T_FOR) {
		t = token_text((enum tok)(T_FOR + i)); /* in quotes */
		return found(w, t + 1, strlen(t) - 2, WORD_STATEMENT);
	}
	i -= T_DEFAULT - T_FOR + 1;
	if (!i--)
		return found(w, "struct", strlen("struct"), WORD_TYPE);
	if (!i--)
		return found(w, "wrap", strlen("wrap"), WORD_TYPE);
	for (n = 0; (t = sized_word(n)); n++)
		if (n == i)
			return found(w, t, strlen(t), WORD_TYPE);
	i -= n;
	for (n = 0; (t = sync_type_word(n)); n++)
		if (n == i)
			return found(w, t, strlen(t), WORD_TYPE);
	i -= n;
	if (!i--)
		return found(w, "spurious", strlen("spurious"), WORD_TYPE);
	static const char *const top[] = { "always", "finally", "can", "reach", "ghost", "thread_local", "pool" };
	for (n = 0; n < sizeof top / sizeof *top; n++)
		if (n == i)
			return found(w, top[n], strlen(top[n]), WORD_TYPE);
	i -= n;
	static const char *const values[] = { "inside", "held", "leaked", "null" };
	for (n = 0; n < sizeof values / sizeof *values; n++)
		if (n == i)
			return found(w, values[n], strlen(values[n]), WORD_CALL);
	i -= n;
	for (n = 0; (t = pool_call_word(n)); n++)
		if (n == i)
			return found(w, t, strlen(t), WORD_CALL);
	i -= n;
	t = sync_call_word(i);
	return t && found(w, t, strlen(t), WORD_CALL);
}
