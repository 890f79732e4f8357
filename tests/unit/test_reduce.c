/*
 * reduce: every mover rule with a model where it applies and a twin where it
 * must not (there the exact engine finds a violation), the words of a misfit,
 * and random models: what reduction proves, exact never contradicts.
 *
 * INTACT_SOAK=N checks N models (default 700), INTACT_SEED=S starts at S.
 */
#include "check.h"

#include "causal/causal.h"
#include "explore/commit.h"
#include "explore/exact.h"
#include "gensync.h"
#include "genmodel.h"
#include "lang/lang.h"
#include "reduce/reduce.h"

static bool load(struct lang *l, const char *text, const char *name, uint32_t count)
{
	struct lang_threads t = { .name = name, .count = count };
	struct lang_options o = { .sml = 0, .threads = &t, .nthreads = name ? 1 : 0 };
	lang_init(l);
	return lang_load_text(l, "t.atm", text, strlen(text), &o);
}

static enum search_verdict exact(const struct ir *p, uint32_t block)
{
	struct search_options o = { .symmetry = true, .merge_local = true, .drop_pure = true,
		                    .max_states = 8000, .max_bytes = 256u << 20 };
	struct search_result r;
	exact_run(p, block, &o, &r);
	enum search_verdict v = r.verdict;
	search_result_free(&r);
	return v;
}

/* ---- a rule and its twin ------------------------------------------------ */

struct rule {
	const char *name, *text;
	bool reducible; /* the program's blocks, all of them */
	bool any;       /* whatever the numbers of threads */
	bool atomic;    /* says the exact engine */
};

#define INC "x = (x + 1) % 3; "

