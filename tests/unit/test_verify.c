/*
 * verify_exhaustive against the exact engine, which shares no code with it: on random models, on those
 * that synchronise and those whose blocks wait, for the program and for each block alone. What it
 * accepts is atomic, what it refuses is not, and the run it refuses has no serial explanation.
 *
 * And, on tiny models, against a twin that has no idea at all: it takes every run, works out which steps cause which, and tries
 * every order of the blocks and outside steps that the causes allow.
 *
 * INTACT_SOAK, INTACT_SEED, INTACT_SOAK_PART: campaign.h.
 */
#include "check.h"

#include "campaign.h"
#include "explore/exact.h"
#include "explore/quiescence_search.h"
#include "genmodel.h"
#include "gensync.h"
#include "lang/lang.h"
#include "verdict/replay.h"
#include "verdict/verify_exhaustive.h"
#include "explore/property_search.h"
#include "verdict/verify_reach.h"

static struct {
	unsigned models, questions, accepted, refused, open, limit, unasked, causes;
} count;

static void complain(uint64_t seed, const char *text, const char *what)
{
	printf("# seed %llu: %s\n# %s\n", (unsigned long long)seed, what, text);
	check_failed++;
}

static enum search_verdict exact(const struct ir *p, uint32_t block)
{
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true, .max_states = 50000,
		                    .max_bytes = 256u << 20 };
	struct search_result e;
	exact_run(p, block, &o, &e);
	enum search_verdict v = e.verdict;
	search_result_free(&e);
	return v;
}

static void ask(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct verify_exhaustive v = { .max_states = 20000 };
	verify_exhaustive(&v, p, block);
	enum search_verdict e = v.answer == VERIFY_OPEN || v.answer == VERIFY_LIMIT ? SEARCH_HOLDS : exact(p, block);
	count.questions++;
	count.accepted += v.answer == VERIFY_EXPLAINED;
	count.refused += v.answer == VERIFY_UNEXPLAINED;
	count.open += v.answer == VERIFY_OPEN;
	count.causes += v.behind > 0;
	count.limit += v.answer == VERIFY_LIMIT;
	count.unasked += e != SEARCH_HOLDS && e != SEARCH_WRONG;
	if ((v.answer == VERIFY_LIMIT) != (v.limit != NULL))
		complain(seed, text, "a limit without a name, or a name without a limit");
	if (v.answer == VERIFY_EXPLAINED && e == SEARCH_WRONG)
		complain(seed, text, "accepted, and exact has a counterexample");
	if (v.answer == VERIFY_UNEXPLAINED) {
		struct run r;
		if (e == SEARCH_HOLDS)
			complain(seed, text, "refused, and exact says atomic");
		if (!run_init(&r, p) || !replay(&r, v.path, v.npath) || verify_run(&r, block) != VERIFY_UNEXPLAINED)
			complain(seed, text, "the run that is refused cannot be replayed, or is explained");
		run_free(&r);
	}
	free(v.path);
}

static struct {
	unsigned asked, faults, lost, limit;
} reached;

/* Faults and ways out, against the searches of check. */
static void ask_reach(const struct ir *p, uint64_t seed, const char *text)
{
	struct search_options o = { .symmetry = true, .merge_local = true, .max_states = 50000, .max_bytes = 256u << 20 };
	struct verify_reach v = { .max_states = 50000, .ways_out = true };
	struct search_result q, f;
	verify_reach(&v, p);
	enum quiescence_answer quiet = quiescence_search(p, &o, &q);
	o.faults = true;
	search_run(p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &f);
	reached.asked++;
	reached.faults += v.fault == VERIFY_UNEXPLAINED;
	reached.lost += v.out == VERIFY_UNEXPLAINED;
	reached.limit += v.limit != NULL;
	if (!v.limit && quiet != QUIESCENCE_LIMIT && (v.out == VERIFY_UNEXPLAINED) != (quiet == QUIESCENCE_LOST))
		complain(seed, text, "there is a way out, and there is none");
	if (!v.limit && f.verdict != SEARCH_LIMIT && (v.fault == VERIFY_UNEXPLAINED) != (f.verdict == SEARCH_FAULT))
		complain(seed, text, "a run goes wrong, and none does");
	for (int i = 0; i < 2; i++) {
		struct run r;
		const struct move *path = i ? v.out_path : v.fault_path;
		if (!path)
			continue;
		bool ok = run_init(&r, p) && replay(&r, path, i ? v.nout : v.nfault);
		if (!ok || (i ? verify_quiescence(&r) != VERIFY_UNEXPLAINED : !run_faulted(&r)))
			complain(seed, text, i ? "the run that is lost is not" : "the run that goes wrong does not");
		run_free(&r);
	}
	search_result_free(&q);
	search_result_free(&f);
	verify_reach_free(&v);
}

