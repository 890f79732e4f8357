/*
 * The causal engines through their one entry: unfold against cover against
 * the coloured marking graph; every counterexample checked for being one; what
 * they prove against exact atomicity; Table 1 of the paper. The argument is the
 * folder of examples; campaign.h says how many random programs.
 */
#include "campaign.h"
#include "causal/causal.h"
#include "causal/program.h"
#include "causal_gen.h"
#include "causal_naive.h"
#include "check.h"
#include "explore/exact.h"
#include "genmodel.h"
#include "lang/lang.h"
#include "verdict/causal_run.h"
#include "verdict/run.h"

static const char *examples = "examples";

static void ask_with(const struct ir *p, uint32_t block, struct causal_options o, struct verdict *v)
{
	struct arena a;
	struct diags d;
	arena_init(&a, 0);
	diags_init(&d, &a);
	CHECK(causal_check(p, block, &o, &d, v, NULL));
	arena_free(&a);
}

static void ask(const struct ir *p, uint32_t block, enum causal_engine engine, uint64_t max,
                struct verdict *v)
{
	ask_with(p, block, (struct causal_options){ .engine = engine, .max_states = max }, v);
}

/* The reduced prefix has the same answer, and counterexamples that are some. */
static void check_witness(const struct program *g, const struct verdict *v);
static void ask_reduced(const struct ir *p, const struct program *g, uint32_t block, enum answer want,
                        bool unsure)
{
	struct verdict r;
	ask_with(p, block, (struct causal_options){ .engine = CAUSAL_UNFOLD, .max_states = 30000, .reduced = true }, &r);
	CHECK(r.answer == want || r.limit || unsure);
	if (r.answer == ANSWER_VIOLATED)
		check_witness(g, &r);
	verdict_free(&r);
}

/* ---- is a counterexample one? ---------------------------------------------- */

static bool depends(const struct causal_run *r, const struct causal_link *k)
{
	const struct causal_event *e = &r->events[k->from], *f = &r->events[k->to];
	if (k->var == IR_NONE)
		return e->thread == f->thread;
	bool write = false, from = false, to = false;
	for (uint32_t i = 0; i < e->ntouch; i++) {
		const struct causal_touch *t = &r->touches[e->touch + i];
		from |= t->var == k->var && t->elem == k->elem;
		write |= t->var == k->var && t->elem == k->elem && t->write;
	}
	for (uint32_t i = 0; i < f->ntouch; i++) {
		const struct causal_touch *t = &r->touches[f->touch + i];
		to |= t->var == k->var && t->elem == k->elem;
		write |= t->var == k->var && t->elem == k->elem && t->write;
	}
	return from && to && write;
}

/* Are two events of one thread in one occurrence of a block? */
static bool same_occurrence(const struct causal_run *r, uint32_t a, uint32_t b)
{
	uint32_t lo = a < b ? a : b, hi = a < b ? b : a;
	const struct causal_event *e = &r->events[lo];
	if (e->thread != r->events[hi].thread)
		return false;
	if (e->block == IR_NONE && e->entered == IR_NONE)
		return lo == hi;
	for (uint32_t i = lo; i < hi; i++)
		if (r->events[i].thread == e->thread && r->events[i].exited != IR_NONE)
			return false;
	return true;
}

static bool is_cycle(const struct causal_run *r, uint32_t block)
{
	bool ok = r->nlinks >= 2, foreign = false;
	for (uint32_t i = 0; i < r->nlinks && ok; i++) {
		const struct causal_link *k = &r->links[i], *next = &r->links[(i + 1) % r->nlinks];
		ok = k->from < k->to && k->to < r->nevents && depends(r, k);
		if (block != VERDICT_PROGRAM && i + 1 < r->nlinks)
			ok &= k->to == next->from; /* no going back but at the end */
		ok &= same_occurrence(r, k->to, next->from);
		foreign |= r->events[k->to].thread != r->events[r->links[0].from].thread;
	}
	if (block != VERDICT_PROGRAM)
		ok &= r->events[r->links[r->nlinks - 1].to].block == block;
	return ok && foreign;
}

