#include "reduce/reduce.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "reduce/value_ranges.h"

/* ---- the automaton ------------------------------------------------------ */

enum { PRE = 1, POST = 2 }; /* may a thread be here before, after its commit? */

struct reduce_walk {
	const struct flow *f;
	const struct movers *m;
	bool alone;       /* the marks of the other blocks are ignored */
	uint8_t *phase;   /* by node: PRE, POST */
	uint32_t *commit; /* by node with POST: the step that ended the right-movers */
	uint32_t *work;   /* (node << 1 | post), each pair at most once */
	uint32_t head, len;
	bool *bad; /* by block */
	uint32_t *first, *second;
};

static void visit(struct reduce_walk *w, uint32_t node, bool post, uint32_t commit)
{
	assert(w->f->set[node] != FLOW_UNREACHED && (!post || commit != IR_NONE));
	uint8_t bit = post ? POST : PRE;
	if (w->phase[node] & bit)
		return;
	w->phase[node] |= bit;
	if (post)
		w->commit[node] = commit;
	assert(w->len < 2 * w->f->ir->nnodes); /* each pair once */
	w->work[w->len++] = node << 1 | post;
}

/* Takes the step from `node`; breadth first, so the first misfit found in a
 * block is one of the nearest to its entry. */
static void advance(struct reduce_walk *w, uint32_t node, bool post)
{
	assert(w->phase[node] & (post ? POST : PRE) && w->f->ir->nodes[node].block != IR_NONE);
	const struct ir *p = w->f->ir;
	uint32_t block = p->nodes[node].block, i = 0, commit = post ? w->commit[node] : IR_NONE;
	enum reduce_mover kind = mover_of(w->m, w->f, node, w->alone ? block : FLOW_ALL);
	struct outcome e;
	if (post && (kind == MOVER_RIGHT || kind == MOVER_NON)) {
		if (!w->bad[block]) {
			w->bad[block] = true;
			assert(commit != IR_NONE && w->f->ir->nodes[commit].block == block);
			w->first[block] = commit;
			w->second[block] = node;
		}
		return;
	}
	if (!post && (kind == MOVER_LEFT || kind == MOVER_NON)) {
		post = true;
		commit = node;
	}
	while (flow_edge(w->f, node, &i, &e))
		if (p->nodes[e.succ].block == block)
			visit(w, e.succ, post, commit);
}

static void walk_blocks(struct reduce_walk *w, struct arena *a)
{
	const struct ir *p = w->f->ir;
	struct outcome e;
	w->phase = arena_array(a, uint8_t, p->nnodes + 1);
	w->commit = arena_array(a, uint32_t, p->nnodes + 1);
	w->work = arena_array(a, uint32_t, (size_t)p->nnodes * 2 + 1);
	w->bad = arena_array(a, bool, p->nblocks + 1);
	w->first = arena_array(a, uint32_t, p->nblocks + 1);
	w->second = arena_array(a, uint32_t, p->nblocks + 1);
	w->head = w->len = 0;
	for (uint32_t id = 0; id < p->nnodes; id++) {
		if (p->nodes[id].kind != IRN_ENTER || w->f->set[id] == FLOW_UNREACHED)
			continue;
		uint32_t i = 0;
		while (flow_edge(w->f, id, &i, &e))
			if (p->nodes[e.succ].block != IR_NONE)
				visit(w, e.succ, false, IR_NONE);
	}
	while (w->head < w->len) {
		uint32_t x = w->work[w->head++];
		advance(w, x >> 1, x & 1);
	}
}

/* ---- both questions ----------------------------------------------------- */

static char *say_why(const struct reduce_walk *w, uint32_t b)
{
	struct buf text;
	buf_init(&text);
	reduce_why(w->f, w->m, w->alone ? b : FLOW_ALL, w->first[b], w->second[b], &text);
	char *s = strdup(buf_cstr(&text));
	buf_free(&text);
	return s;
}

static void take(struct reduce_result *r, const struct reduce_walk *w, bool any)
{
	assert(r->nblocks == w->f->ir->nblocks);
	for (uint32_t b = 0; b < r->nblocks; b++) {
		struct reduce_block *rb = &r->blocks[b];
		bool ok = !w->bad[b];
		if (any)
			*(w->alone ? &rb->any : &rb->part_any) = ok;
		else
			*(w->alone ? &rb->reducible : &rb->part) = ok;
		if (!w->alone)
			*(any ? &r->all_any : &r->all) &= ok;
		if (any || (ok && w->alone))
			continue;
		if (w->alone) {
			rb->first = w->first[b];
			rb->second = w->second[b];
			rb->why = say_why(w, b);
		} else if (!ok) {
			rb->part_why = say_why(w, b);
		}
	}
}

static void analyse(const struct ir *p, struct reduce_result *r, struct arena *a)
{
	struct flow f;
	struct movers m;
	struct reduce_walk w = { .f = &f, .m = &m };
	struct buf text;
	flow_run(&f, p, a);
	r->fault_free = value_ranges_fault_free(&f, a);
	for (uint32_t b = 0; b < p->nblocks; b++)
		r->blocks[b].first = r->blocks[b].second = IR_NONE;
	for (int any = 1; any >= 0; any--) {
		movers_find(&m, &f, any, a);
		for (int alone = 0; alone < 2; alone++) {
			w.alone = alone;
			walk_blocks(&w, a);
			take(r, &w, any);
		}
	}
	memcpy(r->mover, m.mover, p->nnodes);
	memcpy(r->hand, f.hand, p->nvars);
	buf_init(&text);
	reduce_say_locks(&f, &text);
	if (text.len)
		r->locks = strdup(buf_cstr(&text));
	buf_free(&text);
}

void reduce_run(const struct ir *p, struct reduce_result *r)
{
	struct arena a;
	jmp_buf oom;
	memset(r, 0, sizeof *r);
	r->nblocks = p->nblocks;
	r->blocks = calloc(p->nblocks + 1, sizeof *r->blocks);
	r->mover = calloc(p->nnodes + 1, 1);
	r->hand = calloc(p->nvars + 1, 1);
	r->out_of_memory = !r->blocks || !r->mover || !r->hand;
	if (r->out_of_memory)
		return;
	arena_init(&a, 0);
	a.oom = &oom;
	r->all = r->all_any = true;
	if (setjmp(oom)) {
		r->out_of_memory = true;
		r->all = r->all_any = r->fault_free = false;
		for (uint32_t b = 0; b < p->nblocks; b++) {
			struct reduce_block *rb = &r->blocks[b];
			rb->reducible = rb->any = rb->part = rb->part_any = false;
		}
	} else {
		analyse(p, r, &a);
	}
	for (uint32_t b = 0; b < p->nblocks; b++) {
		const struct reduce_block *rb = &r->blocks[b];
		/* more threads take nothing away, and more marks neither */
		assert(rb->reducible || !rb->any);
		assert(rb->part || !rb->part_any);
		assert((rb->first == IR_NONE) == (rb->second == IR_NONE) || r->out_of_memory);
	}
	assert(!r->all_any || r->all);
	arena_free(&a);
}

void reduce_result_free(struct reduce_result *r)
{
	for (uint32_t b = 0; r->blocks && b < r->nblocks; b++) {
		free(r->blocks[b].why);
		free(r->blocks[b].part_why);
	}
	free(r->blocks);
	free(r->mover);
	free(r->hand);
	free(r->locks);
	memset(r, 0, sizeof *r);
}