static struct {
	unsigned asked, holds, violated, open;
} conditions;

/* The conditions on states, by the search of check and by that of verify. */
static void ask_conditions(const struct ir *p, uint64_t seed, const char *text)
{
	struct property_answer found[IR_MAX_PROPERTIES];
	struct search_result r;
	if (!p->nproperties)
		return;
	for (int symmetry = 0; symmetry < 2; symmetry++) {
		struct search_options o = { .symmetry = symmetry, .max_states = 50000, .max_bytes = 256u << 20 };
		property_search(p, &o, found, &r);
		for (uint32_t i = 0; i < p->nproperties; i++) {
			struct verify_reach v = { .max_states = 50000, .property1 = i + 1 };
			verify_reach(&v, p);
			bool seen = p->properties[i].kind != IRP_FINALLY || v.ended;
			enum answer want = v.out == VERIFY_UNEXPLAINED ? ANSWER_VIOLATED : seen ? ANSWER_HOLDS : ANSWER_UNKNOWN;
			conditions.asked++;
			conditions.holds += found[i].answer == ANSWER_HOLDS;
			conditions.violated += found[i].answer == ANSWER_VIOLATED;
			conditions.open += found[i].answer == ANSWER_UNKNOWN;
			if (!v.limit && !r.limit && found[i].answer != want)
				complain(seed, text, "a condition on states holds for one search and not for the other");
			for (int k = 0; k < 2; k++) {
				struct run run;
				const struct move *path = k ? v.out_path : found[i].path;
				if (!path)
					continue;
				bool ok = run_init(&run, p) && replay(&run, path, k ? v.nout : found[i].npath);
				bool reach = p->properties[i].kind == IRP_REACH;
				if (!ok || !(reach ? verify_out_of_reach(&run, i) == VERIFY_UNEXPLAINED : ir_property_broken(p, i, run_now(&run))))
					complain(seed, text, "a run does not violate the condition that it is said to");
				run_free(&run);
			}
			free(found[i].path);
			verify_reach_free(&v);
		}
	}
}

static void compare_model(uint64_t seed)
{
	struct buf b;
	struct lang l;
	struct lang_options o = { .sml = 0 };
	buf_init(&b);
	if (seed % 7 == 5)
		gen_heap(&b, seed);
	else if (seed % 3 == 0)
		gen_sync(&b, seed);
	else if (seed % 3 == 1)
		gen_scattered(&b, seed, seed % 2);
	else
		gen_model(&b, seed, seed % 4 == 0, seed % 5 == 0);
	if (seed % 7 == 5 || (seed % 3 && strstr(buf_cstr(&b), "x1")))
		gen_conditions(&b, seed, seed % 7 == 5);
	lang_init(&l);
	count.models++;
	if (!lang_load_text(&l, "random.atm", b.data, b.len, &o)) {
		complain(seed, b.data, "does not load");
	} else {
		ask_reach(l.ir, seed, b.data);
		ask_conditions(l.ir, seed, b.data);
		ask(l.ir, VERDICT_PROGRAM, seed, b.data);
		for (uint32_t i = 0; i < l.ir->nblocks && l.ir->nblocks > 1; i++)
			ask(l.ir, i, seed, b.data);
	}
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	struct campaign c = campaign(900000, 300);
	for (int i = 0; i < c.n && check_failed < 3; i++)
		compare_model(c.seed + (uint64_t)i);
	printf("# seeds %llu..%llu: %u models, %u questions: %u accepted, %u refused, %u open, %u beyond its limits, %u by "
	       "the order of causes; %u of them beyond those of exact\n", (unsigned long long)c.seed,
	       (unsigned long long)(c.seed + (uint64_t)c.n - 1), count.models, count.questions, count.accepted,
	       count.refused, count.open, count.limit, count.causes, count.unasked);
	printf("# %u models for faults and ways out: %u go wrong, %u have no way out, %u beyond its limits\n", reached.asked,
	       reached.faults, reached.lost, reached.limit);
	printf("# %u answers about conditions on states: %u hold, %u are violated, %u open\n", conditions.asked, conditions.holds,
	       conditions.violated, conditions.open);
	CHECK(conditions.holds > conditions.asked / 20 && conditions.violated > conditions.asked / 20);
	CHECK(conditions.open < conditions.asked / 2);
	CHECK(reached.lost > 0 && reached.limit < reached.asked / 20);
	CHECK(count.accepted > count.questions / 5);
	CHECK(count.refused > count.questions / 10);
	CHECK(count.open + count.limit < count.questions / 20);
	CHECK(count.causes > 0);
}

