/*
 * symbols: where a model declares and uses its names, read off the tree that the type checker has completed.
 *
 * `uses` has every occurrence of a name in the text once, in the order of the text, with the declaration it means (NULL: none is known,
 * or it is a primitive). `visible` has, for each declaration, the part of the text in which its name can be used (an inner declaration
 * of the same name hides it there). `blocks` are the atomic blocks. All memory is the arena's; linear in the tree, except for the sorting.
 */
#ifndef INTACT_LSP_SYMBOLS_H
#define INTACT_LSP_SYMBOLS_H

#include "base/arena.h"
#include "lang/ast.h"

enum use_kind { USE_DECLARES, USE_READS, USE_WRITES, USE_CALLS, USE_TYPE, USE_LABEL };

struct use {
	struct span span;
	const struct decl *decl;
	enum use_kind kind;
	uint32_t declared; /* the number of the occurrence that declares it; UINT32_MAX: none in the text */
};

struct visible {
	const struct decl *decl;
	struct span in;
};

struct doc_symbols {
	struct arena *arena;
	AVEC(struct use) uses;
	AVEC(struct visible) visible;
	AVEC(const struct stmt *) blocks;
};

/* `extra`: a declaration that is not in the tree, or NULL; `len`: of the text; what is behind it (specifications, lang/spec.h) is left out. */
void symbols_build(struct doc_symbols *s, const struct unit *u, const struct decl *extra, uint32_t len, struct arena *a);
/* The occurrence that contains the offset, or ends at it; NULL: none. */
const struct use *symbols_at(const struct doc_symbols *s, uint32_t offset);

#endif
