#include "explore/shadows.h"
#include "base/grow.h"
#include "base/invariant.h"

#include <stdlib.h>
#include <string.h>

#define SET_MAX     100000u /* shadows of one set */
#define SET_MAX_LAG 20000u

struct list { /* shadow ids being collected */
	uint32_t *ids;
	uint64_t n, cap;
};

static bool list_add(struct shadow_sets *s, struct list *l, uint32_t id)
{
	if (id == SEQTAB_NONE || !GROW(l->ids, l->cap, l->n + 1)) {
		s->out_of_memory = true;
		return false;
	}
	l->ids[l->n++] = id;
	return true;
}

static int by_id(const void *a, const void *b)
{
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	return x < y ? -1 : x > y;
}

/* ---- sets --------------------------------------------------------------- */

/* The id of the set of these shadows; empties the list. */
static uint32_t set_of(struct shadow_sets *s, struct list *l)
{
	uint64_t out = 0;
	if (l->n)
		qsort(l->ids, l->n, sizeof *l->ids, by_id);
	for (uint64_t i = 0; i < l->n; i++)
		if (!i || l->ids[i] != l->ids[out - 1])
			l->ids[out++] = l->ids[i];
	assert(out <= UINT32_MAX && (!out || l->ids[out - 1] < s->shadows.n)); /* sorted: the last is the greatest */
	uint32_t set = seqtab_add(&s->sets, (const int32_t *)l->ids, (uint32_t)out);
	free(l->ids);
	*l = (struct list){ 0 };
	if (set != SEQTAB_NONE)
		return set;
	s->out_of_memory = true;
	return 0;
}

static struct list members(struct shadow_sets *s, uint32_t set)
{
	assert(set < s->sets.n);
	struct list l = { 0 };
	uint32_t n;
	const int32_t *v = seqtab_get(&s->sets, set, &n);
	for (uint32_t i = 0; i < n; i++)
		list_add(s, &l, (uint32_t)v[i]);
	return l;
}

/* Could a step of another thread conflict with an access like this one? */
static bool disturbed(const struct ir *p, uint32_t tmpl, const struct ir_access *a)
{
	const uint32_t reading = IRA_READ | IRA_READ_INV | IRA_READ_RESP;
	for (uint32_t t = 0; t < p->ntemplates; t++) {
		const struct ir_template *tm = &p->templates[t];
		if (!tm->count || (t == tmpl && tm->count < 2))
			continue;
		for (uint32_t n = tm->node; n < tm->node + tm->nnode; n++)
			for (uint32_t i = 0; i < p->nodes[n].naccess; i++) {
				const struct ir_access *b = &p->accesses[p->nodes[n].access + i];
				if (b->var == a->var && ((a->mode & ~reading) || (b->mode & ~reading)))
					return true;
			}
	}
	return false;
}

static void find_own_business(struct shadow_sets *s)
{
	const struct ir *p = s->x->ir;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		for (uint32_t k = 0; k < p->templates[t].nnode; k++) {
			const struct ir_node *n = &p->nodes[p->templates[t].node + k];
			bool own = true;
			for (uint32_t i = 0; own && i < n->naccess; i++)
				own = !disturbed(p, t, &p->accesses[n->access + i]);
			s->own_business[p->templates[t].node + k] = own;
		}
}

bool shadows_init(struct shadow_sets *s, struct product *x, uint32_t lag)
{
	assert(x->mode == PROD_STANDARD && lag <= SHADOWS_LAG_MAX && !x->merge_local && !x->transactions);
	memset(s, 0, sizeof *s);
	s->x = x;
	s->nthreads = x->ir->nthreads;
	s->lag = s->nthreads <= DELAYED_THREADS ? lag : 0;
	uint32_t width = 1 + s->nthreads + (s->nthreads + 15) / 16;
	map_init(&s->memo);
	map_init(&s->closed);
	map_init(&s->moved);
	map_init(&s->serial);
	s->own_business = calloc(x->ir->nnodes + 1, sizeof *s->own_business);
	bool ok = delayed_init(&s->work, width);
	ok = delayed_init(&s->from, width) && ok;
	if (ok && s->own_business && s->lag)
		find_own_business(s);
	return ok && s->own_business;
}

