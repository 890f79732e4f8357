/*
 * cdcl: see cdcl.h. Clauses stand in one array of words: size, then the literals, the two watched ones first. Memory is the
 * arena's; watch lists double, so that what they leave behind is as much again at most. Learned clauses are kept: the questions
 * asked here have few conflicts for their size.
 */
#include "txn/cdcl.h"

#include <assert.h>
#include <string.h>

#define NO_REASON 0u
#define IMPLIED   UINT32_MAX /* a reason: the theory's, which is asked for when it is needed */
#define UNSET     2u
#define RESTART   200 /* conflicts: a restart makes the theory hear again what was chosen */

struct txn_watch {
	uint32_t clause, blocker;
};

struct watches {
	struct txn_watch *data;
	uint32_t len, cap;
};

struct cdcl {
	struct arena *a;
	struct cdcl_theory th;
	uint32_t nvars, cap;
	uint8_t *value; /* by literal: 1 true, 0 false, UNSET */
	uint8_t *phase; /* by variable: the last value, UNSET: none yet */
	uint8_t *mark;  /* by variable: conflict analysis */
	uint32_t *level, *reason;
	uint32_t *trail, ntrail, qhead, thead;
	AVEC(uint32_t) starts; /* by decision level: length of the trail before it */
	AVEC(uint32_t) clauses;
	struct watches *watches;
	double *activity, bump;
	uint32_t *heap, *heap_at, nheap;
	AVEC(uint32_t) learnt;
	AVEC(uint32_t) reasons; /* reasons of the theory that the conflict at hand asked for: size, literals */
	uint32_t *reason_at;    /* by variable: where among them + 1 */
	AVEC(uint32_t) asked;   /* variables that have one */
	uint64_t conflicts;
	bool unsat;
};

static uint32_t var(uint32_t lit)
{
	return lit / 2;
}

/* ---- the heap of variables by activity ------------------------------------------------- */

static void heap_set(struct cdcl *s, uint32_t i, uint32_t v)
{
	s->heap[i] = v;
	s->heap_at[v] = i + 1;
}

static void heap_up(struct cdcl *s, uint32_t i)
{
	uint32_t v = s->heap[i];
	for (; i && s->activity[v] > s->activity[s->heap[(i - 1) / 2]]; i = (i - 1) / 2)
		heap_set(s, i, s->heap[(i - 1) / 2]);
	heap_set(s, i, v);
}

static void heap_down(struct cdcl *s, uint32_t i)
{
	uint32_t v = s->heap[i];
	for (;;) {
		uint32_t c = 2 * i + 1;
		if (c >= s->nheap)
			break;
		if (c + 1 < s->nheap && s->activity[s->heap[c + 1]] > s->activity[s->heap[c]])
			c++;
		if (s->activity[s->heap[c]] <= s->activity[v])
			break;
		heap_set(s, i, s->heap[c]);
		i = c;
	}
	heap_set(s, i, v);
}

static void heap_put(struct cdcl *s, uint32_t v)
{
	if (s->heap_at[v])
		return;
	heap_set(s, s->nheap++, v);
	heap_up(s, s->nheap - 1);
}

static uint32_t heap_take(struct cdcl *s)
{
	uint32_t v = s->heap[0], last = s->heap[--s->nheap];
	s->heap_at[v] = 0;
	if (s->nheap) {
		heap_set(s, 0, last);
		heap_down(s, 0);
	}
	return v;
}

static void bump(struct cdcl *s, uint32_t v)
{
	s->activity[v] += s->bump;
	if (s->activity[v] > 1e100) {
		for (uint32_t i = 0; i < s->nvars; i++)
			s->activity[i] *= 1e-100;
		s->bump *= 1e-100;
	}
	if (s->heap_at[v])
		heap_up(s, s->heap_at[v] - 1);
}

/* ---- clauses -------------------------------------------------------------------------- */

static void watch(struct cdcl *s, uint32_t lit, uint32_t clause, uint32_t blocker)
{
	struct watches *w = &s->watches[lit];
	if (w->len == w->cap)
		w->data = arena_grow(s->a, w->data, w->len, &w->cap, sizeof *w->data);
	w->data[w->len++] = (struct txn_watch){ clause, blocker };
}

static void set(struct cdcl *s, uint32_t lit, uint32_t reason)
{
	assert(s->value[lit] == UNSET);
	s->value[lit] = 1;
	s->value[lit ^ 1] = 0;
	s->level[var(lit)] = s->starts.len;
	s->reason[var(lit)] = reason;
	s->trail[s->ntrail++] = lit;
}

