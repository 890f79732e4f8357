#include "judge/object_sequential.h"

#include <stdlib.h>
#include <string.h>

enum { ROOT = 0, MAX_NODES = 4 << 20, MAX_STEPS = 2000000 };

struct seq_node {
	int64_t result;
	uint8_t how;                   /* enum objtest_stuck: ALL_WENT_ON, the last call returned `result` */
	uint32_t child[OBJTEST_CALLS]; /* 0: not known */
};

void sequential_init(struct sequential *s, char **argv, bool keeps_pipe, double stall, uint64_t max_steps, struct buf *err)
{
	memset(s, 0, sizeof *s);
	s->argv = argv;
	s->keeps_pipe = keeps_pipe;
	s->stall = stall;
	s->max_steps = max_steps;
	s->err = err;
	s->server.fd = s->server.pidfd = s->server.ask_fd = -1;
}

void sequential_free(struct sequential *s)
{
	if (s->started)
		server_free(&s->server);
	free(s->node);
	s->node = NULL;
	s->started = false;
}

/* ---- the oracle ---- */

static bool broken(struct sequential *s, const char *why)
{
	if (!s->broken)
		buf_printf(s->err, "intact: the operations could not be executed one at a time: %s\n", why);
	s->broken = true;
	return false;
}

static bool start(struct sequential *s)
{
	if (s->started)
		return true;
	if (!server_new(&s->server, s->err) || !server_asks(&s->server, s->err))
		return broken(s, "no process");
	s->started = true;
	struct control *c = s->server.c;
	c->mode = CONTROL_SNAPSHOT;
	c->threads = 16;
	c->races = 0;
	c->sched = (struct sched_options){ .strategy = SCHED_RANDOM,
		                           .max_threads = CONTROL_THREADS,
		                           .max_steps = (uint32_t)s->max_steps,
		                           .max_preemptions = -1,
		                           .no_coverage = true };
	c->object.mode = OBJTEST_SERIAL;
	c->object.norder = 0;
	if (!server_start(&s->server, s->argv, s->keeps_pipe, s->err) || !server_question(&s->server, s->stall))
		return broken(s, s->server.c->state == CONTROL_GIVEN_UP ? s->server.c->text : "the process ended");
	return true;
}

/* Executes an order; the block says what came of it. */
static bool execute(struct sequential *s, const uint8_t *order, uint32_t n)
{
	if (s->broken || !start(s))
		return false;
	struct control *c = s->server.c;
	c->object.scenario = s->scenario;
	c->object.norder = n;
	memcpy(c->object.order, order, n);
	s->orders++;
	server_answer(&s->server, OBJTEST_FINE);
	if (server_question(&s->server, s->stall))
		return true;
	c->text[CONTROL_TEXT - 1] = 0;
	return broken(s, c->state == CONTROL_GIVEN_UP ? c->text : "the process ended");
}

/* ---- the tree ---- */

static uint32_t add(struct sequential *s)
{
	if (s->nnodes == s->cap) {
		uint32_t cap = s->cap ? s->cap * 2 : 256;
		struct seq_node *p = cap <= MAX_NODES ? realloc(s->node, cap * sizeof *p) : NULL;
		if (!p)
			return 0;
		s->node = p;
		s->cap = cap;
	}
	memset(&s->node[s->nnodes], 0, sizeof *s->node);
	return s->nnodes++;
}

static bool same(const struct objtest_scenario *a, const struct objtest_scenario *b)
{
	bool ok = a->ncalls == b->ncalls && a->nthreads == b->nthreads;
	for (uint32_t i = 0; ok && i < a->ncalls; i++) {
		const struct objtest_call *x = &a->call[i], *y = &b->call[i];
		ok = x->op == y->op && x->thread == y->thread && x->part == y->part && !memcmp(x->arg, y->arg, sizeof x->arg);
	}
	return ok;
}

static bool about(struct sequential *s, const struct objtest_scenario *sc)
{
	if (s->nnodes && same(&s->scenario, sc))
		return true;
	s->scenario = *sc;
	s->nnodes = 0;
	add(s); /* the root */
	return s->nnodes == 1;
}

/* ---- one history ---- */

