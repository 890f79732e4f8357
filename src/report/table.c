#include "report/table.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "base/utf8.h"
#include "report/line.h"
#include "report/step_text.h"

#define GAP       2u  /* between columns */
#define NARROW    14u /* words cut to less are better moved out of the lanes */
#define MIN_WIDTH 40u

enum table_layout { LAYOUT_NAMES, LAYOUT_NUMBERS, LAYOUT_MARKS, LAYOUT_LIST };

struct table_row {
	uint32_t step;
	size_t text, text_len; /* into table.pool */
	size_t tail_len;       /* its end, kept when it is cut */
	size_t change, change_len;
	size_t brief, brief_len, brief_tail; /* the changes without old values */
	size_t note, note_len;
};

struct lane {
	uint32_t thread;
	bool blocks;    /* enters a block in this run: its text is indented */
	bool inside;    /* while the rows are written: in a block now */
	unsigned want;  /* columns of its longest text */
	unsigned width; /* what it gets */
};

struct table {
	const struct run *r;
	const struct table_options *o;
	const struct glyphs *g;
	struct buf pool;
	struct table_row *rows;
	uint32_t nrows, head, left_out; /* rows before the gap; steps in it */
	struct lane *lanes;
	uint32_t nlanes;
	uint32_t *lane_of; /* by thread */
	enum table_layout layout;
	unsigned step_width, line_width, lane_cap, thread_want, text_want;
	unsigned mark_width; /* LAYOUT_MARKS: of one lane */
	unsigned change_want, note_want;
};

/* ---- contents ----------------------------------------------------------- */

static size_t pool_mark(struct table *t)
{
	return t->pool.len;
}

static unsigned columns(const struct table *t, size_t at, size_t len)
{
	assert(at + len <= t->pool.len);
	size_t n = len ? utf8_columns(t->pool.data + at, len) : 0;
	return n > 100000 ? 100000 : (unsigned)n;
}

static unsigned max2(unsigned a, unsigned b)
{
	return a > b ? a : b;
}

static void fill_row(struct table *t, struct table_row *w, uint32_t step)
{
	assert(step < t->r->nsteps);
	const struct table_options *o = t->o;
	w->step = step;
	w->text = pool_mark(t);
	w->tail_len = text_step_lane(t->r, step, t->g, &t->pool);
	w->text_len = pool_mark(t) - w->text;
	assert(t->pool.failed || w->tail_len <= w->text_len);
	w->change = pool_mark(t);
	text_changes(t->r, step, t->g, false, &t->pool);
	w->change_len = pool_mark(t) - w->change;
	w->brief = pool_mark(t);
	w->brief_tail = text_changes(t->r, step, t->g, true, &t->pool);
	w->brief_len = pool_mark(t) - w->brief;
	w->note = pool_mark(t);
	if (o->notes && o->notes[step])
		buf_safe(&t->pool, o->notes[step], strlen(o->notes[step]));
	w->note_len = pool_mark(t) - w->note;
}

static bool collect_rows(struct table *t)
{
	uint32_t n = t->r->nsteps, shown = n;
	if (t->o->max_rows && n > t->o->max_rows)
		shown = t->o->max_rows;
	t->rows = calloc((size_t)shown + 1, sizeof *t->rows);
	if (!t->rows)
		return false;
	t->nrows = shown;
	t->head = shown == n ? n : (shown + 1) / 2;
	t->left_out = n - shown;
	assert(t->head <= t->nrows && t->nrows + t->left_out == n);
	for (uint32_t i = 0; i < shown; i++)
		fill_row(t, &t->rows[i], i < t->head ? i : i + t->left_out);
	return !t->pool.failed;
}

