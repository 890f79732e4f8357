/*
 * explore: commit and exact atomicity against the judge (judge.h), on random
 * models that end; counterexamples against the shortest there are; known
 * counts and limits. How often the literal reading of atomicity differs is
 * counted.
 *
 * campaign.h says how to ask for more than a sample of models.
 */
#include "judge.h"

#include "explore/commit.h"
#include "explore/minimize_run.h"
#include "genmodel.h"
#include "lang/lang.h"

/* ---- the comparison ----------------------------------------------------- */

static struct {
	unsigned models, questions, atomic, violated, skipped, commit_yes, commit_none;
	unsigned apart_open; /* beyond exact without symmetry */
	unsigned literal_differs; /* violated in real order, atomic by what happened */
} count;

/* ---- short counterexamples ----------------------------------------------- */

struct shortest { /* by trying every interleaving that is not longer than the best */
	struct judge j;
	struct vector_table kinds; /* least representatives, ... */
	bool good[60000];    /* ... and whether they are explained */
	uint32_t len, switches;
	uint64_t nodes;
	bool gave_up;
};

static void shortest_walk(struct shortest *w, const int32_t *state, uint32_t switches);

struct shortest_visit {
	struct shortest *w;
	const int32_t *state;
	uint32_t thread, from, outcome, switches;
};

static bool shortest_step(void *arg, enum ir_result r, const int32_t *next,
                          const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct shortest_visit *v = arg;
	struct judge *j = &v->w->j;
	(void)eff;
	if (r != IR_OK)
		return true;
	int32_t copy[MAX_STATE];
	memcpy(copy, next, sizeof *next * j->p->nstate);
	bool turn = j->nev && j->ev[j->nev - 1].thread != v->thread;
	j->ev[j->nev] = (struct event){ .thread = v->thread, .from = v->from,
		                        .to = ir_node_of(j->p, next, v->thread),
		                        .outcome = v->outcome++ };
	record(j, &j->ev[j->nev++], v->state, ch);
	shortest_walk(v->w, copy, v->switches + turn);
	j->nev--;
	return !v->w->gave_up;
}

static bool good_so_far(struct shortest *w, const int32_t *state)
{
	int32_t least[MAX_EVENTS];
	uint32_t before = w->kinds.n, id;
	representative(&w->j, least);
	id = vector_table_add(&w->kinds, least);
	if (id >= 60000) {
		w->gave_up = true;
		return true;
	}
	if (id >= before)
		w->good[id] = explained(&w->j, state);
	return w->good[id];
}

static void shortest_walk(struct shortest *w, const int32_t *state, uint32_t switches)
{
	const struct ir *p = w->j.p;
	bool quiet = true;
	if (++w->nodes > 150000 || w->j.gave_up || w->j.nev >= MAX_EVENTS - 1)
		w->gave_up = true;
	if (w->gave_up || w->j.nev > w->len || (w->j.nev == w->len && switches >= w->switches))
		return;
	for (uint32_t t = 0; t < p->nthreads; t++)
		quiet &= !marked(&w->j, ir_node_of(p, state, t));
	if (quiet && w->j.nev && !good_so_far(w, state) && !w->gave_up) {
		w->len = w->j.nev;
		w->switches = switches;
		return;
	}
	for (uint32_t t = 0; t < p->nthreads && !w->gave_up; t++) {
		int32_t scratch[MAX_STATE];
		struct shortest_visit v = { w, state, t, ir_node_of(p, state, t), 0, switches };
		ir_successors(p, state, t, scratch, shortest_step, &v);
	}
}

static unsigned tidied, tidied_better;

static void compare_shortest(const struct ir *p, uint32_t block, struct search_result *r,
                             uint64_t seed, const char *text)
{
	static struct shortest w;
	if (p->nstate > MAX_STATE || p->nthreads > MAX_THREADS || r->npath > 14)
		return;
	memset(&w, 0, sizeof w);
	w.j = (struct judge){ .p = p, .block = block, .swaps = true, .budget = 3000000 };
	w.len = r->npath;
	w.switches = UINT32_MAX;
	vector_table_init(&w.kinds, MAX_EVENTS);
	shortest_walk(&w, p->init, 0);
	vector_table_free(&w.kinds);
	if (w.gave_up || w.j.gave_up)
		return;
	uint32_t before = minimize_run_switches(r->path, r->npath);
	r->npath = minimize_run_violation(p, block, r->path, r->npath);
	if (r->npath != w.len)
		complain(seed, text, "the counterexample is not the shortest");
	else if (minimize_run_switches(r->path, r->npath) != w.switches)
		complain(seed, text, "the counterexample does not have the fewest switches");
	if (!real_violation(p, block, r))
		complain(seed, text, "the tidied counterexample has a serial explanation");
	tidied++;
	tidied_better += minimize_run_switches(r->path, r->npath) < before;
}

