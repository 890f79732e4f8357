/*
 * ir: what a step is, on small models whose reachable states are known by
 * hand, and invariants on all of them.
 */
#include "check.h"
#include "naive.h"

static struct lang L;

static const struct ir *load(const char *text, bool keep_dead)
{
	struct lang_options o = { .keep_dead = keep_dead, .sml = 0 };
	lang_init(&L);
	if (!lang_load_text(&L, "test.atm", text, strlen(text), &o)) {
		struct buf b;
		buf_init(&b);
		diags_render(&L.diags, &b, false);
		printf("# %s\n", buf_cstr(&b));
		buf_free(&b);
		CHECK(0);
		return NULL;
	}
	return L.ir;
}

static const struct ir *load_sml(const char *text)
{
	struct lang_options o = { .sml = 1 };
	lang_init(&L);
	CHECK(lang_load_text(&L, "test.sml", text, strlen(text), &o));
	return L.ir;
}

static uint32_t slot_of(const struct ir *p, const char *name)
{
	for (uint32_t i = 0; i < p->nvars; i++)
		if (!strcmp(p->vars[i].name, name))
			return p->vars[i].slot;
	CHECK(false); /* no such variable */
	return 0;
}

/* The values of a variable (-8..55) over states where all threads finished. */
static uint64_t finals(const struct naive *x, const char *name)
{
	const struct ir *p = x->p;
	uint64_t set = 0;
	uint32_t slot = slot_of(p, name);
	for (uint32_t i = 0; i < x->n; i++) {
		const int32_t *s = x->states + (size_t)i * p->nstate;
		bool done = true;
		for (uint32_t t = 0; t < p->nthreads; t++)
			done &= p->nodes[ir_node_of(p, s, t)].kind == IRN_END;
		if (done && s[slot] >= -8 && s[slot] < 56)
			set |= (uint64_t)1 << (s[slot] + 8);
	}
	return set;
}
#define V(x) ((uint64_t)1 << ((x) + 8))

static struct naive X;
static const struct ir *explore(const char *text)
{
	const struct ir *p = load(text, false);
	if (p)
		naive_explore(&X, p, 1000000);
	return p;
}
static void done(void)
{
	naive_free(&X);
	lang_free(&L);
}

static uint32_t faults(enum ir_fault f)
{
	return X.faults[f];
}

static void test_increment_is_two_steps(void)
{
	explore("int x; thread a * 2 { x = x + 1; }");
	CHECK_EQ(finals(&X, "x"), V(1) | V(2));
	done();
	explore("int x; lock l; thread a * 2 { acquire(l); x = x + 1; release(l); }");
	CHECK_EQ(finals(&X, "x"), V(2));
	CHECK_EQ(X.deadlocks, 0);
	done();
	explore("int x; thread a * 2 { step { x = x + 1; } }");
	CHECK_EQ(finals(&X, "x"), V(2));
	done();
	explore("int x; thread a * 2 { fetch_add(x, 1); }");
	CHECK_EQ(finals(&X, "x"), V(2));
	done();
	explore("int x; thread a * 2 { x++; } thread b { x += 10; }");
	CHECK_EQ(finals(&X, "x"), V(1) | V(2) | V(10) | V(11) | V(12));
	done();
}

/* 3^n*4 + n*3^(n-1)*12 states, n transitions each: worked out by hand. */
static void test_acquire1_counts(void)
{
	static const char *text =
		"bool m; int[0..3] data;\n"
		"thread worker * %d { while (true) { atomic { while (!cas(m, false, true)) { }\n"
		"  data = (data + 1) %% 4; m = false; } } }\n";
	uint32_t pow3 = 1;
	for (uint32_t n = 1; n <= 6; n++) {
		char model[300];
		snprintf(model, sizeof model, text, n);
		explore(model);
		CHECK_EQ(X.n, pow3 * 3 * 4 + n * pow3 * 12);
		CHECK_EQ(X.transitions, (uint64_t)X.n * n);
		pow3 *= 3;
		done();
	}
}

