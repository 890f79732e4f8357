/*
 * line: see line.h. The options are those that gcc and clang share, as
 * far as they decide what is compiled and linked; all others pass unseen.
 */
#include "cc/line.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

void args_add(struct args *a, const char *s)
{
	assert(s && a->n <= a->cap);
	if (a->n + 1 >= a->cap) {
		a->cap = a->cap ? a->cap * 2 : 64;
		a->v = realloc(a->v, a->cap * sizeof *a->v);
		if (!a->v)
			abort();
	}
	a->v[a->n++] = strdup(s);
	a->v[a->n] = NULL;
	assert(a->n < a->cap && !a->v[a->n]);
}

void args_addf(struct args *a, const char *fmt, const char *s)
{
	char line[PATH_MAX + 64];
	snprintf(line, sizeof line, fmt, s);
	args_add(a, line);
}

const char *const foreign_sanitizers[NFOREIGN] = { "address",        "hwaddress",        "leak",         "memory", "dataflow",
	                                           "kernel-address", "kernel-hwaddress", "kernel-memory" };

void args_free(struct args *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->v[i]);
	free(a->v);
	*a = (struct args){ 0 };
}

static bool ends(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);
	return n > m && !strcmp(s + n - m, suffix);
}

bool line_is_source(const char *s)
{
	static const char *const suffixes[] = { ".c",   ".i", ".cc", ".cp", ".cxx", ".cpp", ".CPP",
		                                ".c++", ".C", ".ii", ".m",  ".mm",  NULL };
	for (int i = 0; suffixes[i]; i++)
		if (ends(s, suffixes[i]))
			return true;
	return false;
}

static bool is_header(const char *s)
{
	static const char *const suffixes[] = { ".h", ".H", ".hpp", ".HPP", ".hh", ".hp", ".hxx", ".h++", ".tcc", NULL };
	for (int i = 0; suffixes[i]; i++)
		if (ends(s, suffixes[i]))
			return true;
	return false;
}

/* Options whose value is the next word. */
bool line_takes_value(const char *s)
{
	assert(s);
	static const char *const names[] = { "-o",
		                             "-I",
		                             "-L",
		                             "-D",
		                             "-U",
		                             "-l",
		                             "-include",
		                             "-imacros",
		                             "-isystem",
		                             "-iquote",
		                             "-idirafter",
		                             "-iprefix",
		                             "-isysroot",
		                             "-MF",
		                             "-MT",
		                             "-MQ",
		                             "-Xlinker",
		                             "-Xassembler",
		                             "-Xpreprocessor",
		                             "-Xclang",
		                             "-mllvm",
		                             "-T",
		                             "-u",
		                             "-z",
		                             "-arch",
		                             "-target",
		                             "--param",
		                             "-aux-info",
		                             "-dumpbase",
		                             "-wrapper",
		                             "-specs",
		                             "-B",
		                             "-framework",
		                             "-e",
		                             "-h",
		                             "-soname",
		                             NULL };
	for (int i = 0; names[i]; i++)
		if (!strcmp(s, names[i]))
			return true;
	return false;
}

static void look_at_file(struct task *t, const char *path, int depth);

/* A file, with the language that -x gave. */
static void look_at_input(struct task *t, const char *s, const char *lang)
{
	if (lang && !strcmp(lang, "none"))
		lang = NULL;
	bool assembler = lang && !strncmp(lang, "assembler", 9);
	bool header = lang ? ends(lang, "-header") : is_header(s);
	t->input = true;
	t->header |= header;
	t->other |= !header;
	/* Standard input without a language is C, and only to be preprocessed. */
	t->source |= lang ? !assembler : header || line_is_source(s) || !strcmp(s, "-");
}

/* The list of -fsanitize= or -fno-sanitize=. */
static void look_at_sanitizers(struct task *t, const char *list, bool on)
{
	while (*list) {
		size_t n = strcspn(list, ",");
		assert(n <= strlen(list));
		bool all = n == 3 && !strncmp(list, "all", 3);
		if (all || (n == 6 && !strncmp(list, "thread", 6))) {
			t->thread = on;
			t->off = !on;
		}
		for (unsigned i = 0; i < NFOREIGN; i++)
			if (all || (n == strlen(foreign_sanitizers[i]) && !strncmp(list, foreign_sanitizers[i], n)))
				t->sanitizers = on ? t->sanitizers | 1u << i : t->sanitizers & ~(1u << i);
		list += n + (list[n] != 0);
	}
}

