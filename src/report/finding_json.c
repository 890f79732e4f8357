/*
 * finding_json: a finding as a result of a document (docs/json.md): the same
 * places as in the text, each with its stack, and at the end the source lines
 * around them.
 */
#include <stdlib.h>
#include <string.h>

#include "base/source.h"
#include "report/finding_int.h"

enum { AROUND = 4, MAX_LINES = 4000, MAX_FILE = 8 << 20 };

static struct buf *out_of(struct writer *w)
{
	return &w->o->json->results;
}

static void text(struct writer *w, const char *key, const char *s)
{
	buf_printf(out_of(w), "\"%s\": ", key);
	buf_json(out_of(w), s, strlen(s));
}

/* As people name it: relative to where the program was run from. */
static const char *name_of(struct writer *w, const char *file)
{
	const char *root = w->o->json->root, *f = finding_file(w, file);
	size_t n = root ? strlen(root) : 0;
	if (f == file && n > 1 && !strncmp(file, root, n) && file[n] == '/')
		return file + n + 1;
	return f;
}

static void frames(struct writer *w, const struct src_frame *v, uint32_t n)
{
	struct finding_log *log = w->o->json;
	struct buf *out = out_of(w);
	buf_str(out, "\"stack\": [");
	for (uint32_t i = 0; i < n; i++) {
		const struct src_frame *f = &v[i];
		const char *slash = strrchr(f->module, '/');
		buf_str(out, i ? ", {" : "{");
		text(w, "module", slash ? slash + 1 : f->module);
		buf_printf(out, ", \"offset\": %llu", (unsigned long long)f->offset);
		if (f->function) {
			buf_str(out, ", ");
			text(w, "function", f->function);
		}
		if (f->file) {
			buf_str(out, ", ");
			text(w, "file", name_of(w, f->file));
			if (f->line)
				buf_printf(out, ", \"line\": %u", f->line);
			if (f->line && f->column)
				buf_printf(out, ", \"column\": %u", f->column);
		}
		if (f->system)
			buf_str(out, ", \"system\": true");
		buf_char(out, '}');
		if (f->file && !f->system && f->line && log->lines.len < MAX_LINES) {
			struct finding_line at = { f->file, name_of(w, f->file), f->line };
			avec_push(log->arena, &log->lines, at);
		}
	}
	buf_char(out, ']');
}

static void held(struct writer *w, const struct raw_finding *f, const struct raw_locks *ls)
{
	buf_str(out_of(w), ", \"held\": [");
	for (uint32_t i = 0; i < ls->n; i++) {
		const char *name = finding_lock(w, f, ls->v[i].id, ls->v[i].addr);
		buf_str(out_of(w), i ? ", " : "");
		buf_json(out_of(w), name, strlen(name));
	}
	buf_char(out_of(w), ']');
}

static void put_access(struct writer *w, const struct raw_finding *f, const char *key, const char *what,
                       const struct raw_locks *locks, const struct src_frame *v, uint32_t n)
{
	buf_printf(out_of(w), ",\n  \"%s\": {", key);
	text(w, "what", what);
	if (locks)
		held(w, f, locks);
	buf_str(out_of(w), ", ");
	frames(w, v, n);
	buf_char(out_of(w), '}');
}

static const char *sentence(struct writer *w, const struct view *v)
{
	struct buf b;
	buf_init(&b);
	struct writer plain = { &b, w->o, w->sym, w->arena, true };
	finding_sentence(&plain, v);
	size_t from = strspn(buf_cstr(&b), " "), len = b.len;
	while (len > from && (b.data[len - 1] == '\n' || b.data[len - 1] == ' '))
		len--;
	const char *s = arena_strndup(w->arena, buf_cstr(&b) + from, len - from);
	buf_free(&b);
	return s;
}

static void threads(struct writer *w, const struct raw_finding *f)
{
	struct stacks *s = malloc(sizeof *s);
	bool first = true;
	buf_str(out_of(w), ",\n  \"threads\": [");
	for (uint32_t i = 0; s && i < f->threads.len; i++) {
		const struct raw_thread *t = &f->threads.data[i];
		bool again = false;
		for (uint32_t j = 0; j < i; j++)
			again |= f->threads.data[j].uid == t->uid;
		finding_resolve(w, s, &t->created);
		if (again || !s->n)
			continue;
		buf_str(out_of(w), first ? "{" : ", {");
		text(w, "name", finding_thread(w, t->uid));
		buf_str(out_of(w), ", ");
		text(w, "parent", finding_thread(w, t->parent));
		buf_str(out_of(w), ", ");
		frames(w, s->v, s->n);
		buf_char(out_of(w), '}');
		first = false;
	}
	buf_char(out_of(w), ']');
	free(s);
}