/* ---- the twin ----------------------------------------------------------- */

enum { TWIN_STEPS = 40, TWIN_ALONE = 60 };

struct twin {
	const struct ir *p;
	uint32_t block;
	struct run r;
	uint64_t left;   /* steps it may still take */
	bool unexplained;
	uint64_t runs, moved; /* quiescent ones; of them explained only out of order */
};

struct twin_item {
	uint32_t thread, block, first, last; /* block IR_NONE: a step outside */
};

struct twin_run { /* one run, being explained */
	struct twin *t;
	struct twin_item item[TWIN_STEPS];
	uint32_t n;
	bool causes[TWIN_STEPS][TWIN_STEPS]; /* of steps: directly or through others */
	bool timely;                         /* in the order of time instead */
	int32_t *goal;
	bool found;
};

static bool twin_inside(const struct twin *t, const int32_t *state, uint32_t thread)
{
	uint32_t b = ir_block_of(t->p, state, thread);
	return b != IR_NONE && (t->block == VERDICT_PROGRAM || t->block == b);
}

static bool twin_conflict(const struct run *r, const struct run_step *a, const struct run_step *b)
{
	for (uint32_t i = 0; i < a->nevent; i++)
		for (uint32_t k = 0; k < b->nevent; k++) {
			const struct ir_event *x = &r->events[a->event + i], *y = &r->events[b->event + k];
			if (x->var == y->var && x->elem == y->elem && (x->mode != IRA_READ || y->mode != IRA_READ))
				return true;
		}
	return false;
}

static void twin_order(struct twin_run *u, const int32_t *state, uint64_t done);

struct twin_step {
	struct twin_run *u;
	uint32_t thread, depth;
	uint64_t done; /* when the item is over */
	bool in_block;
};

static bool twin_outcome(void *arg, enum ir_result res, const int32_t *next, const struct ir_choices *ch,
                         const struct ir_effect *eff)
{
	struct twin_step *s = arg;
	struct twin *t = s->u->t;
	(void)ch, (void)eff;
	if (res != IR_OK || !t->left || s->depth > TWIN_ALONE) {
		t->left = s->depth > TWIN_ALONE ? 0 : t->left;
		return true;
	}
	t->left--;
	int32_t state[256], scratch[256];
	memcpy(state, next, t->p->nstate * sizeof *state);
	if (!twin_inside(t, state, s->thread)) {
		ir_clear_dead(t->p, state);
		twin_order(s->u, state, s->done);
	} else if (s->in_block) {
		struct twin_step on = *s;
		on.depth++;
		ir_successors(t->p, state, s->thread, scratch, twin_outcome, &on);
	}
	return !s->u->found;
}

/* Every way to go on from here, items in `done` being done. */
static void twin_order(struct twin_run *u, const int32_t *state, uint64_t done)
{
	const struct ir *p = u->t->p;
	int32_t scratch[256];
	if (done == ((uint64_t)1 << u->n) - 1)
		u->found |= !memcmp(state, u->goal, p->nstate * sizeof *state);
	for (uint32_t i = 0; i < u->n && !u->found; i++) {
		const struct twin_item *it = &u->item[i];
		bool may = !(done >> i & 1);
		for (uint32_t k = 0; k < u->n && may; k++)
			may = k == i || (done >> k & 1) ||
			      !(u->timely ? u->item[k].last < it->first : u->causes[u->item[k].last][it->first]);
		if (!may)
			continue;
		const struct ir_node *node = &p->nodes[ir_node_of(p, state, it->thread)];
		if (it->block != IR_NONE && !(node->kind == IRN_ENTER && (uint32_t)p->code[node->ins + 1].a == it->block))
			continue;
		struct twin_step s = { u, it->thread, 0, done | (uint64_t)1 << i, it->block != IR_NONE };
		ir_successors(p, state, it->thread, scratch, twin_outcome, &s);
	}
}

