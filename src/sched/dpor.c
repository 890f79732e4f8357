/*
 * dpor: the search: which branch next. See dpor.h.
 */
#include "sched/dpor.h"

#include "base/invariant.h"

void dpor_layout(struct sched *s, struct layout *l)
{
	struct dpor *d = s->dpor = layout_take(l, 1, sizeof *d, true);
	uint32_t steps = s->o.max_steps + 1, t = s->o.max_threads;
	d->words = s->words;
	d->node = layout_take(l, steps, sizeof *d->node, false);
	d->sleep = layout_take(l, steps, sizeof *d->sleep * d->words, false);
	d->link = layout_take(l, steps, sizeof *d->link, false);
	d->v = layout_take(l, steps, sizeof *d->v, false);
	d->used = layout_take(l, steps, sizeof *d->used, false);
	d->first = layout_take(l, t, sizeof *d->first, false);
	d->tail = layout_take(l, t, sizeof *d->tail, false);
	d->exit = layout_take(l, t, sizeof *d->exit, false);
	d->base = layout_take(l, 3 * (size_t)t, sizeof *d->base, true);
	d->cover = d->base + t;
	d->whole = d->cover + t;
	d->head = layout_take(l, CHAINS + 1, sizeof *d->head, false);
	size_t left = layout_left(l);
	d->max_awaits = (uint32_t)(left / 32 / sizeof *d->await);
	d->await = layout_take(l, d->max_awaits, sizeof *d->await, false);
	d->clock_max = left / 3 / sizeof *d->clock;
	d->clock = layout_take(l, d->clock_max, sizeof *d->clock, false);
	size_t branches = layout_left(l) / sizeof *d->branch;
	branches = branches < 0xfffffff0u ? branches : 0xfffffff0u;
	d->max_branches = (uint32_t)branches;
	d->branch = layout_take(l, branches, sizeof *d->branch, false);
	d->stride = 4;
	if (l->fits)
		dpor_restart(s);
}

void dpor_restart(struct sched *s)
{
	struct dpor *d = s->dpor;
	d->depth = d->replay = d->follow = d->free = 0;
	d->n_branches = 1;
	d->full = false;
	race_forget(s);
	for (uint32_t i = 0; i < d->words; i++)
		d->sleep[i] = 0;
	s->st.complete = s->st.blocked = s->st.left_out = s->st.elsewhere = s->st.cut = 0;
	assert(!d->depth && d->n_branches == 1);
}

static uint32_t diverge(struct sched *s, enum sched_differs what, uint32_t t, const struct sched_op *want)
{
	assert(what != SCHED_SAME);
	struct sched_divergence *x = &s->replay.diff;
	*x = (struct sched_divergence){ .what = what, .step = s->n, .thread = t, .expected = *want };
	if (t < s->n_ids && s->th[t].life == LIFE_LIVE)
		x->found = s->th[t].op;
	return stop_run(s, SCHED_STOP_DIVERGED);
}

/* Thread t must be ready with that operation. */
static bool as_before(struct sched *s, uint32_t t, const struct sched_op *want)
{
	enum sched_differs what = SCHED_SAME;
	const struct sched_op *op = t < s->n_ids ? &s->th[t].op : want;
	if (t >= s->n_ids || s->th[t].life != LIFE_LIVE)
		what = SCHED_DIFF_ABSENT;
	else if (op->kind != want->kind)
		what = SCHED_DIFF_KIND;
	else if (op->pc != want->pc)
		what = SCHED_DIFF_PLACE;
	else if (op->a != want->a && op->kind != SCHED_CREATE)
		what = SCHED_DIFF_OBJECT;
	else if (!is_ready(s, t))
		what = SCHED_DIFF_DISABLED;
	if (what)
		diverge(s, what, t, want);
	return !what;
}

static bool preempts(const struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->current < s->n_ids);
	return t != s->current && is_ready(s, s->current) && !s->th[s->current].agent && s->th[s->current].op.kind < SCHED_YIELD;
}

static bool sleeps(const uint64_t *sleep, uint32_t t)
{
	return sleep[t >> 6] >> (t & 63) & 1;
}

/* Where no tree says what to take: the running thread, or the next awake. */
static uint32_t any_awake(struct sched *s, const uint64_t *sleep)
{
	assert(s->n_ready);
	uint32_t t = ready_from(s, s->current), first = t;
	do {
		if (!sleeps(sleep, t))
			return t;
		t = ready_from(s, t + 1);
	} while (t != first);
	return NONE;
}

