#include "explore/commit.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "explore/exact.h"

#define MAX_TRIES  5000u    /* searches */
#define MAX_LABELS 2000000u /* labellings looked at */
#define FEW        2u       /* threads a template that refute most labellings */
#define MAX_CUTS   2000u    /* of one block */

struct trace_step { /* a step of a trace that went wrong, as commits see it */
	uint32_t thread, from, to;
	bool marked_commit; /* passes a commit; of the source */
};

struct bad_trace {
	struct trace_step *steps;
	uint32_t n;
	uint32_t *order; /* of the threads' commits and single actions */
	uint32_t norder;
};

struct infer {
	const struct ir *ir;
	uint32_t block;
	const struct search_options *o;
	struct commit_result *r;
	struct labelling lab;
	/* candidates: for block b, cuts[first[b] .. first[b + 1]) */
	struct commit_point *cuts;
	uint32_t ncuts, cap_cuts;
	uint32_t *first;
	uint32_t *pick; /* by block */
	struct bad_trace *bad;
	uint32_t nbad, cap_bad;
	bool out_of_memory;
};

static bool counts(const struct infer *f, uint32_t block)
{
	return f->block == PROD_BLOCK_ALL || f->block == block;
}

/* ---- candidates --------------------------------------------------------- */

static void add_cut(struct infer *f, struct commit_point p)
{
	if (GROW(f->cuts, f->cap_cuts, f->ncuts + 1ull))
		f->cuts[f->ncuts++] = p;
	else
		f->out_of_memory = true;
}

static bool writes(const struct ir *p, const struct ir_node *n)
{
	for (uint32_t i = 0; i < n->naccess; i++)
		if (p->accesses[n->access + i].mode & (IRA_WRITE | IRA_WRITE_INV | IRA_WRITE_RESP))
			return true;
	return false;
}

static void add_place(struct infer *f, uint32_t node, uint32_t succ)
{
	assert(node < f->ir->nnodes && (succ == IR_NONE || succ < f->ir->nnodes));
	struct commit_point c = { .kind = COMMIT_STEP, .n = 1 };
	c.at[0].node = node;
	c.at[0].succ = succ;
	add_cut(f, c);
}

/*
 * How many steps it takes at least from each node of the template to leave a
 * block; IR_NONE where it never does. Rounds until nothing changes: a block's
 * nodes are nearly in order, so there are few.
 */
static uint32_t *steps_to_exit(const struct ir *p, const struct ir_template *t)
{
	uint32_t *d = malloc(sizeof *d * (t->nnode + 1));
	bool change = d != NULL;
	for (uint32_t i = 0; d && i < t->nnode; i++)
		d[i] = p->nodes[t->node + i].kind == IRN_EXIT ? 0 : IR_NONE;
	while (change) {
		change = false;
		for (uint32_t i = t->nnode; i-- > 0;) {
			const struct ir_node *n = &p->nodes[t->node + i];
			for (uint32_t k = 0; k < n->nsucc; k++) {
				assert(p->succs[n->succ + k] >= t->node && p->succs[n->succ + k] < t->node + t->nnode);
				uint32_t next = d[p->succs[n->succ + k] - t->node];
				if (next != IR_NONE && next + 1 < d[i] && n->kind != IRN_EXIT) {
					d[i] = next + 1;
					change = true;
				}
			}
		}
	}
	return d;
}

/* The steps of a block that write (or do not), those nearest to the exit
 * first, of equally near ones the last in the text. */
static void add_steps(struct infer *f, uint32_t block, bool writing)
{
	const struct ir *p = f->ir;
	const struct ir_template *t = &p->templates[p->blocks[block].tmpl];
	uint32_t *far = steps_to_exit(p, t), farthest = 0;
	f->out_of_memory |= !far;
	for (uint32_t i = 0; far && i < t->nnode; i++)
		if (far[i] != IR_NONE && far[i] > farthest)
			farthest = far[i];
	for (uint32_t d = 0; far && d <= farthest + 1; d++)
		for (uint32_t i = t->nnode; i-- > 0;) {
			const struct ir_node *n = &p->nodes[t->node + i];
			if (n->block != block || !n->naccess || writes(p, n) != writing ||
			    (far[i] == IR_NONE ? farthest + 1 : far[i]) != d)
				continue;
			/* on any way out first: simpler to say, and no way is left
			 * that commits only at the exit */
			add_place(f, t->node + i, IR_NONE);
			for (uint32_t k = 0; n->nsucc >= 2 && k < n->nsucc; k++)
				add_place(f, t->node + i, p->succs[n->succ + k]);
		}
	free(far);
}

