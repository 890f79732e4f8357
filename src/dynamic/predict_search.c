/*
 * predict_search: all orders of the few events around a block.
 *
 * What predict_reorder.c looks for has a shape: one other thread, between two
 * events of the block. A cycle can also lead through several threads, their blocks,
 * locks, forks and joins. So where no shape fits, the at most REGION events around
 * the block are tried in every order, up to STEPS steps: a depth-first search over
 * what each thread does next, that follows what the block reaches (serial.h: the
 * first transaction reached of each thread) and stops where a link arrives in the
 * block from there. States that were met before are left; two states with equal
 * hashes only cost the part of the search after one of them.
 *
 * Events before the region run as recorded, those after it do not run. What is
 * found is made shorter, one event at a time from the end of each thread, and then
 * judged by verdict/verify_reorder.c as the others are.
 */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "dynamic/predict_window.h"
#include "verdict/verify_reorder.h"

enum { REGION = 64, LOCAL = 12, OBJECTS = 24, LINKS = 96, STEPS = 12000, SEEN = 1 << 15, WINDOW_STEPS = 120000, PLACE_TRIES = 3 };
_Static_assert(REGION <= UINT8_MAX && LOCAL <= 16 && LINKS <= UINT8_MAX,
               "events and threads of a region are bytes, frozen threads 16 bits");
#define SEARCH_NONE 0xff

/* The region: its events by their place in it, threads and objects renumbered. */
struct region {
	const struct reorder *r;
	uint32_t lo, n;           /* in the window */
	uint32_t nthreads, block; /* the thread of the block */
	uint8_t thread[REGION], object[REGION], tx[REGION], kind[REGION], source[REGION];
	uint8_t list[LOCAL][REGION], len[LOCAL], stop[LOCAL]; /* stop: events that may run */
	uint8_t fork[LOCAL];                                  /* place of its fork in the region */
	uint8_t tx_block;
	uint8_t held[OBJECTS]; /* by lock: the thread + 1 that has it at the start */
	uint32_t global[LOCAL];
	uint32_t names[2][OBJECTS], nnames[2]; /* variables, locks */
};

struct state {
	uint8_t pos[LOCAL];
	uint8_t write[OBJECTS], read[OBJECTS][LOCAL];
	uint8_t owner[OBJECTS], released[OBJECTS];
	uint8_t first[LOCAL]; /* transaction reached, SEARCH_NONE: none */
	uint16_t frozen;
	uint64_t links; /* a sum of hashes of those below */
	/* not part of what makes states alike: the links between threads */
	uint8_t nlinks, link[LINKS][2];
};
#define COMPARED offsetof(struct state, nlinks)

struct predict_search {
	struct region g;
	uint64_t seen[SEEN];
	uint32_t steps;
	uint8_t path[REGION], npath;
	uint8_t closing; /* the event the last link comes from */
};

/* ---- the region --------------------------------------------------------- */

static uint8_t number(struct region *g, unsigned space, uint32_t id)
{
	assert(space < 2 && g->nnames[space] <= OBJECTS);
	uint32_t i = 0;
	while (i < g->nnames[space] && g->names[space][i] != id)
		i++;
	if (i == OBJECTS)
		return SEARCH_NONE;
	if (i == g->nnames[space])
		g->names[space][g->nnames[space]++] = id;
	return (uint8_t)i;
}

static uint8_t local_of(struct region *g, uint32_t thread)
{
	assert(g->nthreads <= LOCAL);
	for (uint32_t k = 0; k < g->nthreads; k++)
		if (g->global[k] == thread)
			return (uint8_t)k;
	return SEARCH_NONE;
}

