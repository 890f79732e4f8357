/*
 * Formats: the same history in every one, what is wrong with the place it is
 * wrong at, and random damage, which must never crash or hang.
 */
#include "base/rng.h"
#include "check.h"
#include "soak.h"
#include "history/read.h"
#include "lin_gen.h"

struct reading {
	struct arena arena;
	struct limits lim;
	struct history h;
	struct diags d;
	bool ok;
	struct buf errors;
};

static void open_text(struct reading *r, const char *text, size_t len, enum format f, enum read_order order)
{
	memset(r, 0, sizeof *r);
	arena_init(&r->arena, 0);
	history_init(&r->h, &r->arena, &r->lim);
	diags_init(&r->d, &r->arena);
	buf_init(&r->errors);
	struct read_options o = { .format = f, .order = order };
	r->ok = history_read_text(&r->h, "<text>", text, len, &o, &r->d);
	diags_render(&r->d, &r->errors, false);
}

static void close_text(struct reading *r)
{
	history_free(&r->h);
	arena_free(&r->arena);
	buf_free(&r->errors);
}

static const char edn[] =
	"; a comment\n"
	"[{:process 0, :type :invoke, :f :write, :value 3}\n"
	" {:process 1, :type :invoke, :f :read, :value nil, :extra {:a [1 2] :b #{3}}}\n"
	" {:process :nemesis, :type :info, :f :kill, :value nil}\n"
	" #jepsen.history.Op{:process 0, :type :ok, :f :write, :value 3}\n"
	" {:type :ok :f :read :value 3 :process 1}\n"
	" {:process 2, :type :invoke, :f :cas, :value [3 4]}\n"
	" {:process 2, :type :info, :f :cas, :value [3 4]}]\n";
static const char json[] =
	"{\"process\":0,\"type\":\"invoke\",\"f\":\"write\",\"value\":3}\n"
	"{\"process\":1,\"type\":\"invoke\",\"f\":\"read\",\"value\":null}\n"
	"{\"process\":0,\"type\":\"ok\",\"f\":\"write\",\"value\":3}\n"
	"{\"process\":1,\"type\":\"ok\",\"f\":\"read\",\"value\":3}\n"
	"{\"process\":2,\"type\":\"invoke\",\"f\":\"cas\",\"value\":[3,4]}\n";
static const char porcupine[] =
	"[{\"ClientId\":0,\"Input\":{\"op\":1,\"value\":3},\"Call\":10,\"Output\":{},\"Return\":30},\n"
	" {\"ClientId\":1,\"Input\":{\"op\":0},\"Call\":20,\"Output\":{\"value\":3},\"Return\":40},\n"
	" {\"ClientId\":2,\"Input\":{\"op\":2,\"from\":3,\"to\":4},\"Call\":50,\"Output\":null,\"Return\":null}]\n";
static const char csv[] =
	"client,op,value,call,return\n"
	"0,write,3,10,30\n"
	"1,read,3,20,40\n"
	"2,cas,[3 4],50,\n";
static const char log_text[] =
	"INFO  jepsen.core - starting up\n"
	"INFO  jepsen.util - 0\t:invoke\t:write\t3\n"
	"INFO  jepsen.util - 1\t:invoke\t:read\tnil\n"
	"INFO  jepsen.util - 0\t:ok\t:write\t3\n"
	"INFO  jepsen.util - 1\t:ok\t:read\t3\n"
	"INFO  jepsen.util - 2\t:invoke\t:cas\t[3 4]\n"
	"INFO  jepsen.util - 2\t:info\t:cas\t:timed-out\n";

