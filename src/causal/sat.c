/*
 * sat: conflict-driven clause learning (Marques-Silva and Sakallah 1996; two
 * watched literals and activities after Moskewicz et al. 2001).
 *
 * Representation: clauses in one array of 32-bit words: length, level of quality (0: given, else the number
 * of decision levels it had when it was learnt), where the last search for a literal to watch ended (so
 * that a long clause is scanned only once, Gent 2013), literals; the first two are watched. watch[l] holds
 * the clauses in which l is watched, and is scanned when l becomes false; each entry has another literal of
 * the clause, which makes a lookup unnecessary if it is true.
 *
 * Invariants: after propagation without conflict, a watched literal is false
 * only if the other one is true at no higher level. The reason of a literal has it
 * in front. The heap has every variable without a value.
 *
 * Learnt clauses of poor quality are thrown away, half of them, each time
 * their number has grown by a step; restarts follow Luby's sequence.
 *
 * Why not a solver of Debian's: CaDiCaL (libcadical-dev, C++, static) keeps no budget of memory, where ours ends with
 * "unknown (memory)", and it would make the library need libstdc++ (700 kB more). Nor is it faster at these questions,
 * which are many and small: 18 nets (philosophers, random ones) take 0.041 s of CPU in all with this solver and 0.059 s with
 * CaDiCaL 1.5.3; of ten more of up to 4,095 events (those of bench/nets.py, random ones) the solving alone takes 0.01 s
 * and 0.03 s. Answers are equal.
 */
#include "causal/sat.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"

enum { UNSET = 2, NO_REASON = 0, HEAD = 3 /* words before the literals */ };

struct sat_watch {
	uint32_t clause, other;
};
struct sat_list {
	struct sat_watch *v;
	uint32_t n, cap;
};

struct sat {
	uint32_t nvars;
	uint64_t cap_vars;
	uint8_t *val; /* a literal: 0 false, 1 true, UNSET */
	uint8_t *phase, *seen;
	uint32_t *level, *reason;
	double *act, bump;
	uint32_t *heap, nheap, *where; /* where: place in the heap + 1 */
	struct sat_list *watch;        /* a literal */
	uint32_t *mem, nmem;           /* clauses, from word 1 on */
	uint64_t cap_mem;
	uint32_t *trail, ntrail, head;
	uint32_t *limit, nlimit;   /* where each decision level begins */
	uint32_t *learnt, nlearnt; /* the clause being learnt */
	uint32_t *stamp, now;      /* a level: for counting levels */
	uint64_t kept, max_kept;   /* learnt clauses */
	uint64_t conflicts, bytes, max_bytes;
	double deadline;
	const char *why;
	uint8_t *model;
	bool dead; /* contradictory */
};

/* ---- memory ------------------------------------------------------------- */

static bool spent(struct sat *s, const char *why)
{
	s->why = why;
	return false;
}

static bool grow(struct sat *s, void **array, uint64_t from, uint64_t to, size_t elem)
{
	assert(from <= to);
	uint64_t more = (to - from) * elem;
	if (s->max_bytes && s->bytes + more > s->max_bytes)
		return spent(s, "memory");
	void *v = realloc(*array, to * elem);
	if (!v)
		return spent(s, "memory");
	memset((char *)v + from * elem, 0, more);
	*array = v;
	s->bytes += more;
	return true;
}

struct sat *sat_new(uint64_t max_bytes, double deadline)
{
	struct sat *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	s->max_bytes = max_bytes;
	s->deadline = deadline;
	s->bump = 1;
	s->max_kept = 4000;
	s->nmem = 1; /* 0 = NO_REASON */
	return s;
}

void sat_free(struct sat *s)
{
	if (!s)
		return;
	for (uint64_t l = 0; l < s->cap_vars * 2; l++)
		free(s->watch[l].v);
	void *all[] = { s->val,   s->phase, s->seen,  s->level, s->reason, s->act,   s->heap, s->where,
		        s->watch, s->mem,   s->trail, s->limit, s->learnt, s->stamp, s->model };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		free(all[i]);
	free(s);
}

