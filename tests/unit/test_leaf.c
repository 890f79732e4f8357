/* leaf: which functions lose their hooks where they are inlined. With --list
 * FILE.ll it prints their names: tests/differential/test_leaf.py compares them
 * with what the functions do. */
#include "check.h"

#include "base/buf.h"
#include "cc/leaf.h"

#define HOOKS                                                                  \
	"\nattributes #0 = { nounwind \"instrument-function-entry\"=\"__cyg_profile_func_enter\" " \
	"\"instrument-function-exit\"=\"__cyg_profile_func_exit\" }\n"         \
	"attributes #7 = { nounwind }\n"

static struct leaf_count count;

/* Whether @f of the text is changed. */
static bool is_leaf(const char *body)
{
	struct buf text, out;
	buf_init(&text);
	buf_init(&out);
	buf_printf(&text, "%s%s", body, HOOKS);
	CHECK(leaf_rewrite(text.data, text.len, &out, &count));
	const char *f = strstr(buf_cstr(&out), "@f(");
	CHECK(f != NULL);
	const char *end = f ? strchr(f, '\n') : NULL;
	bool leaf = end && memmem(f, (size_t)(end - f), " #8 ", 4) != NULL;
	CHECK_EQ(strstr(buf_cstr(&out), "attributes #8 = ") != NULL, count.leaves > 0);
	buf_free(&text);
	buf_free(&out);
	return leaf;
}

#define F(body) "define i32 @f(i32* noundef %0) #0 {\n" body "}\n"
#define SLOT "  %2 = alloca i32*, align 8\n  store i32* %0, i32** %2, align 8\n" \
	"  %3 = load i32*, i32** %2, align 8\n"
#define READ(r) "  " r " = load i32, i32* %3, align 4\n"

static void test_accesses(void)
{
	CHECK(is_leaf(F("  ret i32 1\n")));
	CHECK(is_leaf(F(SLOT READ("%4") "  ret i32 %4\n")));
	CHECK(!is_leaf(F(SLOT READ("%4") READ("%5") "  ret i32 %5\n")));
	CHECK(!is_leaf(F(SLOT READ("%4") "  store i32 %4, i32* %3, align 4\n  ret i32 %4\n")));
	CHECK(is_leaf(F(SLOT "  store i32 7, i32* @global, align 4\n  ret i32 0\n")));
	CHECK(is_leaf(F(SLOT "  %4 = atomicrmw add i32* %3, i32 1 seq_cst, align 4\n  ret i32 %4\n")));
	CHECK(!is_leaf(F(SLOT "  %4 = load atomic i32, i32* %3 seq_cst, align 4\n"
	                 "  %5 = cmpxchg i32* %3, i32 %4, i32 1 seq_cst seq_cst, align 4\n  ret i32 %4\n")));
	CHECK(!is_leaf(F("  fence seq_cst\n  ret i32 0\n")));
	/* the same with pointers that have no type */
	CHECK(is_leaf("define i32 @f(ptr noundef %0) #0 {\n  %2 = alloca ptr, align 8\n  store ptr %0, ptr %2, align 8\n"
	              "  %3 = load ptr, ptr %2, align 8\n  %4 = load i32, ptr %3, align 4\n  ret i32 %4\n}\n"));
}

static void test_stack(void)
{
	/* fields and elements of what is ours */
	CHECK(is_leaf(F("  %2 = alloca %struct.pair, align 8\n  %3 = getelementptr inbounds %struct.pair, %struct.pair* %2, i32 0, i32 1\n"
	                "  store i32 1, i32* %3, align 4\n  %4 = bitcast %struct.pair* %2 to i8*\n  %5 = load i8, i8* %4\n"
	                "  %6 = load i32, i32* %3\n  ret i32 %6\n")));
	/* an address of ours that others can get */
	CHECK(!is_leaf(F("  %2 = alloca i32, align 4\n  store i32* %2, i32** @global, align 8\n  ret i32 0\n")));
	/* what another function calls %2 is not ours */
	CHECK(!is_leaf("define void @g() #0 {\n  %2 = alloca i32\n  ret void\n}\n"
	               "define i32 @f(i32* %0, i32* %1, i32* %2) #0 {\n  %4 = load i32, i32* %2\n  %5 = load i32, i32* %2\n  ret i32 %4\n}\n"));
}

