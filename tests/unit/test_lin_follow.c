/*
 * Follow: what is judged while it is written, against the recorded history on
 * every prefix of its lines, with monitors of few configurations, so that both
 * ways of watching are taken. And searches that start in the middle of a
 * history: they must never refute one that has an order.
 */
#include <unistd.h>

#include "check.h"
#include "lin/check.h"
#include "report/history_text.h"
#include "lin/dfs.h"
#include "lin/follow.h"
#include "lin_model.h"
#include "soak.h"

struct reading {
	struct arena arena;
	struct limits lim;
	struct history h;
	struct diags d;
};

static void reading_open(struct reading *r)
{
	memset(r, 0, sizeof *r);
	arena_init(&r->arena, 0);
	history_init(&r->h, &r->arena, &r->lim);
	diags_init(&r->d, &r->arena);
}

static void reading_close(struct reading *r)
{
	history_free(&r->h);
	arena_free(&r->arena);
}

/* ---- a random history as lines ------------------------------------------------------ */

static void print_line(const struct gen *g, uint32_t i, const char *type, bool answer, struct buf *out)
{
	const struct hop *op = &g->ops[i];
	bool sees = op->fn == FN_READ || op->fn == FN_DEQ || op->fn == FN_POP || op->fn == FN_PEEK;
	buf_printf(out, "{:process %u, :type :%s, :f :%s, :value ", op->proc + i * 16, type, fn_name((enum fn)op->fn, g->p.obj));
	if (op->fn == FN_CAS) {
		buf_str(out, "[");
		val_print_whole(&g->vals, op->a, out);
		buf_str(out, " ");
		val_print_whole(&g->vals, op->b, out);
		buf_str(out, "]");
	} else if (answer && op->res != RES_NONE) {
		buf_str(out, op->res == RES_TRUE ? "true" : "false");
	} else if (sees && !answer) {
		buf_str(out, "nil");
	} else {
		val_print_whole(&g->vals, sees ? op->b : op->a, out);
	}
	buf_str(out, "}\n");
}

/* A process for each operation: an order of lines and no more. Operations that
 * never answer end by :info at once or have no further line. */
static uint32_t print_history(const struct gen *g, struct rng *r, struct buf *out, size_t *ends)
{
	uint32_t lines = 0;
	for (uint32_t t = 0; t < g->p.nevents; t++)
		for (uint32_t i = 0; i < g->p.n; i++) {
			const struct hop *op = &g->ops[i];
			bool cas_failed = op->fn == FN_CAS && op->res == RES_FALSE;
			if (op->call == t) {
				print_line(g, i, "invoke", false, out);
				ends[lines++] = out->len;
				if (op->ret == RANK_INF && rng_below(r, 2)) {
					print_line(g, i, "info", false, out);
					ends[lines++] = out->len;
				}
			} else if (op->ret == t) {
				print_line(g, i, cas_failed ? "fail" : "ok", true, out);
				ends[lines++] = out->len;
			}
		}
	return lines;
}

static struct interpretation known(const struct gen *g, struct history *h)
{
	struct interpretation in = { .object = g->p.obj, .nil_reads = 1, .failed_cas = 1, .pairs = 2 };
	in.init = g->p.obj == OBJ_KV ? val_text(&h->vals, VK_STR, "", 0)
	          : g->p.obj == OBJ_REGISTER || g->p.obj == OBJ_CAS_REGISTER ? val_int(&h->vals, 0)
	                                                                     : object_default_init(g->p.obj, &h->vals);
	return in;
}

static enum lin_verdict offline(const struct gen *g, const char *text, size_t len)
{
	struct reading r;
	struct read_options ro = { .format = FORMAT_EDN };
	struct lin_check_options o = { .k = 1, .jobs = 1 };
	struct check c;
	enum lin_verdict v = LIN_REFUSED;
	reading_open(&r);
	struct interpretation in = known(g, &r.h);
	if (history_read_text(&r.h, "<text>", text, len, &ro, &r.d) && history_interpret(&r.h, &in, &r.d) &&
	    lin_check(&r.h, &in, &o, &c)) {
		v = c.verdict;
		check_free(&c, &r.h);
	}
	reading_close(&r);
	return v;
}

