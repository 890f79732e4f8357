/*
 * program_net: the Petri net of a program (Fig. 4 of the causal-atomicity
 * paper), with what its colours need.
 *
 * Places: a control place for each thread and spot; its copy for the chosen
 * occurrence of a block, where asked for; the sets of a cell (see below). An
 * action becomes a transition for each thread of its template, and one for each
 * value it may find where it overwrites a kept value without looking at it.
 *
 * Sets: set 0 of a cell is shared by the threads that write it somewhere, and
 * each thread that only ever reads it has a set of its own. A set is one place
 * for an abstract cell, a place for each value else, a single place (marked
 * while free) for a lock. A read uses the thread's set, a write all of them. All
 * sets of a cell hold the same value, so the net is 1-safe: one token in each
 * set but a held lock's, one in the control places of each thread.
 *
 * Names: `worker1.s3@18` is spot 3 of thread worker 1, at line 18; `m=0` a
 * value of a cell, `m=0@reader1` that of a reader's own set; `worker1.18:m=0>1`
 * the action at line 18 that finds 0 in m and leaves 1; `data?` and `data!` are
 * a read and a write of an abstract cell. A prime marks the chosen copy.
 *
 * Cost: linear in the result. A write of a cell has as many arcs as readers.
 */
#include <string.h>

#include "base/invariant.h"
#include "causal/program.h"

struct read_arc {
	uint32_t trans, place;
};

struct sets {                /* of a cell */
	uint32_t place;      /* set 0; its values follow. NET_NONE: it is never written */
	uint32_t *own;       /* by reader, in the order of threads */
	uint32_t *reader, n; /* threads that only read it, ascending */
};

struct netting {
	const struct program *g;
	const struct ir *p;
	struct arena *arena;
	struct net_builder b;
	struct sets *sets;
	uint8_t *use;         /* template x cell: bit 0 reads, bit 1 writes */
	uint32_t *control;    /* thread -> its first control place, less the first spot */
	uint32_t *first_spot; /* template -> its first spot */
	uint32_t *copies;     /* spot -> place of the copy, of the thread at hand */
	AVEC(struct read_arc) reads;
	AVEC(uint8_t) role;
	AVEC(uint32_t) thread, action;
	uint32_t pick, block;
	struct buf name;
};

static const char *take_name(struct netting *x)
{
	const char *s = arena_strdup(x->arena, buf_cstr(&x->name));
	buf_clear(&x->name);
	return s;
}

static void put_thread(struct netting *x, uint32_t thread)
{
	assert(thread < x->p->nthreads);
	const struct ir_thread *t = &x->p->threads[thread];
	buf_str(&x->name, x->p->templates[t->tmpl].name);
	if (x->p->templates[t->tmpl].count > 1)
		buf_printf(&x->name, "%u", t->index);
}

static uint32_t line_of(const struct netting *x, uint32_t spot)
{
	assert(spot < x->g->nspots);
	const struct ir_node *n = &x->p->nodes[x->g->spots[spot].node];
	return source_pos(x->p->src, n->span.start).line;
}

/* ---- places ------------------------------------------------------------- */

static void find_uses(struct netting *x)
{
	assert(!x->use);
	const struct program *g = x->g;
	x->use = arena_array(x->arena, uint8_t, (size_t)x->p->ntemplates * g->ncells + 1);
	for (uint32_t i = 0; i < g->nactions; i++) {
		const struct action *a = &g->actions[i];
		uint8_t *use = x->use + (size_t)g->spots[a->from].tmpl * g->ncells;
		for (uint32_t k = 0; k < a->ntouch; k++)
			use[g->touches[a->touch + k].cell] |= g->touches[a->touch + k].write ? 2 : 1;
	}
}

/* One set of a cell's places; owner IR_NONE for the shared one. */
static uint32_t add_set(struct netting *x, uint32_t cell, uint32_t owner)
{
	assert(cell < x->g->ncells);
	const struct program_cell *c = &x->g->cells[cell];
	uint32_t n = c->lock || !c->nvalues ? 1 : c->nvalues, first = x->b.places.len;
	for (uint32_t v = 0; v < n; v++) {
		program_cell_name(x->g, cell, &x->name);
		if (n > 1) {
			buf_char(&x->name, '=');
			ir_print_value(x->p, x->p->vars[c->var].value, x->p->vars[c->var].enum_id, c->lo + (int32_t)v, &x->name);
		}
		if (owner != IR_NONE) {
			buf_char(&x->name, '@');
			put_thread(x, owner);
		}
		net_add_place(&x->b, take_name(x), n == 1 ? c->init == 0 : v == c->init);
	}
	assert(first + n == x->b.places.len);
	return first;
}