void finding_json(struct writer *text_writer, const struct view *v)
{
	struct writer numbered = *text_writer, *w = &numbered;
	const struct raw_finding *f = v->f;
	w->numbers = true;
	struct buf *out = out_of(w);
	buf_str(out, out->len ? ",\n{" : "{");
	text(w, "block", v->name);
	if (f->name) {
		buf_str(out, ", ");
		text(w, "mark", f->name);
	}
	buf_printf(out, ", \"verdict\": \"violated\", \"confirmed\": %s, \"count\": %u, ", f->confirmed ? "true" : "false",
	           v->count);
	text(w, "thread", finding_thread(w, f->thread));
	buf_str(out, ", ");
	text(w, "other", f->other ? finding_thread(w, f->other) : "another thread");
	put_access(w, f, "entered", "enters the block", NULL, v->entered.v + v->block, v->entered.n - v->block);
	put_access(w, f, "commit", finding_commit(w, v), &f->commit_locks, v->commit.v, v->commit.n);
	put_access(w, f, "violation", finding_violation(w, v), &f->violation_locks, v->violation.v, v->violation.n);
	if (v->oacquire.n)
		put_access(w, f, "other_acquire", "takes the lock", &f->other_locks, v->oacquire.v, v->oacquire.n);
	if (v->owrite.n)
		put_access(w, f, "other_access", finding_other(v), NULL, v->owrite.v, v->owrite.n);
	buf_str(out, ",\n  ");
	text(w, "sentence", sentence(w, v));
	threads(w, f);
	buf_str(out, ",\n  ");
	text(w, "suppression", arena_printf(w->arena, "block:%.*s", (int)strcspn(v->name, "("), v->name));
	if (v->by) {
		buf_str(out, ", \"suppressed\": {");
		text(w, "by", arena_printf(w->arena, "%s:%s", v->by->kind, v->by->text));
		buf_str(out, ", ");
		text(w, "file", v->by->source ? v->by->source : "");
		buf_printf(out, ", \"line\": %u}", v->by->line);
	}
	buf_char(out, '}');
}

/* ---- sources ---------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
	const struct finding_line *x = a, *y = b;
	int c = strcmp(x->path, y->path);
	return c ? c : x->line < y->line ? -1 : x->line > y->line;
}

/* Lines first..last of a file. */
static void piece(const struct source *src, const char *name, uint32_t first, uint32_t last, bool *any, struct buf *out)
{
	buf_printf(out, "%s\n  {\"file\": ", *any ? "," : "");
	buf_json(out, name, strlen(name));
	buf_printf(out, ", \"first\": %u, \"lines\": [", first);
	for (uint32_t l = first; l <= last; l++) {
		size_t n;
		const char *s = source_line(src, l, &n);
		buf_str(out, l > first ? ", " : "");
		buf_json(out, s, n > 400 ? 400 : n);
	}
	buf_str(out, "]}");
	*any = true;
}

void finding_sources(const struct finding_log *log, struct buf *out)
{
	bool any = false;
	uint32_t n = log->lines.len;
	struct finding_line *l = calloc((size_t)n + 1, sizeof *l);
	buf_str(out, ",\n\"sources\": [");
	if (l && n)
		memcpy(l, log->lines.data, n * sizeof *l);
	if (l)
		qsort(l, n, sizeof *l, by_place);
	for (uint32_t i = 0, k; l && i < n; i = k) {
		struct arena a;
		struct source src;
		const char *why;
		arena_init(&a, 0);
		bool ok = source_read(&src, &a, l[i].path, &why) && src.len <= MAX_FILE;
		for (k = i; k < n && !strcmp(l[k].path, l[i].path);) {
			uint32_t first = l[k].line > AROUND ? l[k].line - AROUND : 1, last = l[k].line + AROUND;
			for (k++; k < n && !strcmp(l[k].path, l[i].path) && l[k].line <= last + AROUND + 1; k++)
				last = l[k].line + AROUND;
			if (ok && first <= src.nlines)
				piece(&src, l[i].name, first, last < src.nlines ? last : src.nlines, &any, out);
		}
		arena_free(&a);
	}
	buf_str(out, "]");
	free(l);
}