static void same_history(const char *text, const char *format)
{
	struct reading r;
	open_text(&r, text, strlen(text), FORMAT_GUESS, ORDER_STRICT);
	if (!r.ok)
		printf("# %s: %s", format, buf_cstr(&r.errors));
	CHECK(r.ok);
	CHECK_STR(r.h.format ? r.h.format : "none", format);
	CHECK_EQ(r.h.n, 3);
	if (r.ok && r.h.n == 3) {
		const struct hop *o = r.h.ops;
		CHECK(o[0].fn == FN_WRITE && o[1].fn == FN_READ && o[2].fn == FN_CAS);
		CHECK(o[0].call < o[1].call && o[1].call < o[0].ret && o[0].ret < o[1].ret && o[1].ret < o[2].call);
		CHECK_EQ(o[2].ret, RANK_INF);
		CHECK_EQ(o[0].a, val_int(&r.h.vals, 3));
		CHECK_EQ(o[1].b, val_int(&r.h.vals, 3));
		struct interpretation in = { .init = VAL_NONE };
		CHECK(history_interpret(&r.h, &in, &r.d));
		CHECK_EQ(in.object, OBJ_CAS_REGISTER);
		CHECK_EQ(r.h.ops[2].b, val_int(&r.h.vals, 4));
	}
	close_text(&r);
}

static void test_formats(void)
{
	same_history(edn, "edn");
	same_history(json, "json");
	same_history(porcupine, "json");
	same_history(csv, "csv");
	same_history(log_text, "log");
	same_history("0 write 3 10 30\n1 read 3 20 40\n2 cas 3:4 50 -\n", "csv");
	same_history("[{\"client\":0,\"op\":\"write\",\"value\":3,\"call\":1,\"return\":3},"
	             "{\"client\":1,\"op\":\"read\",\"output\":3,\"call\":2,\"return\":4},"
	             "{\"client\":2,\"Input\":[\"cas\",3,4],\"call\":5}]", "json");
}

static void error_at(const char *text, const char *place, const char *code)
{
	struct reading r;
	open_text(&r, text, strlen(text), FORMAT_GUESS, ORDER_STRICT);
	CHECK(!r.ok);
	bool shown = !*text || strstr(buf_cstr(&r.errors), " ^"); /* the caret */
	if (!strstr(buf_cstr(&r.errors), place) || !strstr(buf_cstr(&r.errors), code) || !shown ||
	    !strstr(buf_cstr(&r.errors), "hint: ")) {
		printf("# expected %s %s in:\n# %s\n", place, code, buf_cstr(&r.errors));
		check_failed++;
	}
	close_text(&r);
}

static void test_errors(void)
{
	error_at("{:process 0, :type :ok, :f :read, :value 1}\n", "<text>:1:1:", "response-without-invocation");
	error_at("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :invoke, :f :read, :value nil}\n",
	         "<text>:2:1:", "two-open-operations");
	error_at("{:process 0, :type :invoke, :f :read, :value nil, :time 5}\n"
	         "{:process 0, :type :ok, :f :read, :value 1, :time 4}\n", "<text>:2:1:", "time-backwards");
	error_at("{:process 0, :type :invoke, :f :read, :value nil}\n{:process 0, :type :ok, :f :write, :value 1}\n",
	         "<text>:2:1:", "response-mismatch");
	error_at("{:process 0, :type :maybe, :f :read}\n", "<text>:1:20:", "bad-record");
	error_at("{:process 0, :type :invoke, :f :frobnicate, :value 1}\n", "<text>:1:33:", "unknown-operation");
	error_at("{:process 0, :type :invoke, :f :write, :value [1 2}\n", "<text>:1:51:", "bad-record");
	error_at("{:process 0, :type :invoke, :f :write, :value [1 2\n", "<text>:2:1:", "bad-record");
	error_at("[{\"process\":0,\"type\":\"invoke\",\"f\":\"read\" \"value\":1}]", "<text>:1:42:", "bad-record");
	error_at("client,op,value,call,return\n0,read,1,5,4\n", "<text>:2:1:", "time-backwards");
	error_at("client,op,value,call,return\n0,read,1,5\n", "<text>:2:1:", "bad-row");
	error_at("client,op,value,call,return\n0,read,1,x,4\n", "<text>:2:10:", "bad-time");
	error_at("client,op,value,call,return\n0,read,1,1,5\n0,read,1,2,6\n", "<text>:3:", "two-open-operations");
	error_at("client,op,value,call,return\n0,read,1,1,5x\n", "<text>:2:12:", "bad-time");
	error_at("client,value,call,return\n0,1,1,5\n", "<text>:1:1:", "bad-header");
	error_at("[{\"ClientId\":0,\"Input\":\"read\",\"Call\":1,\"Return\":2},\n{\"process\":0,\"type\":\"invoke\",\"f\":\"read\"}]",
	         "<text>:2:1:", "mixed-records");
	error_at("{\"process\":0,\"f\":\"read\"}\n", "<text>:1:1:", "bad-record");
	error_at("{\"type\":\"invoke\",\"f\":\"read\"}\n", "<text>:1:1:", "bad-record");
	error_at("INFO jepsen.util - 0 :ok :read 3\n", "<text>:1:1:", "response-without-invocation");
	error_at("INFO jepsen.util - 0 :invoke :cas [1 2\n", "<text>:1:", "bad-record");
	error_at("hello world\n", "<text>:1:1:", "unknown-format");
	error_at("", "no operation", "empty-history");
	char deep[400] = "{:process 0, :type :invoke, :f :write, :value ";
	memset(deep + strlen(deep), '[', 200);
	error_at(deep, "<text>:1:", "nested too deeply");
}

