/*
 * effects_calls: which calls of a function depend on the results of others, and which meet in one operation.
 * Sets of calls are passed on along operands, local variables and control dependences until nothing changes.
 */
#include "cc/effects_unit.h"

#include <string.h>

#include "base/invariant.h"
#include "base/symtab.h"

static bool or_into(uint64_t *to, const uint64_t *from)
{
	bool more = false;
	for (unsigned i = 0; i < EFFECTS_WORDS; i++) {
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
		for (uint32_t e = from[b]; e != EFFECTS_NONE; e = next[e]) {
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
		from[b] = EFFECTS_NONE;
	for (uint32_t e = 0; e < ne; e++) {
		next[e] = from[u->edges.data[e].to];
		from[u->edges.data[e].to] = e;
		outs[u->edges.data[e].from]++;
	}
	for (uint32_t n = 0; n < u->ins.len; n++) {
		const struct effects_ins *i = &u->ins.data[n];
		wanted[i->block] |= i->call != EFFECTS_NONE || (i->kind == I_STORE && effects_is_local(u, i));
		for (uint32_t e = 0; i->kind == I_PHI && e < ne; e++)
			if (u->edges.data[e].to == i->block)
				wanted[u->edges.data[e].from] = 1;
	}
	for (uint32_t b = 0; b < nb; b++) {
		if (!wanted[b])
			continue;
		memset(to, 0, nb);
		memset(past, 0, nb);
		reach_back(u, to, from, next, b, EFFECTS_NONE, stack);
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
	uint64_t (*in)[EFFECTS_WORDS];      /* block * nlocals + local */
	uint64_t (*now)[EFFECTS_WORDS];     /* local, while a block is read */
	uint64_t (*decides)[EFFECTS_WORDS]; /* block: what its branch comes from */
	uint64_t (*needs)[EFFECTS_WORDS];   /* call */
	uint8_t *control;                   /* controls() */
	uint32_t *local;                    /* value to local */
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
		uint32_t op = u->ops.data[i->op0 + k], local = effects_local_at(u, op);
		bool target = i->kind == I_STORE && k == i->nops - 1;
		or_into(out, u->values.data[op].calls);
		if (local != EFFECTS_NONE && !target && i->kind != I_GEP && i->kind != I_CAST)
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
		uint32_t op = u->ops.data[i->op0 + k], local = effects_local_at(u, op);
		bool target = i->kind == I_STORE && k == i->nops - 1;
		if (local == EFFECTS_NONE || (i->kind != I_CALL && !target))
			continue;
		deciding(u, f, i->block, set);
		if (target && local == op && !u->values.data[local].pieces)
			memcpy(f->now[f->local[local]], set, EFFECTS_WORDS * sizeof *set);
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
			uint64_t set[EFFECTS_WORDS] = { 0 };
			operands(u, f, i, set);
			if (i->kind == I_END)
				more |= or_into(f->decides[block], set);
			if (i->call != EFFECTS_NONE) {
				more |= or_into(f->needs[i->call], set);
				set[i->call / 64] |= 1ull << i->call % 64;
			}
			if (i->result != EFFECTS_NONE && i->kind != I_ALLOCA)
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
		effects_put_places(u, u->ins.data[u->call_ins[a]].dbg, u->ins.data[u->call_ins[b]].dbg, kind);
}

static bool has(const uint64_t *set, uint32_t call)
{
	assert(call < EFFECTS_CALLS);
	return set[call / 64] >> call % 64 & 1;
}

/* Two operands that come from different calls. */
static void joins(struct effects_unit *u, const struct effects_ins *i, uint64_t (*needs)[EFFECTS_WORDS],
                  uint64_t (*told)[EFFECTS_WORDS])
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
		if (u->ins.data[n].kind == I_ALLOCA && u->ins.data[n].result != EFFECTS_NONE)
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

void effects_relations(struct effects_unit *u)
{
	struct effects_flow f = { 0 };
	if (u->ncalls < 2 || u->ncalls > EFFECTS_CALLS || u->nblocks > EFFECTS_BLOCKS || !begin_flow(u, &f))
		return;
	unsigned passes = 0;
	while (pass_on(u, &f))
		if (++passes == EFFECTS_PASSES)
			return;
	uint64_t(*told)[EFFECTS_WORDS] = arena_calloc(&u->arena, u->ncalls, sizeof *told);
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