static bool grow_vars(struct sat *s)
{
	uint64_t from = s->cap_vars, to = from ? from * 2 : 1024;
	if (to > UINT32_MAX / 4)
		return spent(s, "memory");
	bool ok = grow(s, (void **)&s->val, 2 * from, 2 * to, 1) && grow(s, (void **)&s->phase, from, to, 1) &&
	          grow(s, (void **)&s->seen, from, to, 1) && grow(s, (void **)&s->model, from, to, 1) &&
	          grow(s, (void **)&s->level, from, to, 4) && grow(s, (void **)&s->reason, from, to, 4) &&
	          grow(s, (void **)&s->act, from, to, sizeof(double)) && grow(s, (void **)&s->heap, from, to, 4) &&
	          grow(s, (void **)&s->where, from, to, 4) && grow(s, (void **)&s->trail, from, to, 4) &&
	          grow(s, (void **)&s->limit, from, to, 4) && grow(s, (void **)&s->learnt, from, to, 4) &&
	          grow(s, (void **)&s->stamp, from, to + 1, 4) &&
	          grow(s, (void **)&s->watch, 2 * from, 2 * to, sizeof(struct sat_list));
	if (ok)
		s->cap_vars = to;
	return ok;
}

/* ---- the heap of variables by activity ---------------------------------- */

static void sift(struct sat *s, uint32_t i)
{
	uint32_t v = s->heap[i];
	for (; i && s->act[s->heap[(i - 1) / 2]] < s->act[v]; i = (i - 1) / 2) {
		s->heap[i] = s->heap[(i - 1) / 2];
		s->where[s->heap[i]] = i + 1;
	}
	for (uint32_t k; (k = 2 * i + 1) < s->nheap; i = k) {
		if (k + 1 < s->nheap && s->act[s->heap[k + 1]] > s->act[s->heap[k]])
			k++;
		if (s->act[s->heap[k]] <= s->act[v])
			break;
		s->heap[i] = s->heap[k];
		s->where[s->heap[i]] = i + 1;
	}
	s->heap[i] = v;
	s->where[v] = i + 1;
}

static void heap_add(struct sat *s, uint32_t v)
{
	if (s->where[v])
		return;
	assert(v < s->nvars && s->nheap < s->nvars);
	s->heap[s->nheap] = v;
	s->where[v] = ++s->nheap;
	sift(s, s->nheap - 1);
}

static uint32_t heap_pop(struct sat *s)
{
	assert(s->nheap);
	uint32_t v = s->heap[0], last = s->heap[--s->nheap];
	s->where[v] = 0;
	if (s->nheap) {
		s->heap[0] = last;
		s->where[last] = 1;
		sift(s, 0);
	}
	return v;
}

static void bump_var(struct sat *s, uint32_t v)
{
	s->act[v] += s->bump;
	if (s->act[v] > 1e100) {
		for (uint32_t i = 0; i < s->nvars; i++)
			s->act[i] *= 1e-100;
		s->bump *= 1e-100;
	}
	if (s->where[v])
		sift(s, s->where[v] - 1);
}

uint32_t sat_var(struct sat *s, bool phase)
{
	if (s->nvars == s->cap_vars && !grow_vars(s))
		return UINT32_MAX;
	uint32_t v = s->nvars++;
	s->val[2 * v] = s->val[2 * v + 1] = UNSET;
	s->phase[v] = phase;
	heap_add(s, v);
	return v;
}

/* ---- clauses ------------------------------------------------------------ */

static bool watch_lit(struct sat *s, uint32_t l, uint32_t clause, uint32_t other)
{
	assert(l < 2 * s->nvars && other < 2 * s->nvars);
	struct sat_list *w = &s->watch[l];
	if (w->n == w->cap) {
		uint32_t cap = w->cap ? w->cap * 2 : 4;
		if (!grow(s, (void **)&w->v, w->cap, cap, sizeof *w->v))
			return false;
		w->cap = cap;
	}
	w->v[w->n++] = (struct sat_watch){ clause, other };
	return true;
}