void shadows_free(struct shadow_sets *s)
{
	seqtab_free(&s->shadows);
	seqtab_free(&s->sets);
	seqtab_free(&s->events);
	seqtab_free(&s->orders);
	map_free(&s->memo);
	map_free(&s->closed);
	map_free(&s->moved);
	map_free(&s->serial);
	free(s->results);
	free(s->own_business);
	delayed_free(&s->work);
	delayed_free(&s->from);
	memset(s, 0, sizeof *s);
}

uint64_t shadows_bytes(const struct shadow_sets *s)
{
	return seqtab_bytes(&s->shadows) + seqtab_bytes(&s->sets) + seqtab_bytes(&s->events) + seqtab_bytes(&s->orders) +
	       (uint64_t)s->cap_results * 4 +
	       (s->memo.cap + s->closed.cap + s->moved.cap + s->serial.cap) * sizeof(struct map_slot);
}

/* ---- shadows ------------------------------------------------------------ */

enum status { OUTSIDE, WAITING, EFFECTIVE };

static enum status status_of(const struct shadow_sets *s, const int32_t *v, uint32_t thread)
{
	assert(thread < s->nthreads);
	return (enum status)((uint32_t)v[1 + s->nthreads + thread / 16] >> 2 * (thread % 16) & 3);
}

static void set_status(const struct shadow_sets *s, int32_t *v, uint32_t thread, enum status st)
{
	uint32_t *w = (uint32_t *)&v[1 + s->nthreads + thread / 16], shift = 2 * (thread % 16);
	*w = (*w & ~(3u << shift)) | (uint32_t)st << shift;
	assert(status_of(s, v, thread) == st);
}

static uint32_t node_of(const struct shadow_sets *s, const int32_t *v, uint32_t thread)
{
	assert(thread < s->nthreads && (uint32_t)v[1 + thread] < s->x->kinds[s->x->kind_of[thread]].ninfo);
	const struct prod_kind *k = &s->x->kinds[s->x->kind_of[thread]];
	return (uint32_t)vector_table_get(&k->frames, k->info[v[1 + thread]].frame)[0];
}

static void keep(struct shadow_sets *s, const struct delayed_shadow *w, struct list *out)
{
	list_add(s, out, delayed_save(w, &s->shadows));
}

uint32_t shadows_initial(struct shadow_sets *s, const uint32_t *ids)
{
	struct list l = { 0 };
	struct delayed_shadow *w = &s->work;
	memset(w->base, 0, sizeof *w->base * w->width);
	memcpy(w->base, ids, sizeof *w->base * (s->nthreads + 1));
	w->n = 0;
	keep(s, w, &l);
	return set_of(s, &l);
}

/* Is the shadow this state, with all threads outside and dead slots ignored? */
static bool same_state(const struct shadow_sets *s, const int32_t *v, const uint32_t *ids)
{
	if ((uint32_t)v[0] != ids[0])
		return false;
	for (uint32_t i = 0; i < s->nthreads; i++) {
		const struct prod_local *info = s->x->kinds[s->x->kind_of[i]].info;
		if (status_of(s, v, i) != OUTSIDE || info[v[1 + i]].canon != info[ids[1 + i]].canon)
			return false;
	}
	return true;
}

/* ---- running a block serially ------------------------------------------- */

static bool seen_add(struct map *seen, uint32_t g, uint32_t l)
{
	uint32_t v = 0;
	size_t before = seen->len;
	return map_intern(seen, (uint64_t)g << 32 | l, &v) && seen->len > before;
}

