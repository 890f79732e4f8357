/*
 * fuzz_fmt: the formatter on any text, read as .atm and as .sml. Whatever
 * parses must, formatted, parse to the same tree, and formatting that must
 * change nothing any more.
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

/* Formats; NULL when the text has errors. */
static struct unit *format(const char *text, size_t len, bool sml, struct intern *names,
                           struct arena *a, struct buf *out)
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
	return u;
}

static void check(const char *text, size_t len, bool sml)
{
	struct arena a;
	struct intern names;
	struct buf once, twice;
	arena_init(&a, 0);
	intern_init(&names, &a);
	buf_init(&once);
	buf_init(&twice);
	struct unit *u = format(text, len, sml, &names, &a, &once);
	if (u) {
		struct unit *v = format(buf_cstr(&once), once.len, sml, &names, &a, &twice);
		if (!v || !ast_equal(u, v))
			fail("the tree changed", text, &once);
		if (once.len != twice.len || memcmp(buf_cstr(&once), buf_cstr(&twice), once.len))
			fail("formatting twice differs", buf_cstr(&once), &twice);
	}
	buf_free(&once);
	buf_free(&twice);
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