static void test_copies(void)
{
#define COPY(n) F(SLOT "  %4 = alloca i64\n  %5 = bitcast i64* %4 to i8*\n  %6 = bitcast i32* %3 to i8*\n" \
	"  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %5, i8* align 1 %6, i64 " n ", i1 false)\n  ret i32 0\n")
	CHECK(is_leaf(COPY("4")));
	CHECK(is_leaf(COPY("16")));
	CHECK(!is_leaf(COPY("17")));
	CHECK(!is_leaf(COPY("123456789")));
	CHECK(!is_leaf(COPY("%9")));
	CHECK(!is_leaf(F(SLOT "  call void @llvm.memmove.p0i8.p0i8.i64(i8* %3, i8* %3, i64 8, i1 false)\n  ret i32 0\n")));
	CHECK(is_leaf(F(SLOT "  call void @llvm.memset.p0i8.i64(i8* %3, i8 0, i64 8, i1 false)\n  ret i32 0\n")));
	CHECK(!is_leaf(F(SLOT "  call void @llvm.memset.p0i8.i64(i8* %3, i8 0, i64 64, i1 false)\n  ret i32 0\n")));
}

static void test_paths(void)
{
	/* one access on each of two ways */
	CHECK(is_leaf(F(SLOT "  br i1 true, label %4, label %6\n\n4:                            ; preds = %1\n" READ("%5")
	                "  br label %8\n\n6:                            ; preds = %1\n" READ("%7") "  br label %8\n\n8:\n  ret i32 0\n")));
	/* and one more behind them */
	CHECK(!is_leaf(F(SLOT "  br i1 true, label %4, label %6\n\n4:\n" READ("%5") "  br label %8\n\n6:\n  br label %8\n\n8:\n" READ("%9")
	                 "  ret i32 0\n")));
	CHECK(is_leaf(F(SLOT "  switch i32 1, label %4 [\n    i32 1, label %6\n    i32 2, label %8\n  ]\n\n4:\n" READ("%5")
	                "  ret i32 0\n\n6:\n" READ("%7") "  ret i32 0\n\n8:\n" READ("%9") "  ret i32 0\n")));
	/* loops */
	CHECK(!is_leaf(F(SLOT "  br label %4\n\n4:\n" READ("%5") "  br i1 true, label %4, label %6\n\n6:\n  ret i32 0\n")));
	CHECK(is_leaf(F("  br label %4\n\n4:\n  br i1 true, label %4, label %6\n\n6:\n  ret i32 0\n")));
	CHECK(!is_leaf(F(SLOT "  br label %again\n\nagain:\n" READ("%5") "  br i1 true, label %again, label %\"a b\"\n\n\"a b\":\n  ret i32 0\n")));
}

static void test_calls(void)
{
#define G(body) "define internal i32 @g(i32* %0) #0 {\n" body "}\n"
	CHECK(is_leaf(G(SLOT READ("%4") "  ret i32 %4\n") F("  %2 = call i32 @g(i32* %0), !dbg !3\n  ret i32 %2\n")));
	CHECK(is_leaf(F("  %2 = tail call fastcc noundef i32 @g(i32* %0)\n  ret i32 %2\n") G(SLOT READ("%4") "  ret i32 %4\n")));
	CHECK(!is_leaf(G(SLOT READ("%4") "  ret i32 %4\n") F("  %2 = call i32 @g(i32* %0)\n  %3 = call i32 @g(i32* %0)\n  ret i32 %2\n")));
	CHECK(!is_leaf(F("  %2 = call i32 @pthread_mutex_lock(i8* %0) #3\n  ret i32 %2\n")));
	CHECK(!is_leaf(F("  %2 = call i32 (i8*, ...) @printf(i8* %0)\n  ret i32 %2\n")));
	CHECK(!is_leaf(F("  %2 = call i32 %0(i32 1)\n  ret i32 %2\n")));
	CHECK(!is_leaf(F("  call void asm sideeffect \"\", \"~{memory}\"()\n  ret i32 0\n")));
	CHECK(!is_leaf(F("  call void bitcast (void (...)* @g to void (i32)*)(i32 1)\n  ret i32 0\n")));
	CHECK(!is_leaf(F("  invoke void @g2(i32 1)\n          to label %2 unwind label %3\n\n2:\n  ret i32 0\n\n3:\n  ret i32 0\n")));
	CHECK(is_leaf(F("  %2 = call i64 @llvm.cttz.i64(i64 1, i1 true)\n  ret i32 0\n")));
	CHECK(!is_leaf(F("  %2 = call i64 @llvm.something.new(i64 1)\n  ret i32 0\n")));
	CHECK(!is_leaf(F("  %2 = call <4 x i32> @llvm.x86.avx2.pgather(i64 1)\n  ret i32 0\n")));
	/* itself, and in a circle */
	CHECK(!is_leaf(F("  %2 = call i32 @f(i32* %0)\n  ret i32 %2\n")));
	CHECK(!is_leaf(F("  %2 = call i32 @g(i32* %0)\n  ret i32 %2\n") G("  %2 = call i32 @f(i32* %0)\n  ret i32 %2\n")));
	/* C++ names and types */
	CHECK(is_leaf("define linkonce_odr %\"class.a::b\"* @\"g h\"(%\"class.a::b\"* %0) unnamed_addr #7 comdat align 2 {\n  ret %\"class.a::b\"* %0\n}\n"
	              "define i32 @f(i32* %0) #0 personality i8* bitcast (i32 (...)* @p to i8*) {\n"
	              "  %2 = call noundef nonnull align 8 dereferenceable(8) %\"class.a::b\"* @\"g h\"(%\"class.a::b\"* null)\n  ret i32 0\n}\n"));
}