/* Is it a run of the abstract program? Follows sets of spots as values allow. */
static bool is_run(const struct program *g, const struct causal_run *r)
{
	uint32_t *value = calloc(g->ncells + 1, sizeof *value);
	uint8_t *may = calloc((size_t)r->nthreads * g->nspots + 1, 1), *next = calloc(g->nspots + 1, 1);
	bool ok = true;
	for (uint32_t c = 0; c < g->ncells; c++)
		value[c] = g->cells[c].init;
	for (uint32_t t = 0; t < r->nthreads; t++)
		may[(size_t)t * g->nspots + g->start[r->threads[t].tmpl]] = 1;
	for (uint32_t i = 0; i < r->nevents && ok; i++) {
		const struct causal_event *e = &r->events[i];
		const struct action *taken = NULL;
		memset(next, 0, g->nspots);
		for (uint32_t k = 0; k < g->nactions; k++) {
			const struct action *a = &g->actions[k];
			bool fits = may[(size_t)e->thread * g->nspots + a->from] && a->ntouch == e->ntouch &&
			            g->spots[a->from].node == e->node && g->spots[a->to].node == e->next &&
			            a->entered == e->entered && a->exited == e->exited;
			for (uint32_t j = 0; j < a->ntouch && fits; j++) {
				const struct touch *t = &g->touches[a->touch + j];
				const struct causal_touch *u = &r->touches[e->touch + j];
				const struct program_cell *c = &g->cells[t->cell];
				fits = c->var == u->var && c->elem == u->elem && t->write == u->write &&
				       (t->need == PROGRAM_ANY || t->need == value[t->cell]) &&
				       (!c->nvalues || !t->write || c->lo + (int32_t)t->put == u->left);
			}
			if (!fits)
				continue;
			next[a->to] = 1;
			taken = a;
		}
		ok = taken != NULL;
		for (uint32_t j = 0; ok && j < taken->ntouch; j++) {
			const struct touch *t = &g->touches[taken->touch + j];
			if (t->write && t->put != PROGRAM_ANY)
				value[t->cell] = t->put;
		}
		memcpy(may + (size_t)e->thread * g->nspots, next, g->nspots);
	}
	free(value);
	free(may);
	free(next);
	return ok;
}

/* When it says the data allow it, the moves can be taken. */
static bool replays(const struct ir *p, const struct causal_run *r)
{
	struct run run;
	struct run_outcome *out = calloc(64, sizeof *out);
	bool ok = run_init(&run, p) && r->npath == r->nevents;
	for (uint32_t i = 0; i < r->npath && ok; i++) {
		const struct move *m = &r->path[i];
		uint32_t n = run_outcomes(&run, m->thread, out, 64);
		ok = m->outcome < n && m->outcome < 64 &&
		     run_step(&run, m->thread, out[m->outcome].pick, out[m->outcome].npick) == RUN_OK;
	}
	run_free(&run);
	free(out);
	return ok;
}

static void check_witness(const struct program *g, const struct verdict *v)
{
	CHECK(v->causal != NULL);
	if (!v->causal)
		return;
	CHECK(is_cycle(v->causal, v->block));
	CHECK(is_run(g, v->causal));
	if (v->causal->concrete == CAUSAL_POSSIBLE)
		CHECK(replays(g->ir, v->causal));
}

/* ---- random programs --------------------------------------------------------- */

struct tally {
	int sml, threads[8];             /* programs: SML ones, by number of threads */
	int red, safe, larger;           /* blocks, by unfold */
	int naive, beyond;               /* judged by the coloured marking graph; too large for it */
	int cycles, acyclic, open;       /* programs, by cover */
	int real;                        /* violations that the data allow */
	int proved, exact, unreached;    /* causally atomic: exactly too; not reached by exact */
	int wrong;                       /* not exactly atomic */
	int disagree;                    /* programs with a disagreement of any kind */
};

/* What causality proves holds exactly. Broken questions are asked too, with less
 * patience: a violation among them shows that exact can say no. */
static void one_exact(const struct ir *p, uint32_t block, enum answer causal, struct tally *t)
{
	struct search_options so = { .symmetry = true, .merge_local = true, .drop_pure = true,
		                     .max_states = causal == ANSWER_HOLDS ? 300000 : 3000 };
	struct search_result r;
	exact_run(p, block, &so, &r);
	CHECK(causal != ANSWER_HOLDS || r.verdict == SEARCH_HOLDS || r.verdict == SEARCH_LIMIT);
	t->proved += causal == ANSWER_HOLDS;
	t->exact += causal == ANSWER_HOLDS && r.verdict == SEARCH_HOLDS;
	t->unreached += causal == ANSWER_HOLDS && r.verdict == SEARCH_LIMIT;
	t->wrong += r.verdict == SEARCH_WRONG;
	search_result_free(&r);
}