static const struct rule rules[] = {
	{ "a common lock", "lock l; int[0..2] x; thread t * 2 { atomic b { acquire(l); " INC "release(l); } }",
	  true, true, true },
	{ "no common lock", "lock l; lock k; int[0..2] x; thread t * 2 { atomic b { acquire(l); " INC "release(l); } }\n"
	  "thread u { acquire(k); x = 2; release(k); }", false, false, false },
	{ "a lock in common pair by pair",
	  "lock l; lock k; int[0..2] x; int[0..2] z; thread r * 2 { atomic b { acquire(l); z = x; z = (z + x) % 3; release(l); } }\n"
	  "thread s { atomic c { acquire(k); int[0..2] q = x; q = (q + x) % 3; release(k); } }\n"
	  "thread w { atomic d { acquire(l); acquire(k); " INC "release(k); release(l); } }", true, true, true },
	{ "a write that one reader's lock does not cover",
	  "lock l; lock k; int[0..2] x; int[0..2] z; thread r { atomic b { acquire(l); z = x; z = (z + x) % 3; release(l); } }\n"
	  "thread w { acquire(k); " INC "release(k); }", false, false, false },
	{ "reads conflict with writes only", "int[0..2] x = 1; int[0..2] z; thread t * 2 { atomic b { int[0..2] q = x; q = x + q - 1; fetch_add(z, q - 1); } }",
	  true, true, true },
	{ "a reader beside a writer", "int[0..2] x = 1; int[0..2] z; thread t { atomic b { int[0..2] q = x; q = (x + q) % 3; z = q; } }\n"
	  "thread w { x = 0; }", false, false, false },
	{ "confined to its thread", "int[0..2] x; thread t { atomic b { " INC INC "} }\nthread u * 2 { skip; }", true, false, true },
	{ "two threads of the confined kind", "int[0..2] x; thread t * 2 { atomic b { " INC INC "} }", false, false, false },
	{ "different elements", "int[0..2] a[2]; thread t { atomic b { a[0] = (a[0] + 1) % 3; a[0] = (a[0] + 1) % 3; } }\n"
	  "thread u { atomic c { a[1] = (a[1] + 1) % 3; a[1] = (a[1] + 1) % 3; } }", true, false, true },
	{ "an element that may be the same", "int[0..2] a[2]; thread t { atomic b { a[0] = (a[0] + 1) % 3; a[0] = (a[0] + 1) % 3; } }\n"
	  "thread u { int[0..1] i = any(0..1); a[i] = 2; }", false, false, false },
	{ "one non-mover, and no more", "int[0..2] x; lock l; int[0..2] y; thread t * 2 { atomic b { acquire(l); y = (y + 1) % 3; x = 2; release(l); } }\n"
	  "thread u { x = 1; }", true, true, true },
	{ "cas is one access", "int[0..2] x; thread t * 2 { atomic b { if (cas(x, 0, 1)) { skip; } } }", true, true, true },
	{ "two cas are two", "int[0..2] x; int[0..2] y; thread t * 2 { atomic b { if (cas(x, 0, 1)) { if (!cas(x, 1, 0)) { y = 1; } } else { y = 2; } } }", false, false, false },
	{ "a step is one", "int[0..2] x; int[0..2] y; thread t * 2 { atomic b { step { " INC "y = x; } } }", true, true, true },
	{ "the same without the step", "int[0..2] x; int[0..2] y; thread t * 2 { atomic b { " INC "y = x; } }", false, false, false },
	{ "taking behind freeing", "lock l; int[0..2] x; thread t * 2 { atomic b { acquire(l); int[0..2] q = x; release(l); acquire(l); x = (q + 1) % 3; release(l); } }",
	  false, false, false },
	{ "freeing twice", "lock l; lock k; int[0..2] x; thread t * 2 { atomic b { acquire(l); acquire(k); " INC "release(k); release(l); } }", true, true, true },
	{ "waiting under the lock", "lock l; int[0..2] x; thread t * 2 { atomic b { acquire(l); assume(x < 2); " INC "release(l); } }", true, true, true },
	{ "waiting for what others change", "int[0..2] x; int[0..2] y; thread t * 2 { atomic b { assume(x == 0); x = 1; y = (y + 1) % 3; x = 0; } }", false, false, false },
	{ "a pure wait, then one access", "bool f; int[0..2] x; thread t { atomic b { while (!f) { } } x = 1; }\nthread u { f = true; }", true, true, true },
	{ "a wait that counts", "bool f; int[0..2] x; thread t { atomic b { int[0..2] k = 0; while (!f) { k = 1; } x = k; } }\nthread u { f = true; }", false, false, false },
	{ "safe variables: two steps each", "safe bool s; thread t { atomic b { s = true; } }\nthread u { bool q = s; }", false, false, true },
	{ "safe variables under a lock", "safe bool s; lock l; thread t { atomic b { acquire(l); s = true; release(l); } }\n"
	  "thread u { atomic c { acquire(l); bool q = s; release(l); } }", true, true, true },
	{ "a safe variable without the lock", "safe bool s; bool z; bool y; lock l; thread t { atomic b { acquire(l); s = true; s = false; release(l); } }\n"
	  "thread u { atomic c { bool q = s; z = q; } }", false, false, false },
	{ "an array of locks, freed by an unknown index",
	  "lock l[2]; int[0..2] x; thread t * 2 { int[0..1] i = any(0..1); acquire(l[0]); acquire(l[1]); atomic b { " INC "} release(l[i]); release(l[1 - i]); }",
	  true, true, true },
	{ "taken by an unknown index",
	  "lock l[2]; int[0..2] x; thread t * 2 { int[0..1] i = any(0..1); acquire(l[i]); atomic b { " INC "} release(l[i]); }",
	  false, false, false },
	{ "one way in without the lock", "lock l; int[0..2] x; thread t * 2 { bool q = any(bool); if (q) { acquire(l); } atomic b { " INC "} if (q) { release(l); } }",
	  false, false, false },
	{ "taken on both ways", "lock l; int[0..2] x; thread t * 2 { bool q = any(bool); if (q) { acquire(l); } else { acquire(l); } atomic b { " INC "} release(l); }",
	  true, true, true },
	/* locks coded by hand */
	{ "by cas", "bool m; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }", true, true, true },
	{ "by exchange", "bool m; int[0..2] x; thread t * 2 { atomic b { while (exchange(m, true)) { } " INC "m = false; } }", true, true, true },
	{ "by test-and-set in one step", "bool m; int[0..2] x; thread t * 2 { atomic b { step { assume(!m); m = true; } " INC "m = false; } }", true, true, true },
	{ "by test and test-and-set", "bool m; int[0..2] x; thread t * 2 { atomic b { while (exchange(m, true)) { while (m) { } } " INC "m = false; } }", true, true, true },
	{ "by test and compare-and-swap", "bool m; int[0..2] x; thread t * 2 { atomic b { while (true) { while (m) { } if (cas(m, false, true)) { break; } } " INC "m = false; } }", true, true, true },
	{ "a look at it before waiting", "bool m; int[0..2] x; thread t * 2 { atomic b { if (m) { } while (!cas(m, false, true)) { } " INC "m = false; } }", true, true, true },
	{ "waiting that is remembered", "bool m; int[0..2] x; int[0..2] y; thread t * 2 { atomic b { int[0..2] q = 0; while (exchange(m, true)) { while (m) { q = 1; } } " INC "y = q; m = false; } }",
	  false, false, false },
	{ "waiting that ends in another place", "bool m; int[0..2] x; int[0..2] y; thread t * 2 { atomic b { if (m) { while (!cas(m, false, true)) { } y = 1; } else { while (!cas(m, false, true)) { } y = 2; } "
	  INC "m = false; } }", false, false, false },
	{ "waiting that looks at another variable", "bool m; int[0..2] x; int[0..1] y; thread t * 2 { atomic b { int[0..1] q = 0; while (true) { if (y == 1) { q = 1; } while (m) { } if (cas(m, false, true)) { break; } } "
	  INC "x = (x + q) % 3; y = 1 - y; m = false; } }", false, false, false },
	{ "a waiting loop outside", "bool m; int[0..2] x; thread t { atomic b { while (exchange(m, true)) { while (m) { } } " INC "m = false; } }\n"
	  "thread u { while (exchange(m, true)) { while (m) { } } x = (2 * x) % 3; m = false; }", false, false, false },
	{ "waiting that may fail", "bool m; int[0..2] x; thread t * 2 { atomic b { while (exchange(m, true)) { while (m) { assert(x < 2); } } " INC "m = false; } }", false, false, true },
	{ "by an int of two values", "int[0..1] m; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, 0, 1)) { } " INC "m = 0; } }", true, true, true },
	{ "a variable between", "bool m; int[0..2] x; thread t * 2 { atomic b { bool got = false; while (!got) { got = cas(m, false, true); } " INC "m = false; } }", true, true, true },
	{ "freed by who does not hold it", "bool m; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
	  "thread u { m = false; }", false, false, false },
	{ "freed on the way that failed", "bool m; int[0..2] x; thread t * 2 { atomic b { bool got = cas(m, false, true); " INC "m = false; } }", false, false, false },
	{ "taken at the start", "bool m = true; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
	  "thread u { m = false; x = 2; }", false, false, false },
	{ "taken by test and set in two steps", "bool m; int[0..2] x; thread t * 2 { atomic b { assume(!m); m = true; " INC "m = false; } }", false, false, false },
	{ "a try that is heeded", "bool m; int[0..2] x; int[0..2] y; thread t * 2 { atomic b { if (cas(m, false, true)) { " INC "m = false; } else { y = 1; } } }",
	  false, false, false },
	{ "somebody looks", "bool m; int[0..2] x; bool z; thread t { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\nthread u { bool q = m; z = q; }",
	  false, false, false },
	{ "a try in vain outside", "bool m; int[0..2] x; thread t { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
	  "thread u { while (!cas(m, false, true)) { } x = (2 * x) % 3; m = false; }", false, false, false },
	{ "a try in vain inside another block", "bool m; int[0..2] x; thread t { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
	  "thread u { atomic c { while (!cas(m, false, true)) { } x = (2 * x) % 3; m = false; } }", true, true, true },
	{ "the critical section alone", "bool m; int[0..2] x; thread t * 2 { while (!cas(m, false, true)) { } atomic b { " INC "} m = false; }", true, true, true },
	{ "the critical section with a hole", "bool m; int[0..2] x; thread t * 2 { while (!cas(m, false, true)) { } atomic b { int[0..2] q = x; m = false; x = (q + 1) % 3; } }",
	  false, false, false },
	{ "two locks by hand", "bool m; bool k; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, false, true)) { } while (!cas(k, false, true)) { } " INC "k = false; m = false; } }",
	  true, true, true },
	{ "one lock guards the other's freeing, wrongly",
	  "bool m; bool k; int[0..2] x; thread t * 2 { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
	  "thread u { while (!cas(k, false, true)) { } m = false; k = false; }", false, false, false },
};

