/*
 * program: cells, then spots and actions template by template, breadth first
 * from where its threads begin. See program.h for what they mean.
 */
#include "causal/program.h"

#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/invariant.h"
#include "base/map.h"
#include "causal/abstract.h"

#define MAX_SPOTS   (1u << 20)
#define MAX_ACTIONS (1u << 22)

struct make {
	const struct ir *p;
	const struct program_options *o;
	struct arena *arena;
	struct diags *d;
	struct program *g;
	AVEC(struct spot) spots;
	AVEC(struct kept) values;
	AVEC(struct action) actions;
	AVEC(struct touch) touches;
	struct map by_hash;  /* spot -> the first with this hash */
	AVEC(uint32_t) same; /* spot -> the next with its hash */
	uint8_t *keep;       /* of the template at hand */
	const char *limit;
};

/* ---- which values are kept ---------------------------------------------- */

static bool named(const char *const *list, uint32_t n, const char *name)
{
	for (uint32_t i = 0; i < n; i++)
		if (!strcmp(list[i], name))
			return true;
	return false;
}

static bool var_keeps(const struct make *m, const struct ir_var *v)
{
	assert(v->lo <= v->hi && v->len);
	const struct program_options *o = m->o;
	uint64_t n = (uint64_t)((int64_t)v->hi - v->lo) + 1;
	if (v->kind == IRV_LOCK)
		return true;
	if (v->kind != IRV_PLAIN || named(o->abstract, o->nabstract, v->name))
		return false;
	if (named(o->track, o->ntrack, v->name))
		return true;
	bool small = n <= PROGRAM_SMALL || ((v->value == IR_VALUE_BOOL || v->value == IR_VALUE_ENUM) && n <= PROGRAM_TRACKED);
	return small && v->len <= PROGRAM_ELEMENTS;
}

/* A name of --track or --abstract that no variable or local bears. */
static bool check_name(struct make *m, const char *option, const char *name, bool track)
{
	const struct ir *p = m->p;
	bool found = false;
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *v = &p->vars[i];
		if (strcmp(v->name, name))
			continue;
		found = true;
		const char *why = v->kind == IRV_LOCK    ? "a lock, whose state is always kept"
		                  : v->kind != IRV_PLAIN ? "a safe or regular variable, whose value is never kept"
		                                         : NULL;
		if (why) {
			diag_error(m->d, "causal-track", p->src, v->span, "%s %s: it is %s", option, name, why);
			return false;
		}
		uint64_t n = (uint64_t)((int64_t)v->hi - v->lo) + 1;
		if (track && (n > PROGRAM_TRACKED || v->len > 4096)) {
			diag_error(m->d, "causal-track", p->src, v->span,
			           "%s %s: its type has %llu values, and at most %u can be tracked", option, name,
			           (unsigned long long)n, PROGRAM_TRACKED);
			diag_hint(m->d, "declare the range it needs: int[0..7] %s", name);
			return false;
		}
	}
	for (uint32_t i = 0; i < p->nlocals; i++)
		found |= !strcmp(p->locals[i].name, name);
	if (!found)
		diag_error(m->d, "causal-track", NULL, (struct span){ 0, 0 }, "%s: the model has no variable '%s'", option, name);
	return found;
}

static bool check_names(struct make *m)
{
	for (uint32_t i = 0; i < m->o->ntrack; i++)
		if (!check_name(m, "--track", m->o->track[i], true))
			return false;
	for (uint32_t i = 0; i < m->o->nabstract; i++)
		if (!check_name(m, "--abstract", m->o->abstract[i], false))
			return false;
	return true;
}

