/*
 * colour: the coloured unfolding, exact and reduced, against an explorer that
 * lists all coloured markings one by one, on random nets of threads with locks
 * and variables; every counterexample is replayed and held against the
 * definition of causal atomicity, which knows no colours.
 *
 * INTACT_SOAK=N checks N nets (default 3000), INTACT_SEED=S starts at S.
 */
#include "check.h"

#include "base/rng.h"
#include "witness.h"

enum { MAXP = 40, MAXT = 64, NONE = 255 };

struct model {
	struct colour_net cn;
	uint8_t role[MAXT], read[MAXT * 8];
	uint64_t reads[MAXT]; /* a bit a place */
	uint8_t thread[MAXT];
};

/* ---- random nets -------------------------------------------------------- */

static const struct span nowhere = { 0, 0 };

struct maker {
	struct rng *r;
	struct arena *a;
	struct net_builder b;
	struct model *m;
	uint32_t cells, cell[3][2]; /* second place: NET_NONE when it keeps no value */
	uint32_t pick;
};

/* A step of a thread that touches up to two cells. */
static void add_step(struct maker *k, uint32_t thread, uint32_t from, uint32_t to,
                     enum colour_role role, bool pick)
{
	if (k->b.trans.len >= MAXT)
		return;
	uint32_t t = net_add_trans(&k->b, arena_printf(k->a, "t%u", k->b.trans.len), nowhere);
	uint32_t used = 0;
	k->m->role[t] = (uint8_t)role;
	k->m->thread[t] = (uint8_t)thread;
	net_add_take(&k->b, t, from, nowhere);
	net_add_put(&k->b, t, to, nowhere);
	if (pick)
		net_add_take(&k->b, t, k->pick, nowhere);
	for (uint32_t n = rng_below(k->r, 3); n > 0; n--) {
		uint32_t c = rng_below(k->r, k->cells), v = 0;
		if (used >> c & 1)
			continue;
		used |= 1u << c;
		bool read = rng_below(k->r, 2);
		if (k->cell[c][1] != NET_NONE)
			v = rng_below(k->r, 2);
		net_add_take(&k->b, t, k->cell[c][v], nowhere);
		if (read)
			k->m->reads[t] |= UINT64_C(1) << k->cell[c][v];
		else if (k->cell[c][1] != NET_NONE)
			v = rng_below(k->r, 2);
		net_add_put(&k->b, t, k->cell[c][v], nowhere);
	}
}

/* The places of a block's copy in this thread, and the steps in them. */
static void add_block(struct maker *k, uint32_t thread, uint32_t first, uint32_t s, bool pick)
{
	uint32_t inside = 1 + rng_below(k->r, 4), copy = k->b.places.len;
	for (uint32_t i = 0; i < inside; i++)
		net_add_place(&k->b, arena_printf(k->a, "c%u.%u", thread, i), false);
	add_step(k, thread, first + rng_below(k->r, s), copy, ROLE_CHOOSE, pick);
	for (uint32_t i = 0; i + 1 < inside; i++) /* a way through, and some more */
		add_step(k, thread, copy + i, copy + i + 1, ROLE_INSIDE, false);
	for (uint32_t n = rng_below(k->r, 3); n > 0; n--)
		add_step(k, thread, copy + rng_below(k->r, inside), copy + rng_below(k->r, inside),
		         ROLE_INSIDE, false);
}