static bool collect_lanes(struct table *t)
{
	const struct run *r = t->r;
	uint32_t nthreads = r->ir->nthreads;
	t->lane_of = calloc((size_t)nthreads + 1, sizeof *t->lane_of);
	t->lanes = calloc((size_t)nthreads + 1, sizeof *t->lanes);
	if (!t->lane_of || !t->lanes)
		return false;
	memset(t->lane_of, 0xFF, nthreads * sizeof *t->lane_of);
	for (uint32_t i = 0; i < r->nsteps; i++)
		t->lane_of[r->steps[i].thread] = 0;
	for (uint32_t i = 0; i < nthreads; i++)
		if (t->lane_of[i] != IR_NONE) {
			t->lane_of[i] = t->nlanes;
			t->lanes[t->nlanes++].thread = i;
		}
	for (uint32_t i = 0; i < r->nsteps; i++)
		t->lanes[t->lane_of[r->steps[i].thread]].blocks |= r->steps[i].entered != IR_NONE;
	assert(t->nlanes <= nthreads);
	return true;
}

/* ---- widths ------------------------------------------------------------- */

static unsigned digits(uint32_t n)
{
	unsigned d = 1;
	for (; n >= 10; n /= 10)
		d++;
	return d;
}

static unsigned label_width(const struct table *t, uint32_t thread, bool number)
{
	assert(thread < t->r->ir->nthreads);
	struct buf b;
	if (number)
		return digits(thread + 1);
	buf_init(&b);
	text_thread(t->r->ir, thread, &b);
	size_t n = utf8_columns(buf_cstr(&b), b.len);
	buf_free(&b);
	return n > 100000 ? 100000 : (unsigned)n;
}

static void measure(struct table *t)
{
	const struct run *r = t->r;
	t->step_width = 4;
	t->line_width = 4;
	for (uint32_t i = 0; i < t->nrows; i++) {
		const struct table_row *w = &t->rows[i];
		const struct run_step *s = &r->steps[w->step];
		struct lane *l = &t->lanes[t->lane_of[s->thread]];
		unsigned need = columns(t, w->text, w->text_len) + (l->blocks ? 2 : 0);
		if (s->entered != IR_NONE || s->exited != IR_NONE)
			need -= 2;
		l->want = max2(l->want, need);
		t->text_want = max2(t->text_want, need);
		t->change_want = max2(t->change_want, columns(t, w->change, w->change_len));
		t->note_want = max2(t->note_want, columns(t, w->note, w->note_len));
		t->step_width = max2(t->step_width, digits(w->step + 1));
		t->line_width = max2(t->line_width, digits(text_line(r->ir, s->node)));
	}
	if (t->change_want)
		t->change_want = max2(t->change_want, 7);
	if (t->o->notes && t->note_want)
		t->note_want = max2(t->note_want, (unsigned)utf8_columns(t->o->note_title, strlen(t->o->note_title)));
	for (uint32_t i = 0; i < t->nlanes; i++)
		t->thread_want = max2(t->thread_want, label_width(t, t->lanes[i].thread, false));
	t->thread_want = max2(t->thread_want, 6);
	t->mark_width = t->nlanes ? digits(t->lanes[t->nlanes - 1].thread + 1) : 1;
	assert(t->step_width >= 4 && t->line_width >= 4 && t->mark_width);
}

/* The columns a layout wants, one after the other, into `want`. */
static uint32_t wanted(const struct table *t, enum table_layout layout, unsigned *want)
{
	uint32_t n = 0;
	if (layout >= LAYOUT_MARKS) {
		want[n++] = t->thread_want;
		want[n++] = t->text_want;
	}
	for (uint32_t i = 0; layout < LAYOUT_MARKS && i < t->nlanes; i++)
		want[n++] = max2(t->lanes[i].want, label_width(t, t->lanes[i].thread, layout == LAYOUT_NUMBERS));
	if (t->change_want)
		want[n++] = t->change_want;
	if (t->note_want)
		want[n++] = t->note_want;
	assert(n <= t->nlanes + 4);
	return n;
}

