/*
 * Specifications in the model language: written for objects that are built
 * in, they give the same verdicts as those, from every engine, on random
 * histories; one that chooses is compared with a search of its own.
 */
#include "lin_gen.h"

#include "check.h"
#include "lang/spec.h"
#include "history/user.h"
#include "soak.h"

static const char register_text[] =
	"object reg { int[0..2] x; void write(int[0..2] v) { x = v; } int[0..2] read() { return x; } }";
static const char cas_text[] =
	"object reg { int x; int read() { return x; } void write(int v) { x = v; }\n"
	"  bool cas_(int a, int b) { if (x != a) { return false; } x = b; return true; } }";
static const char queue_text[] =
	"const N = 12; int[0..12] n;\n"
	"object queue { int a[N];\n"
	"  void enqueue(int v) { assume(n < N); a[n] = v; n++; }\n"
	"  int dequeue() {\n"
	"    if (n == 0) { return -1; }\n"
	"    int first = a[0]; int i = 1;\n"
	"    while (i < n) { a[i - 1] = a[i]; i++; }\n"
	"    n--; a[n] = 0; return first; } }";
static const char set_text[] =
	"object set { bool in[3]; bool add(int[0..2] v) { return !exchange(in[v], true); }\n"
	"  bool remove(int[0..2] v) { return exchange(in[v], false); } bool contains(int[0..2] v) { return in[v]; } }";
static const char bag_text[] = /* take gives any of them, or -1 when it feels like it */
	"object bag { int[0..9] n[3]; void put(int[0..2] v) { n[v]++; }\n"
	"  int take() { either { return -1; } or { int[0..2] v = any(0..2); assume(n[v] > 0); n[v]--; return v; } } }";

static uint32_t code(const struct seqspec *s, const char *name)
{
	return user_fn(s, name, strlen(name));
}

/* ---- random histories ------------------------------------------------------------------- */

/* The operations in a random order in which they could take effect. */
static void effect_order(const struct gen *g, struct rng *r, uint32_t *order)
{
	uint64_t at[GEN_MAX];
	for (uint32_t i = 0; i < g->p.n; i++) {
		uint32_t ret = g->ops[i].ret == RANK_INF ? g->p.nevents : g->ops[i].ret;
		at[i] = ((uint64_t)g->ops[i].call << 16) + 1 +
		        (((uint64_t)(ret - g->ops[i].call) << 16) * rng_below(r, 1000)) / 1000;
		uint32_t k = i;
		for (; k && at[order[k - 1]] > at[i]; k--)
			order[k] = order[k - 1];
		order[k] = i;
	}
}

struct plain { /* the object as a C programmer writes it */
	int x, q[GEN_MAX], n;
	bool in[3];
};

static void built_in(struct gen *g, struct rng *r, struct hop *op, struct plain *m)
{
	int v = (int)rng_below(r, 3), w = (int)rng_below(r, 3);
	bool hit;
	op->a = num(g, v);
	switch (g->p.obj) {
	case OBJ_QUEUE:
		op->fn = rng_below(r, 2) ? FN_ENQ : FN_DEQ;
		if (op->fn == FN_ENQ) {
			m->q[m->n++] = v;
			break;
		}
		op->a = VAL_NONE;
		op->b = m->n ? num(g, m->q[0]) : VAL_NIL;
		m->n -= m->n > 0;
		memmove(m->q, m->q + 1, (size_t)m->n * sizeof *m->q);
		break;
	case OBJ_SET:
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_ADD : rng_below(r, 2) ? FN_REMOVE : FN_CONTAINS);
		hit = op->fn == FN_ADD ? !m->in[v] : m->in[v];
		op->res = hit ? RES_TRUE : RES_FALSE;
		if (op->fn != FN_CONTAINS)
			m->in[v] = op->fn == FN_ADD;
		break;
	default:
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_READ : g->p.obj == OBJ_CAS_REGISTER && rng_below(r, 2) ? FN_CAS : FN_WRITE);
		if (op->fn == FN_READ) {
			op->a = VAL_NONE;
			op->b = num(g, m->x);
		} else if (op->fn == FN_CAS) {
			op->b = num(g, w);
			op->res = m->x == v ? RES_TRUE : RES_FALSE;
			m->x = m->x == v ? w : m->x;
		} else {
			m->x = v;
		}
	}
}

static void corrupt(struct gen *g, struct rng *r)
{
	struct hop *op = &g->ops[rng_below(r, g->p.n)];
	if (op->res != RES_NONE)
		op->res = op->res == RES_TRUE ? RES_FALSE : RES_TRUE;
	else if (op->fn == FN_READ || op->fn == FN_DEQ)
		op->b = num(g, (int)rng_below(r, 3));
}