static bool random_model(struct rng *r, struct arena *a, struct model *m)
{
	struct maker k = { .r = r, .a = a, .m = m };
	struct diags d;
	memset(m, 0, sizeof *m);
	net_builder_init(&k.b, a);
	diags_init(&d, a);
	k.cells = 1 + rng_below(r, 3);
	for (uint32_t c = 0; c < k.cells; c++) {
		k.cell[c][0] = net_add_place(&k.b, arena_printf(a, "v%u", c), true);
		k.cell[c][1] = !rng_below(r, 3) ? net_add_place(&k.b, arena_printf(a, "v%u'", c), false) : NET_NONE;
	}
	uint32_t threads = 2 + rng_below(r, 3), owners = 1 + rng_below(r, 2);
	m->cn.pick = NET_NONE;
	if (owners > 1)
		k.pick = m->cn.pick = net_add_place(&k.b, "pick", true);
	for (uint32_t th = 0; th < threads; th++) {
		uint32_t s = 1 + rng_below(r, 4), first = k.b.places.len;
		for (uint32_t i = 0; i < s; i++)
			net_add_place(&k.b, arena_printf(a, "p%u.%u", th, i), i == 0);
		for (uint32_t i = 0; i < s; i++)
			add_step(&k, th, first + i, first + (i + 1) % s, ROLE_PLAIN, false);
		for (uint32_t n = rng_below(r, 3); n > 0; n--)
			add_step(&k, th, first + rng_below(r, s), first + rng_below(r, s), ROLE_PLAIN, false);
		if (th < owners)
			add_block(&k, th, first, s, owners > 1);
	}
	if (k.b.places.len > MAXP || !net_finish(&k.b, &m->cn.net, NULL, &d))
		return false;
	const struct net *n = &m->cn.net;
	for (uint32_t t = 0; t < n->ntrans; t++)
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
			m->read[i] = m->reads[t] >> n->pre[i] & 1;
	m->cn.role = m->role;
	m->cn.read = m->read;
	return true;
}

/* ---- the explorer ------------------------------------------------------- */

enum { MAX_STATES = 60000, SLOTS = 1 << 18 };

struct state {
	uint8_t at[MAXP]; /* colours of the token, or NONE */
};

struct explorer {
	struct state s[MAX_STATES];
	uint32_t n, slots[SLOTS];
	bool red, full;
};

static struct explorer ex;

static void add_state(const struct state *s)
{
	uint64_t h = 14695981039346656037u;
	for (int i = 0; i < MAXP; i++)
		h = (h ^ s->at[i]) * 1099511628211u;
	uint32_t k = (uint32_t)(h >> 20) & (SLOTS - 1);
	for (; ex.slots[k]; k = (k + 1) & (SLOTS - 1))
		if (!memcmp(&ex.s[ex.slots[k] - 1], s, sizeof *s))
			return;
	if (ex.n == MAX_STATES) {
		ex.full = true;
		return;
	}
	ex.s[ex.n++] = *s;
	ex.slots[k] = ex.n;
}

static bool known(const struct state *s)
{
	uint32_t n = ex.n;
	bool full = ex.full;
	add_state(s);
	bool was = ex.n == n && ex.full == full;
	return was;
}

/* 0 not enabled, 1 fired, 2 red. */
static int fire(const struct model *m, uint32_t t, struct state *s)
{
	const struct net *n = &m->cn.net;
	enum colour in = COLOUR_A;
	struct state old = *s;
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++) {
		if (s->at[n->pre[i]] == NONE)
			return 0;
		in = colour_take(in, s->at[n->pre[i]], m->read[i]);
	}
	if (colour_red((enum colour_role)m->role[t], in))
		return 2;
	enum colour c = colour_event((enum colour_role)m->role[t], in);
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
		s->at[n->pre[i]] = NONE;
	for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++) {
		uint32_t q = n->post[i];
		CHECK(s->at[q] == NONE);
		s->at[q] = colours_put(c, colour_reads(&m->cn, t, q), old.at[q]);
	}
	return 1;
}

static void initial_state(const struct model *m, struct state *s)
{
	memset(s, NONE, sizeof *s);
	for (uint32_t i = 0; i < m->cn.net.ninit; i++)
		s->at[m->cn.net.init[i]] = 0;
}

static void explore(const struct model *m)
{
	struct state s;
	memset(ex.slots, 0, sizeof ex.slots);
	ex.n = 0;
	ex.red = ex.full = false;
	initial_state(m, &s);
	add_state(&s);
	for (uint32_t i = 0; i < ex.n && !ex.red && !ex.full; i++)
		for (uint32_t t = 0; t < m->cn.net.ntrans; t++) {
			s = ex.s[i];
			int f = fire(m, t, &s);
			if (f == 2)
				ex.red = true;
			if (f == 1)
				add_state(&s);
		}
}

