/*
 * explore: commit and exact atomicity against a judge that follows the
 * definition word by word, on random models that end.
 *
 * The judge walks every interleaving. At each quiescent state it looks for an
 * equivalent execution (adjacent steps of different threads that do not
 * conflict may be swapped: any order of the steps that keeps each thread's
 * own order and that of conflicting steps) and a serial explanation of it in
 * real time: the steps happen in that order; before any of them a block that
 * is inside and has not taken effect may be run to its end; a step outside is
 * taken by the serial state too; leaving needs the effect. Asked with no
 * swapping allowed it decides the literal reading, which is stronger: how
 * often the two differ is counted.
 *
 * campaign.h says how to ask for more than a sample of models.
 */
#include "check.h"

#include "campaign.h"

#include "explore/commit.h"
#include "explore/exact.h"
#include "explore/quiet.h"
#include "explore/tidy.h"
#include "explore/vectab.h"
#include "genmodel.h"
#include "lang/lang.h"
#include "verdict/replay.h"
#include "verdict/verify.h"

static void print_seeds(const struct campaign *c)
{
	printf("# seeds %llu..%llu, %d disagreements: ", (unsigned long long)c->seed,
	       (unsigned long long)c->seed + (unsigned long long)c->n - 1, check_failed);
}

/* ---- the judge ---------------------------------------------------------- */

enum { MAX_EVENTS = 48, MAX_STATE = 64, MAX_THREADS = 8, MAX_TOUCH = 16 };

struct event {
	uint32_t thread, from, to;
	uint32_t outcome; /* which of the step's */
	uint64_t after;   /* earlier events that it cannot be swapped with */
	uint32_t ntouch;
	struct { uint32_t var, elem; bool write; } touch[MAX_TOUCH];
};

struct judge {
	const struct ir *p;
	uint32_t block;
	struct event ev[MAX_EVENTS];
	uint32_t nev;
	bool swaps;    /* equivalent executions count, and are walked once */
	struct vectab walked; /* their least representatives */
	bool violated;
	uint64_t nodes, budget; /* of the walk and of the serial searches */
	bool gave_up;
};

static bool marked(const struct judge *j, uint32_t node)
{
	uint32_t b = j->p->nodes[node].block;
	return b != IR_NONE && (j->block == PROD_BLOCK_ALL || j->block == b);
}

static bool conflicting(const struct event *a, const struct event *b)
{
	for (uint32_t i = 0; i < a->ntouch; i++)
		for (uint32_t k = 0; k < b->ntouch; k++)
			if (a->touch[i].var == b->touch[k].var && a->touch[i].elem == b->touch[k].elem &&
			    (a->touch[i].write || b->touch[k].write))
				return true;
	return false;
}

/* Where a serial explanation is: which events have happened, what the serial
 * state is, and each thread's status. */
struct serial {
	uint64_t happened;
	int32_t status[MAX_THREADS]; /* 0 outside, 1 waiting, 2 effective */
	int32_t state[MAX_STATE];    /* the end of it is not used and 0 */
};

struct explain {
	struct judge *j;
	const int32_t *goal;
	struct vectab seen; /* struct serial, as much of it as is used */
	bool found;
	bool ended;         /* some serial execution came to its end, whatever it was */
};

static void explain_go(struct explain *x, const struct serial *s);

struct explain_visit {
	struct explain *x;
	const struct serial *s;
	uint32_t thread;
	int event; /* the outside step being taken, or -1: a block is running */
	uint32_t depth;
};

static void explain_block(struct explain *x, const struct serial *s, uint32_t thread, uint32_t depth);

static bool explain_step(void *arg, enum ir_result r, const int32_t *next,
                         const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct explain_visit *v = arg;
	struct serial s = *v->s;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	memcpy(s.state, next, sizeof *next * v->x->j->p->nstate);
	bool in = marked(v->x->j, ir_node_of(v->x->j->p, next, v->thread));
	if (v->event >= 0) {
		s.happened |= (uint64_t)1 << v->event;
		if (!in)
			explain_go(v->x, &s);
	} else if (in) {
		explain_block(v->x, &s, v->thread, v->depth + 1);
	} else {
		s.status[v->thread] = 2;
		explain_go(v->x, &s);
	}
	return !v->x->found;
}

