/*
 * cover: the search (see cover.h for what is searched and why that is right).
 *
 * States are kept as words in one pool (cover_state.h has the layout). They
 * are found by a hash of what two states must agree on for one to cover the
 * other: values, spots of promises and, when numbers are fixed, how many
 * threads are in each spot; the states of a hash are compared one by one. A state
 * has its parent and the move that led to it, for the run and for Karp and
 * Miller's acceleration.
 *
 * With fixed numbers the search is breadth first. With any number it goes
 * deep first, because that meets omega early, and a state that waits is left
 * out when one that was found since covers it: the chain of such references
 * ascends strictly, so it ends in a state that is expanded.
 *
 * Cost: a state takes 4 * (cells + 1 + promises + 2 * groups) + 56 bytes.
 */
#include "causal/cover.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/grow.h"
#include "base/invariant.h"
#include "base/map.h"
#include "causal/cover_state.h"

struct cover_node {
	uint64_t at; /* its words */
	uint32_t len, head;
	uint32_t parent, next; /* next: with the same hash */
	struct cover_move move;
	uint64_t hash;
};

struct cover_search {
	const struct program *g;
	const struct cover_options *o;
	struct cover_result *r;
	const uint32_t *count;
	bool any;
	uint32_t owners;
	uint8_t *first; /* a spot: may promise here */
	uint32_t *pool;
	uint64_t npool, cap_pool;
	struct cover_node *nodes;
	uint32_t n, cap;
	struct map by_hash;
	struct cstate now, next;
	uint32_t *words; /* a state being put together */
	uint32_t cap_words;
	uint32_t at; /* the node being expanded */
	uint32_t expanded;
	bool capped, red;
	uint32_t red_node;
	struct cover_move red_move;
};

/* ---- states as words ---------------------------------------------------- */

static uint32_t pack(struct cover_search *s, const struct cstate *c, uint32_t *head)
{
	uint32_t n = s->g->ncells, *w = s->words;
	memcpy(w, c->cell, n * sizeof *w);
	w[n++] = c->nowner;
	for (uint32_t i = 0; i < c->nowner; i++)
		w[n++] = c->owner[i];
	*head = n;
	for (uint32_t i = 0; i < c->ngroup; i++) {
		w[n++] = c->group[i].code;
		w[n++] = c->group[i].count;
	}
	assert(*head <= n && n <= s->cap_words);
	return n;
}

static void unpack(const struct cover_search *s, const struct cover_node *x, struct cstate *c)
{
	assert(x->at + x->len <= s->npool && x->head <= x->len);
	const uint32_t *w = s->pool + x->at;
	uint32_t n = s->g->ncells;
	memcpy(c->cell, w, n * sizeof *w);
	c->nowner = w[n];
	assert(c->nowner <= COVER_MAX_OWNERS);
	memcpy(c->owner, w + n + 1, c->nowner * sizeof *w);
	c->ngroup = (x->len - x->head) / 2;
	for (uint32_t i = 0; i < c->ngroup; i++)
		c->group[i] = (struct cover_group){ w[x->head + 2 * i], w[x->head + 2 * i + 1] };
}

/* What covering states have in common. */
static uint64_t hash_plain(const struct cover_search *s, const struct cstate *c)
{
	uint64_t h = c->nowner;
	for (uint32_t i = 0; i < s->g->ncells; i++)
		h = hash64(h ^ cword_value(c->cell[i]));
	for (uint32_t i = 0; i < c->nowner; i++)
		h = hash64(h ^ c->owner[i]);
	for (uint32_t i = 0; i < c->ngroup && !s->any; i++) {
		uint32_t spot = c->group[i].code / 2, n = c->group[i].count;
		if (i + 1 < c->ngroup && c->group[i + 1].code / 2 == spot)
			n += c->group[++i].count;
		h = hash64(h ^ ((uint64_t)spot << 32 | n));
	}
	return h;
}

static uint32_t count_sum(uint32_t a, uint32_t b)
{
	return a == COVER_OMEGA || b == COVER_OMEGA ? COVER_OMEGA : a + b;
}

