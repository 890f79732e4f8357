/*
 * leaf: see leaf.h. Two steps: `scan` turns each function's lines into marks
 * (an access, a call, a block, an edge), `worst_of` finds the most accesses on
 * a path through them. Blocks are ordered in the text such that edges lead
 * forward unless there is a loop, so one walk in the text's order sees every
 * block after all that lead to it.
 */
#include "cc/leaf.h"

#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/invariant.h"
#include "cc/text.h"

enum { MANY = 2 };
enum mark_kind { M_ACCESS, M_CALL, M_BLOCK, M_EDGE };
enum leaf_state { NEW, OPEN, DONE };

struct leaf_mark {
	uint32_t kind;
	uint32_t value; /* accesses; name called; number of the block */
};

struct leaf_fn {
	uint32_t name;
	size_t group_at, group_len; /* "#12" in the text; 0: none */
	uint32_t mark0, nmarks, nblocks;
	uint8_t state, worst;
};

/* What a name is in the function being scanned, by id. */
struct local {
	uint32_t stack_in;        /* a stack address in this function (its index + 1) */
	uint32_t block_in, block; /* a label in this function, its number */
	uint32_t fn1;             /* a function's index + 1 */
};

struct leaf_unit {
	struct arena arena;
	struct intern names;
	AVEC(struct local) locals;
	AVEC(struct leaf_fn) fns;
	AVEC(struct leaf_mark) marks;
	const char *text;
	uint32_t now; /* index + 1 of the function being scanned */
};

/* ---- names ---- */

static struct local *local_of(struct leaf_unit *u, struct text_span s)
{
	assert(s.s <= s.end);
	uint32_t id = intern_add(&u->names, s.s, (size_t)(s.end - s.s));
	while (u->locals.len <= id)
		avec_push(&u->arena, &u->locals, ((struct local){ 0 }));
	assert(id < u->locals.len);
	return &u->locals.data[id];
}

static bool on_stack(struct leaf_unit *u, struct text_span operand)
{
	struct text_span v = span_value(operand);
	return v.s < v.end && *v.s == '%' && local_of(u, v)->stack_in == u->now;
}

static void set_stack(struct leaf_unit *u, struct text_span name)
{
	if (name.s < name.end)
		local_of(u, name)->stack_in = u->now;
}

static void mark(struct leaf_unit *u, enum mark_kind kind, uint32_t v)
{
	assert(u->now && u->now <= u->fns.len);
	assert(kind <= M_EDGE);
	avec_push(&u->arena, &u->marks, ((struct leaf_mark){ kind, v }));
}

/* The number of the block named so ("%12", quoted or not). */
static uint32_t block_of(struct leaf_unit *u, struct text_span name)
{
	assert(u->now && u->now <= u->fns.len);
	struct local *l = local_of(u, name);
	struct leaf_fn *f = &u->fns.data[u->now - 1];
	if (l->block_in != u->now) {
		l->block_in = u->now;
		l->block = f->nblocks++;
	}
	assert(l->block < f->nblocks);
	return l->block;
}

/* ---- instructions ---- */

/* Intrinsics that touch no memory that others see. */
static bool is_pure(struct text_span name)
{
	static const char *const words[] = { "dbg.",
		                             "lifetime.",
		                             "expect",
		                             "assume",
		                             "ctlz.",
		                             "cttz.",
		                             "ctpop.",
		                             "bswap.",
		                             "bitreverse.",
		                             "fshl.",
		                             "fshr.",
		                             "abs.",
		                             "smax.",
		                             "smin.",
		                             "umax.",
		                             "umin.",
		                             "sadd.",
		                             "uadd.",
		                             "ssub.",
		                             "usub.",
		                             "smul.",
		                             "umul.",
		                             "sshl.",
		                             "ushl.",
		                             "objectsize.",
		                             "is.constant.",
		                             "prefetch",
		                             "trap",
		                             "fabs.",
		                             "sqrt.",
		                             "floor.",
		                             "ceil.",
		                             "trunc.",
		                             "rint.",
		                             "nearbyint.",
		                             "round.",
		                             "fma.",
		                             "fmuladd.",
		                             "copysign.",
		                             "minnum.",
		                             "maxnum.",
		                             "minimum.",
		                             "maximum.",
		                             "vector.reduce.",
		                             "x86.sse2.p",
		                             "x86.sse2.cvt",
		                             "x86.ssse3.p",
		                             "x86.sse41.p",
		                             "x86.sse42.crc32",
		                             "x86.avx2.p",
		                             "x86.pclmulqdq",
		                             "x86.aesni.",
		                             "x86.bmi.",
		                             "experimental.noalias.scope.decl",
		                             NULL };
	if (!span_starts(name, "@llvm."))
		return false;
	name.s += strlen("@llvm.");
	for (int i = 0; words[i]; i++)
		if (span_starts(name, words[i]))
			return !span_starts(name, "x86.avx2.pgather");
	return false;
}

