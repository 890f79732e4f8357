/*
 * The JSON writer against jansson: random trees are written, in both layouts
 * and with line breaks anywhere, parsed back and compared; the layouts
 * themselves; and misuse, which must end in an assertion.
 */
#include <jansson.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/json_out.h"
#include "base/rng.h"
#include "check.h"

/* ---- random trees ---------------------------------------------------------- */

/* Text of awkward characters; valid UTF-8, no NUL. */
static const char *word(struct rng *r, char *s)
{
	static const char *const parts[] = { "a", "\"", "\\", "\n", "\t", "\x01", "\x7f", "/", "é", "漢", "😀", "}", "]", ",", ": " };
	size_t n = rng_below(r, 6);
	s[0] = 0;
	while (n--)
		strcat(s, parts[rng_below(r, sizeof parts / sizeof *parts)]);
	return s;
}

static json_t *tree(struct rng *r, unsigned depth)
{
	char s[64], key[80];
	json_t *t;
	uint32_t n = rng_below(r, 5);
	switch (rng_below(r, depth ? 8 : 6)) {
	case 0: return json_null();
	case 1: return json_boolean(rng_below(r, 2));
	case 2: return json_integer((json_int_t)rng_next(r));
	case 3: return json_integer((json_int_t)rng_below(r, 100));
	case 4:
	case 5: return json_string(word(r, s));
	case 6:
		t = json_array();
		while (n--)
			json_array_append_new(t, tree(r, depth - 1));
		return t;
	default:
		t = json_object();
		while (n--) {
			snprintf(key, sizeof key, "%u%s", n, word(r, s)); /* each once */
			json_object_set_new(t, key, tree(r, depth - 1));
		}
		return t;
	}
}

static void write_tree(struct json_out *j, struct rng *r, const char *key, json_t *t)
{
	size_t i;
	const char *name;
	json_t *e;
	if (!rng_below(r, 4))
		json_line(j, rng_below(r, 9));
	switch (json_typeof(t)) {
	case JSON_NULL: rng_below(r, 2) ? json_nothing(j, key) : json_text_or_null(j, key, NULL); break;
	case JSON_TRUE: json_flag(j, key, true); break;
	case JSON_FALSE: json_bool(j, key, false); break;
	case JSON_INTEGER:
		if (json_integer_value(t) >= 0)
			json_uint(j, key, (uint64_t)json_integer_value(t));
		else
			json_int(j, key, json_integer_value(t));
		break;
	case JSON_ARRAY:
		json_begin_array(j, key);
		json_array_foreach(t, i, e)
			write_tree(j, r, NULL, e);
		if (!rng_below(r, 4))
			json_line(j, 0);
		json_end(j);
		break;
	case JSON_OBJECT:
		json_begin_object(j, key);
		json_object_foreach(t, name, e)
			write_tree(j, r, name, e);
		json_end(j);
		break;
	default:
		json_text_n(j, key, json_string_value(t), json_string_length(t));
	}
}

static void random_trees(void)
{
	uint64_t seed = 20;
	for (int i = 0; i < 4000 && !check_failed; i++) {
		struct rng r;
		struct buf b;
		struct json_out j;
		json_error_t err;
		rng_seed(&r, seed + (uint64_t)i);
		json_t *t = tree(&r, 6);
		buf_init(&b);
		json_out_init(&j, &b, rng_below(&r, 2));
		write_tree(&j, &r, NULL, t);
		json_out_end(&j);
		json_t *back = json_loadb(buf_cstr(&b), b.len, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &err);
		CHECK(back && json_equal(t, back));
		if (check_failed)
			printf("# seed %llu: %s\n", (unsigned long long)(seed + (uint64_t)i), buf_cstr(&b));
		json_decref(t);
		json_decref(back);
		buf_free(&b);
	}
}

/* ---- layout ------------------------------------------------------------------ */

static void sample(struct json_out *j)
{
	json_begin_object(j, NULL);
	json_text(j, "a", "x\"y");
	json_int(j, "b", -3);
	json_begin_array(j, "c");
	json_uint(j, NULL, UINT64_MAX);
	json_begin_object(j, NULL);
	json_end(j);
	json_bool(j, NULL, false);
	json_end(j);
	json_flag(j, "absent", false);
	json_text_if(j, "absent", NULL);
	json_begin_array(j, "empty");
	json_end(j);
	buf_printf(json_value(j, "raw"), "%.1f", 2.5);
	json_end(j);
}