static void random_history(struct gen *g, struct rng *r, enum object o)
{
	uint32_t order[GEN_MAX];
	struct plain m = { 0 };
	gen_times(g, r, 3 + rng_below(r, 7), 2 + rng_below(r, 3), 20);
	g->p.obj = o;
	g->p.k = 1;
	g->p.init = o == OBJ_QUEUE ? val_list(&g->vals, VK_LIST, NULL, 0)
	            : o == OBJ_SET ? val_list(&g->vals, VK_SET, NULL, 0) : num(g, 0);
	effect_order(g, r, order);
	for (uint32_t i = 0; i < g->p.n; i++)
		built_in(g, r, &g->ops[order[i]], &m);
	for (uint32_t i = 0, n = rng_below(r, 3); i < n; i++)
		corrupt(g, r);
	uint32_t n = 0;
	for (uint32_t i = 0; i < g->p.n; i++) { /* as interpretation would have it */
		struct hop op = g->ops[i];
		if (op.ret == RANK_INF) {
			if (op.fn == FN_READ || op.fn == FN_CONTAINS)
				continue;
			op.res = RES_NONE;
			if (op.fn == FN_DEQ)
				op.b = VAL_NONE;
		}
		g->ops[n++] = op;
	}
	g->p.n = n;
}

/* The same history as calls of the specification. */
static void translate(struct gen *g, const struct seqspec *s, struct hop *out)
{
	static const char *const names[FN_COUNT] = {
		[FN_READ] = "read", [FN_WRITE] = "write", [FN_CAS] = "cas", [FN_ENQ] = "enqueue", [FN_DEQ] = "dequeue",
		[FN_ADD] = "add", [FN_REMOVE] = "remove", [FN_CONTAINS] = "contains",
	};
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		op.fn = (uint8_t)code(s, names[op.fn]);
		if (g->ops[i].fn == FN_CAS) {
			op.a = val_list(&g->vals, VK_LIST, (val[]){ g->ops[i].a, g->ops[i].b }, 2);
			op.b = VAL_NONE;
		} else if (g->ops[i].fn == FN_DEQ && op.b == VAL_NIL) {
			op.b = num(g, -1);
		}
		if (op.res != RES_NONE)
			op.b = val_bool(op.res == RES_TRUE);
		op.res = RES_NONE;
		out[i] = op;
	}
}

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

static unsigned verdicts[2];

static void compare(struct gen *g, const struct seqspec *s)
{
	static const engine engines[] = { lin_search, lin_bfs, lin_brute };
	struct hop ops[GEN_MAX];
	struct problem user = g->p;
	struct result want, r;
	enum lin_verdict v = lin_search(&g->p, &want);
	translate(g, s, ops);
	user.ops = ops;
	user.obj = OBJ_USER;
	user.user = s;
	verdicts[v == LIN_HOLDS]++;
	for (int i = 0; i < 3; i++) {
		CHECK_EQ(engines[i](&user, &r), v);
		CHECK(gen_verify(&user, &r));
		if (v == LIN_VIOLATED && i < 2 && !r.moment_open && !want.moment_open)
			CHECK_EQ(r.culprit, want.culprit);
		result_free(&r);
	}
	result_free(&want);
}

static void campaign(enum object o, const char *text, uint32_t n)
{
	struct lang l;
	struct rng r;
	lang_init(&l);
	uint64_t seed = soak_seed(77 + (uint64_t)o);
	rng_seed(&r, seed);
	const struct seqspec *s = lang_load_spec_text(&l, "test.atm", text, strlen(text));
	CHECK(s != NULL);
	verdicts[0] = verdicts[1] = 0;
	n = soak_rounds(n, 1000000);
	for (uint32_t i = 0; s && i < n && !check_failed; i++) {
		struct gen g;
		gen_open(&g);
		random_history(&g, &r, o);
		compare(&g, s);
		if (check_failed)
			gen_dump(&g);
		gen_close(&g);
	}
	printf("# %s, seed %llu: %u histories, %u not linearizable\n", object_names[o], (unsigned long long)seed,
	       verdicts[0] + verdicts[1], verdicts[0]);
	CHECK(verdicts[0] > n / 20 && verdicts[1] > n / 20);
	lang_free(&l);
}

static void test_register(void) { campaign(OBJ_REGISTER, register_text, 1500); }
static void test_cas(void) { campaign(OBJ_CAS_REGISTER, cas_text, 1500); }
static void test_queue(void) { campaign(OBJ_QUEUE, queue_text, 1000); }
static void test_set(void) { campaign(OBJ_SET, set_text, 1000); }

/* ---- a specification that chooses --------------------------------------------------------- */

