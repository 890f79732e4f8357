/* dwarf_fields: see dwarf_fields.h. */
#include "report/dwarf_fields.h"

#include <ctype.h>
#include <dwarf.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"

enum { FIELDS_ENTRIES = 4 << 20, FIELDS_DEPTH = 32, FIELDS_NESTED = 64, FIELDS_DIMENSIONS = 8 };

struct variable {
	Dwarf_Addr at;
	Dwarf_Die die;
};

struct dwarf_fields {
	Dwfl_Module *mod; /* of the variables; those of another module replace them */
	struct variable *v;
	uint32_t n, cap, entries;
};

struct dwarf_fields *dwarf_fields_new(void)
{
	return calloc(1, sizeof(struct dwarf_fields));
}

void dwarf_fields_free(struct dwarf_fields *f)
{
	if (!f)
		return;
	free(f->v);
	free(f);
}

/* ---- variables ---- */

static bool fixed_address(Dwarf_Die *die, Dwarf_Addr *at)
{
	Dwarf_Attribute location, address;
	Dwarf_Op *op;
	size_t n;
	if (!dwarf_attr(die, DW_AT_location, &location) || dwarf_getlocation(&location, &op, &n) || n != 1)
		return false;
	if (op->atom == DW_OP_addr) {
		*at = op->number;
		return true;
	}
	return op->atom == DW_OP_addrx && !dwarf_getlocation_attr(&location, op, &address) && !dwarf_formaddr(&address, at);
}

/* Variables may lie in namespaces and classes, and, as static ones, in functions and their blocks. */
static void read_variables(struct dwarf_fields *f, Dwarf_Die *parent, Dwarf_Addr bias, uint32_t depth)
{
	Dwarf_Die die;
	Dwarf_Addr at;
	if (depth > FIELDS_NESTED || dwarf_child(parent, &die) != 0)
		return;
	do {
		if (++f->entries > FIELDS_ENTRIES)
			return;
		switch (dwarf_tag(&die)) {
		case DW_TAG_variable:
			if (fixed_address(&die, &at) && GROW(f->v, f->cap, f->n + 1ull))
				f->v[f->n++] = (struct variable){ at + bias, die };
			break;
		case DW_TAG_subprogram:
		case DW_TAG_lexical_block:
		case DW_TAG_namespace:
		case DW_TAG_class_type:
		case DW_TAG_structure_type:
			read_variables(f, &die, bias, depth + 1);
			break;
		default:
			break;
		}
	} while (dwarf_siblingof(&die, &die) == 0);
}

static int by_address(const void *a, const void *b)
{
	const struct variable *x = a, *y = b;
	return x->at < y->at ? -1 : x->at > y->at;
}

static Dwarf_Die *variable_at(struct dwarf_fields *f, Dwfl_Module *mod, uint64_t start)
{
	Dwarf_Addr bias;
	assert(f && mod && f->n <= f->cap);
	if (f->mod != mod) {
		f->mod = mod;
		f->n = f->entries = 0;
		for (Dwarf_Die *cu = NULL; (cu = dwfl_module_nextcu(mod, cu, &bias));)
			read_variables(f, cu, bias, 0);
		if (f->n)
			qsort(f->v, f->n, sizeof *f->v, by_address);
	}
	uint32_t lo = 0, hi = f->n;
	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;
		if (f->v[mid].at < start)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < f->n && f->v[lo].at == start ? &f->v[lo].die : NULL;
}

/* ---- types ---- */

static bool type_of(Dwarf_Die *die, Dwarf_Die *type)
{
	Dwarf_Attribute at;
	return dwarf_attr_integrate(die, DW_AT_type, &at) && dwarf_formref_die(&at, type);
}

/* Without typedef, const and the like. */
static bool plain_type(Dwarf_Die *type)
{
	for (int i = 0; i < FIELDS_DEPTH; i++)
		switch (dwarf_tag(type)) {
		case DW_TAG_typedef:
		case DW_TAG_const_type:
		case DW_TAG_volatile_type:
		case DW_TAG_atomic_type:
		case DW_TAG_restrict_type:
			if (!type_of(type, type))
				return false;
			break;
		default:
			return true;
		}
	return false;
}

static bool own_name(const char *name)
{
	return name[0] == '_' && (name[1] == '_' || isupper((unsigned char)name[1]));
}

