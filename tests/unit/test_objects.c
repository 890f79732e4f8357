/*
 * Objects inside models: random small implementations of a register, most of
 * them broken in some way, judged by the exploration with each combination of
 * its reductions, by the paper's assertions, and by a twin that enumerates
 * every execution and tries every order of every history.
 */
#include "base/rng.h"
#include "check.h"
#include "soak.h"
#include "explore/object.h"
#include "lang/lang.h"
#include "check/objects.h"
#include "verdict/object_history.h"
#include "verdict/replay.h"
#include "verdict/verify_exhaustive.h"

/* ---- random implementations ----------------------------------------------------------- */

struct maker {
	struct rng r;
	struct buf *b;
	unsigned nfields;
	bool lock, many;
};

static unsigned below(struct maker *m, unsigned n)
{
	return rng_below(&m->r, n);
}

/* A value: the argument (in write), a field or a local. */
static void operand(struct maker *m, bool write)
{
	if (write && below(m, 2))
		buf_str(m->b, "v");
	else if (below(m, 6) == 0)
		buf_printf(m->b, "%u", below(m, 2));
	else
		buf_printf(m->b, "x%u", below(m, m->nfields));
}

static void statement(struct maker *m, bool write, unsigned depth)
{
	switch (below(m, depth ? 4 : 6)) {
	case 4:
		buf_str(m->b, "if (");
		operand(m, write);
		buf_str(m->b, below(m, 2) ? " == " : " != ");
		operand(m, write);
		buf_str(m->b, ") { ");
		statement(m, write, depth + 1);
		buf_str(m->b, "} ");
		break;
	case 5:
		if (!write) {
			buf_str(m->b, "if (");
			operand(m, write);
			buf_str(m->b, " == 1) { return ");
			operand(m, write);
			buf_str(m->b, "; } ");
			break;
		}
		/* fall through */
	default:
		if (!write && below(m, 2)) {
			buf_str(m->b, "t = ");
			operand(m, write);
			buf_str(m->b, "; ");
			break;
		}
		buf_printf(m->b, "x%u = ", below(m, m->nfields));
		operand(m, write);
		buf_str(m->b, "; ");
	}
}

static void make_model(struct buf *b, uint64_t seed)
{
	static const char *const classes[] = { "", "", "safe ", "regular " };
	struct maker m = { .b = b };
	rng_seed(&m.r, seed);
	m.nfields = 1 + below(&m, 3);
	m.lock = below(&m, 4) == 0;
	unsigned writers = below(&m, 3) == 0 ? 2 : 1, readers = below(&m, 3) == 0 ? 2 : 1;
	bool one_kind = below(&m, 4) == 0, locked_read = below(&m, 2);
	unsigned init = below(&m, 4) == 0;
	buf_printf(b, "object R : register(int[0..1]) = %u {\n", init);
	for (unsigned i = 0; i < m.nfields; i++)
		buf_printf(b, "  %sint[0..1] x%u = %u;\n", classes[below(&m, 4)], i, init);
	if (m.lock)
		buf_str(b, "  lock l;\n");
	buf_str(b, "  void write(int[0..1] v) { ");
	if (m.lock)
		buf_str(b, "acquire(l); ");
	for (unsigned i = 0, n = below(&m, 2); i < n; i++)
		statement(&m, true, 0);
	buf_str(b, below(&m, 3) ? "x0 = v; " : "if (x0 != v) { x0 = v; } ");
	for (unsigned i = 0, n = below(&m, 2); i < n; i++)
		statement(&m, true, 0);
	if (m.lock)
		buf_str(b, "release(l); ");
	buf_str(b, "}\n  int[0..1] read() { int[0..1] t; ");
	if (m.lock && locked_read)
		buf_str(b, "acquire(l); ");
	for (unsigned i = 0, n = m.lock && locked_read ? 0 : below(&m, 2); i < n; i++)
		statement(&m, false, 0);
	buf_str(b, below(&m, 4) ? "t = x0; " : "");
	if (m.lock && locked_read)
		buf_str(b, "release(l); ");
	buf_str(b, "return t; }\n}\n");
	const char *arg = below(&m, 2) ? "any(0..1)" : init ? "0" : "1";
	if (one_kind) {
		buf_printf(b, "thread both * 2 { R.write(%s); R.read(); }\n", arg);
		return;
	}
	buf_printf(b, "thread writer * %u { R.write(%s); %s }\n", writers, arg,
	           writers == 1 && below(&m, 2) ? "R.write(any(0..1));" : "");
	buf_printf(b, "thread reader * %u { R.read(); %s }\n", readers,
	           writers + readers < 4 ? "R.read();" : "");
}