/* The clause's place; its first two literals are watched. */
static uint32_t store(struct cdcl *s, const uint32_t *lits, uint32_t n)
{
	uint32_t c = s->clauses.len;
	avec_push(s->a, &s->clauses, n);
	for (uint32_t i = 0; i < n; i++)
		avec_push(s->a, &s->clauses, lits[i]);
	watch(s, lits[0], c, lits[1]);
	watch(s, lits[1], c, lits[0]);
	return c;
}

void cdcl_add(struct cdcl *s, const uint32_t *lits, uint32_t n)
{
	assert(!s->starts.len);
	s->learnt.len = 0;
	for (uint32_t i = 0; i < n; i++) {
		bool twin = false;
		for (uint32_t k = 0; k < s->learnt.len; k++) {
			if (s->learnt.data[k] == (lits[i] ^ 1))
				return;
			twin |= s->learnt.data[k] == lits[i];
		}
		if (s->value[lits[i]] == 1)
			return;
		if (!twin && s->value[lits[i]] == UNSET)
			avec_push(s->a, &s->learnt, lits[i]);
	}
	if (!s->learnt.len)
		s->unsat = true;
	else if (s->learnt.len == 1)
		set(s, s->learnt.data[0], NO_REASON);
	else
		store(s, s->learnt.data, s->learnt.len);
}

/* ---- propagation ----------------------------------------------------------------------- */

/* Clauses that watch a literal that became false; the one in conflict, or NO_REASON. */
static uint32_t propagate(struct cdcl *s, uint32_t lit)
{
	uint32_t off = lit ^ 1;
	struct watches *w = &s->watches[off];
	uint32_t to = 0, conflict = NO_REASON;
	for (uint32_t i = 0; i < w->len; i++) {
		struct txn_watch x = w->data[i];
		if (conflict || s->value[x.blocker] == 1) {
			w->data[to++] = x;
			continue;
		}
		uint32_t *c = &s->clauses.data[x.clause], n = c[0];
		uint32_t *l = c + 1;
		if (l[0] == off) {
			l[0] = l[1];
			l[1] = off;
		}
		if (s->value[l[0]] == 1) {
			w->data[to++] = (struct txn_watch){ x.clause, l[0] };
			continue;
		}
		uint32_t k = 2;
		while (k < n && s->value[l[k]] == 0)
			k++;
		if (k < n) {
			l[1] = l[k];
			l[k] = off;
			watch(s, l[1], x.clause, l[0]);
			continue;
		}
		w->data[to++] = x;
		if (s->value[l[0]] == 0)
			conflict = x.clause;
		else
			set(s, l[0], x.clause);
	}
	w->len = to;
	return conflict;
}

static void backtrack(struct cdcl *s, uint32_t to)
{
	if (s->starts.len <= to)
		return;
	uint32_t n = s->starts.data[to];
	while (s->ntrail > n) {
		uint32_t lit = s->trail[--s->ntrail];
		if (s->thead > s->ntrail) {
			s->th.undo(s->th.arg, lit);
			s->thead = s->ntrail;
		}
		s->phase[var(lit)] = lit & 1;
		s->value[lit] = s->value[lit ^ 1] = UNSET;
		heap_put(s, var(lit));
	}
	s->qhead = n;
	s->starts.len = to;
}

/* ---- conflicts ------------------------------------------------------------------------- */

static void note(struct cdcl *s, uint32_t lit, uint32_t *open)
{
	uint32_t v = var(lit);
	if (s->mark[v] || !s->level[v])
		return;
	s->mark[v] = 1;
	bump(s, v);
	if (s->level[v] == s->starts.len)
		(*open)++;
	else
		avec_push(s->a, &s->learnt, lit);
}

/* The clause by which the literal became true: its size, then its literals; NULL: it was decided. Until the next call. */
static const uint32_t *reason_of(struct cdcl *s, uint32_t lit)
{
	uint32_t v = var(lit);
	assert(s->value[lit] == 1);
	if (s->reason[v] != IMPLIED)
		return s->reason[v] == NO_REASON ? NULL : &s->clauses.data[s->reason[v]];
	if (!s->reason_at[v]) {
		const uint32_t *lits;
		uint32_t n;
		s->th.explain(s->th.arg, lit, &lits, &n);
		s->reason_at[v] = s->reasons.len + 1;
		avec_push(s->a, &s->asked, v);
		avec_push(s->a, &s->reasons, n);
		for (uint32_t i = 0; i < n; i++) {
			assert(lits[i] == lit || s->value[lits[i]] == 0);
			avec_push(s->a, &s->reasons, lits[i]);
		}
	}
	return &s->reasons.data[s->reason_at[v] - 1];
}

static void forget_reasons(struct cdcl *s)
{
	while (s->asked.len)
		s->reason_at[s->asked.data[--s->asked.len]] = 0;
	s->reasons.len = 0;
}