static bool twin_explained(struct twin *t, bool timely)
{
	struct run *r = &t->r;
	struct twin_run *u = calloc(1, sizeof *u);
	int32_t goal[256], state[256];
	uint32_t open[8] = { 0 };
	bool in[8] = { 0 };
	u->t = t;
	u->goal = goal;
	u->timely = timely;
	for (uint32_t j = 0; j < r->nsteps; j++) {
		const struct run_step *s = &r->steps[j];
		uint32_t b = t->p->nodes[s->next].block, th = s->thread;
		for (uint32_t i = 0; i < j; i++)
			if (r->steps[i].thread == th || twin_conflict(r, &r->steps[i], s)) {
				u->causes[i][j] = true;
				for (uint32_t k = 0; k < i; k++)
					u->causes[k][j] |= u->causes[k][i];
			}
		bool now = b != IR_NONE && (t->block == VERDICT_PROGRAM || t->block == b);
		if (!in[th]) {
			open[th] = u->n;
			u->item[u->n++] = (struct twin_item){ th, now ? b : IR_NONE, j, j };
		}
		u->item[open[th]].last = j;
		in[th] = now;
	}
	memcpy(goal, run_now(r), t->p->nstate * sizeof *goal);
	ir_clear_dead(t->p, goal);
	memcpy(state, t->p->init, t->p->nstate * sizeof *state);
	ir_clear_dead(t->p, state);
	twin_order(u, state, 0);
	bool found = u->found;
	free(u);
	return found;
}

static void twin_runs(struct twin *t)
{
	bool quiet = true;
	if (t->unexplained || !t->left || t->r.nsteps >= TWIN_STEPS) {
		t->left = t->unexplained ? t->left : 0;
		return;
	}
	for (uint32_t i = 0; i < t->p->nthreads; i++)
		quiet &= !twin_inside(t, run_now(&t->r), i);
	if (quiet) {
		bool fine = twin_explained(t, false);
		t->runs++;
		if (!t->left)
			return;
		t->unexplained = !fine;
		if (fine && !(t->runs % 4))
			t->moved += !twin_explained(t, true);
	}
	for (uint32_t i = 0; i < t->p->nthreads; i++) {
		struct run_outcome out[8];
		uint32_t n = run_outcomes(&t->r, i, out, 8);
		for (uint32_t k = 0; k < n && k < 8 && !t->unexplained && t->left; k++)
			if (out[k].result == IR_OK && run_step(&t->r, i, out[k].pick, out[k].npick) == RUN_OK) {
				t->left--;
				twin_runs(t);
				run_undo(&t->r);
			}
	}
}

static struct {
	unsigned models, questions, large, explained, unexplained, moved, open, causes;
} twins;

static void twin_ask(const struct ir *p, uint32_t block, uint64_t seed, const char *text)
{
	struct twin t = { .p = p, .block = block, .left = 100000 };
	struct verify_exhaustive v = { .max_states = 20000 };
	twins.questions++;
	if (p->nstate > 256 || p->nthreads > 8 || !run_init(&t.r, p)) {
		complain(seed, text, "too large for the twin");
		return;
	}
	twin_runs(&t);
	run_free(&t.r);
	if (!t.left && !t.unexplained) {
		twins.large++;
		return;
	}
	verify_exhaustive(&v, p, block);
	twins.explained += !t.unexplained;
	twins.unexplained += t.unexplained;
	twins.moved += t.moved > 0;
	twins.causes += v.behind > 0;
	twins.open += v.answer == VERIFY_OPEN || v.answer == VERIFY_LIMIT;
	if (v.answer == VERIFY_EXPLAINED && t.unexplained)
		complain(seed, text, "accepted, and the twin has a run that no order explains");
	if (v.answer == VERIFY_UNEXPLAINED && !t.unexplained)
		complain(seed, text, "refused, and the twin explains every run");
	free(v.path);
}

/* Two or three threads, few accesses, some of them in blocks. */
static void gen_tiny(struct buf *b, uint64_t seed)
{
	struct rng rng;
	rng_seed(&rng, seed);
	bool spread = seed % 3 == 0; /* a block of one thread, steps outside of two others: where causes matter */
	uint32_t nthreads = spread || rng_below(&rng, 3) == 0 ? 3 : 2, left = nthreads == 2 ? 4 : 2;
	buf_str(b, "int[0..3] x; int[0..3] y; int[0..3] z;\n");
	for (uint32_t t = 0; t < nthreads; t++) {
		bool in = false;
		buf_printf(b, "thread t%u {\n\tint[0..3] r = 0;\n", t);
		for (uint32_t i = 0, n = spread ? (t ? 1 : 3) : 1 + rng_below(&rng, left); i < n; i++) {
			char var = "xyz"[rng_below(&rng, 3)], to = "xyz"[rng_below(&rng, 3)];
			if (!in && (spread ? !t && !i : !rng_below(&rng, 1 + (uint32_t)(seed % 3)))) {
				buf_printf(b, "\tatomic b%u {\n", i);
				in = true;
			}
			switch (spread ? (t ? 2 : rng_below(&rng, 4)) : rng_below(&rng, 5)) {
			case 0: buf_printf(b, "\tr = %c;\n", var); break;
			case 1: buf_printf(b, "\t%c = r;\n", var); break;
			case 2: buf_printf(b, "\t%c = %u;\n", var, 1 + (unsigned)rng_below(&rng, 3)); break;
			case 3: buf_printf(b, "\t%c = (%c + 1) %% 4;\n", to, var); break;
			case 4: buf_printf(b, "\tif (r == %u) { %c = 3; }\n", (unsigned)rng_below(&rng, 3), var); break;
			}
			if (in && !spread && rng_below(&rng, 2)) {
				buf_str(b, "\t}\n");
				in = false;
			}
		}
		buf_str(b, in ? "\t}\n}\n" : "}\n");
	}
}

