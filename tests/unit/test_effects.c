/* effects: what clang's intermediate code says of updates and calls. With --list FILE.ll it prints the lines:
 * tests/differential/test_effects.py compares them with what the functions do. */
#include "check.h"

#include "base/buf.h"
#include "base/symtab.h"
#include "cc/effects.h"

#define PLACES                                                                                          \
	"\n!1 = !DIFile(filename: \"b/../c.c\", directory: \"/a\")\n"                                   \
	"!2 = distinct !DISubprogram(name: \"f\", scope: !1, file: !1, line: 1, unit: !9)\n"            \
	"!3 = !DILocation(line: 3, column: 7, scope: !2)\n!4 = !DILocation(line: 4, column: 9, scope: !2)\n" \
	"!5 = !DILocation(line: 5, column: 2, scope: !2)\n"
#define F(body) "define i32 @f(i32* noundef %p, i32 noundef %e) #0 !dbg !2 {\n" body "}\n" PLACES

/* The kind of the update from 3:7 to 4:9, 0 when none is known; `calls`: of the two calls there. */
static char kind_of(const char *text, bool calls)
{
	struct buf out;
	struct symtab t;
	uint32_t line = 0, column = 0;
	buf_init(&out);
	CHECK(effects_list(text, strlen(text), &out));
	CHECK(symtab_read(&t, out.len ? out.data : "", out.len));
	struct sym_use pair = { "/a/c.c", 3, 7, 4, 9, 0 };
	char kind = calls ? symtab_calls(&t, &pair) : symtab_update(&t, "/a/c.c", 4, 9, &line, &column);
	CHECK(calls || !kind || (line == 3 && column == 7));
	symtab_free(&t);
	buf_free(&out);
	return kind;
}

#define LOAD(p)  "  %1 = load i32, i32* " p ", align 4, !dbg !3\n"
#define STORE(v, p) "  store i32 " v ", i32* " p ", align 4, !dbg !4\n"
#define RET "  ret i32 0\n"

static void test_updates(void)
{
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = add nsw i32 %1, 1\n" STORE("%2", "@x") RET), false), SYM_COMMUTES);
	CHECK_EQ(kind_of(F(LOAD("%p") "  %2 = sub i32 %1, %e\n" STORE("%2", "%p") RET), false), SYM_COMMUTES);
	/* 7 - x, e - x: the loaded value is not the first operand */
	CHECK_EQ(kind_of(F(LOAD("%p") "  %2 = sub i32 7, %1\n" STORE("%2", "%p") RET), false), 0);
	CHECK_EQ(kind_of(F(LOAD("%p") "  %2 = sub i32 %e, %1\n" STORE("%2", "%p") RET), false), 0);
	/* (x + 1) & 7 */
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = add i32 %1, 1\n  %3 = and i32 %2, 7\n" STORE("%3", "@x") RET), false), SYM_USED);
	/* x += x */
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = load i32, i32* @x\n  %3 = add i32 %1, %2\n" STORE("%3", "@x") RET), false), SYM_USED);
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = add i32 %1, 1\n" STORE("%2", "@x") "  ret i32 %2\n"), false), SYM_USED);
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = add i32 %1, 1\n" STORE("%2", "@x")
	                   "  %3 = sext i32 %2 to i64\n  %4 = getelementptr inbounds [8 x i32], [8 x i32]* @a, i64 0, i64 %3\n" RET), false), SYM_INDEX);
	CHECK_EQ(kind_of(F(LOAD("@x") "  %2 = add i32 %1, 1\n" STORE("%2", "@y") RET), false), 0);
	/* a local variable is nobody else's */
	CHECK_EQ(kind_of(F("  %v = alloca i32\n" LOAD("%v") "  %2 = add i32 %1, 1\n" STORE("%2", "%v") RET), false), 0);
	/* s->n = s->n + 1: two addresses of one place; not when the pointer may have changed in between */
	CHECK_EQ(kind_of(F("  %3 = getelementptr i32, i32* %p, i64 1\n" LOAD("%3") "  %2 = add i32 %1, 1\n"
	                   "  %4 = getelementptr i32, i32* %p, i64 1\n" STORE("%2", "%4") RET), false), SYM_COMMUTES);
	CHECK_EQ(kind_of(F("  %3 = load i32*, i32** @q\n" LOAD("%3") "  %2 = add i32 %1, 1\n  call void @g()\n"
	                   "  %4 = load i32*, i32** @q\n" STORE("%2", "%4") RET), false), 0);
	CHECK_EQ(kind_of(F("  %1 = load atomic i32, i32* @x seq_cst, align 4, !dbg !3\n  %2 = add i32 %1, 1\n" STORE("%2", "@x") RET), false), 0);
}