/* Which events of the window, and whose; false: too many of something. */
static bool choose(struct region *g, const struct reorder *r, uint32_t from, uint32_t to)
{
	assert(from <= to && to < r->n);
	uint32_t size = to - from + 1, room = size < REGION ? (REGION - size) / 2 : 0;
	if (size > REGION)
		return false;
	g->r = r;
	g->lo = from > room ? from - room : 0;
	g->n = (uint32_t)(r->n - g->lo < REGION ? r->n - g->lo : REGION);
	g->nthreads = 0;
	memset(g->nnames, 0, sizeof g->nnames);
	memset(g->held, 0, sizeof g->held);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct event *e = &r->ev[g->lo + i];
		uint8_t k = local_of(g, e->thread);
		if (k == SEARCH_NONE) {
			if (g->nthreads == LOCAL)
				return false;
			k = (uint8_t)g->nthreads++;
			g->global[k] = e->thread;
			g->len[k] = 0;
			g->fork[k] = SEARCH_NONE;
		}
		g->thread[i] = k;
		g->kind[i] = e->kind;
		g->list[k][g->len[k]++] = (uint8_t)i;
	}
	return true;
}

/* Objects, what reads read, transactions; false: too many of something. */
static bool describe(struct region *g, uint32_t root)
{
	const struct reorder *r = g->r;
	uint8_t write[OBJECTS];
	uint32_t last_root[LOCAL];
	uint8_t tx[LOCAL];
	memset(write, SEARCH_NONE, sizeof write);
	memset(tx, 0, sizeof tx);
	memset(last_root, 0xff, sizeof last_root);
	for (uint32_t i = 0; i < g->n; i++) {
		const struct event *e = &r->ev[g->lo + i];
		uint8_t k = g->thread[i];
		uint32_t of = r->root[g->lo + i];
		if (of == NO || of != last_root[k])
			tx[k]++;
		last_root[k] = of;
		g->tx[i] = tx[k];
		g->object[i] = g->source[i] = SEARCH_NONE;
		if (e->kind <= EVENT_REL) {
			uint32_t locks = g->nnames[1];
			g->object[i] = number(g, e->kind > EVENT_WRITE, e->target);
			if (g->object[i] == SEARCH_NONE)
				return false;
			if (g->nnames[1] > locks) /* who releases it first has it */
				g->held[locks] = e->kind == EVENT_REL ? (uint8_t)(k + 1) : 0;
		}
		if (e->kind == EVENT_READ)
			g->source[i] = write[g->object[i]];
		else if (e->kind == EVENT_WRITE)
			write[g->object[i]] = (uint8_t)i;
		else if (e->kind == EVENT_FORK || e->kind == EVENT_JOIN)
			g->object[i] = local_of(g, e->target);
		if (e->kind == EVENT_FORK && g->object[i] != SEARCH_NONE)
			g->fork[g->object[i]] = (uint8_t)i;
		if (of == root) {
			g->block = k;
			g->tx_block = tx[k];
		}
	}
	/* A thread that is forked after the region cannot run; the block's thread
	 * has nothing to do after the block. */
	for (uint32_t k = 0; k < g->nthreads; k++) {
		g->stop[k] = 0;
		for (uint32_t p = 0; p < g->len[k]; p++) {
			uint8_t i = g->list[k][p];
			bool end = r->root[g->lo + i] == root && g->kind[i] == EVENT_END;
			if (k == g->block && (g->tx[i] > g->tx_block || end))
				break;
			g->stop[k] = (uint8_t)(p + 1);
		}
	}
	assert(g->n <= REGION && g->nthreads <= LOCAL);
	return true;
}

static void begin(const struct region *g, struct state *s)
{
	memset(s, 0, sizeof *s);
	memset(s->write, SEARCH_NONE, sizeof s->write);
	memset(s->read, SEARCH_NONE, sizeof s->read);
	memset(s->released, SEARCH_NONE, sizeof s->released);
	memset(s->first, SEARCH_NONE, sizeof s->first);
	memcpy(s->owner, g->held, sizeof s->owner);
}

/* ---- one step ----------------------------------------------------------- */

enum predict_result { BLOCKED, DONE, CYCLE };

static bool reached(const struct region *g, const struct state *s, uint8_t c)
{
	assert(c < g->n && g->thread[c] < g->nthreads);
	uint8_t k = g->thread[c];
	return (k == g->block && g->tx[c] == g->tx_block) || g->tx[c] >= s->first[k];
}