/* Stores a clause of at least two literals; 0 when out of memory. */
static uint32_t store(struct sat *s, const uint32_t *lits, uint32_t n, uint32_t quality)
{
	assert(n >= 2);
	uint64_t need = (uint64_t)s->nmem + HEAD + n;
	if (need >= UINT32_MAX) {
		spent(s, "memory");
		return 0;
	}
	if (need > s->cap_mem) {
		uint64_t cap = s->cap_mem ? s->cap_mem * 2 : 4096;
		while (cap < need)
			cap *= 2;
		if (!grow(s, (void **)&s->mem, s->cap_mem, cap, 4))
			return 0;
		s->cap_mem = cap;
	}
	uint32_t c = s->nmem;
	s->mem[c] = n;
	s->mem[c + 1] = quality;
	s->mem[c + 2] = 2;
	memcpy(s->mem + c + HEAD, lits, n * sizeof *lits);
	s->nmem = (uint32_t)need;
	s->kept += quality != 0;
	if (!watch_lit(s, lits[0], c, lits[1]) || !watch_lit(s, lits[1], c, lits[0]))
		return 0;
	return c;
}

static void assign(struct sat *s, uint32_t l, uint32_t reason)
{
	assert(s->val[l] == UNSET && s->val[l ^ 1] == UNSET && s->ntrail < s->nvars);
	s->val[l] = 1;
	s->val[l ^ 1] = 0;
	s->level[l / 2] = s->nlimit;
	s->reason[l / 2] = reason;
	s->trail[s->ntrail++] = l;
}

static void back_to(struct sat *s, uint32_t level)
{
	if (s->nlimit <= level)
		return;
	assert(s->limit[level] <= s->ntrail);
	for (uint32_t to = s->limit[level]; s->ntrail > to;) {
		uint32_t l = s->trail[--s->ntrail];
		s->phase[l / 2] = !(l & 1);
		s->val[l] = s->val[l ^ 1] = UNSET;
		heap_add(s, l / 2);
	}
	s->nlimit = level;
	s->head = s->ntrail;
}

bool sat_add(struct sat *s, uint32_t *lits, uint32_t n)
{
	uint32_t out = 0;
	back_to(s, 0);
	assert(!s->nlimit);
	for (uint32_t i = 0; i < n; i++) { /* level 0 values are permanent */
		bool twice = s->val[lits[i]] == 0;
		if (s->val[lits[i]] == 1)
			return true;
		for (uint32_t k = 0; k < out && !twice; k++) {
			if (lits[k] == (lits[i] ^ 1))
				return true;
			twice = lits[k] == lits[i];
		}
		if (!twice)
			lits[out++] = lits[i];
	}
	if (out == 0)
		s->dead = true;
	else if (out == 1)
		assign(s, lits[0], NO_REASON);
	else
		return store(s, lits, out, 0) != 0;
	return true;
}

/* ---- propagation and learning ------------------------------------------- */

/* The clause that has become false, 0, or UINT32_MAX when out of memory. */
static uint32_t propagate(struct sat *s)
{
	assert(s->head <= s->ntrail);
	while (s->head < s->ntrail) {
		uint32_t l = s->trail[s->head++] ^ 1; /* now false */
		struct sat_list *w = &s->watch[l];
		uint32_t out = 0, i = 0;
		while (i < w->n) {
			struct sat_watch x = w->v[i++];
			if (s->val[x.other] == 1) {
				w->v[out++] = x;
				continue;
			}
			uint32_t *c = s->mem + x.clause + HEAD, n = s->mem[x.clause];
			uint32_t *pos = &s->mem[x.clause + 2], k = *pos;
			if (c[0] == l) {
				c[0] = c[1];
				c[1] = l;
			}
			if (s->val[c[0]] != 1) {
				while (k < n && s->val[c[k]] == 0)
					k++;
				if (k == n)
					for (k = 2; k < *pos && s->val[c[k]] == 0;)
						k++;
				if (k < n && s->val[c[k]] != 0) {
					*pos = k;
					c[1] = c[k];
					c[k] = l;
					if (!watch_lit(s, c[1], x.clause, c[0]))
						return UINT32_MAX;
					continue;
				}
			}
			w->v[out++] = (struct sat_watch){ x.clause, c[0] };
			if (s->val[c[0]] == 0) {
				while (i < w->n)
					w->v[out++] = w->v[i++];
				w->n = out;
				return x.clause;
			}
			if (s->val[c[0]] == UNSET)
				assign(s, c[0], x.clause);
		}
		w->n = out;
	}
	return 0;
}

