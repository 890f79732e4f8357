/*
 * dpor_tree: wake-up trees (JACM 2017, section 6). A tree's branches are
 * ordered; tree_insert adds a sequence v below the first branches that are
 * weak initials of what is left of v, unless that ends at a leaf (then what
 * the leaf leads to covers v).
 */
#include "base/invariant.h"
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
	d->branch[i] = (struct branch){ .op = *op, .thread = thread, .choice = (uint16_t)choice };
	return i;
}

/* Branch and all below it and after it; iterative, for trees are deep. */
void dpor_tree_free(struct dpor *d, uint32_t i)
{
	while (i) {
		uint32_t child = d->branch[i].child, next = d->branch[i].next;
		d->branch[i].next = d->free;
		d->free = i;
		if (!child) {
			i = next;
			continue;
		}
		/* append what comes after to the last of the children */
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
	uint8_t level; /* what used[] holds for what this call has used */
};

static uint32_t thread_at(const struct sequence *q, uint32_t i)
{
	assert(i < q->n);
	return i + 1 == q->n ? q->l->thread : q->s->ev[q->d->v[i]].thread;
}

static const struct sched_op *op_at(const struct sequence *q, uint32_t i)
{
	assert(i < q->n);
	return i + 1 == q->n ? &q->l->op : &q->s->ev[q->d->v[i]].op;
}

static uint32_t choice_at(const struct sequence *q, uint32_t i)
{
	assert(i < q->n);
	if (i + 1 == q->n)
		return NO_CHOICE;
	const struct sched_event *e = &q->s->ev[q->d->v[i]];
	return e->choices ? e->choice : NO_CHOICE;
}

static uint16_t choices_at(const struct sequence *q, uint32_t i)
{
	assert(i < q->n);
	return i + 1 == q->n ? 0 : q->s->ev[q->d->v[i]].choices;
}

/* Does v[j] happen before v[i], j < i, in the order where e' comes last? */
static bool before(const struct sequence *q, uint32_t j, uint32_t i)
{
	assert(j < i && i < q->n);
	uint32_t e = q->d->v[j];
	if (i + 1 < q->n)
		return happens_after(q->s, q->d->v[i], e);
	return q->d->base[q->s->ev[e].thread] >= q->d->link[e].seq || sched_op_dependent(&q->s->ev[e].op, &q->l->op);
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
	assert(n);
	return n;
}

/* A sleeping thread without an event in v covers it because v, inserted from
 * the runs that took that thread first, was as long as they were. Shards insert
 * nothing at their first nodes, so for them only one with an event does. */
static bool covered_by_sleep(const struct sequence *q, uint32_t node)
{
	const struct sched *s = q->s;
	const struct dpor *d = q->d;
	const uint64_t *sleep = sleep_of(d, node);
	for (uint32_t w = 0; w < d->words; w++)
		for (uint64_t bits = sleep[w]; bits; bits &= bits - 1) {
			uint32_t t = w * 64 + (uint32_t)__builtin_ctzll(bits), at;
			const struct sched_op *op = d->first[t] == NONE ? &s->th[t].op : &s->ev[d->first[t]].op;
			enum initial in = weak_initial(q, t, op, &at);
			if (in == OWN_INITIAL || (in == FREE_INITIAL && s->o.shards < 2))
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
			d->branch[b].choices = choices_at(q, i);
			if (last)
				d->branch[last].child = b;
			else
				head = b;
			last = b;
			d->used[i] = q->level;
		}
	return head;
}

/* Where to go on at a list of branches: the first that is a weak initial. */
struct dpor_way {
	enum initial in;
	uint32_t into, at;     /* the branch; its event in v when it is its own */
	uint32_t last;         /* else: the last branch, after which v goes, */
	uint32_t beside, lead; /* or the one whose thread leads v with another choice */
};

static struct dpor_way find_way(const struct sequence *q, uint32_t b)
{
	const struct dpor *d = q->d;
	struct dpor_way w = { .in = NOT_INITIAL, .lead = NONE };
	for (; b; w.last = b, b = d->branch[b].next) {
		const struct branch *x = &d->branch[b];
		if (w.beside && x->thread != d->branch[w.beside].thread)
			break;
		enum initial in = weak_initial(q, x->thread, &x->op, &w.at);
		if (!in)
			continue;
		uint32_t c = in == OWN_INITIAL ? choice_at(q, w.at) : NO_CHOICE;
		if (c != NO_CHOICE && x->choice != NO_CHOICE && c != x->choice) {
			w.beside = b;
			w.lead = w.at;
			continue;
		}
		w.in = in;
		w.into = b;
		return w;
	}
	return w;
}

static uint32_t left_of(const struct sequence *q)
{
	uint32_t left = 0;
	for (uint32_t i = 0; i < q->n; i++)
		left += !q->d->used[i];
	return left;
}

static void forget_level(const struct sequence *q)
{
	for (uint32_t i = 0; i < q->n; i++)
		if (q->d->used[i] >= q->level)
			q->d->used[i] = 0;
}

static void insert_below(struct sequence *q, uint32_t *link);

/* v has nothing of branch b's thread, which makes a choice: v goes below each
 * of its choices. */
static void insert_each_choice(struct sequence *q, uint32_t b)
{
	struct dpor *d = q->d;
	uint32_t n = d->branch[b].choices, t = d->branch[b].thread, last = b;
	q->level++;
	if (q->level == 0xff)
		d->full = true; /* deeper than any tree seen: give up, say so */
	for (uint32_t c = 0; c < n && !d->full; c++) {
		uint32_t i = b;
		while (i && d->branch[i].thread == t && d->branch[i].choice != c) {
			last = i;
			i = d->branch[i].next;
		}
		if (i && d->branch[i].thread == t) {
			if (d->branch[i].child)
				insert_below(q, &d->branch[i].child);
		} else if ((i = tree_new(d, t, &d->branch[b].op, c))) {
			d->branch[i].choices = (uint16_t)n;
			d->branch[i].next = d->branch[last].next;
			d->branch[last].next = i;
			d->branch[i].child = chain_of(q, NONE);
		}
		forget_level(q);
	}
	q->level--;
}

static void insert_below(struct sequence *q, uint32_t *link)
{
	struct dpor *d = q->d;
	for (;;) {
		struct dpor_way w = find_way(q, *link);
		if (!w.in) {
			uint32_t b = chain_of(q, w.lead), after = w.beside ? w.beside : w.last;
			if (b && after) {
				d->branch[b].next = d->branch[after].next;
				d->branch[after].next = b;
			} else if (b)
				*link = b;
			return;
		}
		if (w.in == OWN_INITIAL)
			d->used[w.at] = q->level;
		else if (d->branch[w.into].choices > 1) {
			insert_each_choice(q, w.into);
			return;
		}
		/* all of v is there, or a leaf covers it */
		if (!d->branch[w.into].child || (w.in == OWN_INITIAL && !left_of(q)))
			return;
		link = &d->branch[w.into].child;
	}
}

void tree_insert(struct sched *s, const struct goes *g, const struct later *l)
{
	struct dpor *d = s->dpor;
	struct sequence q = { .s = s, .d = d, .l = l, .n = make_sequence(s, g), .level = 1 };
	uint32_t node = g->e[0];
	if (node >= s->o.split_depth && !covered_by_sleep(&q, node))
		insert_below(&q, &d->node[node].tree);
}