struct order_search {
	struct sequential *s;
	const struct objtest_history *h;
	uint64_t before[OBJTEST_CALLS]; /* calls that come before it */
	uint64_t returned, waiting;
	uint8_t path[OBJTEST_CALLS];
	uint32_t n;
	uint32_t last; /* in what is searched for, this call waits behind the others; OBJTEST_CALLS: no */
	uint64_t steps;
	bool unsure; /* a limit was reached */
	struct seq_reason *why;
};

/* The calls by which the returns, then those that wait, come: a likely order. */
static uint32_t likely(const struct order_search *x, uint64_t done, uint8_t *order)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < x->h->nevents; i++) {
		uint32_t c = x->h->event[i] / 2;
		if (x->h->event[i] & 1 && !(done >> c & 1))
			order[n++] = (uint8_t)c;
	}
	return n;
}

/* The node behind `at` (whose order is the path) and call c; 0: not known. */
static uint32_t child(struct order_search *x, uint32_t at, uint64_t done, uint32_t c)
{
	struct sequential *s = x->s;
	if (s->node[at].child[c])
		return s->node[at].child[c];
	uint8_t order[OBJTEST_CALLS];
	memcpy(order, x->path, x->n);
	order[x->n] = (uint8_t)c;
	uint32_t n = x->n + 1;
	n += likely(x, done | 1ull << c, order + n);
	if (!execute(s, order, n)) {
		x->unsure = true;
		return 0;
	}
	const struct objtest_history *got = &s->server.c->object.history;
	for (uint32_t i = x->n; i < n; i++) {
		uint32_t k = s->node[at].child[order[i]];
		if (!k && !(k = add(s))) {
			x->unsure = true;
			return 0;
		}
		bool went_on = got->state[order[i]] == OBJTEST_RETURNED;
		s->node[k].result = got->result[order[i]];
		s->node[k].how = went_on                                                    ? OBJTEST_ALL_WENT_ON
		                 : got->stuck == OBJTEST_WAITS || got->stuck == OBJTEST_CUT ? (uint8_t)got->stuck
		                                                                            : OBJTEST_FAILED;
		s->node[at].child[order[i]] = k;
		at = k;
		if (!went_on)
			break;
	}
	/* the first of them */
	uint32_t from = ROOT;
	for (uint32_t i = 0; i < x->n; i++)
		from = s->node[from].child[x->path[i]];
	return s->node[from].child[c];
}

/* The order is as long as none before it, and nothing that could come next agrees: remember why. */
static void remember(struct order_search *x, uint32_t at, uint64_t done)
{
	struct seq_reason *w = x->why;
	if (x->last != OBJTEST_CALLS || (w->n && x->n <= w->n) || (w->next && !x->n))
		return;
	w->n = x->n;
	memcpy(w->order, x->path, x->n);
	w->next = 0;
	for (uint32_t c = 0; c < x->s->scenario.ncalls; c++) {
		if (!(x->returned >> c & 1) || done >> c & 1 || x->before[c] & ~done)
			continue;
		uint32_t k = x->s->node[at].child[c];
		if (!k)
			continue;
		w->next |= 1ull << c;
		w->result[c] = x->s->node[k].result;
		w->waits[c] = x->s->node[k].how == OBJTEST_FAILED ? 2 : x->s->node[k].how != OBJTEST_ALL_WENT_ON;
	}
}

static bool found(struct order_search *x, uint32_t at, uint64_t done)
{
	if (x->last == OBJTEST_CALLS) {
		x->why->ordered = done;
		uint64_t set = 0;
		for (uint32_t i = 0; i < x->n; i++) {
			x->why->before[x->path[i]] = set;
			set |= 1ull << x->path[i];
		}
		return true;
	}
	uint32_t k = child(x, at, done, x->last);
	if (k && x->s->node[k].how == OBJTEST_CUT)
		x->unsure = true;
	return k && x->s->node[k].how == OBJTEST_WAITS;
}