/* Threads in `spot` at w[*at], and how many of them are yellow; moves on. */
static void read_spot(const uint32_t *w, uint32_t n, uint32_t *at, uint32_t spot, uint32_t *all, uint32_t *yellow)
{
	*all = *yellow = 0;
	while (*at < n && w[*at] / 2 < spot)
		*at += 2;
	for (; *at < n && w[*at] / 2 == spot; *at += 2) {
		*all = count_sum(*all, w[*at + 1]);
		if (w[*at] & 1)
			*yellow = w[*at + 1];
	}
}

/* For every spot: as many threads in b at least, and as many yellow ones. */
static bool groups_covered(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb)
{
	assert(na % 2 == 0 && nb % 2 == 0);
	uint32_t i = 0, k = 0, all_a, yellow_a, all_b, yellow_b;
	while (i < na) {
		uint32_t spot = a[i] / 2;
		read_spot(a, na, &i, spot, &all_a, &yellow_a);
		read_spot(b, nb, &k, spot, &all_b, &yellow_b);
		if (all_a > all_b || yellow_a > yellow_b)
			return false;
	}
	return true;
}

static bool taint_covered(unsigned a, unsigned b)
{
	return a == b || a == TAINT_NONE || b == TAINT_OTHER;
}

/*
 * Does node x cover the words w? Values, promises and numbers of threads as
 * above, and wherever w has taint x has it too. Then red is as near from x:
 * what is enabled does not depend on taint, a step from the larger state leads
 * to a larger one, and a promise that is kept in one is kept in the other.
 * (A promise made where the larger state is tainted already is not needed.)
 */
static bool covers(const struct cover_search *s, const struct cover_node *x, const uint32_t *w, uint32_t head, uint32_t len)
{
	assert(head <= len && x->at + x->len <= s->npool);
	const uint32_t *v = s->pool + x->at;
	uint32_t n = s->g->ncells;
	if (x->head != head || memcmp(v + n, w + n, (head - n) * sizeof *v))
		return false;
	for (uint32_t i = 0; i < n; i++)
		if (cword_value(v[i]) != cword_value(w[i]) || !taint_covered(cword_w(w[i]), cword_w(v[i])) ||
		    !taint_covered(cword_r(w[i]), cword_r(v[i])))
			return false;
	return groups_covered(w + head, len - head, v + head, x->len - head);
}

/* Is every count of a at most that of b? Both ascending by code. */
static bool counts_covered(const uint32_t *a, uint32_t na, const uint32_t *b, uint32_t nb)
{
	assert(na % 2 == 0 && nb % 2 == 0);
	uint32_t k = 0;
	for (uint32_t i = 0; i < na; i += 2) {
		while (k < nb && b[k] < a[i])
			k += 2;
		if (k >= nb || b[k] != a[i] || b[k + 1] < a[i + 1])
			return false;
	}
	return true;
}

/* Karp and Miller: where an ancestor with the same head is covered, what grew
 * becomes omega. */
static void accelerate(struct cover_search *s, uint32_t head, uint32_t len, uint64_t hash)
{
	assert(head <= len && (len - head) % 2 == 0);
	uint32_t *w = s->words;
	for (uint32_t i = s->at; i != IR_NONE; i = s->nodes[i].parent) {
		const struct cover_node *x = &s->nodes[i];
		const uint32_t *v = s->pool + x->at;
		if (x->hash != hash || x->head != head || memcmp(v, w, head * sizeof *w) ||
		    !counts_covered(v + head, x->len - head, w + head, len - head))
			continue;
		uint32_t k = head;
		for (uint32_t j = head; j < len; j += 2) {
			while (k < x->len && v[k] < w[j])
				k += 2;
			bool same = k < x->len && v[k] == w[j] && v[k + 1] == w[j + 1];
			if (!same)
				w[j + 1] = COVER_OMEGA;
		}
	}
}

static void check_limits(struct cover_search *s)
{
	const struct cover_options *o = s->o;
	struct cover_result *r = s->r;
	r->bytes = s->npool * sizeof *s->pool + (uint64_t)s->n * (sizeof *s->nodes + 24);
	if ((o->max_states && r->states + s->n > o->max_states) || s->n > UINT32_MAX - 2)
		r->limit = "states";
	else if (o->max_bytes && r->bytes > o->max_bytes)
		r->limit = "memory";
	else if (o->deadline > 0 && s->n % 256 == 0 && clock_seconds() > o->deadline)
		r->limit = "time";
}