static void one_block(const struct ir *p, const struct program *g, uint32_t block, struct tally *t)
{
	uint32_t count[16];
	struct verdict c, u, pick;
	for (uint32_t i = 0; i < p->ntemplates; i++)
		count[i] = p->templates[i].count;
	int want = naive_red(g, count, block, 40000, NULL);
	ask(p, block, CAUSAL_COVER, 1000000, &c);
	ask(p, block, CAUSAL_UNFOLD, 30000, &u);
	ask(p, block, CAUSAL_PICK, 0, &pick);
	if (want >= 0) {
		CHECK(c.answer == (want ? ANSWER_VIOLATED : ANSWER_HOLDS));
		CHECK(pick.answer == c.answer);
	}
	CHECK(u.answer == c.answer || u.limit);
	ask_reduced(p, g, block, c.answer, c.answer == ANSWER_UNKNOWN);
	one_exact(p, block, c.answer, t);
	t->naive += want >= 0;
	t->beyond += want < 0;
	t->red += u.answer == ANSWER_VIOLATED;
	t->safe += u.answer == ANSWER_HOLDS;
	t->larger += u.answer == ANSWER_UNKNOWN;
	if (c.answer == ANSWER_VIOLATED)
		check_witness(g, &c);
	if (u.answer == ANSWER_VIOLATED)
		check_witness(g, &u);
	t->real += c.causal && c.causal->concrete == CAUSAL_POSSIBLE;
	verdict_free(&c);
	verdict_free(&u);
	verdict_free(&pick);
}

static void whole(const struct ir *p, const struct program *g, struct tally *t)
{
	struct verdict c, u;
	ask(p, VERDICT_PROGRAM, CAUSAL_COVER, 1000000, &c);
	ask(p, VERDICT_PROGRAM, CAUSAL_UNFOLD, 20000, &u);
	CHECK(u.answer == c.answer || u.limit || c.limit);
	if (c.answer == ANSWER_VIOLATED)
		check_witness(g, &c);
	one_exact(p, VERDICT_PROGRAM, c.answer, t);
	t->cycles += c.answer == ANSWER_VIOLATED;
	t->acyclic += c.answer == ANSWER_HOLDS;
	t->open += c.answer == ANSWER_UNKNOWN;
	verdict_free(&c);
	verdict_free(&u);
}

static void generate(struct buf *b, uint64_t seed, bool loops, const char **name)
{
	*name = seed % 2 ? "random.atm" : "random.sml";
	if (seed % 20 == 11)
		gen_heap(b, seed);
	else if (seed % 10 == 1)
		gen_model(b, seed, true, false);
	else if (seed % 2)
		cgen_atm(b, seed, 2 + (unsigned)(seed / 2 % 3), 5, loops);
	else
		cgen_sml_program(b, seed, 2 + (unsigned)(seed / 2 % 3), 4, loops);
}

/* One program: every block and the whole, by everyone. */
static void one_program(uint64_t seed, bool loops, struct tally *t)
{
	int failed = check_failed;
	struct buf b;
	struct lang l;
	struct lang_options lo = { .sml = -1 };
	struct program_options po = { 0 };
	struct program g;
	struct arena a;
	struct diags d;
	const char *name, *limit;
	buf_init(&b);
	lang_init(&l);
	arena_init(&a, 0);
	diags_init(&d, &a);
	generate(&b, seed, loops, &name);
	CHECK(lang_load_text(&l, name, buf_cstr(&b), b.len, &lo));
	CHECK(program_make(l.ir, &po, &a, &d, &g, &limit) == PROGRAM_OK);
	CHECK(l.ir->nthreads >= 2 && l.ir->nthreads <= 4);
	t->sml += seed % 2 == 0;
	t->threads[l.ir->nthreads & 7]++;
	for (uint32_t k = 0; k < l.ir->nblocks; k++)
		one_block(l.ir, &g, k, t);
	if (l.ir->nblocks)
		whole(l.ir, &g, t);
	if (check_failed > failed) {
		t->disagree++;
		printf("# seed %llu\n%s\n", (unsigned long long)seed, buf_cstr(&b));
	}
	arena_free(&a);
	lang_free(&l);
	buf_free(&b);
}