static void add_sets(struct netting *x)
{
	const struct program *g = x->g;
	x->sets = arena_array(x->arena, struct sets, g->ncells + 1);
	for (uint32_t c = 0; c < g->ncells; c++) {
		struct sets *s = &x->sets[c];
		bool written = false;
		s->place = NET_NONE;
		for (uint32_t t = 0; t < x->p->ntemplates; t++) {
			uint8_t use = x->use[(size_t)t * g->ncells + c];
			written |= (use & 2) != 0;
			s->n += use == 1 ? x->p->templates[t].count : 0;
		}
		if (written)
			s->place = add_set(x, c, IR_NONE);
		s->own = arena_array(x->arena, uint32_t, s->n + 1);
		s->reader = arena_array(x->arena, uint32_t, s->n + 1);
		s->n = 0;
		for (uint32_t i = 0; i < x->p->nthreads; i++)
			if (x->use[(size_t)x->p->threads[i].tmpl * g->ncells + c] == 1) {
				s->own[s->n] = add_set(x, c, i);
				s->reader[s->n++] = i;
			}
	}
}

static void add_control(struct netting *x, uint32_t thread, uint32_t spot, bool copy)
{
	assert(spot >= x->first_spot[x->g->spots[spot].tmpl] && x->g->spots[spot].tmpl == x->p->threads[thread].tmpl);
	put_thread(x, thread);
	buf_printf(&x->name, ".s%u@%u%s", spot - x->first_spot[x->g->spots[spot].tmpl], line_of(x, spot), copy ? "'" : "");
	net_add_place(&x->b, take_name(x), !copy && spot == x->g->start[x->p->threads[thread].tmpl]);
}

static void add_controls(struct netting *x)
{
	const struct program *g = x->g;
	x->first_spot = arena_array(x->arena, uint32_t, x->p->ntemplates + 1);
	x->control = arena_array(x->arena, uint32_t, x->p->nthreads + 1);
	for (uint32_t s = g->nspots; s-- > 0;)
		x->first_spot[g->spots[s].tmpl] = s;
	for (uint32_t i = 0; i < x->p->nthreads; i++) {
		uint32_t tmpl = x->p->threads[i].tmpl, first = x->first_spot[tmpl];
		x->control[i] = x->b.places.len - first;
		for (uint32_t s = first; s < g->nspots && g->spots[s].tmpl == tmpl; s++)
			add_control(x, i, s, false);
	}
}

/* ---- transitions -------------------------------------------------------- */

static void name_touch(struct netting *x, const struct touch *t, uint32_t need)
{
	assert(t->cell < x->g->ncells);
	const struct program_cell *c = &x->g->cells[t->cell];
	const struct ir_var *v = &x->p->vars[c->var];
	program_cell_name(x->g, t->cell, &x->name);
	if (c->lock) {
		buf_str(&x->name, t->put == need ? ":take,free" : t->put ? ":take" : ":free");
	} else if (!c->nvalues) {
		buf_char(&x->name, t->write ? '!' : '?');
	} else {
		buf_char(&x->name, '=');
		ir_print_value(x->p, v->value, v->enum_id, c->lo + (int32_t)need, &x->name);
		if (t->write) {
			buf_char(&x->name, '>');
			ir_print_value(x->p, v->value, v->enum_id, c->lo + (int32_t)t->put, &x->name);
		}
	}
}

static void name_action(struct netting *x, uint32_t thread, const struct action *a, const uint32_t *found, bool copy)
{
	put_thread(x, thread);
	buf_printf(&x->name, ".%u:", line_of(x, a->from));
	if (a->entered != IR_NONE)
		buf_printf(&x->name, "begin:%s", x->p->blocks[a->entered].name);
	if (a->exited != IR_NONE)
		buf_printf(&x->name, "end:%s", x->p->blocks[a->exited].name);
	for (uint32_t i = 0; i < a->ntouch; i++) {
		buf_str(&x->name, i ? "," : "");
		name_touch(x, &x->g->touches[a->touch + i], found[i]);
	}
	if (copy)
		buf_char(&x->name, '\'');
}