static void make_cells(struct make *m)
{
	const struct ir *p = m->p;
	struct program *g = m->g;
	AVEC(struct program_cell) cells = { NULL, 0, 0 };
	g->cell_at = arena_array(m->arena, uint32_t, p->nvars + 1);
	g->one_cell = arena_array(m->arena, bool, p->nvars + 1);
	for (uint32_t i = 0; i < p->nvars; i++) {
		const struct ir_var *v = &p->vars[i];
		bool keeps = var_keeps(m, v);
		g->cell_at[i] = cells.len;
		g->one_cell[i] = !keeps && v->len > PROGRAM_ELEMENTS;
		for (uint32_t e = 0; e < (g->one_cell[i] ? 1 : v->len); e++) {
			struct program_cell c = {
				.var = i, .elem = g->one_cell[i] ? IR_NONE : e, .lo = v->lo, .lock = v->kind == IRV_LOCK
			};
			if (keeps) {
				c.nvalues = (uint32_t)((int64_t)v->hi - v->lo) + 1;
				c.init = (uint32_t)(p->init[v->slot + e] - v->lo);
			}
			avec_push(m->arena, &cells, c);
		}
	}
	g->cells = cells.data;
	g->ncells = cells.len;
	assert(g->ncells >= m->p->nvars || !m->p->nvars || m->limit);
}

/* Frame slots of template t: the locals of the scopes its nodes are in. */
static void name_slots(const struct make *m, const struct ir_template *t, const struct ir_local **local)
{
	const struct ir *p = m->p;
	for (uint32_t n = t->node; n < t->node + t->nnode; n++)
		for (uint32_t s = p->nodes[n].scope; s != IR_NONE; s = p->scopes[s].parent)
			for (uint32_t i = 0; i < p->scopes[s].nlocal; i++) {
				const struct ir_local *l = &p->locals[p->scopes[s].local + i];
				for (uint32_t e = 0; l->slot != IR_NONE && e < l->len; e++)
					local[l->slot + e] = l;
			}
}

/* How many values the type of a named local has. Its slot's range has 0 in it
 * whether or not the type does; where values are stored the type's is checked. */
static uint64_t type_size(const struct ir *p, const struct ir_template *t, uint32_t slot)
{
	assert(slot < t->nslots);
	const struct ir_slot *s = &p->slots[t->slot + slot];
	uint64_t n = 0;
	for (uint32_t i = t->code; i < t->code + t->ncode; i++) {
		const struct ir_ins *x = &p->code[i];
		if (x->op != IR_RANGE || x->d == IR_RANGE_INDEX || (uint32_t)x->a != slot)
			continue;
		uint64_t size = (uint64_t)((int64_t)x->c - x->b) + 1;
		n = size > n ? size : n;
	}
	return n ? n : (uint64_t)((int64_t)s->hi - s->lo) + 1;
}

static uint8_t keep_local(const struct make *m, const struct ir_local *l, uint64_t values)
{
	const struct program_options *o = m->o;
	bool word = l->value == IR_VALUE_BOOL || l->value == IR_VALUE_ENUM;
	if (named(o->abstract, o->nabstract, l->name))
		return KEEP_NOT;
	if (values <= PROGRAM_SMALL)
		return KEEP_SPLIT;
	return values <= PROGRAM_TRACKED && (word || named(o->track, o->ntrack, l->name)) ? KEEP_SPLIT : KEEP_NOT;
}

static void choose_slots(struct make *m, uint32_t tmpl)
{
	assert(tmpl < m->p->ntemplates);
	const struct ir *p = m->p;
	const struct ir_template *t = &p->templates[tmpl];
	const struct ir_local **local = arena_array(m->arena, const struct ir_local *, t->nslots);
	m->keep = arena_array(m->arena, uint8_t, t->nslots);
	name_slots(m, t, local);
	for (uint32_t s = 1; s < t->nslots; s++) {
		const struct ir_slot *slot = &p->slots[t->slot + s];
		uint64_t n = (uint64_t)((int64_t)slot->hi - slot->lo) + 1;
		if (slot->is_lock)
			m->keep[s] = KEEP_KNOWN;
		else if (!local[s])
			m->keep[s] = n <= PROGRAM_UNNAMED ? KEEP_KNOWN : KEEP_NOT;
		else if (n <= PROGRAM_TRACKED) /* an unknown one becomes each value of the slot */
			m->keep[s] = keep_local(m, local[s], type_size(p, t, s));
	}
	for (uint32_t b = 0; b < p->nblocks; b++) /* only a fault depends on it */
		if (p->blocks[b].tmpl == tmpl && p->blocks[b].has_commit && p->blocks[b].phase < t->nslots)
			m->keep[p->blocks[b].phase] = KEEP_NOT;
}