/* The lines that are right, of all: the shortest wrong prefix by bisection,
 * which is what monotony allows, then the two prefixes around it. */
static uint32_t first_wrong(const struct gen *g, const char *text, const size_t *ends, uint32_t lines)
{
	uint32_t good = 0, bad = lines + 1;
	if (offline(g, text, ends[lines - 1]) != LIN_VIOLATED)
		return 0;
	for (bad = lines; good + 1 < bad;) {
		uint32_t mid = good + (bad - good) / 2;
		*(offline(g, text, ends[mid - 1]) == LIN_HOLDS ? &good : &bad) = mid;
	}
	return bad;
}

/* The line at which it is violated; 0: it holds. UINT32_MAX: neither. */
static uint32_t followed(const struct gen *g, const char *path, uint32_t max_rows, uint32_t *recorded)
{
	struct reading r;
	struct read_options ro = { .format = FORMAT_EDN, .order = ORDER_LINES };
	struct follow_result f = { 0 };
	reading_open(&r);
	struct interpretation in = known(g, &r.h);
	bool ok = follow(&r.h, path, &ro, &in, 1, max_rows, history_proof_text, &r.d, &f);
	uint32_t line = !ok || f.verdict > LIN_VIOLATED ? UINT32_MAX : f.verdict == LIN_VIOLATED ? f.line : 0;
	if (f.verdict == LIN_VIOLATED && !f.sentence)
		line = UINT32_MAX;
	*recorded += f.recorded;
	free(f.sentence);
	reading_close(&r);
	return line;
}

static void follow_campaign(enum object obj, uint32_t max_n, uint64_t seed)
{
	static const uint32_t rows[] = { 0, 1, 6 };
	uint32_t rounds = soak_rounds(250, 100000), bad = 0, differ = 0, recorded = 0;
	char path[] = "/tmp/intact-follow-XXXXXX";
	int fd = mkstemp(path);
	struct rng rng;
	struct gen g;
	struct buf text;
	size_t ends[4 * GEN_MAX];
	CHECK(fd >= 0);
	rng_seed(&rng, soak_seed(seed));
	gen_open(&g);
	buf_init(&text);
	g.p.obj = obj;
	for (uint32_t k = 0; k < rounds && fd >= 0; k++) {
		random_history(&g, &rng, 3 + rng_below(&rng, max_n - 2), false, rng_below(&rng, 3) * 40);
		if (!g.p.n)
			continue;
		buf_clear(&text);
		uint32_t lines = print_history(&g, &rng, &text, ends), want = first_wrong(&g, buf_cstr(&text), ends, lines);
		if (ftruncate(fd, 0) || pwrite(fd, buf_cstr(&text), text.len, 0) != (ssize_t)text.len)
			break;
		bad += want > 0;
		for (uint32_t i = 0; i < 3; i++) {
			uint32_t got = followed(&g, path, rows[i], &recorded);
			if (got != want && differ++ < 3)
				printf("# recorded: line %u, followed with %u rows: line %u\n%s", want, rows[i], got, buf_cstr(&text));
		}
	}
	printf("# %s, seed %llu: %u histories, %u not linearizable, %u judged as recorded, %u disagreements\n", object_names[obj],
	       (unsigned long long)soak_seed(seed), rounds, bad, recorded, differ);
	CHECK(bad > rounds / 50 && bad < rounds - rounds / 50);
	CHECK(recorded > rounds / 4);
	CHECK_EQ(differ, 0);
	buf_free(&text);
	gen_close(&g);
	close(fd);
	unlink(path);
}

static void test_follow(void)
{
	follow_campaign(OBJ_REGISTER, 16, 31);
	follow_campaign(OBJ_CAS_REGISTER, 16, 32);
	follow_campaign(OBJ_QUEUE, 14, 33);
	follow_campaign(OBJ_SET, 14, 34);
	follow_campaign(OBJ_KV, 12, 35);
	follow_campaign(OBJ_STACK, 12, 36);
}

