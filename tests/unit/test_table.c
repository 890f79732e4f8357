/*
 * table: exact layout of a small run, and what must hold of every rendering:
 * no line wider than the page, valid UTF-8, nothing a terminal would obey.
 */
#include "check.h"

#include "base/utf8.h"
#include "lang/lang.h"
#include "report/run_json.h"
#include "report/table.h"

static const char lost[] =
	"int[0..2] x;\n"
	"thread a {\n"
	"  atomic inc { x = x + 1; }\n"
	"}\n"
	"thread b { x = 2; }\n"
	"thread idle { x = 0; }\n";

static const struct ir *load(struct lang *l, const char *text, const char *threads, uint32_t n)
{
	struct lang_threads t = { .name = threads, .count = n };
	struct lang_options o = { .sml = 0, .keep_dead = true, .threads = &t, .nthreads = threads != NULL };
	lang_init(l);
	bool ok = lang_load_text(l, "t.atm", text, strlen(text), &o);
	CHECK(ok);
	return ok ? l->ir : NULL;
}

static void take(struct run *r, const char *schedule)
{
	for (; *schedule; schedule++)
		CHECK(run_step(r, (uint32_t)(*schedule - '1'), NULL, 0) <= RUN_FAULT);
}

static void test_exact(void)
{
	struct lang l;
	struct run r;
	struct buf b;
	const struct ir *p = load(&l, lost, NULL, 0);
	if (!p)
		return;
	buf_init(&b);
	CHECK(run_init(&r, p));
	table_render(&r, &(struct table_options){ .width = 100 }, &b);
	CHECK_STR(buf_cstr(&b), "");
	take(&r, "11211");
	table_render(&r, &(struct table_options){ .width = 100, .utf8 = true }, &b);
	CHECK_STR(buf_cstr(&b),
	          "step  1: a          2: b   line  changes\n"
	          "   1  ┌ inc                   3\n"
	          "   2  │ read x → 0            3\n"
	          "   3  │             x = 2     5  x: 0 → 2\n"
	          "   4  │ x = 1                 3  x: 2 → 1\n"
	          "   5  └ inc                   3\n");
	buf_clear(&b);
	const char *notes[] = { NULL, "serially 2", NULL, NULL, NULL };
	const bool marks[] = { false, false, true, false, false };
	table_render(&r, &(struct table_options){ .width = 100, .note_title = "serial order",
	                                          .notes = notes, .marks = marks, .max_rows = 3,
	                                          .full = "--full" }, &b);
	CHECK_STR(buf_cstr(&b),
	          "  step  1: a           2: b  line  serial order\n"
	          "     1  / inc                   3\n"
	          "     2  | read x -> 0           3  serially 2\n"
	          "        .. 2 steps not shown (--full shows all)\n"
	          "     5  \\ inc                   3\n");
	buf_clear(&b);
	table_render(&r, &(struct table_options){ .width = 100, .list = true, .notes = notes,
	                                          .note_title = "note", .marks = marks }, &b);
	CHECK_STR(buf_cstr(&b),
	          "  step  thread                 line  changes    note\n"
	          "     1  1: a    / inc             3\n"
	          "     2  1: a    | read x -> 0     3             serially 2\n"
	          "*    3  2: b    x = 2             5  x: 0 -> 2\n"
	          "     4  1: a    | x = 1           3  x: 2 -> 1\n"
	          "     5  1: a    \\ inc             3\n");
	buf_free(&b);
	run_free(&r);
	lang_free(&l);
}

/* What came of a step is kept when its text is cut. */
static void test_narrow(void)
{
	static const char text[] =
		"bool a_long_name; int[0..9] another_name;\n"
		"thread left { if (cas(a_long_name, false, true)) another_name = 5; }\n"
		"thread right { if (cas(a_long_name, false, true)) another_name = 7; }\n";
	struct lang l;
	struct run r;
	struct buf b;
	const struct ir *p = load(&l, text, NULL, 0);
	if (!p)
		return;
	buf_init(&b);
	CHECK(run_init(&r, p));
	take(&r, "121");
	table_render(&r, &(struct table_options){ .width = 68, .utf8 = true }, &b);
	CHECK_STR(buf_cstr(&b),
	          "step  1: left            2: right           line  changes\n"
	          "   1  cas(a_l… succeeds                        2  a_long_na… → true\n"
	          "   2                     cas(a_long… fails     3\n"
	          "   3  another_name = 5                         2  another_name → 5\n");
	buf_free(&b);
	run_free(&r);
	lang_free(&l);
}

