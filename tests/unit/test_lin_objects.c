/*
 * Objects: the general search against the permutation brute force for every
 * object, and the polynomial algorithms of queue, stack and priority queue
 * against both. INTACT_SOAK=1 runs a million histories of each (soak.h).
 */
#include "lin_gen.h"

#include "check.h"
#include "soak.h"

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

/* A random call; its answer comes when it takes effect. */
static void random_call(struct gen *g, struct rng *r, struct hop *op, int *next)
{
	int small = (int)rng_below(r, 3);
	bool distinct = *next >= 0;
	switch (g->p.obj) {
	case OBJ_REGISTER:
	case OBJ_CAS_REGISTER:
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_READ : g->p.obj == OBJ_CAS_REGISTER && rng_below(r, 2)
		                                             ? FN_CAS : FN_WRITE);
		op->a = num(g, small);
		if (op->fn == FN_CAS)
			op->b = num(g, (int)rng_below(r, 3));
		break;
	case OBJ_COUNTER:
		op->fn = rng_below(r, 2) ? FN_READ : FN_ADD;
		op->a = num(g, small - 1);
		break;
	case OBJ_MUTEX:
		op->fn = rng_below(r, 2) ? FN_ACQUIRE : FN_RELEASE;
		break;
	case OBJ_SET:
		op->fn = (uint8_t)(rng_below(r, 4) == 0 ? FN_READ : rng_below(r, 3) == 0 ? FN_CONTAINS
		                   : rng_below(r, 2) ? FN_ADD : FN_REMOVE);
		op->a = num(g, small);
		if (distinct) { /* one element */
			op->fn = (uint8_t)(rng_below(r, 3) == 0 ? FN_CONTAINS : rng_below(r, 2) ? FN_ADD : FN_REMOVE);
			op->a = num(g, 1);
		}
		break;
	case OBJ_QUEUE:
	case OBJ_STACK:
	case OBJ_PQUEUE: {
		static const uint8_t in[] = { FN_ENQ, FN_PUSH, FN_INSERT }, out[] = { FN_DEQ, FN_POP, FN_POLL };
		int k = g->p.obj == OBJ_QUEUE ? 0 : g->p.obj == OBJ_STACK ? 1 : 2;
		uint32_t roll = rng_below(r, 16);
		op->fn = roll < 8 ? in[k] : roll < 15 || distinct ? out[k] : (uint8_t)FN_PEEK;
		op->a = distinct ? num(g, (int)rng_below(r, 2) ? ++*next : 1000 - ++*next) : num(g, small);
		break;
	}
	case OBJ_KV: {
		static const char *const text[] = { "", "a", "b", "ab" };
		const char *s = text[rng_below(r, 4)];
		op->fn = (uint8_t)(rng_below(r, 2) ? FN_READ : rng_below(r, 2) ? FN_APPEND : FN_WRITE);
		op->a = val_text(&g->vals, VK_STR, s, strlen(s));
		break;
	}
	default:
		op->fn = rng_below(r, 2) ? FN_READ : FN_APPEND;
		op->a = num(g, small);
	}
}

struct model { /* a plain array with its own rules: not the specs under test */
	int64_t v[GEN_MAX * 2];
	int n;
	char text[GEN_MAX * 4];
};

static val list_of(struct gen *g, const struct model *m, enum value_kind kind)
{
	val e[GEN_MAX * 2];
	for (int i = 0; i < m->n; i++)
		e[i] = num(g, (int)m->v[i]);
	return val_list(&g->vals, kind, e, (uint32_t)m->n);
}

static int find(const struct model *m, int64_t x)
{
	for (int i = 0; i < m->n; i++)
		if (m->v[i] == x)
			return i;
	return -1;
}

static void drop(struct model *m, int at)
{
	memmove(m->v + at, m->v + at + 1, (size_t)(m->n - at - 1) * sizeof *m->v);
	m->n--;
}

