/*
 * explore: blocks that wait and threads without end, on random models. Lost
 * quiescence against a sweep over all states; what has no serial end, and
 * why, against the judge (judge.h) and against verify; what is said to be
 * atomic though its executions have no end, on random prefixes of them.
 *
 * campaign.h says how to ask for more than a sample of models.
 */
#include "judge.h"

#include "explore/quiescence_search.h"
#include "genmodel.h"
#include "lang/lang.h"

/* ---- blocks that wait ---------------------------------------------------- */

static struct {
	unsigned lost, always, stuck, endless, atomicity;
} waits;

struct sweep { /* all states, and whether quiescence can be reached from them */
	const struct ir *p;
	struct vector_table states;
	bool out[20000];
	bool found;
};

static bool sweep_add(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                      const struct ir_effect *eff)
{
	struct sweep *w = arg;
	(void)ch;
	(void)eff;
	if (r != IR_OK) {
		w->found = true;
	} else {
		uint32_t id = vector_table_add(&w->states, next);
		w->found |= id < 20000 && w->out[id];
	}
	return true;
}

/* 1 always, 0 not, -1 too many states: by sweeping until nothing changes */
static int naive_quiet(const struct ir *p)
{
	static struct sweep w;
	int answer = -1;
	memset(&w, 0, sizeof w);
	w.p = p;
	vector_table_init(&w.states, p->nstate);
	vector_table_add(&w.states, p->init);
	for (bool change = true; change && w.states.n < 20000;) {
		change = false;
		for (uint32_t i = 0; i < w.states.n && w.states.n < 20000; i++) {
			int32_t state[MAX_STATE], scratch[MAX_STATE];
			uint32_t before = w.states.n;
			memcpy(state, vector_table_get(&w.states, i), sizeof *state * p->nstate);
			w.found = ir_quiescent(p, state);
			for (uint32_t t = 0; t < p->nthreads; t++)
				ir_successors(p, state, t, scratch, sweep_add, &w);
			change |= w.states.n > before || (w.found && !w.out[i]);
			w.out[i] |= w.found;
		}
	}
	if (w.states.n < 20000) {
		answer = 1;
		for (uint32_t i = 0; i < w.states.n; i++)
			answer &= w.out[i];
	}
	vector_table_free(&w.states);
	return answer;
}

static void compare_quiet(const struct ir *p, uint64_t seed, const char *text)
{
	int truth = naive_quiet(p);
	for (int symmetry = 0; symmetry < 2; symmetry++) {
		struct search_options o = { .symmetry = symmetry };
		struct search_result r;
		struct run run;
		enum quiescence_answer a = quiescence_search(p, &o, &r);
		if (truth >= 0 && (a == QUIESCENCE_ALWAYS) != (truth == 1))
			complain(seed, text, truth ? "quiescence is not lost" : "lost quiescence is missed");
		if (!run_init(&run, p) || !replay(&run, r.path, r.npath))
			complain(seed, text, "the way to a lost state cannot be replayed");
		else if (a == QUIESCENCE_LOST && verify_quiescence(&run) != VERIFY_UNEXPLAINED)
			complain(seed, text, "verify finds a way out");
		else if (a == QUIESCENCE_ALWAYS && verify_quiescence(&run) == VERIFY_UNEXPLAINED)
			complain(seed, text, "verify finds no way out of the initial state");
		waits.lost += a == QUIESCENCE_LOST;
		waits.always += a == QUIESCENCE_ALWAYS;
		run_free(&run);
		search_result_free(&r);
	}
}

/* Does some serial execution of the same items end? As the judge has it. */
static bool naive_ends(const struct ir *p, const struct run *r)
{
	struct judge j = { .p = p, .block = PROD_BLOCK_ALL, .swaps = true, .budget = 1000000 };
	struct explain x = { .j = &j };
	struct serial s = { 0 };
	int32_t nowhere[MAX_STATE];
	memset(nowhere, 0x7f, sizeof nowhere);
	x.goal = nowhere;
	for (uint32_t i = 0; i < r->nsteps && i < MAX_EVENTS; i++) {
		const struct run_step *step = &r->steps[i];
		struct event *e = &j.ev[j.nev++];
		*e = (struct event){ .thread = step->thread, .from = step->node, .to = step->next };
		for (uint32_t k = 0; k < step->nevent && k < MAX_TOUCH; k++) {
			e->touch[k].var = r->events[step->event + k].var;
			e->touch[k].elem = r->events[step->event + k].elem;
			e->touch[k].write = r->events[step->event + k].mode != IRA_READ;
			e->ntouch++;
		}
		for (uint32_t k = 0; k + 1 < j.nev; k++)
			if (j.ev[k].thread == e->thread || conflicting(&j.ev[k], e))
				e->after |= (uint64_t)1 << k;
	}
	vector_table_init(&x.seen, 2 + MAX_THREADS + p->nstate);
	memcpy(s.state, p->init, sizeof *p->init * p->nstate);
	explain_go(&x, &s);
	vector_table_free(&x.seen);
	return x.ended;
}