/* Branches for all that are awake: the first points of a search in shards. */
static void branch_all(struct sched *s, struct dpor_node *x, const uint64_t *sleep)
{
	struct dpor *d = s->dpor;
	uint32_t *link = &x->tree;
	for (; *link; link = &d->branch[*link].next)
		;
	for (uint32_t i = 0, t = s->current; i < s->n_ready; i++, t++) {
		t = ready_from(s, t);
		bool there = sleeps(sleep, t);
		for (uint32_t b = x->tree; b; b = d->branch[b].next)
			there |= d->branch[b].thread == t;
		if (!there && (*link = tree_new(d, t, &s->th[t].op, NO_CHOICE)))
			link = &d->branch[*link].next;
	}
}

/* The same in every process: ids are given in the order in which a session first meets threads and store buffers. */
static uint64_t thread_key(const struct sched *s, uint32_t t)
{
	uint64_t key = 1;
	for (; t; t = s->th[t].parent)
		key = sched_mix64(key * 31 + s->th[t].ordinal + 1);
	return key;
}

/* Thread t is taken: what the end of the run must know of its pending operation. */
static uint32_t taken(struct sched *s, uint32_t t)
{
	assert(t < s->n_ids && s->n < s->o.max_steps);
	struct dpor *d = s->dpor;
	struct dpor_link *x = &d->link[s->n];
	x->cause = s->th[t].cause;
	if (s->n + 1 >= d->replay) {
		x->await = NONE;
		if (s->th[t].op.flags & SCHED_AWAITS)
			x->await = race_await(s, t, s->n);
	}
	if (s->o.shards < 2 || s->n >= s->o.split_depth)
		return t;
	s->prefix = sched_mix64(s->prefix * 31 + thread_key(s, t));
	if (s->n + 1 == s->o.split_depth && s->prefix % s->o.shards != s->o.shard)
		return stop_run(s, SCHED_STOP_SHARD);
	return t;
}

uint32_t dpor_pick(struct sched *s)
{
	assert(s->n <= s->dpor->depth || s->n < s->dpor->replay || s->n == s->dpor->depth);
	struct dpor *d = s->dpor;
	uint32_t i = s->n;
	struct dpor_node *x = &d->node[i];
	if (i + 1 < d->replay) {
		if (!as_before(s, x->thread, &s->ev[i].op))
			return SCHED_STOP;
		return taken(s, x->thread);
	}
	uint64_t *sleep = sleep_of(d, i);
	if (i >= d->replay) { /* a new node: dpor_settle has made its sleep set */
		*x = (struct dpor_node){ .tree = d->follow, .choice = NO_CHOICE };
		d->follow = 0;
		d->depth = i + 1;
		if (!x->tree) {
			uint32_t t = any_awake(s, sleep);
			if (t == NONE) {
				d->depth = i;
				return stop_run(s, SCHED_STOP_BLOCKED);
			}
			x->tree = tree_new(d, t, &s->th[t].op, NO_CHOICE);
		}
		if (i < s->o.split_depth)
			branch_all(s, x, sleep);
		if (d->full)
			return stop_run(s, SCHED_STOP_MEMORY);
	}
	/* the first branch of the tree; what hangs below it is followed */
	struct branch *b = &d->branch[x->tree];
	x->thread = b->thread;
	x->choice = b->choice;
	d->follow = b->child;
	b->child = 0;
	if (!as_before(s, b->thread, &b->op))
		return SCHED_STOP;
	if (s->o.max_preemptions >= 0 && s->preemptions + preempts(s, x->thread) > (uint32_t)s->o.max_preemptions) {
		s->st.left_out++;
		return stop_run(s, SCHED_STOP_BOUND);
	}
	return taken(s, x->thread);
}

/* The choices of a node's thread become branches beside each other. */
static void branch_choices(struct sched *s, struct dpor_node *x, uint32_t n)
{
	assert(x->tree && n >= 1 && n <= SCHED_CHOICES_MAX);
	struct dpor *d = s->dpor;
	uint32_t t = x->thread, last = x->tree;
	for (uint32_t c = 0; c < n; c++) {
		bool there = false;
		for (uint32_t b = x->tree; b && d->branch[b].thread == t; b = d->branch[b].next) {
			there |= d->branch[b].choice == c;
			last = b;
		}
		if (there)
			continue;
		uint32_t b = tree_new(d, t, &d->branch[last].op, c);
		if (b) {
			d->branch[b].next = d->branch[last].next;
			d->branch[last].next = b;
		}
	}
}

/* A sleeping thread that stays asleep after event i has been explored before
 * it, with every choice of event i: a choice that matters has been inserted. */
static bool nobody_sleeps_after(struct sched *s, uint32_t i)
{
	assert(i < s->n);
	const struct dpor *d = s->dpor;
	const struct sched_event *e = &s->ev[i];
	for (uint32_t w = 0; w < d->words; w++)
		for (uint64_t bits = sleep_of(d, i)[w]; bits; bits &= bits - 1) {
			uint32_t q = w * 64 + (uint32_t)__builtin_ctzll(bits);
			struct sched_op op = as_pending(s->th[q].op);
			if (q != e->thread && !sched_op_dependent(&op, &e->op))
				return false;
		}
	return true;
}