/* The largest bound under which the columns fit into `room`. */
static unsigned common_bound(const unsigned *want, uint32_t n, unsigned room)
{
	unsigned lo = 1, hi = 1;
	for (uint32_t i = 0; i < n; i++)
		hi = max2(hi, want[i]);
	while (lo < hi) {
		unsigned mid = hi - (hi - lo) / 2;
		uint64_t sum = 0;
		for (uint32_t i = 0; i < n; i++)
			sum += want[i] < mid ? want[i] : mid;
		if (sum <= room)
			lo = mid;
		else
			hi = mid - 1;
	}
	assert(lo >= 1 && lo <= hi);
	return lo;
}

static unsigned bound_for(const struct table *t, enum table_layout layout, unsigned *want)
{
	assert(layout <= LAYOUT_LIST);
	uint32_t n = wanted(t, layout, want);
	uint64_t fixed = t->step_width + t->line_width + (uint64_t)GAP * (n + 1) + (t->o->marks ? 2 : 0);
	if (layout == LAYOUT_MARKS)
		fixed += (uint64_t)t->nlanes * (t->mark_width + 1) + 1;
	unsigned width = t->o->width < MIN_WIDTH ? MIN_WIDTH : t->o->width;
	if (!t->o->width)
		return UINT32_MAX;
	if (fixed + n > width)
		return 0;
	unsigned cap = common_bound(want, n, width - (unsigned)fixed);
	for (uint32_t i = 0; i < n; i++)
		if (want[i] > cap)
			return cap;
	return UINT32_MAX; /* nothing needs cutting */
}

static unsigned capped(const struct table *t, unsigned want)
{
	return want < t->lane_cap ? want : t->lane_cap;
}

static bool choose_layout(struct table *t)
{
	assert(t->lanes || !t->nlanes);
	unsigned *want = calloc((size_t)t->nlanes + 4, sizeof *want);
	if (!want)
		return false;
	t->layout = t->o->list ? LAYOUT_LIST : LAYOUT_NAMES;
	t->lane_cap = bound_for(t, t->layout, want);
	/* Headings must be readable: where names are cut, numbers are better. */
	if (t->layout == LAYOUT_NAMES && t->lane_cap < t->thread_want) {
		t->layout = LAYOUT_NUMBERS;
		t->lane_cap = bound_for(t, t->layout, want);
	}
	if (t->layout != LAYOUT_LIST && t->lane_cap < NARROW) {
		t->layout = LAYOUT_MARKS;
		t->lane_cap = bound_for(t, t->layout, want);
	}
	if (t->layout == LAYOUT_MARKS && t->lane_cap < NARROW) {
		t->layout = LAYOUT_LIST;
		t->lane_cap = bound_for(t, t->layout, want);
	}
	wanted(t, t->layout, want);
	for (uint32_t i = 0; t->layout < LAYOUT_MARKS && i < t->nlanes; i++)
		t->lanes[i].width = capped(t, want[i]);
	free(want);
	return true;
}

/* ---- output ------------------------------------------------------------- */

static void put_title(struct line *l, const char *s, unsigned width, const char *dots)
{
	line_fit(l, BOLD, s, strlen(s), width, dots);
}

static void header(struct table *t, struct line *l)
{
	unsigned at = t->o->marks ? 2 : 0;
	struct buf b;
	buf_init(&b);
	line_pad(l, at + t->step_width - 4);
	put_title(l, "step", 4, "");
	at += t->step_width + GAP;
	for (uint32_t i = 0; t->layout == LAYOUT_MARKS && i < t->nlanes; i++) {
		line_pad(l, at);
		line_number(l, BOLD, t->lanes[i].thread + 1, 0);
		at += t->mark_width + 1;
	}
	at += t->layout == LAYOUT_MARKS;
	if (t->layout >= LAYOUT_MARKS) {
		line_pad(l, at);
		put_title(l, "thread", capped(t, t->thread_want), t->g->dots);
		at += capped(t, t->thread_want) + GAP + capped(t, t->text_want) + GAP;
	}
	for (uint32_t i = 0; t->layout < LAYOUT_MARKS && i < t->nlanes; i++) {
		line_pad(l, at);
		buf_clear(&b);
		if (t->layout == LAYOUT_NUMBERS)
			buf_printf(&b, "%u", t->lanes[i].thread + 1);
		else
			text_thread(t->r->ir, t->lanes[i].thread, &b);
		put_title(l, buf_cstr(&b), t->lanes[i].width, t->g->dots);
		at += t->lanes[i].width + GAP;
	}
	line_pad(l, at + t->line_width - 4);
	put_title(l, "line", 4, "");
	at += t->line_width + GAP;
	if (t->change_want) {
		line_pad(l, at);
		put_title(l, "changes", capped(t, t->change_want), t->g->dots);
		at += capped(t, t->change_want) + GAP;
	}
	if (t->note_want) {
		line_pad(l, at);
		put_title(l, t->o->note_title, capped(t, t->note_want), t->g->dots);
	}
	buf_free(&b);
	buf_char(l->out, '\n');
}