/* ---- spots -------------------------------------------------------------- */

static uint64_t spot_hash(uint32_t node, const struct kept *v, uint32_t n)
{
	uint64_t h = hash64(node + UINT64_C(0x9E3779B97F4A7C15));
	for (uint32_t i = 1; i < n; i++)
		h = hash64(h ^ (v[i].known ? (uint64_t)(uint32_t)v[i].value << 1 | 1 : 0));
	return h;
}

static bool same_values(const struct kept *a, const struct kept *b, uint32_t n)
{
	for (uint32_t i = 1; i < n; i++)
		if (a[i].known != b[i].known || (a[i].known && a[i].value != b[i].value))
			return false;
	return true;
}

/* The spot of these values, made when it is new. */
static uint32_t spot_of(struct make *m, uint32_t tmpl, uint32_t node, const struct kept *v)
{
	assert(tmpl < m->p->ntemplates && node < m->p->nnodes);
	uint32_t n = m->p->templates[tmpl].nslots;
	uint64_t h = spot_hash(node, v, n);
	uint32_t first = map_get(&m->by_hash, h);
	for (uint32_t i = first; i != MAP_NONE; i = m->same.data[i]) {
		const struct spot *s = &m->spots.data[i];
		if (s->node == node && same_values(m->values.data + s->value, v, n))
			return i;
	}
	struct spot s = { .tmpl = tmpl, .node = node, .value = m->values.len, .end = m->p->nodes[node].kind == IRN_END };
	for (uint32_t i = 0; i < n; i++)
		avec_push(m->arena, &m->values, v[i]);
	avec_push(m->arena, &m->spots, s);
	avec_push(m->arena, &m->same, first);
	if (!map_put(&m->by_hash, h, m->spots.len - 1))
		m->limit = "memory";
	assert(m->same.len == m->spots.len);
	return m->spots.len - 1;
}

/* ---- actions ------------------------------------------------------------ */

static int by_cell(const void *pa, const void *pb)
{
	const struct touch *a = pa, *b = pb;
	return a->cell < b->cell ? -1 : a->cell > b->cell;
}

static bool same_action(const struct make *m, const struct action *a, const struct abstract *x, uint32_t to)
{
	if (a->to != to || a->ntouch != x->touches.len || a->entered != x->entered || a->exited != x->exited)
		return false;
	for (uint32_t i = 0; i < a->ntouch; i++) {
		const struct touch *t = &m->touches.data[a->touch + i], *u = &x->touches.data[i];
		if (t->cell != u->cell || t->need != u->need || t->put != u->put || t->write != u->write)
			return false;
	}
	return true;
}

static void add_action(struct make *m, struct abstract *x, uint32_t from)
{
	assert(from < m->spots.len && x->node < m->p->nnodes);
	if (x->touches.len)
		qsort(x->touches.data, x->touches.len, sizeof *x->touches.data, by_cell);
	uint32_t to = spot_of(m, m->spots.data[from].tmpl, x->node, x->r);
	for (uint32_t i = m->spots.data[from].action; i < m->actions.len; i++)
		if (same_action(m, &m->actions.data[i], x, to))
			return;
	struct action a = { from, to, m->touches.len, x->touches.len, x->entered, x->exited };
	for (uint32_t i = 0; i < x->touches.len; i++)
		avec_push(m->arena, &m->touches, x->touches.data[i]);
	avec_push(m->arena, &m->actions, a);
	assert(a.touch + a.ntouch == m->touches.len);
}