/* Copies and fills: who is touched, and how much. */
static uint32_t copied(struct leaf_unit *u, struct text_span args, bool from)
{
	uint32_t n = !on_stack(u, span_part(&args));
	struct text_span second = span_part(&args), size = span_value(span_part(&args));
	if (from && !on_stack(u, second))
		n++;
	char digits[8] = "";
	size_t len = (size_t)(size.end - size.s);
	if (!n)
		return 0;
	if (!len || len >= sizeof digits)
		return MANY;
	memcpy(digits, size.s, len);
	return digits[0] < '0' || digits[0] > '9' || atoi(digits) > 16 ? MANY : n;
}

/* The called name, or an empty span for everything but a plain name; its
 * arguments. */
static struct text_span callee(struct text_span l, struct text_span *args)
{
	assert(l.s <= l.end);
	struct text_span none = { l.s, l.s };
	for (const char *p = l.s; p < l.end;) {
		if (*p == '"') {
			p = skip_string(p, l.end);
		} else if (*p == '(' || *p == '[' || *p == '{') {
			p = skip_group(p, l.end);
		} else if (*p == '@' || *p == '%') {
			const char *q = skip_name(p + 1, l.end);
			if (q < l.end && *q == '(') {
				const char *e = skip_group(q, l.end);
				*args = (struct text_span){ q + 1, e > q + 1 ? e - 1 : e };
				return *p == '@' ? (struct text_span){ p, q } : none;
			}
			p = q > p + 1 ? q : p + 1;
		} else if (is_name_char(*p)) {
			const char *q = skip_name(p, l.end);
			if (q - p == 3 && !memcmp(p, "asm", 3))
				return none;
			p = q;
		} else {
			p++;
		}
	}
	return none;
}

static void scan_call(struct leaf_unit *u, struct text_span l)
{
	struct text_span args = { l.s, l.s }, name = callee(l, &args);
	if (name.s == name.end) {
		mark(u, M_ACCESS, MANY);
	} else if (span_starts(name, "@llvm.memcpy.") || span_starts(name, "@llvm.memmove.")) {
		mark(u, M_ACCESS, copied(u, args, true));
	} else if (span_starts(name, "@llvm.memset.")) {
		mark(u, M_ACCESS, copied(u, args, false));
	} else if (!is_pure(name)) {
		local_of(u, name);
		mark(u, M_CALL, intern_add(&u->names, name.s, (size_t)(name.end - name.s)));
	}
}

/* store VALUE, ADDRESS: an address of ours that others get is given up. */
static void scan_store(struct leaf_unit *u, struct text_span l)
{
	struct text_span what = span_part(&l), where = span_part(&l);
	if (!on_stack(u, where))
		mark(u, M_ACCESS, on_stack(u, what) ? MANY : 1);
}

static void scan_edges(struct leaf_unit *u, struct text_span l)
{
	for (const char *p = l.s; p + 7 < l.end; p++) {
		if (*p == '"')
			p = skip_string(p, l.end) - 1;
		if (*p != 'l' || memcmp(p, "label %", 7))
			continue;
		struct text_span name = { p + 6, skip_name(p + 7, l.end) };
		mark(u, M_EDGE, block_of(u, name));
		p = name.end - 1;
	}
}

/* bitcast and the like: the value's type is not told from it by a comma. */
static struct text_span before_to(struct text_span l)
{
	for (const char *p = l.s; p + 4 <= l.end; p++)
		if (!memcmp(p, " to ", 4))
			return (struct text_span){ l.s, p };
	return l;
}

static void scan_instruction(struct leaf_unit *u, struct text_span l)
{
	assert(l.s < l.end && u->now);
	struct text_span result = { l.s, l.s };
	if (*l.s == '%') {
		result.end = skip_name(l.s + 1, l.end);
		l.s = result.end;
		if (!span_starts(l, " = "))
			return;
		l.s += 3;
	}
	static const char *const tails[] = { "tail ", "musttail ", "notail " };
	for (int i = 0; i < 3; i++)
		if (span_starts(l, tails[i]))
			l.s += strlen(tails[i]);
	struct text_span rest = { skip_name(l.s, l.end), l.end };
	if (rest.s < rest.end)
		rest.s++;
	if (span_starts(l, "call ") || span_starts(l, "invoke ") || span_starts(l, "callbr ")) {
		scan_call(u, rest);
	} else if (span_starts(l, "load ")) {
		span_part(&rest);
		if (!on_stack(u, span_part(&rest)))
			mark(u, M_ACCESS, 1);
	} else if (span_starts(l, "store ")) {
		scan_store(u, rest);
	} else if (span_starts(l, "atomicrmw ") || span_starts(l, "cmpxchg ")) {
		mark(u, M_ACCESS, 1);
	} else if (span_starts(l, "va_arg ") || span_starts(l, "fence ")) {
		mark(u, M_ACCESS, MANY);
	} else if (span_starts(l, "alloca ")) {
		set_stack(u, result);
	} else if (span_starts(l, "getelementptr ")) {
		span_part(&rest);
		if (on_stack(u, span_part(&rest)))
			set_stack(u, result);
	} else if (span_starts(l, "bitcast ") || span_starts(l, "addrspacecast ")) {
		if (on_stack(u, before_to(rest)))
			set_stack(u, result);
	}
	scan_edges(u, l);
}