static void compare_halt(const struct ir *p, uint64_t seed, const char *text)
{
	struct search_options o = { .symmetry = true };
	struct search_result r;
	struct run run;
	int32_t *state = NULL, *ends = NULL;
	uint32_t thread, n = 0;
	exact_run(p, PROD_BLOCK_ALL, &o, &r);
	if (r.verdict != SEARCH_WRONG) {
		search_result_free(&r);
		return;
	}
	enum verdict_problem q = exact_stuck(p, PROD_BLOCK_ALL, r.path, r.npath, 0, &thread, &state);
	exact_alternatives(p, PROD_BLOCK_ALL, r.path, r.npath, 1, 0, &ends, &n);
	if (run_init(&run, p) && replay(&run, r.path, r.npath) && run.nsteps < MAX_EVENTS) {
		bool stuck = verify_halt(&run, VERDICT_PROGRAM, PROBLEM_STUCK) == VERIFY_UNEXPLAINED;
		bool endless = verify_halt(&run, VERDICT_PROGRAM, PROBLEM_ENDLESS) == VERIFY_UNEXPLAINED;
		if (verify_run(&run, VERDICT_PROGRAM) != VERIFY_UNEXPLAINED)
			complain(seed, text, "verify explains a violation");
		if (naive_ends(p, &run) != (n > 0))
			complain(seed, text, "there are serial ends or there are none");
		if ((q == PROBLEM_STUCK && !stuck) || (q == PROBLEM_ENDLESS && !endless) ||
		    (q == PROBLEM_NONE && (stuck || endless)))
			complain(seed, text, "verify has another opinion on what halts");
		if (q != PROBLEM_NONE && (n || p->nodes[ir_node_of(p, state, thread)].block == IR_NONE))
			complain(seed, text, "what halts does not stand in a block");
	}
	waits.stuck += q == PROBLEM_STUCK;
	waits.endless += q == PROBLEM_ENDLESS;
	waits.atomicity += q == PROBLEM_NONE;
	run_free(&run);
	free(state);
	free(ends);
	search_result_free(&r);
}

static void test_waiting_blocks(void)
{
	struct campaign c = campaign(0, 150);
	for (int i = 0; i < c.n && check_failed < 3; i++) {
		uint64_t seed = c.seed + (uint64_t)i;
		struct buf b;
		struct lang l;
		struct lang_options o = { .sml = 0 };
		buf_init(&b);
		gen_waiting(&b, seed);
		lang_init(&l);
		if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
			complain(seed, b.data, "does not load");
		} else {
			compare_quiet(l.ir, seed, b.data);
			compare_halt(l.ir, seed, b.data);
		}
		lang_free(&l);
		buf_free(&b);
	}
	print_seeds(&c);
	printf("quiescence lost %u, always %u; violations: %u stuck, %u endless, %u others\n", waits.lost,
	       waits.always, waits.stuck, waits.endless, waits.atomicity);
	CHECK(waits.lost && waits.always && waits.atomicity);
	if (c.n >= 150)
		CHECK(waits.stuck && waits.endless);
}

/* ---- threads without end -------------------------------------------------- */

static struct {
	unsigned holds, wrong, unknown, prefixes;
} loops;

/* Some executions of a block that is said to be atomic: all explained. */
static void try_walks(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct rng rng;
	rng_seed(&rng, seed);
	for (unsigned walk = 0; walk < 6; walk++) {
		struct run r;
		if (!run_init(&r, p))
			return;
		while (r.nsteps < 24 && run_random(&r, &rng) == RUN_OK) {
			enum verify_run_answer a = verify_run(&r, block);
			loops.prefixes += a == VERIFY_EXPLAINED;
			if (a == VERIFY_UNEXPLAINED) {
				complain(seed, text, "an execution of what is said to be atomic is not explained");
				break;
			}
		}
		run_free(&r);
	}
}

static void check_loop(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct search_options o = { .symmetry = seed % 2, .max_states = 20000 };
	struct search_result r;
	exact_run(p, block, &o, &r);
	loops.holds += r.verdict == SEARCH_HOLDS;
	loops.wrong += r.verdict == SEARCH_WRONG;
	loops.unknown += r.verdict == SEARCH_LIMIT;
	if (r.verdict == SEARCH_HOLDS)
		try_walks(p, block, seed, text);
	if (r.verdict == SEARCH_WRONG && !real_violation(p, block, &r))
		complain(seed, text, "the counterexample has a serial explanation");
	search_result_free(&r);
}

static void test_endless_threads(void)
{
	struct campaign c = campaign(0, 40);
	for (int i = 0; i < c.n && check_failed < 3; i++) {
		uint64_t seed = c.seed + (uint64_t)i;
		struct buf b;
		struct lang l;
		struct lang_options o = { .sml = 0 };
		buf_init(&b);
		gen_looping(&b, seed);
		lang_init(&l);
		if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
			complain(seed, b.data, "does not load");
		} else {
			check_loop(l.ir, PROD_BLOCK_ALL, seed, b.data);
			for (uint32_t k = 0; k < l.ir->nblocks && l.ir->nblocks > 1; k++)
				check_loop(l.ir, k, seed, b.data);
		}
		lang_free(&l);
		buf_free(&b);
	}
	print_seeds(&c);
	printf("%u atomic (%u quiescent prefixes of random executions explained), %u violated, %u unknown\n",
	       loops.holds, loops.prefixes, loops.wrong, loops.unknown);
	CHECK(loops.holds && loops.wrong && loops.prefixes);
}

int main(void)
{
	RUN(test_waiting_blocks);
	RUN(test_endless_threads);
	return check_done();
}
