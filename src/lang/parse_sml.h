/*
 * parse_sml: what the two halves of the SML parser share: statements and
 * definitions (parse_sml.c), expressions (parse_sml_expr.c).
 */
#ifndef INTACT_LANG_PARSE_SML_H
#define INTACT_LANG_PARSE_SML_H

#include "lang/parse.h"

enum sml_name { SML_FREE, SML_GLOBAL, SML_LOCK, SML_REPORTED };

struct sml {
	struct parser p;
	struct unit *unit;
	uint8_t *kind;       /* enum sml_name, by name id */
	uint32_t *seen;      /* the thread a local was last seen in, by name id */
	uint32_t thread;     /* number of the thread being read, from 1 */
	uint32_t parens;     /* open parentheses: there || cannot end a thread */
	struct decl **local; /* where the thread's next local is linked */
};

/* e | b of Fig. 2. What it is was checked below, not at the top: callers say
 * which of the two they need. */
struct expr *sml_expr(struct sml *s);
/* Reports an expression that is not a number (a boolean). */
void sml_need_number(struct sml *s, const struct expr *e);
void sml_need_bool(struct sml *s, const struct expr *e);
/* A variable at the cursor: a global that is declared, or a local, declared
 * here if the thread has not used it before. E_ERROR after a message. */
struct expr *sml_variable(struct sml *s);
/* "did you mean", among the declared names of one type; false if none. */
bool sml_suggest(struct sml *s, name_id name, enum type_kind type);

#endif