static void test_order_of_evaluation(void)
{
	/* reads left to right, the write last */
	explore("int x = 1, y = 2, r; thread a { r = x * 10 + y; } thread b { x = 3; y = 4; }");
	/* (x,y) seen: (1,2) (1,4) (3,2)? no: x=3 comes before y=4, so y=2 with x=3 is (3,2) */
	CHECK_EQ(finals(&X, "r"), V(12) | V(14) | V(32) | V(34));
	done();
	explore("int x = 1, y = 2, r; thread a { r = x * 10 + y; } thread b { y = 4; x = 3; }");
	CHECK_EQ(finals(&X, "r"), V(12) | V(14) | V(34));
	done();
	/* x += y reads x first */
	explore("int x = 1, y = 2; thread a { x += y; } thread b { y = 4; x = 3; }");
	CHECK_EQ(finals(&X, "x"), V(3) | V(5) | V(7));
	done();
	/* short circuit: y is not read when x is false */
	explore("bool x, y, r; thread a { r = x && y; }");
	CHECK_EQ(X.n, 1 + 1 + 1); /* start, after reading x, after writing r */
	done();
}

static void test_faults(void)
{
	explore("int[0..3] x = 3; thread a { x = x + 1; }");
	CHECK_EQ(faults(IRF_RANGE), 1);
	done();
	explore("int x, y; thread a { y = 1 / x; }");
	CHECK_EQ(faults(IRF_DIVISION), 1);
	done();
	explore("int x = 2147483647, y; thread a { y = x + 1; }");
	CHECK_EQ(faults(IRF_OVERFLOW), 1);
	done();
	explore("int x = 32, y; thread a { y = 1 << x; }");
	CHECK_EQ(faults(IRF_SHIFT), 1);
	done();
	explore("int a[2]; int i = 2; thread t { a[i] = 1; }");
	CHECK_EQ(faults(IRF_INDEX), 1);
	done();
	explore("int x; thread t { int a[2]; a[x - 1] = 1; x = a[0]; }");
	CHECK_EQ(faults(IRF_INDEX), 1);
	done();
	explore("lock l; thread a { acquire(l); } thread b { release(l); }");
	CHECK_EQ(faults(IRF_RELEASE), 2); /* before and after the acquire */
	done();
	explore("int x; thread a { assert(x == 0); } thread b { x = 1; }");
	CHECK_EQ(faults(IRF_ASSERT), 1);
	done();
	explore("int x; thread a { atomic { x = 1; commit; x = 2; commit; } }");
	CHECK_EQ(faults(IRF_COMMIT), 1);
	done();
	explore("int x; thread a { int i = 1; while (i > 0) { i = i ^ 2; } x = i; }");
	CHECK_EQ(faults(IRF_LIMIT), 1);
	done();
	explore("int[0..7] x; thread a { x = fetch_add(x, -1); }");
	CHECK_EQ(faults(IRF_RANGE), 1);
	done();
	explore("int x; thread a { int[0..2] t = x + 3; x = t; }");
	CHECK_EQ(faults(IRF_RANGE), 1);
	done();
	explore("int[0..1] f(int[0..1] v) { return v + 1; } int x = 1; thread a { x = f(x); }");
	CHECK_EQ(faults(IRF_RANGE), 1);
	done();
}