static void move(struct netting *x, uint32_t t, uint32_t from, uint32_t to, bool read)
{
	assert(from != NET_NONE || to != NET_NONE || !read);
	struct span nowhere = { 0, 0 };
	if (from != NET_NONE)
		net_add_take(&x->b, t, from, nowhere);
	if (to != NET_NONE)
		net_add_put(&x->b, t, to, nowhere);
	if (read) {
		struct read_arc r = { t, from };
		avec_push(x->arena, &x->reads, r);
	}
}

static void touch_set(struct netting *x, uint32_t t, const struct touch *u, uint32_t set, uint32_t need)
{
	assert(u->cell < x->g->ncells);
	const struct program_cell *c = &x->g->cells[u->cell];
	assert(!c->nvalues || c->lock || (need < c->nvalues && (!u->write || u->put < c->nvalues)));
	if (c->lock)
		move(x, t, need ? NET_NONE : set, u->put ? NET_NONE : set, false);
	else if (!c->nvalues)
		move(x, t, set, set, !u->write);
	else
		move(x, t, set + need, set + (u->write ? u->put : need), !u->write);
}

static void touch_cell(struct netting *x, uint32_t t, uint32_t thread, const struct touch *u, uint32_t need)
{
	assert(thread < x->p->nthreads);
	const struct sets *s = &x->sets[u->cell];
	for (uint32_t i = 0; i < s->n; i++)
		if (u->write || s->reader[i] == thread)
			touch_set(x, t, u, s->own[i], need);
	if (u->write || (x->use[(size_t)x->p->threads[thread].tmpl * x->g->ncells + u->cell] & 2))
		touch_set(x, t, u, s->place, need);
}

/* The action as a transition from place to place, for the values found. */
static void add_trans(struct netting *x, uint32_t thread, const struct action *a, const uint32_t *found, uint32_t from, uint32_t to,
                      enum colour_role role)
{
	assert(a >= x->g->actions && a < x->g->actions + x->g->nactions);
	name_action(x, thread, a, found, role != ROLE_PLAIN);
	uint32_t t = net_add_trans(&x->b, take_name(x), (struct span){ 0, 0 });
	avec_push(x->arena, &x->role, (uint8_t)role);
	avec_push(x->arena, &x->thread, thread);
	avec_push(x->arena, &x->action, (uint32_t)(a - x->g->actions));
	move(x, t, from, to, false);
	if (role == ROLE_CHOOSE && x->pick != NET_NONE)
		move(x, t, x->pick, NET_NONE, false);
	for (uint32_t i = 0; i < a->ntouch; i++)
		touch_cell(x, t, thread, &x->g->touches[a->touch + i], found[i]);
	assert(x->role.len == x->b.trans.len && x->thread.len == x->role.len && x->action.len == x->role.len);
}

/* All combinations of values that the action may find. False: too many. */
static bool add_action(struct netting *x, uint32_t thread, const struct action *a, uint32_t from, uint32_t to,
                       enum colour_role role)
{
	assert(a->touch + a->ntouch <= x->g->ntouches);
	const struct touch *u = x->g->touches + a->touch;
	uint32_t *found = arena_array(x->arena, uint32_t, a->ntouch + 1), i;
	for (i = 0; i < a->ntouch; i++)
		found[i] = u[i].need == PROGRAM_ANY ? 0 : u[i].need;
	do {
		if (x->role.len >= NET_MAX_NODES || x->b.take.len >= NET_MAX_ARCS)
			return false;
		add_trans(x, thread, a, found, from, to, role);
		for (i = 0; i < a->ntouch; i++) {
			uint32_t n = x->g->cells[u[i].cell].nvalues;
			if (u[i].need != PROGRAM_ANY || !n)
				continue;
			if (++found[i] < n)
				break;
			found[i] = 0;
		}
	} while (i < a->ntouch);
	return true;
}

static bool in_block(const struct netting *x, uint32_t block)
{
	return block != IR_NONE && (x->block == IR_NONE || block == x->block);
}

/* Where a step of the chosen occurrence ends: in the copy, as a rule. */
static uint32_t inside(const struct netting *x, uint32_t thread, uint32_t spot)
{
	assert(spot < x->g->nspots);
	return in_block(x, program_block(x->g, spot)) ? x->copies[spot] : x->control[thread] + spot;
}

