/*
 * causal_text: what the causal engines found, as people read it: one line per
 * question, then each counterexample as a diagram of the partial order.
 *
 *        worker 1               meddler
 *     1  m: false -> true
 *     2  [ update
 *     3  | read data
 *        '-------- data ------> 
 *     4                         write data
 *        <-------- data --------'
 *     5  | write data
 *
 * One column per thread, time from top to bottom, an arrow for each link of
 * the chain that leads to another thread, with the variable that carries it.
 * When the page is too narrow the columns give way to the threads' names.
 */
#include "base/invariant.h"
#include "report/check_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/line.h"
#include "report/step_text.h"

/* Names come from the model's text. */
static void safe(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

/* What a step does, with the arrow of the terminal. */
static void event_text(const struct causal_story *s, uint32_t event, bool utf8, struct buf *out)
{
	assert(event < s->nevents);
	const char *text = s->events[event].text, *arrow;
	while ((arrow = strstr(text, " -> ")) != NULL && utf8) {
		buf_safe(out, text, (size_t)(arrow - text) + 1);
		buf_str(out, glyphs_for(true)->arrow);
		text = arrow + 3;
	}
	safe(out, text);
}

/* "causally atomic", "NOT CAUSALLY SERIALIZABLE", ... */
static const char *headline(const struct verdict *v)
{
	bool program = v->block == VERDICT_PROGRAM;
	if (v->answer == ANSWER_UNKNOWN)
		return "unknown";
	if (v->answer == ANSWER_HOLDS)
		return program ? "causally serializable" : "causally atomic";
	return program ? "NOT CAUSALLY SERIALIZABLE" : "NOT CAUSALLY ATOMIC";
}

/* ---- the diagram ---------------------------------------------------------- */

struct drawing {
	const struct causal_story *r;
	const struct check_text_options *o;
	struct line l;
	unsigned *column, *width; /* of a thread */
	bool lanes;               /* one column per thread */
	bool *inside;             /* thread is in a block just now */
	struct buf text;
};

static bool in_chain(const struct causal_story *r, uint32_t event)
{
	assert(event < r->nevents);
	for (uint32_t i = 0; i < r->nlinks; i++)
		if (r->links[i].from == event || r->links[i].to == event)
			return true;
	return false;
}

static unsigned columns(const struct buf *b)
{
	return (unsigned)utf8_columns(buf_cstr(b), b->len);
}

static void lay_out(struct drawing *d)
{
	unsigned at = 5;
	for (uint32_t t = 0; t < d->r->nlanes; t++) {
		buf_clear(&d->text);
		safe(&d->text, d->r->lanes[t]);
		d->width[t] = columns(&d->text);
		for (uint32_t e = 0; e < d->r->nevents; e++) {
			if (d->r->events[e].lane != t)
				continue;
			buf_clear(&d->text);
			event_text(d->r, e, d->o->utf8, &d->text);
			unsigned w = columns(&d->text) + 2;
			d->width[t] = w > d->width[t] ? w : d->width[t];
		}
		d->width[t] = d->width[t] < 14 ? 14 : d->width[t];
		d->column[t] = at;
		at += d->width[t] + 3;
	}
	d->lanes = !d->o->width || at + 9 <= d->o->width;
}

static void line_begin(struct drawing *d)
{
	d->l = (struct line){ .out = &d->text, .color = d->o->color };
	buf_clear(&d->text);
}

static void line_end(struct drawing *d, struct buf *out)
{
	buf_add(out, buf_cstr(&d->text), d->text.len);
	buf_char(out, '\n');
}

static void put(struct drawing *d, const char *style, const char *s)
{
	line_put(&d->l, style, s, strlen(s));
}

/* An arrow from one thread's column to another's, the variable in its middle. */
static void draw_arrow(struct drawing *d, const struct causal_story_link *k, struct buf *out)
{
	assert(k->from < d->r->nevents && k->to < d->r->nevents);
	uint32_t a = d->r->events[k->from].lane, b = d->r->events[k->to].lane;
	assert(a != b && a < d->r->nlanes && b < d->r->nlanes);
	bool right = d->column[b] > d->column[a], u = d->o->utf8;
	unsigned from = d->column[right ? a : b], to = d->column[right ? b : a] - 1;
	struct buf label;
	buf_init(&label);
	buf_char(&label, ' ');
	safe(&label, k->by);
	if (k->from + 1 != k->to)
		buf_printf(&label, " (%u %s %u)", k->from + 1, glyphs_for(u)->arrow, k->to + 1);
	buf_char(&label, ' ');
	unsigned room = to - from + 1, w = columns(&label), dashes = room > w + 2 ? room - w - 2 : 2;
	line_begin(d);
	line_pad(&d->l, from);
	put(d, NULL, right ? (u ? "└" : "'") : (u ? "◀" : "<"));
	for (unsigned i = 0; i < dashes / 2; i++)
		put(d, NULL, u ? "─" : "-");
	put(d, BOLD, buf_cstr(&label));
	for (unsigned i = dashes / 2; i < dashes; i++)
		put(d, NULL, u ? "─" : "-");
	put(d, NULL, right ? (u ? "▶" : ">") : (u ? "┘" : "'"));
	line_end(d, out);
	buf_free(&label);
}

/* The links that end at this event and come from another thread. */
static void draw_links(struct drawing *d, uint32_t event, struct buf *out)
{
	const struct causal_story *r = d->r;
	for (uint32_t i = 0; i < r->nlinks; i++)
		if (r->links[i].to == event && r->links[i].by && r->events[r->links[i].from].lane != r->events[event].lane)
			draw_arrow(d, &r->links[i], out);
}

static const char *rail(const struct drawing *d, const struct causal_story_event *e, bool on)
{
	bool u = d->o->utf8;
	if (e->entered)
		return u ? "┌ " : ", ";
	if (e->left)
		return u ? "└ " : "' ";
	return on ? (u ? "│ " : "| ") : "  ";
}

static void draw_event(struct drawing *d, uint32_t event, struct buf *out)
{
	assert(event < d->r->nevents);
	const struct causal_story *r = d->r;
	const struct causal_story_event *e = &r->events[event];
	struct buf what;
	buf_init(&what);
	event_text(r, event, d->o->utf8, &what);
	line_begin(d);
	line_number(&d->l, DIM, event + 1, 3);
	for (uint32_t t = 0; t < r->nlanes; t++) {
		if (t != e->lane && (!d->lanes || !d->inside[t]))
			continue;
		line_pad(&d->l, d->lanes ? d->column[t] : 5);
		if (t != e->lane) {
			put(d, DIM, d->o->utf8 ? "│" : "|");
			continue;
		}
		if (!d->lanes) {
			struct buf name;
			buf_init(&name);
			safe(&name, r->lanes[t]);
			put(d, NULL, buf_cstr(&name));
			put(d, NULL, ": ");
			buf_free(&name);
		} else {
			put(d, DIM, rail(d, e, d->inside[t]));
		}
		put(d, in_chain(r, event) ? BOLD : NULL, buf_cstr(&what));
	}
	unsigned end = 5;
	for (uint32_t t = 0; d->lanes && t < r->nlanes; t++)
		end = d->column[t] + d->width[t] + 3;
	line_pad(&d->l, d->lanes ? end : d->l.at + d->l.pending + 2);
	char line[32];
	snprintf(line, sizeof line, "line %u", e->line);
	put(d, DIM, line);
	line_end(d, out);
	if (e->entered)
		d->inside[e->lane] = true;
	if (e->left)
		d->inside[e->lane] = false;
	buf_free(&what);
}

static void draw_heads(struct drawing *d, struct buf *out)
{
	if (!d->lanes)
		return;
	struct buf name;
	buf_init(&name);
	line_begin(d);
	for (uint32_t t = 0; t < d->r->nlanes; t++) {
		buf_clear(&name);
		safe(&name, d->r->lanes[t]);
		line_pad(&d->l, d->column[t]);
		put(d, BOLD, buf_cstr(&name));
	}
	line_end(d, out);
	buf_free(&name);
}

/* ---- the chain as text ----------------------------------------------------- */

static void chain_event(const struct drawing *d, uint32_t event, struct buf *out)
{
	assert(event < d->r->nevents);
	buf_printf(out, "%u ", event + 1);
	safe(out, d->r->lanes[d->r->events[event].lane]);
	buf_str(out, ": ");
	event_text(d->r, event, d->o->utf8, out);
}

static void chain_words(const struct drawing *d, struct buf *out)
{
	const struct causal_story *r = d->r;
	for (uint32_t i = 0; i < r->nlinks; i++) {
		const struct causal_story_link *k = &r->links[i];
		if (!i || k->from != r->links[i - 1].to) {
			if (i)
				buf_str(out, "    and inside that block, before or after it,\n");
			buf_str(out, "    ");
			chain_event(d, k->from, out);
			buf_char(out, '\n');
		}
		buf_str(out, "      before ");
		chain_event(d, k->to, out);
		if (k->by) {
			buf_str(out, "   because of ");
			safe(out, k->by);
		} else {
			buf_str(out, "   in the thread's order");
		}
		buf_char(out, '\n');
	}
}

/* One order of the events, thread by thread. */
static void linear(const struct drawing *d, struct buf *out)
{
	const struct causal_story *r = d->r;
	buf_str(out, "As a schedule: ");
	for (uint32_t e = 0; e < r->nevents;) {
		uint32_t t = r->events[e].lane, n = 0;
		for (; e < r->nevents && r->events[e].lane == t; e++)
			n++;
		safe(out, r->lanes[t]);
		buf_printf(out, " %u step%s%s", n, n == 1 ? "" : "s", e < r->nevents ? ", " : "\n");
	}
}

static void concretely(const struct drawing *d, struct buf *out)
{
	assert(d->r->concrete <= CAUSAL_TOO_LONG);
	const struct causal_story *r = d->r;
	switch (r->concrete) {
	case CAUSAL_POSSIBLE:
		buf_str(out, "The data allow it: this is a run of the program.\n");
		break;
	case CAUSAL_IMPOSSIBLE:
		buf_printf(out, "The data forbid this run at step %u; another run may still violate it.\n", r->stops + 1);
		break;
	case CAUSAL_TOO_LONG:
		buf_str(out, "Whether the data allow it is unknown: it has too many choices.\n");
		break;
	case CAUSAL_UNTRIED:
		buf_str(out, "Whether the data allow it was not checked.\n");
		break;
	}
}

/* The run alone: diagram, chain, schedule. */
static void diagram(const struct causal_story *r, const char *model, const struct check_text_options *o, struct buf *out)
{
	struct drawing d = { .r = r, .o = o };
	d.column = calloc(r->nlanes + 1ull, sizeof *d.column);
	d.width = calloc(r->nlanes + 1ull, sizeof *d.width);
	d.inside = calloc(r->nlanes + 1ull, sizeof *d.inside);
	buf_init(&d.text);
	if (d.column && d.width && d.inside) {
		lay_out(&d);
		draw_heads(&d, out);
		for (uint32_t e = 0; e < r->nevents; e++) {
			if (d.lanes)
				draw_links(&d, e, out);
			draw_event(&d, e, out);
		}
		buf_str(out, "\nThe chain:\n");
		chain_words(&d, out);
		linear(&d, out);
		concretely(&d, out);
		if (r->schedule) {
			buf_str(out, "replay: intact sim ");
			safe(out, model);
			buf_printf(out, " %s\n", r->schedule);
		}
	}
	free(d.column);
	free(d.width);
	free(d.inside);
	buf_free(&d.text);
}

/* ---- the whole ----------------------------------------------------------- */

static void paint(struct buf *out, bool on, const struct verdict *v)
{
	assert(v->answer <= ANSWER_UNKNOWN);
	static const char *const color[] = { "\033[1;32m", "\033[1;31m", "\033[1;33m" };
	if (on)
		buf_str(out, color[v->answer]);
	buf_str(out, headline(v));
	if (on)
		buf_str(out, RESET);
}

/* "any number of worker, 1 meddler" */
static void numbers(const struct ir *p, const uint32_t *count, struct buf *out)
{
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		buf_str(out, t ? ", " : "");
		if (count)
			buf_printf(out, "%u ", count[t]);
		else if (p->templates[t].any_count)
			buf_str(out, "any number of ");
		else
			buf_printf(out, "%u ", p->templates[t].count);
		buf_safe(out, p->templates[t].name, strlen(p->templates[t].name));
	}
}