static void test_waiting(void)
{
	/* assume with one read blocks */
	explore("bool go; int x; thread a { assume(go); x = 1; } thread b { go = true; }");
	CHECK_EQ(finals(&X, "x"), V(1));
	CHECK_EQ(X.deadlocks, 0);
	CHECK_EQ(X.n, 4); /* nothing, go, passed, x */
	done();
	/* with two it re-reads */
	explore("bool a1, b1; int x; thread a { assume(a1 && b1); x = 1; }"
	        "thread b { a1 = true; a1 = false; b1 = true; a1 = true; }");
	CHECK_EQ(finals(&X, "x"), V(1));
	CHECK_EQ(X.deadlocks, 0);
	done();
	/* a step waits as a whole */
	explore("int x, y; thread a { step { assume(x == 1); y = x; x = 5; } } thread b { x = 1; }");
	CHECK_EQ(finals(&X, "y"), V(1));
	CHECK_EQ(finals(&X, "x"), V(5));
	done();
	/* a false local assume is for ever; it prunes a choice made in the step */
	explore("int x; thread a { int t = any(0..3); assume(t != 2); x = t; }");
	CHECK_EQ(finals(&X, "x"), V(0) | V(1) | V(3));
	CHECK_EQ(X.deadlocks, 0);
	done();
	explore("int x; thread a { int t = x; assume(t == 1); x = 2; } thread b { x = 1; }");
	CHECK_EQ(finals(&X, "x"), V(2));
	CHECK_EQ(X.deadlocks, 1); /* it read 0 */
	done();
	explore("lock l; thread a { acquire(l); acquire(l); }");
	CHECK_EQ(X.deadlocks, 1);
	done();
	explore("bool m; thread a { assume(cas(m, false, true)); } thread b { m = true; m = false; }");
	CHECK_EQ(X.deadlocks, 0);
	done();
	/* a loop without shared accesses parks the thread */
	explore("int x; thread a { x = 1; while (true) { } } thread b { x = 2; }");
	CHECK_EQ(X.deadlocks, 2); /* x = 1 last, x = 2 last */
	done();
}

static void test_choices(void)
{
	explore("int x; thread a { either { x = 1; } or { x = 2; } or { x = 3; } }");
	CHECK_EQ(finals(&X, "x"), V(1) | V(2) | V(3));
	done();
	explore("int x; thread a { x = any(-1..2) * 10 + any(bool); }");
	CHECK_EQ(finals(&X, "x"), V(0) | V(1) | V(10) | V(11) | V(20) | V(21));
	done();
	explore("enum e { A, B, C } x; thread a { x = any(e); }");
	CHECK_EQ(finals(&X, "x"), V(0) | V(1) | V(2));
	done();
	explore("int x; thread a { repeat (2) { either { x = x + 1; } or { x = x + 5; } } }");
	CHECK_EQ(finals(&X, "x"), V(2) | V(6) | V(10));
	done();
}

static void test_control(void)
{
	explore("int x; thread a { int i = 0; while (true) { i++; if (i == 3) continue;"
	        " if (i > 5) break; x = x + i; } }");
	CHECK_EQ(finals(&X, "x"), V(1 + 2 + 4 + 5));
	done();
	explore("int f(int n) { if (n > 2) return n * 2; return n; } int x;"
	        " thread a { x = f(1) + f(5); }");
	CHECK_EQ(finals(&X, "x"), V(11));
	done();
	explore("int x; proc add(int a, int b) { x = a - b; } thread t { int a = 1; add(a + 5, a); }");
	CHECK_EQ(finals(&X, "x"), V(5));
	done();
	explore("int x; thread t { int i = 5; repeat (i) { x = x + 1; i = 0; } }");
	CHECK_EQ(finals(&X, "x"), V(5));
	done();
	explore("int x; thread t { int a[3] = { 4, 5 }; int i = 1; a[i + 1] = a[0] + a[i]; x = a[2]; }");
	CHECK_EQ(finals(&X, "x"), V(9));
	done();
	explore("int[5..9] x; int y; thread t { int[2..3] k; y = x + k; }");
	CHECK_EQ(finals(&X, "y"), V(7));
	done();
	explore("bool b; int n = 7; int x; thread t { b = n; x = b + 1; }");
	CHECK_EQ(finals(&X, "x"), V(2));
	done();
	/* return, break and continue leave the block they are in */
	explore("int x; proc p() { atomic { if (x == 0) return; x = 9; } } "
	        "thread t { while (true) { atomic { x = x + 1; if (x > 2) break; } } p(); }");
	CHECK_EQ(finals(&X, "x"), V(9));
	for (uint32_t i = 0; i < X.n; i++)
		if (X.p->nodes[ir_node_of(X.p, X.states + (size_t)i * X.p->nstate, 0)].kind == IRN_END)
			CHECK(ir_quiescent(X.p, X.states + (size_t)i * X.p->nstate));
	done();
}

