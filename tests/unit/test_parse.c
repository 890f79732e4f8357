/*
 * The parsers and ast_equal: texts that are the same model, texts that are
 * not, the shape of trees that must come out (SML's locals and threads), and
 * trees that stay usable after errors.
 */
#include "check.h"

#include "lang/fmt.h"
#include "lang/parse.h"

struct parsed {
	struct unit *u;
	struct diags d;
};

static struct arena arena;
static struct intern names;

static struct parsed parse(const char *text, bool sml)
{
	struct parsed p;
	struct tokens toks;
	struct source *src = arena_new(&arena, struct source);
	source_from_text(src, &arena, sml ? "t.sml" : "t.atm", text, strlen(text));
	diags_init(&p.d, &arena);
	p.u = sml ? parse_sml(src, &names, &arena, &p.d, &toks)
	          : parse_atm(src, &names, &arena, &p.d, &toks);
	return p;
}

static bool equal(const char *a, const char *b, bool sml)
{
	struct parsed x = parse(a, sml), y = parse(b, sml);
	if (x.d.errors || y.d.errors)
		printf("# errors in: %s | %s\n", a, b);
	return !x.d.errors && !y.d.errors && ast_equal(x.u, y.u) && ast_equal(y.u, x.u);
}

static bool differ(const char *a, const char *b, bool sml)
{
	struct parsed x = parse(a, sml), y = parse(b, sml);
	if (x.d.errors || y.d.errors)
		printf("# errors in: %s | %s\n", a, b);
	return !x.d.errors && !y.d.errors && !ast_equal(x.u, y.u) && !ast_equal(y.u, x.u);
}

static void test_equal(void)
{
	CHECK(equal("int x;", "  int /* c */ x ; // d\n", false));
	CHECK(equal("thread t { x = - 1; }", "thread t{x=-1;}", false));
	CHECK(equal("int x = 0x10;", "int x = 16;", false));
	CHECK(equal("int Y; Y := 1 || y := Y", "int Y Y:=1||y:=Y||", true));
	CHECK(equal("int Y; if (Y \xE2\x89\xA4 1) { skip } else { skip }",
	            "int Y; if (Y <= 1) { skip; } else { skip };", true));
	CHECK(equal("int Y; while (! Y ! = 1 | true) { skip }",
	            "int Y; while (\xC2\xAC Y != 1 \xE2\x88\xA8 true) { skip }", true));
}

/* One pair for everything a tree can differ in. */
static void test_differ(void)
{
	static const char *const pairs[][2] = {
		{ "int x;", "int y;" },
		{ "int x;", "bool x;" },
		{ "int x;", "int x; int y;" },
		{ "int x, y;", "int x; int y;" },
		{ "int x;", "int[0..1] x;" },
		{ "int[0..1] x;", "int[0..2] x;" },
		{ "int x;", "int x[1];" },
		{ "int x[1];", "int x[2];" },
		{ "int x;", "int x = 0;" },
		{ "int x[1] = { 1 };", "int x[1] = { 2 };" },
		{ "int x[2] = { 1 };", "int x[2] = { 1, 1 };" },
		{ "safe bool x;", "regular bool x;" },
		{ "const A = 1;", "const A = 2;" },
		{ "enum e { A };", "enum e { A, B };" },
		{ "enum e { A } x;", "enum e { B } x;" },
		{ "proc f() { }", "int f() { }" },
		{ "proc f() { }", "proc f(int a) { }" },
		{ "proc f(int a) { }", "proc f(bool a) { }" },
		{ "thread t { }", "thread t * 2 { }" },
		{ "thread t * 3 { }", "thread t * 2 { }" },
		{ "object R : register(bool) { }", "object R : register(int) { }" },
		{ "object R : register(bool) { }", "object R : queue(bool) { }" },
		{ "object R : register(bool) { }", "object R : register(bool) = true { }" },
		{ "object R : register(bool) { bool v; }", "object R : register(bool) { }" },
		{ "object R : register(bool) { void w() { } }", "object R : register(bool) { }" },
		{ "thread t { x = 1; }", "thread t { x = 2; }" },
		{ "thread t { x = 1; }", "thread t { y = 1; }" },
		{ "thread t { x = 1; }", "thread t { x += 1; }" },
		{ "thread t { x -= 1; }", "thread t { x += 1; }" },
		{ "thread t { x++; }", "thread t { x--; }" },
		{ "thread t { x = a + b; }", "thread t { x = a - b; }" },
		{ "thread t { x = a + b; }", "thread t { x = b + a; }" },
		{ "thread t { x = a + b; }", "thread t { x = (a + b); }" },
		{ "thread t { x = a + b * c; }", "thread t { x = (a + b) * c; }" },
		{ "thread t { x = -a; }", "thread t { x = ~a; }" },
		{ "thread t { x = a ? b : c; }", "thread t { x = a ? c : b; }" },
		{ "thread t { x = f(1); }", "thread t { x = f(1, 2); }" },
		{ "thread t { x = f(1); }", "thread t { x = g(1); }" },
		{ "thread t { R.a(); }", "thread t { R.b(); }" },
		{ "thread t { x = a[1]; }", "thread t { x = a[2]; }" },
		{ "thread t { x = true; }", "thread t { x = false; }" },
		{ "thread t { x = any(bool); }", "thread t { x = any(0..1); }" },
		{ "thread t { x = any(0..2); }", "thread t { x = any(0..1); }" },
		{ "thread t { cas(x, 1, 2); }", "thread t { cas(x, 1, 3); }" },
		{ "thread t { exchange(x, 1); }", "thread t { fetch_add(x, 1); }" },
		{ "thread t { if (a) x = 1; }", "thread t { if (a) x = 1; else x = 1; }" },
		{ "thread t { if (a) x = 1; }", "thread t { while (a) x = 1; }" },
		{ "thread t { if (a) if (b) c = 1; else c = 2; }",
		  "thread t { if (a) { if (b) c = 1; } else c = 2; }" },
		{ "thread t { repeat (2) { } }", "thread t { repeat (3) { } }" },
		{ "thread t { either { } or { } }", "thread t { either { } or { } or { } }" },
		{ "thread t { atomic { } }", "thread t { atomic a { } }" },
		{ "thread t { atomic { } }", "thread t { step { } }" },
		{ "thread t { assume(a); }", "thread t { assert(a); }" },
		{ "thread t { acquire(l); }", "thread t { release(l); }" },
		{ "thread t { return; }", "thread t { return 1; }" },
		{ "thread t { skip; }", "thread t { ; }" },
		{ "thread t { { skip; } }", "thread t { skip; }" },
		{ "thread t { int a; }", "thread t { int a = 0; }" },
	};
	for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
		if (!differ(pairs[i][0], pairs[i][1], false))
			printf("# equal: %s | %s\n", pairs[i][0], pairs[i][1]);
		CHECK(differ(pairs[i][0], pairs[i][1], false));
		CHECK(equal(pairs[i][0], pairs[i][0], false));
	}
	CHECK(differ("int Y; Y := 1 || Y := 1", "int Y; Y := 1; Y := 1", true));
	CHECK(differ("int Y; begin Y := 1 end", "int Y; Y := 1", true));
	CHECK(differ("int Y; x := Y", "int Y; y := Y", true));
}