/* Carries out op on the model; false: it would have to wait (mutex). */
static bool effect(struct gen *g, struct model *m, struct hop *op)
{
	int64_t x = 0, y = 0;
	if (op->a != VAL_NONE)
		val_get_int(&g->vals, op->a, &x);
	switch (op->fn) {
	case FN_READ:
		if (g->p.obj == OBJ_SET || g->p.obj == OBJ_LIST)
			op->b = list_of(g, m, g->p.obj == OBJ_SET ? VK_SET : VK_LIST);
		else if (g->p.obj == OBJ_KV)
			op->b = val_text(&g->vals, VK_STR, m->text, strlen(m->text));
		else
			op->b = num(g, (int)m->v[0]);
		break;
	case FN_WRITE:
		m->v[0] = x;
		if (g->p.obj == OBJ_KV)
			strcpy(m->text, g->vals.tab.data[op->a].text);
		break;
	case FN_CAS:
		val_get_int(&g->vals, op->b, &y);
		op->res = m->v[0] == x ? RES_TRUE : RES_FALSE;
		if (m->v[0] == x)
			m->v[0] = y;
		break;
	case FN_ADD:
		if (g->p.obj == OBJ_COUNTER) {
			m->v[0] += x;
			break;
		}
		op->res = find(m, x) < 0 ? RES_TRUE : RES_FALSE;
		if (op->res == RES_TRUE)
			m->v[m->n++] = x;
		break;
	case FN_REMOVE:
		op->res = find(m, x) >= 0 ? RES_TRUE : RES_FALSE;
		if (op->res == RES_TRUE)
			drop(m, find(m, x));
		break;
	case FN_CONTAINS:
		op->res = find(m, x) >= 0 ? RES_TRUE : RES_FALSE;
		break;
	case FN_ACQUIRE:
	case FN_RELEASE:
		if (m->v[0] == (op->fn == FN_ACQUIRE))
			return false;
		m->v[0] = op->fn == FN_ACQUIRE;
		break;
	case FN_APPEND:
		if (g->p.obj == OBJ_KV)
			strcat(m->text, g->vals.tab.data[op->a].text);
		else
			m->v[m->n++] = x;
		break;
	case FN_ENQ: case FN_PUSH: case FN_INSERT:
		m->v[m->n++] = x;
		break;
	default: { /* removals and peek */
		int at = g->p.obj == OBJ_STACK ? m->n - 1 : 0;
		for (int i = 0; i < m->n && g->p.obj == OBJ_PQUEUE; i++)
			at = m->v[i] < m->v[at] ? i : at;
		op->b = m->n ? num(g, (int)m->v[at]) : VAL_NIL;
		if (m->n && op->fn != FN_PEEK)
			drop(m, at);
	}
	}
	return true;
}

static void spoil(struct gen *g, struct rng *r, struct hop *op, int next)
{
	int x = (int)rng_below(r, 4);
	if (op->res != RES_NONE)
		op->res = op->res == RES_TRUE ? RES_FALSE : RES_TRUE;
	else if (op->fn == FN_READ && (g->p.obj == OBJ_REGISTER || g->p.obj == OBJ_CAS_REGISTER ||
	                               g->p.obj == OBJ_COUNTER))
		op->b = num(g, x);
	else if (op->fn == FN_READ && g->p.obj == OBJ_KV)
		op->b = val_text(&g->vals, VK_STR, &"aab"[x % 3], (size_t)(3 - x % 3));
	else if (op->fn == FN_READ) {
		val e[4] = { num(g, x), num(g, 0), num(g, 1), num(g, 2) };
		op->b = val_list(&g->vals, g->p.obj == OBJ_SET ? VK_SET : VK_LIST, e, rng_below(r, 4));
	} else if (op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_POLL || op->fn == FN_PEEK)
		op->b = x == 0 ? VAL_NIL : num(g, next > 0 ? (int)rng_below(r, (uint32_t)next + 2) : x);
}

/* Random times; operations take effect at random moments; some answers are
 * then made wrong, and some operations never answer. */
static void random_history(struct gen *g, struct rng *r, uint32_t n, bool distinct)
{
	struct model m = { 0 };
	bool done[GEN_MAX] = { false };
	int next = distinct ? 0 : -1;
	g->p.init = object_default_init(g->p.obj, &g->vals);
	if (g->p.obj == OBJ_REGISTER || g->p.obj == OBJ_CAS_REGISTER)
		g->p.init = num(g, 0);
	if (g->p.obj == OBJ_KV)
		g->p.init = val_text(&g->vals, VK_STR, "", 0);
	gen_times(g, r, n, 2 + rng_below(r, 4), rng_below(r, 3) || distinct ? 0 : 24);
	for (uint32_t i = 0; i < g->p.n; i++)
		random_call(g, r, &g->ops[i], &next);
	for (uint32_t t = 0; t < g->p.nevents; t++)
		for (uint32_t i = 0; i < g->p.n; i++) {
			struct hop *op = &g->ops[i];
			if (op->call > t || op->ret < t || done[i] || (op->ret != t && rng_below(r, 3)))
				continue;
			effect(g, &m, op);
			done[i] = true;
		}
	uint32_t k = 0, wrong = rng_below(r, 2) ? 0 : 30;
	for (uint32_t i = 0; i < g->p.n; i++) {
		struct hop op = g->ops[i];
		if (op.ret == RANK_INF) {
			op.res = RES_NONE;
			if (op.fn == FN_READ || op.fn == FN_PEEK || op.fn == FN_CONTAINS)
				continue;
			if (op.fn == FN_DEQ || op.fn == FN_POP || op.fn == FN_POLL)
				op.b = VAL_NONE;
		} else if (rng_below(r, 256) < wrong) {
			spoil(g, r, &op, next);
		}
		g->ops[k++] = op;
	}
	g->p.n = k;
}

