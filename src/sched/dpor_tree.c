/*
 * dpor_tree: wake-up trees (JACM 2017, section 6). A tree's branches are
 * ordered; tree_insert adds a sequence v below the first branches that are
 * weak initials of what is left of v, unless that ends at a leaf (then what
 * the leaf leads to covers v).
 */
#include "sched/dpor.h"

uint32_t tree_new(struct dpor *d, uint32_t thread, const struct sched_op *op, uint32_t choice)
{
	uint32_t i = d->free;
	if (i)
		d->free = d->branch[i].next;
	else if (d->n_branches < d->max_branches)
		i = d->n_branches++;
	else {
		d->full = true;
		return 0;
	}
	d->branch[i] = (struct branch){ .op = *op, .thread = thread, .choice = choice };
	return i;
}

/* Branch and all below it and after it; iterative, for trees are deep. */
void tree_free(struct dpor *d, uint32_t i)
{
	while (i) {
		uint32_t child = d->branch[i].child, next = d->branch[i].next;
		d->branch[i].next = d->free;
		d->free = i;
		if (!child) {
			i = next;
			continue;
		}
		/* hang what comes after behind the last of the children */
		uint32_t last = child;
		while (d->branch[last].next)
			last = d->branch[last].next;
		d->branch[last].next = next;
		i = child;
	}
}

/* The sequence in hand: v[0..n) are events, the last one is e'. */
struct sequence {
	struct sched *s;
	struct dpor *d;
	const struct later *l;
	uint32_t n;
};

static uint32_t thread_at(const struct sequence *q, uint32_t i)
{
	return i + 1 == q->n ? q->l->thread : q->s->ev[q->d->v[i]].thread;
}

static const struct sched_op *op_at(const struct sequence *q, uint32_t i)
{
	return i + 1 == q->n ? &q->l->op : &q->s->ev[q->d->v[i]].op;
}

static uint32_t choice_at(const struct sequence *q, uint32_t i)
{
	if (i + 1 == q->n)
		return NO_CHOICE;
	const struct sched_event *e = &q->s->ev[q->d->v[i]];
	return e->choices ? e->choice : NO_CHOICE;
}

/* Does v[j] happen before v[i], j < i, in the order where e' comes last? */
static bool before(const struct sequence *q, uint32_t j, uint32_t i)
{
	uint32_t e = q->d->v[j];
	if (i + 1 < q->n)
		return happens_after(q->s, q->d->v[i], e);
	return q->d->base[q->s->ev[e].thread] >= q->d->link[e].seq ||
	       sched_op_dependent(&q->s->ev[e].op, &q->l->op);
}

enum initial { NOT_INITIAL, FREE_INITIAL, OWN_INITIAL };

/* Is thread t, pending with op, a weak initial of what is left of v? Own: its
 * event is v[*at]; free: it has none there and depends on nothing. */
static enum initial weak_initial(const struct sequence *q, uint32_t t, const struct sched_op *op, uint32_t *at)
{
	const uint8_t *used = q->d->used;
	uint32_t i = 0;
	while (i < q->n && (used[i] || thread_at(q, i) != t))
		i++;
	*at = i;
	if (i < q->n) {
		for (uint32_t j = 0; j < i; j++)
			if (!used[j] && before(q, j, i))
				return NOT_INITIAL;
		return OWN_INITIAL;
	}
	struct sched_op pending = as_pending(*op);
	for (uint32_t j = 0; j < q->n; j++)
		if (!used[j] && sched_op_dependent(&pending, op_at(q, j)))
			return NOT_INITIAL;
	return FREE_INITIAL;
}

/* Fills v, and first[] for the threads that sleep at the node. */
static uint32_t make_sequence(struct sched *s, const struct goes *g)
{
	struct dpor *d = s->dpor;
	uint32_t k = g->e[0], n = 0;
	for (uint32_t t = 0; t < s->n_ids; t++)
		d->first[t] = NONE;
	for (uint32_t j = s->n; j-- > k;)
		d->first[s->ev[j].thread] = j;
	for (uint32_t j = k + 1; j < s->n; j++) {
		bool after = false;
		for (uint32_t i = 0; i < g->n && !after; i++)
			after = g->e[i] <= j && happens_after(s, j, g->e[i]);
		if (!after) {
			d->used[n] = 0;
			d->v[n++] = j;
		}
	}
	d->used[n] = 0;
	d->v[n++] = NONE;
	return n;
}

static bool covered_by_sleep(const struct sequence *q, uint32_t node)
{
	const struct sched *s = q->s;
	const struct dpor *d = q->d;
	const uint64_t *sleep = sleep_of(d, node);
	for (uint32_t w = 0; w < d->words; w++)
		for (uint64_t bits = sleep[w]; bits; bits &= bits - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(bits), at;
			const struct sched_op *op = d->first[t] == NONE ? &s->th[t].op : &s->ev[d->first[t]].op;
			if (weak_initial(q, t, op, &at))
				return true;
		}
	return false;
}

/* What is left of v, `lead` first if not NONE, as a chain of branches. */
static uint32_t chain_of(const struct sequence *q, uint32_t lead)
{
	struct dpor *d = q->d;
	uint32_t head = 0, last = 0;
	for (uint32_t r = lead == NONE ? 1 : 0; r < 2; r++)
		for (uint32_t i = r ? 0 : lead; i < (r ? q->n : lead + 1); i++) {
			if (d->used[i])
				continue;
			uint32_t b = tree_new(d, thread_at(q, i), op_at(q, i), choice_at(q, i));
			if (!b)
				return head;
			if (last)
				d->branch[last].child = b;
			else
				head = b;
			last = b;
			d->used[i] = 1;
		}
	return head;
}

void tree_insert(struct sched *s, const struct goes *g, const struct later *l)
{
	struct dpor *d = s->dpor;
	struct sequence q = { s, d, l, make_sequence(s, g) };
	uint32_t node = g->e[0], left = q.n;
	if (node < s->o.split_depth || covered_by_sleep(&q, node))
		return;
	uint32_t *link = &d->node[node].tree;
	for (;;) {
		uint32_t last = 0, beside = 0, lead = NONE, into = 0;
		for (uint32_t b = *link; b && !into; last = b, b = d->branch[b].next) {
			uint32_t at, t = d->branch[b].thread;
			if (beside && t != d->branch[beside].thread)
				break;
			enum initial in = weak_initial(&q, t, &d->branch[b].op, &at);
			if (!in)
				continue;
			uint32_t c = in == OWN_INITIAL ? choice_at(&q, at) : NO_CHOICE;
			if (c != NO_CHOICE && d->branch[b].choice != NO_CHOICE && c != d->branch[b].choice) {
				beside = b, lead = at; /* the same thread with another choice */
				continue;
			}
			if (in == OWN_INITIAL) {
				d->used[at] = 1;
				left--;
			}
			into = b;
		}
		if (into && (!left || !d->branch[into].child))
			return; /* v is there, or a leaf covers it */
		if (into) {
			link = &d->branch[into].child;
			continue;
		}
		uint32_t b = chain_of(&q, lead);
		if (!b)
			return;
		last = beside ? beside : last;
		if (last) {
			d->branch[b].next = d->branch[last].next;
			d->branch[last].next = b;
		} else
			*link = b;
		return;
	}
}