#define SERIAL_STATES 1000000u

/*
 * All (global, local) pairs in which the block that starts here can end, as
 * [n, pairs...] in s->results. Blocked, endless and faulty runs give none.
 */
static uint32_t serial_results(struct shadow_sets *s, uint32_t kind, uint32_t g, uint32_t l)
{
	struct prod_kind *k = &s->x->kinds[kind];
	uint64_t key = hash64((uint64_t)g << 32 | l) * 64 + kind;
	uint32_t at = map_get(&s->serial, key);
	if (at != MAP_NONE && s->results[at + 1] == g && s->results[at + 2] == l && s->results[at + 3] == kind)
		return at;
	struct list work = { 0 }, done = { 0 };
	struct map seen;
	map_init(&seen);
	list_add(s, &work, g);
	list_add(s, &work, l);
	while (work.n && !s->out_of_memory) {
		uint32_t wl = work.ids[--work.n], wg = work.ids[--work.n], n;
		if (seen.len > SERIAL_STATES) {
			s->limit = true;
			break;
		}
		const struct prod_edge *e = product_step(s->x, kind, wg, wl, &n);
		if (s->x->out_of_memory) {
			s->out_of_memory = true;
			break;
		}
		for (uint32_t i = 0; i < n; i++) {
			if (e[i].flags & PRODF_LIMIT)
				s->limit = true;
			if (e[i].flags || !seen_add(&seen, e[i].global, e[i].local))
				continue;
			struct list *to = k->info[e[i].local].inside ? &work : &done;
			list_add(s, to, e[i].global);
			list_add(s, to, e[i].local);
		}
	}
	map_free(&seen);
	at = s->nresults;
	assert(done.n % 2 == 0);
	if (GROW(s->results, s->cap_results, at + done.n + 4)) {
		s->results[at] = (uint32_t)(done.n / 2);
		s->results[at + 1] = g;
		s->results[at + 2] = l;
		s->results[at + 3] = kind;
		if (done.n)
			memcpy(s->results + at + 4, done.ids, done.n * sizeof *done.ids);
		s->nresults = at + 4 + (uint32_t)done.n;
		if (!map_put(&s->serial, key, at))
			s->out_of_memory = true;
	} else {
		s->out_of_memory = true;
	}
	free(work.ids);
	free(done.ids);
	return at;
}

/* ---- taking effect ------------------------------------------------------ */

/* Is the shadow's thread about to enter this block? */
static bool before_block(const struct shadow_sets *s, const int32_t *v, uint32_t thread, uint32_t block)
{
	assert(block < s->x->ir->nblocks);
	const struct ir *p = s->x->ir;
	const struct ir_node *n = &p->nodes[node_of(s, v, thread)];
	return n->kind == IRN_ENTER && (uint32_t)p->code[n->ins + 1].a == block;
}

/*
 * An item of the thread has taken effect. Its open block, if it waited only
 * for that, is now like any that waits; false when its thread is not before
 * that block.
 */
static bool settle(const struct shadow_sets *s, struct delayed_shadow *w)
{
	assert(w->n <= DELAYED_ITEMS);
	for (uint32_t i = 0; i < w->n;) {
		const struct delayed_item *it = &w->item[i];
		if (!it->open || it->before || delayed_first(w, it->thread) < DELAYED_ITEMS) {
			i++;
			continue;
		}
		if (!before_block(s, w->base, it->thread, it->block))
			return false;
		delayed_remove(w, i);
	}
	return true;
}

/* Every way a block of the thread can take effect in `from`, which has it as
 * item i (or DELAYED_ITEMS: it is open and just waits). */
