#include "verdict/verify_reduction.h"

#include <stdlib.h>
#include <string.h>

#include "verdict/verdict.h"

#define ANY_MAX_LOCKS 64u    /* bits */
#define MAX_NODES     20000u /* pairs of them are compared */

enum { NOT_YET = 1, DONE = 2 }; /* before and after the step that does not move */

struct any {
	const struct ir *p;
	const bool *many;
	struct {
		uint32_t var, elem;
	} locks[ANY_MAX_LOCKS];
	uint32_t nlocks;
	uint64_t *held; /* by node */
	uint8_t *phase; /* by node: NOT_YET, DONE or both */
	bool *moves;    /* by node: both ways */
};

static bool is_lock(const struct any *x, const struct ir_access *a)
{
	return a->mode & (IRA_ACQUIRE | IRA_RELEASE) || x->p->vars[a->var].kind == IRV_LOCK;
}

/* The lock's bit; 0 when its element is not known or there are too many. */
static uint64_t bit_of(struct any *x, const struct ir_access *a)
{
	uint32_t elem = x->p->vars[a->var].len > 1 ? a->index : 0;
	if (elem == IR_NONE)
		return 0;
	for (uint32_t i = 0; i < x->nlocks; i++)
		if (x->locks[i].var == a->var && x->locks[i].elem == elem)
			return (uint64_t)1 << i;
	if (x->nlocks == ANY_MAX_LOCKS)
		return 0;
	x->locks[x->nlocks].var = a->var;
	x->locks[x->nlocks].elem = elem;
	return (uint64_t)1 << x->nlocks++;
}

/* All locks of the variable. */
static uint64_t bits_of(const struct any *x, uint32_t var)
{
	uint64_t all = 0;
	for (uint32_t i = 0; i < x->nlocks; i++)
		if (x->locks[i].var == var)
			all |= (uint64_t)1 << i;
	return all;
}

/* ---- which locks are held ------------------------------------------------------ */

static uint64_t held_behind(struct any *x, uint32_t node)
{
	const struct ir_node *n = &x->p->nodes[node];
	uint64_t held = x->held[node];
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &x->p->accesses[n->access + i];
		uint64_t bit = is_lock(x, a) ? bit_of(x, a) : 0;
		if (a->mode & IRA_RELEASE)
			held &= bit ? ~bit : ~bits_of(x, a->var);
		else if ((a->mode & IRA_ACQUIRE) && n->naccess == 1)
			held |= bit;
	}
	return held;
}

/* Every bit is there at first; passes go on until none is taken away. Bits are given out before. */
static void find_held(struct any *x)
{
	const struct ir *p = x->p;
	for (uint32_t i = 0; i < p->naccesses; i++)
		if (is_lock(x, &p->accesses[i]))
			bit_of(x, &p->accesses[i]);
	memset(x->held, 0xFF, p->nnodes * sizeof *x->held);
	for (uint32_t t = 0; t < p->ntemplates; t++)
		x->held[p->templates[t].entry] = 0;
	for (uint32_t t = 0; t < p->nthreads; t++)
		x->held[ir_node_of(p, p->init, t)] = 0;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t n = 0; n < p->nnodes; n++) {
			uint64_t behind = held_behind(x, n);
			for (uint32_t k = 0; k < p->nodes[n].nsucc; k++) {
				uint64_t *to = &x->held[p->succs[p->nodes[n].succ + k]];
				again |= (*to & ~behind) != 0;
				*to &= behind;
			}
		}
	}
}

/* ---- what moves ------------------------------------------------------------------ */

static bool only_reads(const struct ir_access *a)
{
	return a->mode == IRA_READ;
}

static bool may_conflict(const struct ir_access *a, const struct ir_access *b)
{
	bool same = a->index == IR_NONE || b->index == IR_NONE || a->index == b->index;
	return a->var == b->var && same && !(only_reads(a) && only_reads(b));
}

static uint32_t template_of(const struct ir *p, uint32_t node)
{
	uint32_t t = 0;
	while (node - p->templates[t].node >= p->templates[t].nnode)
		t++;
	return t;
}