/* ---- many crashed writes -------------------------------------------------------------- */

/* Sixty writes that never answered beside reads that overlap others: one
 * configuration for each set of them was too many. */
static void test_crashed_writes(void)
{
	char path[] = "/tmp/intact-follow-XXXXXX";
	int fd = mkstemp(path);
	struct gen g;
	struct buf text;
	uint32_t recorded = 0;
	gen_open(&g);
	g.p.obj = OBJ_REGISTER;
	buf_init(&text);
	for (int i = 1; i <= 60; i++) {
		buf_printf(&text, "{:process %d, :type :invoke, :f :write, :value %d}\n", i + 10, i);
		buf_printf(&text, "{:process %d, :type :info, :f :write, :value %d}\n", i + 10, i);
		buf_str(&text, "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 2, :type :invoke, :f :read, :value nil}\n"
		               "{:process 1, :type :invoke, :f :write, :value 1000}\n{:process 1, :type :ok, :f :write, :value 1000}\n");
		buf_printf(&text, "{:process 0, :type :ok, :f :read, :value %d}\n", i % 2 ? 1000 : i);
		buf_str(&text, "{:process 2, :type :ok, :f :read, :value 1000}\n");
	}
	CHECK(fd >= 0 && write(fd, buf_cstr(&text), text.len) == (ssize_t)text.len);
	CHECK_EQ(followed(&g, path, 0, &recorded), 0);
	buf_str(&text, "{:process 1, :type :invoke, :f :write, :value 1000}\n{:process 1, :type :ok, :f :write, :value 1000}\n"
	               "{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :read, :value 6}\n");
	CHECK(!ftruncate(fd, 0) && pwrite(fd, buf_cstr(&text), text.len, 0) == (ssize_t)text.len);
	CHECK_EQ(followed(&g, path, 0, &recorded), 60 * 8 + 4);
	buf_free(&text);
	gen_close(&g);
	close(fd);
	unlink(path);
}

/* ---- searches that start anywhere ------------------------------------------------------ */

static void loose_campaign(enum object obj, uint64_t seed)
{
	uint32_t rounds = soak_rounds(3000, 1000000), right = 0, refuted = 0, wrong = 0;
	struct rng rng;
	struct gen g;
	rng_seed(&rng, soak_seed(seed));
	gen_open(&g);
	g.p.obj = obj;
	for (uint32_t k = 0; k < rounds; k++) {
		struct result r;
		random_history(&g, &rng, 3 + rng_below(&rng, 22), false, rng_below(&rng, 3) * 40);
		enum lin_verdict v = lin_search(&g.p, &r);
		result_free(&r);
		right += v == LIN_HOLDS;
		for (int i = 0; i < 4 && g.p.nevents > 1; i++) {
			uint32_t from = rng_below(&rng, g.p.nevents), to = from + 1 + rng_below(&rng, g.p.nevents - from);
			struct dfs d;
			enum dfs_answer a = dfs_open_loose(&d, &g.p, from, to) ? dfs_run(&d, 0) : DFS_FAILED;
			dfs_close(&d);
			refuted += a == DFS_NONE;
			if (a == DFS_NONE && v == LIN_HOLDS && wrong++ < 3) {
				printf("# no order from event %u to %u\n", from, to);
				gen_dump(&g);
			}
		}
	}
	printf("# %s, seed %llu: %u histories, %u right; %u windows refuted, %u of right ones\n", object_names[obj],
	       (unsigned long long)soak_seed(seed), rounds, right, refuted, wrong);
	CHECK(refuted > rounds / 100);
	CHECK_EQ(wrong, 0);
	gen_close(&g);
}

static void test_loose(void)
{
	loose_campaign(OBJ_REGISTER, 41);
	loose_campaign(OBJ_CAS_REGISTER, 42);
}

int main(void)
{
	RUN(test_follow);
	RUN(test_crashed_writes);
	RUN(test_loose);
	return check_done();
}
