/*
 * unfold: the algorithm.
 *
 * Events wait in buckets by |[e]|. An event is judged when it is found: if its
 * marking was reached by an event that comes before it in the adequate order
 * it is a cut-off, is counted and forgotten; if it comes before the one known
 * so far, that one (still waiting, because what is found is larger than what
 * is being inserted) becomes a cut-off instead. So the full order is needed
 * only for two events of equal size and marking, and the order of insertion
 * within a bucket does not matter.
 *
 * Co-relation: for each kept event the conditions that are older than it and
 * concurrent with it (in co[]), and for each condition the younger events
 * that are concurrent with it (chunks). The list of a new event is the
 * intersection of those of its preset. An extension by the newest event e
 * takes at least one of e's conditions and the rest from co(e); whether they
 * are concurrent among themselves the trail of config.h tells, and it gives
 * |[e]|, the marking's hash and the marking itself on the way.
 *
 * 1-safety: when a kept event puts a token on a place of which a condition is
 * concurrent with it, that shows a reachable marking with two tokens. This
 * finds every unsafe net: the least unsafe configuration in the adequate order
 * holds no cut-off (else the configuration with the cut-off replaced by the
 * earlier event of equal marking would be unsafe too, and lesser), and of its
 * two conditions with the same place the younger one's event sees the older.
 * Markings are compared as multisets, so this argument needs no safe marking.
 *
 * Memory: about 70 bytes an event, 16 a condition, 4 to 8 an entry of the
 * co-relation, which dominates when many threads run side by side.
 */
#include "causal/unfold.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/map.h"

enum { CHUNK = 7 };

struct uf_chunk {
	uint32_t event[CHUNK]; /* 0 = free */
	uint32_t next;
};

static bool stop(struct prefix *p, const char *limit)
{
	if (!p->limit)
		p->limit = limit;
	return false;
}

/* Makes room for `need` elements, doubling; false when the budget is spent. */
static bool room(struct prefix *p, void **array, uint64_t need, uint64_t *cap, size_t elem)
{
	if (need <= *cap)
		return true;
	uint64_t n = *cap ? *cap * 2 : 256;
	while (n < need)
		n *= 2;
	uint64_t more = (n - *cap) * elem;
	if (p->opt.max_bytes && p->bytes + more > p->opt.max_bytes)
		return stop(p, "memory");
	void *to = realloc(*array, n * elem);
	if (!to)
		return stop(p, "memory");
	memset((char *)to + *cap * elem, 0, more);
	p->bytes += more;
	*array = to;
	*cap = n;
	return true;
}

static bool room32(struct prefix *p, void **array, uint64_t need, uint32_t *cap, size_t elem)
{
	uint64_t c = *cap;
	if (need >= UINT32_MAX / 2)
		return stop(p, "memory");
	bool ok = room(p, array, need, &c, elem);
	*cap = (uint32_t)c;
	return ok;
}
#define ROOM(p, array, need, cap) \
	room32((p), (void **)&(array), (need), &(cap), sizeof *(array))

static bool in_time(struct prefix *p)
{
	struct timespec t;
	if (p->opt.deadline <= 0 || (++p->ticks & 1023))
		return true;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec < p->opt.deadline || stop(p, "time");
}

/* ---- events and conditions ---------------------------------------------- */

static bool new_event(struct prefix *p, uint32_t trans, const uint32_t *pre, uint32_t npre)
{
	uint32_t cap = p->cap_events, cap2 = p->cap_events;
	if (!ROOM(p, p->cfg.trail, (uint64_t)p->nevents + 1, cap) ||
	    !ROOM(p, p->cfg.scratch, (uint64_t)p->nevents + 1, cap2) ||
	    !ROOM(p, p->cfg.events, (uint64_t)p->nevents + 1, p->cap_events) ||
	    !ROOM(p, p->cfg.pres, (uint64_t)p->npres + npre, p->cap_pres))
		return false;
	struct uf_event *e = &p->cfg.events[p->nevents++];
	memset(e, 0, sizeof *e);
	e->trans = trans;
	e->pre = p->npres;
	if (npre)
		memcpy(p->cfg.pres + p->npres, pre, npre * sizeof *pre);
	p->npres += npre;
	p->cfg.nevents = p->nevents;
	return true;
}

