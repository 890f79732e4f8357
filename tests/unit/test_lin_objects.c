/*
 * Objects: the general search against the permutation brute force for every
 * object, and the polynomial algorithms of queue, stack and priority queue
 * against both. INTACT_SOAK=1 runs a million histories of each (soak.h).
 */
#include "lin_model.h"

#include "check.h"
#include "soak.h"

typedef enum lin_verdict (*engine)(const struct problem *, struct result *);

/* Is the moment that a result names the one of the monitor, or, when it is
 * open, at least not before it: then it was certain at the latest with it? */
static bool moment_fits(const struct problem *p, const char *who, const struct result *r, const struct result *monitor)
{
	if (r->verdict != LIN_VIOLATED || r->culprit == monitor->culprit || (r->moment_open && r->culprit == RANK_INF))
		return true;
	if (r->moment_open && p->ops[r->culprit].ret > p->ops[monitor->culprit].ret)
		return true;
	printf("# %s blames %u%s, the monitor %u\n", who, r->culprit, r->moment_open ? " at the latest" : "", monitor->culprit);
	return false;
}

/* `crashes` RANK_INF: in one of three histories a few. */
static void campaign_with(enum object obj, bool distinct, engine direct, uint32_t max_n, uint32_t crashes, uint64_t seed)
{
	uint32_t rounds = soak_rounds(1500, 1000000), bad = 0, refused = 0, differ = 0, brute = 0, open = 0;
	struct rng rng;
	struct gen g;
	rng_seed(&rng, soak_seed(seed));
	gen_open(&g);
	g.p.obj = obj;
	for (uint32_t k = 0; k < rounds; k++) {
		uint32_t n = 3 + rng_below(&rng, max_n - 2), few = rng_below(&rng, 3) || distinct ? 0 : 24;
		random_history(&g, &rng, n, distinct, crashes == RANK_INF ? few : crashes);
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
		bool monitored = lin_bfs(&g.p, &b) != LIN_REFUSED;
		ok &= monitored != object_has(obj, OBJECT_CHOOSES);
		ok &= !monitored || (b.verdict == v && moment_fits(&g.p, "search", &r, &b));
		open += v == LIN_VIOLATED && r.moment_open;
		ok &= lin_dfs(&g.p, &d, 0) == v && (!monitored || moment_fits(&g.p, "dfs", &d, &b)) && gen_verify(&g.p, &d);
		result_free(&d);
		if (direct) {
			enum lin_verdict u = direct(&g.p, &d);
			refused += u == LIN_REFUSED;
			ok &= u == LIN_REFUSED || (u == v && gen_verify(&g.p, &d));
			ok &= moment_fits(&g.p, "the direct algorithm", &d, &b);
			if (u != LIN_REFUSED && u != v)
				printf("# direct says %d, search %d\n", u, v);
			result_free(&d);
		}
		result_free(&b);
		bad += v == LIN_VIOLATED;
		if (!ok && differ++ < 3) {
			gen_dump(&g);
			printf("# search %d, brute %d\n", v, w);
		}
		result_free(&r);
	}
	printf("# %s%s, seed %llu: %u histories (%u by brute force too%s), %u not linearizable (%u at the latest), %u disagreements",
	       object_names[obj], distinct ? " (distinct values)" : "", (unsigned long long)soak_seed(seed), rounds, brute,
	       direct ? ", and directly" : "", bad, open, differ);
	printf(direct ? ", %u refused\n" : "\n", refused);
	CHECK(bad > rounds / 50 && bad < rounds - rounds / 50);
	CHECK(!direct || !distinct || refused < rounds / 10);
	CHECK(open <= rounds / 1000); /* the search nearly always finds the first moment */
	CHECK_EQ(differ, 0);
	gen_close(&g);
}

static void campaign(enum object obj, bool distinct, engine direct, uint32_t max_n, uint64_t seed)
{
	campaign_with(obj, distinct, direct, max_n, RANK_INF, seed);
}