/* Has the access, at this node, a lock in common with everything it conflicts with? */
static bool protected_by_lock(const struct any *x, uint32_t node, const struct ir_access *a)
{
	const struct ir *p = x->p;
	uint32_t own = template_of(p, node);
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		if (t == own && p->templates[t].count == 1 && !x->many[t])
			continue;
		for (uint32_t m = p->templates[t].node; m < p->templates[t].node + p->templates[t].nnode; m++)
			for (uint32_t k = 0; k < p->nodes[m].naccess; k++)
				if (may_conflict(a, &p->accesses[p->nodes[m].access + k]) && !(x->held[node] & x->held[m]))
					return false;
	}
	return true;
}

static bool moves_both_ways(const struct any *x, uint32_t node)
{
	const struct ir_node *n = &x->p->nodes[node];
	for (uint32_t i = 0; i < n->naccess; i++) {
		const struct ir_access *a = &x->p->accesses[n->access + i];
		if (is_lock(x, a) || (a->mode & ~(uint32_t)IRA_RMW) || !protected_by_lock(x, node, a))
			return false;
	}
	return true;
}

/* The phases after a step in this phase; 0: it must not be here. */
static uint8_t step_in(const struct any *x, uint32_t node, uint8_t phase)
{
	const struct ir_node *n = &x->p->nodes[node];
	uint32_t mode = n->naccess == 1 ? x->p->accesses[n->access].mode : 0;
	if (x->moves[node])
		return phase;
	if (mode == IRA_ACQUIRE)
		return phase == NOT_YET ? NOT_YET : 0;
	if (mode == IRA_RELEASE)
		return DONE;
	return phase == NOT_YET ? DONE : 0;
}

/* ---- ways through the blocks ------------------------------------------------------- */

static bool counts(uint32_t of_node, uint32_t block)
{
	return of_node != IR_NONE && (block == VERDICT_PROGRAM || of_node == block);
}

/* Gives the phase to the nodes that a step may lead to inside the block. */
static bool pass_on(struct any *x, uint32_t node, uint32_t block, uint8_t phase)
{
	const struct ir *p = x->p;
	bool grew = false;
	for (uint32_t k = 0; k < p->nodes[node].nsucc; k++) {
		uint32_t to = p->succs[p->nodes[node].succ + k];
		if (!counts(p->nodes[to].block, block))
			continue;
		grew |= (phase & ~x->phase[to]) != 0;
		x->phase[to] |= phase;
	}
	return grew;
}

static bool reduces(struct any *x, uint32_t block)
{
	const struct ir *p = x->p;
	for (bool again = true; again;) {
		again = false;
		for (uint32_t n = 0; n < p->nnodes; n++) {
			if (p->nodes[n].kind == IRN_ENTER && counts((uint32_t)p->code[p->nodes[n].ins + 1].a, block))
				again |= pass_on(x, n, block, NOT_YET);
			if (!counts(p->nodes[n].block, block) || p->nodes[n].kind == IRN_EXIT)
				continue;
			for (unsigned f = NOT_YET; f <= DONE; f++) {
				uint8_t behind = x->phase[n] & f ? step_in(x, n, (uint8_t)f) : (uint8_t)f;
				if (!behind)
					return false;
				if (x->phase[n] & f)
					again |= pass_on(x, n, block, behind);
			}
		}
	}
	return true;
}

const char *verify_reduction(const struct ir *p, uint32_t block, const bool *many)
{
	struct any x = { .p = p, .many = many };
	const char *why = "not checked for other numbers of threads than declared: the held locks do not prove it";
	if (p->nnodes > MAX_NODES)
		return "not checked for other numbers of threads than declared: the model is too large";
	x.held = calloc(p->nnodes + 1ull, sizeof *x.held);
	x.phase = calloc(p->nnodes + 1ull, sizeof *x.phase);
	x.moves = calloc(p->nnodes + 1ull, sizeof *x.moves);
	if (x.held && x.phase && x.moves) {
		find_held(&x);
		for (uint32_t n = 0; n < p->nnodes; n++)
			x.moves[n] = !counts(p->nodes[n].block, block) || moves_both_ways(&x, n);
		why = reduces(&x, block) ? NULL : why;
	} else {
		why = "no memory";
	}
	free(x.held);
	free(x.phase);
	free(x.moves);
	return why;
}