/* The text of a step in its lane: bar, then words. */
static void cell(struct table *t, struct line *l, const struct table_row *w, struct lane *ln, unsigned width)
{
	assert(w->step < t->r->nsteps && w->text + w->text_len <= t->pool.len);
	const struct run_step *s = &t->r->steps[w->step];
	const char *text = t->pool.data + w->text;
	const char *style = s->fault != IRF_NONE ? RED : NULL;
	bool edge = s->entered != IR_NONE || s->exited != IR_NONE;
	unsigned column = l->at + l->pending;
	if (ln->blocks && !edge) {
		if (ln->inside)
			line_put(l, DIM, t->g->bar, strlen(t->g->bar));
		line_pad(l, column + 2);
		width = width > 2 ? width - 2 : 1;
	}
	if (!style && t->o->marks && t->o->marks[w->step])
		style = BOLD;
	style = style ? style : edge ? CYAN : NULL;
	line_tail(l, style, text, w->text_len, w->tail_len, width, t->g->dots);
}

/* A lane without words: the corners, the bar, or a dot for a step. */
static void put_mark(struct table *t, struct line *l, const struct run_step *s, const struct lane *ln)
{
	assert(t->layout == LAYOUT_MARKS);
	const struct glyphs *g = t->g;
	const char *m = s->thread != ln->thread ? (ln->inside ? g->bar : "")
	                : s->entered != IR_NONE ? g->top
	                : s->exited != IR_NONE  ? g->bottom
	                                        : g->dot;
	line_put(l, s->thread == ln->thread ? CYAN : DIM, m, strlen(m));
}

static void step_row(struct table *t, struct line *l, const struct table_row *w)
{
	assert(w->step < t->r->nsteps && t->lane_of[t->r->steps[w->step].thread] < t->nlanes);
	const struct run_step *s = &t->r->steps[w->step];
	uint32_t lane = t->lane_of[s->thread];
	unsigned at = t->o->marks ? 2 : 0;
	if (t->o->marks && t->o->marks[w->step])
		line_put(l, BOLD, "*", 1);
	line_pad(l, at);
	line_number(l, DIM, w->step + 1, t->step_width);
	at += t->step_width + GAP;
	for (uint32_t i = 0; t->layout == LAYOUT_MARKS && i < t->nlanes; i++) {
		line_pad(l, at);
		put_mark(t, l, s, &t->lanes[i]);
		at += t->mark_width + 1;
	}
	at += t->layout == LAYOUT_MARKS;
	if (t->layout >= LAYOUT_MARKS) {
		struct buf b;
		buf_init(&b);
		text_thread(t->r->ir, s->thread, &b);
		line_pad(l, at);
		line_fit(l, NULL, buf_cstr(&b), b.len, capped(t, t->thread_want), t->g->dots);
		buf_free(&b);
		at += capped(t, t->thread_want) + GAP;
		line_pad(l, at);
		cell(t, l, w, &t->lanes[lane], capped(t, t->text_want));
		at += capped(t, t->text_want) + GAP;
	}
	for (uint32_t i = 0; t->layout < LAYOUT_MARKS && i < t->nlanes; i++) {
		line_pad(l, at);
		if (i == lane)
			cell(t, l, w, &t->lanes[i], t->lanes[i].width);
		else if (t->lanes[i].inside)
			line_put(l, DIM, t->g->bar, strlen(t->g->bar));
		at += t->lanes[i].width + GAP;
	}
	line_pad(l, at);
	line_number(l, DIM, text_line(t->r->ir, s->node), t->line_width);
	at += t->line_width + GAP;
	line_pad(l, at);
	if (columns(t, w->change, w->change_len) <= capped(t, t->change_want))
		line_put(l, CYAN, t->pool.data + w->change, w->change_len);
	else
		line_tail(l, CYAN, t->pool.data + w->brief, w->brief_len, w->brief_tail, capped(t, t->change_want), t->g->dots);
	if (t->change_want)
		at += capped(t, t->change_want) + GAP;
	line_pad(l, at);
	line_fit(l, NULL, t->pool.data + w->note, w->note_len, capped(t, t->note_want), t->g->dots);
	buf_char(l->out, '\n');
}