/* Many operations never answer, and answers are wrong. */
static void test_crashes(void)
{
	campaign_with(OBJ_REGISTER, false, NULL, 14, 70, 21);
	campaign_with(OBJ_CAS_REGISTER, false, NULL, 14, 70, 22);
	campaign_with(OBJ_KV, false, NULL, 12, 60, 23);
	campaign_with(OBJ_QUEUE, false, lin_queue_pairs, 12, 60, 24);
	campaign_with(OBJ_STACK, false, NULL, 12, 60, 25);
	campaign_with(OBJ_SET, false, NULL, 12, 60, 26);
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

static void test_semaphore_deque(void)
{
	campaign(OBJ_SEMAPHORE, false, NULL, 11, 27);
	campaign(OBJ_DEQUE, false, NULL, 12, 28);
	campaign_with(OBJ_SEMAPHORE, false, NULL, 11, 60, 29);
	campaign_with(OBJ_DEQUE, false, NULL, 12, 60, 30);
}

static void test_bounded_relaxed(void)
{
	campaign(OBJ_BOUNDED_QUEUE, false, NULL, 12, 31);
	campaign_with(OBJ_BOUNDED_QUEUE, false, NULL, 12, 60, 32);
	for (uint32_t i = 0; i < 3; i++) {
		static const enum object o[] = { OBJ_RELAXED_QUEUE, OBJ_RELAXED_STACK, OBJ_RELAXED_PQUEUE };
		campaign(o[i], false, NULL, 11, 33 + 3 * i);
		campaign(o[i], true, NULL, 12, 34 + 3 * i);
		campaign_with(o[i], false, NULL, 10, 60, 35 + 3 * i);
	}
}

/* ---- the specifications themselves ----
 *
 * All orders of the operations and, of relaxed objects, all choices of an element, one content at a time: nothing of
 * src/history is used but the values. */

struct plain {
	const struct problem *p;
	int bound;
};

static bool plain_from(const struct plain *b, const struct model *m, uint64_t done);

static bool plain_after(const struct plain *b, const struct model *m, uint64_t done, const struct hop *op)
{
	enum object o = b->p->obj;
	bool open = op->ret == RANK_INF, puts = op->fn == (o == OBJ_BOUNDED_QUEUE ? (uint32_t)FN_BOUNDED_QUEUE_FIRST : relaxed_puts(o));
	bool takes = op->fn == (o == OBJ_BOUNDED_QUEUE ? (uint32_t)FN_DEQ : relaxed_takes(o));
	struct model n = *m;
	if (puts) {
		bool fits = o != OBJ_BOUNDED_QUEUE || m->n < b->bound;
		if (o == OBJ_BOUNDED_QUEUE && !open && (op->res == RES_TRUE) != fits)
			return false;
		if (fits)
			val_get_int(b->p->vals, op->a, &n.v[n.n++]);
		return plain_from(b, &n, done);
	}
	if (!m->n)
		return (open || op->b == VAL_NIL) && plain_from(b, m, done);
	int most = o == OBJ_BOUNDED_QUEUE ? 1 : b->bound < m->n ? b->bound : m->n;
	for (int k = 0; k < most; k++) {
		int at = o == OBJ_BOUNDED_QUEUE ? 0 : relaxed_place(m, o, k);
		int64_t x;
		if (!open && (!val_get_int(b->p->vals, op->b, &x) || x != m->v[at]))
			continue;
		n = *m;
		if (takes)
			drop(&n, at);
		if (plain_from(b, &n, done))
			return true;
	}
	return false;
}

static bool plain_from(const struct plain *b, const struct model *m, uint64_t done)
{
	const struct problem *p = b->p;
	bool left = false;
	for (uint32_t i = 0; i < p->n; i++)
		left |= !(done >> i & 1) && p->ops[i].ret != RANK_INF;
	if (!left)
		return true;
	for (uint32_t i = 0; i < p->n; i++) {
		bool first = !(done >> i & 1);
		for (uint32_t k = 0; k < p->n && first; k++)
			first = done >> k & 1 || p->ops[k].ret > p->ops[i].call;
		if (first && plain_after(b, m, done | UINT64_C(1) << i, &p->ops[i]))
			return true;
	}
	return false;
}

static void test_specifications(void)
{
	static const enum object objects[] = { OBJ_BOUNDED_QUEUE, OBJ_RELAXED_QUEUE, OBJ_RELAXED_STACK, OBJ_RELAXED_PQUEUE };
	struct rng rng;
	for (uint32_t which = 0; which < 4; which++) {
		uint32_t rounds = soak_rounds(3000, 1000000), bad = 0, differ = 0;
		struct gen g;
		rng_seed(&rng, soak_seed(50 + which));
		gen_open(&g);
		g.p.obj = objects[which];
		for (uint32_t k = 0; k < rounds; k++) {
			int64_t bound;
			random_history(&g, &rng, 3 + rng_below(&rng, 6), rng_below(&rng, 2), rng_below(&rng, 3) ? 0 : 50);
			val_get_int(&g.vals, g.p.init, &bound);
			struct plain b = { .p = &g.p, .bound = (int)bound };
			struct model empty = { 0 };
			struct result r;
			enum lin_verdict v = lin_search(&g.p, &r), w = plain_from(&b, &empty, 0) ? LIN_HOLDS : LIN_VIOLATED;
			bad += w == LIN_VIOLATED;
			if (v != w && differ++ < 3) {
				gen_dump(&g);
				printf("# search %d, all orders and choices %d\n", v, w);
			}
			result_free(&r);
		}
		printf("# %s, seed %llu: %u histories by all orders and choices, %u not linearizable, %u disagreements\n",
		       object_names[objects[which]], (unsigned long long)soak_seed(50 + which), rounds, bad, differ);
		CHECK(bad > rounds / 50 && bad < rounds - rounds / 50);
		CHECK_EQ(differ, 0);
		gen_close(&g);
	}
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
	RUN(test_semaphore_deque);
	RUN(test_bounded_relaxed);
	RUN(test_specifications);
	RUN(test_set_kv_list);
	RUN(test_queue);
	RUN(test_stack);
	RUN(test_pqueue);
	RUN(test_crashes);
	return check_done();
}