/* ---- witnesses ---------------------------------------------------------- */

/* Do two steps touch a place that not both only read? */
static bool depend(const struct model *m, uint32_t t, uint32_t u)
{
	const struct net *n = &m->cn.net;
	uint64_t a = 0, b = 0;
	for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++)
		a |= UINT64_C(1) << n->pre[i];
	for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
		a |= UINT64_C(1) << n->post[i];
	for (uint32_t i = n->pre_at[u]; i < n->pre_at[u + 1]; i++)
		b |= UINT64_C(1) << n->pre[i];
	for (uint32_t i = n->post_at[u]; i < n->post_at[u + 1]; i++)
		b |= UINT64_C(1) << n->post[i];
	return (a & b & ~(m->reads[t] & m->reads[u])) != 0;
}

/* The events fire one after the other, the last is red; by the definition a
 * foreign event lies between the chosen beginning and it. */
static void check_history(const struct model *m, struct prefix *p)
{
	uint32_t *list, n = prefix_history(p, p->red, &list);
	struct state s;
	bool after[256] = { false };
	initial_state(m, &s);
	CHECK(n > 0 && n <= 256);
	bool foreign_after[256] = { false };
	int owner = -1;
	for (uint32_t i = 0; i < n && i < 256; i++) {
		uint32_t t = p->cfg.events[list[i]].trans;
		CHECK_EQ(fire(m, t, &s), i + 1 == n ? 2 : 1);
		if (m->role[t] == ROLE_CHOOSE) {
			after[i] = true;
			owner = m->thread[t];
		}
		for (uint32_t j = 0; j < i; j++) {
			if (!depend(m, p->cfg.events[list[j]].trans, t))
				continue;
			after[i] |= after[j];
			foreign_after[i] |= foreign_after[j];
		}
		foreign_after[i] |= after[i] && m->thread[t] != owner;
	}
	CHECK(list && owner >= 0);
	if (list && n) {
		uint32_t last = p->cfg.events[list[n - 1]].trans;
		CHECK(foreign_after[n - 1] && m->thread[last] == owner && m->role[last] == ROLE_INSIDE);
	}
	free(list);
}

static void check_chain(const struct model *m, struct prefix *p)
{
	struct uf_link *chain;
	uint32_t n = prefix_chain(p, p->red, &chain), foreign = 0;
	CHECK(n >= 3);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t t = p->cfg.events[chain[i].event].trans;
		foreign += m->role[t] == ROLE_PLAIN;
		CHECK_EQ(m->role[t] == ROLE_CHOOSE, i == 0);
		CHECK_EQ(chain[i].cond == NET_NONE, i == 0);
		if (!i)
			continue;
		uint32_t before = p->cfg.events[chain[i - 1].event].trans;
		uint32_t place = p->cfg.conds[chain[i].cond].place;
		bool takes = false;
		for (uint32_t k = 0; k < uf_npre(&p->cfg, chain[i].event); k++)
			takes |= uf_pre(&p->cfg, chain[i].event)[k] == chain[i].cond;
		CHECK(takes && depend(m, before, t));
		CHECK(!((m->reads[before] & m->reads[t]) >> place & 1));
	}
	CHECK(foreign >= 1);
	if (n)
		CHECK_EQ(chain[n - 1].event, p->red);
	free(chain);
}

/* ---- completeness ------------------------------------------------------- */

enum { MAX_CONF = 4000 };

/* The coloured markings of all configurations of the exact prefix are those
 * that the explorer found. */
