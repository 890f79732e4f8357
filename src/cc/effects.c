/*
 * effects: see effects.h. `read_function` makes instructions of lines, `updates` and `relations` look at them,
 * `put_places` has lines and columns.
 */
#include "cc/effects.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/intern.h"
#include "base/invariant.h"
#include "base/symtab.h"
#include "cc/text.h"

enum { NONE = UINT32_MAX, WORDS = EFFECTS_CALLS / 64, SLICE = 64 };

enum effects_kind {
	I_OTHER,
	I_LOAD,
	I_STORE,
	I_ADD,
	I_SUB,
	I_OR,
	I_AND,
	I_XOR,
	I_MUL,
	I_CAST,
	I_GEP,
	I_CALL,
	I_ALLOCA,
	I_PHI,
	I_END
};

struct effects_ins {
	uint8_t kind;
	uint32_t result;     /* a value, or NONE */
	uint32_t op0, nops;  /* in `ops`: the values it uses; of a load the address, of a store value and address */
	uint32_t block, dbg; /* dbg: number of the location, 0: none */
	uint32_t call;       /* of a call: its number in the function, or NONE */
	uint64_t number;     /* of a load or store: that of the address */
};

struct effects_value { /* what a name is in the function being read */
	uint32_t fn;   /* stamp */
	uint32_t def;  /* instruction, or NONE */
	uint32_t uses;
	uint32_t stores, only; /* of a local variable: stores to it, one of these */
	bool pieces;           /* parts of it have addresses */
	bool local, escapes;   /* a local variable; its address is used for more than loads and stores */
	uint32_t base;         /* a pointer into this local variable, or NONE */
	uint64_t number;
	uint64_t calls[WORDS];
	uint32_t block; /* of a label: its number, or NONE */
};

struct effects_place {
	uint32_t line, column, scope, file; /* scope: another entry; file: an entry with a path */
	const char *path;
};

struct effects_edge {
	uint32_t from, to;
};

struct effects_unit {
	struct arena arena;
	struct intern names;
	AVEC(struct effects_value) values;
	AVEC(struct effects_place) places;
	AVEC(struct effects_ins) ins;
	AVEC(uint32_t) ops;
	AVEC(struct effects_edge) edges;
	uint32_t fn, nblocks, ncalls, memory;
	uint32_t call_ins[EFFECTS_CALLS];
	uint32_t file; /* of the last line written */
	uint32_t npairs;
	struct buf *out;
};

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
		*v = (struct effects_value){
			.fn = u->fn, .def = NONE, .only = NONE, .base = NONE, .block = NONE, .number = mix(id, 7)
		};
	return id;
}

static uint32_t block_at(struct effects_unit *u, struct text_span name)
{
	struct effects_value *v = &u->values.data[value_of(u, name)];
	if (v->block == NONE)
		v->block = u->nblocks++;
	return v->block;
}

