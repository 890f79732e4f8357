/*
 * net: the prefix against two twins on random nets: an unfolder that follows the
 * definition word by word (all extensions by trying all sets of conditions, the
 * least one first by the whole order), and the plain list of reachable markings.
 *
 * INTACT_SOAK=N checks N nets (default 1500), INTACT_SEED=S starts at S.
 */
#include "check.h"

#include "base/rng.h"
#include "marking.h"
#include "net_gen.h"
#include "causal/query.h"
#include "causal/unfold.h"

/* ---- the twin ----------------------------------------------------------- */

enum { MAX_EV = 192, MAX_CO = 768, MAX_PRE = 6, W = MAX_EV / 64 };

struct tev {
	uint32_t trans, npre, pre[MAX_PRE], size;
	uint64_t past[W]; /* [e], with e when it has been added */
	bool cutoff;
	uint32_t marking; /* a bit a place */
};

struct twin {
	const struct net *n;
	struct tev ev[MAX_EV];
	uint32_t nev, ncond, cutoffs;
	struct { uint32_t place; int event; } cond[MAX_CO];
	struct tev best;
	bool have, too_big;
};

static bool in(const uint64_t *s, uint32_t e)
{
	return s[e / 64] >> (e % 64) & 1;
}

static uint32_t twin_marking(const struct twin *w, const struct tev *e)
{
	int tok[32] = { 0 };
	uint32_t m = 0;
	for (uint32_t i = 0; i < w->n->ninit; i++)
		tok[w->n->init[i]]++;
	for (uint32_t x = 0; x <= w->nev; x++) {
		uint32_t t = x < w->nev ? w->ev[x].trans : e->trans;
		if (x < w->nev && !in(e->past, x))
			continue;
		for (uint32_t i = w->n->pre_at[t]; i < w->n->pre_at[t + 1]; i++)
			tok[w->n->pre[i]]--;
		for (uint32_t i = w->n->post_at[t]; i < w->n->post_at[t + 1]; i++)
			tok[w->n->post[i]]++;
	}
	for (uint32_t p = 0; p < w->n->nplaces; p++)
		m |= (uint32_t)(tok[p] > 0) << p;
	return m;
}

static uint32_t level_of(const struct twin *w, const struct tev *e)
{
	uint32_t best = 0;
	for (uint32_t i = 0; i < e->npre; i++) {
		int c = w->cond[e->pre[i]].event;
		uint32_t l = c < 0 ? 0 : level_of(w, &w->ev[c]);
		best = l > best ? l : best;
	}
	return best + 1;
}

/* How often transition t stands in level l (0: any) of [e]. */
static int count(const struct twin *w, const struct tev *e, uint32_t t, uint32_t l)
{
	int n = e->trans == t && (!l || level_of(w, e) == l);
	for (uint32_t x = 0; x < w->nev; x++)
		n += in(e->past, x) && w->ev[x].trans == t && (!l || level_of(w, &w->ev[x]) == l);
	return n;
}

static bool before(const struct twin *w, const struct tev *a, const struct tev *b)
{
	if (a->size != b->size)
		return a->size < b->size;
	for (uint32_t l = 0; l <= a->size; l++) {
		int many = 0; /* events of the level */
		for (uint32_t t = 0; t < w->n->ntrans; t++)
			many += count(w, a, t, l) - count(w, b, t, l);
		if (many)
			return many < 0;
		for (uint32_t t = 0; t < w->n->ntrans; t++) {
			int x = count(w, a, t, l), y = count(w, b, t, l);
			if (x != y)
				return x > y;
		}
	}
	return false;
}