/* Is a literal of the learnt clause implied by the others? */
static bool implied(const struct sat *s, uint32_t l)
{
	uint32_t r = s->reason[l / 2];
	if (!r)
		return false;
	for (uint32_t k = 1; k < s->mem[r]; k++) {
		uint32_t v = s->mem[r + HEAD + k] / 2;
		if (!s->seen[v] && s->level[v])
			return false;
	}
	return true;
}

/* learnt[] from the false clause c: the first unique implication point in
 * front, a literal of the backtrack level after it; that level. */
static uint32_t analyse(struct sat *s, uint32_t c)
{
	assert(s->nlimit); /* a conflict at level 0 is the end */
	uint32_t open = 0, at = s->ntrail, n = 1, l = UINT32_MAX, all;
	do {
		for (uint32_t k = l == UINT32_MAX ? 0 : 1; k < s->mem[c]; k++) {
			uint32_t q = s->mem[c + HEAD + k], v = q / 2;
			if (s->seen[v] || !s->level[v])
				continue;
			s->seen[v] = 1;
			bump_var(s, v);
			if (s->level[v] == s->nlimit)
				open++;
			else
				s->learnt[n++] = q;
		}
		while (!s->seen[s->trail[--at] / 2])
			;
		l = s->trail[at];
		c = s->reason[l / 2];
		if (--open)
			s->seen[l / 2] = 0;
	} while (open);
	s->learnt[0] = l ^ 1;
	all = n;
	n = 1;
	for (uint32_t i = 1; i < all; i++) { /* the dropped ones go to the end */
		uint32_t q = s->learnt[i];
		if (implied(s, q))
			continue;
		s->learnt[i] = s->learnt[n];
		s->learnt[n++] = q;
	}
	uint32_t best = 0;
	for (uint32_t i = 1; i < n; i++)
		if (s->level[s->learnt[i] / 2] > best) {
			uint32_t q = s->learnt[i];
			best = s->level[q / 2];
			s->learnt[i] = s->learnt[1];
			s->learnt[1] = q;
		}
	for (uint32_t i = 0; i < all; i++)
		s->seen[s->learnt[i] / 2] = 0;
	s->nlearnt = n;
	return best;
}

static uint32_t quality(struct sat *s)
{
	uint32_t n = 0;
	s->now++;
	for (uint32_t i = 0; i < s->nlearnt; i++) {
		uint32_t lv = s->level[s->learnt[i] / 2];
		n += s->stamp[lv] != s->now;
		s->stamp[lv] = s->now;
	}
	return n;
}

static bool learn(struct sat *s, uint32_t c)
{
	uint32_t to = analyse(s, c), q = quality(s);
	assert(to < s->nlimit && s->nlearnt);
	back_to(s, to);
	uint32_t r = s->nlearnt > 1 ? store(s, s->learnt, s->nlearnt, q) : NO_REASON;
	if (s->nlearnt > 1 && !r)
		return false;
	assign(s, s->learnt[0], r);
	s->bump /= 0.95;
	return true;
}