static void test_blocks_and_commits(void)
{
	const struct ir *p = load("int x; thread t { atomic b { x = 1; commit; x = 2; } "
	                          "atomic c { x = 3; } atomic d { commit; x = 4; } }", false);
	int32_t s[16];
	struct ir_effect e = { 0 };
	memcpy(s, p->init, sizeof *s * p->nstate);
	static const struct {
		uint32_t entered, exited, committed;
	} want[] = {
		{ 0, IR_NONE, IR_NONE },       /* enter b */
		{ IR_NONE, IR_NONE, 0 },       /* x = 1 commits */
		{ IR_NONE, IR_NONE, IR_NONE }, /* x = 2 */
		{ IR_NONE, 0, IR_NONE },       /* leave b */
		{ 1, IR_NONE, IR_NONE },       /* enter c */
		{ IR_NONE, IR_NONE, IR_NONE }, /* x = 3 */
		{ IR_NONE, 1, IR_NONE },       /* leave c: inferred commit is not ours */
		{ 2, IR_NONE, 2 },             /* enter d commits at once */
		{ IR_NONE, IR_NONE, IR_NONE },
		{ IR_NONE, 2, IR_NONE },
	};
	for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
		CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
		CHECK_EQ(e.entered, want[i].entered);
		CHECK_EQ(e.exited, want[i].exited);
		CHECK_EQ(e.committed, want[i].committed);
	}
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_BLOCKED);
	lang_free(&L);
	/* a path that leaves without passing commit; commits at its exit */
	p = load("bool c; int x; thread t { atomic { if (c) { x = 1; commit; } } }", false);
	memcpy(s, p->init, sizeof *s * p->nstate);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(e.exited, 0);
	CHECK_EQ(e.committed, 0);
	lang_free(&L);
}

static void test_dead_locals_tell_nothing_apart(void)
{
	static const char *text = "int[0..7] x; thread a { int t = 0; while (true) { t = x; x = (t + 1) % 8; } }"
	                          "thread b { int[0..7] u = x; }";
	explore(text);
	uint32_t with = X.n;
	done();
	const struct ir *p = load(text, true);
	naive_explore(&X, p, 1000000);
	CHECK(X.n > with);
	/* clearing the dead ones gives the same set of states */
	struct naive y;
	memset(&y, 0, sizeof y);
	y.p = p;
	map_init(&y.by_hash);
	for (uint32_t i = 0; i < X.n; i++) {
		bool fresh;
		ir_clear_dead(p, X.states + (size_t)i * p->nstate);
		naive_add(&y, X.states + (size_t)i * p->nstate, &fresh);
	}
	CHECK_EQ(y.n, with);
	naive_free(&y);
	done();
}

static void test_safe_and_regular(void)
{
	static const char *text = "%s int[0..4] v = 1; int r = 9; "
	                          "thread w { v = 2; v = 3; } thread r1 { r = v; }";
	char model[200];
	snprintf(model, sizeof model, text, "regular");
	explore(model);
	CHECK_EQ(finals(&X, "r"), V(1) | V(2) | V(3));
	done();
	snprintf(model, sizeof model, text, "safe");
	explore(model);
	CHECK_EQ(finals(&X, "r"), V(0) | V(1) | V(2) | V(3) | V(4));
	done();
	snprintf(model, sizeof model, text, "");
	explore(model);
	CHECK_EQ(finals(&X, "r"), V(1) | V(2) | V(3));
	done();
	/* new-old inversion is possible on a regular register, not on a plain one */
	static const char *inv = "%s int[0..1] v; int a; int b; thread w { v = 1; } "
	                         "thread r1 { a = v; b = v; assert(!(a == 1 && b == 0)); }";
	snprintf(model, sizeof model, inv, "regular");
	explore(model);
	CHECK(faults(IRF_ASSERT) > 0);
	done();
	snprintf(model, sizeof model, inv, "");
	explore(model);
	CHECK_EQ(faults(IRF_ASSERT), 0);
	done();
	/* a read that no write overlaps is exact, also when one ran before */
	explore("safe int[0..3] v = 1; int r; thread a { v = 2; r = v; }");
	CHECK_EQ(finals(&X, "r"), V(2));
	done();
	/* a write that begins and ends within the read overlaps it */
	explore("safe bool v; bool saw; bool done1; thread r1 { saw = v; } thread w { v = true; done1 = true; }");
	CHECK_EQ(finals(&X, "saw"), V(0) | V(1));
	done();
	/* wide regular registers use several mask words */
	explore("regular int[0..99] v = 70; int[0..99] r; thread w { v = 31; v = 32; } thread q { r = v; }");
	uint64_t low = finals(&X, "r");
	CHECK_EQ(low, V(31) | V(32)); /* 70 lies outside the window of finals() */
	done();
}

