/*
 * fuzz_fmt: the formatter on any text, read as .atm and as .sml. Whatever
 * parses must, formatted, parse to the same tree with the same comments, and
 * formatting that must change nothing any more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lang/fmt.h"
#include "lang/parse.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fail(const char *what, const char *before, const struct buf *after)
{
	fprintf(stderr, "fuzz_fmt: %s\n--- before\n%s\n--- after\n%s\n", what, before,
	        buf_cstr(after));
	abort();
}

/* All comments in order, without white space. */
static void comments(const struct source *src, const struct tokens *toks, struct buf *out)
{
	for (uint32_t i = 0; i < toks->ncomments; i++) {
		for (uint32_t k = toks->comments[i].start; k < toks->comments[i].end; k++)
			if (!memchr(" \t\r\n", src->text[k], 4))
				buf_char(out, src->text[k]);
		buf_char(out, '\n');
	}
}

/* Formats; NULL when the text has errors. */
static struct unit *format(const char *text, size_t len, bool sml, struct intern *names,
                           struct arena *a, struct buf *out, struct buf *coms)
{
	struct diags d;
	struct source *src = arena_new(a, struct source);
	struct tokens toks;
	diags_init(&d, a);
	source_from_text(src, a, "input", text, len);
	struct unit *u = sml ? parse_sml(src, names, a, &d, &toks)
	                     : parse_atm(src, names, a, &d, &toks);
	if (d.errors)
		return NULL;
	fmt_unit(u, &toks, a, out);
	comments(src, &toks, coms);
	return u;
}

static void check(const char *text, size_t len, bool sml)
{
	struct arena a;
	struct intern names;
	struct buf once, twice, coms1, coms2;
	arena_init(&a, 0);
	intern_init(&names, &a);
	buf_init(&once);
	buf_init(&twice);
	buf_init(&coms1);
	buf_init(&coms2);
	struct unit *u = format(text, len, sml, &names, &a, &once, &coms1);
	if (u) {
		struct unit *v = format(buf_cstr(&once), once.len, sml, &names, &a, &twice,
		                        &coms2);
		if (!v || !ast_equal(u, v))
			fail("the tree changed", text, &once);
		if (once.len != twice.len || memcmp(buf_cstr(&once), buf_cstr(&twice), once.len))
			fail("formatting twice differs", buf_cstr(&once), &twice);
		if (coms1.len != coms2.len || memcmp(buf_cstr(&coms1), buf_cstr(&coms2), coms1.len))
			fail("the comments changed", text, &once);
	}
	buf_free(&once);
	buf_free(&twice);
	buf_free(&coms1);
	buf_free(&coms2);
	arena_free(&a);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return 0;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	check(text, size, false);
	check(text, size, true);
	free(text);
	return 0;
}