static void test_rules(void)
{
	for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
		const struct rule *u = &rules[i];
		struct lang l;
		if (!load(&l, u->text, NULL, 0)) {
			printf("# %s: does not load\n", u->name);
			check_failed++;
			lang_free(&l);
			continue;
		}
		struct reduce_result r;
		reduce_run(l.ir, &r);
		enum search_verdict e = exact(l.ir, PROD_BLOCK_ALL);
		if (r.all != u->reducible || r.all_any != u->any ||
		    e != (u->atomic ? SEARCH_HOLDS : SEARCH_WRONG)) {
			printf("# %s: reducible %d (any %d), exact %d\n", u->name, r.all, r.all_any, e);
			for (uint32_t b = 0; b < r.nblocks; b++)
				printf("#   %s\n", r.blocks[b].part_why ? r.blocks[b].part_why : "-");
			check_failed++;
		}
		reduce_result_free(&r);
		lang_free(&l);
	}
}

/* ---- alone, and as a part ----------------------------------------------- */

static void test_alone_and_as_a_part(void)
{
	static const char *text =
		"bool m; int[0..2] x; thread t { atomic b { while (!cas(m, false, true)) { } " INC "m = false; } }\n"
		"thread u { atomic c { while (!cas(m, false, true)) { } x = (2 * x) % 3; m = false; } }";
	struct lang l;
	struct reduce_result r;
	CHECK(load(&l, text, NULL, 0));
	reduce_run(l.ir, &r);
	CHECK(r.blocks[0].part && r.blocks[1].part);
	CHECK(!r.blocks[0].reducible && !r.blocks[1].reducible);
	CHECK(strstr(r.blocks[0].why, "outside this block") != NULL);
	CHECK_EQ(exact(l.ir, PROD_BLOCK_ALL), SEARCH_HOLDS);
	CHECK_EQ(exact(l.ir, 0), SEARCH_WRONG);
	reduce_result_free(&r);
	lang_free(&l);
}