/* Is there a state, other than `but`, that covers these words? */
static bool is_covered(const struct cover_search *s, uint64_t hash, const uint32_t *w, uint32_t head, uint32_t len, uint32_t but)
{
	for (uint32_t i = map_get(&s->by_hash, hash); i != MAP_NONE; i = s->nodes[i].next)
		if (i != but && s->nodes[i].hash == hash && covers(s, &s->nodes[i], w, head, len))
			return true;
	return false;
}

static void add(struct cover_search *s, struct cstate *c, struct cover_move move)
{
	assert(c->nowner <= COVER_MAX_OWNERS);
	uint32_t head, perm[COVER_MAX_OWNERS];
	cstate_sort(s->g, c, perm);
	uint64_t need = s->g->ncells + 1ull + c->nowner + 2ull * c->ngroup;
	if (!GROW(s->words, s->cap_words, need)) {
		s->r->limit = "memory";
		return;
	}
	uint32_t len = pack(s, c, &head);
	uint64_t hash = hash_plain(s, c);
	if (s->any && s->n)
		accelerate(s, head, len, hash);
	if (is_covered(s, hash, s->words, head, len, IR_NONE))
		return;
	uint32_t first = map_get(&s->by_hash, hash);
	if (!GROW(s->pool, s->cap_pool, s->npool + len) || !GROW(s->nodes, s->cap, s->n + 1ull) ||
	    !map_put(&s->by_hash, hash, s->n)) {
		s->r->limit = "memory";
		return;
	}
	memcpy(s->pool + s->npool, s->words, len * sizeof *s->pool);
	s->nodes[s->n] = (struct cover_node){ s->npool, len, head, s->n ? s->at : IR_NONE, first, move, hash };
	s->npool += len;
	s->n++;
	check_limits(s);
	assert(s->n <= s->cap && s->npool <= s->cap_pool);
}

/* ---- successors --------------------------------------------------------- */

static void copy_now(struct cover_search *s)
{
	assert(s->now.nowner <= COVER_MAX_OWNERS);
	memcpy(s->next.cell, s->now.cell, s->g->ncells * sizeof *s->now.cell);
	memcpy(s->next.owner, s->now.owner, sizeof s->now.owner);
	memcpy(s->next.group, s->now.group, s->now.ngroup * sizeof *s->now.group);
	s->next.nowner = s->now.nowner;
	s->next.ngroup = s->now.ngroup;
	s->r->transitions++;
}

/* A thread without a promise: an ordinary step, and one that promises. */
static void step_other(struct cover_search *s, const struct action *a, bool yellow)
{
	assert(a >= s->g->actions && a < s->g->actions + s->g->nactions);
	uint32_t id = (uint32_t)(a - s->g->actions);
	unsigned in = cstate_inherit(s->g, s->now.cell, a, yellow ? TAINT_OTHER : TAINT_NONE);
	unsigned out = in ? TAINT_OTHER : TAINT_NONE;
	copy_now(s);
	cstate_touch(s->g, s->next.cell, a, out);
	cstate_leave(&s->next, a->from, yellow);
	cstate_join(&s->next, a->to, out != TAINT_NONE);
	add(s, &s->next, (struct cover_move){ id, IR_NONE, yellow, false });
	if (in || !a->ntouch || !s->first[a->from])
		return;
	if (s->now.nowner == s->owners) {
		s->capped = true;
		return;
	}
	copy_now(s);
	cstate_touch(s->g, s->next.cell, a, s->now.nowner + 1);
	cstate_leave(&s->next, a->from, yellow);
	cstate_promise(&s->next, a->to);
	add(s, &s->next, (struct cover_move){ id, IR_NONE, yellow, true });
}

/* The thread of pending promise i. */
static void step_owner(struct cover_search *s, const struct action *a, uint32_t i)
{
	assert(i < s->now.nowner);
	struct cover_move move = { (uint32_t)(a - s->g->actions), i, false, false };
	unsigned out = cstate_inherit(s->g, s->now.cell, a, i + 1);
	if (a->exited != IR_NONE)
		return;
	if (out == TAINT_OTHER && s->now.nowner == 1) {
		s->red = true;
		s->red_node = s->at;
		s->red_move = move;
		return;
	}
	copy_now(s);
	cstate_touch(s->g, s->next.cell, a, out);
	if (out == TAINT_OTHER) {
		cstate_keep(s->g, &s->next, i);
		cstate_join(&s->next, a->to, true);
	} else {
		s->next.owner[i] = a->to;
	}
	add(s, &s->next, move);
}

