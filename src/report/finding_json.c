/*
 * finding_json: a finding as a result of a document (docs/json.md), from which
 * its text is made, too; and the source lines around its places.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/source.h"
#include "event/finding.h"
#include "report/finding_int.h"

enum { AROUND = 4, MAX_LINES = 4000, MAX_FILE = 8 << 20 };

/* As people name it: relative to where the program was run from. */
static const char *name_of(struct writer *w, const char *file)
{
	const char *root = w->o->json->root, *f = finding_file(w, file);
	size_t n = root ? strlen(root) : 0;
	if (f == file && n > 1 && !strncmp(file, root, n) && file[n] == '/')
		return file + n + 1;
	return f;
}

void finding_frames(struct writer *w, const struct src_frame *v, uint32_t n)
{
	assert(n <= FINDING_MAX_FRAMES);
	struct finding_log *log = w->o->json;
	struct json_out *j = &log->j;
	json_begin_array(j, "stack");
	for (uint32_t i = 0; i < n; i++) {
		const struct src_frame *f = &v[i];
		const char *slash = strrchr(f->module, '/');
		json_begin_object(j, NULL);
		json_text(j, "module", slash ? slash + 1 : f->module);
		json_uint(j, "offset", f->offset);
		json_text_if(j, "function", f->function);
		json_text_if(j, "file", f->file ? name_of(w, f->file) : NULL);
		if (f->file && f->line)
			json_uint(j, "line", f->line);
		if (f->file && f->line && f->column)
			json_uint(j, "column", f->column);
		json_flag(j, "system", f->system);
		json_end(j);
		if (f->file && !f->system && f->line && log->lines.len < MAX_LINES) {
			struct finding_line at = { f->file, name_of(w, f->file), f->line };
			avec_push(log->arena, &log->lines, at);
		}
	}
	json_end(j);
}

static void put_access(struct writer *w, const struct raw_finding *f, const char *key, const char *what,
                       const struct raw_locks *locks, const struct src_frame *v, uint32_t n)
{
	struct json_out *j = &w->o->json->j;
	json_line(j, 2);
	json_begin_object(j, key);
	json_text(j, "what", what);
	if (locks) {
		json_begin_array(j, "held");
		for (uint32_t i = 0; i < locks->n; i++)
			json_text(j, NULL, finding_lock(w, f, locks->v[i].id, locks->v[i].addr));
		json_end(j);
	}
	finding_frames(w, v, n);
	json_end(j);
}

/* A text that is made in a buffer, without the indent and line end. */
static const char *trimmed(struct writer *w, struct buf *b)
{
	size_t from = strspn(buf_cstr(b), " "), len = b->len;
	while (len > from && (b->data[len - 1] == '\n' || b->data[len - 1] == ' '))
		len--;
	const char *s = arena_strndup(w->arena, buf_cstr(b) + from, len - from);
	buf_free(b);
	return s;
}

static const char *sentence(struct writer *w, const struct view *v)
{
	struct buf b;
	buf_init(&b);
	finding_sentence(w, v, &b);
	return trimmed(w, &b);
}

/* The other gaps of the block. */
static void also(struct writer *w, const struct view *v)
{
	struct json_out *j = &w->o->json->j;
	if (!v->more)
		return;
	json_begin_array(j, "also");
	for (const struct view *m = v->more; m; m = m->more) {
		struct buf b;
		symbols_use(w->sym, m->report);
		symbols_of(w->sym, m->f);
		buf_init(&b);
		buf_str(&b, "Also b");
		finding_gap(w, m, &b);
		buf_printf(&b, "(%s%s).", finding_violation(w, m), m->f->confirmed ? ", confirmed" : "");
		json_text(j, NULL, trimmed(w, &b));
	}
	symbols_use(w->sym, v->report);
	symbols_of(w->sym, v->f);
	json_end(j);
}

/* Who it was is known, its place is not: a sentence; NULL: there is nothing to say. */
static const char *unplaced(struct writer *w, const struct view *v, const char *other)
{
	const struct raw_finding *f = v->f;
	if (v->oacquire.n || v->owrite.n)
		return NULL;
	if (f->violation_op == OP_JOIN && f->confirmed)
		return arena_printf(w->arena, "Meanwhile %s ran; this block waited for its end.", other);
	if (f->kind == FIND_RACE || f->kind == FIND_MARKED)
		return arena_printf(w->arena, "Meanwhile %s %s (the place was not recorded: it was the only user at that time).",
		                    other, finding_other(v));
	return NULL;
}

void finding_threads_json(struct writer *w, const struct raw_finding *f)
{
	struct json_out *j = &w->o->json->j;
	struct stacks *s = malloc(sizeof *s);
	json_line(j, 2);
	json_begin_array(j, "threads");
	for (uint32_t i = 0; s && i < f->threads.len; i++) {
		const struct raw_thread *t = &f->threads.data[i];
		bool again = false;
		for (uint32_t k = 0; k < i; k++)
			again |= f->threads.data[k].uid == t->uid;
		finding_resolve(w, s, &t->created);
		if (again || !s->n)
			continue;
		json_begin_object(j, NULL);
		json_text(j, "name", finding_thread(w, t->uid));
		json_text(j, "parent", finding_thread(w, t->parent));
		finding_frames(w, s->v, s->n);
		json_end(j);
	}
	json_end(j);
	free(s);
}

void finding_hidden_json(struct writer *w, const struct pattern *by, bool known, uint32_t known_line)
{
	struct json_out *j = &w->o->json->j;
	if (by) {
		json_begin_object(j, "suppressed");
		json_text(j, "by", arena_printf(w->arena, "%s:%s", by->kind, by->text));
		json_text(j, "file", by->source ? by->source : "");
		json_uint(j, "line", by->line);
		json_end(j);
	}
	if (known && !by) {
		json_begin_object(j, "baseline");
		json_text(j, "file", w->baseline->path);
		if (known_line)
			json_uint(j, "line", known_line);
		json_end(j);
	}
}