/* ---- faults ------------------------------------------------------------- */

static void test_faults(void)
{
	static const struct { const char *text; bool free; } cases[] = {
		{ "int x; thread t * 2 { while (true) { x = (x + 1) % 4; } }", true },
		{ "int x; thread t * 2 { while (true) { x = x + 1; } }", false },
		{ "int[0..3] x; thread t { x = any(0..3); }", true },
		{ "int[0..3] x; thread t { x = any(0..4); }", false },
		{ "int[0..3] x[2]; thread t { int[0..1] i = any(0..1); x[i] = 1; }", true },
		{ "int[0..3] x[2]; thread t { int[0..2] i = any(0..2); x[i] = 1; }", false },
		{ "int[0..3] x = 1; thread t { x = 6 / (x + 1) % 4; }", true },
		{ "int[0..3] x = 1; thread t { x = 6 / x % 4; }", false },
		{ "lock l; thread t { acquire(l); release(l); }", true },
		{ "lock l; thread t { if (any(bool)) { acquire(l); } release(l); }", false },
		{ "int x; thread t { x = 1; assert(x == 1); }", false },
		{ "thread t { int x = 1; assert(x == 1); }", true },
		{ "int[0..2] x; thread t { atomic b { x = 1; commit; } atomic c { x = 2; commit; } }", true },
		{ "int[0..2] x; thread t { atomic b { while (x == 0) { x = 1; commit; } } }", false },
		{ "int[0..31] x; thread t * 2 { x = (x << 1) & 31; }", true },
		{ "int[0..31] x; thread t * 2 { x = 1 << x; }", false },
		{ "int[-3..3] x = -3; thread t * 2 { x = -x; }", true },
		{ "int[-3..2] x = -3; thread t * 2 { x = -x; }", false },
		{ "int x; thread t * 2 { fetch_add(x, 1); }", false },
		{ "safe int[0..3] x; thread t * 2 { x = (x + 1) % 4; }", true },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lang l;
		struct reduce_result r;
		bool ok = load(&l, cases[i].text, NULL, 0);
		CHECK(ok);
		if (ok) {
			reduce_run(l.ir, &r);
			if (r.fault_free != cases[i].free) {
				printf("# %s: %s\n", cases[i].text, r.fault_free ? "no fault" : "perhaps one");
				check_failed++;
			}
			reduce_result_free(&r);
		}
		lang_free(&l);
	}
}