static bool number(Dwarf_Die *die, unsigned name, uint64_t *out)
{
	Dwarf_Attribute at;
	Dwarf_Word n;
	if (!dwarf_attr(die, name, &at) || dwarf_formudata(&at, &n))
		return false;
	*out = n;
	return true;
}

/* The part of a structure that byte *off lies in; *off becomes the place in it. */
static bool member_at(Dwarf_Die *type, uint64_t *off, Dwarf_Die *out)
{
	Dwarf_Die m, t;
	if (dwarf_child(type, &m) != 0)
		return false;
	do {
		int tag = dwarf_tag(&m);
		uint64_t from = 0;
		Dwarf_Word size;
		if ((tag != DW_TAG_member && tag != DW_TAG_inheritance) || dwarf_hasattr(&m, DW_AT_bit_size))
			continue;
		if (dwarf_hasattr(&m, DW_AT_external) ||
		    (!number(&m, DW_AT_data_member_location, &from) && dwarf_tag(type) != DW_TAG_union_type))
			continue;
		if (*off < from || !type_of(&m, &t) || dwarf_aggregate_size(&t, &size) || *off - from >= size)
			continue;
		*off -= from;
		*out = m;
		return true;
	} while (dwarf_siblingof(&m, &m) == 0);
	return false;
}

/* The element of an array; *off becomes the place in it. */
static bool element_at(Dwarf_Die *type, uint64_t *off, struct buf *out, Dwarf_Die *element)
{
	Dwarf_Die r;
	uint64_t count[FIELDS_DIMENSIONS], upper;
	uint32_t n = 0;
	Dwarf_Word size;
	if (!type_of(type, element) || dwarf_aggregate_size(element, &size) || !size || dwarf_child(type, &r) != 0)
		return false;
	do {
		if (dwarf_tag(&r) != DW_TAG_subrange_type)
			continue;
		if (n == FIELDS_DIMENSIONS)
			return false;
		if (!number(&r, DW_AT_count, &count[n])) {
			if (!number(&r, DW_AT_upper_bound, &upper) || upper == UINT64_MAX)
				return false;
			count[n] = upper + 1;
		}
		if (!count[n])
			return false;
		n++;
	} while (dwarf_siblingof(&r, &r) == 0);
	uint64_t i = *off / size, index[FIELDS_DIMENSIONS];
	assert(n <= FIELDS_DIMENSIONS);
	*off %= size;
	for (uint32_t k = n; k--;) {
		index[k] = k ? i % count[k] : i;
		i /= count[k];
	}
	for (uint32_t k = 0; k < n; k++)
		buf_printf(out, "[%llu]", (unsigned long long)index[k]);
	return n != 0;
}

/* One type further in. 1: `type` and `off` are those of the part; 0: there are no parts; -1: it cannot be said. */
static int part(Dwarf_Die *type, uint64_t *off, struct buf *out)
{
	Dwarf_Die m;
	const char *name;
	assert(out && off);
	switch (dwarf_tag(type)) {
	case DW_TAG_structure_type:
	case DW_TAG_class_type:
	case DW_TAG_union_type:
		if (!member_at(type, off, &m) || !type_of(&m, type))
			return -1;
		name = dwarf_tag(&m) == DW_TAG_inheritance ? NULL : dwarf_diename(&m);
		if (name && own_name(name)) {
			*off = 0; /* what follows is a library's: all of it is this variable */
			return 0;
		}
		if (name)
			buf_printf(out, ".%s", name);
		return 1;
	case DW_TAG_array_type:
		if (!element_at(type, off, out, &m))
			return -1;
		*type = m;
		return 1;
	default:
		return 0;
	}
}

bool dwarf_fields_path(struct dwarf_fields *f, Dwfl_Module *mod, uint64_t start, uint64_t off, struct buf *out)
{
	Dwarf_Die *var = f && mod ? variable_at(f, mod, start) : NULL, type;
	size_t before = out->len;
	if (!var || !type_of(var, &type))
		return false;
	int more = 1;
	for (int i = 0; i < FIELDS_DEPTH && more > 0; i++)
		more = plain_type(&type) ? part(&type, &off, out) : -1;
	assert(out->len >= before);
	if (more || off) {
		out->len = before;
		return false;
	}
	return true;
}
