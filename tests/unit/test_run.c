/*
 * run: a run is compared with stepping the program directly, its states and
 * changes with each other, and every refusal is provoked once.
 */
#include "check.h"

#include "lang/lang.h"
#include "verdict/run.h"

static const char locked[] =
	"lock m;\n"
	"int[0..2] count;\n"
	"thread worker * 2 {\n"
	"  atomic increment {\n"
	"    acquire(m);\n"
	"    int v = count;\n"
	"    count = v + 1;\n"
	"    release(m);\n"
	"  }\n"
	"}\n";

static const char choices[] =
	"int[0..20] x; bool b[3]; enum color { RED, GREEN, BLUE } c;\n"
	"thread t * 3 {\n"
	"  while (true) {\n"
	"    int[0..9] k = any(0..4);\n"
	"    either { x = k; } or { b[k % 3] = any(bool); } or { assume(k > 2); c = GREEN; }\n"
	"    atomic { x = (x + k) % 21; commit; c = BLUE; }\n"
	"  }\n"
	"}\n";

static const char registers[] =
	"safe bool s; regular int[0..40] r;\n"
	"thread w { while (true) { s = !s; r = (r + 1) % 41; } }\n"
	"thread reader * 2 { while (true) { bool x = s; int[0..40] y = r; } }\n";

static const char objects[] =
	"object bit : register(bool) = false {\n"
	"  safe bool v;\n"
	"  void write(bool x) { v = x; }\n"
	"  bool read() { return v; }\n"
	"}\n"
	"thread w { while (true) bit.write(any(bool)); }\n"
	"thread r { while (true) { bool got = bit.read(); } }\n";

static const char faults[] =
	"int[0..9] x;\n"
	"thread t * 2 { while (true) { x = x + 1; assert(x < 8); } }\n";

static const char sml[] =
	"int X; int Y;\n"
	"begin a := X; X := a + 1 end || begin b := X; Y := b; X := b * 2 end\n";

static const struct { const char *name, *text; } models[] = {
	{ "locked.atm", locked }, { "choices.atm", choices }, { "registers.atm", registers },
	{ "objects.atm", objects }, { "faults.atm", faults }, { "two.sml", sml },
};
#define NMODELS ((int)(sizeof models / sizeof *models))

static const struct ir *load(struct lang *l, const char *name, const char *text, bool keep_dead)
{
	struct lang_options o = { .sml = -1, .keep_dead = keep_dead };
	lang_init(l);
	if (!lang_load_text(l, name, text, strlen(text), &o)) {
		struct buf b;
		buf_init(&b);
		diags_render(&l->diags, &b, false);
		printf("# %s: %s\n", name, buf_cstr(&b));
		buf_free(&b);
		CHECK(0 && "the model loads");
		return NULL;
	}
	return l->ir;
}

/* ---- by hand ------------------------------------------------------------ */

static void test_by_hand(void)
{
	struct lang l;
	struct run r;
	const struct ir *p = load(&l, "locked.atm", locked, true);
	if (!p)
		return;
	CHECK(run_init(&r, p));
	for (int i = 0; i < 4; i++)
		CHECK_EQ(run_step(&r, 1, NULL, 0), RUN_OK);
	CHECK_EQ(run_step(&r, 0, NULL, 0), RUN_OK);
	CHECK_EQ(run_step(&r, 0, NULL, 0), RUN_BLOCKED);
	CHECK_EQ(r.nsteps, 5);
	CHECK_EQ(r.steps[0].entered, 0);
	CHECK_EQ(r.steps[0].nchange, 0);
	CHECK_EQ(r.steps[1].nevent, 1);
	CHECK_EQ(r.events[r.steps[1].event].mode, IRA_ACQUIRE);
	CHECK_EQ(r.changes[r.steps[1].change].var, 0);
	CHECK_EQ(r.events[r.steps[2].event].mode, IRA_READ);
	CHECK_EQ(r.steps[2].nlocal, 1);
	CHECK_STR(p->locals[r.locals[r.steps[2].local].local].name, "v");
	CHECK_EQ(r.steps[3].nchange, 1);
	CHECK_EQ(r.changes[r.steps[3].change].before, 0);
	CHECK_EQ(r.changes[r.steps[3].change].after, 1);
	CHECK_EQ(run_holder(&r, 0, 0), 1);
	CHECK_EQ(run_step(&r, 1, NULL, 0), RUN_OK);
	CHECK_EQ(run_holder(&r, 0, 0), IR_NONE);
	CHECK_EQ(run_step(&r, 1, NULL, 0), RUN_OK);
	CHECK_EQ(r.steps[6].exited, 0);
	CHECK_EQ(run_step(&r, 1, NULL, 0), RUN_FINISHED);
	CHECK_EQ(run_step(&r, 7, NULL, 0), RUN_NO_THREAD);
	uint32_t pick = 0;
	CHECK_EQ(run_step(&r, 0, &pick, 1), RUN_NO_PICK);
	CHECK_EQ(r.nsteps, 7);
	CHECK(run_state(&r, 8) == NULL);
	run_free(&r);
	lang_free(&l);
}