/* A label at the line's beginning: "12:" or "if.then:". */
static void scan_label(struct leaf_unit *u, struct text_span l)
{
	const char *q = skip_name(l.s, l.end);
	if (q == l.s || q >= l.end || *q != ':')
		return;
	size_t n = (size_t)(q - l.s);
	char *name = arena_alloc(&u->arena, n + 1);
	name[0] = '%';
	memcpy(name + 1, l.s, n);
	mark(u, M_BLOCK, block_of(u, (struct text_span){ name, name + n + 1 }));
}

/* ---- functions ---- */

static void begin_function(struct leaf_unit *u, struct text_span l)
{
	assert(!u->now);
	struct leaf_fn f = { .mark0 = u->marks.len };
	const char *at = memchr(l.s, '@', (size_t)(l.end - l.s));
	if (!at)
		return;
	const char *q = skip_name(at + 1, l.end);
	f.name = intern_add(&u->names, at, (size_t)(q - at));
	struct local *k = local_of(u, (struct text_span){ at, q });
	if (q < l.end && *q == '(')
		q = skip_group(q, l.end);
	for (; q + 2 < l.end; q++) {
		if (*q == '"')
			q = skip_string(q, l.end) - 1;
		else if (q[0] == ' ' && q[1] == '#') {
			f.group_at = (size_t)(q + 1 - u->text);
			f.group_len = (size_t)(skip_name(q + 2, l.end) - (q + 1));
			break;
		}
	}
	avec_push(&u->arena, &u->fns, f);
	u->now = k->fn1 = u->fns.len;
	assert(u->now == u->fns.len && u->fns.data[u->now - 1].mark0 == u->marks.len);
}

static void end_function(struct leaf_unit *u)
{
	assert(u->now && u->now <= u->fns.len);
	struct leaf_fn *f = &u->fns.data[u->now - 1];
	f->nmarks = u->marks.len - f->mark0;
	u->now = 0;
	assert(f->mark0 + f->nmarks == u->marks.len);
}

static void scan(struct leaf_unit *u, const char *text, size_t len)
{
	const char *end = text + len;
	for (const char *p = text, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct text_span l = { p, nl ? nl : end };
		next = nl ? nl + 1 : end;
		if (!u->now) {
			if (span_starts(l, "define ") && l.end[-1] == '{')
				begin_function(u, l);
			continue;
		}
		if (*p == '}') {
			end_function(u);
		} else if (*p == ' ') {
			while (l.s < l.end && *l.s == ' ')
				l.s++;
			if (l.s < l.end && *l.s != '#' && *l.s != ';')
				scan_instruction(u, l);
		} else {
			scan_label(u, l);
		}
	}
	if (u->now)
		end_function(u);
	assert(!u->now);
}

static uint32_t worst_of(struct leaf_unit *u, uint32_t index, unsigned depth);

static uint32_t worst_call(struct leaf_unit *u, uint32_t name, unsigned depth)
{
	assert(name < u->locals.len);
	uint32_t fn1 = u->locals.data[name].fn1;
	return fn1 ? worst_of(u, fn1 - 1, depth + 1) : MANY;
}

