/* effects_updates: loads and stores of one place, the stored value computed from the loaded one. */
#include "cc/effects_unit.h"

#include "base/invariant.h"
#include "base/symtab.h"

enum { SLICE = 64 };

/* The instruction that the value is of; a load of a variable that is stored once: of what was stored. */
static const struct effects_ins *def_of(const struct effects_unit *u, uint32_t value)
{
	for (unsigned n = 0; n < 16; n++) {
		const struct effects_value *v = &u->values.data[value];
		if (v->def == EFFECTS_NONE)
			return NULL;
		const struct effects_ins *i = &u->ins.data[v->def];
		uint32_t at = i->kind == I_LOAD ? u->ops.data[i->op0] : EFFECTS_NONE;
		const struct effects_value *local = at != EFFECTS_NONE ? &u->values.data[at] : NULL;
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
		if ((at->local || at->base != EFFECTS_NONE) && !(at->local && at->stores <= 1 && !at->escapes))
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

/* Does the value come, by arithmetic, from a load of this address? */
static bool find_chain(const struct effects_unit *u, uint32_t value, uint64_t address, uint32_t block, struct effects_chain *c,
                       unsigned depth)
{
	const struct effects_value *v = &u->values.data[value];
	if (v->def == EFFECTS_NONE || depth == sizeof c->value / sizeof *c->value)
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
			uint32_t at = i->kind == I_STORE && i->nops == 2 && k == 0 ? u->ops.data[i->op0 + 1] : EFFECTS_NONE;
			if (at == EFFECTS_NONE || !u->values.data[at].local || u->values.data[at].stores != 1 ||
			    u->values.data[at].escapes)
				continue;
			for (uint32_t m = n; m < u->ins.len; m++)
				if (u->ins.data[m].kind == I_LOAD && u->ops.data[u->ins.data[m].op0] == at &&
				    indexes(u, u->ins.data[m].result, depth + 1))
					return true;
		}
	}
	return false;
}

void effects_updates(struct effects_unit *u)
{
	for (uint32_t n = 0; n < u->ins.len; n++) {
		const struct effects_ins *s = &u->ins.data[n];
		if (s->kind != I_STORE || s->nops != 2 || effects_is_local(u, s))
			continue;
		struct effects_chain c = { .single = true, .family = I_CAST };
		if (!find_chain(u, u->ops.data[s->op0], s->number, s->block, &c, 0) || c.n < 2)
			continue;
		char kind = c.single && c.family != I_OTHER && c.family != I_CAST ? SYM_COMMUTES : SYM_USED;
		for (uint32_t k = 0; kind == SYM_USED && k < c.n; k++)
			if (u->values.data[c.value[k]].uses > 1 && indexes(u, c.value[k], 0))
				kind = SYM_INDEX;
		effects_put_places(u, c.load->dbg, s->dbg, kind);
	}
}