static void test_objects(void)
{
	const struct ir *p = load("object R : register(bool) = true { bool v = true; "
	                          "void write(bool x) { v = x; } bool read() { return v; } }"
	                          "bool out; thread t { R.write(false); out = R.read(); }", false);
	int32_t s[16];
	struct ir_effect e = { 0 };
	memcpy(s, p->init, sizeof *s * p->nstate);
	CHECK_EQ(p->nobjects, 1);
	CHECK_EQ(p->objects[0].init, 1);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK); /* the argument's assignment, before the call */
	if (e.invoked == IR_NONE)
		CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(e.invoked, 0);
	CHECK_EQ(e.arg, 0);
	CHECK(p->opers[e.invoked].is_write);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK); /* v = x */
	CHECK_EQ(e.responded, IR_NONE);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(e.responded, 0);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(e.invoked, 1);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(ir_step(p, s, 0, NULL, s, &e), IR_OK);
	CHECK_EQ(e.responded, 1);
	CHECK_EQ(e.result, 0);
	lang_free(&L);
}

static void test_sml_statement_is_a_step(void)
{
	const struct ir *p = load_sml("int Y; Y := Y + 1 || Y := Y + 1 || x := Y - 2");
	naive_explore(&X, p, 10000);
	CHECK_EQ(finals(&X, "Y"), V(2));
	CHECK_EQ(X.n, 2 * 2 * 2);
	done();
	p = load_sml("int Y; lock l; begin acquire(l); Y := 5; Y := 3; release(l) end || "
	             "while (Y < 4) { skip }");
	naive_explore(&X, p, 10000);
	CHECK_EQ(X.deadlocks, 0);
	done();
}

static void test_events_match_footprint(void)
{
	explore("int x; int a[3]; lock l; thread t * 2 { acquire(l); step { a[x % 3] = x; x = (x + 1) % 4; }"
	        " if (cas(x, 2, 0)) { exchange(a[1], 7); } release(l); }");
	const struct ir *p = X.p;
	struct ir_event ev[IR_MAX_EVENTS];
	struct ir_effect e = { .events = ev };
	int32_t out[64];
	int bad = 0;
	for (uint32_t i = 0; i < X.n; i++)
		for (uint32_t t = 0; t < p->nthreads; t++) {
			const int32_t *s = X.states + (size_t)i * p->nstate;
			const struct ir_node *n = &p->nodes[ir_node_of(p, s, t)];
			if (ir_step(p, s, t, NULL, out, &e) != IR_OK)
				continue;
			for (uint32_t k = 0; k < e.nevents; k++) {
				bool found = false;
				for (uint32_t j = 0; j < n->naccess; j++) {
					const struct ir_access *acc = &p->accesses[n->access + j];
					found |= acc->ins == ev[k].ins && acc->var == ev[k].var &&
					         (acc->mode & ev[k].mode) == ev[k].mode;
				}
				bad += !found;
			}
		}
	CHECK_EQ(bad, 0);
	done();
}

int main(void)
{
	RUN(test_increment_is_two_steps);
	RUN(test_acquire1_counts);
	RUN(test_order_of_evaluation);
	RUN(test_faults);
	RUN(test_waiting);
	RUN(test_choices);
	RUN(test_control);
	RUN(test_blocks_and_commits);
	RUN(test_dead_locals_tell_nothing_apart);
	RUN(test_safe_and_regular);
	RUN(test_objects);
	RUN(test_sml_statement_is_a_step);
	RUN(test_events_match_footprint);
	return check_done();
}
