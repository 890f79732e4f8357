/*
 * finding_filter: specifications of what is atomic, and suppressions.
 *
 * A specification has lines
 *   atomic PATTERN        only what these name is judged
 *   not-atomic PATTERN    these are not blocks; the function around them is
 * A suppression file has lines `kind:PATTERN`, kind being `atomicity` (any
 * frame of the report) or `block` (the block itself), as the sanitizers'; for findings
 * that are not about blocks ThreadSanitizer's `race`, `deadlock` and `mutex` (any frame).
 * Patterns are globs (* and ?) over function names (with or without their
 * parameters), `file.c`, or `file.c:12`. `#` begins a comment.
 */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/diag.h"
#include "base/invariant.h"
#include "report/finding.h"

void filter_init(struct filter *f, struct arena *a)
{
	memset(f, 0, sizeof *f);
	f->arena = a;
}

/* Greedy with one point to go back to: linear for one star, never worse
 * than the product of the lengths. */
bool glob_matches(const char *p, const char *s)
{
	const char *star = NULL, *back = NULL;
	while (*s) {
		if (*p == '*') {
			star = p++;
			back = s;
		} else if (*p == '?' || (*p && *p == *s)) {
			p++;
			s++;
		} else if (star) {
			p = star + 1;
			s = ++back;
		} else {
			return false;
		}
	}
	while (*p == '*')
		p++;
	return !*p;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

static bool file_matches(const char *pattern, const char *file)
{
	char with[4200];
	if (glob_matches(pattern, file) || glob_matches(pattern, base_name(file)))
		return true;
	snprintf(with, sizeof with, "*/%s", pattern);
	return glob_matches(with, file);
}

bool pattern_matches(const char *pattern, const struct src_frame *f)
{
	if (f->function) {
		size_t bare = strcspn(f->function, "(");
		char name[1024];
		snprintf(name, sizeof name, "%.*s", (int)(bare < 1000 ? bare : 1000), f->function);
		if (glob_matches(pattern, f->function) || glob_matches(pattern, name))
			return true;
	}
	if (!f->file)
		return false;
	const char *colon = strrchr(pattern, ':');
	if (colon && colon > pattern && isdigit((unsigned char)colon[1]) && colon[-1] != ':') {
		char file[4096];
		snprintf(file, sizeof file, "%.*s", (int)(colon - pattern), pattern);
		return (uint32_t)atoi(colon + 1) == f->line && file_matches(file, f->file);
	}
	return strchr(pattern, '.') && file_matches(pattern, f->file);
}

static FILE *open_list(const char *path, const char *what, struct buf *err)
{
	FILE *in = fopen(path, "r");
	if (!in)
		buf_printf(err, "intact: cannot read the %s '%s': %s\n", what, path, strerror(errno));
	return in;
}

/* The next line that says something, without its blanks and comment. */
static char *next_line(FILE *in, char *line, int size, uint32_t *no)
{
	assert(size > 1);
	while (fgets(line, size, in)) {
		++*no;
		char *s = line + strspn(line, " \t");
		if (*s == '#')
			continue;
		size_t n = strlen(s);
		while (n && isspace((unsigned char)s[n - 1]))
			s[--n] = 0;
		if (n)
			return s;
	}
	return NULL;
}

bool filter_read_spec(struct filter *f, const char *path, struct buf *err)
{
	char line[4096], *s;
	uint32_t no = 0;
	bool ok = true;
	FILE *in = open_list(path, "specification", err);
	if (!in)
		return false;
	while ((s = next_line(in, line, sizeof line, &no))) {
		size_t n = strcspn(s, " \t");
		char *pat = s + n + strspn(s + n, " \t");
		struct pattern p = { .source = arena_strdup(f->arena, path), .line = no };
		p.text = arena_strdup(f->arena, pat);
		if (n == 6 && !strncmp(s, "atomic", 6) && *pat) {
			avec_push(f->arena, &f->atomic, p);
		} else if (n == 10 && !strncmp(s, "not-atomic", 10) && *pat) {
			avec_push(f->arena, &f->not_atomic, p);
		} else {
			buf_printf(err, "%s:%u:1: error: expected 'atomic PATTERN' or 'not-atomic PATTERN'\n", path, no);
			buf_printf(err, "%8u | %s\n         | ^\n", no, s);
			ok = false;
		}
	}
	fclose(in);
	return ok;
}

bool filter_read_suppressions(struct filter *f, const char *path, struct buf *err)
{
	static const char *const kinds[] = { "atomicity", "block", "race", "deadlock", "mutex" };
	enum { KINDS = sizeof kinds / sizeof *kinds };
	char line[4096], *s;
	uint32_t no = 0;
	bool ok = true;
	FILE *in = open_list(path, "suppression file", err);
	if (!in)
		return false;
	while ((s = next_line(in, line, sizeof line, &no))) {
		char *colon = strchr(s, ':');
		if (colon)
			*colon = 0;
		bool known = false;
		for (unsigned i = 0; colon && i < KINDS; i++)
			known |= !strcmp(s, kinds[i]);
		if (known && colon[1]) {
			struct pattern p = { .source = arena_strdup(f->arena, path), .line = no };
			p.kind = arena_strdup(f->arena, s);
			p.text = arena_strdup(f->arena, colon + 1);
			avec_push(f->arena, &f->suppressions, p);
			continue;
		}
		buf_printf(err,
		           "%s:%u:1: error: expected 'atomicity:PATTERN', 'block:PATTERN', 'race:PATTERN', 'deadlock:PATTERN' or "
		           "'mutex:PATTERN'\n",
		           path, no);
		int near = colon ? nearest_name(s, kinds, KINDS) : -1;
		if (near >= 0 && !known)
			buf_printf(err, "    hint: did you mean '%s:'?\n", kinds[near]);
		ok = false;
	}
	fclose(in);
	return ok;
}