static void test_refusals(void)
{
	static const char text[] =
		"int x;\n"
		"thread a { int k = any(1..3); assume(k == 2); x = k; }\n"
		"thread b { int k = any(0..1); assume(k == 7); x = k; }\n"
		"thread c { step { int k = any(0..3); assume(x == k); x = 10 / (k - 2); } }\n";
	struct lang l;
	struct run r;
	struct run_outcome out[4];
	uint32_t pick[2] = { 0, 0 };
	const struct ir *p = load(&l, "refusals.atm", text, true);
	if (!p)
		return;
	CHECK(run_init(&r, p));
	CHECK_EQ(run_step(&r, 0, NULL, 0), RUN_PICKS);
	CHECK_EQ(run_step(&r, 0, pick, 1), RUN_FORBIDDEN);
	pick[0] = 3;
	CHECK_EQ(run_step(&r, 0, pick, 1), RUN_NO_PICK);
	pick[0] = 1;
	CHECK_EQ(run_step(&r, 0, pick, 2), RUN_NO_PICK);
	CHECK_EQ(run_outcomes(&r, 0, out, 4), 1);
	CHECK_EQ(out[0].pick[0], 1);
	CHECK_EQ(run_step(&r, 0, pick, 1), RUN_OK);
	/* every choice is forbidden: one way to be stuck, and only the first */
	CHECK_EQ(run_outcomes(&r, 1, out, 4), 1);
	pick[0] = 1;
	CHECK_EQ(run_step(&r, 1, pick, 1), RUN_FORBIDDEN);
	pick[0] = 0;
	CHECK_EQ(run_step(&r, 1, pick, 1), RUN_OK);
	CHECK(r.steps[1].stuck);
	CHECK_EQ(run_step(&r, 1, NULL, 0), RUN_STUCK);
	/* x is 0: only 0 gets past the assume; then x is -5: nothing does */
	CHECK_EQ(run_step(&r, 2, NULL, 0), RUN_PICKS);
	pick[0] = 3;
	CHECK_EQ(run_step(&r, 2, pick, 1), RUN_FORBIDDEN);
	CHECK_EQ(run_step(&r, 0, NULL, 0), RUN_OK); /* x = 2 */
	pick[0] = 2;
	CHECK_EQ(run_step(&r, 2, pick, 1), RUN_FAULT);
	CHECK(run_faulted(&r));
	CHECK_EQ(run_fault(&r).fault, IRF_DIVISION);
	CHECK_EQ(run_step(&r, 2, pick, 1), RUN_OVER);
	CHECK_EQ(run_now(&r)[p->vars[0].slot], 2);
	CHECK(run_state(&r, r.nsteps - 1) == run_now(&r));
	CHECK(run_undo(&r));
	CHECK(!run_faulted(&r));
	CHECK_EQ(run_now(&r)[p->vars[0].slot], 2);
	run_free(&r);
	lang_free(&l);
}

/* ---- against direct stepping -------------------------------------------- */

#define LEN 3000

