#include "verdict/explain.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "verdict/verdict.h"

#define OUTSIDE UINT32_MAX

struct access { /* to data, in order */
	uint32_t step, thread;
	uint32_t window; /* the block instance it is in, by number, or OUTSIDE */
	uint32_t block;
	uint32_t var, elem;
	bool reads, writes;
	int32_t value; /* before it */
	bool changes;  /* writes another value than there was */
	uint32_t saw;  /* reads: the access that wrote what it read, or OUTSIDE */
};

struct explain_story {
	const struct run *r;
	struct access *acc;
	uint32_t n;
	bool *marks;
	struct buf *out;
};

/* ---- what was accessed -------------------------------------------------- */

static bool same_place(const struct access *a, const struct access *b)
{
	return a->var == b->var && a->elem == b->elem;
}

static void add_step(struct explain_story *s, uint32_t step, uint32_t window, uint32_t block)
{
	assert(step < s->r->nsteps);
	const struct run_step *st = &s->r->steps[step];
	for (uint32_t i = 0; i < st->nevent; i++) {
		const struct ir_event *e = &s->r->events[st->event + i];
		if (s->r->ir->vars[e->var].kind == IRV_LOCK)
			continue;
		struct access a = { .step = step,
			            .thread = st->thread,
			            .window = window,
			            .block = block,
			            .var = e->var,
			            .elem = e->elem,
			            .saw = OUTSIDE,
			            .value = e->before,
			            .changes = e->before != e->after,
			            .reads = e->mode & (IRA_READ | IRA_READ_RESP),
			            .writes = e->mode & (IRA_WRITE | IRA_WRITE_RESP) };
		for (uint32_t k = s->n; a.reads && k-- > 0;)
			if (s->acc[k].writes && same_place(&s->acc[k], &a)) {
				a.saw = k;
				break;
			}
		s->acc[s->n++] = a;
	}
}

/* All accesses, with the block instances that count distinguished. */
static bool collect(struct explain_story *s, uint32_t block)
{
	const struct run *r = s->r;
	uint32_t *window = malloc(sizeof *window * (r->ir->nthreads + 1)), count = 0;
	uint32_t *which = malloc(sizeof *which * (r->ir->nthreads + 1));
	s->acc = calloc((size_t)r->nevents + 1, sizeof *s->acc);
	bool ok = window && which && s->acc;
	for (uint32_t t = 0; ok && t < r->ir->nthreads; t++)
		window[t] = OUTSIDE;
	for (uint32_t i = 0; ok && i < r->nsteps; i++) {
		const struct run_step *st = &r->steps[i];
		uint32_t t = st->thread;
		if (st->entered != IR_NONE && (block == VERDICT_PROGRAM || st->entered == block)) {
			window[t] = count++;
			which[t] = st->entered;
		}
		add_step(s, i, window[t], window[t] == OUTSIDE ? IR_NONE : which[t]);
		if (st->exited != IR_NONE)
			window[t] = OUTSIDE;
	}
	free(window);
	free(which);
	assert(s->n <= r->nevents);
	return ok;
}

/* ---- words -------------------------------------------------------------- */

static void who(const struct explain_story *s, uint32_t thread)
{
	struct buf name;
	buf_init(&name);
	ir_print_thread(s->r->ir, thread, &name);
	buf_safe(s->out, buf_cstr(&name), name.len);
	buf_free(&name);
}

static void what(const struct explain_story *s, const struct access *a)
{
	assert(a->var < s->r->ir->nvars);
	const struct ir_var *v = &s->r->ir->vars[a->var];
	struct buf text;
	buf_init(&text);
	ir_print_element(v, a->elem, "", &text);
	buf_safe(s->out, buf_cstr(&text), text.len);
	buf_free(&text);
}

/* " = 3": what was read */
static void value(const struct explain_story *s, const struct access *a)
{
	const struct ir_var *v = &s->r->ir->vars[a->var];
	struct buf text;
	buf_init(&text);
	ir_print_value(s->r->ir, v->value, v->enum_id, a->value, &text);
	buf_str(s->out, " = ");
	buf_safe(s->out, buf_cstr(&text), text.len);
	buf_free(&text);
}

static void at(const struct explain_story *s, const struct access *a)
{
	assert(a->step < s->r->nsteps);
	s->marks[a->step] = true;
	buf_printf(s->out, " (step %u)", a->step + 1);
}

static void say(const struct explain_story *s, const char *text)
{
	buf_str(s->out, text);
}

/* ---- patterns ----------------------------------------------------------- */