/* Is the literal implied by others of the learned clause alone? (One step: reasons whose literals are all marked.) */
static bool redundant(struct cdcl *s, uint32_t lit)
{
	const uint32_t *c = reason_of(s, lit ^ 1);
	if (!c)
		return false;
	for (uint32_t i = 1; i <= c[0]; i++)
		if (var(c[i]) != var(lit) && !s->mark[var(c[i])] && s->level[var(c[i])])
			return false;
	return true;
}

/* Learns from a clause that is false, and goes back to where it was a unit. False: no level is left. */
static bool resolve(struct cdcl *s, const uint32_t *lits, uint32_t n)
{
	uint32_t top = 0;
	for (uint32_t i = 0; i < n; i++)
		if (s->level[var(lits[i])] > top)
			top = s->level[var(lits[i])];
	if (!top)
		return false;
	s->learnt.len = 0;
	avec_push(s->a, &s->learnt, 0);
	uint32_t open = 0, lit = 0;
	/* lits may be the theory's memory: read before anything is undone */
	uint32_t was = s->starts.len;
	s->starts.len = top;
	for (uint32_t i = 0; i < n; i++)
		note(s, lits[i], &open);
	s->starts.len = was;
	backtrack(s, top);
	for (uint32_t at = s->ntrail; open;) {
		do
			lit = s->trail[--at];
		while (!s->mark[var(lit)]);
		if (!--open)
			break;
		const uint32_t *c = reason_of(s, lit);
		for (uint32_t i = 1; i <= c[0]; i++)
			if (c[i] != lit)
				note(s, c[i], &open);
		s->mark[var(lit)] = 2; /* resolved away */
	}
	s->learnt.data[0] = lit ^ 1;
	uint32_t all = s->learnt.len, to = 1, back = 0;
	for (uint32_t i = 1; i < all; i++)
		if (!redundant(s, s->learnt.data[i])) {
			uint32_t x = s->learnt.data[i];
			s->learnt.data[i] = s->learnt.data[to];
			s->learnt.data[to++] = x;
		}
	for (uint32_t i = 1; i < to; i++)
		if (s->level[var(s->learnt.data[i])] > back) {
			back = s->level[var(s->learnt.data[i])];
			uint32_t x = s->learnt.data[i];
			s->learnt.data[i] = s->learnt.data[1];
			s->learnt.data[1] = x;
		}
	for (uint32_t i = 0; i < all; i++)
		s->mark[var(s->learnt.data[i])] = 0;
	for (uint32_t i = s->starts.data[top - 1]; i < s->ntrail; i++)
		s->mark[var(s->trail[i])] = 0;
	forget_reasons(s);
	backtrack(s, back);
	if (s->th.learned)
		s->th.learned(s->th.arg, s->learnt.data, to);
	uint32_t c = to > 1 ? store(s, s->learnt.data, to) : NO_REASON;
	set(s, s->learnt.data[0], c);
	s->bump /= 0.95;
	s->conflicts++;
	return true;
}

/* ---- search ------------------------------------------------------------------------------ */

/* What follows by the theory is set. True: no conflict; else the literals of one. */
static bool imply(struct cdcl *s, const uint32_t **conflict, uint32_t *size)
{
	const uint32_t *lits;
	uint32_t n = s->th.implied(s->th.arg, &lits);
	for (uint32_t i = 0; i < n; i++) {
		if (s->value[lits[i]] == 0) {
			s->th.explain(s->th.arg, lits[i], conflict, size);
			return false;
		}
		if (s->value[lits[i]] == UNSET)
			set(s, lits[i], IMPLIED);
	}
	return true;
}

/* Everything that follows. 1 no conflict, 0 a conflict was resolved, -1 unsatisfiable. */
static int settle(struct cdcl *s)
{
	for (;;) {
		if (s->qhead < s->ntrail) {
			uint32_t c = propagate(s, s->trail[s->qhead++]);
			if (c)
				return resolve(s, &s->clauses.data[c + 1], s->clauses.data[c]) ? 0 : -1;
			continue;
		}
		const uint32_t *lits;
		uint32_t n;
		if (s->thead < s->ntrail) {
			if (!s->th.assign(s->th.arg, s->trail[s->thead++], &lits, &n))
				return resolve(s, lits, n) ? 0 : -1;
			continue;
		}
		if (s->th.implied && !imply(s, &lits, &n))
			return resolve(s, lits, n) ? 0 : -1;
		if (s->qhead == s->ntrail)
			return 1;
	}
}

static uint64_t luby(uint64_t i)
{
	for (uint64_t k = 1;; k++) {
		if (i == (UINT64_C(1) << k) - 1)
			return UINT64_C(1) << (k - 1);
		if (i < (UINT64_C(1) << k) - 1)
			return luby(i - (UINT64_C(1) << (k - 1)) + 1);
	}
}