static void check_changes(const struct run *r, uint32_t i, const int32_t *a, const int32_t *b)
{
	const struct run_step *s = &r->steps[i];
	uint32_t n = 0;
	for (uint32_t v = 0; v < r->ir->nvars; v++)
		for (uint32_t k = 0; k < r->ir->vars[v].len; k++)
			n += a[r->ir->vars[v].slot + k] != b[r->ir->vars[v].slot + k];
	CHECK_EQ(s->nchange, n);
	for (uint32_t k = 0; k < s->nchange; k++) {
		const struct run_change *c = &r->changes[s->change + k];
		uint32_t at = r->ir->vars[c->var].slot + c->elem;
		CHECK(c->before == a[at] && c->after == b[at] && c->before != c->after);
	}
}

/* A random walk; states[] are those that ir_step alone gives. */
static void walk_model(const char *name, const char *text, uint64_t seed, size_t budget)
{
	struct lang l;
	struct run r;
	struct rng rng;
	const struct ir *p = load(&l, name, text, seed & 1);
	if (!p)
		return;
	int32_t *states = calloc((size_t)(LEN + 1) * p->nstate, sizeof *states);
	uint32_t n = 0;
	CHECK(run_init(&r, p) && states);
	r.budget = budget;
	rng_seed(&rng, seed);
	memcpy(states, p->init, p->nstate * sizeof *states);
	for (int round = 0; round < LEN + 200 && n < LEN; round++) {
		if (rng_below(&rng, 40) == 0) {
			uint32_t back = rng_below(&rng, 30);
			if (rng_below(&rng, 2)) {
				n -= back < n ? back : n;
				run_rewind(&r, n);
			} else {
				while (back-- && run_undo(&r))
					n--;
			}
			CHECK_EQ(n, r.nsteps);
			CHECK(!memcmp(run_now(&r), states + (size_t)n * p->nstate,
			              p->nstate * sizeof *states));
		}
		if (rng_below(&rng, 20) == 0) {
			uint32_t k = n - rng_below(&rng, n < 20 ? n + 1 : 20);
			CHECK(!memcmp(run_state(&r, k), states + (size_t)k * p->nstate,
			              p->nstate * sizeof *states));
		}
		enum run_status st = run_random(&r, &rng);
		if (st == RUN_BLOCKED || st == RUN_OVER)
			continue;
		CHECK(st == RUN_OK || st == RUN_FAULT);
		const struct run_step *s = &r.steps[r.nsteps - 1];
		struct ir_choices ch = { .fixed = s->npick };
		memcpy(ch.pick, s->npick ? r.picks + s->pick : ch.pick, s->npick * sizeof *ch.pick);
		int32_t *a = states + (size_t)n * p->nstate, *b = a + p->nstate;
		enum ir_result res = ir_step(p, a, s->thread, &ch, b, NULL);
		CHECK_EQ(res, st == RUN_FAULT ? IR_FAULT : IR_OK);
		if (st == RUN_FAULT)
			memcpy(b, a, p->nstate * sizeof *b);
		n++;
		CHECK_EQ(n, r.nsteps);
		CHECK_EQ(s->node, ir_node_of(p, a, s->thread));
		CHECK_EQ(s->next, ir_node_of(p, b, s->thread));
		CHECK(!memcmp(run_now(&r), b, p->nstate * sizeof *b));
		if (st == RUN_OK)
			check_changes(&r, n - 1, a, b);
	}
	for (uint32_t i = 0; i <= n; i++)
		CHECK(!memcmp(run_state(&r, i), states + (size_t)i * p->nstate,
		              p->nstate * sizeof *states));
	for (int i = 0; i < 200; i++) {
		uint32_t k = rng_below(&rng, n + 1);
		CHECK(!memcmp(run_state(&r, k), states + (size_t)k * p->nstate,
		              p->nstate * sizeof *states));
	}
	CHECK(r.nkept <= 2 || r.nkept * p->nstate * sizeof *states <= budget);
	/* The same schedule again, then all of it undone. */
	struct run again;
	CHECK(run_init(&again, p));
	for (uint32_t i = 0; i < n; i++)
		CHECK(run_step(&again, r.steps[i].thread, r.picks + r.steps[i].pick,
		               r.steps[i].npick) <= RUN_FAULT);
	CHECK(!memcmp(run_now(&again), run_now(&r), p->nstate * sizeof *states));
	CHECK_EQ(again.nevents, r.nevents);
	CHECK(!r.nevents || !memcmp(again.events, r.events, r.nevents * sizeof *r.events));
	run_free(&again);
	while (run_undo(&r))
		if (r.nsteps % 7 == 0)
			CHECK(!memcmp(run_now(&r), states + (size_t)r.nsteps * p->nstate,
			              p->nstate * sizeof *states));
	CHECK(!memcmp(run_now(&r), p->init, p->nstate * sizeof *states));
	CHECK_EQ(r.npicks + r.nevents + r.nchanges + r.nlocals, 0);
	run_free(&r);
	free(states);
	lang_free(&l);
}