/* Runs the thread's block on from where it is, alone. */
static void explain_block(struct explain *x, const struct serial *s, uint32_t thread, uint32_t depth)
{
	int32_t scratch[MAX_STATE];
	struct explain_visit v = { x, s, thread, -1, depth };
	if (depth <= 40) /* the generator makes no loops: never so deep */
		ir_successors(x->j->p, s->state, thread, scratch, explain_step, &v);
}

/* May event i happen next? */
static bool may_happen(const struct judge *j, uint64_t happened, uint32_t i)
{
	return !(happened >> i & 1) && !(j->ev[i].after & ~happened);
}

static void event_happens(struct explain *x, const struct serial *s, uint32_t i)
{
	const struct ir *p = x->j->p;
	const struct event *e = &x->j->ev[i];
	bool was = marked(x->j, e->from), in = marked(x->j, e->to);
	struct serial next = *s;
	next.happened |= (uint64_t)1 << i;
	if (was && in) {
		explain_go(x, &next);
	} else if (in) {
		const struct ir_node *n = &p->nodes[ir_node_of(p, s->state, e->thread)];
		next.status[e->thread] = 1;
		if (n->kind == IRN_ENTER && (uint32_t)p->code[n->ins + 1].a == p->nodes[e->to].block)
			explain_go(x, &next);
	} else if (was) {
		next.status[e->thread] = 0;
		if (s->status[e->thread] == 2)
			explain_go(x, &next);
	} else {
		int32_t scratch[MAX_STATE];
		struct explain_visit v = { x, s, e->thread, (int)i, 0 };
		ir_successors(p, s->state, e->thread, scratch, explain_step, &v);
	}
}

static void explain_go(struct explain *x, const struct serial *s)
{
	struct judge *j = x->j;
	uint32_t before = x->seen.n;
	if (x->found || j->gave_up)
		return;
	if (s->happened == ((uint64_t)1 << j->nev) - 1) {
		x->ended = true;
		x->found = !memcmp(s->state, x->goal, sizeof *x->goal * j->p->nstate);
		return;
	}
	if (vectab_add(&x->seen, (const int32_t *)s) < before)
		return;
	if (++j->nodes > j->budget) {
		j->gave_up = true;
		return;
	}
	for (uint32_t t = 0; t < j->p->nthreads && !x->found; t++)
		if (s->status[t] == 1)
			explain_block(x, s, t, 0);
	for (uint32_t i = 0; i < j->nev && !x->found; i++)
		if (may_happen(j, s->happened, i))
			event_happens(x, s, i);
}

static bool explained(struct judge *j, const int32_t *goal)
{
	struct explain x = { .j = j, .goal = goal };
	struct serial s = { 0 };
	vectab_init(&x.seen, 2 + MAX_THREADS + j->p->nstate);
	memcpy(s.state, j->p->init, sizeof *j->p->init * j->p->nstate);
	explain_go(&x, &s);
	vectab_free(&x.seen);
	return x.found;
}

static void judge_walk(struct judge *j, const int32_t *state);

struct walk_visit {
	struct judge *j;
	const int32_t *state;
	uint32_t thread, from, outcome;
};

/* What the step touches: it is taken once more, with its accesses recorded. */
static void record(struct judge *j, struct event *e, const int32_t *state,
                   const struct ir_choices *ch)
{
	struct ir_event list[IR_MAX_EVENTS];
	struct ir_effect eff = { .events = list };
	struct ir_choices again = *ch;
	int32_t out[MAX_STATE];
	again.fixed = ch->n;
	again.n = 0;
	ir_step(j->p, state, e->thread, &again, out, &eff);
	if (eff.nevents > MAX_TOUCH)
		j->gave_up = true;
	for (uint32_t i = 0; i < eff.nevents && i < MAX_TOUCH; i++) {
		e->touch[e->ntouch].var = list[i].var;
		e->touch[e->ntouch].elem = list[i].elem;
		e->touch[e->ntouch++].write = list[i].mode != IRA_READ;
	}
	e->after = 0;
	for (const struct event *k = j->ev; k < e; k++)
		if (!j->swaps || k->thread == e->thread || conflicting(k, e))
			e->after |= (uint64_t)1 << (k - j->ev);
}

