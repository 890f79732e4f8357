/*
 * product_merge: steps of one thread glued together, where that loses nothing
 * (see product.h; the switches are merge_local, drop_pure, transactions).
 *
 * Local (merge_local), and why it is sound. Entering a block touches nothing
 * shared; unless it is the commit action it changes only the thread's own
 * frame, so it commutes with every step of another thread and may be delayed
 * until the thread's next step: the two become one, and the thread is outside
 * until then. Leaving likewise commutes and, when the block has committed,
 * may be done immediately after the preceding step. No quiescent state
 * disappears: both only extend the time outside.
 *
 * Pure iterations (drop_pure): a step that leads from outside into the block
 * and to exactly the frame it would have right after entering, with the
 * globals unchanged (a compare-and-swap that failed), is dropped: the thread
 * can do later from outside all it could do then.
 *
 * Transactions: after Lipton, with the commit step as pivot. locks.h says for
 * a node whether its step is a right mover (commutes with a step of another
 * thread that comes after it), a left mover (one that comes before) or both.
 * A step that commits is neither, whatever it does to the store: the order of
 * commits is what the shadow records; a step that does not commit leaves the
 * shadow alone, so that it moves in the instrumented semantics as it does in
 * the plain one. From a state of a thread,
 *
 *     right* any left*
 *
 * becomes one transition. Take an execution that ends in a quiescent state,
 * or in a fault. What a thread does between two quiescent states is cut into
 * such sequences. Its right movers are moved right to their pivot, its left
 * movers left to it; the states are the same at the end. A sequence that has
 * not reached its pivot when another thread's fault ends the execution is
 * left out: the steps that follow commute with it. One that is past its pivot
 * is completed: left movers are never blocked (locks.h) and commute to before
 * the fault. Hence
 *
 *   - a right mover that cannot continue gives no transition: until it can, the
 *     thread might as well not have begun (deadlocks would be lost: the search
 *     for them switches transactions off);
 *   - a left mover that faults, or has no outcome, is not merged: the state
 *     before it stays;
 *   - with the shadow, no state between two merged steps may be quiescent: the
 *     thread must be inside a block that counts there, because [wrong] is
 *     searched for in every quiescent state;
 *   - it may stop anywhere: a sequence cut in two is two sequences. It does
 *     when it has become long, so an endless loop of left movers cannot keep
 *     the others from moving.
 *
 * In the midst of a transaction, a step that changes nothing at all (a failed
 * attempt at a lock) is left out.
 */
#include "base/invariant.h"
#include "explore/product_int.h"

#include <string.h>

#define MAX_GLUED      20000u /* steps of one transition */
#define MAX_OUTCOMES   512u   /* beyond, nothing more is glued */
#define MERGE_MAX_WORK 200000u

/* A try that fails has an effect when it is outside the blocks that count, where steps are taken on the shadow as well, and
 * when the block commits with it. */
static bool unshadowed(const void *arg, uint32_t node)
{
	const struct product *x = arg;
	const struct ir_node *n = &x->ir->nodes[node];
	for (uint32_t i = n->succ; x->lab && i < n->succ + n->nsucc; i++)
		if (x->lab->edge[i] && x->ir->succs[i] == node)
			return false;
	return x->mode == PROD_STANDARD || product_marked(x, node);
}

bool product_use_transactions(struct product *x)
{
	x->transactions = locks_init(&x->locks, x->ir, unshadowed, x);
	return x->transactions;
}

struct glueing {
	struct computing *c;
	uint32_t work; /* steps taken */
};

static uint32_t node_of(const struct prod_kind *k, uint32_t local)
{
	assert(local < k->ninfo);
	return (uint32_t)vector_table_get(&k->frames, k->info[local].frame)[0];
}

static bool final_flags(uint32_t flags)
{
	return flags & ~(uint32_t)PRODF_COMMIT;
}

static bool moves_right(const struct product *x, uint32_t node)
{
	if (x->ir->nodes[node].kind == IRN_ENTER)
		return x->merge_local;
	return x->transactions && locks_right(&x->locks, node);
}

static bool moves_left(const struct product *x, const struct prod_kind *k, uint32_t local)
{
	uint32_t node = node_of(k, local);
	if (x->ir->nodes[node].kind == IRN_EXIT) /* that has committed, or does not count */
		return x->merge_local && (x->mode == PROD_STANDARD || k->info[local].phase == 1);
	return x->transactions && locks_left(&x->locks, node);
}

/* May a state where the thread is there be skipped? */
static bool hidden(const struct product *x, const struct prod_kind *k, uint32_t local)
{
	enum ir_node_kind kind = x->ir->nodes[node_of(k, local)].kind;
	if (kind == IRN_END || kind == IRN_STUCK)
		return false;
	return x->mode == PROD_STANDARD || k->info[local].inside;
}

