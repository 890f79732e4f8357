/* words: the words of the language, for completion in editors and for the tests of their keyword lists. */
#ifndef INTACT_LANG_WORDS_H
#define INTACT_LANG_WORDS_H

#include <stdbool.h>
#include <stdint.h>

enum lang_word_kind {
	WORD_RESERVED,  /* never a name */
	WORD_STATEMENT, /* a word only where such a statement begins */
	WORD_TYPE,      /* of a synchronisation object, unless the model declares the name */
	WORD_CALL,      /* on a synchronisation object, likewise */
};

struct lang_word {
	char text[24];
	enum lang_word_kind kind;
};

/* The word number i, from 0; false after the last. */
bool lang_word(uint32_t i, bool sml, struct lang_word *w);

#endif