static bool check_complete(const struct model *m, struct prefix *p)
{
	static uint64_t conf[MAX_CONF];
	static uint8_t hit[MAX_STATES];
	uint32_t nc = 1, total = ex.n;
	if (p->nevents > 60)
		return false;
	memset(hit, 0, sizeof hit);
	conf[0] = 0;
	for (uint32_t i = 0; i < nc; i++) {
		struct state s;
		memset(&s, NONE, sizeof s);
		bool have[2000] = { false };
		CHECK(p->nconds <= 2000);
		for (uint32_t c = 0; c < p->nconds && c < 2000; c++)
			have[c] = !p->cfg.conds[c].event || (conf[i] >> p->cfg.conds[c].event & 1);
		for (uint32_t e = 1; e < p->nevents; e++)
			for (uint32_t k = 0; (conf[i] >> e & 1) && k < uf_npre(&p->cfg, e); k++)
				have[uf_pre(&p->cfg, e)[k]] = false;
		for (uint32_t c = 0; c < p->nconds; c++)
			if (have[c])
				s.at[p->cfg.conds[c].place] = p->cfg.tint[c];
		CHECK(known(&s));
		for (uint32_t k = 0; k < total; k++)
			if (!memcmp(&ex.s[k], &s, sizeof s))
				hit[k] = 1;
		for (uint32_t e = 1; e < p->nevents; e++) {
			bool can = !p->cfg.events[e].dead && !(conf[i] >> e & 1);
			for (uint32_t k = 0; can && k < uf_npre(&p->cfg, e); k++)
				can = have[uf_pre(&p->cfg, e)[k]];
			uint64_t next = conf[i] | UINT64_C(1) << e;
			for (uint32_t j = 0; can && j < nc; j++)
				can = conf[j] != next;
			if (can && nc == MAX_CONF)
				return false;
			if (can)
				conf[nc++] = next;
		}
	}
	for (uint32_t k = 0; k < total; k++)
		CHECK(hit[k]);
	(void)m;
	return true;
}

static uint32_t nets, reds, complete, fewer, more;
static uint64_t exact_sum, reduced_sum;

static void one_net(uint64_t seed)
{
	struct rng r;
	struct arena a;
	static struct model m;
	int before_it = check_failed;
	rng_seed(&r, seed);
	arena_init(&a, 0);
	if (random_model(&r, &a, &m)) {
		explore(&m);
		if (!ex.full) {
			struct prefix p, q;
			struct unfold_options opt = { .max_events = 200000 }, reduced = opt;
			reduced.reduced = true;
			enum unfold_status st = unfold_coloured(&m.cn, &opt, &p);
			enum unfold_status rt = unfold_coloured(&m.cn, &reduced, &q);
			nets++;
			reds += ex.red;
			CHECK_EQ(st, ex.red ? UNFOLD_RED : UNFOLD_DONE);
			CHECK_EQ(rt, ex.red ? UNFOLD_RED : UNFOLD_DONE);
			if (st == UNFOLD_RED) {
				check_history(&m, &p);
				check_chain(&m, &p);
			}
			if (rt == UNFOLD_RED) {
				check_history(&m, &q);
				check_chain(&m, &q);
			}
			if (st == UNFOLD_DONE) {
				complete += check_complete(&m, &p);
				fewer += q.kept < p.kept;
				more += q.kept > p.kept; /* what neutral cuts no longer cuts others */
				exact_sum += p.kept;
				reduced_sum += q.kept;
			}
			prefix_free(&p);
			prefix_free(&q);
		}
	}
	arena_free(&a);
	if (check_failed != before_it)
		printf("# seed %" PRIu64 "\n", seed);
}

static void test_random_colours(void)
{
	const char *soak = getenv("INTACT_SOAK"), *seed = getenv("INTACT_SEED");
	uint64_t n = soak ? strtoull(soak, NULL, 10) : 3000, s = seed ? strtoull(seed, NULL, 10) : 1;
	printf("# seeds %" PRIu64 " to %" PRIu64 "\n", s, s + n - 1);
	for (uint64_t i = 0; i < n && check_failed < 20; i++)
		one_net(s + i);
	printf("# %u nets, %u red, %u complete marking by marking\n", nets, reds, complete);
	printf("# reduced: %u smaller, %u larger; events kept %" PRIu64 ", exact %" PRIu64 "\n", fewer,
	       more, reduced_sum, exact_sum);
	if (n >= 1000)
		CHECK(nets > n / 2 && reds > n / 20 && complete > n / 20 && fewer > n / 20 &&
		      more < n / 100 && reduced_sum < exact_sum);
}

int main(void)
{
	RUN(test_random_colours);
	return check_done();
}