static bool new_conditions(struct prefix *p, uint32_t e, const uint32_t *places, uint32_t n)
{
	if (!ROOM(p, p->cfg.conds, (uint64_t)p->nconds + n, p->cap_conds) ||
	    !ROOM(p, p->seen, (uint64_t)p->nconds + n, p->cap_seen))
		return false;
	p->cfg.events[e].post = p->nconds;
	for (uint32_t i = 0; i < n; i++)
		p->cfg.conds[p->nconds++] = (struct uf_cond){ places[i], e, 0, 0 };
	return true;
}

static uint32_t nposts(const struct prefix *p, uint32_t e)
{
	return e ? net_npost(p->net, p->cfg.events[e].trans) : p->net->ninit;
}

/* ---- the co-relation ---------------------------------------------------- */

struct meet {
	uint32_t was, now; /* a condition seen `was` becomes `now` */
	bool last;
};

static inline bool meet_one(struct prefix *p, uint32_t c, const struct meet *m)
{
	if (m->was && p->seen[c] != m->was)
		return true;
	p->seen[c] = m->now;
	if (!m->last)
		return true;
	if (p->nfound == p->cap_found && !ROOM(p, p->found, (uint64_t)p->nfound + 1, p->cap_found))
		return false;
	p->found[p->nfound++] = c;
	return true;
}

static bool meet_posts(struct prefix *p, uint32_t e, uint32_t but, const struct meet *m)
{
	uint32_t first = p->cfg.events[e].post, n = nposts(p, e);
	for (uint32_t c = first; c < first + n; c++)
		if (c != but && !meet_one(p, c, m))
			return false;
	return true;
}

/* Everything concurrent with condition x. */
static bool meet_condition(struct prefix *p, uint32_t x, const struct meet *m)
{
	const struct uf_event *e = &p->cfg.events[p->cfg.conds[x].event];
	for (uint32_t i = 0; i < e->co_n; i++)
		if (!meet_one(p, p->co[e->co_at + i], m))
			return false;
	if (!meet_posts(p, p->cfg.conds[x].event, x, m))
		return false;
	for (uint32_t k = p->cfg.conds[x].younger; k; k = p->chunks[k].next)
		for (uint32_t i = 0; i < CHUNK && p->chunks[k].event[i]; i++)
			if (!meet_posts(p, p->chunks[k].event[i], NET_NONE, m))
				return false;
	return true;
}

/* found[] = co(e): what is concurrent with all of e's preset. */
static bool meet_preset(struct prefix *p, uint32_t e)
{
	uint32_t n = net_npre(p->net, p->cfg.events[e].trans);
	p->nfound = 0;
	if (p->seen_now > UINT32_MAX - n - 1) {
		memset(p->seen, 0, p->cap_seen * sizeof *p->seen);
		p->seen_now = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct meet m = { i ? p->seen_now : 0, p->seen_now + 1, i + 1 == n };
		p->seen_now++;
		if (!meet_condition(p, uf_pre(&p->cfg, e)[i], &m))
			return false;
	}
	return true;
}

static bool add_younger(struct prefix *p, uint32_t c, uint32_t e)
{
	uint32_t k = p->cfg.conds[c].younger;
	if (!k || p->chunks[k].event[CHUNK - 1]) {
		if (!ROOM(p, p->chunks, (uint64_t)p->nchunks + 1, p->cap_chunks))
			return false;
		p->chunks[p->nchunks] = (struct uf_chunk){ { 0 }, k };
		p->cfg.conds[c].younger = k = p->nchunks++;
	}
	uint32_t i = 0;
	while (p->chunks[k].event[i])
		i++;
	p->chunks[k].event[i] = e;
	return true;
}

static bool keep_co(struct prefix *p, uint32_t e)
{
	struct uf_event *ev = &p->cfg.events[e];
	if (!room(p, (void **)&p->co, p->nco + p->nfound, &p->cap_co, sizeof *p->co))
		return false;
	ev->co_at = p->nco;
	ev->co_n = p->nfound;
	for (uint32_t i = 0; i < p->nfound; i++)
		p->co[p->nco++] = p->found[i];
	for (uint32_t i = 0; i < p->nfound; i++)
		if (!add_younger(p, p->found[i], e))
			return false;
	return true;
}

/* ---- cut-offs ----------------------------------------------------------- */