/* All pairs of the places from cut `first` on, while there are not too many. */
static void add_pairs(struct infer *f, uint32_t first)
{
	assert(first <= f->ncuts);
	uint32_t last = f->ncuts;
	for (uint32_t i = first; i < last; i++)
		for (uint32_t k = i + 1; k < last && f->ncuts - first < MAX_CUTS; k++) {
			struct commit_point c = f->cuts[i];
			if (c.kind != COMMIT_STEP || f->cuts[k].kind != COMMIT_STEP)
				continue;
			if (c.at[0].node == f->cuts[k].at[0].node && (c.at[0].succ == IR_NONE || f->cuts[k].at[0].succ == IR_NONE))
				continue; /* one contains the other */
			c.at[1] = f->cuts[k].at[0];
			c.n = 2;
			add_cut(f, c);
		}
}

static void make_candidates(struct infer *f)
{
	for (uint32_t b = 0; b < f->ir->nblocks; b++) {
		f->first[b] = f->ncuts;
		if (f->ir->blocks[b].has_commit || !counts(f, b)) {
			add_cut(f, (struct commit_point){ .kind = COMMIT_MARKED });
			continue;
		}
		add_steps(f, b, true);
		add_steps(f, b, false);
		add_cut(f, (struct commit_point){ .kind = COMMIT_EXIT });
		add_cut(f, (struct commit_point){ .kind = COMMIT_ENTRY });
		add_pairs(f, f->first[b]);
	}
	for (uint32_t b = 0; b < f->ir->nblocks && !f->out_of_memory; b++)
		assert(f->first[b] < (b + 1 < f->ir->nblocks ? f->first[b + 1] : f->ncuts)); /* each block has a candidate */
	f->first[f->ir->nblocks] = f->ncuts;
}

/* The labelling of the present picks. */
static void make_labelling(struct infer *f)
{
	const struct ir *p = f->ir;
	memset(f->lab.edge, 0, p->nsuccs);
	for (uint32_t b = 0; b < p->nblocks; b++) {
		assert(f->first[b] + f->pick[b] < f->first[b + 1]);
		const struct commit_point *c = &f->cuts[f->first[b] + f->pick[b]];
		f->lab.at_entry[b] = c->kind == COMMIT_ENTRY;
		if (c->kind != COMMIT_STEP)
			continue;
		for (uint32_t i = 0; i < c->n; i++) {
			const struct ir_node *n = &p->nodes[c->at[i].node];
			for (uint32_t k = 0; k < n->nsucc; k++)
				if (c->at[i].succ == IR_NONE || p->succs[n->succ + k] == c->at[i].succ)
					f->lab.edge[n->succ + k] = 1;
		}
	}
}

/*
 * The next combination. Ordered by the sum of the picks, so that every block
 * moves away from its last write as little as possible: sums are enumerated
 * in turn, and within a sum all ways to distribute it.
 */
static bool next_same_sum(struct infer *f)
{
	uint32_t n = f->ir->nblocks, carry = 0;
	for (uint32_t i = n; i-- > 0;) {
		/* can block i give one more, taking it from those after it? */
		if (carry && f->pick[i] + 1 < f->first[i + 1] - f->first[i]) {
			f->pick[i]++;
			carry--;
			for (uint32_t k = n; k-- > i + 1;) {
				uint32_t room = f->first[k + 1] - f->first[k] - 1;
				f->pick[k] = carry < room ? carry : room;
				carry -= f->pick[k];
			}
			return true;
		}
		carry += f->pick[i];
		f->pick[i] = 0;
	}
	/* all at 0 now; carry is the sum that was */
	carry++;
	for (uint32_t k = n; k-- > 0;) {
		uint32_t room = f->first[k + 1] - f->first[k] - 1;
		f->pick[k] = carry < room ? carry : room;
		carry -= f->pick[k];
	}
	return carry == 0;
}

/* ---- traces ------------------------------------------------------------- */