static void test_convert(void)
{
	static const enum format to[] = { FORMAT_EDN, FORMAT_JSON, FORMAT_CSV, FORMAT_LOG };
	for (int i = 0; i < 4; i++) {
		struct reading r, s;
		struct buf out;
		buf_init(&out);
		open_text(&r, edn, strlen(edn), FORMAT_GUESS, ORDER_STRICT);
		history_write(&r.h, to[i], &out, NULL, NULL);
		open_text(&s, out.data, out.len, FORMAT_GUESS, ORDER_STRICT);
		if (!s.ok || s.h.n != r.h.n)
			printf("# %s\n# %s\n", buf_cstr(&out), buf_cstr(&s.errors));
		CHECK(s.ok && s.h.n == r.h.n);
		CHECK_STR(s.h.format ? s.h.format : "none", format_names[to[i]]);
		for (uint32_t k = 0; k < s.h.n && k < r.h.n; k++) {
			CHECK_EQ(s.h.ops[k].fn, r.h.ops[k].fn);
			CHECK_EQ(s.h.ops[k].call, r.h.ops[k].call);
			CHECK_EQ(s.h.ops[k].ret, r.h.ops[k].ret);
		}
		close_text(&r);
		close_text(&s);
		buf_free(&out);
	}
}

/* ---- random histories through every pair of formats -------------------------------- */

static const struct {
	enum object object;
	const char *fns[4];
} kinds[] = {
	{ OBJ_REGISTER, { "read", "write" } }, { OBJ_CAS_REGISTER, { "read", "write", "cas" } },
	{ OBJ_QUEUE, { "enqueue", "dequeue" } }, { OBJ_STACK, { "push", "pop" } },
	{ OBJ_SET, { "add", "remove", "contains", "read" } }, { OBJ_COUNTER, { "add", "read" } },
	{ OBJ_KV, { "get", "put", "append" } }, { OBJ_LIST, { "append", "read" } }, { OBJ_MUTEX, { "acquire", "release" } },
};

static const char *random_value(struct rng *r, enum object o, const char *fn, bool answer)
{
	static const char *const some[] = { "0", "1", "-3", "1000000000000", "1.5", "true", "\"3\"", "\"nil\"", "\"\"",
		                            "\"a b\"", "\"q\\\"r, s;t\"", "\"line\\nline\"", "null", "\"\xc3\xa9\"", "\" x\"" };
	static const char *const pairs[] = { "[1,2]", "[0,\"a\"]", "[null,1]" };
	static const char *const lists[] = { "[]", "[1,2]", "[3,1,2]", NULL };
	static char many[2000];
	bool sees = !strcmp(fn, "read") || !strcmp(fn, "get") || !strcmp(fn, "dequeue") || !strcmp(fn, "pop");
	if (!strcmp(fn, "cas"))
		return pairs[rng_below(r, 3)];
	if (!strcmp(fn, "acquire") || !strcmp(fn, "release") || (sees && !answer))
		return "null";
	if (sees && (o == OBJ_SET || o == OBJ_LIST)) {
		const char *s = lists[rng_below(r, 4)];
		if (s)
			return s;
		strcpy(many, "[1"); /* longer than any line's buffer */
		for (int i = 2; i < 150; i++)
			snprintf(many + strlen(many), 12, ",%d", i);
		return strcat(many, "]");
	}
	if (o == OBJ_COUNTER)
		return some[rng_below(r, 4)];
	if (o == OBJ_KV)
		return some[6 + rng_below(r, 6)];
	return some[rng_below(r, sees ? 15 : 12)];
}