/* At level 0: removes the worse learnt clauses and those that are permanently true. */
static bool sweep(struct sat *s)
{
	uint64_t count[64] = { 0 }, half = 0;
	uint32_t bar = 2, end = s->nmem;
	for (uint32_t c = 1; c < end; c += HEAD + s->mem[c])
		if (s->mem[c + 1])
			count[s->mem[c + 1] < 63 ? s->mem[c + 1] : 63]++;
	while (bar < 63 && (half += count[bar]) < s->kept / 2)
		bar++;
	for (uint32_t l = 0; l < 2 * s->nvars; l++)
		s->watch[l].n = 0;
	for (uint32_t v = 0; v < s->nvars; v++)
		s->reason[v] = NO_REASON;
	s->nmem = 1;
	s->kept = 0;
	for (uint32_t c = 1, next; c < end; c = next) {
		uint32_t n = s->mem[c], *lits = s->mem + c + HEAD;
		next = c + HEAD + n;
		bool drop = s->mem[c + 1] > bar;
		for (uint32_t k = 0; k < n && !drop; k++)
			drop = s->val[lits[k]] == 1;
		if (drop)
			continue;
		uint32_t m = 0, mark = s->mem[c + 1], to = s->nmem;
		for (uint32_t k = 0; k < n; k++) /* moves down, never up */
			if (s->val[lits[k]] == UNSET)
				s->mem[to + HEAD + m++] = lits[k];
		s->mem[to] = m;
		s->mem[to + 1] = mark;
		s->mem[to + 2] = 2;
		s->nmem += HEAD + m;
		s->kept += mark != 0;
		uint32_t *d = s->mem + to + HEAD; /* at least two: all was propagated */
		if (!watch_lit(s, d[0], to, d[1]) || !watch_lit(s, d[1], to, d[0]))
			return false;
	}
	s->max_kept += 1000;
	return true;
}

static uint64_t luby(uint64_t i)
{
	assert(i);
	for (uint64_t k = 1;; k++) {
		if (i == (UINT64_C(1) << k) - 1)
			return UINT64_C(1) << (k - 1);
		if (i < (UINT64_C(1) << k) - 1)
			return luby(i - (UINT64_C(1) << (k - 1)) + 1);
	}
}

static bool in_time(struct sat *s)
{
	if (s->deadline <= 0)
		return true;
	return clock_seconds() < s->deadline || spent(s, "time");
}

/* Until the next restart: 1, 0, -1 a limit, 2 restart. */
static int run(struct sat *s, uint64_t budget)
{
	for (uint64_t steps = 0;; steps++) {
		uint32_t c = propagate(s);
		if (c == UINT32_MAX)
			return -1;
		if ((steps & 1023) == 1023 && !in_time(s))
			return -1;
		if (c) {
			s->conflicts++;
			if (!s->nlimit)
				return 0;
			if (!learn(s, c))
				return -1;
			budget -= budget > 0;
			continue;
		}
		if (!budget)
			return 2;
		while (s->nheap && s->val[2 * s->heap[0]] != UNSET)
			heap_pop(s);
		if (!s->nheap)
			return 1;
		uint32_t v = heap_pop(s);
		s->limit[s->nlimit++] = s->ntrail;
		assign(s, 2 * v + !s->phase[v], NO_REASON);
	}
}

int sat_solve(struct sat *s)
{
	int rc = 2;
	back_to(s, 0);
	for (uint64_t i = 1; rc == 2 && !s->dead; i++) {
		back_to(s, 0);
		if (!in_time(s))
			return -1;
		uint32_t c = propagate(s);
		if (c == UINT32_MAX)
			return -1;
		if (c)
			s->dead = true;
		else if (s->kept > s->max_kept && !sweep(s))
			return -1;
		else
			rc = run(s, 128 * luby(i));
	}
	if (rc == 0)
		s->dead = true;
	if (s->dead)
		return 0;
	for (uint32_t v = 0; rc == 1 && v < s->nvars; v++)
		s->model[v] = s->val[2 * v];
	return rc;
}

bool sat_value(const struct sat *s, uint32_t v)
{
	assert(v < s->nvars);
	return s->model[v] == 1;
}
const char *sat_limit(const struct sat *s)
{
	return s->why ? s->why : "memory";
}
uint64_t sat_conflicts(const struct sat *s)
{
	return s->conflicts;
}
uint64_t sat_bytes(const struct sat *s)
{
	return s->bytes;
}