/* ---- words -------------------------------------------------------------- */

static void expect_why(const char *text, const char *why)
{
	struct lang l;
	struct reduce_result r;
	CHECK(load(&l, text, NULL, 0));
	reduce_run(l.ir, &r);
	CHECK_STR(r.blocks[0].why ? r.blocks[0].why : "reducible", why);
	reduce_result_free(&r);
	lang_free(&l);
}

static void test_words(void)
{
	expect_why("lock l;\nint[0..2] data;\nthread t * 2 { atomic b {\n  acquire(l);\n  data = data;\n  release(l); } }\n"
	           "thread u {\n  data = 1; }",
	           "second non-mover at 5:3 (write data): data is written at 8:3 without lock l; "
	           "the first is at 5:10 (read data): data is written at 8:3 without lock l");
	expect_why("lock l;\nint[0..2] x;\nthread t * 2 { atomic b {\n  acquire(l);\n  release(l);\n  acquire(l);\n  release(l); } }",
	           "right-mover at 6:3 (acquire l) after the left-mover at 5:3 (release l)");
	expect_why("lock l; lock k;\nint[0..2] x;\nthread t * 2 { atomic b {\n  acquire(l);\n  x = x;\n  release(l); } }\n"
	           "thread u {\n  acquire(k);\n  x = 1;\n  release(k); }",
	           "second non-mover at 5:3 (write x): x is written at 9:3 under lock k, here under lock l; "
	           "the first is at 5:7 (read x): x is written at 9:3 under lock k, here under lock l");
	expect_why("int[0..2] x;\nthread t * 2 {\n  atomic b { while (any(bool)) { fetch_add(x, 1); } } }",
	           "the non-mover at 3:34 (update x) is repeated in a later iteration of its loop: "
	           "x is updated here by other threads too, without a lock");
}

/* ---- random models ------------------------------------------------------ */