static void why(const struct ir *p, const struct verdict *v, const struct causal_story *s, struct buf *out)
{
	buf_printf(out, "%s", v->engine->name);
	if (v->answer == ANSWER_UNKNOWN && v->reason) {
		buf_printf(out, ": %s", v->reason);
	} else if (v->answer == ANSWER_UNKNOWN) {
		buf_printf(out, ": the limit on %s was reached", v->limit ? v->limit : "?");
	} else if (v->answer == ANSWER_HOLDS) {
		buf_str(out, ": ");
		numbers(p, NULL, out);
	} else if (s->smallest) {
		buf_str(out, ": ");
		numbers(p, s->count, out);
		buf_str(out, " are enough to violate it, and no fewer");
	} else {
		buf_printf(out, ": an abstract run of %u steps", s->nevents);
	}
}

static void stats(const struct verdict *v, unsigned indent, struct buf *out)
{
	buf_repeat(out, ' ', indent);
	if (v->events)
		buf_printf(out, "%llu conditions, %llu events, %llu of them cut-offs, ", (unsigned long long)v->conditions,
		           (unsigned long long)v->events, (unsigned long long)v->cutoffs);
	if (v->states)
		buf_printf(out, "%llu states, %llu transitions, ", (unsigned long long)v->states,
		           (unsigned long long)v->transitions);
	buf_printf(out, "%.1f MiB, %.3f s\n", (double)v->bytes / 1048576.0, v->seconds);
}