static void block_effects(struct shadow_sets *s, const struct delayed_shadow *from, uint32_t thread, uint32_t i, struct list *out)
{
	assert(i == DELAYED_ITEMS ? status_of(s, from->base, thread) == WAITING : i < from->n && from->item[i].thread == thread);
	struct delayed_shadow *w = &s->work;
	uint32_t r = serial_results(s, s->x->kind_of[thread], (uint32_t)from->base[0], (uint32_t)from->base[1 + thread]);
	for (uint32_t k = 0; !s->out_of_memory && k < s->results[r]; k++) {
		delayed_copy(w, from);
		w->base[0] = (int32_t)s->results[r + 4 + 2 * k];
		w->base[1 + thread] = (int32_t)s->results[r + 5 + 2 * k];
		if (i == DELAYED_ITEMS)
			set_status(s, w->base, thread, EFFECTIVE);
		else
			delayed_remove(w, i);
		if (settle(s, w))
			keep(s, w, out);
	}
}

/* Every way a step outside of the thread can be taken in `from`, where it is
 * item i (or DELAYED_ITEMS: it happens right now). */
static void step_effects(struct shadow_sets *s, const struct delayed_shadow *from, uint32_t thread, uint32_t i, struct list *out)
{
	assert(i == DELAYED_ITEMS || (i < from->n && from->item[i].block == DELAYED_NO_BLOCK));
	struct delayed_shadow *w = &s->work;
	uint32_t kind = s->x->kind_of[thread], n;
	const struct prod_edge *e = product_step(s->x, kind, (uint32_t)from->base[0], (uint32_t)from->base[1 + thread], &n);
	for (uint32_t k = 0; k < n; k++) {
		if (e[k].flags & PRODF_LIMIT)
			s->limit = true;
		if (e[k].flags || s->x->kinds[kind].info[e[k].local].inside)
			continue; /* it would enter a block instead */
		delayed_copy(w, from);
		w->base[0] = (int32_t)e[k].global;
		w->base[1 + thread] = (int32_t)e[k].local;
		if (i < DELAYED_ITEMS)
			delayed_remove(w, i);
		if (settle(s, w))
			keep(s, w, out);
	}
	s->out_of_memory |= s->x->out_of_memory;
}

/* Everything that can take effect next in this shadow. */
static void effects(struct shadow_sets *s, uint32_t id, struct list *out)
{
	struct delayed_shadow *f = &s->from;
	delayed_load(f, &s->shadows, id);
	for (uint32_t t = 0; t < s->nthreads && !s->out_of_memory; t++) {
		uint32_t i = delayed_first(f, t);
		if (i < DELAYED_ITEMS) {
			if (f->item[i].before)
				continue;
			if (f->item[i].block == DELAYED_NO_BLOCK)
				step_effects(s, f, t, i, out);
			else if (before_block(s, f->base, t, f->item[i].block))
				block_effects(s, f, t, i, out);
		} else if (status_of(s, f->base, t) == WAITING && delayed_open(f, t) == DELAYED_ITEMS) {
			block_effects(s, f, t, DELAYED_ITEMS, out);
		}
	}
}

/* Adds to l every shadow in which more has taken effect. */
static void close_list(struct shadow_sets *s, struct list *l)
{
	struct map seen;
	struct list more = { 0 };
	map_init(&seen);
	for (uint64_t i = 0; i < l->n; i++)
		seen_add(&seen, 0, l->ids[i]);
	for (uint64_t i = 0; i < l->n && !s->out_of_memory && !s->limit; i++) {
		if (l->n > (s->lag ? SET_MAX_LAG : SET_MAX)) {
			s->limit = true;
			break;
		}
		more.n = 0;
		effects(s, l->ids[i], &more);
		for (uint64_t k = 0; k < more.n; k++)
			if (seen_add(&seen, 0, more.ids[k]))
				list_add(s, l, more.ids[k]);
	}
	free(more.ids);
	map_free(&seen);
}

