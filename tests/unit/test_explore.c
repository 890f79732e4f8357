/*
 * explore: commit and exact atomicity against a judge that follows the
 * definition word by word, on random models that end.
 *
 * The judge walks every interleaving. At each quiescent state it tries every
 * serial execution of the same block instances: events are replayed in order
 * on one serial state, and before each of them any block that is inside and
 * has not taken effect may be run to its end.
 *
 * INTACT_SOAK=N checks N models (default 300), INTACT_SEED=S starts at S.
 */
#include "check.h"

#include "explore/commit.h"
#include "explore/exact.h"
#include "genmodel.h"
#include "lang/lang.h"

/* ---- the judge ---------------------------------------------------------- */

enum { MAX_EVENTS = 64, MAX_STATE = 64 };

struct event {
	uint32_t thread, from, to;
};

struct judge {
	const struct ir *p;
	uint32_t block;
	struct event ev[MAX_EVENTS];
	uint32_t nev;
	bool violated;
	uint64_t nodes; /* of the walk, bounded */
	bool gave_up;
};

static bool marked(const struct judge *j, uint32_t node)
{
	uint32_t b = j->p->nodes[node].block;
	return b != IR_NONE && (j->block == PROD_BLOCK_ALL || j->block == b);
}

struct serial {
	struct judge *j;
	const int32_t *goal;
	int32_t state[MAX_STATE];
	uint8_t status[16]; /* 0 outside, 1 waiting, 2 effective */
	uint32_t at;        /* next event */
	bool found;
};

static void serial_go(struct serial *s);

struct serial_visit {
	struct serial *s;
	uint32_t thread;
	int mode; /* 0: an outside event, 1: inside a block being run */
	uint32_t depth;
};

static void serial_block(struct serial *s, uint32_t thread, uint32_t depth);

static bool serial_step(void *arg, enum ir_result r, const int32_t *next,
                        const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct serial_visit *v = arg;
	struct serial *s = v->s, copy = *s;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	memcpy(s->state, next, sizeof *next * s->j->p->nstate);
	bool in = marked(s->j, ir_node_of(s->j->p, next, v->thread));
	if (v->mode == 0) {
		if (!in) {
			s->at++;
			serial_go(s);
		}
	} else if (in) {
		serial_block(s, v->thread, v->depth + 1);
	} else {
		s->status[v->thread] = 2;
		serial_go(s);
	}
	bool found = s->found;
	*s = copy;
	s->found = found;
	return !found;
}

/* Runs the thread's block on from where it is, alone. */
static void serial_block(struct serial *s, uint32_t thread, uint32_t depth)
{
	int32_t scratch[MAX_STATE], state[MAX_STATE];
	struct serial_visit v = { s, thread, 1, depth };
	if (depth > 40)
		return; /* the generator makes no loops: never so deep */
	memcpy(state, s->state, sizeof state);
	ir_successors(s->j->p, state, thread, scratch, serial_step, &v);
}

static void serial_go(struct serial *s)
{
	const struct ir *p = s->j->p;
	if (s->found || ++s->j->nodes > 60000) {
		s->j->gave_up |= !s->found;
		return;
	}
	if (s->at == s->j->nev) {
		s->found = !memcmp(s->state, s->goal, sizeof *s->goal * p->nstate);
		return;
	}
	for (uint32_t t = 0; t < p->nthreads && !s->found; t++)
		if (s->status[t] == 1)
			serial_block(s, t, 0);
	if (s->found)
		return;
	const struct event *e = &s->j->ev[s->at];
	bool was = marked(s->j, e->from), in = marked(s->j, e->to);
	struct serial copy = *s;
	if (was && in) {
		s->at++;
		serial_go(s);
	} else if (!was && in) {
		const struct ir_node *n = &p->nodes[ir_node_of(p, s->state, e->thread)];
		if (n->kind == IRN_ENTER && (uint32_t)p->code[n->ins + 1].a == p->nodes[e->to].block) {
			s->status[e->thread] = 1;
			s->at++;
			serial_go(s);
		}
	} else if (was && !in) {
		if (s->status[e->thread] == 2) {
			s->status[e->thread] = 0;
			s->at++;
			serial_go(s);
		}
	} else {
		int32_t scratch[MAX_STATE], state[MAX_STATE];
		struct serial_visit v = { s, e->thread, 0, 0 };
		memcpy(state, s->state, sizeof state);
		ir_successors(p, state, e->thread, scratch, serial_step, &v);
	}
	bool found = s->found;
	*s = copy;
	s->found = found;
}