static bool late(const struct make *m)
{
	if (m->o->deadline <= 0)
		return false;
	return clock_seconds() > m->o->deadline;
}

static void expand(struct make *m, struct abstract *x, uint32_t from)
{
	assert(from < m->spots.len);
	int more = 1;
	const struct spot s = m->spots.data[from];
	struct kept *frame = arena_array(m->arena, struct kept, x->t->nslots);
	memcpy(frame, m->values.data + s.value, x->t->nslots * sizeof *frame);
	m->spots.data[from].action = m->actions.len;
	x->picks.len = x->ways = 0;
	while (more > 0) {
		if (abstract_way(x, s.node, frame))
			add_action(m, x, from);
		more = abstract_next(x);
	}
	m->spots.data[from].naction = m->actions.len - m->spots.data[from].action;
	if (more < 0)
		m->limit = "outcomes of one step";
	else if (m->spots.len > MAX_SPOTS || m->actions.len > MAX_ACTIONS)
		m->limit = "control places";
	else if (late(m))
		m->limit = "time";
}

static void make_template(struct make *m, uint32_t tmpl)
{
	assert(tmpl < m->p->ntemplates);
	const struct ir *p = m->p;
	const struct ir_template *t = &p->templates[tmpl];
	struct abstract x = { .g = m->g, .t = t, .arena = m->arena };
	choose_slots(m, tmpl);
	x.keep = m->keep;
	x.r = arena_array(m->arena, struct kept, t->nregs + 1);
	const int32_t *f = p->init + p->threads[t->first_thread].frame;
	for (uint32_t s = 1; s < t->nslots; s++)
		x.r[s] = (struct kept){ m->keep[s] != KEEP_NOT, m->keep[s] != KEEP_NOT ? f[s] : 0 };
	uint32_t first = m->spots.len;
	m->g->start[tmpl] = spot_of(m, tmpl, (uint32_t)f[0], x.r);
	for (uint32_t i = first; i < m->spots.len && !m->limit; i++)
		expand(m, &x, i);
}

static bool make_all(struct make *m)
{
	m->g->start = arena_array(m->arena, uint32_t, m->p->ntemplates);
	make_cells(m);
	for (uint32_t t = 0; t < m->p->ntemplates && !m->limit; t++)
		make_template(m, t);
	m->g->spots = m->spots.data;
	m->g->nspots = m->spots.len;
	m->g->values = m->values.data;
	m->g->nvalues = m->values.len;
	m->g->actions = m->actions.data;
	m->g->nactions = m->actions.len;
	m->g->touches = m->touches.data;
	m->g->ntouches = m->touches.len;
	assert(m->limit || m->same.len == m->spots.len);
	return !m->limit;
}

enum program_status program_make(const struct ir *p, const struct program_options *o, struct arena *a, struct diags *d,
                                 struct program *out, const char **limit)
{
	assert(p && o && a && limit);
	struct make *m = arena_new(a, struct make);
	jmp_buf here, *outer = a->oom;
	*m = (struct make){ .p = p, .o = o, .arena = a, .d = d, .g = out };
	memset(out, 0, sizeof *out);
	out->ir = p;
	*limit = NULL;
	if (!check_names(m))
		return PROGRAM_INPUT;
	map_init(&m->by_hash);
	a->oom = &here;
	if (setjmp(here) == 0) {
		if (!make_all(m))
			*limit = m->limit;
	} else {
		*limit = "memory";
	}
	a->oom = outer;
	map_free(&m->by_hash);
	return *limit ? PROGRAM_LIMIT : PROGRAM_OK;
}

void program_cell_name(const struct program *g, uint32_t cell, struct buf *out)
{
	assert(cell < g->ncells);
	const struct program_cell *c = &g->cells[cell];
	const struct ir_var *v = &g->ir->vars[c->var];
	if (c->elem == IR_NONE)
		buf_str(out, v->name);
	else
		ir_print_element(v, c->elem, "", out);
}