static void compare_labelling(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct labelling lab = { calloc(p->nsuccs + 1, 1), calloc(p->nblocks + 1, sizeof(bool)) };
	struct rng r;
	rng_seed(&r, seed);
	for (uint32_t i = 0; i < p->nsuccs; i++)
		lab.edge[i] = rng_below(&r, 4) == 0;
	for (uint32_t i = 0; i < p->nblocks; i++)
		lab.at_entry[i] = rng_below(&r, 6) == 0;
	int first = -1;
	for (int mask = 0; mask < 8; mask++) {
		struct search_options o = { .symmetry = mask & 1, .merge_local = (mask & 2) != 0,
			                    .drop_pure = (mask & 4) != 0 };
		struct search_result res;
		search_run(p, PROD_COMMIT, block, &lab, &o, &res);
		int v = res.verdict == SEARCH_HOLDS ? 1 : res.verdict == SEARCH_WRONG ? 0 : 2;
		if (first < 0)
			first = v;
		if (v != first && v != 2 && first != 2)
			complain(seed, text, "a reduction changes the verdict of a labelling");
		search_result_free(&res);
	}
	free(lab.edge);
	free(lab.at_entry);
}

static void compare_block(const struct ir *p, const struct ir *kept, uint32_t block, uint64_t seed,
                          const char *text)
{
	int truth = judge(p, block, true), literal = judge(p, block, false);
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true };
	struct search_result e;
	struct commit_result c;
	exact_run(p, block, &o, &e);
	count.questions++;
	count.skipped += truth < 0;
	count.atomic += truth == 1;
	count.violated += truth == 0;
	count.literal_differs += truth == 1 && literal == 0;
	if (literal == 1 && truth == 0)
		complain(seed, text, "the judge takes away an explanation by allowing more");
	if (e.verdict != SEARCH_HOLDS && e.verdict != SEARCH_WRONG)
		complain(seed, text, "exact gives no answer");
	else if (truth >= 0 && (e.verdict == SEARCH_HOLDS) != (truth == 1))
		complain(seed, text, truth ? "exact misjudges an atomic block" : "exact misses a violation");
	if (e.verdict == SEARCH_WRONG && !real_violation(p, block, &e))
		complain(seed, text, "the exact counterexample has a serial explanation");
	commit_run(p, block, &o, &c);
	count.commit_yes += !c.no_labelling && !c.violation && c.search.verdict == SEARCH_HOLDS;
	count.commit_none += c.no_labelling;
	if (!c.no_labelling && c.search.verdict == SEARCH_HOLDS && e.verdict == SEARCH_WRONG)
		complain(seed, text, "commit-atomic but not exact-atomic");
	if (c.violation && e.verdict == SEARCH_HOLDS)
		complain(seed, text, "commit finds a violation in an atomic block");
	if (c.violation && !real_violation(p, block, &c.search))
		complain(seed, text, "the commit counterexample has a serial explanation");
	if (e.verdict == SEARCH_WRONG)
		compare_shortest(p, block, &e, seed, text);
	/* identical threads told apart */
	struct search_options apart = { 0 };
	struct search_result u;
	exact_run(p, block, &apart, &u);
	count.apart_open += u.verdict == SEARCH_LIMIT;
	if (u.verdict != e.verdict && u.verdict != SEARCH_LIMIT) /* there are more states then */
		complain(seed, text, "symmetry changes the verdict of exact");
	if (u.verdict == SEARCH_WRONG && !real_violation(p, block, &u))
		complain(seed, text, "the counterexample without symmetry has a serial explanation");
	search_result_free(&u);
	/* dead locals kept in the states, ignored when they are compared */
	struct search_result k;
	exact_run(kept, block, &o, &k);
	if (k.verdict != e.verdict)
		complain(seed, text, "keeping dead locals changes the verdict");
	search_result_free(&k);
	search_result_free(&e);
	commit_result_free(&c);
	compare_labelling(p, block, seed, text);
}