static void random_text(struct rng *r, size_t kind, struct buf *b)
{
	static const char *const keys[] = { "\"k\"", "\"a,b\"", "7" }, *const procs[] = { "0", "1", "2", "\"c3\"" };
	const char *open[4] = { NULL }, *value[4] = { NULL }, *key[4] = { NULL };
	bool keyed = rng_below(r, 3) == 0, named = rng_below(r, 4) == 0;
	uint32_t nfns = 0;
	char copy[4][2000];
	while (nfns < 4 && kinds[kind].fns[nfns])
		nfns++;
	for (int i = 0; i < 24; i++) {
		uint32_t p = rng_below(r, named ? 4 : 3);
		const char *type = open[p] ? rng_below(r, 6) ? "ok" : rng_below(r, 2) ? "fail" : "info" : "invoke";
		bool invoke = !open[p];
		if (invoke) {
			open[p] = kinds[kind].fns[rng_below(r, nfns)];
			snprintf(copy[p], sizeof copy[p], "%s", random_value(r, kinds[kind].object, open[p], false));
			value[p] = copy[p];
			key[p] = keys[rng_below(r, 3)];
		}
		bool answered = !strcmp(type, "ok");
		const char *v = answered ? random_value(r, kinds[kind].object, open[p], true) : value[p];
		bool sees = answered && !strcmp(value[p], "null");
		buf_printf(b, "{\"process\":%s,\"type\":\"%s\",\"f\":\"%s\",\"value\":%s", procs[p], type, open[p],
		           sees ? v : value[p]);
		if (keyed)
			buf_printf(b, ",\"key\":%s", key[p]);
		buf_str(b, "}\n");
		if (!invoke)
			open[p] = NULL;
	}
}

static bool same_value(const struct reading *x, val a, const struct reading *y, val b)
{
	struct buf s, t;
	buf_init(&s);
	buf_init(&t);
	if (a != VAL_NONE)
		val_edn(&x->h.vals, a, &s);
	if (b != VAL_NONE)
		val_edn(&y->h.vals, b, &t);
	bool same = !strcmp(buf_cstr(&s), buf_cstr(&t));
	buf_free(&s);
	buf_free(&t);
	return same;
}

/* Understood as the object, the two say the same. */
static bool same_meaning(struct reading *x, struct reading *y, enum object o)
{
	struct interpretation i = { .object = o, .init = VAL_NONE }, j = i;
	if (!x->ok || !y->ok)
		return x->ok == y->ok;
	bool ok = history_interpret(&x->h, &i, &x->d), same = ok == history_interpret(&y->h, &j, &y->d);
	if (!ok || !same)
		return same;
	same = x->h.n == y->h.n && same_value(x, i.init, y, j.init);
	for (uint32_t k = 0; same && k < x->h.n; k++) {
		const struct hop *a = &x->h.ops[k], *b = &y->h.ops[k];
		bool sees = a->fn == FN_READ || a->fn == FN_DEQ || a->fn == FN_POP, cas = a->fn == FN_CAS;
		bool lock = a->fn == FN_ACQUIRE || a->fn == FN_RELEASE;
		same = a->fn == b->fn && a->res == b->res && (sees || lock || same_value(x, a->a, y, b->a)) &&
		       (!(sees || cas) || same_value(x, a->b, y, b->b)) &&
		       (a->ret == RANK_INF) == (b->ret == RANK_INF) && x->h.keys.len == y->h.keys.len &&
		       (!x->h.keys.len || same_value(x, x->h.keys.data[a->key], y, y->h.keys.data[b->key]));
		for (uint32_t m = 0; same && m < x->h.n; m++) /* what precedes what */
			same = (a->ret < x->h.ops[m].call) == (b->ret < y->h.ops[m].call);
	}
	return same;
}