void finding_json(struct writer *w, const struct view *v, uint32_t pid)
{
	assert(v->f && v->name);
	const struct raw_finding *f = v->f;
	const char *other = f->other ? finding_thread(w, f->other) : "another thread";
	struct json_out *j = &w->o->json->j;
	if (w->o->json->results.len)
		json_line(j, 0);
	json_begin_object(j, NULL);
	json_text(j, "block", v->name);
	json_text_if(j, "mark", f->name);
	if (w->o->json->recorded)
		json_uint(j, "pid", pid);
	json_text(j, "verdict", "violated");
	json_bool(j, "confirmed", f->confirmed);
	json_uint(j, "count", v->count);
	json_text(j, "thread", finding_thread(w, f->thread));
	json_text(j, "other", other);
	json_flag(j, "apart", f->apart);
	if (v->oacquire.n || v->owrite.n)
		json_text(j, "other_does", finding_other(v));
	json_text_if(j, "other_unplaced", unplaced(w, v, other));
	finding_judged_json(w, v);
	put_access(w, f, "entered", "enters the block", NULL, v->entered.v + v->block, v->entered.n - v->block);
	put_access(w, f, "commit", finding_commit(w, v), &f->commit_locks, v->commit.v, v->commit.n);
	put_access(w, f, "violation", finding_violation(w, v), &f->violation_locks, v->violation.v, v->violation.n);
	if (v->oacquire.n)
		put_access(w, f, "other_acquire", "takes the lock", &f->other_locks, v->oacquire.v, v->oacquire.n);
	if (v->owrite.n)
		put_access(w, f, "other_access", finding_other(v), NULL, v->owrite.v, v->owrite.n);
	json_line(j, 2);
	json_text(j, "sentence", sentence(w, v));
	also(w, v);
	finding_threads_json(w, f);
	json_line(j, 2);
	json_text(j, "suppression", arena_printf(w->arena, "block:%.*s", (int)strcspn(v->name, "("), v->name));
	finding_hidden_json(w, v->by, v->known, v->known_line);
	if (v->explored)
		explore_finding_json(j, v->explored, w->arena);
	json_end(j);
	w->o->json->count++;
}

void finding_not_shown(const struct finding_log *log, struct json_out *j)
{
	json_begin_array(j, "not_shown");
	for (uint32_t i = 0; i < log->rest.len; i++) {
		const struct finding_rest *r = &log->rest.data[i];
		json_line(j, 2);
		json_begin_object(j, NULL);
		json_text(j, "block", r->block);
		json_text(j, "pattern", r->label);
		json_text_if(j, "file", r->file);
		if (r->file && r->line)
			json_uint(j, "line", r->line);
		json_uint(j, "count", r->count);
		json_bool(j, "confirmed", r->confirmed);
		json_end(j);
	}
	json_end(j);
}

void finding_summary(const struct buf *summary, struct json_out *j)
{
	json_begin_array(j, "summary");
	for (const char *s = buf_cstr(summary); *s;) {
		size_t n = strcspn(s, "\n");
		json_text_n(j, NULL, s, n);
		s += n + (s[n] != 0);
	}
	json_end(j);
}

void finding_log_init(struct finding_log *log, struct arena *a, const char *root)
{
	*log = (struct finding_log){ .arena = a, .root = root };
	buf_init(&log->results);
	buf_init(&log->summary);
	json_out_init(&log->j, &log->results, false);
}

void finding_log_free(struct finding_log *log)
{
	buf_free(&log->results);
	buf_free(&log->summary);
}

/* ---- sources ---------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct finding_line *x = a, *y = b;
	int c = strcmp(x->path, y->path);
	return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

/* Lines first..last of a file. */
static void piece(const struct source *src, const char *name, uint32_t first, uint32_t last, struct json_out *j)
{
	assert(first >= 1 && first <= last && last <= src->nlines);
	json_line(j, 2);
	json_begin_object(j, NULL);
	json_text(j, "file", name);
	json_uint(j, "first", first);
	json_begin_array(j, "lines");
	for (uint32_t l = first; l <= last; l++) {
		size_t n;
		const char *s = source_line(src, l, &n);
		json_text_n(j, NULL, s, n > 400 ? 400 : n);
	}
	json_end(j);
	json_end(j);
}

void finding_sources(const struct finding_log *log, struct json_out *j)
{
	uint32_t n = log->lines.len;
	struct finding_line *l = calloc((size_t)n + 1, sizeof *l);
	json_line(j, 0);
	json_begin_array(j, "sources");
	if (l && n)
		memcpy(l, log->lines.data, n * sizeof *l);
	if (l)
		qsort(l, n, sizeof *l, by_place);
	for (uint32_t i = 0, k; l && i < n; i = k) {
		struct arena a;
		struct source src;
		struct why why;
		arena_init(&a, 0);
		bool ok = source_read(&src, &a, l[i].path, &why) && src.len <= MAX_FILE;
		for (k = i; k < n && !strcmp(l[k].path, l[i].path);) {
			uint32_t first = l[k].line > AROUND ? l[k].line - AROUND : 1, last = l[k].line + AROUND;
			for (k++; k < n && !strcmp(l[k].path, l[i].path) && l[k].line <= last + AROUND + 1; k++)
				last = l[k].line + AROUND;
			if (ok && first <= src.nlines)
				piece(&src, l[i].name, first, last < src.nlines ? last : src.nlines, j);
		}
		arena_free(&a);
	}
	json_end(j);
	free(l);
}
