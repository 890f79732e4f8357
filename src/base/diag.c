#include "base/diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"

void diags_init(struct diags *d, struct arena *a)
{
	memset(d, 0, sizeof *d);
	d->arena = a;
	d->max_errors = 50;
	struct diag none = { 0 };
	avec_push(a, &d->list, none);
}

__attribute__((format(printf, 6, 0))) static uint32_t add(struct diags *d, enum diag_level level, const char *code,
                                                          const struct source *src, struct span at, const char *fmt, va_list ap)
{
	assert((level >= DIAG_NOTE) == !code);
	assert(!src || at.start <= at.end);
	va_list ap2;
	va_copy(ap2, ap);
	int n = vsnprintf(NULL, 0, fmt, ap2);
	va_end(ap2);
	char *text = arena_alloc(d->arena, (size_t)(n < 0 ? 0 : n) + 1);
	text[0] = 0;
	vsnprintf(text, (size_t)(n < 0 ? 0 : n) + 1, fmt, ap);
	struct diag m = { level, code, src, at, text, 0, 0 };
	avec_push(d->arena, &d->list, m);
	return d->list.len - 1;
}

void diag_error(struct diags *d, const char *code, const struct source *src, struct span at, const char *fmt, ...)
{
	d->last = 0;
	if (d->errors++ >= d->max_errors)
		return;
	va_list ap;
	va_start(ap, fmt);
	d->last = add(d, DIAG_ERROR, code, src, at, fmt, ap);
	va_end(ap);
}

void diag_warn(struct diags *d, const char *code, const struct source *src, struct span at, const char *fmt, ...)
{
	d->last = 0;
	if (d->warnings++ >= d->max_errors)
		return;
	va_list ap;
	va_start(ap, fmt);
	d->last = add(d, DIAG_WARNING, code, src, at, fmt, ap);
	va_end(ap);
}

static void attach(struct diags *d, uint32_t child)
{
	assert(d->last && d->last < child && child < d->list.len && d->list.data[child].level >= DIAG_NOTE);
	struct diag *list = d->list.data;
	uint32_t *link = &list[d->last].first_child;
	while (*link)
		link = &list[*link].next;
	*link = child;
}

void diag_note(struct diags *d, const struct source *src, struct span at, const char *fmt, ...)
{
	assert(d->last < d->list.len);
	if (!d->last)
		return;
	va_list ap;
	va_start(ap, fmt);
	attach(d, add(d, DIAG_NOTE, NULL, src, at, fmt, ap));
	va_end(ap);
}

void diag_hint(struct diags *d, const char *fmt, ...)
{
	if (!d->last)
		return;
	va_list ap;
	va_start(ap, fmt);
	attach(d, add(d, DIAG_HINT, NULL, NULL, (struct span){ 0, 0 }, fmt, ap));
	va_end(ap);
}

bool diag_is_at(const struct diags *d, const char *code, uint32_t start)
{
	for (uint32_t i = 1; i < d->list.len; i++)
		if (d->list.data[i].code && d->list.data[i].span.start == start && !strcmp(d->list.data[i].code, code))
			return true;
	return false;
}

/* ---- rendering ---------------------------------------------------------- */

#define CONTEXT_BEFORE 60 /* columns shown of a very long line */
#define CONTEXT_TOTAL  100

static const char *const level_name[] = { "error", "warning", "note", "hint" };
_Static_assert(sizeof level_name / sizeof *level_name == DIAG_HINT + 1, "a name for each level");
static const char *const level_color[] = { "\033[1;31m", "\033[1;35m", "\033[1;36m", "\033[1;32m" };

static void paint(struct buf *out, bool color, const char *on, const char *text)
{
	if (color)
		buf_str(out, on);
	buf_str(out, text);
	if (color)
		buf_str(out, "\033[0m");
}

/* The source line with a caret under the span; long lines are cut around it. */
static void excerpt(const struct diag *m, struct source_pos pos, struct buf *out, bool color)
{
	size_t len;
	const char *line = source_line(m->src, pos.line, &len);
	uint32_t first = m->src->lines[pos.line - m->src->line0 - 1];
	size_t at = m->span.start - first, end = m->span.end - first;
	if (at > len)
		at = len;
	if (end > len)
		end = len;
	if (end < at)
		end = at;
	size_t from = 0, to = len;
	if (len > CONTEXT_TOTAL) {
		from = at > CONTEXT_BEFORE ? at - CONTEXT_BEFORE : 0;
		to = from + CONTEXT_TOTAL < len ? from + CONTEXT_TOTAL : len;
		while (from > 0 && ((unsigned char)line[from] & 0xC0) == 0x80)
			from--;
		while (to < len && ((unsigned char)line[to] & 0xC0) == 0x80)
			to++;
	}
	if (end > to)
		end = to;
	struct buf safe, before, marked;
	buf_init(&safe);
	buf_init(&before);
	buf_init(&marked);
	assert(from <= at && at <= end && end <= to && to <= len);
	buf_safe(&safe, line + from, to - from);
	buf_safe(&before, line + from, at - from);
	buf_safe(&marked, line + at, end - at);
	size_t pad = utf8_columns(buf_cstr(&before), before.len);
	size_t width = utf8_columns(buf_cstr(&marked), marked.len);
	buf_printf(out, "%6u | %s%s%s\n", pos.line, from ? "..." : "", buf_cstr(&safe), to < len ? "..." : "");
	buf_str(out, "       | ");
	buf_repeat(out, ' ', pad + (from ? 3 : 0));
	if (color)
		buf_str(out, level_color[m->level]);
	buf_char(out, '^');
	if (width > 1)
		buf_repeat(out, '~', width - 1);
	if (color)
		buf_str(out, "\033[0m");
	buf_char(out, '\n');
	buf_free(&safe);
	buf_free(&before);
	buf_free(&marked);
}

