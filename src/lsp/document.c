#include "lsp/document.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "lang/spec.h"

/* ---- analysis ------------------------------------------------------------------------------- */

static const struct decl *object_of(const struct unit *u)
{
	const struct decl *d = u ? u->decls : NULL;
	while (d && (d->kind != D_OBJECT || !d->name))
		d = d->next;
	return d;
}

/* The object of a specification is not in the tree that was type-checked. */
static const struct decl *lost_object(const struct doc_analysis *a)
{
	return a->has_parsed && !object_of(a->lang.unit) ? object_of(a->parsed.unit) : NULL;
}

static void find_symbols(struct doc_analysis *a)
{
	jmp_buf oom;
	if (setjmp(oom)) {
		a->out_of_memory = true;
		memset(&a->symbols, 0, sizeof a->symbols);
	} else {
		a->arena.oom = &oom;
		symbols_build(&a->symbols, a->lang.unit, lost_object(a), a->len, &a->arena);
	}
	a->arena.oom = NULL;
}

void analysis_of_text(struct doc_analysis *a, const char *name, enum document_language language, const char *text, size_t len)
{
	struct lang_options o = { .sml = language == DOCUMENT_SML };
	memset(a, 0, sizeof *a);
	arena_init(&a->arena, 0);
	lang_init(&a->lang);
	a->len = (uint32_t)len;
	a->done = true;
	if (language == DOCUMENT_SPEC) {
		a->has_parsed = true;
		lang_init(&a->parsed);
		lang_parse_text(&a->parsed, name, text, len, &o);
		lang_load_spec_text(&a->lang, name, text, len);
	} else {
		lang_load_text(&a->lang, name, text, len, &o);
	}
	a->out_of_memory = a->lang.out_of_memory || (a->has_parsed && a->parsed.out_of_memory);
	if (!a->out_of_memory)
		find_symbols(a);
	assert(a->symbols.uses.len == 0 || a->lang.unit);
}

void analysis_free(struct doc_analysis *a)
{
	if (!a->done)
		return;
	lang_free(&a->lang);
	if (a->has_parsed)
		lang_free(&a->parsed);
	arena_free(&a->arena);
	memset(a, 0, sizeof *a);
}

const struct unit *analysis_tree(const struct doc_analysis *a)
{
	return a->out_of_memory ? NULL : a->has_parsed ? a->parsed.unit : a->lang.unit;
}

const struct intern *analysis_names(const struct doc_analysis *a)
{
	return a->has_parsed ? &a->parsed.names : &a->lang.names;
}

/* ---- documents ------------------------------------------------------------------------------ */

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
}

/* file:///a%20b.atm is /a b.atm; anything else is its own name. */
static char *name_of_uri(const char *uri)
{
	static const char scheme[] = "file://";
	if (strncmp(uri, scheme, sizeof scheme - 1))
		return strdup(uri);
	const char *from = uri + sizeof scheme - 1;
	from += strcspn(from, "/"); /* a host */
	char *name = malloc(strlen(from) + 1), *to = name;
	for (; name && *from; from++) {
		int hi = from[0] == '%' ? hex(from[1]) : -1, lo = hi >= 0 ? hex(from[2]) : -1;
		if (lo >= 0 && (hi || lo)) {
			*to++ = (char)(hi * 16 + lo);
			from += 2;
		} else {
			*to++ = *from;
		}
	}
	if (name)
		*to = 0;
	return name;
}

static bool ends_with(const char *s, const char *end)
{
	size_t n = strlen(s), m = strlen(end);
	return n >= m && !strcmp(s + n - m, end);
}

static enum document_language language_of(const char *name, const char *id)
{
	if (ends_with(name, ".atm"))
		return DOCUMENT_ATM;
	if (ends_with(name, ".sml"))
		return DOCUMENT_SML;
	if (ends_with(name, ".spec"))
		return DOCUMENT_SPEC;
	return ends_with(id, "sml") ? DOCUMENT_SML : ends_with(id, "spec") ? DOCUMENT_SPEC : DOCUMENT_ATM;
}

struct document *document_new(const char *uri, const char *language_id)
{
	struct document *d = calloc(1, sizeof *d);
	if (!d)
		return NULL;
	d->uri = strdup(uri);
	d->name = name_of_uri(uri);
	if (!d->uri || !d->name || !text_set(&d->text, "", 0)) {
		document_free(d);
		return NULL;
	}
	d->language = language_of(d->name, language_id);
	return d;
}

static void forget_results(struct document *d)
{
	for (uint32_t i = 0; i < d->nresults; i++) {
		free(d->results[i].block);
		intact_document_free(d->results[i].doc);
	}
	d->nresults = 0;
}

void document_free(struct document *d)
{
	if (!d)
		return;
	analysis_free(&d->now);
	forget_results(d);
	free(d->results);
	text_free(&d->text);
	free(d->uri);
	free(d->name);
	free(d);
}

void document_changed(struct document *d)
{
	analysis_free(&d->now);
	forget_results(d);
	d->dirty = true;
}

const struct doc_analysis *document_analyse(struct document *d)
{
	assert(d->text.bytes.len <= TEXT_MAX);
	if (!d->now.done)
		analysis_of_text(&d->now, d->name, d->language, buf_cstr(&d->text.bytes), d->text.bytes.len);
	return &d->now;
}

void document_add_result(struct document *d, const char *block, struct intact_document *doc)
{
	uint32_t i = 0;
	if (!block)
		forget_results(d);
	while (i < d->nresults && (!d->results[i].block || strcmp(d->results[i].block, block) != 0))
		i++;
	char *copy = block ? strdup(block) : NULL;
	if ((block && !copy) || !GROW(d->results, d->capresults, i + 1ull)) {
		free(copy);
		intact_document_free(doc);
		return;
	}
	if (i < d->nresults) {
		free(d->results[i].block);
		intact_document_free(d->results[i].doc);
	} else {
		d->nresults++;
	}
	d->results[i] = (struct document_result){ copy, doc };
	assert(i < d->nresults && (block || d->nresults == 1));
}