/* The most accesses on a path, MANY for two and more. */
static uint32_t worst_of(struct leaf_unit *u, uint32_t index, unsigned depth)
{
	assert(index < u->fns.len);
	struct leaf_fn *f = &u->fns.data[index];
	if (f->state == DONE)
		return f->worst;
	if (f->state == OPEN || depth > LEAF_DEPTH_MAX)
		return MANY;
	f->state = OPEN;
	uint8_t *in = arena_calloc(&u->arena, f->nblocks + 1, 2), *seen = in + f->nblocks + 1;
	uint32_t now = 0, most = 0;
	bool loop = false;
	for (uint32_t i = 0; i < f->nmarks && most < MANY; i++) {
		struct leaf_mark m = u->marks.data[f->mark0 + i];
		switch (m.kind) {
		case M_ACCESS:
			now += m.value;
			break;
		case M_CALL:
			now += worst_call(u, m.value, depth);
			break;
		case M_BLOCK:
			now = in[m.value];
			seen[m.value] = 1;
			break;
		case M_EDGE:
			loop |= seen[m.value];
			if (in[m.value] < now)
				in[m.value] = (uint8_t)now;
			break;
		}
		if (now > MANY)
			now = MANY;
		if (now > most)
			most = now;
	}
	f->worst = (uint8_t)(loop && most ? MANY : most);
	f->state = DONE;
	assert(f->worst <= MANY && f->mark0 + f->nmarks <= u->marks.len);
	return f->worst;
}

/* ---- writing ---- */

#define ENTRY "\"instrument-function-entry\"="
#define EXIT  "\"instrument-function-exit\"="

/* A line "attributes #12 = { ... }" by its number. */
struct leaf_group {
	struct text_span body; /* behind "= " */
	uint32_t to;           /* the number of its changed copy; 0: none yet */
	bool hooks;
};

struct groups {
	AVEC(struct leaf_group) v;
	uint32_t next;
};

static void find_groups(struct leaf_unit *u, size_t len, struct groups *g)
{
	const char *end = u->text + len;
	for (const char *p = u->text, *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct text_span l = { p, nl ? nl : end };
		next = nl ? nl + 1 : end;
		if (!span_starts(l, "attributes #"))
			continue;
		char *q;
		unsigned long n = strtoul(l.s + strlen("attributes #"), &q, 10);
		if (n > 1u << 20 || strncmp(q, " = ", 3) != 0)
			continue;
		while (g->v.len <= n)
			avec_push(&u->arena, &g->v, ((struct leaf_group){ 0 }));
		struct text_span body = { q + 3, l.end };
		g->v.data[n] = (struct leaf_group){ body, 0, span_has(body, ENTRY) };
	}
	g->next = g->v.len;
	assert(g->next >= g->v.len);
}

/* `word` becomes the same with "-inlined" in front of its last quote. */
static void add_changed(struct buf *out, struct text_span body)
{
	assert(body.s <= body.end);
	static const char *const words[] = { ENTRY, EXIT };
	const char *p = body.s;
	while (p < body.end) {
		struct text_span rest = { p, body.end };
		size_t n = 0;
		for (int i = 0; i < 2 && !n; i++)
			if (span_starts(rest, words[i]))
				n = strlen(words[i]);
		if (n) {
			buf_add(out, p, n - 2);
			buf_str(out, "-inlined\"=");
			p += n;
		} else {
			buf_char(out, *p++);
		}
	}
}

static void write_out(struct leaf_unit *u, size_t len, struct buf *out, struct leaf_count *count)
{
	struct groups g = { 0 };
	find_groups(u, len, &g);
	size_t at = 0;
	for (uint32_t i = 0; i < u->fns.len; i++) {
		struct leaf_fn *f = &u->fns.data[i];
		unsigned long n = f->group_len ? strtoul(u->text + f->group_at + 1, NULL, 10) : g.v.len;
		if (n >= g.v.len || !g.v.data[n].hooks)
			continue;
		count->hooked++;
		if (worst_of(u, i, 0) >= MANY)
			continue;
		count->leaves++;
		if (!g.v.data[n].to)
			g.v.data[n].to = g.next++;
		buf_add(out, u->text + at, f->group_at - at);
		buf_printf(out, "#%u", g.v.data[n].to);
		at = f->group_at + f->group_len;
	}
	buf_add(out, u->text + at, len - at);
	buf_char(out, '\n');
	for (uint32_t n = 0; n < g.v.len; n++) {
		if (!g.v.data[n].to)
			continue;
		buf_printf(out, "attributes #%u = ", g.v.data[n].to);
		add_changed(out, g.v.data[n].body);
		buf_char(out, '\n');
	}
}

bool leaf_rewrite(const char *text, size_t len, struct buf *out, struct leaf_count *count)
{
	if (len > LEAF_TEXT_MAX)
		return false;
	struct leaf_unit *u = calloc(1, sizeof *u);
	if (!u)
		return false;
	jmp_buf oom;
	*count = (struct leaf_count){ 0 };
	arena_init(&u->arena, 0);
	u->arena.oom = &oom;
	if (setjmp(oom)) {
		out->failed = true;
	} else {
		u->text = text;
		intern_init(&u->names, &u->arena);
		scan(u, text, len);
		count->functions = u->fns.len;
		write_out(u, len, out, count);
	}
	arena_free(&u->arena);
	free(u);
	return !out->failed;
}