/* Is there an order? n[v] are inside, `done` have happened. */
static bool bag_order(const struct gen *g, uint32_t put, unsigned done, int n[3])
{
	bool all = true;
	for (uint32_t i = 0; i < g->p.n; i++)
		all &= done >> i & 1 || g->ops[i].ret == RANK_INF;
	if (all)
		return true;
	for (uint32_t i = 0; i < g->p.n; i++) {
		const struct hop *op = &g->ops[i];
		bool may = !(done >> i & 1);
		for (uint32_t k = 0; k < g->p.n && may; k++)
			may = done >> k & 1 || g->ops[k].ret > op->call;
		if (!may)
			continue;
		bool is_put = op->fn == put;
		for (int v = -1; v < 3; v++) { /* what it puts or takes */
			val x = val_int((struct values *)(uintptr_t)&g->vals, v);
			if (is_put ? op->a != x : op->b != VAL_NONE && op->b != x)
				continue;
			if (v >= 0 && !is_put && !n[v])
				continue;
			if (v >= 0)
				n[v] += is_put ? 1 : -1;
			bool ok = bag_order(g, put, done | 1u << i, n);
			if (v >= 0)
				n[v] -= is_put ? 1 : -1;
			if (ok)
				return true;
		}
	}
	return false;
}

static void test_choices(void)
{
	struct lang l;
	struct rng r;
	lang_init(&l);
	rng_seed(&r, soak_seed(5));
	uint32_t n = soak_rounds(1500, 1000000);
	const struct seqspec *s = lang_load_spec_text(&l, "bag.atm", bag_text, strlen(bag_text));
	unsigned seen[2] = { 0 };
	CHECK(s && s->choices);
	for (uint32_t i = 0; s && i < n && !check_failed; i++) {
		struct gen g;
		struct result res;
		uint32_t put = code(s, "put"), take = code(s, "take");
		gen_open(&g);
		gen_times(&g, &r, 3 + rng_below(&r, 5), 3, 20);
		g.p.obj = OBJ_USER;
		g.p.user = s;
		g.p.k = 1;
		for (uint32_t k = 0; k < g.p.n; k++) {
			bool is_put = rng_below(&r, 2);
			g.ops[k].fn = (uint8_t)(is_put ? put : take);
			g.ops[k].a = is_put ? num(&g, (int)rng_below(&r, 3)) : VAL_NONE;
			if (!is_put && g.ops[k].ret != RANK_INF)
				g.ops[k].b = num(&g, (int)rng_below(&r, 4) - 1);
		}
		bool want = bag_order(&g, put, 0, (int[3]){ 0 });
		seen[want]++;
		CHECK_EQ(lin_search(&g.p, &res), want ? LIN_HOLDS : LIN_VIOLATED);
		CHECK(gen_verify(&g.p, &res));
		result_free(&res);
		CHECK_EQ(lin_brute(&g.p, &res), want ? LIN_HOLDS : LIN_VIOLATED);
		result_free(&res);
		CHECK_EQ(lin_bfs(&g.p, &res), LIN_REFUSED);
		result_free(&res);
		gen_close(&g);
	}
	printf("# a specification that chooses, seed %llu: %u histories, %u not linearizable\n",
	       (unsigned long long)soak_seed(5), seen[0] + seen[1], seen[0]);
	CHECK(seen[0] > n / 30 && seen[1] > n / 30);
	lang_free(&l);
}

/* ---- what is no specification ----------------------------------------------------------------- */

static void test_errors(void)
{
	static const struct { const char *text, *message; uint32_t line; } cases[] = {
		{ "int x;", "no object", 0 },
		{ "object a { int x; }", "no operations", 1 },
		{ "object a { void f() { } } thread t { }", "no threads", 1 },
		{ "object a { void f() { } }\nobject b { void g() { } }", "one object", 2 },
		{ "object a : register(bool) { bool x; void write(bool v) { x = v; } bool read() { return x; } }", "implements nothing", 1 },
		{ "object a {\n  void f() { y = 1; } }", "not declared", 2 },
		{ "object a {\n  safe bool b; void f() { b = true; } }", "", 2 },
		{ "object a { void f( }", "", 1 },
		{ "object a {", "", 1 },
	};
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct lang l;
		struct buf b;
		buf_init(&b);
		lang_init(&l);
		CHECK(!lang_load_spec_text(&l, "bad.atm", cases[i].text, strlen(cases[i].text)));
		CHECK(l.diags.errors > 0);
		diags_render(&l.diags, &b, false);
		CHECK(strstr(buf_cstr(&b), cases[i].message) != NULL);
		CHECK(!strstr(buf_cstr(&b), "spec__"));
		char place[32];
		snprintf(place, sizeof place, "bad.atm:%u:", cases[i].line);
		CHECK(!cases[i].line || !strncmp(buf_cstr(&b), place, strlen(place)));
		if (check_failed)
			printf("# %s\n# %s\n", cases[i].text, buf_cstr(&b));
		lang_free(&l);
		buf_free(&b);
	}
}

int main(void)
{
	RUN(test_register);
	RUN(test_cas);
	RUN(test_queue);
	RUN(test_set);
	RUN(test_choices);
	RUN(test_errors);
	return check_done();
}