/* ---- the twin: every execution, every history, every order ------------------------------ */

struct history {
	struct { uint32_t thread; bool write; int value; int call, ret; } op[8];
	uint32_t n;
	int nevents;
};

struct twin {
	const struct ir *ir;
	struct seqtab seen; /* (state, history) */
	int32_t *stack;
	bool wrong[3];      /* atomic, regular, safe */
	uint64_t budget;
	bool spent;
};

/* Is some order of the operations from `done` on legal? */
static bool orders(const struct history *h, unsigned done, int value)
{
	bool all = true;
	for (uint32_t i = 0; i < h->n; i++)
		all &= done >> i & 1 || h->op[i].ret < 0;
	if (all)
		return true;
	for (uint32_t i = 0; i < h->n; i++) {
		bool may = !(done >> i & 1) && (h->op[i].write || h->op[i].ret >= 0);
		for (uint32_t k = 0; k < h->n && may; k++) /* all that precede it are done */
			may = k == i || done >> k & 1 || h->op[k].ret < 0 || h->op[k].ret > h->op[i].call;
		if (!may || (!h->op[i].write && h->op[i].value != value))
			continue;
		if (orders(h, done | 1u << i, h->op[i].write ? h->op[i].value : value))
			return true;
	}
	return false;
}

/* The definitions of docs/history.md, word by word. */
static bool weak_right(const struct history *h, uint32_t read, int init, bool safe)
{
	bool overlapped = false, initial = h->op[read].value == init;
	for (uint32_t w = 0; w < h->n; w++) {
		if (!h->op[w].write || h->op[w].call > h->op[read].ret)
			continue;
		bool ended = h->op[w].ret >= 0 && h->op[w].ret < h->op[read].call;
		overlapped |= !ended;
		initial &= !ended;
		bool overwritten = false;
		for (uint32_t k = 0; k < h->n; k++)
			overwritten |= h->op[k].write && ended && h->op[k].call > h->op[w].ret && h->op[k].ret >= 0 &&
			               h->op[k].ret < h->op[read].call;
		if (!overwritten && h->op[w].value == h->op[read].value)
			return true;
	}
	return initial || (safe && overlapped);
}

struct twin_visit {
	struct twin *t;
	struct history h;
	uint32_t thread;
};

static void walk(struct twin *t, const int32_t *state, const struct history *h);

static bool twin_visit(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                       const struct ir_effect *eff)
{
	struct twin_visit *v = arg;
	struct history h = v->h;
	(void)ch;
	if (r != IR_OK)
		return true;
	if (eff->invoked != IR_NONE) {
		h.op[h.n].thread = v->thread;
		h.op[h.n].write = v->t->ir->opers[eff->invoked].is_write;
		h.op[h.n].value = h.op[h.n].write ? eff->arg : 0;
		h.op[h.n].call = h.nevents++;
		h.op[h.n++].ret = -1;
	}
	if (eff->responded != IR_NONE)
		for (uint32_t i = h.n; i-- > 0;)
			if (h.op[i].thread == v->thread) {
				h.op[i].ret = h.nevents++;
				if (!h.op[i].write)
					h.op[i].value = eff->result;
				int init = v->t->ir->objects[0].init;
				v->t->wrong[0] |= !orders(&h, 0, init);
				if (!h.op[i].write) {
					v->t->wrong[1] |= !weak_right(&h, i, init, false);
					v->t->wrong[2] |= !weak_right(&h, i, init, true);
				}
				break;
			}
	int32_t *copy = malloc(v->t->ir->nstate * sizeof *copy);
	memcpy(copy, next, v->t->ir->nstate * sizeof *copy);
	walk(v->t, copy, &h);
	free(copy);
	return true;
}

static void walk(struct twin *t, const int32_t *state, const struct history *h)
{
	uint32_t n = t->ir->nstate, before = t->seen.n;
	int32_t key[600], *scratch;
	memcpy(key, state, n * sizeof *key);
	for (uint32_t i = 0; i < h->n; i++) {
		const int32_t f[] = { (int32_t)h->op[i].thread, h->op[i].write, h->op[i].value, h->op[i].call,
			              h->op[i].ret };
		memcpy(key + n, f, sizeof f);
		n += 5;
	}
	if (t->spent || seqtab_add(&t->seen, key, n) < before)
		return;
	if (t->seen.n > t->budget) {
		t->spent = true;
		return;
	}
	scratch = malloc(t->ir->nstate * sizeof *scratch);
	for (uint32_t i = 0; i < t->ir->nthreads; i++) {
		struct twin_visit v = { t, *h, i };
		ir_successors(t->ir, state, i, scratch, twin_visit, &v);
	}
	free(scratch);
}