/* Depth first; the recursion is as deep as there are calls. */
static bool search(struct order_search *x, uint32_t at, uint64_t done)
{
	if (++x->steps > MAX_STEPS) {
		x->unsure = true;
		return false;
	}
	if (!(x->returned & ~done) && found(x, at, done))
		return true;
	bool deeper = false;
	for (uint32_t c = 0; c < x->s->scenario.ncalls; c++) {
		bool waits = x->waiting >> c & 1;
		if (!((x->returned | x->waiting) >> c & 1) || done >> c & 1 || x->before[c] & ~done || c == x->last)
			continue;
		uint32_t k = child(x, at, done, c);
		if (!k)
			continue;
		const struct seq_node *n = &x->s->node[k];
		if (n->how == OBJTEST_CUT)
			x->unsure = true;
		if (n->how != OBJTEST_ALL_WENT_ON || (!waits && n->result != x->h->result[c]))
			continue;
		deeper |= !waits;
		x->path[x->n++] = (uint8_t)c;
		bool ok = search(x, k, done | 1ull << c);
		x->n--;
		if (ok)
			return true;
		if (x->steps > MAX_STEPS)
			return false;
	}
	if (!deeper && x->returned & ~done)
		remember(x, at, done);
	return false;
}

/* Which calls come before which, by the condition. */
static void orders(struct order_search *x, const struct objtest_scenario *sc, enum seq_condition condition)
{
	uint64_t ended = 0, open = 0, settled = 0; /* settled: ended before a moment when no call was open */
	const struct objtest_history *h = x->h;
	for (uint32_t i = 0; i < h->nevents; i++) {
		uint32_t c = h->event[i] / 2;
		if (h->event[i] & 1) {
			ended |= 1ull << c;
			open &= ~(1ull << c);
			if (!open)
				settled = ended;
			continue;
		}
		uint64_t own = 0;
		for (uint32_t k = 0; k < sc->ncalls; k++)
			if (sc->call[k].thread == sc->call[c].thread || sc->call[k].part != OBJTEST_PARALLEL ||
			    sc->call[c].part != OBJTEST_PARALLEL)
				own |= ended & 1ull << k;
		if (h->partial == OBJTEST_HAPPENS && condition == SEQ_LINEARIZABLE) {
			x->before[c] = h->last_first[c];
			open |= 1ull << c;
			continue;
		}
		x->before[c] = condition == SEQ_LINEARIZABLE ? ended : condition == SEQ_SEQUENTIAL ? own : settled;
		open |= 1ull << c;
	}
	for (uint32_t c = 0; c < sc->ncalls; c++) {
		x->returned |= (uint64_t)(h->state[c] == OBJTEST_RETURNED) << c;
		x->waiting |= (uint64_t)(h->state[c] == OBJTEST_CALLED) << c;
	}
}

static enum seq_verdict answer(const struct order_search *x, bool ok)
{
	return ok ? SEQ_EXPLAINED : x->unsure ? SEQ_UNKNOWN : SEQ_NOT_EXPLAINED;
}

/* ---- entries ---- */

static enum seq_verdict ask(struct sequential *s, const struct objtest_scenario *sc, const struct objtest_history *h,
                            enum seq_condition condition, uint32_t last, struct seq_reason *why)
{
	struct order_search x = { .s = s, .h = h, .last = last, .why = why };
	if (!about(s, sc))
		return SEQ_UNKNOWN;
	orders(&x, sc, condition);
	return answer(&x, search(&x, ROOT, 0));
}

enum seq_verdict sequential_waits(struct sequential *s, const struct objtest_scenario *sc, const struct objtest_history *h,
                                  enum seq_condition condition, struct seq_reason *why)
{
	bool unsure = false;
	why->waiting = OBJTEST_CALLS;
	if (h->stuck != OBJTEST_WAITS)
		return SEQ_EXPLAINED;
	for (uint32_t c = 0; c < sc->ncalls; c++) {
		if (h->state[c] != OBJTEST_CALLED)
			continue;
		enum seq_verdict v = ask(s, sc, h, condition, c, why);
		unsure |= v == SEQ_UNKNOWN;
		if (v == SEQ_NOT_EXPLAINED) {
			why->waiting = c;
			return v;
		}
	}
	return unsure ? SEQ_UNKNOWN : SEQ_EXPLAINED;
}

enum seq_verdict sequential_explain(struct sequential *s, const struct objtest_scenario *sc, const struct objtest_history *h,
                                    enum seq_condition condition, struct seq_reason *why)
{
	memset(why, 0, sizeof *why);
	why->waiting = OBJTEST_CALLS;
	enum seq_verdict v = ask(s, sc, h, condition, OBJTEST_CALLS, why);
	return v == SEQ_EXPLAINED ? sequential_waits(s, sc, h, condition, why) : v;
}