/* A write of another thread to a's place between accesses a and c. */
static const struct access *foreign_write(const struct explain_story *s, uint32_t a, uint32_t c, bool changes)
{
	assert(a < s->n && c <= s->n);
	for (uint32_t b = a + 1; b < c; b++)
		if ((s->acc[b].changes || !changes) && s->acc[b].thread != s->acc[a].thread && s->acc[b].writes &&
		    same_place(&s->acc[a], &s->acc[b]))
			return &s->acc[b];
	return NULL;
}

static bool lost_update(const struct explain_story *s)
{
	for (uint32_t c = s->n; c-- > 0;) {
		const struct access *w = &s->acc[c];
		if (w->window == OUTSIDE || !w->writes || w->reads)
			continue;
		uint32_t a = c;
		while (a-- > 0)
			if (s->acc[a].window == w->window && s->acc[a].reads && same_place(&s->acc[a], w))
				break;
		const struct access *b = a < c ? foreign_write(s, a, c, false) : NULL;
		if (!b)
			continue;
		say(s, "The update of ");
		what(s, b);
		say(s, " by ");
		who(s, b->thread);
		at(s, b);
		say(s, " was lost: ");
		who(s, w->thread);
		say(s, " had read it before");
		at(s, &s->acc[a]);
		say(s, " and then wrote over it");
		at(s, w);
		return true;
	}
	return false;
}

static bool two_reads(const struct explain_story *s)
{
	for (uint32_t a = 0; a < s->n; a++)
		for (uint32_t c = a + 1; s->acc[a].window != OUTSIDE && s->acc[a].reads && c < s->n; c++) {
			const struct access *x = &s->acc[a], *y = &s->acc[c];
			if (y->window != x->window || !y->reads || !same_place(x, y))
				continue;
			const struct access *b = foreign_write(s, a, c, true);
			if (!b)
				break;
			who(s, x->thread);
			say(s, " read ");
			what(s, x);
			buf_printf(s->out, " twice (steps %u and %u), and ", x->step + 1, y->step + 1);
			s->marks[x->step] = s->marks[y->step] = true;
			who(s, b->thread);
			say(s, " changed it in between");
			at(s, b);
			return true;
		}
	return false;
}

/* x read what w wrote, and the block went on to write what `early` had read:
 * the same variable, or another one. */
static bool half_update(const struct explain_story *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct access *x = &s->acc[i];
		const struct access *w = x->reads && x->saw != OUTSIDE ? &s->acc[x->saw] : NULL;
		if (!w || w->window == OUTSIDE || w->thread == x->thread)
			continue;
		for (uint32_t c = x->saw + 1; c < s->n; c++) {
			const struct access *late = &s->acc[c];
			if (late->window != w->window || !late->writes)
				continue;
			for (uint32_t k = 0; k < c; k++) {
				const struct access *early = &s->acc[k];
				if (early->thread != x->thread || !early->reads || !same_place(early, late) ||
				    (x->window != OUTSIDE && early->window != x->window) ||
				    (early->saw != OUTSIDE && s->acc[early->saw].window == w->window && early != x))
					continue;
				who(s, x->thread);
				say(s, " saw an update of ");
				who(s, w->thread);
				if (early == x) {
					say(s, " half-way: it read ");
					what(s, x);
					at(s, x);
					buf_printf(s->out, " between the writes in steps %u and %u", w->step + 1, late->step + 1);
					s->marks[w->step] = s->marks[late->step] = true;
					return true;
				}
				say(s, " half done: ");
				what(s, x);
				at(s, x);
				say(s, " was already written");
				at(s, w);
				say(s, ", ");
				what(s, early);
				at(s, early);
				say(s, " not yet");
				at(s, late);
				return true;
			}
		}
	}
	return false;
}

/* a reads x before b writes it; c reads y after a step of b wrote it. */
static bool torn_read(const struct explain_story *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct access *a = &s->acc[i];
		if (a->window == OUTSIDE || !a->reads)
			continue;
		for (uint32_t k = i + 1; k < s->n; k++) {
			const struct access *c = &s->acc[k];
			const struct access *w = c->reads && c->saw != OUTSIDE ? &s->acc[c->saw] : NULL;
			if (c->window == a->window && c->writes)
				break; /* it has begun to act: see check_then_act */
			if (c->window != a->window || !w || w->thread == a->thread || same_place(a, c))
				continue;
			for (uint32_t m = i + 1; m < s->n; m++) {
				const struct access *b = &s->acc[m];
				if (b->thread != w->thread || !b->writes || !same_place(a, b) ||
				    (w->window != OUTSIDE && b->window != w->window) || (w->window == OUTSIDE && b->step > w->step))
					continue;
				who(s, a->thread);
				say(s, " saw ");
				who(s, b->thread);
				say(s, " half-way: it read ");
				what(s, a);
				at(s, a);
				say(s, " before that was written");
				at(s, b);
				say(s, ", and ");
				what(s, c);
				at(s, c);
				say(s, " after");
				at(s, w);
				return true;
			}
		}
	}
	return false;
}

