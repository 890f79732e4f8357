/*
 * txn_follow: see txn_follow.h.
 *
 * The text is kept, and beginnings of it are judged as recorded histories are, so that every answer is the one of the same lines in a file.
 * What a beginning violates every longer one violates, as long as writes stand in the invocations: it is enough to judge when nothing is there to
 * read, and when the text has doubled; the line that made the difference is found by bisection. Cost: a logarithm of the lines times that
 * of the recorded history at most, twice it when all comes at once and holds. Memory: the text, and what one judgement takes.
 */
#include "judge/txn_follow.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/console.h"
#include "base/invariant.h"

#define FIRST_LOOK ((size_t)64 << 10) /* bytes, while text keeps coming */

struct txn_follower {
	struct reader *r;
	struct buf text;
	size_t *ends; /* of records that end a line */
	size_t nends, cap, seen;
	txn_beginning *judge;
	void *arg;
	int state; /* of the first `known` records: EXIT_HOLDS or EXIT_UNKNOWN */
	size_t known;
	int64_t cost; /* of the last look, in ns */
};

/* The window goes behind the text. False: out of memory. */
static bool take(struct txn_follower *f)
{
	struct input *in = &f->r->in;
	buf_add(&f->text, in->buf + in->pos, in->end - in->pos);
	in->pos = in->end;
	return !f->text.failed;
}

/* Lines that end a record; with `last`, also the end of the text. */
static bool find_ends(struct txn_follower *f, bool last)
{
	const char *text = buf_cstr(&f->text);
	for (size_t i = f->seen; i < f->text.len; i++) {
		if (text[i] != '\n' && !(last && i + 1 == f->text.len))
			continue;
		size_t e = i + 1;
		while (e > f->seen && strchr(" \t\r\n,", text[e - 1]))
			e--;
		bool ends = e > f->seen && text[e - 1] == '}';
		if (!ends && !(last && i + 1 == f->text.len))
			continue;
		if (f->nends == f->cap) {
			size_t cap = f->cap ? 2 * f->cap : 1024, *p = reallocarray(f->ends, cap, sizeof *p);
			if (!p)
				return false;
			f->ends = p;
			f->cap = cap;
		}
		f->ends[f->nends++] = f->seen = i + 1;
	}
	return true;
}

/* The number of the last line of the first n records. */
static uint32_t line_of(const struct txn_follower *f, size_t n)
{
	const char *p = buf_cstr(&f->text), *end = p + f->ends[n - 1] - 1;
	uint32_t line = 1;
	while ((p = memchr(p, '\n', (size_t)(end - p))) != NULL) {
		p++;
		line++;
	}
	return line;
}

static int look(struct txn_follower *f, size_t n)
{
	double start = clock_seconds();
	int rc = f->judge(f->arg, buf_cstr(&f->text), f->ends[n - 1], 0, false);
	f->cost = (int64_t)(1e9 * (clock_seconds() - start));
	return rc;
}

/* The least number of records above `known` that is judged other than what is known. Before the first transaction nothing is wrong. */
static size_t first_other(struct txn_follower *f, size_t bad, int *rc)
{
	size_t good = f->known;
	while (bad - good > 1) {
		size_t mid = good + (bad - good) / 2;
		int x = look(f, mid);
		bool same = x == f->state || x == EXIT_USAGE || (f->state == EXIT_UNKNOWN && x != EXIT_VIOLATED);
		if (same) {
			good = mid;
		} else {
			bad = mid;
			*rc = x;
		}
	}
	return bad;
}

/* All records that are there. EXIT_HOLDS: go on; else what to end with, told. */
static int judge_all(struct txn_follower *f)
{
	size_t n = f->nends;
	int rc = look(f, n);
	if (rc == EXIT_USAGE || rc == EXIT_INTERNAL) {
		bool nothing = f->r->in.eof ? false : !strstr(buf_cstr(&f->text), "invoke");
		return nothing ? EXIT_HOLDS : f->judge(f->arg, buf_cstr(&f->text), f->ends[n - 1], 0, true);
	}
	if (f->state == EXIT_HOLDS && rc != EXIT_HOLDS) {
		int first = rc;
		size_t at = first_other(f, n, &first);
		if (first == EXIT_VIOLATED)
			return f->judge(f->arg, buf_cstr(&f->text), f->ends[at - 1], line_of(f, at), true);
		f->state = EXIT_UNKNOWN;
		f->known = at;
	}
	if (f->state == EXIT_UNKNOWN && rc == EXIT_VIOLATED) {
		size_t at = first_other(f, n, &rc);
		return f->judge(f->arg, buf_cstr(&f->text), f->ends[at - 1], line_of(f, at), true);
	}
	f->known = n;
	return EXIT_HOLDS;
}

/* Is it time to look? */
static bool due(const struct txn_follower *f)
{
	size_t had = f->known ? f->ends[f->known - 1] : 0, now = f->nends ? f->ends[f->nends - 1] : 0;
	if (f->nends == f->known)
		return false;
	return f->r->in.eof || (now > FIRST_LOOK && now / 2 >= had) || input_idle(&f->r->in, f->cost);
}

static int follow_text(struct txn_follower *f, struct diags *d)
{
	struct input *in = &f->r->in;
	for (;;) {
		if (!take(f) || !find_ends(f, in->eof))
			return EXIT_INTERNAL;
		int rc = due(f) ? judge_all(f) : EXIT_HOLDS;
		if (rc != EXIT_HOLDS)
			return rc;
		if (in->eof)
			break;
		input_fill(in);
		if (in->error) {
			diag_error(d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", in->name, in->error);
			return EXIT_USAGE;
		}
	}
	return f->judge(f->arg, buf_cstr(&f->text), f->text.len, 0, true);
}

int txn_follow(struct reader *r, txn_beginning *judge, void *arg, struct diags *d)
{
	struct txn_follower f = { .r = r, .judge = judge, .arg = arg, .state = EXIT_HOLDS };
	const char *p = r->in.buf + r->in.pos;
	p += strspn(p, " \t\r\n");
	if ((r->format != FORMAT_EDN && r->format != FORMAT_JSON) || *p == '[' || *p == '(') {
		diag_error(
			d, "not-events", NULL, (struct span){ 0, 0 },
			"%s: --follow needs invocations and answers of transactions as they happen: EDN or JSON, a record a line",
			r->in.name);
		diag_hint(d, "without --follow the whole history is checked");
		return EXIT_USAGE;
	}
	buf_init(&f.text);
	int rc = follow_text(&f, d);
	buf_free(&f.text);
	free(f.ends);
	return rc;
}