static void test_walks(void)
{
	for (int m = 0; m < NMODELS; m++)
		for (uint64_t seed = 1; seed <= 4; seed++)
			walk_model(models[m].name, models[m].text, seed, seed < 3 ? 600 : RUN_STATE_BUDGET);
}

/* Whatever run_random does is among the outcomes, and all of them happen. */
static void test_random_covers(void)
{
	static const char text[] =
		"int x; bool b;\n"
		"thread t { step { x = any(0..2) * 10; assume(x != 10); b = any(bool); } }\n"
		"thread u { x = 7; }\n";
	struct lang l;
	struct run r;
	struct rng rng;
	struct run_outcome out[8];
	int seen[8] = { 0 }, other = 0;
	const struct ir *p = load(&l, "covers.atm", text, true);
	if (!p)
		return;
	CHECK(run_init(&r, p));
	rng_seed(&rng, 5);
	CHECK_EQ(run_outcomes(&r, 0, out, 8), 4);
	for (int i = 0; i < 400; i++) {
		CHECK_EQ(run_random(&r, &rng), RUN_OK);
		const struct run_step *s = &r.steps[0];
		int k = 0;
		while (k < 4 && (s->npick != out[k].npick ||
		                 memcmp(r.picks + s->pick, out[k].pick, s->npick * sizeof *out[k].pick)))
			k++;
		if (s->thread == 0 && k < 4)
			seen[k]++;
		else
			other += s->thread == 1;
		run_undo(&r);
	}
	for (int k = 0; k < 4; k++)
		CHECK(seen[k] > 20);
	CHECK(other > 120);
	CHECK_EQ(seen[0] + seen[1] + seen[2] + seen[3] + other, 400);
	run_free(&r);
	lang_free(&l);
}

/* A rare way through: found although random picks run into the assume. */
static void test_rare_choice(void)
{
	static const char text[] =
		"int x; thread t { int k = any(0..4095); assume(k == 4000); x = k; }\n";
	struct lang l;
	struct run r;
	struct rng rng;
	const struct ir *p = load(&l, "rare.atm", text, true);
	if (!p)
		return;
	CHECK(run_init(&r, p));
	rng_seed(&rng, 1);
	CHECK_EQ(run_random(&r, &rng), RUN_OK);
	CHECK_EQ(r.steps[0].npick, 1);
	CHECK_EQ(r.picks[0], 4000);
	CHECK(!r.steps[0].stuck);
	run_free(&r);
	lang_free(&l);
}

/* More accesses in a step than are recorded: the changes are still exact. */
static void test_many_accesses(void)
{
	static const char text[] =
		"int a[200]; int x;\n"
		"thread t { step { int i; while (i < 200) { a[i] = a[i] + i; i++; } x = 5; } }\n";
	struct lang l;
	struct run r;
	const struct ir *p = load(&l, "many.atm", text, true);
	if (!p)
		return;
	CHECK(run_init(&r, p));
	CHECK_EQ(run_step(&r, 0, NULL, 0), RUN_OK);
	CHECK(r.steps[0].cut);
	CHECK_EQ(r.steps[0].nevent, IR_MAX_EVENTS);
	CHECK_EQ(r.steps[0].nchange, 200);
	check_changes(&r, 0, p->init, run_now(&r));
	run_free(&r);
	lang_free(&l);
}

int main(void)
{
	RUN(test_by_hand);
	RUN(test_refusals);
	RUN(test_walks);
	RUN(test_random_covers);
	RUN(test_rare_choice);
	RUN(test_many_accesses);
	return check_done();
}