static bool walk_step(void *arg, enum ir_result r, const int32_t *next,
                      const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct walk_visit *v = arg;
	struct judge *j = v->j;
	(void)eff;
	if (r != IR_OK)
		return true;
	int32_t copy[MAX_STATE];
	memcpy(copy, next, sizeof *next * j->p->nstate);
	j->ev[j->nev] = (struct event){ .thread = v->thread, .from = v->from,
		                        .to = ir_node_of(j->p, next, v->thread),
		                        .outcome = v->outcome++ };
	record(j, &j->ev[j->nev++], v->state, ch);
	judge_walk(j, copy);
	j->nev--;
	return !j->violated && !j->gave_up;
}

/* Equivalent executions are told by the one that always takes the first
 * thread it can. */
static void representative(const struct judge *j, int32_t least[MAX_EVENTS])
{
	uint64_t happened = 0;
	memset(least, 0, sizeof *least * MAX_EVENTS);
	for (uint32_t n = 0; n < j->nev; n++) {
		uint32_t best = MAX_EVENTS;
		for (uint32_t i = 0; i < j->nev; i++)
			if (may_happen(j, happened, i) &&
			    (best == MAX_EVENTS || j->ev[i].thread < j->ev[best].thread))
				best = i;
		happened |= (uint64_t)1 << best;
		least[n] = (int32_t)(1 + j->ev[best].thread * 64 + j->ev[best].outcome);
	}
}

/* The first time that an execution equivalent to this one is seen? */
static bool first_of_its_kind(struct judge *j)
{
	int32_t least[MAX_EVENTS];
	uint32_t before = j->walked.n;
	representative(j, least);
	return vectab_add(&j->walked, least) >= before;
}

static void judge_walk(struct judge *j, const int32_t *state)
{
	const struct ir *p = j->p;
	if (++j->nodes > j->budget || j->nev >= MAX_EVENTS - 1) {
		j->gave_up = true;
		return;
	}
	if (j->swaps && !first_of_its_kind(j))
		return;
	bool quiet = true;
	for (uint32_t t = 0; t < p->nthreads; t++)
		quiet &= !marked(j, ir_node_of(p, state, t));
	if (quiet && !explained(j, state) && !j->gave_up) {
		j->violated = true;
		return;
	}
	for (uint32_t t = 0; t < p->nthreads && !j->violated && !j->gave_up; t++) {
		int32_t scratch[MAX_STATE];
		struct walk_visit v = { j, state, t, ir_node_of(p, state, t), 0 };
		ir_successors(p, state, t, scratch, walk_step, &v);
	}
}

/* 1 atomic, 0 not, -1 too large to tell */
static int judge(const struct ir *p, uint32_t block, bool swaps)
{
	struct judge j = { .p = p, .block = block, .swaps = swaps, .budget = swaps ? 100000 : 20000 };
	if (p->nstate > MAX_STATE || p->nthreads > MAX_THREADS)
		return -1;
	vectab_init(&j.walked, MAX_EVENTS);
	judge_walk(&j, p->init);
	vectab_free(&j.walked);
	return j.violated ? 0 : j.gave_up ? -1 : 1;
}

/* ---- the comparison ----------------------------------------------------- */

static struct {
	unsigned models, questions, atomic, violated, skipped, commit_yes, commit_none;
	unsigned literal_differs; /* violated in real order, atomic by what happened */
} count;

static void complain(uint64_t seed, const char *text, const char *what)
{
	printf("# seed %llu: %s\n", (unsigned long long)seed, what);
	for (const char *s = text; *s;) {
		const char *nl = strchr(s, '\n');
		int n = nl ? (int)(nl - s) : (int)strlen(s);
		printf("#   %.*s\n", n, s);
		s += nl ? n + 1 : n;
	}
	check_failed++;
}

/* A violating path must be refused by exact_explains and by verify. */
static bool real_violation(const struct ir *p, uint32_t block, const struct search_result *r)
{
	struct run run;
	bool real = r->npath && exact_explains(p, block, r->path, r->npath) == 0;
	real = run_init(&run, p) && real && replay(&run, r->path, r->npath) &&
	       verify_run(&run, block) == VERIFY_UNEXPLAINED;
	run_free(&run);
	return real;
}

/* ---- short counterexamples ----------------------------------------------- */