static bool grow_table(struct prefix *p)
{
	uint32_t cap = p->cap_table ? p->cap_table * 2 : 1024, *t;
	uint64_t more = (uint64_t)(cap - p->cap_table) * sizeof *t;
	if (cap >= UINT32_C(1) << 31 || (p->opt.max_bytes && p->bytes + more > p->opt.max_bytes))
		return stop(p, "memory");
	t = calloc(cap, sizeof *t);
	if (!t)
		return stop(p, "memory");
	for (uint32_t i = 0; i < p->cap_table; i++) {
		if (!p->table[i])
			continue;
		uint32_t k = (uint32_t)hash64(p->cfg.events[p->table[i] - 1].hash) & (cap - 1);
		while (t[k])
			k = (k + 1) & (cap - 1);
		t[k] = p->table[i];
	}
	free(p->table);
	p->table = t;
	p->cap_table = cap;
	p->bytes += more;
	return true;
}

/* The slot of the current marking: of its event, or free. */
static uint32_t *find_marking(struct prefix *p)
{
	struct config *c = &p->cfg;
	uint32_t k = (uint32_t)hash64(c->hash) & (p->cap_table - 1);
	for (; p->table[k]; k = (k + 1) & (p->cap_table - 1)) {
		uint32_t e = p->table[k] - 1;
		if (c->events[e].hash == c->hash && config_same_marking(c, e))
			break;
	}
	return &p->table[k];
}

static void count_cutoff(struct prefix *p, uint32_t t)
{
	p->cutoffs++;
	p->cutoff_conditions += net_npost(p->net, t);
}

static bool enqueue(struct prefix *p, uint32_t e)
{
	struct uf_event *ev = &p->cfg.events[e];
	if (!ROOM(p, p->bucket, (uint64_t)ev->size + 1, p->nbuckets))
		return false;
	ev->next = p->bucket[ev->size];
	p->bucket[ev->size] = e;
	return true;
}

/*
 * Transition t on the conditions chosen[], all of them in the current
 * configuration's cut, which is [the new event] without it.
 */
static bool judge(struct prefix *p, uint32_t t)
{
	struct config *c = &p->cfg;
	uint32_t npre = net_npre(p->net, t), size = c->ntrail + 1, depth = 0;
	if (!in_time(p))
		return false;
	if (p->opt.max_events && p->kept + p->cutoffs >= p->opt.max_events)
		return stop(p, "events");
	if ((uint64_t)p->ntable * 4 >= (uint64_t)p->cap_table * 3 && !grow_table(p))
		return false;
	for (uint32_t i = 0; i < npre; i++) {
		uint32_t d = c->events[c->conds[p->chosen[i]].event].depth;
		depth = d > depth ? d : depth;
	}
	depth++;
	config_shift(c, t, 1);
	uint64_t hash = c->hash;
	uint32_t *slot = find_marking(p);
	config_shift(c, t, -1);
	if (*slot) {
		struct uf_event *r = &c->events[*slot - 1];
		int first = r->size == size ? config_before(c, t, depth, *slot - 1) : r->size > size;
		if (first < 0)
			return stop(p, "memory");
		count_cutoff(p, first ? r->trans : t);
		if (!first)
			return true;
		r->dead = 1;
		p->kept--;
	} else {
		p->ntable++;
	}
	if (!new_event(p, t, p->chosen, npre))
		return false;
	struct uf_event *e = &c->events[p->nevents - 1];
	e->hash = hash;
	e->size = size;
	e->depth = depth;
	*slot = p->nevents; /* id + 1 */
	p->kept++;
	return enqueue(p, p->nevents - 1);
}

/* ---- possible extensions ------------------------------------------------ */

/*
 * Chooses a condition for every place of t's preset from number i on. The
 * place numbered `pivot` has one already: condition `c` of the newest event;
 * of that event's other conditions only those behind c may be chosen, so that
 * each preset comes up once.
 */
static bool choose(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot);

static bool try_condition(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot, uint32_t b)
{
	struct config *c = &p->cfg;
	uint32_t len = c->ntrail;
	if (c->conds[b].taken || !config_add(c, c->conds[b].event))
		return in_time(p);
	bool ok = true;
	if (!c->conds[b].taken) { /* its own causes do not take it, but be sure */
		c->conds[b].taken = 1;
		p->chosen[i] = b;
		ok = choose(p, t, i + 1, pivot);
		c->conds[b].taken = 0;
	}
	config_undo(c, len);
	return ok && in_time(p);
}

