/* base: the containers against naive twins, and the text helpers. */
#include "check.h"

#include "base/arena.h"
#include "base/buf.h"
#include "base/diag.h"
#include "base/fold.h"
#include "base/grow.h"
#include "base/intern.h"
#include "base/map.h"
#include "base/opts.h"
#include "base/rng.h"
#include "base/source.h"
#include "base/utf8.h"

static void test_arena_alignment_and_content(void)
{
	struct arena a;
	arena_init(&a, 0);
	struct rng r;
	rng_seed(&r, 1);
	enum { N = 3000 };
	unsigned char *p[N];
	size_t len[N];
	for (int i = 0; i < N; i++) {
		len[i] = rng_below(&r, i % 100 ? 200 : 300000);
		p[i] = arena_alloc(&a, len[i]);
		CHECK((uintptr_t)p[i] % 16 == 0);
		memset(p[i], i & 255, len[i]);
	}
	int bad = 0;
	for (int i = 0; i < N; i++)
		for (size_t j = 0; j < len[i]; j++)
			bad += p[i][j] != (i & 255);
	CHECK_EQ(bad, 0);
	arena_free(&a);
	CHECK_EQ(a.used, 0);
}

static void test_arena_budget_jumps(void)
{
	struct arena a;
	jmp_buf out;
	arena_init(&a, 1 << 20);
	a.oom = &out;
	volatile int rounds = 0;
	if (!setjmp(out)) {
		for (;;) {
			arena_alloc(&a, 1000);
			rounds++;
		}
	}
	CHECK(rounds > 900 && rounds < 1050);
	CHECK(a.used <= 1 << 20);
	if (!setjmp(out)) {
		arena_calloc(&a, SIZE_MAX / 2, 8);
		CHECK(0);
	}
	arena_free(&a);
}

static void test_grow_keeps_zeroes_and_refuses(void)
{
	uint32_t *v = NULL, cap = 0;
	uint16_t *w = NULL;
	uint64_t wide = 0;
	for (uint32_t i = 0; i < 5000; i++) {
		CHECK(GROW(v, cap, i + 1ull) && GROW(w, wide, i + 1ull));
		CHECK(cap > i && wide > i && !v[i] && !w[i]);
		v[i] = i * 7;
		w[i] = (uint16_t)i;
	}
	int bad = 0;
	for (uint32_t i = 0; i < 5000; i++)
		bad += v[i] != i * 7 || w[i] != i;
	for (uint32_t i = 5000; i < cap; i++)
		bad += v[i] != 0;
	CHECK_EQ(bad, 0);
	uint32_t before = cap, *had = v;
	CHECK(!GROW(v, cap, UINT64_C(1) << 32)); /* no 32-bit capacity holds it */
	CHECK(!GROW(v, wide, UINT64_MAX - 1));
	CHECK(cap == before && v == had && v[4999] == 4999 * 7);
	free(v);
	free(w);
}

static void test_map_against_array(void)
{
	enum { KEYS = 5000 };
	static uint32_t twin[KEYS];
	for (int i = 0; i < KEYS; i++)
		twin[i] = MAP_NONE;
	struct map m;
	map_init(&m);
	struct rng r;
	rng_seed(&r, 7);
	for (int i = 0; i < 100000; i++) {
		uint32_t k = rng_below(&r, KEYS), v = rng_below(&r, 1000);
		uint64_t key = (uint64_t)k << (k % 40);
		key = key * 8192 + k;
		switch (rng_below(&r, 3)) {
		case 0:
			CHECK(map_put(&m, key, v));
			twin[k] = v;
			break;
		case 1:
			CHECK(map_intern(&m, key, &v));
			if (twin[k] == MAP_NONE)
				twin[k] = v;
			CHECK_EQ(v, twin[k]);
			break;
		default:
			CHECK_EQ(map_get(&m, key), twin[k]);
		}
	}
	map_free(&m);
}

static void test_intern_is_a_bijection(void)
{
	struct arena a;
	struct intern in;
	arena_init(&a, 0);
	intern_init(&in, &a);
	CHECK_EQ(intern_add(&in, "", 0), 0);
	for (int round = 0; round < 2; round++)
		for (unsigned i = 0; i < 2000; i++) {
			char s[16];
			snprintf(s, sizeof s, "n%u", i);
			uint32_t id = intern_add(&in, s, strlen(s));
			CHECK_EQ(id, i + 1);
			CHECK_STR(intern_str(&in, id), s);
		}
	arena_free(&a);
}