static bool decide(struct cdcl *s)
{
	while (s->nheap) {
		uint32_t v = heap_take(s);
		if (s->value[2 * v] != UNSET || (s->th.settled && s->th.settled(s->th.arg, v)))
			continue;
		uint32_t lit = s->phase[v] != UNSET ? 2 * v + s->phase[v] : s->th.prefer(s->th.arg, v);
		avec_push(s->a, &s->starts, s->ntrail);
		set(s, lit, NO_REASON);
		return true;
	}
	return false;
}

int cdcl_solve(struct cdcl *s)
{
	uint64_t round = 1, until = s->conflicts + RESTART;
	uint32_t steps = 0;
	if (s->unsat)
		return 0;
	for (;;) {
		int ok = settle(s);
		if (ok < 0)
			return 0;
		if ((++steps & (s->th.implied ? 0x3F : 0x3FF)) == 0 && s->th.stop(s->th.arg))
			return -1;
		if (!ok)
			continue;
		if (s->conflicts >= until) {
			until = s->conflicts + RESTART * luby(++round);
			backtrack(s, 0);
			continue;
		}
		if (decide(s))
			continue;
		const uint32_t *lits;
		uint32_t n;
		enum cdcl_final f = s->th.final ? s->th.final(s->th.arg, &lits, &n) : CDCL_ACCEPT;
		if (f == CDCL_ACCEPT)
			return 1;
		if (f == CDCL_CONFLICT && !resolve(s, lits, n))
			return 0;
	}
}

bool cdcl_again(struct cdcl *s, uint32_t v)
{
	assert(v < s->nvars);
	if (s->value[2 * v] != UNSET)
		return false;
	heap_put(s, v);
	return true;
}

bool cdcl_true(const struct cdcl *s, uint32_t lit)
{
	return s->value[lit] == 1;
}

bool cdcl_has_value(const struct cdcl *s, uint32_t v)
{
	return s->value[2 * v] != UNSET;
}

bool cdcl_at_root(const struct cdcl *s)
{
	return !s->starts.len;
}

bool cdcl_certain(const struct cdcl *s, uint32_t lit)
{
	return s->value[lit] == 1 && !s->level[var(lit)];
}

uint64_t cdcl_conflicts(const struct cdcl *s)
{
	return s->conflicts;
}

/* Longer arrays: what the old ones held is copied, the rest is zero. */
static void *longer(struct arena *a, void *old, size_t n, size_t cap, size_t elem)
{
	char *p = arena_alloc(a, cap * elem + 1);
	if (n)
		memcpy(p, old, n * elem);
	memset(p + n * elem, 0, (cap - n) * elem);
	return p;
}

static void reserve(struct cdcl *s, uint32_t cap)
{
	uint32_t n = s->nvars;
	if (cap <= s->cap)
		return;
	s->value = longer(s->a, s->value, 2 * (size_t)n, 2 * (size_t)cap, 1);
	s->phase = longer(s->a, s->phase, n, cap, 1);
	s->mark = longer(s->a, s->mark, n, cap, 1);
	s->level = longer(s->a, s->level, n, cap, sizeof *s->level);
	s->reason = longer(s->a, s->reason, n, cap, sizeof *s->reason);
	s->reason_at = longer(s->a, s->reason_at, n, cap, sizeof *s->reason_at);
	s->trail = longer(s->a, s->trail, s->ntrail, cap, sizeof *s->trail);
	s->activity = longer(s->a, s->activity, n, cap, sizeof *s->activity);
	s->heap = longer(s->a, s->heap, s->nheap, cap, sizeof *s->heap);
	s->heap_at = longer(s->a, s->heap_at, n, cap, sizeof *s->heap_at);
	s->watches = longer(s->a, s->watches, 2 * (size_t)n, 2 * (size_t)cap, sizeof *s->watches);
	s->cap = cap;
}

uint32_t cdcl_var(struct cdcl *s)
{
	if (s->nvars == s->cap)
		reserve(s, s->cap ? 2 * s->cap : 64);
	uint32_t v = s->nvars++;
	s->value[2 * v] = s->value[2 * v + 1] = s->phase[v] = UNSET;
	heap_put(s, v);
	return v;
}

struct cdcl *cdcl_new(struct arena *a, uint32_t nvars, const struct cdcl_theory *th)
{
	struct cdcl *s = arena_new(a, struct cdcl);
	s->a = a;
	s->th = *th;
	s->bump = 1;
	avec_push(a, &s->clauses, 0); /* place 0 is NO_REASON */
	reserve(s, nvars);
	for (uint32_t v = 0; v < nvars; v++)
		cdcl_var(s);
	return s;
}