/* Is this preset a set of concurrent conditions, and new? */
static void twin_try(struct twin *w, struct tev *e)
{
	int taken[MAX_CO] = { 0 };
	memset(e->past, 0, sizeof e->past);
	e->size = 1;
	for (uint32_t i = 0; i < e->npre; i++) {
		int c = w->cond[e->pre[i]].event;
		if (c >= 0 && w->ev[c].cutoff)
			return;
		for (int k = 0; c >= 0 && k < W; k++)
			e->past[k] |= w->ev[c].past[k];
		taken[e->pre[i]]++;
	}
	for (uint32_t x = 0; x < w->nev; x++) {
		if (!in(e->past, x))
			continue;
		e->size++;
		for (uint32_t i = 0; i < w->ev[x].npre; i++)
			if (taken[w->ev[x].pre[i]]++)
				return; /* conflict, or a condition before another */
	}
	for (uint32_t x = 0; x < w->nev; x++)
		if (w->ev[x].trans == e->trans && !memcmp(w->ev[x].pre, e->pre, e->npre * sizeof *e->pre))
			return;
	if (!w->have || before(w, e, &w->best))
		w->best = *e;
	w->have = true;
}

static void twin_choose(struct twin *w, struct tev *e, uint32_t i)
{
	if (i == e->npre) {
		twin_try(w, e);
		return;
	}
	for (uint32_t c = 0; c < w->ncond; c++)
		if (w->cond[c].place == w->n->pre[w->n->pre_at[e->trans] + i]) {
			e->pre[i] = c;
			twin_choose(w, e, i + 1);
		}
}

static void twin_unfold(struct twin *w, const struct net *n)
{
	memset(w, 0, sizeof *w);
	w->n = n;
	uint32_t start = 0;
	for (uint32_t i = 0; i < n->ninit; i++) {
		w->cond[w->ncond].place = n->init[i];
		w->cond[w->ncond++].event = -1;
		start |= 1u << n->init[i];
	}
	for (;;) {
		w->have = false;
		for (uint32_t t = 0; t < n->ntrans; t++) {
			struct tev e = { .trans = t, .npre = net_npre(n, t) };
			twin_choose(w, &e, 0);
		}
		if (!w->have)
			return;
		if (w->nev + 1 >= MAX_EV || w->ncond + 8 >= MAX_CO || w->nev > 90) {
			w->too_big = true;
			return;
		}
		w->best.marking = twin_marking(w, &w->best);
		w->best.cutoff = w->best.marking == start;
		for (uint32_t x = 0; x < w->nev; x++)
			w->best.cutoff |= w->ev[x].marking == w->best.marking;
		w->cutoffs += w->best.cutoff;
		w->best.past[w->nev / 64] |= UINT64_C(1) << (w->nev % 64);
		w->ev[w->nev] = w->best;
		for (uint32_t i = n->post_at[w->best.trans]; i < n->post_at[w->best.trans + 1]; i++) {
			w->cond[w->ncond].place = n->post[i];
			w->cond[w->ncond++].event = (int)w->nev;
		}
		w->nev++;
	}
}

/* ---- completeness ------------------------------------------------------- */

enum { MAX_CONF = 3000 };

static uint32_t bits_of(const struct markings *m, uint64_t i)
{
	return (uint32_t)m->bits[i * m->words];
}

