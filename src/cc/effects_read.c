/* effects_read: lines of intermediate code into instructions, values and places (effects.h, How). */
#include "cc/effects_unit.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

static uint64_t mix(uint64_t a, uint64_t b)
{
	a = (a ^ b) * 0x9e3779b97f4a7c15ull;
	return a ^ a >> 29;
}

/* ---- names ---- */

static uint32_t value_of(struct effects_unit *u, struct text_span s)
{
	assert(s.s < s.end);
	uint32_t id = intern_add(&u->names, s.s, (size_t)(s.end - s.s));
	while (u->values.len <= id)
		avec_push(&u->arena, &u->values, ((struct effects_value){ 0 }));
	struct effects_value *v = &u->values.data[id];
	if (v->fn != u->fn)
		*v = (struct effects_value){ .fn = u->fn,
			                     .def = EFFECTS_NONE,
			                     .only = EFFECTS_NONE,
			                     .base = EFFECTS_NONE,
			                     .block = EFFECTS_NONE,
			                     .number = mix(id, 7) };
	return id;
}

uint32_t effects_block_at(struct effects_unit *u, struct text_span name)
{
	struct effects_value *v = &u->values.data[value_of(u, name)];
	if (v->block == EFFECTS_NONE)
		v->block = u->nblocks++;
	return v->block;
}

/* The local variable that the pointer leads into, or NONE. */
uint32_t effects_local_at(const struct effects_unit *u, uint32_t value)
{
	assert(value < u->values.len);
	const struct effects_value *v = &u->values.data[value];
	return v->local ? value : v->base;
}

bool effects_is_local(const struct effects_unit *u, const struct effects_ins *i)
{
	return effects_local_at(u, u->ops.data[i->op0 + i->nops - 1]) != EFFECTS_NONE;
}

/* ---- instructions ---- */

/* The values named in a text; labels and types are not defined anywhere, and so say nothing. */
static void add_operands(struct effects_unit *u, struct text_span l)
{
	for (const char *p = l.s; p < l.end;) {
		if (*p == '"') {
			p = skip_string(p, l.end);
		} else if (*p == '!' || *p == '#') {
			p = skip_name(p + 1, l.end);
		} else if (*p == '%' || *p == '@') {
			const char *q = skip_name(p + 1, l.end);
			if (q > p + 1) {
				uint32_t id = value_of(u, (struct text_span){ p, q });
				avec_push(&u->arena, &u->ops, id);
			}
			p = q > p + 1 ? q : p + 1;
		} else {
			p++;
		}
	}
}

/* Without the metadata at its end; *dbg gets the location's number. */
static struct text_span without_metadata(struct text_span l, uint32_t *dbg)
{
	static const char word[] = ", !dbg !";
	*dbg = 0;
	if (!l.s || l.s == l.end)
		return l;
	const char *at = memmem(l.s, (size_t)(l.end - l.s), word, sizeof word - 1);
	if (at)
		*dbg = (uint32_t)strtoul(at + sizeof word - 1, NULL, 10);
	const char *m = memmem(l.s, (size_t)(l.end - l.s), ", !", 3);
	return (struct text_span){ l.s, m ? m : l.end };
}

/* What the text computes: its words, names by their numbers. */
static uint64_t number_text(struct effects_unit *u, struct text_span l)
{
	uint64_t h = 1469598103934665603ull;
	for (const char *p = l.s; p < l.end;) {
		if (*p == '%' || *p == '@') {
			const char *q = skip_name(p + 1, l.end);
			h = mix(h, q > p + 1 ? u->values.data[value_of(u, (struct text_span){ p, q })].number : 1);
			p = q > p + 1 ? q : p + 1;
		} else {
			h = mix(h, (unsigned char)*p++);
		}
	}
	return h;
}