static void expand(struct cover_search *s)
{
	assert(s->at < s->n);
	const struct program *g = s->g;
	if (s->o->deadline > 0 && ++s->expanded % 64 == 0 && clock_seconds() > s->o->deadline)
		s->r->limit = "time";
	unpack(s, &s->nodes[s->at], &s->now);
	for (uint32_t i = 0; i < s->now.nowner; i++) {
		const struct spot *x = &g->spots[s->now.owner[i]];
		for (uint32_t k = 0; k < x->naction && !s->red && !s->r->limit; k++)
			if (cstate_enabled(g, s->now.cell, &g->actions[x->action + k]))
				step_owner(s, &g->actions[x->action + k], i);
	}
	for (uint32_t i = 0; i < s->now.ngroup; i++) {
		const struct spot *x = &g->spots[s->now.group[i].code / 2];
		for (uint32_t k = 0; k < x->naction && !s->red && !s->r->limit; k++)
			if (cstate_enabled(g, s->now.cell, &g->actions[x->action + k]))
				step_other(s, &g->actions[x->action + k], s->now.group[i].code & 1);
	}
}

/* ---- one search --------------------------------------------------------- */

static void first_state(struct cover_search *s)
{
	assert(!s->n);
	const struct program *g = s->g;
	struct cstate *c = &s->next;
	for (uint32_t i = 0; i < g->ncells; i++)
		c->cell[i] = cword(g->cells[i].init, TAINT_NONE, TAINT_NONE);
	c->nowner = c->ngroup = 0;
	for (uint32_t t = 0; t < g->ir->ntemplates; t++) {
		if (!s->count[t])
			continue;
		cstate_join(c, g->start[t], false);
		c->group[c->ngroup - 1].count = s->count[t]; /* starts ascend with templates */
	}
	s->at = IR_NONE;
	add(s, c, (struct cover_move){ IR_NONE, IR_NONE, false, false });
}

/* The newest first; what waited too long is covered by now. */
static void run_deep(struct cover_search *s)
{
	uint64_t cap = 0, n = 0;
	uint32_t *stack = NULL, seen = 0;
	for (;;) {
		if (!GROW(stack, cap, n + (s->n - seen) + 1)) {
			s->r->limit = "memory";
			break;
		}
		for (; seen < s->n; seen++)
			stack[n++] = seen;
		if (!n || s->red || s->r->limit)
			break;
		s->at = stack[--n];
		const struct cover_node *x = &s->nodes[s->at];
		if (!is_covered(s, x->hash, s->pool + x->at, x->head, x->len, s->at))
			expand(s);
	}
	free(stack);
}

static bool take_path(struct cover_search *s)
{
	assert(s->red && s->red_node < s->n);
	struct cover_result *r = s->r;
	uint32_t n = 1;
	for (uint32_t i = s->red_node; s->nodes[i].parent != IR_NONE; i = s->nodes[i].parent)
		n++;
	r->path = malloc(n * sizeof *r->path);
	if (!r->path)
		return false;
	r->npath = n;
	r->path[--n] = s->red_move;
	for (uint32_t i = s->red_node; s->nodes[i].parent != IR_NONE; i = s->nodes[i].parent)
		r->path[--n] = s->nodes[i].move;
	return true;
}

static void search_free(struct cover_search *s)
{
	free(s->first);
	free(s->pool);
	free(s->nodes);
	free(s->now.cell);
	free(s->next.cell);
	free(s->now.group);
	free(s->next.group);
	free(s->words);
	map_free(&s->by_hash);
}