static void test_convert_pairs(void)
{
	static const enum format to[] = { FORMAT_EDN, FORMAT_JSON, FORMAT_CSV, FORMAT_LOG };
	struct rng rng;
	uint32_t differ = 0, n = soak_rounds(300, 20000), pairs = 0;
	rng_seed(&rng, soak_seed(302));
	for (uint32_t round = 0; round < n; round++) {
		struct buf text;
		buf_init(&text);
		size_t kind = rng_below(&rng, sizeof kinds / sizeof *kinds);
		random_text(&rng, kind, &text);
		for (int i = 0; i < 16; i++) {
			struct reading r, s, t;
			struct buf once, twice;
			buf_init(&once);
			buf_init(&twice);
			open_text(&r, text.data, text.len, FORMAT_JSON, ORDER_STRICT);
			CHECK(r.ok);
			history_write(&r.h, to[i / 4], &once, NULL, NULL);
			open_text(&s, once.data, once.len, FORMAT_GUESS, ORDER_STRICT);
			if (s.ok)
				history_write(&s.h, to[i % 4], &twice, NULL, NULL);
			open_text(&t, buf_cstr(&twice), twice.len, FORMAT_GUESS, ORDER_STRICT);
			/* a log's keys are in its values, which tells when something is read */
			bool told = !r.h.keys.len || (to[i / 4] != FORMAT_LOG && to[i % 4] != FORMAT_LOG);
			pairs += told;
			if (told && !same_meaning(&r, &t, kinds[kind].object) && differ++ < 3)
				printf("# %s, %s, %s:\n%s---\n%s---\n%s%s", object_names[kinds[kind].object], format_names[to[i / 4]],
				       format_names[to[i % 4]], buf_cstr(&text), buf_cstr(&once), buf_cstr(&twice), buf_cstr(&t.errors));
			close_text(&r);
			close_text(&s);
			close_text(&t);
			buf_free(&once);
			buf_free(&twice);
		}
		buf_free(&text);
	}
	printf("# seed %llu: %u histories, %u pairs of formats, %u differ\n", (unsigned long long)soak_seed(302), n, pairs,
	       differ);
	CHECK_EQ(differ, 0);
}

/* Text with bytes changed, cut, doubled: any answer, but an answer. */
static void test_damage(void)
{
	static const char vectors[] = "[[81 :invoke :read nil] [81 :ok :read 0 :more]\n [82 :invoke :cas [0 3]]\n[82 :ok :cas [0 3]]]";
	static const char violin[] = "# @object atomic-queue\n[1] call add(1)\n[2] call remove\n[1] return\n[2] return 1\n"
	                             "[3] call remove(?<1,2>)\n[3] return\n[4] call deq\n[4] return empty\n";
	const char *texts[] = { edn, json, porcupine, csv, log_text, vectors, violin };
	static const char bytes[] = "{}[]()#:;,\"\\\n \t0129-.naefx\0\xff";
	struct rng rng;
	uint32_t good = 0, n = soak_rounds(20000, 2000000);
	rng_seed(&rng, soak_seed(301));
	for (uint32_t k = 0; k < n; k++) {
		char text[2048];
		const char *t = texts[rng_below(&rng, 7)];
		size_t len = strlen(t);
		memcpy(text, t, len);
		for (uint32_t e = 1 + rng_below(&rng, 3); e > 0; e--) {
			uint32_t at = rng_below(&rng, (uint32_t)len), what = rng_below(&rng, 4);
			if (what == 0)
				len = at + 1;
			else if (what == 1)
				memmove(text + at, text + at + 1, --len - at);
			else
				text[at] = bytes[rng_below(&rng, sizeof bytes - 1)];
			if (!len)
				break;
		}
		struct reading r;
		open_text(&r, text, len, (enum format)rng_below(&rng, 6), (enum read_order)rng_below(&rng, 3));
		CHECK(r.ok || r.d.errors || r.lim.spent);
		if (r.ok) {
			struct interpretation in = { .init = VAL_NONE };
			good += history_interpret(&r.h, &in, &r.d);
		}
		close_text(&r);
	}
	printf("# seed %llu: %u of %u damaged texts were still histories\n", (unsigned long long)soak_seed(301), good, n);
	CHECK(good > n / 100 && good < n);
}

int main(void)
{
	RUN(test_formats);
	RUN(test_errors);
	RUN(test_convert);
	RUN(test_convert_pairs);
	RUN(test_damage);
	return check_done();
}