bool shadows_contain(struct shadow_sets *s, uint32_t set, const uint32_t *ids)
{
	uint32_t n, len;
	if (s->lag) {
		uint32_t to = map_get(&s->closed, set);
		if (to == MAP_NONE) {
			struct list l = members(s, set);
			close_list(s, &l);
			to = set_of(s, &l);
			if (!map_put(&s->closed, set, to))
				s->out_of_memory = true;
		}
		set = to;
	}
	const int32_t *v = seqtab_get(&s->sets, set, &n);
	for (uint32_t i = 0; i < n; i++) {
		const int32_t *shadow = seqtab_get(&s->shadows, (uint32_t)v[i], &len);
		if (len == s->work.width && same_state(s, shadow, ids))
			return true;
	}
	return false;
}

/* ---- transitions -------------------------------------------------------- */

enum shadow_event shadows_event(const struct product *x, uint32_t from, uint32_t to)
{
	bool was_in = product_marked(x, from), now_in = product_marked(x, to);
	if (was_in)
		return now_in ? SHADOW_INSIDE : SHADOW_LEAVE;
	if (now_in)
		return SHADOW_ENTER;
	return x->ir->nodes[from].naccess ? SHADOW_OUTSIDE : SHADOW_LOCAL;
}

/* Puts a new item off, when the lag allows it. */
static void put_off(struct shadow_sets *s, const struct delayed_shadow *from, const struct shadow_step *e, struct list *out)
{
	struct delayed_shadow *w = &s->work;
	struct delayed_item it = { .thread = e->thread,
		                   .block = DELAYED_NO_BLOCK,
		                   .before = delayed_known(from, e->thread),
		                   .knows = (uint64_t)1 << e->thread };
	if (delayed_ended(from) >= s->lag)
		return;
	delayed_copy(w, from);
	if (delayed_insert(w, &it) && delayed_teach(w, e->thread, e->touch, e->ntouch))
		keep(s, w, out);
}

static void outside(struct shadow_sets *s, struct delayed_shadow *f, const struct shadow_step *e, struct list *out)
{
	uint32_t t = e->thread;
	bool behind = delayed_first(f, t) < DELAYED_ITEMS;
	bool own = e->event == SHADOW_LOCAL || (s->lag && s->own_business[node_of(s, f->base, t)]);
	delayed_learn(f, t, e->touch, e->ntouch);
	if (behind || !own)
		put_off(s, f, e, out);
	if (!behind && (own || !delayed_known(f, t)) && delayed_teach(f, t, e->touch, e->ntouch))
		step_effects(s, f, t, DELAYED_ITEMS, out);
}

static void enter(struct shadow_sets *s, struct delayed_shadow *f, const struct shadow_step *e, struct list *out)
{
	assert(status_of(s, f->base, e->thread) == OUTSIDE && e->block < s->x->ir->nblocks);
	uint32_t t = e->thread;
	struct delayed_item it = { .thread = t, .block = e->block, .open = true, .before = delayed_known(f, t) };
	set_status(s, f->base, t, WAITING);
	if (delayed_first(f, t) < DELAYED_ITEMS || it.before) {
		if (!delayed_insert(f, &it))
			return;
	} else if (!before_block(s, f->base, t, e->block)) {
		return;
	}
	keep(s, f, out);
}

static void leave(struct shadow_sets *s, struct delayed_shadow *f, const struct shadow_step *e, struct list *out)
{
	assert(status_of(s, f->base, e->thread) != OUTSIDE);
	uint32_t t = e->thread, i = delayed_open(f, t);
	bool effective = status_of(s, f->base, t) == EFFECTIVE;
	struct delayed_item it = { .thread = t, .block = e->block, .knows = (uint64_t)1 << t };
	if (!effective && delayed_ended(f) >= s->lag)
		return;
	set_status(s, f->base, t, OUTSIDE);
	if (effective)
		;
	else if (i < DELAYED_ITEMS) {
		f->item[i].open = false;
		f->item[i].knows = it.knows;
	} else if (!delayed_insert(f, &it)) {
		return;
	}
	keep(s, f, out);
}