static void test_deep(void)
{
	struct buf text;
	buf_init(&text);
	for (int i = 0; i < 3 * LEAF_DEPTH_MAX; i++)
		buf_printf(&text, "define i32 @c%d() #7 {\n  %%1 = call i32 @c%d()\n  ret i32 0\n}\n", i, i + 1);
	buf_printf(&text, "define i32 @c%d() #7 {\n  ret i32 0\n}\n%s", 3 * LEAF_DEPTH_MAX, F("  %2 = call i32 @c0()\n  ret i32 0\n"));
	CHECK(!is_leaf(text.data));
	CHECK_EQ(count.functions, 3 * LEAF_DEPTH_MAX + 2);
	CHECK_EQ(count.hooked, 1);
	buf_free(&text);
}

/* Cut anywhere and with bytes changed: no crash, and what comes out has the
 * text in it. */
static void test_broken(void)
{
	static const char whole[] = F(SLOT "  br i1 true, label %4, label %\"6 7\"\n\n4:\n" READ("%5")
		"  call void @llvm.memcpy.p0i8.p0i8.i64(i8* align 8 %5, i8* align 1 %6, i64 4, i1 false)\n"
		"  %9 = call %\"x\"* (i8*, ...) @\"q\"(i8* %0), !dbg !2\n  ret i32 0\n") HOOKS;
	static const char marks[] = "(\"%@#{}[],\n =:";
	char text[sizeof whole];
	uint32_t seed = 1;
	for (size_t n = 0; n < sizeof whole; n++)
		for (int k = 0; k < 8; k++) {
			struct buf out;
			buf_init(&out);
			memcpy(text, whole, n);
			text[n] = 0;
			for (int i = 0; i < k && n; i++) {
				seed = seed * 1664525u + 1013904223u;
				text[seed % n] = marks[(seed >> 16) % (sizeof marks - 1)];
			}
			CHECK(leaf_rewrite(text, n, &out, &count));
			CHECK(out.len >= n);
			buf_free(&out);
		}
}

static int list(const char *path)
{
	struct buf text, out;
	char part[4096];
	size_t n;
	FILE *f = fopen(path, "r");
	if (!f)
		return 1;
	buf_init(&text);
	buf_init(&out);
	while ((n = fread(part, 1, sizeof part, f)) > 0)
		buf_add(&text, part, n);
	fclose(f);
	if (!text.data || !leaf_rewrite(text.data, text.len, &out, &count))
		return 1;
	/* Both have the same lines up to the new groups. */
	const char *p = text.data, *q = out.data;
	while (*p) {
		const char *e = strchr(p, '\n'), *g = strchr(q, '\n');
		if (!e || !g)
			break;
		if (!strncmp(p, "define ", 7) && (e - p != g - q || memcmp(p, q, (size_t)(e - p)) != 0)) {
			const char *at = strchr(p, '@');
			printf("%.*s\n", (int)strcspn(at + 1, "("), at + 1);
		}
		p = e + 1;
		q = g + 1;
	}
	buf_free(&text);
	buf_free(&out);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 3 && !strcmp(argv[1], "--list"))
		return list(argv[2]);
	RUN(test_accesses);
	RUN(test_stack);
	RUN(test_copies);
	RUN(test_paths);
	RUN(test_calls);
	RUN(test_deep);
	RUN(test_broken);
	return check_done();
}