static bool choose(struct prefix *p, uint32_t t, uint32_t i, uint32_t pivot)
{
	const struct net *n = p->net;
	if (i == pivot)
		i++;
	if (i == net_npre(n, t))
		return judge(p, t);
	uint32_t place = n->pre[n->pre_at[t] + i];
	uint32_t e = p->cfg.conds[p->chosen[pivot]].event;
	uint32_t end = p->cfg.events[e].post + nposts(p, e);
	for (uint32_t b = p->chosen[pivot] + 1; b < end; b++)
		if (p->cfg.conds[b].place == place && !try_condition(p, t, i, pivot, b))
			return false;
	const uint32_t *co = p->co + p->cfg.events[e].co_at;
	for (uint32_t k = p->head[place]; k; k = p->link[k - 1])
		if (!try_condition(p, t, i, pivot, co[k - 1]))
			return false;
	return true;
}

/* Is there any choice at all for the other places? */
static bool hopeful(const struct prefix *p, uint32_t t, uint32_t c)
{
	const struct net *n = p->net;
	uint32_t e = p->cfg.conds[c].event, end = p->cfg.events[e].post + nposts(p, e);
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++) {
		bool some = p->head[n->pre[i]] || n->pre[i] == p->cfg.conds[c].place;
		for (uint32_t b = c + 1; b < end && !some; b++)
			some = p->cfg.conds[b].place == n->pre[i];
		if (!some)
			return false;
	}
	return true;
}

static bool extend_by(struct prefix *p, uint32_t c)
{
	const struct net *n = p->net;
	uint32_t place = p->cfg.conds[c].place;
	for (uint32_t u = n->use_at[place]; u < n->use_at[place + 1]; u++) {
		uint32_t t = n->use[u], pivot = 0;
		if (!hopeful(p, t, c))
			continue;
		while (n->pre[n->pre_at[t] + pivot] != place)
			pivot++;
		p->chosen[pivot] = c;
		p->cfg.conds[c].taken = 1;
		bool ok = choose(p, t, 0, pivot);
		p->cfg.conds[c].taken = 0;
		if (!ok)
			return false;
	}
	return true;
}

/* All extensions whose newest cause is e. */
static bool extend(struct prefix *p, uint32_t e)
{
	const struct uf_event ev = p->cfg.events[e];
	uint32_t n = nposts(p, e);
	bool ok = true;
	if (!ROOM(p, p->link, ev.co_n, p->cap_link))
		return false;
	for (uint32_t i = ev.co_n; i > 0; i--) {
		uint32_t place = p->cfg.conds[p->co[ev.co_at + i - 1]].place;
		p->link[i - 1] = p->head[place];
		p->head[place] = i;
	}
	config_add(&p->cfg, e);
	for (uint32_t c = ev.post; c < ev.post + n && ok; c++)
		ok = extend_by(p, c);
	config_undo(&p->cfg, 0);
	for (uint32_t i = 0; i < ev.co_n; i++)
		p->head[p->cfg.conds[p->co[ev.co_at + i]].place] = 0;
	return ok;
}

/* ---- the loop ----------------------------------------------------------- */

static bool keep_marking(struct prefix *p)
{
	free(p->marking);
	p->marking = calloc((size_t)p->net->nplaces * 2 + 1, sizeof *p->marking);
	if (!p->marking)
		return stop(p, "memory");
	p->nmarking = config_marking(&p->cfg, p->marking, p->net->nplaces * 2);
	return true;
}

/* Does e put a token on a place where another may lie? */
static bool is_safe(struct prefix *p, uint32_t e)
{
	const struct uf_event *ev = &p->cfg.events[e];
	uint32_t n = nposts(p, e), other = NET_NONE;
	for (uint32_t i = 0; i < n; i++)
		p->head[p->cfg.conds[ev->post + i].place] = 1;
	for (uint32_t i = 0; i < p->nfound && other == NET_NONE; i++)
		if (p->head[p->cfg.conds[p->found[i]].place])
			other = p->found[i];
	for (uint32_t i = 0; i < n; i++)
		p->head[p->cfg.conds[ev->post + i].place] = 0;
	if (other == NET_NONE)
		return true;
	p->unsafe_place = p->cfg.conds[other].place;
	p->unsafe_trans = ev->trans;
	config_add(&p->cfg, e);
	config_add(&p->cfg, p->cfg.conds[other].event);
	keep_marking(p);
	config_undo(&p->cfg, 0);
	return false;
}