static void judge_walk(struct judge *j, const int32_t *state);

struct walk_visit {
	struct judge *j;
	uint32_t thread, from;
};

static bool walk_step(void *arg, enum ir_result r, const int32_t *next,
                      const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct walk_visit *v = arg;
	struct judge *j = v->j;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	int32_t copy[MAX_STATE];
	memcpy(copy, next, sizeof *next * j->p->nstate);
	j->ev[j->nev++] = (struct event){ v->thread, v->from, ir_node_of(j->p, next, v->thread) };
	judge_walk(j, copy);
	j->nev--;
	return !j->violated && !j->gave_up;
}

static void judge_walk(struct judge *j, const int32_t *state)
{
	const struct ir *p = j->p;
	if (++j->nodes > 60000 || j->nev >= MAX_EVENTS - 1) {
		j->gave_up = true;
		return;
	}
	bool quiet = true;
	for (uint32_t t = 0; t < p->nthreads; t++)
		quiet &= !marked(j, ir_node_of(p, state, t));
	if (quiet) {
		struct serial s = { .j = j, .goal = state };
		memcpy(s.state, p->init, sizeof *p->init * p->nstate);
		serial_go(&s);
		if (!s.found && !j->gave_up) {
			j->violated = true;
			return;
		}
	}
	for (uint32_t t = 0; t < p->nthreads && !j->violated && !j->gave_up; t++) {
		int32_t scratch[MAX_STATE];
		struct walk_visit v = { j, t, ir_node_of(p, state, t) };
		ir_successors(p, state, t, scratch, walk_step, &v);
	}
}

/* 1 atomic, 0 not, -1 too large to tell */
static int judge(const struct ir *p, uint32_t block)
{
	struct judge j = { .p = p, .block = block };
	if (p->nstate > MAX_STATE || p->nthreads > 16)
		return -1;
	judge_walk(&j, p->init);
	return j.violated ? 0 : j.gave_up ? -1 : 1;
}

/* ---- the comparison ----------------------------------------------------- */

static struct {
	unsigned models, questions, atomic, violated, skipped, commit_yes, commit_none;
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

/* A violating path must be refused by exact_explains. */
static bool real_violation(const struct ir *p, uint32_t block, const struct search_result *r)
{
	return r->npath && exact_explains(p, block, r->path, r->npath) == 0;
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
	int truth = judge(p, block);
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true };
	struct search_result e;
	struct commit_result c;
	exact_run(p, block, &o, &e);
	count.questions++;
	count.skipped += truth < 0;
	count.atomic += truth == 1;
	count.violated += truth == 0;
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
	gen_model(&b, seed, seed % 3 == 0, seed % 2 == 0);
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
	uint64_t n = getenv("INTACT_SOAK") ? strtoull(getenv("INTACT_SOAK"), NULL, 10) : 300;
	uint64_t seed = getenv("INTACT_SEED") ? strtoull(getenv("INTACT_SEED"), NULL, 10) : 1;
	for (uint64_t i = 0; i < n && check_failed < 3; i++)
		compare_model(seed + i);
	printf("# seeds %llu..%llu: %u models, %u questions: %u atomic, %u violated, %u beyond the judge; "
	       "%u with commit points, %u without\n",
	       (unsigned long long)seed, (unsigned long long)(seed + n - 1), count.models,
	       count.questions, count.atomic, count.violated, count.skipped, count.commit_yes,
	       count.commit_none);
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