uint32_t dpor_choose(struct sched *s, uint32_t n)
{
	assert(s->n >= 1);
	struct dpor *d = s->dpor;
	uint32_t i = s->n - 1;
	struct dpor_node *x = &d->node[i];
	if (x->choices && x->choices != n) {
		diverge(s, SCHED_DIFF_CHOICES, x->thread, &s->ev[i].op);
		return 0;
	}
	if (i + 1 >= d->replay) {
		struct branch *b = &d->branch[x->tree];
		bool unknown = b->choice == NO_CHOICE;
		if (unknown)
			x->choice = b->choice = 0;
		if (!x->choices && (unknown || s->o.shards > 1 || nobody_sleeps_after(s, i)))
			branch_choices(s, x, n);
		x->choices = n;
	}
	if (x->choice >= n) {
		diverge(s, SCHED_DIFF_CHOICES, x->thread, &s->ev[i].op);
		return 0;
	}
	return x->choice;
}

/* Event i has been executed: its links, and the sleep set after it. */
void dpor_settle(struct sched *s, uint32_t i)
{
	assert(i < s->n);
	struct dpor *d = s->dpor;
	if (i + 1 < d->replay)
		return;
	const struct sched_event *e = &s->ev[i];
	const uint64_t *sleep = sleep_of(d, i);
	uint64_t *after = sleep_of(d, i + 1);
	for (uint32_t w = 0; w < d->words; w++) {
		uint64_t bits = sleep[w];
		after[w] = 0;
		for (; bits; bits &= bits - 1) {
			uint32_t q = w * 64 + (uint32_t)__builtin_ctzll(bits);
			if (q == e->thread)
				continue;
			struct sched_op op = as_pending(s->th[q].op);
			if (!sched_op_dependent(&op, &e->op))
				after[w] |= bits & -bits;
		}
	}
}

/* The first branch of node k is done: the next one, or false. */
static bool advance(struct sched *s, uint32_t k)
{
	struct dpor *d = s->dpor;
	struct dpor_node *x = &d->node[k];
	uint32_t done = x->tree, next = d->branch[done].next, t = d->branch[done].thread;
	d->branch[done].next = 0;
	dpor_tree_free(d, done);
	x->tree = next;
	if (!next || d->branch[next].thread != t) { /* else another choice of the same */
		sleep_of(d, k)[t >> 6] |= (uint64_t)1 << (t & 63);
		x->choices = 0;
		x->done++;
	}
	if (next)
		x->thread = d->branch[next].thread;
	return next;
}

enum sched_verdict dpor_next(struct sched *s, enum sched_outcome outcome)
{
	struct dpor *d = s->dpor;
	(void)outcome;
	if (s->stop == SCHED_STOP_DIVERGED)
		return SCHED_NONDETERMINISTIC;
	if (s->n + 1 < d->replay) {
		s->replay.diff = (struct sched_divergence){ .what = SCHED_DIFF_SHORT, .step = s->n };
		return SCHED_NONDETERMINISTIC;
	}
	s->st.blocked += s->stop == SCHED_STOP_BLOCKED;
	s->st.elsewhere += s->stop == SCHED_STOP_SHARD;
	if (s->stop != SCHED_STOP_SHARD)
		races(s);
	if (d->full)
		return SCHED_FULL;
	if (d->follow)
		dpor_tree_free(d, d->follow);
	d->follow = 0;
	while (d->depth) {
		uint32_t k = d->depth - 1;
		if (advance(s, k)) {
			d->replay = d->depth;
			race_unlink(s, k);
			return SCHED_GO_ON;
		}
		d->depth = k;
	}
	return SCHED_EXHAUSTED;
}

bool sched_order(struct sched *s)
{
	SCHED_ASSERT(s->in_run);
	if (s->strategy != SCHED_DPOR)
		return false;
	settle(s);
	return race_clocks(s);
}

bool sched_happens_before(const struct sched *s, uint32_t i, uint32_t j)
{
	return happens_after(s, j, i);
}

/* The run is to be done again: what it has decided so far is its prefix. */
void dpor_lost(struct sched *s)
{
	struct dpor *d = s->dpor;
	if (d->depth)
		d->branch[d->node[d->depth - 1].tree].child = d->follow;
	d->follow = d->depth ? 0 : d->follow;
	d->replay = d->depth;
}

/* Knuth's weights over the branches known so far. */
double dpor_seen(const struct sched *s)
{
	const struct dpor *d = s->dpor;
	double seen = 0, w = 1;
	for (uint32_t i = 0; i < d->depth && w > 1e-12; i++) {
		const struct dpor_node *x = &d->node[i];
		uint32_t n = x->done;
		for (uint32_t b = x->tree; b; b = d->branch[b].next)
			n++;
		seen += w * x->done / n;
		w /= n;
	}
	return seen;
}
