/*
 * lang: the front end in one call: text -> tree -> program.
 *
 *     struct lang l;
 *     lang_init(&l);
 *     if (lang_load(&l, "model.atm", &options)) ... l.ir ...
 *     diags_render(&l.diags, ...);   (warnings, or why there is no program)
 *     lang_free(&l);
 *
 * Everything is owned by l and freed with it.
 */
#ifndef INTACT_LANG_H
#define INTACT_LANG_H

#include <stdbool.h>

#include "base/diag.h"
#include "base/intern.h"
#include "ir/ir.h"
#include "lang/ast.h"
#include "lang/lex.h"

struct lang_threads { /* --threads name=n */
	const char *name;
	uint32_t count; /* 0: any, and as many as declared */
	bool any;       /* any number is asked about, though there are so many here */
};

struct lang_options {
	bool keep_dead; /* do not reset dead locals (the reduction switched off) */
	const struct lang_threads *threads;
	uint32_t nthreads;
	int sml;         /* 1: read as SML, 0: as .atm, -1: by the file's ending */
	uint32_t alone1; /* this block's marks alone, the others as if absent: its number + 1; 0: all marks */
};

struct lang {
	struct arena arena;
	struct source src;
	struct diags diags;
	struct intern names;
	struct tokens tokens;
	struct unit *unit;
	const struct ir *ir;
	bool out_of_memory;
};

void lang_init(struct lang *l);
void lang_free(struct lang *l);

/* Reads, parses, checks, lowers. True when l->ir is there. */
bool lang_load(struct lang *l, const char *path, const struct lang_options *o);
/* The same for a text; `name` decides .sml unless o->sml says. */
bool lang_load_text(struct lang *l, const char *name, const char *text, size_t len, const struct lang_options *o);
/*
 * The text of a program once more, with as many threads of each template as `counts` says (NULL: as many as it has), and
 * with the marks of block `alone` only, when that is not IR_NONE: the other blocks' `atomic` and `commit;` are
 * as if absent. Blocks, templates and shared variables have the same numbers in both programs; nodes and
 * frames have not.
 */
bool lang_load_again(struct lang *l, const struct ir *p, uint32_t alone, const uint32_t *counts);
/* Only the tree (l->unit), for the formatter. True when it has no errors. */
bool lang_parse(struct lang *l, const char *path, const struct lang_options *o);
bool lang_parse_text(struct lang *l, const char *name, const char *text, size_t len, const struct lang_options *o);

#endif