/* Every line fits, is UTF-8, and has no control character. */
static void check_page(const struct buf *b, unsigned width)
{
	const char *line = buf_cstr(b);
	while (*line) {
		const char *end = strchr(line, '\n');
		CHECK(end != NULL);
		if (!end)
			return;
		size_t len = (size_t)(end - line), cols = utf8_columns(line, len);
		if (cols > width)
			printf("# width %u: %.*s\n", width, (int)len, line);
		CHECK(cols <= width);
		CHECK(len == 0 || line[len - 1] != ' ');
		for (size_t i = 0; i < len;) {
			uint32_t cp = 0;
			unsigned n = utf8_decode(line + i, len - i, &cp);
			CHECK(n > 0 && cp >= 0x20 && cp != 0x7F && !utf8_is_deceptive(cp));
			i += n ? n : 1;
		}
		line = end + 1;
	}
}

static void fill_long(struct buf *b)
{
	buf_str(b, "int[0..9] ");
	buf_repeat(b, 'v', 10000);
	buf_str(b, "; bool q; lock l[3];\nthread ");
	buf_repeat(b, 'n', 3000);
	buf_str(b, " * 2 { while (true) { atomic ");
	buf_repeat(b, 'a', 500);
	buf_str(b, " { ");
	buf_repeat(b, 'v', 10000);
	buf_str(b, " = any(0..9); step { q = !q; /* \xE2\x80\xAE\x1b[31m \xE5\xAD\x97 */ assume(q || true); } } } }\n"
	           "thread w { while (true) { acquire(l[1]); assume(/* \xE5\xAD\x97\xE5\xAD\x97 */ q); release(l[1]); } }\n");
}

static void test_every_width(void)
{
	struct buf text, out;
	buf_init(&text);
	buf_init(&out);
	fill_long(&text);
	const char *texts[] = { lost, buf_cstr(&text),
		"int x; bool y; thread worker * 3 { while (true) { atomic { x = (x + 1) % 5; } y = !y; } }" };
	for (int m = 0; m < 3; m++)
		for (uint32_t count = 1; count < 40; count += count < 4 ? 1 : 11) {
			struct lang l;
			struct run r;
			struct rng rng;
			const struct ir *p = load(&l, texts[m], m == 2 ? "worker" : NULL, count);
			if (!p)
				continue;
			CHECK(run_init(&r, p));
			rng_seed(&rng, count);
			for (int i = 0; i < 60; i++)
				run_random(&r, &rng);
			for (unsigned width = 40; width < 180; width += 1 + width / 5) {
				for (int k = 0; k < 8; k++) {
					struct table_options o = { .width = width, .utf8 = k & 1, .list = k & 2,
						                   .max_rows = k & 4 ? 30 : 0 };
					buf_clear(&out);
					table_render(&r, &o, &out);
					check_page(&out, width);
				}
			}
			run_free(&r);
			lang_free(&l);
			if (m < 2)
				break;
		}
	buf_free(&text);
	buf_free(&out);
}

/* Colours change nothing but the colours. */
static void test_color(void)
{
	struct lang l;
	struct run r;
	struct buf plain, color;
	const struct ir *p = load(&l, lost, NULL, 0);
	if (!p)
		return;
	buf_init(&plain);
	buf_init(&color);
	CHECK(run_init(&r, p));
	take(&r, "11321");
	table_render(&r, &(struct table_options){ .width = 60 }, &plain);
	table_render(&r, &(struct table_options){ .width = 60, .color = true }, &color);
	CHECK(strstr(buf_cstr(&color), "\033[") != NULL);
	char *to = color.data;
	for (char *from = color.data; *from;) {
		if (*from == '\033')
			from = strchr(from, 'm') + 1;
		else
			*to++ = *from++;
	}
	*to = 0;
	CHECK_STR(color.data, buf_cstr(&plain));
	buf_free(&plain);
	buf_free(&color);
	run_free(&r);
	lang_free(&l);
}

int main(void)
{
	RUN(test_exact);
	RUN(test_narrow);
	RUN(test_every_width);
	RUN(test_color);
	return check_done();
}