static void test_twin(void)
{
	struct campaign c = campaign(700000, 200);
	for (int i = 0; i < c.n && check_failed < 3; i++) {
		uint64_t seed = c.seed + (uint64_t)i;
		struct buf b;
		struct lang l;
		struct lang_options o = { .sml = 0 };
		buf_init(&b);
		gen_tiny(&b, seed);
		lang_init(&l);
		twins.models++;
		if (!lang_load_text(&l, "tiny.atm", b.data, b.len, &o)) {
			diags_render(&l.diags, &b, false);
			complain(seed, b.data, "does not load");
		} else {
			twin_ask(l.ir, VERDICT_PROGRAM, seed, b.data);
			for (uint32_t k = 0; k < l.ir->nblocks && l.ir->nblocks > 1; k++)
				twin_ask(l.ir, k, seed, b.data);
		}
		lang_free(&l);
		buf_free(&b);
	}
	printf("# seeds %llu..%llu: %u models, %u questions, %u too large for the twin: %u explained, %u not, %u with runs that "
	       "need the order of causes (the checker went by it in %u); the checker left %u open\n", (unsigned long long)c.seed,
	       (unsigned long long)(c.seed + (uint64_t)c.n - 1), twins.models, twins.questions, twins.large, twins.explained,
	       twins.unexplained, twins.moved, twins.causes, twins.open);
	CHECK(twins.explained > twins.questions / 4);
	CHECK(twins.unexplained > twins.questions / 50);
	CHECK(twins.moved > twins.questions / 100);
	CHECK(twins.open == 0);
}

/* What goes wrong is found, with the step that does, and where nobody gets out. */
static void test_reach(void)
{
	static const char text[] = "int[0..1] x; lock l; lock m;\n"
	                           "thread a { atomic p { acquire(l); acquire(m); x = 1; release(m); release(l); } }\n"
	                           "thread b { atomic q { acquire(m); acquire(l); release(l); release(m); } assert(x == 0); }\n";
	struct lang l;
	struct lang_options o = { .sml = 0 };
	struct verify_reach v = { .max_states = 10000, .ways_out = true };
	lang_init(&l);
	CHECK(lang_load_text(&l, "reach.atm", text, sizeof text - 1, &o));
	verify_reach(&v, l.ir);
	CHECK(v.fault == VERIFY_UNEXPLAINED && v.out == VERIFY_UNEXPLAINED && !v.limit);
	ask_reach(l.ir, 0, text);
	verify_reach_free(&v);
	v.max_states = 5;
	verify_reach(&v, l.ir);
	CHECK(v.fault == VERIFY_LIMIT && v.out == VERIFY_LIMIT && v.limit && !strcmp(v.limit, "states"));
	verify_reach_free(&v);
	lang_free(&l);
}

static void test_limit_is_named(void)
{
	static const char text[] = "int[0..3] x; thread t * 3 { while (true) { atomic b { x = (x + 1) % 4; } } }";
	struct lang l;
	struct lang_options o = { .sml = 0 };
	struct verify_exhaustive v = { .max_states = 10 };
	lang_init(&l);
	CHECK(lang_load_text(&l, "limit.atm", text, sizeof text - 1, &o));
	verify_exhaustive(&v, l.ir, VERDICT_PROGRAM);
	CHECK(v.answer == VERIFY_LIMIT && v.limit && !strcmp(v.limit, "states"));
	v.max_states = 1000000;
	verify_exhaustive(&v, l.ir, VERDICT_PROGRAM);
	CHECK(v.answer == VERIFY_UNEXPLAINED && v.npath > 0);
	free(v.path);
	lang_free(&l);
}

int main(void)
{
	RUN(test_limit_is_named);
	RUN(test_reach);
	RUN(test_twin);
	RUN(test_random_models);
	return check_done();
}