/* Threads T1, T2; each has its own locals, in order of appearance. */
static void test_sml_tree(void)
{
	struct parsed p = parse("int Y; lock l; a := Y; b := a + c || b := 1; begin skip end", true);
	CHECK_EQ(p.d.errors, 0);
	const struct decl *d = p.u->decls;
	CHECK(p.u->sml && d && d->kind == D_VAR && d->is_shared && d->type->kind == TY_INT);
	d = d->next;
	CHECK(d->kind == D_VAR && d->type->kind == TY_LOCK);
	d = d->next;
	CHECK(d->kind == D_THREAD);
	CHECK_STR(intern_str(&names, d->name), "T1");
	const struct stmt *s = d->body->body;
	CHECK(s->kind == S_DECL);
	static const char *const locals[] = { "a", "b", "c" };
	const struct decl *v = s->decls;
	for (int i = 0; i < 3; i++, v = v ? v->next : NULL)
		CHECK(v && !v->is_shared && !strcmp(intern_str(&names, v->name), locals[i]));
	CHECK(!v && s->next->kind == S_ASSIGN);
	d = d->next;
	CHECK_STR(intern_str(&names, d->name), "T2");
	s = d->body->body;
	CHECK(s->kind == S_DECL && !s->decls->next);
	s = s->next->next;
	CHECK(s->kind == S_ATOMIC && s->name == 0 && s->body->kind == S_BLOCK);
	CHECK(s->body->body->kind == S_SKIP && !d->next);
}

/* ¬ takes a whole comparison, * before +, and all to the left. */
static void test_sml_precedence(void)
{
	CHECK(differ("int Y; x := 1 - 2 - 3", "int Y; x := 1 - (2 - 3)", true));
	struct parsed p = parse("int Y; while (! Y = 1 | Y + 2 * 3 < 4) { skip }", true);
	const struct expr *e = p.u->decls->next->body->body->value;
	CHECK_EQ(p.d.errors, 0);
	CHECK(e->op == OP_LOR && e->a->op == OP_NOT && e->a->a->op == OP_EQ);
	CHECK(e->b->op == OP_LT && e->b->a->op == OP_ADD && e->b->a->b->op == OP_MUL);
	p = parse("int Y; Y := -2147483648", true);
	e = p.u->decls->next->body->body->value;
	CHECK(e->kind == E_INT);
	CHECK_EQ(e->value, INT32_MIN);
}

/* Every prefix of a model parses to something, with or without errors. */
static void test_prefixes(void)
{
	static const char atm[] =
		"enum e { A, B } x = A; const N = 3; lock l; safe int[0..N] a[2] = { 1, 2 };"
		"object R : register(bool) = false { bool v; void write(bool b) { v = b; } "
		"bool read() { return v; } } int f(int p, bool q) { return q ? p : -p; }"
		"thread t * 2 { while (!cas(x, 0, 1)) { } repeat (N) { either { break; } or "
		"{ continue; } } atomic b { acquire(l); commit; x += f(any(0..1), any(bool)); "
		"release(l); } step { x = exchange(x, 1); } if (x) skip; else assert(x); }";
	static const char sml[] =
		"int X; lock l; || begin acquire(l); if (X = 1 | ! X < 2) { X := X + 1 } else "
		"{ skip }; release(l) end || while (true) { x := (X * 2) / -3 } ||";
	char text[sizeof atm];
	for (size_t n = 0; n < sizeof atm; n++) {
		memcpy(text, atm, n);
		text[n] = 0;
		struct parsed p = parse(text, false);
		CHECK(p.u != NULL);
		CHECK(n < sizeof atm - 1 || p.d.errors == 0);
	}
	for (size_t n = 0; n < sizeof sml; n++) {
		memcpy(text, sml, n);
		text[n] = 0;
		struct parsed p = parse(text, true);
		CHECK(p.u != NULL);
		CHECK(n < sizeof sml - 1 || p.d.errors == 0);
	}
}

int main(void)
{
	arena_init(&arena, 0);
	intern_init(&names, &arena);
	RUN(test_equal);
	RUN(test_differ);
	RUN(test_sml_tree);
	RUN(test_sml_precedence);
	RUN(test_prefixes);
	arena_free(&arena);
	return check_done();
}