/* The order of commits that the present labelling gives on a trace. */
static uint32_t commit_order(const struct infer *f, const struct trace_step *steps, uint32_t n, uint32_t *order)
{
	const struct ir *p = f->ir;
	bool *done = calloc(p->nthreads, sizeof *done);
	uint32_t count = 0;
	for (uint32_t i = 0; done && i < n; i++) {
		const struct trace_step *s = &steps[i];
		uint32_t bf = p->nodes[s->from].block, bt = p->nodes[s->to].block;
		bool was = bf != IR_NONE && counts(f, bf), in = bt != IR_NONE && counts(f, bt);
		bool commit;
		if (!was && !in) {
			commit = true;
		} else if (!was) {
			commit = p->blocks[bt].has_commit ? s->marked_commit : f->lab.at_entry[bt];
			done[s->thread] = commit;
		} else {
			commit = false;
			if (!done[s->thread] && in && p->blocks[bf].has_commit)
				commit = s->marked_commit;
			const struct ir_node *nd = &p->nodes[s->from];
			for (uint32_t k = 0; !done[s->thread] && in && !p->blocks[bf].has_commit && k < nd->nsucc; k++)
				if (p->succs[nd->succ + k] == s->to && f->lab.edge[nd->succ + k])
					commit = true;
			if (!done[s->thread] && !in)
				commit = true;
			done[s->thread] |= commit;
		}
		if (commit)
			order[count++] = s->thread;
	}
	free(done);
	return count;
}

struct pick_outcome {
	uint32_t want, at;
	int32_t *next;
	uint32_t nstate;
	bool committed;
	bool found;
};

static bool take_outcome(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct pick_outcome *p = arg;
	(void)ch;
	if (p->at++ != p->want)
		return true;
	p->found = r == IR_OK;
	p->committed = eff->committed != IR_NONE;
	memcpy(p->next, next, sizeof *next * p->nstate);
	return false;
}

/* Replays a path into trace steps; false when out of memory. */
static bool add_trace(struct infer *f, const struct move *path, uint32_t n)
{
	const struct ir *p = f->ir;
	int32_t *room = malloc(sizeof *room * p->nstate * 3);
	struct bad_trace t = { calloc(n + 1, sizeof *t.steps), 0, calloc(n + 1, sizeof *t.order), 0 };
	if (!room || !t.steps || !t.order || !GROW(f->bad, f->cap_bad, f->nbad + 1ull)) {
		free(room);
		free(t.steps);
		free(t.order);
		return false;
	}
	int32_t *state = room, *next = room + p->nstate, *scratch = next + p->nstate;
	memcpy(state, p->init, sizeof *state * p->nstate);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t th = path[i].thread, from = ir_node_of(p, state, th);
		struct pick_outcome o = { path[i].outcome, 0, next, p->nstate, false, false };
		ir_successors(p, state, th, scratch, take_outcome, &o);
		if (!o.found)
			break;
		t.steps[t.n++] = (struct trace_step){ th, from, ir_node_of(p, next, th), o.committed };
		memcpy(state, next, sizeof *state * p->nstate);
	}
	t.norder = commit_order(f, t.steps, t.n, t.order);
	f->bad[f->nbad++] = t;
	free(room);
	return true;
}

/* Does a trace already speak against the present labelling? */
static bool refuted(struct infer *f)
{
	for (uint32_t i = f->nbad; i-- > 0;) {
		const struct bad_trace *t = &f->bad[i];
		uint32_t *order = calloc(t->n + 1, sizeof *order);
		if (!order)
			return false;
		uint32_t n = commit_order(f, t->steps, t->n, order);
		bool same = n == t->norder && !memcmp(order, t->order, n * sizeof *order);
		free(order);
		if (same)
			return true;
	}
	return false;
}

/* ---- the search --------------------------------------------------------- */

/* The options, with what is left of the states: the bound is for all searches. */
static struct search_options left(const struct infer *f)
{
	struct search_options o = *f->o;
	if (o.max_states)
		o.max_states = o.max_states > f->r->states ? o.max_states - f->r->states : 1;
	return o;
}

/*
 * Most labellings that are wrong are so with few threads. A run in which the
 * others never move is a run of the program, so what it tells against a
 * labelling holds; when it shows a violation, or nothing, all threads are
 * asked. True when the labelling is done with.
 */