static enum effects_kind kind_of(struct text_span l)
{
	static const struct {
		const char *word;
		enum effects_kind kind;
	} words[] = {
		{ "load ", I_LOAD },  { "store ", I_STORE },       { "add ", I_ADD },       { "sub ", I_SUB },
		{ "or ", I_OR },      { "and ", I_AND },           { "xor ", I_XOR },       { "mul ", I_MUL },
		{ "sext ", I_CAST },  { "zext ", I_CAST },         { "trunc ", I_CAST },    { "bitcast ", I_CAST },
		{ "call ", I_CALL },  { "invoke ", I_CALL },       { "alloca ", I_ALLOCA }, { "phi ", I_PHI },
		{ "br ", I_END },     { "ret ", I_END },           { "switch ", I_END },    { "unreachable", I_END },
		{ "resume ", I_END }, { "getelementptr ", I_GEP },
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (span_starts(l, words[i].word))
			return words[i].kind;
	return I_OTHER;
}

static void add_edges(struct effects_unit *u, struct text_span l, uint32_t from)
{
	for (const char *p = l.s; p + 7 < l.end; p++) {
		if (*p == '"')
			p = skip_string(p, l.end) - 1;
		if (memcmp(p, "label %", 7) != 0)
			continue;
		struct text_span name = { p + 6, skip_name(p + 7, l.end) };
		struct effects_edge e = { from, effects_block_at(u, name) };
		avec_push(&u->arena, &u->edges, e);
		p = name.end - 1;
	}
}

/* A call that is not an intrinsic's is a place; markers are nothing at all. */
static bool is_marker(struct text_span l)
{
	return span_has(l, "@llvm.dbg.") || span_has(l, "@llvm.lifetime.") || span_has(l, "@llvm.assume") ||
	       span_has(l, "@llvm.experimental.noalias");
}

static void define(struct effects_unit *u, struct effects_ins *i, struct text_span text)
{
	struct effects_value *v = i->result != EFFECTS_NONE ? &u->values.data[i->result] : NULL;
	const uint32_t *op = &u->ops.data[i->op0];
	if (i->kind == I_STORE || i->kind == I_LOAD) {
		uint32_t at = i->nops ? op[i->nops - 1] : EFFECTS_NONE;
		i->number = at == EFFECTS_NONE ? 0 : u->values.data[at].number;
		uint32_t local = at == EFFECTS_NONE ? EFFECTS_NONE : effects_local_at(u, at);
		if (v && local == at && local != EFFECTS_NONE) /* it is what is in the variable now */
			v->number = mix(mix(i->number, 11), u->values.data[local].stores > 1
			                                            ? mix(u->values.data[local].stores, i->block)
			                                            : u->values.data[local].stores);
		else if (v)
			v->number = mix(mix(i->number, 13), mix(u->memory, i->block));
		if (i->kind == I_STORE && local != EFFECTS_NONE && local == at) {
			u->values.data[local].stores++;
			u->values.data[local].only = u->ins.len;
		} else if (i->kind == I_STORE) {
			u->memory++;
		}
		return;
	}
	if (i->kind == I_CALL || i->kind == I_OTHER)
		u->memory++;
	if (!v)
		return;
	if (i->kind == I_ALLOCA)
		v->local = true;
	else if (i->kind != I_CALL && i->kind != I_PHI && i->kind != I_OTHER)
		v->number = number_text(u, text);
	if ((i->kind == I_GEP || i->kind == I_CAST) && i->nops)
		for (uint32_t k = 0; k < i->nops && v->base == EFFECTS_NONE; k++)
			v->base = effects_local_at(u, op[k]);
	if (i->kind == I_GEP && v->base != EFFECTS_NONE)
		u->values.data[v->base].pieces = true;
}

void effects_read_instruction(struct effects_unit *u, struct text_span l, uint32_t block)
{
	struct effects_ins i = { .result = EFFECTS_NONE, .block = block, .call = EFFECTS_NONE, .op0 = u->ops.len };
	l = without_metadata(l, &i.dbg);
	if (l.s < l.end && *l.s == '%') {
		const char *q = skip_name(l.s + 1, l.end);
		i.result = value_of(u, (struct text_span){ l.s, q });
		l.s = q;
		if (!span_starts(l, " = "))
			return;
		l.s += 3;
	}
	static const char *const tails[] = { "tail ", "musttail ", "notail " };
	for (int k = 0; k < 3; k++)
		if (span_starts(l, tails[k]))
			l.s += strlen(tails[k]);
	if (is_marker(l))
		return;
	i.kind = (uint8_t)kind_of(l);
	if ((i.kind == I_LOAD || i.kind == I_STORE) && span_has(l, " atomic "))
		i.kind = I_OTHER;
	add_operands(u, l);
	if (i.kind == I_LOAD || i.kind == I_STORE) { /* value and address alone, not what types and alignment name */
		struct text_span rest = { skip_name(l.s, l.end), l.end }, a = span_part(&rest), b = span_part(&rest);
		u->ops.len = i.op0;
		if (i.kind == I_STORE)
			add_operands(u, span_value(a));
		add_operands(u, span_value(b));
		/* A constant expression for an address. */
		i.kind = u->ops.len == i.op0 + (i.kind == I_STORE && *span_value(a).s == '%') + 1 ? i.kind : I_OTHER;
	}
	i.nops = u->ops.len - i.op0;
	if (i.kind == I_SUB && *span_value(span_part(&(struct text_span){ l.s, l.end })).s != '%')
		i.kind = I_OTHER; /* 7 - x: what is left would look like x - 7 */
	if (i.kind == I_CALL && !span_has(l, "@llvm.") && i.dbg) {
		if (u->ncalls < EFFECTS_CALLS)
			u->call_ins[u->ncalls] = u->ins.len;
		i.call = u->ncalls++;
	}
	if (i.kind == I_END || span_starts(l, "invoke "))
		add_edges(u, l, block);
	define(u, &i, l);
	for (uint32_t k = 0; k < i.nops; k++) {
		struct effects_value *v = &u->values.data[u->ops.data[i.op0 + k]];
		bool address = (i.kind == I_LOAD || i.kind == I_STORE) && k == i.nops - 1;
		v->uses++;
		if (v->local && !address)
			v->escapes = true;
	}
	if (i.result != EFFECTS_NONE)
		u->values.data[i.result].def = u->ins.len;
	avec_push(&u->arena, &u->ins, i);
}

/* ---- locations ---- */

static uint32_t number_after(struct text_span l, const char *word)
{
	const char *at = memmem(l.s, (size_t)(l.end - l.s), word, strlen(word));
	return at ? (uint32_t)strtoul(at + strlen(word), NULL, 10) : 0;
}

static struct text_span string_after(struct text_span l, const char *word)
{
	const char *at = memmem(l.s, (size_t)(l.end - l.s), word, strlen(word));
	if (!at)
		return (struct text_span){ l.end, l.end };
	const char *from = at + strlen(word), *to = memchr(from, '"', (size_t)(l.end - from));
	return (struct text_span){ from, to ? to : from };
}

/* "/a/./b/../c" as "/a/c", as the reports name files; NULL: it has letters that are escaped. */
static const char *path_of(struct effects_unit *u, struct text_span dir, struct text_span name)
{
	bool whole = name.s < name.end && *name.s == '/';
	char *text = arena_printf(&u->arena, "%.*s%s%.*s", whole ? 0 : (int)(dir.end - dir.s), dir.s,
	                          whole || dir.s == dir.end ? "" : "/", (int)(name.end - name.s), name.s),
	     *w = text;
	if (strpbrk(text, "\\\"\t"))
		return NULL;
	for (const char *r = text; *r;) {
		if (!strncmp(r, "/./", 3)) {
			r += 2;
			continue;
		}
		char *back = w;
		bool up = !strncmp(r, "/../", 4);
		while (up && back > text && back[-1] != '/')
			back--;
		if (up && back > text + 1 && strncmp(back, "..", 2) != 0) {
			w = back - 1;
			r += 3;
		} else {
			*w++ = *r++;
		}
	}
	*w = 0;
	return text;
}

void effects_read_metadata(struct effects_unit *u, struct text_span l)
{
	char *q;
	unsigned long n = strtoul(l.s + 1, &q, 10);
	if (n > 1u << 24 || strncmp(q, " = ", 3) != 0)
		return;
	bool file = span_has(l, "!DIFile("), location = span_has(l, "!DILocation(");
	if (!file && !location && !span_has(l, "!DILexicalBlock") && !span_has(l, "!DISubprogram("))
		return;
	while (u->places.len <= n)
		avec_push(&u->arena, &u->places, ((struct effects_place){ 0 }));
	struct effects_place *p = &u->places.data[n];
	if (file) {
		p->path = path_of(u, string_after(l, "directory: \""), string_after(l, "filename: \""));
		return;
	}
	p->scope = location ? number_after(l, "scope: !") : 0;
	p->file = number_after(l, ", file: !");
	if (location) {
		p->line = number_after(l, "(line: ");
		p->column = number_after(l, "column: ");
	}
}