static void render_one(const struct diags *d, uint32_t id, struct buf *out, bool color)
{
	assert(id && id < d->list.len);
	const struct diag *m = &d->list.data[id];
	struct source_pos pos = { 0, 0 };
	bool child = m->level >= DIAG_NOTE;
	if (child)
		buf_str(out, "  ");
	if (m->src) {
		pos = source_pos(m->src, m->span.start);
		if (color && !child)
			buf_str(out, "\033[1m");
		buf_safe(out, m->src->name, strlen(m->src->name));
		buf_printf(out, ":%u:%u: ", pos.line, pos.column);
		if (color && !child)
			buf_str(out, "\033[0m");
	}
	paint(out, color, level_color[m->level], level_name[m->level]);
	buf_str(out, ": ");
	buf_safe(out, m->text, strlen(m->text));
	if (m->code)
		buf_printf(out, " [%s]", m->code);
	buf_char(out, '\n');
	if (m->src)
		excerpt(m, pos, out, color);
	for (uint32_t c = m->first_child; c; c = d->list.data[c].next)
		render_one(d, c, out, color);
}

struct diag_order {
	const struct diags *d;
	uint32_t id;
};

static int by_place(const void *pa, const void *pb)
{
	const struct diag_order *a = pa, *b = pb;
	const struct diag *x = &a->d->list.data[a->id], *y = &b->d->list.data[b->id];
	if (!x->src != !y->src)
		return x->src ? 1 : -1;
	if (x->src == y->src && x->src && x->span.start != y->span.start)
		return x->span.start < y->span.start ? -1 : 1;
	return a->id < b->id ? -1 : a->id > b->id;
}

uint32_t *diags_in_order(const struct diags *d, uint32_t *n)
{
	assert(d->list.len && d->list.len - 1 >= (d->errors < d->max_errors ? d->errors : d->max_errors));
	struct diag_order *order = calloc(d->list.len, sizeof *order);
	uint32_t *ids = calloc(d->list.len, sizeof *ids);
	*n = 0;
	if (!order || !ids) {
		free(order);
		free(ids);
		return NULL;
	}
	for (uint32_t i = 1; i < d->list.len; i++)
		if (d->list.data[i].level <= DIAG_WARNING)
			order[(*n)++] = (struct diag_order){ d, i };
	qsort(order, *n, sizeof *order, by_place);
	for (uint32_t i = 0; i < *n; i++)
		ids[i] = order[i].id;
	free(order);
	return ids;
}

void diags_render(const struct diags *d, struct buf *out, bool color)
{
	uint32_t n, *ids = diags_in_order(d, &n);
	if (!ids) {
		out->failed = true;
		return;
	}
	for (uint32_t i = 0; i < n; i++)
		render_one(d, ids[i], out, color);
	free(ids);
	if (d->errors > d->max_errors)
		buf_printf(out, "... and %u more errors\n", d->errors - d->max_errors);
	if (d->warnings > d->max_errors)
		buf_printf(out, "... and %u more warnings\n", d->warnings - d->max_errors);
	if (d->errors)
		buf_printf(out, "%u error%s\n", d->errors, d->errors == 1 ? "" : "s");
}

/* ---- names that are nearly right ---------------------------------------- */

#define DIAG_NAME_MAX 64

unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
	size_t n = strlen(a), m = strlen(b);
	if (n > DIAG_NAME_MAX || m > DIAG_NAME_MAX)
		return limit + 1;
	unsigned row[3][DIAG_NAME_MAX + 1];
	unsigned *prev2 = row[0], *prev = row[1], *cur = row[2];
	for (size_t j = 0; j <= m; j++)
		prev[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		cur[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			unsigned cost = a[i - 1] != b[j - 1];
			unsigned best = prev[j - 1] + cost;
			if (prev[j] + 1 < best)
				best = prev[j] + 1;
			if (cur[j - 1] + 1 < best)
				best = cur[j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] && prev2[j - 2] + 1 < best)
				best = prev2[j - 2] + 1;
			cur[j] = best;
		}
		unsigned *t = prev2;
		prev2 = prev;
		prev = cur;
		cur = t;
	}
	assert(prev[m] >= (n > m ? n - m : m - n) && prev[m] <= (n > m ? n : m));
	return prev[m] <= limit ? prev[m] : limit + 1;
}

unsigned edit_slack(size_t len)
{
	return len <= 1 ? 0 : len == 2 ? 1 : len <= 7 ? 2 : 3;
}

int nearest_name(const char *name, const char *const *names, int n)
{
	unsigned best = edit_slack(strlen(name)) + 1;
	int found = -1;
	for (int i = 0; i < n; i++) {
		unsigned dist = edit_distance(name, names[i], best);
		if (dist < best) {
			best = dist;
			found = i;
		}
	}
	assert(found < n);
	return found;
}