/* The local variable that the pointer leads into, or NONE. */
static uint32_t local_at(const struct effects_unit *u, uint32_t value)
{
	assert(value < u->values.len);
	const struct effects_value *v = &u->values.data[value];
	return v->local ? value : v->base;
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
		struct effects_edge e = { from, block_at(u, name) };
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
	struct effects_value *v = i->result != NONE ? &u->values.data[i->result] : NULL;
	const uint32_t *op = &u->ops.data[i->op0];
	if (i->kind == I_STORE || i->kind == I_LOAD) {
		uint32_t at = i->nops ? op[i->nops - 1] : NONE;
		i->number = at == NONE ? 0 : u->values.data[at].number;
		uint32_t local = at == NONE ? NONE : local_at(u, at);
		if (v && local == at && local != NONE) /* it is what is in the variable now */
			v->number = mix(mix(i->number, 11), u->values.data[local].stores > 1
			                                            ? mix(u->values.data[local].stores, i->block)
			                                            : u->values.data[local].stores);
		else if (v)
			v->number = mix(mix(i->number, 13), mix(u->memory, i->block));
		if (i->kind == I_STORE && local != NONE && local == at) {
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
		for (uint32_t k = 0; k < i->nops && v->base == NONE; k++)
			v->base = local_at(u, op[k]);
	if (i->kind == I_GEP && v->base != NONE)
		u->values.data[v->base].pieces = true;
}

static void read_instruction(struct effects_unit *u, struct text_span l, uint32_t block)
{
	struct effects_ins i = { .result = NONE, .block = block, .call = NONE, .op0 = u->ops.len };
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
	if (i.result != NONE)
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

static void read_metadata(struct effects_unit *u, struct text_span l)
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

/* The entry with the path of a location; 0: unknown. */
static uint32_t file_of(const struct effects_unit *u, uint32_t dbg)
{
	uint32_t scope = dbg < u->places.len ? u->places.data[dbg].scope : 0;
	uint32_t file = scope < u->places.len ? u->places.data[scope].file : 0;
	return file < u->places.len && u->places.data[file].path ? file : 0;
}

static void put_places(struct effects_unit *u, uint32_t a, uint32_t b, char kind)
{
	assert(kind);
	uint32_t file = file_of(u, a);
	if (!file || file_of(u, b) != file || !u->places.data[a].line || !u->places.data[b].line)
		return;
	if (file != u->file)
		symtab_put_file(u->out, u->places.data[file].path);
	u->file = file;
	const struct effects_place *x = &u->places.data[a], *y = &u->places.data[b];
	symtab_put_use(
		u->out,
		&(struct sym_use){ .line = x->line, .column = x->column, .line2 = y->line, .column2 = y->column, .kind = kind });
}

/* ---- updates ---- */

/* The instruction that the value is of; a load of a variable that is stored once: of what was stored. */
static const struct effects_ins *def_of(const struct effects_unit *u, uint32_t value)
{
	for (unsigned n = 0; n < 16; n++) {
		const struct effects_value *v = &u->values.data[value];
		if (v->def == NONE)
			return NULL;
		const struct effects_ins *i = &u->ins.data[v->def];
		uint32_t at = i->kind == I_LOAD ? u->ops.data[i->op0] : NONE;
		const struct effects_value *local = at != NONE ? &u->values.data[at] : NULL;
		if (!local || !local->local || local->escapes || local->stores != 1)
			return i;
		const struct effects_ins *store = &u->ins.data[local->only];
		if (store->nops != 2) /* a constant */
			return i;
		value = u->ops.data[store->op0];
	}
	return NULL;
}

/* May the value depend on what is at this address? Values that came from elsewhere (arguments of the function) do not. */
static bool depends_on(const struct effects_unit *u, uint32_t value, uint64_t address, unsigned *left)
{
	const struct effects_ins *i = def_of(u, value);
	if (!i)
		return false;
	if (!*left || (i->kind == I_LOAD && i->number == address) || i->kind == I_PHI)
		return true;
	--*left;
	if (i->kind == I_LOAD) {
		const struct effects_value *at = &u->values.data[u->ops.data[i->op0]];
		if ((at->local || at->base != NONE) && !(at->local && at->stores <= 1 && !at->escapes))
			return true; /* a variable that is stored several times */
	}
	for (uint32_t k = 0; k < i->nops; k++)
		if (depends_on(u, u->ops.data[i->op0 + k], address, left))
			return true;
	return false;
}

struct effects_chain { /* from the load to the store of an update */
	const struct effects_ins *load;
	uint8_t family;        /* I_ADD ...; I_OTHER: several, or not commutative */
	bool single;           /* the values between have no other use */
	uint32_t value[16], n; /* they, the loaded one last */
};

static bool is_local(const struct effects_unit *u, const struct effects_ins *i)
{
	return local_at(u, u->ops.data[i->op0 + i->nops - 1]) != NONE;
}

/* Does the value come, by arithmetic, from a load of this address? */
static bool find_chain(const struct effects_unit *u, uint32_t value, uint64_t address, uint32_t block, struct effects_chain *c,
                       unsigned depth)
{
	const struct effects_value *v = &u->values.data[value];
	if (v->def == NONE || depth == sizeof c->value / sizeof *c->value)
		return false;
	const struct effects_ins *i = &u->ins.data[v->def];
	c->value[depth] = value;
	if (i->kind == I_LOAD && i->number == address && i->block == block) {
		c->load = i;
		c->n = depth + 1;
		c->single = c->single && v->uses == 1;
		return true;
	}
	if (i->kind < I_ADD || i->kind > I_CAST)
		return false;
	uint32_t last = i->kind == I_SUB || i->kind == I_CAST ? 1 : i->nops;
	for (uint32_t k = 0; k < i->nops && k < last; k++) {
		struct effects_chain below = *c;
		/* x - e, but not e - x: an operand that is a constant is not in the list */
		if (!find_chain(u, u->ops.data[i->op0 + k], address, block, &below, depth + 1))
			continue;
		*c = below;
		c->single = c->single && v->uses == 1;
		uint8_t family = i->kind == I_SUB ? I_ADD : i->kind;
		if (family != I_CAST)
			c->family = c->family == I_CAST || c->family == family ? family : I_OTHER;
		for (uint32_t o = 0; o < i->nops; o++) {
			unsigned left = SLICE;
			if (o != k && depends_on(u, u->ops.data[i->op0 + o], address, &left))
				c->family = I_OTHER;
		}
		return true;
	}
	return false;
}

/* Is the value used in an address, by way of arithmetic and of variables that are stored once? */
static bool indexes(const struct effects_unit *u, uint32_t value, unsigned depth)
{
	for (uint32_t n = 0; n < u->ins.len && depth < 6; n++) {
		const struct effects_ins *i = &u->ins.data[n];
		for (uint32_t k = 0; k < i->nops; k++) {
			if (u->ops.data[i->op0 + k] != value)
				continue;
			if (i->kind == I_GEP || (i->kind == I_LOAD && !u->values.data[value].local) ||
			    (i->kind == I_STORE && k == 1))
				return true;
			if (i->kind >= I_ADD && i->kind <= I_CAST && indexes(u, i->result, depth + 1))
				return true;
			uint32_t at = i->kind == I_STORE && i->nops == 2 && k == 0 ? u->ops.data[i->op0 + 1] : NONE;
			if (at == NONE || !u->values.data[at].local || u->values.data[at].stores != 1 || u->values.data[at].escapes)
				continue;
			for (uint32_t m = n; m < u->ins.len; m++)
				if (u->ins.data[m].kind == I_LOAD && u->ops.data[u->ins.data[m].op0] == at &&
				    indexes(u, u->ins.data[m].result, depth + 1))
					return true;
		}
	}
	return false;
}

static void updates(struct effects_unit *u)
{
	for (uint32_t n = 0; n < u->ins.len; n++) {
		const struct effects_ins *s = &u->ins.data[n];
		if (s->kind != I_STORE || s->nops != 2 || is_local(u, s))
			continue;
		struct effects_chain c = { .single = true, .family = I_CAST };
		if (!find_chain(u, u->ops.data[s->op0], s->number, s->block, &c, 0) || c.n < 2)
			continue;
		char kind = c.single && c.family != I_OTHER && c.family != I_CAST ? SYM_COMMUTES : SYM_USED;
		for (uint32_t k = 0; kind == SYM_USED && k < c.n; k++)
			if (u->values.data[c.value[k]].uses > 1 && indexes(u, c.value[k], 0))
				kind = SYM_INDEX;
		put_places(u, c.load->dbg, s->dbg, kind);
	}
}

/* ---- calls ---- */

static bool or_into(uint64_t *to, const uint64_t *from)
{
	bool more = false;
	for (unsigned i = 0; i < WORDS; i++) {
		more |= from[i] & ~to[i];
		to[i] |= from[i];
	}
	return more;
}

/* Which blocks come before `at` on some path that does not go through `not`; `at` among them. */
static void reach_back(const struct effects_unit *u, uint8_t *seen, const uint32_t *from, const uint32_t *next, uint32_t at,
                       uint32_t not, uint32_t *stack)
{
	uint32_t n = 0;
	if (at == not || seen[at])
		return;
	seen[at] = 1;
	stack[n++] = at;
	while (n) {
		uint32_t b = stack[--n];
		for (uint32_t e = from[b]; e != NONE; e = next[e]) {
			uint32_t p = u->edges.data[e].from;
			if (p != not &&!seen[p]) {
				seen[p] = 1;
				stack[n++] = p;
			}
		}
	}
}

/* For each block with a call or a store to a local variable: the blocks whose branches decide whether it is come to (bits, nblocks each). */
static uint8_t *controls(struct effects_unit *u)
{
	uint32_t nb = u->nblocks, ne = u->edges.len;
	uint8_t *out = arena_calloc(&u->arena, (size_t)nb * nb + 1, 1), *to = arena_calloc(&u->arena, nb + 1, 1),
		*past = arena_calloc(&u->arena, nb + 1, 1), *wanted = arena_calloc(&u->arena, nb + 1, 1);
	uint32_t *from = arena_array(&u->arena, uint32_t, nb + 1), *next = arena_array(&u->arena, uint32_t, ne + 1),
		 *stack = arena_array(&u->arena, uint32_t, nb + 1), *outs = arena_calloc(&u->arena, nb + 1, sizeof *outs);
	for (uint32_t b = 0; b < nb; b++)
		from[b] = NONE;
	for (uint32_t e = 0; e < ne; e++) {
		next[e] = from[u->edges.data[e].to];
		from[u->edges.data[e].to] = e;
		outs[u->edges.data[e].from]++;
	}
	for (uint32_t n = 0; n < u->ins.len; n++) {
		const struct effects_ins *i = &u->ins.data[n];
		wanted[i->block] |= i->call != NONE || (i->kind == I_STORE && is_local(u, i));
		for (uint32_t e = 0; i->kind == I_PHI && e < ne; e++)
			if (u->edges.data[e].to == i->block)
				wanted[u->edges.data[e].from] = 1;
	}
	for (uint32_t b = 0; b < nb; b++) {
		if (!wanted[b])
			continue;
		memset(to, 0, nb);
		memset(past, 0, nb);
		reach_back(u, to, from, next, b, NONE, stack);
		for (uint32_t x = 0; x < nb; x++)
			if (!outs[x])
				reach_back(u, past, from, next, x, b, stack);
		for (uint32_t e = 0; e < ne; e++) /* one way leads to it, another past it */
			for (uint32_t f = 0; f < ne; f++) {
				struct effects_edge x = u->edges.data[e], y = u->edges.data[f];
				if (x.from == y.from && x.from != b && to[x.to] && past[y.to] && y.to != b &&
				    !(past[x.to] && x.to == y.to))
					out[(size_t)b * nb + x.from] = 1;
			}
	}
	return out;
}

/* What the relations of a function are found with. The calls that a local variable's value comes from differ from place to
 * place: `in` has them at the beginning of each block. */
struct effects_flow {
	uint64_t (*in)[WORDS];      /* block * nlocals + local */
	uint64_t (*now)[WORDS];     /* local, while a block is read */
	uint64_t (*decides)[WORDS]; /* block: what its branch comes from */
	uint64_t (*needs)[WORDS];   /* call */
	uint8_t *control;           /* controls() */
	uint32_t *local;            /* value to local */
	uint32_t nlocals;
};

/* What decides whether the block is come to. */
static void deciding(const struct effects_unit *u, const struct effects_flow *f, uint32_t block, uint64_t *out)
{
	for (uint32_t b = 0; b < u->nblocks; b++)
		if (f->control[(size_t)block * u->nblocks + b])
			or_into(out, f->decides[b]);
}

/* The calls that an instruction's operands come from; of pointers to local variables, what those hold. */
static void operands(const struct effects_unit *u, const struct effects_flow *f, const struct effects_ins *i, uint64_t *out)
{
	for (uint32_t k = 0; k < i->nops; k++) {
		uint32_t op = u->ops.data[i->op0 + k], local = local_at(u, op);
		bool target = i->kind == I_STORE && k == i->nops - 1;
		or_into(out, u->values.data[op].calls);
		if (local != NONE && !target && i->kind != I_GEP && i->kind != I_CAST)
			or_into(out, f->now[f->local[local]]);
	}
	for (uint32_t e = 0; i->kind == I_PHI && e < u->edges.len; e++)
		if (u->edges.data[e].to == i->block) {
			or_into(out, f->decides[u->edges.data[e].from]);
			deciding(u, f, u->edges.data[e].from, out);
		}
}

/* What the instruction leaves in local variables. */
static void leaves(const struct effects_unit *u, const struct effects_flow *f, const struct effects_ins *i, uint64_t *set)
{
	for (uint32_t k = 0; k < i->nops; k++) {
		uint32_t op = u->ops.data[i->op0 + k], local = local_at(u, op);
		bool target = i->kind == I_STORE && k == i->nops - 1;
		if (local == NONE || (i->kind != I_CALL && !target))
			continue;
		deciding(u, f, i->block, set);
		if (target && local == op && !u->values.data[local].pieces)
			memcpy(f->now[f->local[local]], set, WORDS * sizeof *set);
		else
			or_into(f->now[f->local[local]], set);
	}
}

static bool pass_on(struct effects_unit *u, const struct effects_flow *f)
{
	bool more = false;
	uint32_t n = 0;
	while (n < u->ins.len) { /* the instructions of a block are together */
		uint32_t block = u->ins.data[n].block;
		memcpy(f->now, f->in[(size_t)block * f->nlocals], f->nlocals * sizeof *f->now);
		for (; n < u->ins.len && u->ins.data[n].block == block; n++) {
			const struct effects_ins *i = &u->ins.data[n];
			uint64_t set[WORDS] = { 0 };
			operands(u, f, i, set);
			if (i->kind == I_END)
				more |= or_into(f->decides[block], set);
			if (i->call != NONE) {
				more |= or_into(f->needs[i->call], set);
				set[i->call / 64] |= 1ull << i->call % 64;
			}
			if (i->result != NONE && i->kind != I_ALLOCA)
				more |= or_into(u->values.data[i->result].calls, set);
			leaves(u, f, i, set);
		}
		for (uint32_t e = 0; e < u->edges.len; e++)
			for (uint32_t l = 0; u->edges.data[e].from == block && l < f->nlocals; l++)
				more |= or_into(f->in[(size_t)u->edges.data[e].to * f->nlocals + l], f->now[l]);
	}
	return more;
}

static void put_pair(struct effects_unit *u, uint32_t a, uint32_t b, char kind)
{
	assert(a < u->ncalls && b < u->ncalls);
	if (a != b && u->npairs++ < EFFECTS_PAIRS)
		put_places(u, u->ins.data[u->call_ins[a]].dbg, u->ins.data[u->call_ins[b]].dbg, kind);
}

static bool has(const uint64_t *set, uint32_t call)
{
	assert(call < EFFECTS_CALLS);
	return set[call / 64] >> call % 64 & 1;
}

/* Two operands that come from different calls. */
static void joins(struct effects_unit *u, const struct effects_ins *i, uint64_t (*needs)[WORDS], uint64_t (*told)[WORDS])
{
	for (uint32_t k = 0; k < i->nops; k++)
		for (uint32_t m = 0; m < i->nops; m++)
			for (uint32_t a = 0; m != k && a < u->ncalls; a++)
				for (uint32_t b = a + 1; has(u->values.data[u->ops.data[i->op0 + k]].calls, a) && b < u->ncalls;
				     b++)
					if (has(u->values.data[u->ops.data[i->op0 + m]].calls, b) && !has(needs[b], a) &&
					    !has(needs[a], b) && !has(told[a], b)) {
						told[a][b / 64] |= 1ull << b % 64;
						put_pair(u, a, b, SYM_JOINS);
					}
}

static bool begin_flow(struct effects_unit *u, struct effects_flow *f)
{
	f->local = arena_array(&u->arena, uint32_t, u->values.len + 1);
	for (uint32_t n = 0; n < u->ins.len; n++)
		if (u->ins.data[n].kind == I_ALLOCA && u->ins.data[n].result != NONE)
			f->local[u->ins.data[n].result] = f->nlocals++;
	if ((uint64_t)(f->nlocals + 1) * u->nblocks > EFFECTS_FLOW)
		return false;
	f->in = arena_calloc(&u->arena, (size_t)f->nlocals * u->nblocks + 1, sizeof *f->in);
	f->now = arena_calloc(&u->arena, f->nlocals + 1, sizeof *f->now);
	f->decides = arena_calloc(&u->arena, u->nblocks + 1, sizeof *f->decides);
	f->needs = arena_calloc(&u->arena, u->ncalls, sizeof *f->needs);
	f->control = controls(u);
	return true;
}

static void relations(struct effects_unit *u)
{
	struct effects_flow f = { 0 };
	if (u->ncalls < 2 || u->ncalls > EFFECTS_CALLS || u->nblocks > EFFECTS_BLOCKS || !begin_flow(u, &f))
		return;
	unsigned passes = 0;
	while (pass_on(u, &f))
		if (++passes == EFFECTS_PASSES)
			return;
	uint64_t(*told)[WORDS] = arena_calloc(&u->arena, u->ncalls, sizeof *told);
	for (uint32_t c = 0; c < u->ncalls; c++) {
		deciding(u, &f, u->ins.data[u->call_ins[c]].block, f.needs[c]);
		for (uint32_t a = 0; a < u->ncalls; a++)
			if (has(f.needs[c], a))
				put_pair(u, a, c, SYM_DEPENDS);
	}
	for (uint32_t n = 0; n < u->ins.len; n++)
		if (u->ins.data[n].kind != I_STORE && u->ins.data[n].kind != I_CALL)
			joins(u, &u->ins.data[n], f.needs, told);
}

/* ---- the unit ---- */

static void begin_function(struct effects_unit *u)
{
	u->fn++;
	u->ins.len = u->ops.len = u->edges.len = 0;
	u->nblocks = 1;
	u->ncalls = u->memory = u->npairs = 0;
}

static void read_function(struct effects_unit *u, const char *p, const char *end)
{
	uint32_t block = 0;
	begin_function(u);
	assert(!u->ins.len && u->nblocks == 1);
	for (const char *next; p < end; p = next) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		struct text_span l = { p, nl ? nl : end };
		next = nl ? nl + 1 : end;
		if (*p == '}')
			break;
		while (l.s < l.end && *l.s == ' ')
			l.s++;
		if (l.s == l.end || *l.s == '#' || *l.s == ';')
			continue;
		const char *q = skip_name(l.s, l.end);
		if (l.s == p && q > l.s && q < l.end && *q == ':') {
			char *name = arena_printf(&u->arena, "%%%.*s", (int)(q - l.s), l.s);
			block = block_at(u, (struct text_span){ name, name + strlen(name) });
		} else if (l.s > p) {
			read_instruction(u, l, block);
		}
	}
	assert(block < u->nblocks);
	updates(u);
	relations(u);
}

static void read_unit(struct effects_unit *u, const char *text, size_t len)
{
	const char *end = text + len;
	for (int pass = 0; pass < 2; pass++) /* locations come last */
		for (const char *p = text, *next; p < end; p = next) {
			const char *nl = memchr(p, '\n', (size_t)(end - p));
			struct text_span l = { p, nl ? nl : end };
			next = nl ? nl + 1 : end;
			if (pass == 0 && *p == '!')
				read_metadata(u, l);
			else if (pass == 1 && span_starts(l, "define ") && l.end[-1] == '{')
				read_function(u, next, end);
		}
}

bool effects_list(const char *text, size_t len, struct buf *out)
{
	struct effects_unit *u = calloc(1, sizeof *u);
	if (!u)
		return false;
	jmp_buf oom;
	arena_init(&u->arena, 0);
	u->arena.oom = &oom;
	u->out = out;
	if (setjmp(oom)) {
		out->failed = true;
	} else {
		intern_init(&u->names, &u->arena);
		read_unit(u, text, len);
	}
	arena_free(&u->arena);
	free(u);
	return !out->failed;
}

bool effects_append(const char *text, size_t len, struct buf *out)
{
	struct buf lines;
	buf_init(&lines);
	bool ok = effects_list(text, len, &lines);
	if (ok && lines.len)
		buf_str(out, "module asm \".pushsection " EFFECTS_SECTION ",\\22\\22,@progbits\"\n");
	for (size_t at = 0; ok && at < lines.len;) { /* a line each: tabs and its end are escaped twice */
		const char *nl = memchr(lines.data + at, '\n', lines.len - at);
		size_t n = nl ? (size_t)(nl - (lines.data + at)) : lines.len - at;
		buf_str(out, "module asm \".ascii \\22");
		for (size_t k = 0; k < n; k++)
			if (lines.data[at + k] == '\t')
				buf_str(out, "\\5Ct");
			else
				buf_char(out, lines.data[at + k]);
		buf_str(out, "\\5Cn\\22\"\n");
		at += n + 1;
	}
	if (ok && lines.len)
		buf_str(out, "module asm \".popsection\"\n");
	buf_free(&lines);
	return ok && !out->failed;
}