static void summary(const struct checked *c, const struct check_text_options *o, struct buf *out)
{
	const struct ir *p = c->p;
	const struct verdict *v = c->v;
	uint32_t n = c->n;
	unsigned wide = 5, head = 7;
	struct buf name;
	buf_init(&name);
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&name);
		check_text_name(p, v[i].block, &name);
		wide = columns(&name) > wide ? columns(&name) : wide;
		unsigned w = (unsigned)strlen(headline(&v[i]));
		head = w > head ? w : head;
	}
	buf_printf(out, "%-*s  line  %-*s  by\n", (int)wide, "block", (int)head, "verdict");
	for (uint32_t i = 0; i < n; i++) {
		buf_clear(&name);
		check_text_name(p, v[i].block, &name);
		buf_add(out, buf_cstr(&name), name.len);
		buf_repeat(out, ' ', wide - columns(&name));
		if (v[i].block == VERDICT_PROGRAM)
			buf_str(out, "        ");
		else
			buf_printf(out, "  %4u  ", source_pos(p->src, p->blocks[v[i].block].span.start).line);
		paint(out, o->color, &v[i]);
		buf_repeat(out, ' ', head - strlen(headline(&v[i])) + 2);
		why(p, &v[i], c->stories[i].causal, out);
		buf_char(out, '\n');
		if (o->stats)
			stats(&v[i], wide + 8, out);
	}
	buf_free(&name);
}

void causal_text(const struct checked *c, const struct check_text_options *o, struct buf *out)
{
	bool several = false;
	summary(c, o, out);
	for (uint32_t i = 0; i < c->n; i++) {
		const struct verdict *v = &c->v[i];
		if (!c->stories[i].causal)
			continue;
		if (v->block == VERDICT_PROGRAM && several)
			continue; /* a broken block has said it */
		several |= v->block != VERDICT_PROGRAM;
		buf_char(out, '\n');
		paint(out, o->color, v);
		buf_str(out, ": ");
		check_text_name(c->p, v->block, out);
		buf_str(out,
		        v->block == VERDICT_PROGRAM
		                ? "\nThe blocks form a causal cycle (abstract: most data is not tracked)\n\n"
		                : "\nA causal chain leaves the block and returns to it (abstract: most data is not tracked)\n\n");
		diagram(c->stories[i].causal, c->model, o, out);
	}
}