/* By the link from c to e something new is reached. */
static bool reaches(const struct region *g, struct state *s, uint8_t c, uint8_t e)
{
	assert(e < g->n);
	uint8_t k = g->thread[e];
	if (k == g->block || g->tx[e] >= s->first[k] || !reached(g, s, c))
		return false;
	s->first[k] = g->tx[e];
	return true;
}

/* A link from c arrives at e; true when it closes a cycle. */
static bool link(const struct region *g, struct state *s, uint8_t c, uint8_t e)
{
	assert(e < g->n && s->nlinks <= LINKS);
	if (c == SEARCH_NONE || g->thread[c] == g->thread[e])
		return false;
	if (g->thread[e] == g->block && g->tx[e] == g->tx_block && reached(g, s, c))
		return true;
	if (s->nlinks < LINKS) {
		s->link[s->nlinks][0] = c;
		s->link[s->nlinks++][1] = e;
		s->links += hash64((uint64_t)c << 8 | e);
	}
	/* what is reached may have led on before */
	for (bool more = reaches(g, s, c, e); more;) {
		more = false;
		for (unsigned i = 0; i < s->nlinks; i++)
			more |= reaches(g, s, s->link[i][0], s->link[i][1]);
	}
	return false;
}

static bool can_run(const struct region *g, const struct state *s, uint8_t e)
{
	assert(e < g->n);
	uint8_t k = g->thread[e], o = g->object[e];
	if (g->fork[k] != SEARCH_NONE && g->fork[k] < e) {
		uint8_t by = g->fork[k], t = g->thread[by];
		if (!s->pos[t] || g->list[t][s->pos[t] - 1] < by)
			return false;
	}
	if (g->kind[e] == EVENT_ACQ)
		return !s->owner[o] || s->owner[o] == k + 1;
	if (g->kind[e] == EVENT_REL)
		return s->owner[o] == k + 1;
	if (g->kind[e] == EVENT_JOIN && o != SEARCH_NONE)
		return s->pos[o] >= g->len[o] || g->list[o][s->pos[o]] > e;
	return true;
}

/* The links that arrive at e, and the state after it. */
static enum predict_result run(const struct region *g, struct state *s, uint8_t e, uint8_t *closing)
{
	assert(e < g->n && g->thread[e] < g->nthreads);
	uint8_t k = g->thread[e], o = g->object[e], links[LOCAL + 2];
	unsigned n = 0, before;
	if (s->pos[k] == 1 && g->fork[k] != SEARCH_NONE && g->fork[k] < e)
		links[n++] = g->fork[k];
	switch (g->kind[e]) {
	case EVENT_READ:
		if (s->read[o][k] == SEARCH_NONE) /* the first read since is the link */
			links[n++] = s->write[o];
		if (s->write[o] != g->source[e])
			s->frozen |= (uint16_t)(1u << k);
		s->read[o][k] = e;
		break;
	case EVENT_WRITE:
		before = n;
		for (uint32_t t = 0; t < g->nthreads; t++)
			if (s->read[o][t] != SEARCH_NONE)
				links[n++] = s->read[o][t];
		if (n == before) /* else by way of the readers */
			links[n++] = s->write[o];
		s->write[o] = e;
		memset(s->read[o], SEARCH_NONE, sizeof s->read[o]);
		break;
	case EVENT_ACQ:
		links[n++] = s->released[o];
		s->owner[o] = (uint8_t)(k + 1);
		break;
	case EVENT_REL:
		s->released[o] = e;
		s->owner[o] = 0;
		break;
	case EVENT_JOIN:
		if (o != SEARCH_NONE && s->pos[o])
			links[n++] = g->list[o][s->pos[o] - 1];
		break;
	default:
		break;
	}
	for (unsigned i = 0; i < n; i++)
		if (link(g, s, links[i], e)) {
			*closing = links[i];
			return CYCLE;
		}
	return DONE;
}