static void test_utf8(void)
{
	uint32_t cp;
	CHECK_EQ(utf8_decode("\xC3\xA9", 2, &cp), 2);
	CHECK_EQ(cp, 0xE9);
	CHECK_EQ(utf8_decode("\xC0\x80", 2, &cp), 0);         /* overlong */
	CHECK_EQ(utf8_decode("\xED\xA0\x80", 3, &cp), 0);     /* surrogate */
	CHECK_EQ(utf8_decode("\xF4\x90\x80\x80", 4, &cp), 0); /* too large */
	CHECK_EQ(utf8_decode("\xE2\x82", 2, &cp), 0);         /* cut short */
	for (uint32_t c = 1; c < 0x110000; c += c < 0x3000 ? 1 : 97) {
		char s[4];
		if (c >= 0xD800 && c <= 0xDFFF)
			continue;
		unsigned n = utf8_encode(c, s);
		CHECK_EQ(utf8_decode(s, n, &cp), n);
		CHECK_EQ(cp, c);
	}
}

static void test_buf_escapes(void)
{
	struct buf b;
	buf_init(&b);
	buf_safe(&b, "a\033[1m\xFF\xE2\x80\xAE", 9);
	CHECK_STR(buf_cstr(&b), "a\\x1B[1m\\xFF\\u{202E}");
	buf_clear(&b);
	buf_json(&b, "q\"\\\n\x01\xFF\0", 7); /* NUL: readers that refuse it can read the rest */
	CHECK_STR(buf_cstr(&b), "\"q\\\"\\\\\\n\\u0001\xEF\xBF\xBD\xEF\xBF\xBD\"");
	buf_free(&b);
}

static void fold_is(const char *text, unsigned width, const char *want)
{
	struct buf b;
	buf_init(&b);
	fold_lines(&b, text, strlen(text), width);
	CHECK_STR(buf_cstr(&b), want);
	buf_free(&b);
}

static void test_why_is_bounded(void)
{
	struct why w;
	char longer[2 * WHY_SIZE];
	CHECK(!why_set(&w, "%s (operation %u)", "no order", 7u));
	CHECK_STR(w.text, "no order (operation 7)");
	for (size_t len = WHY_SIZE - 2; len < WHY_SIZE + 2; len++) { /* the last that fits, the first that is cut */
		memset(longer, 'x', len);
		longer[len] = 0;
		why_set(&w, "%s", longer);
		CHECK_EQ(strlen(w.text), len < WHY_SIZE ? len : WHY_SIZE - 1);
		CHECK_STR(w.text + strlen(w.text) - 3, len < WHY_SIZE ? "xxx" : "...");
	}
	why_set(&w, "short again");
	CHECK_STR(w.text, "short again");
}

static void test_fold(void)
{
	fold_is("one two three\n", 0, "one two three\n");
	fold_is("one two three\n", 13, "one two three\n");
	fold_is("one two three\n", 12, "one two\n  three\n");
	fold_is("  one two three four\nx\n", 9, "  one two\n    three\n    four\nx\n");
	fold_is("abcdefghijkl mn\n\nend", 5, "abcdefghijkl\n  mn\n\nend");
	fold_is("\033[1mone\033[0m two\n", 7, "\033[1mone\033[0m two\n");
	fold_is("\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\n", 5, "\xc3\xa9\xc3\xa9 \xc3\xa9\xc3\xa9\n");
	fold_is("", 5, "");
}

static void test_source_positions(void)
{
	struct arena a;
	struct source s;
	arena_init(&a, 0);
	const char *text = "ab\n\xC3\xA9x\r\n\nlast";
	source_from_text(&s, &a, "t", text, strlen(text));
	CHECK_EQ(s.nlines, 4);
	struct source_pos p = source_pos(&s, 5);
	CHECK_EQ(p.line, 2);
	CHECK_EQ(p.column, 2);
	size_t len;
	CHECK(!memcmp(source_line(&s, 2, &len), "\xC3\xA9x", 3));
	CHECK_EQ(len, 3);
	source_line(&s, 3, &len);
	CHECK_EQ(len, 0);
	p = source_pos(&s, 9999);
	CHECK_EQ(p.line, 4);
	CHECK_EQ(p.column, 5);
	arena_free(&a);
}