struct shortest { /* by trying every interleaving that is not longer than the best */
	struct judge j;
	struct vectab kinds; /* least representatives, ... */
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
	id = vectab_add(&w->kinds, least);
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
	vectab_init(&w.kinds, MAX_EVENTS);
	shortest_walk(&w, p->init, 0);
	vectab_free(&w.kinds);
	if (w.gave_up || w.j.gave_up)
		return;
	uint32_t before = tidy_switches(r->path, r->npath);
	r->npath = tidy_violation(p, block, r->path, r->npath);
	if (r->npath != w.len)
		complain(seed, text, "the counterexample is not the shortest");
	else if (tidy_switches(r->path, r->npath) != w.switches)
		complain(seed, text, "the counterexample does not have the fewest switches");
	if (!real_violation(p, block, r))
		complain(seed, text, "the tidied counterexample has a serial explanation");
	tidied++;
	tidied_better += tidy_switches(r->path, r->npath) < before;
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
	if (u.verdict != e.verdict)
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
	if (seed % 2)
		gen_scattered(&b, seed, seed % 8 == 1);
	else
		gen_model(&b, seed, seed % 3 == 0, seed % 4 == 0);
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
	       "%u with commit points, %u without; %u atomic only because independent steps have no order\n",
	       count.models, count.questions, count.atomic, count.violated, count.skipped, count.commit_yes,
	       count.commit_none, count.literal_differs);
	printf("# %u counterexamples are the shortest and have the fewest switches; %u were better after tidying\n",
	       tidied, tidied_better);
	CHECK(tidied > 0 && tidied_better > 0);
	if (c.n >= 70)
		CHECK(count.literal_differs > 0);
	CHECK(count.atomic > count.questions / 10);
	CHECK(count.violated > count.questions / 10);
	CHECK(count.skipped < count.questions / 3 * 2);
}

/* ---- blocks that wait ---------------------------------------------------- */

static struct {
	unsigned lost, always, stuck, endless, atomicity;
} waits;

struct sweep { /* all states, and whether quiescence can be reached from them */
	const struct ir *p;
	struct vectab states;
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
		uint32_t id = vectab_add(&w->states, next);
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
	vectab_init(&w.states, p->nstate);
	vectab_add(&w.states, p->init);
	for (bool change = true; change && w.states.n < 20000;) {
		change = false;
		for (uint32_t i = 0; i < w.states.n && w.states.n < 20000; i++) {
			int32_t state[MAX_STATE], scratch[MAX_STATE];
			uint32_t before = w.states.n;
			memcpy(state, vectab_get(&w.states, i), sizeof *state * p->nstate);
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
	vectab_free(&w.states);
	return answer;
}

static void compare_quiet(const struct ir *p, uint64_t seed, const char *text)
{
	int truth = naive_quiet(p);
	for (int symmetry = 0; symmetry < 2; symmetry++) {
		struct search_options o = { .symmetry = symmetry };
		struct search_result r;
		struct run run;
		enum quiet_answer a = quiet_run(p, &o, &r);
		if (truth >= 0 && (a == QUIET_ALWAYS) != (truth == 1))
			complain(seed, text, truth ? "quiescence is not lost" : "lost quiescence is missed");
		if (!run_init(&run, p) || !replay(&run, r.path, r.npath))
			complain(seed, text, "the way to a lost state cannot be replayed");
		else if (a == QUIET_LOST && verify_quiescence(&run) != VERIFY_UNEXPLAINED)
			complain(seed, text, "verify finds a way out");
		else if (a == QUIET_ALWAYS && verify_quiescence(&run) == VERIFY_UNEXPLAINED)
			complain(seed, text, "verify finds no way out of the initial state");
		waits.lost += a == QUIET_LOST;
		waits.always += a == QUIET_ALWAYS;
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
	vectab_init(&x.seen, 2 + MAX_THREADS + p->nstate);
	memcpy(s.state, p->init, sizeof *p->init * p->nstate);
	explain_go(&x, &s);
	vectab_free(&x.seen);
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
	enum problem q = exact_stuck(p, PROD_BLOCK_ALL, r.path, r.npath, &thread, &state);
	exact_alternatives(p, PROD_BLOCK_ALL, r.path, r.npath, 1, &ends, &n);
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
			enum verify_answer a = verify_run(&r, block);
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
	RUN(test_waiting_blocks);
	RUN(test_endless_threads);
	RUN(test_random_models);
	return check_done();
}