/*
 * On the same programs: unfold, cover and the coloured marking graph agree, and
 * what is causally atomic, or serializable, is so exactly. Every third program
 * has no loops, so that exact reaches the end of nearly all.
 */
static void test_engines_agree(void)
{
	struct campaign w = campaign(5000000, 150);
	struct tally t = { 0 };
	for (int i = 0; i < w.n && t.disagree < 5; i++)
		one_program(w.seed + (uint64_t)i, (w.seed + (uint64_t)i) % 3 != 0, &t);
	printf("# seeds %llu to %llu: %d programs (%d .atm, %d SML; %d of 2 threads, %d of 3, %d of 4), %d disagreements\n",
	       (unsigned long long)w.seed, (unsigned long long)w.seed + (unsigned)w.n - 1, w.n, w.n - t.sml, t.sml,
	       t.threads[2], t.threads[3], t.threads[4], t.disagree);
	printf("# blocks: %d not causally atomic, %d causally atomic, %d with more than 30,000 events for unfold; "
	       "%d judged by the marking graph, %d beyond it; %d violations allowed by the data\n",
	       t.red, t.safe, t.larger, t.naive, t.beyond, t.real);
	printf("# programs: %d with a cycle, %d without, %d with too many owners or states for cover\n",
	       t.cycles, t.acyclic, t.open);
	printf("# exact: %d questions proved by causality, %d exactly too, %d beyond reach; %d answers wrong exactly\n",
	       t.proved, t.exact, t.unreached, t.wrong);
	CHECK(t.red > w.n / 8 && t.safe > w.n / 8 && t.real > w.n / 16);
	CHECK(t.exact > w.n / 2 && t.unreached < t.proved / 10 && t.wrong > w.n / 16);
	CHECK(t.sml > w.n / 3 && t.naive > 9 * t.beyond);
}

/* ---- Table 1 ------------------------------------------------------------------ */

struct row {
	const char *file, *threads, *block;
	bool atomic;
	uint64_t events; /* of the paper, where the net is known to be like its own */
	bool naive;      /* small enough for the coloured marking graph */
};

static const struct row table1[] = {
	{ "dekker-causal.atm", NULL, "update", true, 0, true },
	{ "acquire1-table.atm", "worker=4", "update", true, 34, true },
	{ "acquire1-table.atm", "worker=30", "update", true, 1022, false },
	{ "acquire1-table.atm", "worker=100", "update", true, 10402, false },
	{ "acquire1-table.atm", "worker=150", "update", true, 23102, false },
	{ "acquire1-causal.atm", "worker=4", "update", true, 0, true },
	{ "acquire1-causal.atm", "worker=100", "update", true, 0, false },
	{ "acquire2-causal.atm", "worker=4", "update", true, 0, true },
	{ "acquire2-causal.atm", "worker=6", "update", true, 0, true },
	{ "nacquire1.atm", "worker=3", "update", false, 0, true },
	{ "nacquire1.atm", "worker=5", "update", false, 0, true },
	{ "nacquire1.atm", "worker=7", "update", false, 0, false },
	{ "bluetooth-bug.atm", "add=1", "pnp_add", false, 0, true },
	{ "bluetooth-fixed.atm", "add=1", "pnp_add", false, 0, true },
};

static void load_row(const struct row *r, struct lang *l)
{
	char path[512], name[64];
	struct lang_threads t = { .name = name };
	struct lang_options lo = { .sml = -1, .threads = &t, .nthreads = r->threads ? 1 : 0 };
	snprintf(path, sizeof path, "%s/%s", examples, r->file);
	if (r->threads) {
		snprintf(name, sizeof name, "%.*s", (int)strcspn(r->threads, "="), r->threads);
		t.count = (uint32_t)atoi(strchr(r->threads, '=') + 1);
	}
	lang_init(l);
	CHECK(lang_load(l, path, &lo));
}