static bool refuted_by_few(struct infer *f)
{
	struct commit_result *r = f->r;
	struct search_options few = left(f);
	struct search_result s;
	bool many = false, refuted_now;
	for (uint32_t t = 0; t < f->ir->ntemplates; t++)
		many |= f->ir->templates[t].count > FEW;
	if (!many)
		return false;
	few.few = FEW;
	search_run(f->ir, PROD_COMMIT, f->block, &f->lab, &few, &s);
	if (s.verdict == SEARCH_WRONG)
		refuted_now = exact_explains(f->ir, f->block, s.path, s.npath, f->o->max_bytes) == 1;
	else
		refuted_now = s.verdict == SEARCH_SHADOW_STUCK || s.verdict == SEARCH_SHADOW_ENDLESS ||
		              s.verdict == SEARCH_SHADOW_FAULT;
	if (refuted_now) { /* else all threads are counted */
		r->tried++;
		r->states += s.states;
		r->transitions += s.transitions;
		f->out_of_memory |= !add_trace(f, s.path, s.npath);
	}
	search_result_free(&s);
	return refuted_now;
}

/* One labelling. True when the question is decided. */
static bool try_labelling(struct infer *f)
{
	struct commit_result *r = f->r;
	if (refuted_by_few(f))
		return f->out_of_memory;
	struct search_options o = left(f);
	search_result_free(&r->search);
	search_run(f->ir, PROD_COMMIT, f->block, &f->lab, &o, &r->search);
	r->tried++;
	r->states += r->search.states;
	r->transitions += r->search.transitions;
	for (uint32_t b = 0; b < f->ir->nblocks; b++)
		r->points[b] = f->cuts[f->first[b] + f->pick[b]];
	switch (r->search.verdict) {
	case SEARCH_HOLDS:
	case SEARCH_FAULT:
	case SEARCH_DEADLOCK:
	case SEARCH_LIMIT:
		return true;
	case SEARCH_WRONG: {
		int explained = exact_explains(f->ir, f->block, r->search.path, r->search.npath, f->o->max_bytes);
		r->violation = explained == 0;
		if (explained != 1)
			return explained == 0;
		break;
	}
	case SEARCH_SHADOW_STUCK:
	case SEARCH_SHADOW_ENDLESS:
	case SEARCH_SHADOW_FAULT:
		break; /* perhaps only committed at the wrong moment */
	}
	f->out_of_memory |= !add_trace(f, r->search.path, r->search.npath);
	return f->out_of_memory;
}

void commit_run(const struct ir *ir, uint32_t block, const struct search_options *o, struct commit_result *r)
{
	struct infer f = { .ir = ir, .block = block, .o = o, .r = r };
	memset(r, 0, sizeof *r);
	f.lab.edge = calloc(ir->nsuccs + 1, 1);
	f.lab.at_entry = calloc(ir->nblocks + 1, sizeof *f.lab.at_entry);
	f.first = calloc(ir->nblocks + 2, sizeof *f.first);
	f.pick = calloc(ir->nblocks + 1, sizeof *f.pick);
	r->points = calloc(ir->nblocks + 1, sizeof *r->points);
	bool ok = f.lab.edge && f.lab.at_entry && f.first && f.pick && r->points;
	if (ok)
		make_candidates(&f);
	bool decided = false, more = ok && !f.out_of_memory;
	while (more && !decided && r->tried < MAX_TRIES && r->tried + r->pruned < MAX_LABELS) {
		make_labelling(&f);
		if (refuted(&f))
			r->pruned++;
		else
			decided = try_labelling(&f);
		if (!decided)
			more = next_same_sum(&f);
	}
	if (!ok || f.out_of_memory || (more && !decided)) {
		r->search.verdict = SEARCH_LIMIT;
		r->search.limit = more && !decided && !f.out_of_memory ? "labellings" : "memory";
	} else if (!decided) {
		r->no_labelling = true;
	}
	for (uint32_t i = 0; i < f.nbad; i++) {
		free(f.bad[i].steps);
		free(f.bad[i].order);
	}
	free(f.bad);
	free(f.cuts);
	free(f.lab.edge);
	free(f.lab.at_entry);
	free(f.first);
	free(f.pick);
}

void commit_result_free(struct commit_result *r)
{
	search_result_free(&r->search);
	free(r->points);
	r->points = NULL;
}