static void look_at(struct task *t, const char *s, const char *value, const char **lang)
{
	assert(s && lang);
	if (s[0] != '-' || !s[1]) {
		look_at_input(t, s, *lang);
		return;
	}
	if (!strcmp(s, "-c") || !strcmp(s, "-S") || !strcmp(s, "-E") || !strcmp(s, "-M") || !strcmp(s, "-MM") ||
	    !strcmp(s, "-fsyntax-only") || !strcmp(s, "--precompile") || !strcmp(s, "-emit-ast"))
		t->no_link = true;
	else if (!strcmp(s, "-shared") || !strcmp(s, "--shared"))
		t->shared = true;
	else if (!strcmp(s, "-r") || !strcmp(s, "-Wl,-r") || !strcmp(s, "-Wl,--relocatable"))
		t->relocatable = true;
	else if (!strcmp(s, "-static") || !strcmp(s, "--static") || !strcmp(s, "-static-pie"))
		t->is_static = true;
	else if (!strcmp(s, "-nostdlib") || !strcmp(s, "-nodefaultlibs") || !strcmp(s, "-nolibc"))
		t->no_lib = true;
	else if (!strcmp(s, "-x"))
		*lang = value;
	else if (!strncmp(s, "-x", 2) && s[2])
		*lang = s + 2;
	else if (!strncmp(s, "-g", 2) && strcmp(s, "-g0") != 0)
		t->debug = true;
	else if (!strncmp(s, "-O", 2))
		t->optimised = strcmp(s, "-O0") != 0;
	else if (!strncmp(s, "-fsanitize=", 11))
		look_at_sanitizers(t, s + 11, true);
	else if (!strncmp(s, "-fno-sanitize=", 14))
		look_at_sanitizers(t, s + 14, false);
	else if (!strcmp(s, "-m32") || !strcmp(s, "-mx32") || !strcmp(s, "-m16"))
		t->narrow = true;
	else if (!strcmp(s, "-m64"))
		t->narrow = false;
	else if (!strncmp(s, "-l", 2))
		t->input = t->other = true;
}

static void look(struct task *t, char **v, int n, int depth)
{
	assert(n >= 0 && depth <= 9);
	const char *lang = NULL;
	for (int i = 0; i < n; i++) {
		if (v[i][0] == '@' && depth < 8) {
			look_at_file(t, v[i] + 1, depth + 1);
			continue;
		}
		look_at(t, v[i], i + 1 < n ? v[i + 1] : NULL, &lang);
		if ((line_takes_value(v[i]) || !strcmp(v[i], "-x")) && i + 1 < n)
			i++;
	}
}

/* @file: words split at blanks, quotes and backslashes as the compilers do. */
static void look_at_file(struct task *t, const char *path, int depth)
{
	struct args a = { 0 };
	FILE *f = fopen(path, "r");
	if (!f)
		return; /* the compiler will say so */
	char word[PATH_MAX];
	size_t n = 0;
	int c, quote = 0;
	bool any = false;
	while ((c = getc(f)) != EOF) {
		if (!quote && (c == ' ' || c == '\n' || c == '\t' || c == '\r')) {
			word[n] = 0;
			if (any)
				args_add(&a, word);
			n = 0;
			any = false;
			continue;
		}
		any = true;
		if (c == '\\') {
			c = getc(f);
			if (c == EOF)
				break;
		} else if (quote ? c == quote : c == '"' || c == '\'') {
			quote = quote ? 0 : c;
			continue;
		}
		if (n + 1 < sizeof word)
			word[n++] = (char)c;
	}
	word[n] = 0;
	if (any)
		args_add(&a, word);
	fclose(f);
	if (a.n)
		look(t, a.v, (int)a.n, depth);
	args_free(&a);
}

void task_look(struct task *t, char **v, int n)
{
	assert(n >= 0 && (!n || v));
	look(t, v, n, 0);
}