static void compare_model(uint64_t seed)
{
	struct buf b;
	struct lang l, l2;
	struct lang_options o = { .sml = 0 }, keep = { .sml = 0, .keep_dead = true };
	buf_init(&b);
	if (seed % 8 == 6)
		gen_heap(&b, seed);
	else if (seed % 2)
		gen_scattered(&b, seed, seed % 8 == 1);
	else
		gen_model(&b, seed, seed % 3 == 0, seed % 4 == 0);
	if (seed % 6 == 4 && seed % 8 != 6)
		gen_in_struct(&b);
	lang_init(&l);
	lang_init(&l2);
	count.models++;
	if (!lang_load_text(&l, "random.atm", b.data, b.len, &o) ||
	    !lang_load_text(&l2, "random.atm", b.data, b.len, &keep)) {
		complain(seed, b.data, "does not load");
	} else {
		compare_block(l.ir, l2.ir, PROD_BLOCK_ALL, seed, b.data);
		for (uint32_t i = 0; i < l.ir->nblocks && l.ir->nblocks > 1; i++)
			compare_block(l.ir, l2.ir, i, seed, b.data);
	}
	lang_free(&l);
	lang_free(&l2);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(0, 70);
	for (int i = 0; i < c.n && check_failed < 3; i++)
		compare_model(c.seed + (uint64_t)i);
	print_seeds(&c);
	printf("%u models, %u questions: %u atomic, %u violated, %u beyond the judge; "
	       "%u with commit points, %u without; %u atomic only because independent steps have no order; %u beyond exact without symmetry\n",
	       count.models, count.questions, count.atomic, count.violated, count.skipped, count.commit_yes,
	       count.commit_none, count.literal_differs, count.apart_open);
	printf("# %u counterexamples are the shortest and have the fewest switches; %u were better after tidying\n",
	       tidied, tidied_better);
	CHECK(tidied > 0 && tidied_better > 0);
	CHECK(count.apart_open < count.questions / 100 + 2);
	if (c.n >= 70)
		CHECK(count.literal_differs > 0);
	CHECK(count.atomic > count.questions / 10);
	CHECK(count.violated > count.questions / 10);
	CHECK(count.skipped < count.questions / 3 * 2);
}

/* ---- known counts ------------------------------------------------------- */

static void test_instrumented_counts(void)
{
	static const char *text = "bool m; int[0..3] data;\n"
		"thread w * 5 { while (true) { atomic { while (!cas(m, false, true)) { }\n"
		"  data = (data + 1) % 4; m = false; } } }\n";
	struct lang l;
	struct lang_options o = { .sml = 0 };
	struct search_options so = { 0 };
	struct search_result r;
	lang_init(&l);
	CHECK(lang_load_text(&l, "a.atm", text, strlen(text), &o));
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	uint64_t want = 243 * 4 + 5 * 81 * 12;
	CHECK_EQ(r.states, want);
	CHECK_EQ(r.transitions, want * 5);
	search_run(l.ir, PROD_COMMIT, PROD_BLOCK_ALL, NULL, &so, &r);
	CHECK_EQ(r.verdict, SEARCH_HOLDS);
	CHECK_EQ(r.states, want); /* the shadow is a function of the store */
	lang_free(&l);
}

static void test_limits_are_unknown(void)
{
	static const char *text = "int x; thread w * 2 { while (true) { atomic { x = x + 1; } } }";
	struct lang l;
	struct lang_options o = { .sml = 0 };
	struct search_options so = { .max_states = 1000 };
	struct search_result r;
	lang_init(&l);
	CHECK(lang_load_text(&l, "a.atm", text, strlen(text), &o));
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	CHECK_EQ(r.verdict, SEARCH_LIMIT);
	CHECK_STR(r.limit, "states");
	so.max_states = 0;
	so.max_bytes = 3 << 20;
	search_run(l.ir, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &so, &r);
	CHECK_EQ(r.verdict, SEARCH_LIMIT);
	CHECK_STR(r.limit, "memory");
	lang_free(&l);
}

int main(void)
{
	RUN(test_instrumented_counts);
	RUN(test_limits_are_unknown);
	RUN(test_random_models);
	return check_done();
}