/* Does the outcome lead back to where its step began, and may it be left out? */
static bool idle(const struct product *x, const struct product_outcome *o, const struct product_outcome *from, uint32_t node)
{
	if (o->flags || o->global != from->global || o->local != from->local)
		return false;
	return (x->drop_pure && from->entered) || (x->transactions && locks_right(&x->locks, node));
}

static void drop(struct computing *c, uint32_t i)
{
	assert(i < c->nout);
	memmove(&c->out[i], &c->out[i + 1], (c->nout - i - 1) * sizeof *c->out);
	c->nout--;
}

/* Takes the next step from outcome `first`; its outcomes are appended. */
static void go_on(struct glueing *g, const struct product_outcome *first)
{
	assert(!final_flags(first->flags) && first->last < g->c->nchain);
	struct computing *c = g->c;
	c->before = first->last;
	c->nbefore = first->nmoves;
	product_one_step(c, first->global, first->local);
	g->work++;
}

/* What may be glued to the outcome of a step from this node. */
static enum glue after(const struct product *x, const struct product_outcome *o, uint32_t node)
{
	assert(node < x->ir->nnodes);
	if (final_flags(o->flags))
		return GLUE_NOTHING;
	return !o->flags && moves_right(x, node) ? GLUE_ANY : GLUE_LEFT;
}

/* Was the same reached in another way? Then one of them will do. */
static bool twice(const struct computing *c, uint32_t i)
{
	const struct product_outcome *o = &c->out[i];
	for (uint32_t k = 0; k < i; k++)
		if (c->out[k].global == o->global && c->out[k].local == o->local && c->out[k].flags == o->flags &&
		    c->out[k].glue == o->glue)
			return true;
	return false;
}

/* The i-th outcome came by right movers: whatever is next is glued to it. */
static void glue_any(struct glueing *g, uint32_t i)
{
	assert(i < g->c->nout && g->c->out[i].glue == GLUE_ANY);
	struct computing *c = g->c;
	struct product_outcome first = c->out[i];
	uint32_t node = node_of(c->k, first.local), n = c->nout;
	go_on(g, &first);
	for (uint32_t k = n; k < c->nout;) {
		struct product_outcome *o = &c->out[k];
		o->glue = after(c->x, o, node);
		bool useless = idle(c->x, o, &first, node);
		o->flags |= first.flags;
		if (useless || (c->x->transactions && twice(c, k)))
			drop(c, k);
		else
			k++;
	}
	drop(c, i);
}

/* Its next step when that moves left; false when it is not glued. */
static bool glue_left(struct glueing *g, uint32_t i)
{
	assert(i < g->c->nout);
	struct computing *c = g->c;
	struct product_outcome first = c->out[i];
	uint32_t n = c->nout;
	if (!moves_left(c->x, c->k, first.local))
		return false;
	go_on(g, &first);
	bool ok = c->nout > n;
	for (uint32_t k = n; k < c->nout; k++)
		ok &= !c->out[k].flags && (c->out[k].global != first.global || c->out[k].local != first.local);
	if (!ok) {
		c->nout = n;
		return false;
	}
	for (uint32_t k = n; k < c->nout;) {
		c->out[k].flags = first.flags;
		c->out[k].glue = GLUE_LEFT;
		if (c->x->transactions && twice(c, k))
			drop(c, k);
		else
			k++;
	}
	drop(c, i);
	return true;
}

void product_merged_step(struct computing *c, uint32_t global, uint32_t local)
{
	assert(!c->nout && !c->nchain);
	struct product *x = c->x;
	struct glueing g = { c, 0 };
	uint32_t node = node_of(c->k, local);
	c->before = c->nbefore = 0;
	product_one_step(c, global, local);
	if (!x->merge_local && !x->transactions)
		return;
	for (uint32_t i = 0; i < c->nout; i++) {
		c->out[i].glue = after(x, &c->out[i], node);
		c->out[i].entered = x->ir->nodes[node].kind == IRN_ENTER;
	}
	for (uint32_t i = 0; i < c->nout && !x->out_of_memory;) {
		const struct product_outcome *o = &c->out[i];
		bool more = o->glue != GLUE_NOTHING && hidden(x, c->k, o->local) && o->nmoves < MAX_GLUED &&
		            c->nout <= MAX_OUTCOMES && g.work < MERGE_MAX_WORK;
		if (more && o->glue == GLUE_ANY)
			glue_any(&g, i);
		else if (!more || !glue_left(&g, i))
			i++;
	}
}