static void inside(struct shadow_sets *s, struct delayed_shadow *f, const struct shadow_step *e, struct list *out)
{
	assert(s->lag && status_of(s, f->base, e->thread) != OUTSIDE);
	delayed_learn(f, e->thread, e->touch, e->ntouch);
	if (delayed_teach(f, e->thread, e->touch, e->ntouch))
		keep(s, f, out);
}

static uint32_t compute(struct shadow_sets *s, uint32_t set, const struct shadow_step *e)
{
	struct list in = members(s, set), out = { 0 };
	struct delayed_shadow *f = &s->from;
	if (e->event == SHADOW_OUTSIDE || e->event == SHADOW_LEAVE || (e->event == SHADOW_LOCAL && s->lag))
		close_list(s, &in);
	for (uint64_t i = 0; i < in.n && !s->out_of_memory; i++) {
		delayed_load(f, &s->shadows, in.ids[i]);
		switch (e->event) {
		case SHADOW_OUTSIDE:
		case SHADOW_LOCAL:
			outside(s, f, e, &out);
			break;
		case SHADOW_ENTER:
			enter(s, f, e, &out);
			break;
		case SHADOW_LEAVE:
			leave(s, f, e, &out);
			break;
		case SHADOW_INSIDE:
			inside(s, f, e, &out);
			break;
		}
	}
	free(in.ids);
	return set_of(s, &out);
}

uint32_t shadows_step(struct shadow_sets *s, uint32_t set, const struct shadow_step *e)
{
	assert(e->thread < s->nthreads && set < s->sets.n && e->ntouch <= IR_MAX_EVENTS);
	if (e->event == SHADOW_INSIDE && !s->lag)
		return set;
	int32_t what[3 + IR_MAX_EVENTS] = { (int32_t)e->thread, (int32_t)e->event, 0 };
	what[2] = e->event == SHADOW_ENTER || e->event == SHADOW_LEAVE ? (int32_t)e->block : 0;
	if (e->ntouch)
		memcpy(what + 3, e->touch, sizeof *what * e->ntouch);
	uint32_t id = seqtab_add(&s->events, what, 3 + e->ntouch);
	if (id == SEQTAB_NONE) {
		s->out_of_memory = true;
		return set;
	}
	uint64_t key = (uint64_t)set << 32 | id;
	uint32_t to = map_get(&s->memo, key);
	if (to != MAP_NONE)
		return to;
	to = compute(s, set, e);
	if (!s->out_of_memory && !s->limit && !map_put(&s->memo, key, to))
		s->out_of_memory = true;
	return to;
}

/* ---- symmetry ----------------------------------------------------------- */

uint32_t shadows_permute(struct shadow_sets *s, uint32_t set, const uint32_t *to)
{
	assert(set < s->sets.n);
	uint32_t id = seqtab_add(&s->orders, (const int32_t *)to, s->nthreads);
	if (id == SEQTAB_NONE) {
		s->out_of_memory = true;
		return set;
	}
	uint64_t key = (uint64_t)set << 32 | id;
	uint32_t result = map_get(&s->moved, key);
	if (result != MAP_NONE)
		return result;
	struct list in = members(s, set), out = { 0 };
	struct delayed_shadow *f = &s->from, *w = &s->work;
	for (uint64_t i = 0; i < in.n && !s->out_of_memory; i++) {
		delayed_load(f, &s->shadows, in.ids[i]);
		delayed_copy(w, f);
		for (uint32_t t = 0; t < s->nthreads; t++) {
			w->base[1 + to[t]] = f->base[1 + t];
			set_status(s, w->base, to[t], status_of(s, f->base, t));
		}
		delayed_permute(w, to);
		keep(s, w, &out);
	}
	free(in.ids);
	result = set_of(s, &out);
	if (!s->out_of_memory && !map_put(&s->moved, key, result))
		s->out_of_memory = true;
	return result;
}