/* ---- comparing ------------------------------------------------------------------------------ */

static void check_path(const struct ir *p, const struct object_result *r, enum object_condition c)
{
	struct run run;
	struct object_history h = { 0 };
	struct buf why;
	struct why refuted;
	buf_init(&why);
	CHECK(run_init(&run, p) && replay(&run, r->path, r->npath));
	CHECK(object_history_init(&h, &run, 0));
	CHECK_EQ(object_history_refuted(&h, c, &refuted), 1);
	CHECK(object_why(&h, c, &why) && why.len > 20);
	object_history_free(&h);
	run_free(&run);
	buf_free(&why);
}

/* The recorded history, judged by trying every order. */
static bool judge_orders(void *arg, const struct monitor_op *ops, uint32_t n, uint32_t nevents)
{
	struct history h = { .n = n, .nevents = (int)nevents };
	for (uint32_t i = 0; i < n; i++) {
		h.op[i].write = ops[i].is_write;
		h.op[i].value = ops[i].value;
		h.op[i].call = (int)ops[i].call;
		h.op[i].ret = ops[i].open ? -1 : (int)ops[i].ret;
	}
	return orders(&h, 0, *(int *)arg);
}

static void check_recorded(const struct ir *p, bool wrong)
{
	int init = p->objects[0].init;
	struct object_options o = { .kind = MONITOR_RECORD, .judge = judge_orders, .judge_arg = &init,
		                    .local = true };
	struct object_result r;
	object_check(p, 0, &o, &r);
	CHECK_EQ(r.answer, wrong ? ANSWER_VIOLATED : ANSWER_HOLDS);
	if (r.answer == ANSWER_VIOLATED)
		check_path(p, &r, OBJECT_ATOMIC);
	object_result_free(&r);
}

static unsigned counts[3][2];
static uint64_t anew_states;

/* The independent search through the histories: the twin's answer, and a run that the judge of one history refutes too. */
static void check_anew(const struct ir *p, enum object_condition c, bool wrong)
{
	struct verify_exhaustive v = { .max_states = 1000000 };
	verify_exhaustive_object(&v, p, 0, c);
	CHECK_EQ(v.answer, wrong ? VERIFY_UNEXPLAINED : VERIFY_EXPLAINED);
	if (v.answer == VERIFY_UNEXPLAINED) {
		struct object_result r = { .path = v.path, .npath = v.npath };
		check_path(p, &r, c);
	}
	anew_states += v.states;
	free(v.path);
}

static void compare(uint64_t seed, const struct ir *p, const bool wrong[3])
{
	static const enum monitor_kind kinds[] = { MONITOR_ATOMIC, MONITOR_REGULAR, MONITOR_SAFE };
	for (int c = 0; c < 3; c++) {
		uint32_t shortest = 0;
		counts[c][wrong[c]]++;
		int failed = check_failed;
		check_anew(p, (enum object_condition)c, wrong[c]);
		if (check_failed > failed)
			printf("# seed %llu, condition %d, anew\n", (unsigned long long)seed, c);
		for (int how = 0; how < 4; how++) {
			struct object_options o = { .kind = kinds[c], .local = how & 1, .symmetry = how >> 1 };
			struct object_result r;
			object_check(p, 0, &o, &r);
			int before = check_failed;
			CHECK_EQ(r.answer, wrong[c] ? ANSWER_VIOLATED : ANSWER_HOLDS);
			if (r.answer == ANSWER_VIOLATED)
				check_path(p, &r, (enum object_condition)c);
			if (!how)
				shortest = r.npath;
			CHECK_EQ(r.npath, shortest); /* the shortening found it */
			if (check_failed > before)
				printf("# seed %llu, condition %d, reductions %d\n", (unsigned long long)seed, c, how);
			object_result_free(&r);
		}
	}
}

static void one(uint64_t seed)
{
	struct lang l;
	struct buf b;
	buf_init(&b);
	lang_init(&l);
	make_model(&b, seed);
	bool ok = lang_load_text(&l, "random.atm", buf_cstr(&b), b.len, &(struct lang_options){ .sml = 0 });
	CHECK(ok);
	if (ok && l.ir->nstate < 500) {
		struct twin t = { .ir = l.ir, .budget = 30000 };
		seqtab_init(&t.seen);
		walk(&t, l.ir->init, &(struct history){ 0 });
		if (!t.spent) {
			compare(seed, l.ir, t.wrong);
			check_recorded(l.ir, t.wrong[0]);
		}
		seqtab_free(&t.seen);
	}
	if (!ok || check_failed)
		printf("# seed %llu:\n# %s\n", (unsigned long long)seed, buf_cstr(&b));
	lang_free(&l);
	buf_free(&b);
}