/* Where the threads are with respect to blocks, after step i. */
static void walk(struct table *t, uint32_t i)
{
	assert(i < t->r->nsteps);
	const struct run_step *s = &t->r->steps[i];
	t->lanes[t->lane_of[s->thread]].inside = t->r->ir->nodes[s->next].block != IR_NONE;
}

static void gap_row(struct table *t, struct buf *out)
{
	assert(t->left_out);
	struct line l = { .out = out, .color = t->o->color };
	struct buf b;
	buf_init(&b);
	buf_printf(&b, "%s %u step%s not shown", t->g->dots, t->left_out, t->left_out == 1 ? "" : "s");
	if (t->o->full)
		buf_printf(&b, " (%s shows all)", t->o->full);
	line_pad(&l, (t->o->marks ? 2 : 0) + t->step_width + GAP);
	line_put(&l, DIM, buf_cstr(&b), b.len);
	buf_char(out, '\n');
	buf_free(&b);
}

/* The meaning of the numbers over the columns, where names did not fit. */
static void legend(struct table *t, struct buf *out)
{
	struct line l = { .out = out, .color = t->o->color };
	struct buf b;
	buf_init(&b);
	line_put(&l, NULL, "threads", 7);
	for (uint32_t i = 0; i < t->nlanes; i++) {
		buf_clear(&b);
		text_thread(t->r->ir, t->lanes[i].thread, &b);
		unsigned need = GAP + (unsigned)utf8_columns(buf_cstr(&b), b.len);
		if (t->o->width && l.at + need > t->o->width && l.at > 9) {
			buf_char(out, '\n');
			l.at = 0;
			l.pending = 7;
		}
		line_pad(&l, l.at + l.pending + GAP);
		line_fit(&l, NULL, buf_cstr(&b), b.len, t->o->width > 20 ? t->o->width - 10 : 100, t->g->dots);
	}
	buf_char(out, '\n');
	buf_free(&b);
}

static void render(struct table *t, struct buf *out)
{
	struct line h = { .out = out, .color = t->o->color };
	uint32_t done = 0;
	if (t->layout == LAYOUT_NUMBERS)
		legend(t, out);
	header(t, &h);
	for (uint32_t i = 0; i < t->nrows; i++) {
		if (i == t->head && t->left_out)
			gap_row(t, out);
		for (; done < t->rows[i].step; done++)
			walk(t, done);
		struct line l = { .out = out, .color = t->o->color };
		step_row(t, &l, &t->rows[i]);
	}
}

void table_render(const struct run *r, const struct table_options *o, struct buf *out)
{
	struct table t = { .r = r, .o = o, .g = glyphs_for(o->utf8) };
	if (!r->nsteps)
		return;
	buf_init(&t.pool);
	if (collect_rows(&t) && collect_lanes(&t)) {
		measure(&t);
		if (choose_layout(&t))
			render(&t, out);
		else
			out->failed = true;
	} else {
		out->failed = true;
	}
	free(t.rows);
	free(t.lanes);
	free(t.lane_of);
	buf_free(&t.pool);
}