static bool add_thread(struct netting *x, uint32_t thread)
{
	assert(thread < x->p->nthreads);
	const struct program *g = x->g;
	uint32_t tmpl = x->p->threads[thread].tmpl, c = x->control[thread];
	bool ok = true;
	for (uint32_t s = x->first_spot[tmpl]; s < g->nspots && g->spots[s].tmpl == tmpl; s++)
		for (uint32_t i = 0; i < g->spots[s].naction && ok; i++) {
			const struct action *a = &g->actions[g->spots[s].action + i];
			ok = add_action(x, thread, a, c + s, c + a->to, ROLE_PLAIN);
		}
	return ok;
}

/* The chosen occurrence: a second way through the block, without its end. */
static bool add_chosen(struct netting *x, uint32_t thread)
{
	assert(thread < x->p->nthreads);
	const struct program *g = x->g;
	uint32_t tmpl = x->p->threads[thread].tmpl, c = x->control[thread];
	bool ok = true;
	uint32_t first = x->first_spot[tmpl], s;
	for (s = first; s < g->nspots && g->spots[s].tmpl == tmpl; s++)
		if (in_block(x, program_block(g, s))) {
			x->copies[s] = x->b.places.len;
			add_control(x, thread, s, true);
		}
	for (s = first; s < g->nspots && g->spots[s].tmpl == tmpl; s++)
		for (uint32_t i = 0; i < g->spots[s].naction && ok; i++) {
			const struct action *a = &g->actions[g->spots[s].action + i];
			if (a->entered != IR_NONE && in_block(x, a->entered))
				ok = add_action(x, thread, a, c + s, inside(x, thread, a->to), ROLE_CHOOSE);
			else if (in_block(x, program_block(g, s)) && a->exited == IR_NONE)
				ok = add_action(x, thread, a, x->copies[s], inside(x, thread, a->to), ROLE_INSIDE);
		}
	return ok;
}

static bool build(struct netting *x, const uint32_t *chosen, uint32_t nchosen)
{
	bool ok = true;
	net_builder_init(&x->b, x->arena);
	x->pick = NET_NONE;
	find_uses(x);
	add_sets(x);
	add_controls(x);
	x->copies = arena_array(x->arena, uint32_t, x->g->nspots + 1);
	if (nchosen > 1)
		x->pick = net_add_place(&x->b, "pick", true);
	for (uint32_t i = 0; i < x->p->nthreads && ok; i++)
		ok = add_thread(x, i) && x->b.places.len < NET_MAX_NODES;
	for (uint32_t i = 0; i < nchosen && ok; i++)
		ok = add_chosen(x, chosen[i]);
	return ok;
}

static void mark_reads(const struct netting *x, struct colour_net *out, uint8_t *read)
{
	for (uint32_t i = 0; i < x->reads.len; i++) {
		uint32_t t = x->reads.data[i].trans;
		for (uint32_t k = out->net.pre_at[t]; k < out->net.pre_at[t + 1]; k++)
			if (out->net.pre[k] == x->reads.data[i].place)
				read[k] = 1;
	}
}

bool program_net(const struct program *g, const uint32_t *chosen, uint32_t nchosen, uint32_t block, struct arena *a,
                 struct diags *d, struct colour_net *out, const char **limit)
{
	assert(nchosen <= g->ir->nthreads && (block == IR_NONE || block < g->ir->nblocks));
	struct netting *x = arena_new(a, struct netting);
	jmp_buf here, *outer = a->oom;
	*x = (struct netting){ .g = g, .p = g->ir, .arena = a, .block = block };
	buf_init(&x->name);
	*limit = NULL;
	a->oom = &here;
	if (setjmp(here) != 0) {
		*limit = "memory";
	} else if (!build(x, chosen, nchosen) || !net_finish(&x->b, &out->net, NULL, d)) {
		*limit = "size of the net";
	} else {
		uint8_t *read = arena_array(a, uint8_t, (size_t)out->net.pre_at[out->net.ntrans] + 1);
		mark_reads(x, out, read);
		out->read = read;
		out->role = x->role.data;
		out->pick = x->pick;
		out->thread = x->thread.data;
		out->action = x->action.data;
	}
	a->oom = outer;
	buf_free(&x->name);
	return !*limit;
}