static enum unfold_status insert(struct prefix *p, uint32_t e)
{
	const struct net *n = p->net;
	uint32_t t = p->cfg.events[e].trans;
	if (!meet_preset(p, e) ||
	    !new_conditions(p, e, n->post + n->post_at[t], net_npost(n, t)))
		return UNFOLD_LIMIT;
	if (!is_safe(p, e))
		return p->limit ? UNFOLD_LIMIT : UNFOLD_UNSAFE;
	return keep_co(p, e) && extend(p, e) ? UNFOLD_DONE : UNFOLD_LIMIT;
}

static bool start(struct prefix *p)
{
	const struct net *n = p->net;
	uint64_t seed = 0x1A57AC7, cap = 0, cap2 = 0, cap3 = 0, cap4 = 0;
	uint32_t widest = 1;
	for (uint32_t t = 0; t < n->ntrans; t++)
		widest = net_npre(n, t) > widest ? net_npre(n, t) : widest;
	if (!room(p, (void **)&p->cfg.change, (uint64_t)n->nplaces + 1, &cap, sizeof(int32_t)) ||
	    !room(p, (void **)&p->cfg.place_hash, (uint64_t)n->nplaces + 1, &cap2, sizeof(uint64_t)) ||
	    !room(p, (void **)&p->head, (uint64_t)n->nplaces + 1, &cap3, sizeof(uint32_t)) ||
	    !room(p, (void **)&p->chosen, (uint64_t)widest + 1, &cap4, sizeof(uint32_t)) ||
	    !ROOM(p, p->chunks, 1, p->cap_chunks) || !grow_table(p))
		return false;
	p->nchunks = 1; /* 0 = none */
	for (uint32_t i = 0; i < n->nplaces; i++)
		p->cfg.place_hash[i] = hash64(seed += 0x9E3779B97F4A7C15u);
	if (!new_event(p, NET_NONE, NULL, 0) || !new_conditions(p, 0, n->init, n->ninit))
		return false;
	p->table[(uint32_t)hash64(0) & (p->cap_table - 1)] = 1; /* the initial marking */
	p->ntable = 1;
	return extend(p, 0);
}

enum unfold_status unfold(const struct net *n, const struct unfold_options *opt,
                          struct prefix *p)
{
	enum unfold_status st = UNFOLD_DONE;
	memset(p, 0, sizeof *p);
	p->net = p->cfg.net = n;
	p->opt = *opt;
	p->unsafe_place = p->unsafe_trans = NET_NONE;
	if (!start(p))
		return UNFOLD_LIMIT;
	for (uint32_t size = 1; size < p->nbuckets; size++)
		for (uint32_t e; (e = p->bucket[size]);) {
			p->bucket[size] = p->cfg.events[e].next;
			if (p->cfg.events[e].dead)
				continue;
			st = insert(p, e);
			if (st != UNFOLD_DONE)
				return st;
		}
	return st;
}

void prefix_free(struct prefix *p)
{
	free(p->cfg.events);
	free(p->cfg.conds);
	free(p->cfg.pres);
	free(p->cfg.trail);
	free(p->cfg.scratch);
	free(p->cfg.change);
	free(p->cfg.place_hash);
	free(p->marking);
	free(p->co);
	free(p->chunks);
	free(p->bucket);
	free(p->table);
	free(p->seen);
	free(p->found);
	free(p->head);
	free(p->link);
	free(p->chosen);
	memset(p, 0, sizeof *p);
}

/* ---- coverability ------------------------------------------------------- */

static int cover_from(struct prefix *p, const uint32_t *places, uint32_t n)
{
	struct config *c = &p->cfg;
	if (!n)
		return keep_marking(p) ? 1 : -1;
	for (uint32_t b = 0; b < p->nconds; b++) {
		if (!in_time(p))
			return -1;
		uint32_t len = c->ntrail;
		if (c->conds[b].place != places[0] || c->conds[b].taken ||
		    !config_add(c, c->conds[b].event))
			continue;
		c->conds[b].taken = 1;
		int found = cover_from(p, places + 1, n - 1);
		c->conds[b].taken = 0;
		config_undo(c, len);
		if (found)
			return found;
	}
	return 0;
}

int prefix_cover(struct prefix *p, const uint32_t *places, uint32_t n)
{
	return cover_from(p, places, n);
}