static struct {
	unsigned models, questions, proved, refuted, open, many, fault_free, faulty,
		causal, causal_too;
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

static enum answer causal(const struct ir *p, uint32_t block)
{
	struct causal_options o = { .engine = CAUSAL_PICK, .max_states = 20000, .max_bytes = 256u << 20 };
	struct arena a;
	struct diags d;
	struct verdict v;
	arena_init(&a, 0);
	diags_init(&d, &a);
	causal_check(p, block, &o, &d, &v, NULL);
	enum answer answer = v.answer;
	verdict_free(&v);
	arena_free(&a);
	return answer;
}

static void ask(const struct ir *p, uint32_t block, bool proved, uint64_t seed, const char *text)
{
	enum search_verdict e = exact(p, block);
	enum answer c = causal(p, block);
	count.causal += c == ANSWER_HOLDS;
	if (c == ANSWER_HOLDS && e == SEARCH_WRONG)
		complain(seed, text, "causally atomic, but exact has a counterexample");
	/* A block that reduces by locks of the language alone is causally atomic:
	 * a chain that leaves it and comes back would leave behind a left-mover
	 * or the non-mover, and come back to a right-mover or the non-mover.
	 * Tries of a lock coded by hand, and waiting, are chains. */
	bool by_hand = strstr(text, "m0, false, true") || strstr(text, "m1, false, true") || strstr(text, "exchange(m") ||
	               strstr(text, "assume(!m") || strstr(text, "while (x0");
	if (proved && !by_hand) {
		count.causal_too += c == ANSWER_HOLDS;
		if (c == ANSWER_VIOLATED)
			complain(seed, text, "reducible, but not causally atomic");
	}
	count.questions++;
	count.proved += proved;
	count.refuted += e == SEARCH_WRONG;
	count.open += e != SEARCH_WRONG && e != SEARCH_HOLDS;
	if (proved && e == SEARCH_WRONG)
		complain(seed, text, block == PROD_BLOCK_ALL ? "reducible, but not serializable"
		                                             : "reducible, but not atomic");
}

/* What is claimed for any number of threads is asked with one more of each. */
static void ask_many(const char *text, const struct ir *p, const struct reduce_result *r, uint64_t seed)
{
	char more[8192];
	size_t n = 0;
	if (!r->all_any || p->ntemplates > 2 || strlen(text) > sizeof more - 64)
		return;
	for (const char *s = text; *s; s++) {
		if (!strncmp(s, " * 1 {", 6)) {
			memcpy(more + n, " * 2 {", 6);
			n += 6;
			s += 5;
		} else if (!strncmp(s, " * 2 {", 6) && p->ntemplates == 1) {
			memcpy(more + n, " * 3 {", 6);
			n += 6;
			s += 5;
		} else {
			more[n++] = *s;
		}
	}
	more[n] = 0;
	struct lang l;
	if (load(&l, more, NULL, 0)) {
		count.many++;
		ask(l.ir, PROD_BLOCK_ALL, true, seed, more);
	}
	lang_free(&l);
}

/* Where no fault is possible, none is found. */
static void ask_faults(const struct ir *p, const struct reduce_result *r, uint64_t seed, const char *text)
{
	struct search_options o = { .symmetry = true, .faults = true, .max_states = 60000 };
	struct search_result s;
	search_run(p, PROD_STANDARD, PROD_BLOCK_ALL, NULL, &o, &s);
	count.fault_free += r->fault_free;
	count.faulty += s.verdict == SEARCH_FAULT;
	if (r->fault_free && s.verdict == SEARCH_FAULT)
		complain(seed, text, "a fault that was excluded");
	search_result_free(&s);
}

static void compare_model(uint64_t seed)
{
	struct buf b;
	struct lang l;
	struct reduce_result r;
	buf_init(&b);
	if (seed % 10 == 3)
		gen_heap(&b, seed);
	else if (seed % 5 == 4)
		gen_model(&b, seed, seed % 3 == 0, seed % 2 == 0);
	else
		gen_sync(&b, seed);
	count.models++;
	if (!load(&l, buf_cstr(&b), NULL, 0)) {
		complain(seed, buf_cstr(&b), "does not load");
	} else {
		reduce_run(l.ir, &r);
		ask(l.ir, PROD_BLOCK_ALL, r.all, seed, buf_cstr(&b));
		for (uint32_t i = 0; i < l.ir->nblocks; i++) {
			if (r.blocks[i].any && !r.blocks[i].reducible)
				complain(seed, buf_cstr(&b), "proved for any number, not for the declared one");
			if (r.blocks[i].reducible && !r.blocks[i].part)
				complain(seed, buf_cstr(&b), "reducible alone, not as a part");
			ask(l.ir, i, r.blocks[i].reducible, seed, buf_cstr(&b));
		}
		ask_many(buf_cstr(&b), l.ir, &r, seed);
		ask_faults(l.ir, &r, seed, buf_cstr(&b));
		reduce_result_free(&r);
	}
	lang_free(&l);
	buf_free(&b);
}

static void test_random_models(void)
{
	uint64_t n = getenv("INTACT_SOAK") ? strtoull(getenv("INTACT_SOAK"), NULL, 10) : 700;
	uint64_t seed = getenv("INTACT_SEED") ? strtoull(getenv("INTACT_SEED"), NULL, 10) : 1;
	for (uint64_t i = 0; i < n && check_failed < 3; i++)
		compare_model(seed + i);
	printf("# seeds %llu..%llu: %u models, %u questions: %u reduce, %u violated, %u too large; "
	       "%u with more threads; %u models without faults, %u with; "
	       "%u causally atomic, %u of those that reduce without locks coded by hand\n",
	       (unsigned long long)seed, (unsigned long long)(seed + n - 1), count.models,
	       count.questions, count.proved, count.refuted, count.open, count.many,
	       count.fault_free, count.faulty, count.causal, count.causal_too);
	CHECK(count.proved > count.questions / 10);
	CHECK(count.refuted > count.questions / 20);
	CHECK(count.open < count.questions / 4);
	CHECK(count.fault_free > count.models / 10);
	CHECK(count.causal_too > count.models / 10);
	CHECK(count.faulty > count.models / 60);
}

int main(void)
{
	RUN(test_rules);
	RUN(test_alone_and_as_a_part);
	RUN(test_faults);
	RUN(test_words);
	RUN(test_random_models);
	return check_done();
}
