/*
 * Formats: the same history in every one, what is wrong with the place it is
 * wrong at, and random damage, which must never crash or hang.
 */
#include "base/rng.h"
#include "check.h"
#include "soak.h"
#include "lin/read.h"
#include "lin_gen.h"

struct reading {
	struct arena arena;
	struct limits lim;
	struct history h;
	struct diags d;
	bool ok;
	struct buf errors;
};

static void open_text(struct reading *r, const char *text, size_t len, enum format f, enum order order)
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
	if (!strstr(buf_cstr(&r.errors), place) || !strstr(buf_cstr(&r.errors), code)) {
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

/* Text with bytes changed, cut, doubled: any answer, but an answer. */
static void test_damage(void)
{
	const char *texts[] = { edn, json, porcupine, csv, log_text };
	static const char bytes[] = "{}[]()#:;,\"\\\n \t0129-.naefx\0\xff";
	struct rng rng;
	uint32_t good = 0, n = soak_rounds(20000, 2000000);
	rng_seed(&rng, soak_seed(301));
	for (uint32_t k = 0; k < n; k++) {
		char text[2048];
		const char *t = texts[rng_below(&rng, 5)];
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
		open_text(&r, text, len, (enum format)rng_below(&rng, 5), (enum order)rng_below(&rng, 3));
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
	RUN(test_damage);
	return check_done();
}