/* Both looked before either changed what the other had looked at. */
static bool apart(const struct access *r1, const struct access *r2, const struct access *w1, const struct access *w2)
{
	return r1->step < w1->step && r1->step < w2->step && r2->step < w1->step && r2->step < w2->step && w1->changes &&
	       w2->changes;
}

/* Two blocks, each with a read and a write that meet the other's. `seen`: the
 * reads come after the writes; else before them. */
static bool cross(const struct explain_story *s, bool seen)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; s->acc[i].window != OUTSIDE && s->acc[i].reads && k < s->n; k++) {
			const struct access *r1 = &s->acc[i], *w2 = &s->acc[k];
			if (w2->window == OUTSIDE || w2->thread == r1->thread || !w2->writes || !same_place(r1, w2) ||
			    (seen ? r1->saw != k : k < i))
				continue;
			for (uint32_t m = 0; m < s->n; m++)
				for (uint32_t n = 0; n < s->n; n++) {
					const struct access *r2 = &s->acc[m], *w1 = &s->acc[n];
					if (r2->window != w2->window || w1->window != r1->window || !r2->reads || !w1->writes ||
					    (!seen && !apart(r1, r2, w1, w2)) || !same_place(r2, w1) ||
					    (seen ? r2->saw != n : n < m))
						continue;
					who(s, r1->thread);
					say(s, " read ");
					what(s, r1);
					at(s, r1);
					say(s, seen ? " after " : " before ");
					who(s, w2->thread);
					say(s, " wrote it");
					at(s, w2);
					say(s, ", and ");
					who(s, r2->thread);
					say(s, " read ");
					what(s, r2);
					at(s, r2);
					say(s, seen ? " after " : " before ");
					who(s, w1->thread);
					say(s, " wrote it");
					at(s, w1);
					say(s, seen ? ": each would have to come after the other"
					            : ": each would have to come before the other");
					return true;
				}
		}
	return false;
}

static bool crossed(const struct explain_story *s)
{
	return cross(s, true);
}

static bool skew(const struct explain_story *s)
{
	return cross(s, false);
}

static bool check_then_act(const struct explain_story *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct access *a = &s->acc[i];
		if (a->window == OUTSIDE || !a->reads)
			continue;
		for (uint32_t c = i + 1; c < s->n; c++) {
			const struct access *act = &s->acc[c];
			if (act->window != a->window || !act->writes)
				continue;
			const struct access *b = foreign_write(s, i, c, true);
			if (!b)
				continue;
			who(s, a->thread);
			say(s, " acted on ");
			what(s, a);
			value(s, a);
			at(s, a);
			say(s, " after ");
			who(s, b->thread);
			say(s, " had changed it");
			at(s, b);
			say(s, ": it went on to write ");
			what(s, act);
			at(s, act);
			return true;
		}
	}
	return false;
}

static bool conflict(const struct access *a, const struct access *b)
{
	return same_place(a, b) && (a->writes || b->writes) && a->thread != b->thread;
}

static bool in_the_middle(const struct explain_story *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = i + 1; s->acc[i].window != OUTSIDE && k < s->n; k++) {
			const struct access *a = &s->acc[i], *b = &s->acc[k];
			if (!conflict(a, b))
				continue;
			for (uint32_t m = k; m < s->n; m++)
				for (uint32_t n = m + 1; s->acc[m].thread == b->thread && n < s->n; n++) {
					const struct access *b2 = &s->acc[m], *c = &s->acc[n];
					if (c->window != a->window || !conflict(b2, c))
						continue;
					who(s, b->thread);
					say(s, " intervened in ");
					who(s, a->thread);
					say(s, ": it met ");
					what(s, b);
					at(s, b);
					say(s, " behind it");
					at(s, a);
					say(s, m == k && same_place(b, b2) ? " and" : ", and ");
					if (m != k || !same_place(b, b2)) {
						what(s, b2);
						at(s, b2);
					}
					say(s, " before it got there");
					at(s, c);
					return true;
				}
		}
	return false;
}

/* ---- a circle ----------------------------------------------------------- */