/* Searches with these numbers of threads. */
static void search(const struct program *g, const struct cover_options *o, const uint32_t *count, struct cover_result *r)
{
	struct cover_search s = { .g = g, .o = o, .r = r, .count = count };
	size_t groups = (size_t)g->nspots * 2 + 2, cells = g->ncells + 1ull;
	for (uint32_t t = 0; t < g->ir->ntemplates; t++)
		s.any |= count[t] == COVER_ANY;
	s.owners = o->owners > COVER_MAX_OWNERS ? COVER_MAX_OWNERS : o->owners;
	map_init(&s.by_hash);
	s.first = malloc(g->nspots + 1ull);
	s.now.cell = calloc(cells, sizeof *s.now.cell);
	s.next.cell = calloc(cells, sizeof *s.next.cell);
	s.now.group = calloc(groups, sizeof *s.now.group);
	s.next.group = calloc(groups, sizeof *s.next.group);
	r->limit = NULL;
	if (!s.first || !s.now.cell || !s.next.cell || !s.now.group || !s.next.group) {
		r->limit = "memory";
	} else {
		cover_first_spots(g, o->block, s.first);
		first_state(&s);
		if (s.any)
			run_deep(&s);
		else
			for (s.at = 0; s.at < s.n && !s.red && !r->limit; s.at++)
				expand(&s);
	}
	r->states += s.n;
	if (s.red && !s.any && !take_path(&s)) {
		s.red = false;
		r->limit = "memory";
	}
	/* With one promise at a time a second one is not rejected, it is another run. */
	if (!s.red && !r->limit && s.capped && o->owners > 1)
		r->limit = "promises";
	r->status = s.red ? COVER_RED : r->limit ? COVER_LIMIT : COVER_SAFE;
	search_free(&s);
}

/* ---- any number --------------------------------------------------------- */

/* The next way to have `total` threads in the templates of any number, at
 * least one each; false when this was the last. */
static bool next_numbers(const struct program *g, const uint32_t *want, uint32_t *count)
{
	uint32_t last = IR_NONE;
	for (uint32_t t = 0; t < g->ir->ntemplates; t++)
		if (want[t] == COVER_ANY)
			last = t;
	/* what the last one has beyond 1 moves to the one before, odometer fashion */
	for (uint32_t t = last; t-- > 0;) {
		if (want[t] != COVER_ANY)
			continue;
		uint32_t after = 0;
		for (uint32_t u = t + 1; u <= last; u++)
			if (want[u] == COVER_ANY) {
				after += count[u] - 1;
				count[u] = 1;
			}
		if (after) {
			count[t]++;
			count[last] = after; /* 1 + (after - 1) */
			return true;
		}
	}
	return false;
}

/* Red can be reached with some number of threads: the least one. False when a
 * smaller one could not be ruled out. */
static bool find_smallest(const struct program *g, const struct cover_options *o, struct cover_result *r)
{
	uint32_t nt = g->ir->ntemplates, last = 0;
	bool sure = true;
	for (uint32_t t = 0; t < nt; t++)
		if (o->count[t] == COVER_ANY)
			last = t;
	for (uint32_t extra = 0; extra < IR_MAX_THREADS; extra++) {
		for (uint32_t t = 0; t < nt; t++)
			r->count[t] = o->count[t] == COVER_ANY ? 1 : o->count[t];
		r->count[last] += extra;
		do {
			search(g, o, r->count, r);
			if (r->status == COVER_RED || (r->limit && strcmp(r->limit, "promises")))
				return sure;
			sure &= r->status == COVER_SAFE;
		} while (next_numbers(g, o->count, r->count));
	}
	return false;
}

void cover_run(const struct program *g, const struct cover_options *o, struct cover_result *r)
{
	assert(o->count && o->owners && o->owners <= COVER_MAX_OWNERS);
	uint32_t nt = g->ir->ntemplates;
	bool any = false;
	memset(r, 0, sizeof *r);
	r->count = calloc(nt + 1ull, sizeof *r->count);
	if (!r->count) {
		r->status = COVER_LIMIT;
		r->limit = "memory";
		return;
	}
	memcpy(r->count, o->count, nt * sizeof *r->count);
	for (uint32_t t = 0; t < nt; t++)
		any |= o->count[t] == COVER_ANY;
	search(g, o, o->count, r);
	if (!any || r->status != COVER_RED)
		return;
	r->smallest = find_smallest(g, o, r) && r->status == COVER_RED;
}

void cover_result_free(struct cover_result *r)
{
	free(r->path);
	free(r->count);
	memset(r, 0, sizeof *r);
}