static void test_random_objects(void)
{
	uint32_t n = soak_rounds(150, 100000);
	uint64_t first = soak_seed(1);
	for (uint64_t seed = first; seed < first + n && check_failed < 5; seed++)
		one(seed);
	printf("# seeds %llu to %llu: %u models small enough for the twin; ", (unsigned long long)first,
	       (unsigned long long)first + n - 1, counts[0][0] + counts[0][1]);
	printf("%u/%u atomic, %u/%u regular, %u/%u safe hold/violated\n", counts[0][0], counts[0][1],
	       counts[1][0], counts[1][1], counts[2][0], counts[2][1]);
	for (int c = 0; c < 3; c++)
		CHECK(counts[c][0] > n / 50 && counts[c][1] > n / 50);
}

/* ---- limits ------------------------------------------------------------------------------------ */

/* A thread whose answer goes wrong in the same step does not keep the others from being looked at. */
static void test_anew_beside_a_fault(void)
{
	static const char text[] =
		"object r : register(int[0..1]) = 0 {\n"
		"  int[0..1] v;\n"
		"  void write(int[0..1] x) { v = x; }\n"
		"  int[0..1] read() { int[0..1] a = v; return a * 0; }\n"
		"}\n"
		"thread first { int[0..1] z = r.read(); assert(z == 1); }\n"
		"thread other { r.write(1); r.read(); }\n";
	struct lang l;
	lang_init(&l);
	CHECK(lang_load_text(&l, "fault.atm", text, sizeof text - 1, &(struct lang_options){ .sml = 0 }));
	for (int c = 0; l.ir && c < 3; c++)
		check_anew(l.ir, (enum object_condition)c, true);
	struct verify_exhaustive v = { .max_states = 3 };
	verify_exhaustive_object(&v, l.ir, 0, OBJECT_REGULAR);
	CHECK(v.answer == VERIFY_LIMIT && v.limit && !strcmp(v.limit, "states"));
	lang_free(&l);
}

static const char tromp_like[] =
	"object R : register(bool) { safe bool b; bool old;\n"
	"  void write(bool v) { if (old != v) { b = v; old = v; } } bool read() { return b; } }\n"
	"thread w { while (true) { R.write(any(bool)); } } thread r { while (true) { R.read(); } }";

static bool judge_nothing(void *arg, const struct monitor_op *ops, uint32_t n, uint32_t nevents)
{
	(void)arg, (void)ops, (void)n, (void)nevents;
	return true;
}

static void test_limits(void)
{
	struct lang l;
	lang_init(&l);
	CHECK(lang_load_text(&l, "m.atm", tromp_like, strlen(tromp_like), &(struct lang_options){ 0 }));
	struct object_result r;
	object_check(l.ir, 0, &(struct object_options){ .kind = MONITOR_REGULAR, .local = true }, &r);
	CHECK_EQ(r.answer, ANSWER_HOLDS); /* endless loops, finitely many monitor states */
	uint64_t all = r.states;
	object_result_free(&r);
	object_check(l.ir, 0, &(struct object_options){ .kind = MONITOR_REGULAR, .local = true, .max_states = all / 2 }, &r);
	CHECK_EQ(r.answer, ANSWER_UNKNOWN);
	CHECK_STR(r.limit, "states");
	object_result_free(&r);
	object_check(l.ir, 0, &(struct object_options){ .kind = MONITOR_ATOMIC, .local = true, .max_bytes = 1 }, &r);
	CHECK_EQ(r.answer, ANSWER_UNKNOWN);
	CHECK_STR(r.limit, "memory");
	object_result_free(&r);
	object_check(l.ir, 0, &(struct object_options){ .kind = MONITOR_RECORD, .judge = judge_nothing,
		                                        .deadline = 1e-9 }, &r);
	CHECK_EQ(r.answer, ANSWER_UNKNOWN);
	CHECK_STR(r.limit, "time");
	object_result_free(&r);
	lang_free(&l);
}

int main(void)
{
	RUN(test_limits);
	RUN(test_anew_beside_a_fault);
	RUN(test_random_objects);
	return check_done();
}