static void test_edit_distance(void)
{
	CHECK_EQ(edit_distance("release", "relase", 5), 1);
	CHECK_EQ(edit_distance("hte", "the", 5), 1);
	CHECK_EQ(edit_distance("kitten", "sitting", 5), 3);
	CHECK_EQ(edit_distance("abc", "xyz", 2), 3);
	const char *names[] = { "check", "history", "trace" };
	CHECK_EQ(nearest_name("chekc", names, 3), 0);
	CHECK_EQ(nearest_name("zzz", names, 3), -1);
}

static void test_diag_rendering(void)
{
	struct arena a;
	struct source s;
	struct diags d;
	struct buf out;
	arena_init(&a, 0);
	diags_init(&d, &a);
	buf_init(&out);
	const char *text = "first line\nsecond\tline\n";
	source_from_text(&s, &a, "f.atm", text, strlen(text));
	diag_warn(&d, "later", &s, (struct span){ 18, 22 }, "about %s", "line");
	diag_error(&d, "sooner", &s, (struct span){ 0, 5 }, "bad");
	diag_note(&d, &s, (struct span){ 11, 17 }, "opened here");
	diag_hint(&d, "do this");
	diags_render(&d, &out, false);
	CHECK_STR(buf_cstr(&out),
	          "f.atm:1:1: error: bad [sooner]\n"
	          "     1 | first line\n"
	          "       | ^~~~~\n"
	          "  f.atm:2:1: note: opened here\n"
	          "     2 | second line\n"
	          "       | ^~~~~~\n"
	          "  hint: do this\n"
	          "f.atm:2:8: warning: about line [later]\n"
	          "     2 | second line\n"
	          "       |        ^~~~\n"
	          "1 error\n");
	buf_free(&out);
	arena_free(&a);
}

static void test_options(void)
{
	bool flag = false;
	const char *str = NULL, *items[8], *args[8];
	uint64_t n = 0, size = 0;
	int choice = -1;
	struct opt_list list = { items, 0 };
	const char *const kinds[] = { "commit", "exact", NULL };
	struct opt table[] = {
		{ OPT_FLAG, "flag", 'f', NULL, &flag, "", 0, 0, NULL },
		{ OPT_STR, "str", 0, "S", &str, "", 0, 0, NULL },
		{ OPT_LIST, "item", 0, "S", &list, "", 0, 0, NULL },
		{ OPT_UINT, "number", 'j', "N", &n, "", 1, 9, NULL },
		{ OPT_SIZE, "size", 0, "SIZE", &size, "", 0, 0, NULL },
		{ OPT_CHOICE, "engine", 0, "E", &choice, "", 0, 0, kinds },
		{ 0 },
	};
	struct buf err;
	buf_init(&err);
	char *good[] = { "x", "-f", "--str=a=b", "--item", "1", "--item=2", "-j4",
		         "--size=3G", "--engine=exact", "--", "--flag" };
	struct opts o = { table, args, 0, false };
	CHECK(opts_parse(&o, 11, good, &err));
	CHECK(flag && n == 4 && size == 3ull << 30 && choice == 1 && list.n == 2);
	CHECK_STR(str, "a=b");
	CHECK_EQ(o.nargs, 2);
	CHECK_STR(args[1], "--flag");
	static const struct {
		char *arg;
		const char *says;
	} bad[] = {
		{ "--flga", "unknown option '--flga'; did you mean '--flag'?" },
		{ "--number=12", "--number: 12 is out of range (1 to 9)" },
		{ "--number=x", "--number: expected a whole number, found 'x'" },
		{ "--engine=exat", "--engine: 'exat' is not one of commit, exact; did you mean 'exact'?" },
		{ "--str", "--str needs a value: --str=S" },
		{ "--flag=1", "--flag takes no value" },
		{ "-z", "unknown option '-z'" },
	};
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		buf_clear(&err);
		char *argv[] = { bad[i].arg };
		CHECK(!opts_parse(&o, 1, argv, &err));
		CHECK_STR(buf_cstr(&err), bad[i].says);
	}
	buf_free(&err);
}

int main(void)
{
	RUN(test_arena_alignment_and_content);
	RUN(test_arena_budget_jumps);
	RUN(test_grow_keeps_zeroes_and_refuses);
	RUN(test_map_against_array);
	RUN(test_intern_is_a_bijection);
	RUN(test_utf8);
	RUN(test_buf_escapes);
	RUN(test_why_is_bounded);
	RUN(test_fold);
	RUN(test_source_positions);
	RUN(test_edit_distance);
	RUN(test_diag_rendering);
	RUN(test_options);
	return check_done();
}
