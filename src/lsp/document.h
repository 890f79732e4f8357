/*
 * document: an open file: its text, what the front end makes of it, and what checks have found out about it.
 *
 * document_analyse brings everything up to date with the text; readers call it first. Verdicts belong to one text: an edit forgets them.
 */
#ifndef INTACT_LSP_DOCUMENT_H
#define INTACT_LSP_DOCUMENT_H

#include <intact/intact.h>

#include "lang/lang.h"
#include "lsp/symbols.h"
#include "lsp/text.h"

enum document_language { DOCUMENT_ATM, DOCUMENT_SML, DOCUMENT_SPEC };

/* What the front end makes of a text. The text must stay as long as this. */
struct doc_analysis {
	struct lang lang;   /* of a specification: the text that lang/spec.h makes of it, with the same places */
	struct lang parsed; /* of a specification: its tree as written */
	bool has_parsed, done, out_of_memory;
	uint32_t len;
	struct arena arena; /* of the symbols */
	struct doc_symbols symbols;
};

struct document_result { /* of one check */
	char *block;     /* NULL: of the whole model */
	struct intact_document *doc;
};

struct document {
	char *uri;
	char *name; /* the path, or the URI when it is of no file */
	enum document_language language;
	int64_t version;
	bool has_version;
	bool dirty;     /* changed since its diagnostics were published */
	bool too_large; /* not kept: TEXT_MAX */
	struct doc_text text;
	struct doc_analysis now;
	struct document_result *results;
	uint32_t nresults, capresults;
};

/* `languageId` decides when the file's ending does not. NULL: out of memory. */
struct document *document_new(const char *uri, const char *language_id);
void document_free(struct document *d);
/* The text is another: analysis and verdicts are forgotten. */
void document_changed(struct document *d);
const struct doc_analysis *document_analyse(struct document *d);
/* Takes `doc` over, in place of an earlier result of the same question. */
void document_add_result(struct document *d, const char *block, struct intact_document *doc);

void analysis_of_text(struct doc_analysis *a, const char *name, enum document_language language, const char *text, size_t len);
void analysis_free(struct doc_analysis *a);
/* The tree as it is written. */
const struct unit *analysis_tree(const struct doc_analysis *a);
const struct intern *analysis_names(const struct doc_analysis *a);

#endif
