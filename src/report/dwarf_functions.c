/* dwarf_functions: see dwarf_functions.h. */
#include "report/dwarf_functions.h"
#include "base/grow.h"

#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#define DIES_MAX_DEPTH 64u /* of entries inside each other */

struct die_range {
	Dwarf_Addr lo, hi;
	Dwarf_Die die;
	uint32_t unit; /* of a unit's range: its index */
};

struct ranges {
	struct die_range *v;
	uint32_t n, cap;
};

struct die_unit {
	Dwarf_Die *cu;
	struct ranges functions;
	bool read;
};

struct module {
	Dwfl_Module *mod;
	Dwarf_Addr bias;
	struct ranges units;
	struct die_unit *unit;
	uint32_t nunits, cap;
};

struct dwarf_functions {
	struct module *v;
	uint32_t n, cap;
};

struct dwarf_functions *dwarf_functions_new(void)
{
	return calloc(1, sizeof(struct dwarf_functions));
}

void dwarf_functions_free(struct dwarf_functions *d)
{
	if (!d)
		return;
	for (uint32_t i = 0; i < d->n; i++) {
		for (uint32_t u = 0; u < d->v[i].nunits; u++)
			free(d->v[i].unit[u].functions.v);
		free(d->v[i].unit);
		free(d->v[i].units.v);
	}
	free(d->v);
	free(d);
}

/* ---- ranges, sorted by their beginning ---- */

static void add_ranges(struct ranges *r, Dwarf_Die *die, uint32_t unit)
{
	Dwarf_Addr base, lo, hi;
	ptrdiff_t at = 0;
	while ((at = dwarf_ranges(die, at, &base, &lo, &hi)) > 0)
		if (lo < hi && GROW(r->v, r->cap, r->n + 1ull))
			r->v[r->n++] = (struct die_range){ lo, hi, *die, unit };
}

static int by_lo(const void *a, const void *b)
{
	const struct die_range *x = a, *y = b;
	return x->lo != y->lo ? x->lo < y->lo ? -1 : 1 : x->hi < y->hi ? 1 : x->hi > y->hi ? -1 : 0;
}

static void sort(struct ranges *r)
{
	if (r->n)
		qsort(r->v, r->n, sizeof *r->v, by_lo);
}

/* The last range that begins at or before pc and contains it. Ranges of one
 * list hardly ever overlap (cloned code, folded functions), so the look back
 * is short. */
static const struct die_range *find(const struct ranges *r, Dwarf_Addr pc)
{
	uint32_t lo = 0, hi = r->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (r->v[mid].lo <= pc)
			lo = mid + 1;
		else
			hi = mid;
	}
	for (uint32_t back = 0; lo-- > 0 && back < 16; back++)
		if (pc < r->v[lo].hi)
			return &r->v[lo];
	return NULL;
}

/* ---- reading ---- */

/* Functions may lie in namespaces, classes and each other. */
static void read_functions(struct die_unit *u, Dwarf_Die *parent, uint32_t depth)
{
	Dwarf_Die die;
	if (depth > DIES_MAX_DEPTH || dwarf_child(parent, &die) != 0)
		return;
	do {
		switch (dwarf_tag(&die)) {
		case DW_TAG_subprogram:
			add_ranges(&u->functions, &die, 0);
			read_functions(u, &die, depth + 1);
			break;
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
		case DW_TAG_union_type:
		case DW_TAG_module:
		case DW_TAG_lexical_block:
			read_functions(u, &die, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static struct module *module_of(struct dwarf_functions *d, Dwfl_Module *mod)
{
	for (uint32_t i = 0; i < d->n; i++)
		if (d->v[i].mod == mod)
			return &d->v[i];
	if (!GROW(d->v, d->cap, d->n + 1ull))
		return NULL;
	struct module *m = &d->v[d->n++];
	memset(m, 0, sizeof *m);
	m->mod = mod;
	for (Dwarf_Die *cu = NULL; (cu = dwfl_module_nextcu(mod, cu, &m->bias));) {
		if (!GROW(m->unit, m->cap, m->nunits + 1ull))
			break;
		m->unit[m->nunits] = (struct die_unit){ .cu = cu };
		add_ranges(&m->units, cu, m->nunits++);
	}
	sort(&m->units);
	return m;
}

/* ---- the walk down ---- */

/* The child of `die` that contains pc, looking through plain blocks. */
static bool inlined_child(Dwarf_Die *die, Dwarf_Addr pc, Dwarf_Die *out, uint32_t depth)
{
	Dwarf_Die child;
	if (depth > DIES_MAX_DEPTH || dwarf_child(die, &child) != 0)
		return false;
	do {
		int tag = dwarf_tag(&child);
		bool block = tag == DW_TAG_lexical_block || tag == DW_TAG_try_block || tag == DW_TAG_catch_block;
		if (tag == DW_TAG_inlined_subroutine && dwarf_haspc(&child, pc) > 0) {
			*out = child;
			return true;
		}
		/* a block need not say where it is */
		if (block && dwarf_haspc(&child, pc) != 0 && inlined_child(&child, pc, out, depth + 1))
			return true;
	} while (dwarf_siblingof(&child, &child) == 0);
	return false;
}

uint32_t dwarf_functions_around(struct dwarf_functions *d, Dwfl_Module *mod, uint64_t pc, Dwarf_Die **cu, Dwarf_Addr *bias,
                                Dwarf_Die *out, uint32_t max)
{
	struct module *m = d ? module_of(d, mod) : NULL;
	*cu = NULL;
	*bias = m ? m->bias : 0;
	const struct die_range *r = m ? find(&m->units, pc - m->bias) : NULL;
	if (!r)
		return 0;
	struct die_unit *u = &m->unit[r->unit];
	*cu = u->cu;
	if (!u->read) {
		u->read = true;
		read_functions(u, u->cu, 0);
		sort(&u->functions);
	}
	r = find(&u->functions, pc - m->bias);
	if (!r || !max)
		return 0;
	Dwarf_Die chain[DIES_MAX_DEPTH];
	uint32_t n = 0;
	chain[n++] = r->die;
	while (n < DIES_MAX_DEPTH && inlined_child(&chain[n - 1], pc - m->bias, &chain[n], 0))
		n++;
	uint32_t got = n < max ? n : max;
	for (uint32_t i = 0; i < got; i++)
		out[i] = chain[n - 1 - i];
	return got;
}