static enum predict_result step(const struct region *g, struct state *s, uint32_t k, uint8_t *closing)
{
	assert(k < g->nthreads);
	if (s->pos[k] >= g->stop[k] || s->frozen >> k & 1)
		return BLOCKED;
	uint8_t e = g->list[k][s->pos[k]];
	if (!can_run(g, s, e))
		return BLOCKED;
	s->pos[k]++;
	return run(g, s, e, closing);
}

/* ---- the search --------------------------------------------------------- */

static bool known(struct predict_search *q, const struct state *s)
{
	assert(s->nlinks <= LINKS);
	uint64_t words[(COMPARED + 7) / 8] = { 0 }, h = 1;
	memcpy(words, s, COMPARED);
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		h = hash64(h ^ words[i]) + i;
	h |= 1;
	uint32_t at = (uint32_t)(h >> 20) % SEEN;
	for (; q->seen[at]; at = (at + 1) % SEEN)
		if (q->seen[at] == h)
			return true;
	q->seen[at] = h;
	return false;
}

/* The next event is one that concerns no other thread: it may run at once. */
static uint32_t silent(const struct region *g, const struct state *s)
{
	for (uint32_t k = 0; k < g->nthreads; k++)
		if (s->pos[k] < g->stop[k] && !(s->frozen >> k & 1)) {
			uint8_t e = g->list[k][s->pos[k]];
			if (g->kind[e] >= EVENT_BEGIN && can_run(g, s, e))
				return k;
		}
	return NO;
}

static bool explore(struct predict_search *q, const struct state *s)
{
	assert(q->npath <= REGION);
	uint32_t alone = silent(&q->g, s);
	if (alone == NO && known(q, s))
		return false;
	for (uint32_t n = 0; n < q->g.nthreads; n++) {
		/* the block's own thread first: others then come in late */
		uint32_t k = alone != NO ? alone : !n ? q->g.block : n <= q->g.block ? n - 1 : n;
		struct state next = *s;
		if (q->steps++ >= STEPS)
			return false;
		enum predict_result got = step(&q->g, &next, k, &q->closing);
		if (got != BLOCKED) {
			q->path[q->npath++] = q->g.list[k][s->pos[k]];
			if (got == CYCLE || explore(q, &next))
				return true;
			q->npath--;
		}
		if (alone != NO)
			return false;
	}
	return false;
}

/* Does this order end in a cycle? Its end is then cut, and `s` the state there. */
static bool replays(struct predict_search *q, const uint8_t *path, uint8_t n, struct state *s)
{
	assert(n <= REGION);
	begin(&q->g, s);
	for (uint8_t i = 0; i < n; i++) {
		uint32_t k = q->g.thread[path[i]];
		if (s->pos[k] >= q->g.len[k] || q->g.list[k][s->pos[k]] != path[i])
			return false;
		enum predict_result got = step(&q->g, s, k, &q->closing);
		if (got != DONE)
			return got == CYCLE && i + 1 == n;
	}
	return false;
}

/* Leaves out what is not needed, from the end of each thread. */
static void shorten(struct predict_search *q, struct state *s)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t k = 0; k < q->g.nthreads; k++) {
			uint8_t shorter[REGION], n = 0, last = SEARCH_NONE;
			for (uint8_t i = 0; i < q->npath; i++)
				if (q->g.thread[q->path[i]] == k)
					last = i;
			if (k == q->g.block || last == SEARCH_NONE)
				continue;
			for (uint8_t i = 0; i < q->npath; i++)
				if (i != last)
					shorter[n++] = q->path[i];
			if (!replays(q, shorter, n, s))
				continue;
			memcpy(q->path, shorter, n);
			q->npath = n;
			more = true;
		}
	}
}

/* ---- what was found ----------------------------------------------------- */

/* Does the end of link j lead to event c by program order? */
static bool leads(const struct region *g, const struct state *s, unsigned j, uint8_t c)
{
	assert(j < s->nlinks && c < g->n);
	uint8_t e = s->link[j][1];
	return g->thread[e] == g->thread[c] && g->tx[e] <= g->tx[c];
}

