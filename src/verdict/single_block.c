#include "verdict/single_block.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

struct taken { /* one outcome of a step */
	const struct ir *p;
	/* wanted: this outcome, or the first whose picks begin as `picks` do and, when `part`, may be fewer */
	uint32_t outcome;
	const uint32_t *picks;
	uint32_t npicks;
	bool part;
	/* found */
	bool found;
	uint32_t seen;
	int32_t *next;
	struct ir_choices ch;
};

static bool is_it(const struct taken *t, const struct ir_choices *ch)
{
	uint32_t n = ch->n < t->npicks ? ch->n : t->npicks;
	if (!t->picks)
		return t->seen == t->outcome;
	return (!t->part || ch->n <= t->npicks) && (t->part || ch->n >= t->npicks) &&
	       !memcmp(ch->pick, t->picks, n * sizeof *ch->pick);
}

static bool visit(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct taken *t = arg;
	(void)eff;
	if (!is_it(t, ch)) {
		t->seen++;
		return true;
	}
	t->found = r == IR_OK;
	t->outcome = t->seen;
	t->ch = *ch;
	if (t->found)
		memcpy(t->next, next, t->p->nstate * sizeof *next);
	return false;
}

struct side { /* one of the two programs, where it is, and the path so far */
	const struct ir *p;
	int32_t *state, *room; /* room: for two states */
	struct move *path;
	uint32_t n, cap;
};

static bool side_open(struct side *s, const struct ir *p)
{
	*s = (struct side){ .p = p };
	s->state = malloc(((size_t)p->nstate * 3 + 1) * sizeof *s->state);
	if (!s->state)
		return false;
	s->room = s->state + p->nstate;
	memcpy(s->state, p->init, p->nstate * sizeof *s->state);
	return true;
}

/* Takes the step that `t` wants, in place. */
static bool side_step(struct side *s, uint32_t thread, struct taken *t)
{
	t->p = s->p;
	t->next = s->room;
	ir_successors(s->p, s->state, thread, s->room + s->p->nstate, visit, t);
	if (!t->found)
		return false;
	memcpy(s->state, s->room, s->p->nstate * sizeof *s->state);
	if (!GROW(s->path, s->cap, s->n + 1ull))
		return false;
	s->path[s->n++] = (struct move){ thread, t->outcome };
	return true;
}

/* Is the thread before an ignored mark? */
static bool at_mark(const struct side *s, uint32_t thread, uint32_t block)
{
	const struct ir_node *n = &s->p->nodes[ir_node_of(s->p, s->state, thread)];
	return (n->kind == IRN_ENTER || n->kind == IRN_EXIT) && (uint32_t)s->p->code[n->ins + 1].a != block;
}

static bool at_start(const struct side *s, uint32_t thread)
{
	return s->p->nodes[ir_node_of(s->p, s->state, thread)].kind == IRN_START;
}

static bool give(struct side *s, bool ok, struct move **out, uint32_t *nout)
{
	if (!ok)
		free(s->path);
	else if (!s->path)
		ok = (s->path = calloc(1, sizeof *s->path)) != NULL;
	*out = ok ? s->path : NULL;
	*nout = ok ? s->n : 0;
	free(s->state);
	return ok;
}

/* ---- to the whole --------------------------------------------------------- */

/* Steps of the whole for one step of the other, whose picks these are. */
static bool take_all(struct side *w, uint32_t thread, uint32_t block, bool from_start, const struct ir_choices *ch)
{
	uint32_t used = 0;
	bool done = from_start && at_mark(w, thread, block); /* computing before the first access: the marks are all there is */
	while (!done || at_mark(w, thread, block)) {
		struct taken t = { .picks = ch->pick + used, .npicks = ch->n - used, .part = true };
		bool mark = at_mark(w, thread, block);
		if (!side_step(w, thread, &t))
			return false;
		used += t.ch.n;
		done |= !mark;
	}
	return used == ch->n;
}

bool single_block_to_whole(const struct ir *alone, const struct ir *whole, uint32_t block, const struct move *path, uint32_t n,
                           struct move **out, uint32_t *nout)
{
	struct side a, w;
	bool ok = side_open(&a, alone);
	ok = side_open(&w, whole) && ok;
	for (uint32_t i = 0; ok && i < n; i++) {
		struct taken t = { .outcome = path[i].outcome };
		bool start = at_start(&a, path[i].thread);
		ok = side_step(&a, path[i].thread, &t) && take_all(&w, path[i].thread, block, start, &t.ch);
	}
	free(a.path);
	free(a.state);
	return give(&w, ok, out, nout);
}

/* ---- back ------------------------------------------------------------------ */

struct step { /* of the whole */
	uint32_t thread;
	bool mark;        /* only passes an ignored mark */
	bool first;       /* of its thread */
	uint32_t pick, n; /* into the list of picks */
};

struct steps {
	struct step *v;
	uint32_t *picks;
	uint32_t n, npicks, cap;
};

/* The steps of the path with their picks. */
static bool list_steps(struct side *w, uint32_t block, const struct move *path, uint32_t n, struct steps *s)
{
	bool *moved = calloc(w->p->nthreads + 1ull, sizeof *moved);
	bool ok = moved && (s->v = calloc(n + 1ull, sizeof *s->v)) != NULL;
	for (uint32_t i = 0; ok && i < n; i++) {
		struct taken t = { .outcome = path[i].outcome };
		uint32_t thread = path[i].thread;
		ok = thread < w->p->nthreads;
		if (!ok)
			break;
		s->v[i] = (struct step){
			.thread = thread, .mark = at_mark(w, thread, block), .first = !moved[thread], .pick = s->npicks
		};
		moved[thread] = true;
		ok = side_step(w, thread, &t);
		ok = ok && GROW(s->picks, s->cap, (uint64_t)s->npicks + t.ch.n);
		if (!ok)
			break;
		if (t.ch.n > 0) /* picks is NULL until a step has one */
			memcpy(s->picks + s->npicks, t.ch.pick, t.ch.n * sizeof *t.ch.pick);
		s->npicks += t.ch.n;
		s->v[i].n = t.ch.n;
		s->n++;
	}
	free(moved);
	return ok;
}

/* The picks of a step and of the marks that its thread passes after it. */
static uint32_t gather(const struct steps *s, uint32_t at, uint32_t *picks)
{
	uint32_t n = 0;
	for (uint32_t i = at; i < s->n; i++) {
		if (s->v[i].thread != s->v[at].thread)
			continue;
		if (i > at && !s->v[i].mark)
			break;
		for (uint32_t k = 0; k < s->v[i].n && n < IR_MAX_CHOICES; k++)
			picks[n++] = s->picks[s->v[i].pick + k];
	}
	return n;
}

bool single_block_from_whole(const struct ir *alone, const struct ir *whole, uint32_t block, const struct move *path, uint32_t n,
                             struct move **out, uint32_t *nout)
{
	struct side a, w;
	struct steps s = { 0 };
	bool ok = side_open(&a, alone);
	ok = side_open(&w, whole) && ok;
	ok = ok && list_steps(&w, block, path, n, &s);
	for (uint32_t i = 0; ok && i < n; i++) {
		uint32_t picks[IR_MAX_CHOICES] = { 0 };
		if (s.v[i].mark && !(s.v[i].first && at_start(&a, s.v[i].thread)))
			continue; /* part of the step before it, or of the initial state */
		struct taken t = { .picks = picks, .npicks = gather(&s, i, picks) };
		ok = side_step(&a, s.v[i].thread, &t);
	}
	free(s.v);
	free(s.picks);
	free(w.path);
	free(w.state);
	return give(&a, ok, out, nout);
}