/* All configurations of the kept events, each as its bits; their markings. */
static bool all_reached(struct prefix *p, const struct markings *m)
{
	static uint64_t conf[MAX_CONF];
	static uint32_t mark[MAX_CONF];
	uint32_t nc = 1;
	if (p->nevents > 60)
		return true;
	conf[0] = 0;
	for (uint32_t i = 0; i < nc; i++) {
		uint64_t cut = 0;
		CHECK(p->nconds < 1000);
		bool have[1000] = { false };
		for (uint32_t e = 0; e < p->nevents; e++)
			if (e == 0 || conf[i] >> e & 1)
				for (uint32_t c = 0; c < p->nconds; c++)
					have[c] |= p->cfg.conds[c].event == e;
		for (uint32_t e = 1; e < p->nevents; e++)
			for (uint32_t k = 0; (conf[i] >> e & 1) && k < net_npre(p->net, p->cfg.events[e].trans); k++)
				have[uf_pre(&p->cfg, e)[k]] = false;
		for (uint32_t c = 0; c < p->nconds; c++)
			if (have[c]) {
				CHECK(!(cut >> p->cfg.conds[c].place & 1));
				cut |= UINT64_C(1) << p->cfg.conds[c].place;
			}
		mark[i] = (uint32_t)cut;
		for (uint32_t e = 1; e < p->nevents; e++) {
			bool can = !p->cfg.events[e].dead && !(conf[i] >> e & 1);
			for (uint32_t k = 0; can && k < net_npre(p->net, p->cfg.events[e].trans); k++)
				can = have[uf_pre(&p->cfg, e)[k]];
			uint64_t next = conf[i] | UINT64_C(1) << e;
			for (uint32_t j = 0; can && j < nc; j++)
				can = conf[j] != next;
			if (can && nc == MAX_CONF)
				return true;
			if (can)
				conf[nc++] = next;
		}
	}
	for (uint64_t i = 0; i < m->n; i++) {
		bool found = false;
		for (uint32_t j = 0; j < nc && !found; j++)
			found = mark[j] == bits_of(m, i);
		if (!found)
			return false;
	}
	for (uint32_t j = 0; j < nc; j++) {
		bool found = false;
		for (uint64_t i = 0; i < m->n && !found; i++)
			found = mark[j] == bits_of(m, i);
		if (!found)
			return false;
	}
	return true;
}

static uint32_t local_marking(struct prefix *p, uint32_t e)
{
	uint32_t out[64], m = 0;
	config_add(&p->cfg, e);
	uint32_t n = config_marking(&p->cfg, out, 64);
	config_undo(&p->cfg, 0);
	for (uint32_t i = 0; i < n; i++)
		m |= 1u << out[i];
	return m;
}

static void check_distinct(struct prefix *p)
{
	for (uint32_t e = 1; e < p->nevents && p->nevents < 200; e++)
		for (uint32_t f = 0; f < e && !p->cfg.events[e].dead; f++)
			CHECK(p->cfg.events[f].dead || local_marking(p, e) != local_marking(p, f));
}

static uint32_t deadlocks, lazy_rounds;

/* The run can be fired and ends in the marking. */
static void check_run(const struct net *n, const struct query_answer *a)
{
	uint64_t have = 0, want = 0;
	if (a->found != 1)
		return;
	for (uint32_t i = 0; i < n->ninit; i++)
		have |= UINT64_C(1) << n->init[i];
	for (uint32_t i = 0; i < a->nmarking; i++)
		want |= UINT64_C(1) << a->marking[i];
	for (uint32_t k = 0; k < a->nrun; k++) {
		uint32_t t = a->run[k];
		for (uint32_t i = n->pre_at[t]; i < n->pre_at[t + 1]; i++) {
			CHECK(have >> n->pre[i] & 1);
			have &= ~(UINT64_C(1) << n->pre[i]);
		}
		for (uint32_t i = n->post_at[t]; i < n->post_at[t + 1]; i++)
			have |= UINT64_C(1) << n->post[i];
	}
	CHECK(have == want);
}

static void check_cover(struct prefix *p, const struct markings *m, struct rng *r)
{
	for (int k = 0; k < 6; k++) {
		uint32_t goal[3], n = 1 + rng_below(r, 3), mask = 0;
		for (uint32_t i = 0; i < n; i++) {
			goal[i] = rng_below(r, p->net->nplaces);
			if (mask >> goal[i] & 1) {
				n = i;
				break;
			}
			mask |= 1u << goal[i];
		}
		int want = 0;
		for (uint64_t i = 0; i < m->n; i++)
			want |= (bits_of(m, i) & mask) == mask;
		struct query_answer ans;
		prefix_cover(p, goal, n, &ans);
		CHECK_EQ(ans.found, want);
		check_run(p->net, &ans);
		for (uint32_t i = 0; i < n && want; i++) {
			bool there = false;
			for (uint32_t j = 0; j < ans.nmarking; j++)
				there |= ans.marking[j] == goal[i];
			CHECK(there);
		}
		answer_free(&ans);
	}
}