/* The link out of the block that the shortest way to event c begins with. */
static unsigned way_out(const struct region *g, const struct state *s, uint8_t c)
{
	assert(c < g->n);
	uint8_t out[LINKS], next[LINKS]; /* the link a way begins with */
	memset(out, SEARCH_NONE, sizeof out);
	for (unsigned i = 0; i < s->nlinks; i++)
		if (g->thread[s->link[i][0]] == g->block && g->tx[s->link[i][0]] == g->tx_block)
			out[i] = (uint8_t)i;
	for (unsigned round = 0; round < s->nlinks; round++) {
		for (unsigned i = 0; i < s->nlinks; i++)
			if (out[i] != SEARCH_NONE && leads(g, s, i, c))
				return out[i];
		memcpy(next, out, sizeof out);
		for (unsigned i = 0; i < s->nlinks; i++)
			for (unsigned j = 0; j < s->nlinks && next[i] == SEARCH_NONE; j++)
				if (out[j] != SEARCH_NONE && leads(g, s, j, s->link[i][0]))
					next[i] = out[j];
		memcpy(out, next, sizeof out);
	}
	return NO;
}

static void claim(struct reorder *r, struct predict_search *q, const struct state *s)
{
	assert(q->npath <= REGION && q->closing < q->g.n);
	const struct region *g = &q->g;
	unsigned out = way_out(g, s, q->closing);
	if (out == NO)
		return; /* more links than were kept */
	uint32_t a1 = g->lo + s->link[out][0], a2 = g->lo + q->path[q->npath - 1];
	uint8_t in = s->link[out][1];
	struct predicted f = {
		.kind = PREDICT_PROVEN,
		.first = event_of(&r->ev[a1]),
		.second = event_of(&r->ev[a2]),
		.between = event_of(&r->ev[g->lo + in]),
		.start = r->ev[g->lo].index,
		.begin = r->blocks[window_block(r, a1, a2)].begin,
	};
	if (q->closing != in)
		f.until = event_of(&r->ev[g->lo + q->closing]);
	if (predict_known(r->p, &f))
		return;
	size_t n = 0;
	for (; n < g->lo; n++)
		r->order[n] = (uint32_t)n;
	for (uint8_t i = 0; i < q->npath; i++)
		r->order[n++] = g->lo + q->path[i];
	if (verify_reorder(r->renamed, r->n, r->held, r->nlocks, r->order, n))
		return;
	f.norder = f.remote = f.local = q->npath;
	f.order = malloc(f.norder * sizeof *f.order);
	if (!f.order) {
		r->nomem = true;
		return;
	}
	for (size_t i = 0; i < f.norder; i++)
		f.order[i] = r->ev[g->lo + q->path[i]].index;
	predict_add(r->p, f);
}

/* In the order of the recording, does the block close a cycle? Then it is already
 * reported. */
static bool recorded(struct predict_search *q)
{
	struct state s;
	begin(&q->g, &s);
	for (uint32_t i = 0; i < q->g.n; i++) {
		enum predict_result got = step(&q->g, &s, q->g.thread[i], &q->closing);
		if (got == CYCLE)
			return true;
	}
	return false;
}

void reorder_search(struct reorder *r, uint32_t root, uint32_t from, uint32_t to)
{
	assert(root < r->nblocks && from <= to && to < r->n);
	struct state s;
	uint64_t place = hash64(hash64(r->blocks[root].begin.loc) + 7);
	if (r->steps >= WINDOW_STEPS || !window_try(r, place, PLACE_TRIES))
		return;
	if (!r->search && !(r->search = malloc(sizeof *r->search))) {
		r->nomem = true;
		return;
	}
	struct predict_search *q = r->search;
	if (!choose(&q->g, r, from, to) || !describe(&q->g, root) || q->g.nthreads < 2 || recorded(q))
		return;
	memset(q->seen, 0, sizeof q->seen);
	q->steps = 0;
	q->npath = 0;
	begin(&q->g, &s);
	bool found = explore(q, &s);
	r->steps += q->steps;
	if (!found || !replays(q, q->path, q->npath, &s))
		return;
	shorten(q, &s);
	if (replays(q, q->path, q->npath, &s))
		claim(r, q, &s);
}