struct explain_link { /* from an item to a later one: accesses that say so */
	uint32_t from, to;
};

struct rounds {         /* a search for a way round */
	uint32_t *item; /* of each access: its block instance, or its step outside */
	uint32_t *queue;
	struct explain_link *by; /* of each item: how it was reached */
	bool *seen;
};

static void number_items(const struct explain_story *s, uint32_t *item)
{
	for (uint32_t i = 0, n = 0; i < s->n; i++) {
		const struct access *a = &s->acc[i];
		uint32_t k = 0;
		while (k < i && !(s->acc[k].window == a->window && (a->window != OUTSIDE || s->acc[k].step == a->step)))
			k++;
		item[i] = k < i ? item[k] : n++;
	}
}

/* Must y's item come after x's? */
static bool behind(const struct explain_story *s, const struct rounds *c, uint32_t x, uint32_t y)
{
	assert(x < s->n && y < s->n);
	return x < y && c->item[x] != c->item[y] && (s->acc[x].thread == s->acc[y].thread || conflict(&s->acc[x], &s->acc[y]));
}

/* The last link of a shortest way from the item back to itself. */
static bool way_round(const struct explain_story *s, struct rounds *c, uint32_t start, struct explain_link *last)
{
	assert(start < s->n);
	uint32_t head = 0, tail = 0;
	memset(c->seen, 0, s->n * sizeof *c->seen);
	c->queue[tail++] = start;
	c->seen[start] = true;
	while (head < tail) {
		uint32_t u = c->queue[head++];
		for (uint32_t x = 0; x < s->n; x++)
			for (uint32_t y = x + 1; c->item[x] == u && y < s->n; y++) {
				if (!behind(s, c, x, y))
					continue;
				*last = (struct explain_link){ x, y };
				if (c->item[y] == start)
					return true;
				if (c->seen[c->item[y]])
					continue;
				c->seen[c->item[y]] = true;
				c->by[c->item[y]] = *last;
				c->queue[tail++] = c->item[y];
			}
	}
	return false;
}

static void say_link(const struct explain_story *s, const struct explain_link *l)
{
	assert(l->from < s->n && l->to < s->n);
	const struct access *x = &s->acc[l->from], *y = &s->acc[l->to];
	who(s, x->thread);
	say(s, x->writes ? " wrote " : " read ");
	what(s, x);
	at(s, x);
	say(s, " before ");
	who(s, y->thread);
	say(s, y->writes ? " wrote it" : " read it");
	at(s, y);
}

static void say_round(const struct explain_story *s, const struct rounds *c, uint32_t start, struct explain_link l)
{
	assert(l.from < s->n && l.to < s->n);
	if (c->item[l.from] != start)
		say_round(s, c, start, c->by[c->item[l.from]]);
	if (s->acc[l.from].thread == s->acc[l.to].thread)
		return;
	say(s, s->out->len ? ", " : "They form a cycle: ");
	say_link(s, &l);
}

/* From item to item, each after the previous one, back to a block. */
static bool circle(const struct explain_story *s)
{
	struct rounds c = { calloc(s->n + 1, sizeof *c.item), calloc(s->n + 1, sizeof *c.queue), calloc(s->n + 1, sizeof *c.by),
		            calloc(s->n + 1, sizeof *c.seen) };
	bool found = false;
	if (c.item && c.queue && c.by && c.seen) {
		number_items(s, c.item);
		for (uint32_t i = 0; i < s->n && !found; i++) {
			struct explain_link last;
			found = s->acc[i].window != OUTSIDE && way_round(s, &c, c.item[i], &last);
			if (found)
				say_round(s, &c, c.item[i], last);
		}
	}
	free(c.item);
	free(c.queue);
	free(c.by);
	free(c.seen);
	return found;
}

bool explain_run(const struct run *r, uint32_t block, bool *marks, struct buf *out)
{
	assert(block == VERDICT_PROGRAM || block < r->ir->nblocks);
	static bool (*const patterns[])(const struct explain_story *) = {
		lost_update, two_reads, crossed, half_update, torn_read, skew, check_then_act, in_the_middle, circle,
	};
	struct explain_story s = { .r = r, .marks = marks, .out = out };
	bool found = false;
	memset(marks, 0, r->nsteps * sizeof *marks);
	size_t n = collect(&s, block) ? sizeof patterns / sizeof *patterns : 0;
	for (size_t i = 0; i < n && !found && (i < 2 || s.n <= EXPLAIN_MAX); i++)
		found = patterns[i](&s);
	free(s.acc);
	return found;
}