static void check_deadlock(struct prefix *p, const struct markings *m)
{
	struct query_answer ans;
	prefix_deadlock(p, &ans);
	CHECK_EQ(ans.found, m->deadlock);
	check_run(p->net, &ans);
	if (ans.found == 1) {
		uint64_t have = 0;
		for (uint32_t j = 0; j < ans.nmarking; j++)
			have |= UINT64_C(1) << ans.marking[j];
		for (uint32_t t = 0; t < p->net->ntrans; t++) {
			uint64_t need = 0;
			for (uint32_t i = p->net->pre_at[t]; i < p->net->pre_at[t + 1]; i++)
				need |= UINT64_C(1) << p->net->pre[i];
			CHECK((need & have) != need);
		}
	}
	deadlocks += ans.found == 1;
	lazy_rounds += ans.rounds > 1;
	answer_free(&ans);
}

static uint32_t safe_nets, unsafe_nets, twin_nets, tie_nets;

static void one_net(uint64_t seed)
{
	static struct twin w;
	struct rng r;
	struct arena a;
	struct net n;
	struct prefix p;
	struct markings m;
	/* all cut-offs kept, some, none: the rest is found while asking */
	struct unfold_options opt = { .max_events = 20000, .keep_cutoffs = seed % 3 * 2 };
	if (seed % 3 == 2)
		opt.keep_cutoffs = UINT64_MAX;
	int before_it = check_failed;
	rng_seed(&r, seed);
	arena_init(&a, 0);
	if (random_net(&r, &a, rng_below(&r, 4) == 0, &n)) {
		enum unfold_status st = unfold(&n, &opt, &p);
		markings_explore(&n, 0, 0, 0, true, &m);
		CHECK(st != UNFOLD_LIMIT && !m.limit);
		CHECK_EQ(st == UNFOLD_UNSAFE, m.unsafe != NET_NONE);
		if (st == UNFOLD_UNSAFE) {
			uint32_t twice = 0;
			for (uint32_t i = 0; i < p.nmarking; i++)
				twice += p.marking[i] == p.unsafe_place;
			CHECK_EQ(twice, 2);
			unsafe_nets++;
		} else if (st == UNFOLD_DONE) {
			safe_nets++;
			twin_unfold(&w, &n);
			if (!w.too_big) {
				CHECK_EQ(p.kept + p.cutoffs, w.nev);
				CHECK_EQ(p.cutoffs, w.cutoffs);
				CHECK_EQ(prefix_conditions(&p), w.ncond);
				twin_nets++;
			}
			tie_nets += p.nevents - 1 > p.kept;
			CHECK(all_reached(&p, &m));
			check_distinct(&p);
			check_cover(&p, &m, &r);
			check_deadlock(&p, &m);
		}
		prefix_free(&p);
		markings_free(&m);
	}
	arena_free(&a);
	if (check_failed != before_it)
		printf("# seed %" PRIu64 "\n", seed);
}

static void test_random_nets(void)
{
	const char *soak = getenv("INTACT_SOAK"), *seed = getenv("INTACT_SEED");
	uint64_t n = soak ? strtoull(soak, NULL, 10) : 1500, s = seed ? strtoull(seed, NULL, 10) : 1;
	printf("# seeds %" PRIu64 " to %" PRIu64 "\n", s, s + n - 1);
	for (uint64_t i = 0; i < n && check_failed < 20; i++)
		one_net(s + i);
	printf("# %u safe, %u unsafe, %u against the twin, %u with cut-offs found late\n", safe_nets,
	       unsafe_nets, twin_nets, tie_nets);
	printf("# %u deadlocks, %u nets asked more than once\n", deadlocks, lazy_rounds);
	if (n >= 1000)
		CHECK(safe_nets > n / 2 && unsafe_nets > n / 50 && twin_nets > n / 4 && tie_nets > n / 50 &&
		      deadlocks > n / 20 && lazy_rounds > n / 20);
}

int main(void)
{
	RUN(test_random_nets);
	return check_done();
}