#define GET "  %1 = call i32 @get(), !dbg !3\n"

static void test_calls(void)
{
	CHECK_EQ(kind_of(F(GET "  %2 = add i32 %1, 1\n  call void @set(i32 %2), !dbg !4\n" RET), true), SYM_DEPENDS);
	CHECK_EQ(kind_of(F(GET "  call void @set(i32 %e), !dbg !4\n" RET), true), 0);
	/* by way of a local variable, and of a pointer to one */
	CHECK_EQ(kind_of(F("  %v = alloca i32\n" GET "  store i32 %1, i32* %v\n  %2 = load i32, i32* %v\n"
	                   "  call void @set(i32 %2), !dbg !4\n" RET), true), SYM_DEPENDS);
	CHECK_EQ(kind_of(F("  %v = alloca i32\n  call void @get(i32* %v), !dbg !3\n  %2 = load i32, i32* %v\n"
	                   "  call void @set(i32 %2), !dbg !4\n" RET), true), SYM_DEPENDS);
	/* whether it is called at all; after both branches have met again it is */
	CHECK_EQ(kind_of(F(GET "  %2 = icmp eq i32 %1, 0\n  br i1 %2, label %a, label %b\na:\n  call void @set(i32 1), !dbg !4\n"
	                       "  br label %b\nb:\n" RET), true), SYM_DEPENDS);
	CHECK_EQ(kind_of(F(GET "  %2 = icmp eq i32 %1, 0\n  br i1 %2, label %a, label %b\na:\n  br label %b\nb:\n"
	                       "  call void @set(i32 1), !dbg !4\n" RET), true), 0);
	CHECK_EQ(kind_of(F(GET "  %2 = call i32 @get(), !dbg !4\n  %3 = icmp eq i32 %1, %2\n" RET), true), SYM_JOINS);
}

/* Whatever the text, it is read to its end and no farther. */
static void test_broken(void)
{
	static const char whole[] = F(GET LOAD("@x") "  %2 = add nsw i32 %1, 1\n" STORE("%2", "@x") RET);
	struct buf out;
	buf_init(&out);
	for (size_t n = 0; n < sizeof whole; n++) {
		char *part = strndup(whole, n);
		CHECK(part && effects_list(part, n, &out));
		free(part);
	}
	buf_clear(&out);
	CHECK(effects_append(whole, sizeof whole - 1, &out) && strstr(buf_cstr(&out), "module asm \".pushsection " EFFECTS_SECTION));
	buf_free(&out);
}

static int list(const char *path)
{
	struct buf text, out;
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "r");
	buf_init(&text);
	buf_init(&out);
	while (f && (n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(&text, part, n);
	bool ok = f && !fclose(f) && effects_list(buf_cstr(&text), text.len, &out) && buf_flush(&out, stdout);
	buf_free(&text);
	buf_free(&out);
	return ok ? 0 : 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--list"))
		return list(argv[2]);
	RUN(test_updates);
	RUN(test_calls);
	RUN(test_broken);
	return check_done();
}