static void campaign(enum object obj, bool distinct, engine direct, uint32_t max_n, uint64_t seed)
{
	uint32_t rounds = soak_rounds(1500, 1000000), bad = 0, refused = 0, differ = 0, brute = 0;
	struct rng rng;
	struct gen g;
	rng_seed(&rng, soak_seed(seed));
	gen_open(&g);
	g.p.obj = obj;
	for (uint32_t k = 0; k < rounds; k++) {
		random_history(&g, &rng, 3 + rng_below(&rng, max_n - 2), distinct);
		struct result r, b, d;
		enum lin_verdict v = lin_search(&g.p, &r), w = LIN_REFUSED;
		bool ok = gen_verify(&g.p, &r) && v != LIN_UNKNOWN;
		if (g.p.n <= 10) {
			w = lin_brute(&g.p, &b);
			ok &= w == v;
			result_free(&b);
			brute++;
		}
		/* the monitor, which learns answers only when they come, sees the
		 * violation at the same response */
		ok &= lin_bfs(&g.p, &b) == v && (v == LIN_HOLDS || b.culprit == r.culprit);
		if (v == LIN_VIOLATED && b.culprit != r.culprit)
			printf("# search blames %u, the monitor %u\n", r.culprit, b.culprit);
		result_free(&b);
		if (direct) {
			enum lin_verdict u = direct(&g.p, &d);
			refused += u == LIN_REFUSED;
			ok &= u == LIN_REFUSED || (u == v && gen_verify(&g.p, &d));
			ok &= u != LIN_VIOLATED || d.moment_open || r.moment_open || d.culprit == r.culprit;
			if (u != LIN_REFUSED && u != v)
				printf("# direct says %d, search %d\n", u, v);
			result_free(&d);
		}
		bad += v == LIN_VIOLATED;
		if (!ok && differ++ < 3) {
			gen_dump(&g);
			printf("# search %d, brute %d\n", v, w);
		}
		result_free(&r);
	}
	printf("# %s%s, seed %llu: %u histories (%u by brute force too%s), %u not linearizable, %u disagreements",
	       object_names[obj], distinct ? " (distinct values)" : "", (unsigned long long)soak_seed(seed), rounds, brute,
	       direct ? ", and directly" : "", bad, differ);
	printf(direct ? ", %u refused\n" : "\n", refused);
	CHECK(bad > rounds / 50 && bad < rounds - rounds / 50);
	CHECK(!direct || !distinct || refused < rounds / 10);
	CHECK_EQ(differ, 0);
	gen_close(&g);
}

static void test_registers(void)
{
	campaign(OBJ_REGISTER, false, NULL, 14, 1);
	campaign(OBJ_CAS_REGISTER, false, NULL, 14, 2);
}

static void test_counter_mutex(void)
{
	campaign(OBJ_COUNTER, false, NULL, 12, 3);
	campaign(OBJ_MUTEX, false, NULL, 10, 4);
}

static void test_set_kv_list(void)
{
	campaign(OBJ_SET, true, lin_set, 9, 341);  /* one element */
	campaign(OBJ_SET, true, lin_set, 30, 342);
	campaign(OBJ_SET, false, NULL, 12, 5);
	campaign(OBJ_KV, false, NULL, 12, 6);
	campaign(OBJ_LIST, false, NULL, 12, 7);
}

static void test_queue(void)
{
	campaign(OBJ_QUEUE, false, lin_queue, 12, 8);
	campaign(OBJ_QUEUE, true, lin_queue, 16, 9);
	campaign(OBJ_QUEUE, false, lin_queue_pairs, 12, 14); /* values repeat, some never answer */
	campaign(OBJ_QUEUE, false, lin_queue_pairs, 26, 15);
}

static void test_stack(void)
{
	campaign(OBJ_STACK, false, lin_stack, 12, 10);
	campaign(OBJ_STACK, true, lin_stack, 16, 11);
}

static void test_pqueue(void)
{
	campaign(OBJ_PQUEUE, false, lin_pqueue, 12, 12);
	campaign(OBJ_PQUEUE, true, lin_pqueue, 16, 13);
}

int main(void)
{
	RUN(test_registers);
	RUN(test_counter_mutex);
	RUN(test_set_kv_list);
	RUN(test_queue);
	RUN(test_stack);
	RUN(test_pqueue);
	return check_done();
}