static void table_row(const struct row *r)
{
	struct lang l;
	struct program g;
	struct program_options po = { 0 };
	struct arena a;
	struct diags d;
	const char *limit;
	uint32_t count[16];
	struct verdict v;
	load_row(r, &l);
	arena_init(&a, 0);
	diags_init(&d, &a);
	CHECK(program_make(l.ir, &po, &a, &d, &g, &limit) == PROGRAM_OK);
	for (uint32_t t = 0; t < l.ir->ntemplates; t++)
		count[t] = l.ir->templates[t].count;
	for (uint32_t b = 0; b < l.ir->nblocks; b++) {
		if (strcmp(l.ir->blocks[b].name, r->block) != 0)
			continue;
		enum answer want = r->atomic ? ANSWER_HOLDS : ANSWER_VIOLATED;
		if (r->naive)
			CHECK_EQ(naive_red(&g, count, b, 400000, NULL), !r->atomic);
		ask(l.ir, b, CAUSAL_COVER, 0, &v);
		CHECK(v.answer == want);
		verdict_free(&v);
		ask(l.ir, b, CAUSAL_UNFOLD, 0, &v);
		CHECK(v.answer == want);
		if (r->events)
			CHECK_EQ(v.events, r->events);
		verdict_free(&v);
		ask_reduced(l.ir, &g, b, want, false);
	}
	if (check_failed)
		printf("# %s %s\n", r->file, r->threads ? r->threads : "");
	/* the starred rows: all blocks at once */
	ask(l.ir, VERDICT_PROGRAM, CAUSAL_COVER, 0, &v);
	CHECK(v.answer == (r->atomic ? ANSWER_HOLDS : ANSWER_VIOLATED));
	verdict_free(&v);
	ask(l.ir, VERDICT_PROGRAM, CAUSAL_UNFOLD, 0, &v);
	CHECK(v.answer == (r->atomic ? ANSWER_HOLDS : ANSWER_VIOLATED));
	CHECK(v.events > 0);
	verdict_free(&v);
	arena_free(&a);
	lang_free(&l);
}

static void test_table_1(void)
{
	for (size_t i = 0; i < sizeof table1 / sizeof *table1; i++)
		table_row(&table1[i]);
}

/* Any number of threads: proofs, and the least number that breaks it. */
static void test_any_number(void)
{
	static const struct {
		const char *file, *any, *block;
		bool atomic;
		uint32_t threads;
	} rows[] = {
		{ "acquire1-table.atm", "worker", "update", true, 0 },
		{ "acquire1-causal.atm", "worker", "update", true, 0 },
		{ "acquire2-causal.atm", "worker", "update", true, 0 },
		{ "nacquire1.atm", "worker", "update", false, 2 },
		{ "bluetooth-bug.atm", "add", "pnp_add", false, 2 },
		{ "bluetooth-fixed.atm", "add", "pnp_add", false, 2 },
		{ "lost-update.atm", "worker", "increment", false, 2 },
	};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		char path[512];
		struct lang_threads t = { .name = rows[i].any };
		struct lang_options lo = { .sml = -1, .threads = &t, .nthreads = 1 };
		struct lang l;
		struct verdict v, all;
		uint32_t sum = 0;
		snprintf(path, sizeof path, "%s/%s", examples, rows[i].file);
		lang_init(&l);
		CHECK(lang_load(&l, path, &lo));
		for (uint32_t b = 0; b < l.ir->nblocks; b++) {
			if (strcmp(l.ir->blocks[b].name, rows[i].block) != 0)
				continue;
			ask(l.ir, b, CAUSAL_COVER, 100000, &v);
			CHECK(v.answer == (rows[i].atomic ? ANSWER_HOLDS : ANSWER_VIOLATED));
			CHECK(v.states < 2000); /* milliseconds */
			for (uint32_t k = 0; v.causal && k < v.causal->ntemplates; k++)
				sum += v.causal->count[k];
			CHECK_EQ(sum, rows[i].threads);
			CHECK(!v.causal || v.causal->smallest);
			verdict_free(&v);
		}
		ask(l.ir, VERDICT_PROGRAM, CAUSAL_COVER, 100000, &all); /* Acquire1*, ... */
		CHECK(all.answer == (rows[i].atomic ? ANSWER_HOLDS : ANSWER_VIOLATED));
		if (check_failed)
			printf("# %s\n", rows[i].file);
		verdict_free(&all);
		lang_free(&l);
	}
}

int main(int argc, char **argv)
{
	if (argc > 1)
		examples = argv[1];
	RUN(test_table_1);
	RUN(test_any_number);
	RUN(test_engines_agree);
	return check_done();
}