static void layouts(void)
{
	struct buf b;
	struct json_out j;
	buf_init(&b);
	json_out_init(&j, &b, false);
	sample(&j);
	CHECK_STR(buf_cstr(&b), "{\"a\": \"x\\\"y\", \"b\": -3, \"c\": [9223372036854775807, {}, false], \"empty\": [], \"raw\": 2.5}");
	buf_clear(&b);
	json_out_init(&j, &b, true);
	sample(&j);
	CHECK_STR(buf_cstr(&b), "{\"a\":\"x\\\"y\",\"b\":-3,\"c\":[9223372036854775807,{},false],\"empty\":[],\"raw\":2.5}");
	buf_free(&b);
}

/* A break takes the blank's place, and goes before whatever comes next. */
static void lines(void)
{
	struct buf b;
	struct json_out j;
	buf_init(&b);
	json_out_init(&j, &b, false);
	json_begin_object(&j, NULL);
	json_line(&j, 2);
	json_uint(&j, "a", 1);
	json_uint(&j, "b", 2);
	json_line(&j, 2);
	json_begin_array(&j, "steps");
	for (unsigned i = 0; i < 2; i++) {
		json_line(&j, 4);
		json_begin_object(&j, NULL);
		json_uint(&j, "n", i);
		json_end(&j);
	}
	json_line(&j, 2);
	json_end(&j);
	json_line(&j, 0);
	json_end(&j);
	json_out_end(&j);
	CHECK_STR(buf_cstr(&b), "{\n  \"a\": 1, \"b\": 2,\n  \"steps\": [\n    {\"n\": 0},\n    {\"n\": 1}\n  ]\n}");
	buf_free(&b);
}

static void parts_of_arrays(void)
{
	struct buf part, none, b;
	struct json_out j;
	buf_init(&part);
	buf_init(&none);
	buf_init(&b);
	json_out_init(&j, &part, true);
	json_uint(&j, NULL, 1);
	json_text(&j, NULL, "\xff");
	json_out_init(&j, &b, true);
	json_begin_array(&j, NULL);
	json_items(&j, &part);
	json_items(&j, &none);
	json_nothing(&j, NULL);
	json_end(&j);
	CHECK_STR(buf_cstr(&b), "[1,\"\xEF\xBF\xBD\",null]");
	CHECK(!b.failed);
	part.failed = true;
	json_out_init(&j, &b, true);
	json_items(&j, &part);
	CHECK(b.failed);
	buf_free(&part);
	buf_free(&none);
	buf_free(&b);
}

/* ---- misuse: asserts, in builds that have them ------------------------------------ */

#ifndef NDEBUG
static void key_in_array(struct json_out *j)
{
	json_begin_array(j, NULL);
	json_uint(j, "a", 1);
}

static void no_key_in_object(struct json_out *j)
{
	json_begin_object(j, NULL);
	json_uint(j, NULL, 1);
}

static void end_too_many(struct json_out *j)
{
	json_end(j);
}

static void left_open(struct json_out *j)
{
	json_begin_array(j, NULL);
	json_out_end(j);
}

static void too_deep(struct json_out *j)
{
	for (int i = 0; i <= JSON_OUT_DEPTH; i++)
		json_begin_array(j, NULL);
}

static void misuse(void)
{
	void (*const wrong[])(struct json_out *) = { key_in_array, no_key_in_object, end_too_many, left_open, too_deep };
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		int status = 0;
		fflush(NULL);
		pid_t pid = fork();
		if (!pid) {
			struct buf b;
			struct json_out j;
			if (!freopen("/dev/null", "w", stderr))
				_exit(2);
			buf_init(&b);
			json_out_init(&j, &b, false);
			wrong[i](&j);
			_exit(0);
		}
		CHECK(pid > 0 && waitpid(pid, &status, 0) == pid);
		CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	}
}
#endif

int main(void)
{
	RUN(random_trees);
	RUN(layouts);
	RUN(lines);
	RUN(parts_of_arrays);
#ifndef NDEBUG
	RUN(misuse);
#endif
	return check_done();
}
