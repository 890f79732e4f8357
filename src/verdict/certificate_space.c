/* certificate_space: rows of a certificate and their successors; see certificate.h for what is proved. */
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "verdict/certificate.h"

/* Parts of s->room, each as long as a state: a step's globals and frame before and after, the frame with its dead slots
 * zeroed, a shadow that is worked on. */
enum { BEFORE_G, BEFORE_F, AFTER_G, AFTER_F, CLEARED, SHADOW, ROOMS };

static int32_t *room(const struct cert_space *s, size_t which)
{
	return s->room + which * (s->p->nstate + 2ull);
}

static void stop(struct cert_space *s, const char *limit)
{
	if (!s->limit)
		s->limit = limit;
}

/* ---- claims ----------------------------------------------------------------------------- */

uint32_t cert_goals(const struct ir *p, const struct cert_claim *q, uint32_t *goals)
{
	uint32_t n = 0;
	if (q->way_out)
		goals[n++] = IR_NONE;
	for (uint32_t i = 0; i < p->nproperties; i++)
		if (q->properties >> i & 1 && p->properties[i].kind == IRP_REACH)
			goals[n++] = i;
	return n;
}

/* ---- tables ------------------------------------------------------------------------------- */

bool cert_space_init(struct cert_space *s, const struct ir *p, const struct cert_claim *q)
{
	size_t n = p->nthreads + 1ull;
	*s = (struct cert_space){ .p = p, .q = q };
	s->kind_of = calloc(n, sizeof *s->kind_of);
	s->thread_of = calloc(n, sizeof *s->thread_of);
	s->frames = calloc(n, sizeof *s->frames);
	s->steps = calloc(n, sizeof *s->steps);
	s->runs = calloc(n, sizeof *s->runs);
	s->room = calloc(ROOMS * (p->nstate + 2ull), sizeof *s->room);
	if (!s->kind_of || !s->thread_of || !s->frames || !s->steps || !s->runs || !s->room)
		return false;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_template *tm = &p->templates[p->threads[t].tmpl];
		if (t == tm->first_thread || tm->names_threads)
			s->thread_of[s->nkinds++] = t;
		s->kind_of[t] = s->nkinds - 1;
	}
	return true;
}

void cert_space_free(struct cert_space *s)
{
	for (uint32_t k = 0; k < s->nkinds; k++) {
		seqtab_free(&s->frames[k]);
		map_free(&s->steps[k]);
		map_free(&s->runs[k]);
	}
	seqtab_free(&s->globals);
	free(s->kind_of);
	free(s->thread_of);
	free(s->frames);
	free(s->steps);
	free(s->runs);
	free(s->moves);
	free(s->ends.v);
	free(s->now.v);
	free(s->next.v);
	free(s->set.v);
	free(s->more.v);
	free(s->room);
}

uint64_t cert_space_bytes(const struct cert_space *s)
{
	uint64_t n = seqtab_bytes(&s->globals) + s->cap_moves * sizeof *s->moves + s->ends.cap * sizeof *s->ends.v;
	for (uint32_t k = 0; k < s->nkinds; k++)
		n += seqtab_bytes(&s->frames[k]) + (s->steps[k].cap + s->runs[k].cap) * sizeof(struct map_slot);
	return n;
}

static uint32_t slots_of(const struct cert_space *s, uint32_t kind)
{
	return s->p->templates[s->p->threads[s->thread_of[kind]].tmpl].nslots;
}

static const int32_t *frame_of(const struct cert_space *s, uint32_t kind, uint32_t f)
{
	uint32_t len;
	return seqtab_get(&s->frames[kind], f, &len);
}

static const struct ir_node *node_of(const struct cert_space *s, uint32_t kind, uint32_t f)
{
	return &s->p->nodes[frame_of(s, kind, f)[0]];
}

/* Inside a block that counts? */
static bool inside(const struct cert_space *s, uint32_t kind, uint32_t f)
{
	uint32_t b = node_of(s, kind, f)->block;
	return b != IR_NONE && (s->q->block == VERDICT_PROGRAM || b == s->q->block);
}

/* Room for n more values. */
static int32_t *push(struct cert_space *s, struct cert_words *w, uint64_t n)
{
	if (!GROW_RAW(w->v, w->cap, w->n + n + 1)) {
		stop(s, "memory");
		return NULL;
	}
	w->n += n;
	return w->v + w->n - n;
}

bool cert_frame_valid(const struct cert_space *s, uint32_t kind, const int32_t *f)
{
	const struct ir_template *t = &s->p->templates[s->p->threads[s->thread_of[kind]].tmpl];
	return (uint32_t)f[0] >= t->node && (uint32_t)f[0] < t->node + t->nnode && ir_frame_valid(s->p, s->thread_of[kind], f);
}

/* ---- steps ------------------------------------------------------------------------------------ */

static bool one_move(void *arg, enum ir_result r, const int32_t *g, const int32_t *f, const struct ir_choices *ch,
                     const struct ir_effect *eff)
{
	struct cert_space *s = arg;
	struct cert_move m = { .fault = r == IR_FAULT, .committed = eff->committed != IR_NONE };
	(void)ch;
	if (r == IR_FAULT && eff->fault == IRF_LIMIT) {
		stop(s, "instructions of one step");
		return false;
	}
	if (!m.fault) {
		uint32_t n = slots_of(s, s->kind);
		int32_t *own = room(s, CLEARED);
		memcpy(own, f, n * sizeof *own);
		const struct ir_node *node = &s->p->nodes[own[0]];
		for (uint32_t k = 0; k < node->ndead; k++)
			own[s->p->kills[node->dead + k]] = 0;
		m.g = seqtab_add(&s->globals, g, s->p->nglobals);
		m.f = seqtab_add(&s->frames[s->kind], own, n);
	}
	if (m.g == SEQTAB_NONE || m.f >= SEQTAB_NONE / 4 || !GROW(s->moves, s->cap_moves, s->nmoves + 1ull)) {
		stop(s, "memory");
		return false;
	}
	s->moves[s->nmoves++] = m;
	return true;
}

/* The outcomes of a step of a thread of this kind: where their list is. */
static uint32_t steps(struct cert_space *s, uint32_t kind, uint32_t g, uint32_t f)
{
	uint64_t key = (uint64_t)g << 32 | f;
	uint32_t at = map_get(&s->steps[kind], key), len;
	if (at != MAP_NONE || s->limit)
		return at != MAP_NONE ? at : 0;
	int32_t *gv = room(s, BEFORE_G), *fv = room(s, BEFORE_F);
	at = s->nmoves;
	if (!GROW(s->moves, s->cap_moves, s->nmoves + 1ull) || !map_put(&s->steps[kind], key, at)) {
		stop(s, "memory");
		return 0;
	}
	s->nmoves++;
	memcpy(gv, seqtab_get(&s->globals, g, &len), s->p->nglobals * sizeof *gv);
	memcpy(fv, frame_of(s, kind, f), slots_of(s, kind) * sizeof *fv);
	s->kind = kind;
	s->thread = s->thread_of[kind];
	if (!ir_frame_fits(s->p, s->thread, gv, fv))
		s->nonsense = true;
	else
		ir_each(s->p, s->thread, gv, fv, room(s, AFTER_G), room(s, AFTER_F), one_move, s);
	s->moves[at] = (struct cert_move){ .g = s->nmoves - at - 1 };
	return at;
}

/* What the block before which a thread is comes to when it runs alone: where the list is, in s->ends. */
static uint32_t run_alone(struct cert_space *s, uint32_t kind, uint32_t g, uint32_t f)
{
	uint64_t key = (uint64_t)g << 32 | f;
	uint32_t at = map_get(&s->runs[kind], key), len;
	struct seqtab met = { 0 }, ends = { 0 };
	int32_t pair[2] = { (int32_t)g, (int32_t)f };
	if (at != MAP_NONE)
		return at;
	if (seqtab_add(&met, pair, 2) == SEQTAB_NONE)
		stop(s, "memory");
	for (uint32_t i = 0; i < met.n && !s->limit; i++) {
		const int32_t *v = seqtab_get(&met, i, &len);
		uint32_t list = steps(s, kind, (uint32_t)v[0], (uint32_t)v[1]);
		for (uint32_t k = 1; !s->limit && k <= s->moves[list].g; k++) {
			struct cert_move m = s->moves[list + k];
			pair[0] = (int32_t)m.g;
			pair[1] = (int32_t)m.f;
			if (!m.fault && seqtab_add(inside(s, kind, m.f) ? &met : &ends, pair, 2) == SEQTAB_NONE)
				stop(s, "memory");
		}
		if (met.n > CERT_ALONE)
			stop(s, "states of a block alone");
	}
	at = (uint32_t)s->ends.n;
	int32_t *to = s->ends.n < MAP_NONE / 2 ? push(s, &s->ends, 1 + 2ull * ends.n) : NULL;
	if (!to || !map_put(&s->runs[kind], key, at))
		stop(s, "memory");
	if (to) {
		to[0] = (int32_t)ends.n;
		if (ends.n)
			memcpy(to + 1, ends.pool, 2ull * ends.n * sizeof *to);
	}
	seqtab_free(&met);
	seqtab_free(&ends);
	return at;
}

/* ---- shadows ------------------------------------------------------------------------------------ */

static uint32_t width(const struct cert_space *s)
{
	return s->p->nthreads + 1;
}

/* Adds the shadow, with thread t's frame and mark and these globals, unless it is there. `shadow` is of no list that grows. */
static void put(struct cert_space *s, struct cert_words *w, const int32_t *shadow, int32_t g, uint32_t t, int32_t value)
{
	uint32_t n = width(s);
	int32_t *to = push(s, w, n);
	if (!to)
		return;
	memcpy(to, shadow, n * sizeof *to);
	to[0] = g;
	to[1 + t] = value;
	for (const int32_t *o = w->v; o < to; o += n)
		if (!memcmp(o, to, n * sizeof *to)) {
			w->n -= n;
			return;
		}
	if (w->n / n > CERT_SHADOWS)
		stop(s, "shadows of one state");
}

/* Thread t's block takes effect in the shadow; what comes of it goes to the list. */
static void effect(struct cert_space *s, struct cert_words *to, const int32_t *shadow, uint32_t t)
{
	uint32_t at = run_alone(s, s->kind_of[t], (uint32_t)shadow[0], (uint32_t)shadow[1 + t] >> 1);
	for (int32_t k = 0; !s->limit && k < s->ends.v[at]; k++) {
		const int32_t *e = s->ends.v + at + 1 + 2 * k;
		put(s, to, shadow, e[0], t, e[1] * 2 + 1);
	}
}

static void swap(struct cert_words *a, struct cert_words *b)
{
	struct cert_words c = *a;
	*a = *b;
	*b = c;
}

/* The thread's block takes effect in all shadows in which it has not. */
static void effect_everywhere(struct cert_space *s, uint32_t t)
{
	s->more.n = 0;
	for (uint64_t i = 0; i < s->set.n && !s->limit; i += width(s)) {
		const int32_t *own = s->set.v + i;
		if (own[1 + t] & 1)
			put(s, &s->more, own, own[0], t, own[1 + t]);
		else
			effect(s, &s->more, own, t);
	}
	swap(&s->set, &s->more);
}

/* Every block that has begun in s->now and not taken effect may do so, in every order. */
static void effects_of_all(struct cert_space *s)
{
	int32_t *own = room(s, SHADOW);
	for (uint64_t i = 0; i < s->set.n && !s->limit; i += width(s)) {
		memcpy(own, s->set.v + i, width(s) * sizeof *own);
		for (uint32_t t = 0; t < s->p->nthreads && !s->limit; t++)
			if (!(own[1 + t] & 1) && inside(s, s->kind_of[t], (uint32_t)s->now.v[1 + t]))
				effect(s, &s->set, own, t);
	}
}

/* A step outside: the shadows take it too, and keep those ways that leave the thread where it is. */
static void step_outside(struct cert_space *s, uint32_t t, uint32_t to)
{
	s->more.n = 0;
	for (uint64_t i = 0; i < s->set.n && !s->limit; i += width(s)) {
		const int32_t *own = s->set.v + i;
		uint32_t list = steps(s, s->kind_of[t], (uint32_t)own[0], (uint32_t)own[1 + t] >> 1);
		for (uint32_t k = 1; !s->limit && k <= s->moves[list].g; k++)
			if (!s->moves[list + k].fault && s->moves[list + k].f == to)
				put(s, &s->more, own, (int32_t)s->moves[list + k].g, t, (int32_t)to * 2);
	}
	swap(&s->set, &s->more);
}

/* A block is left: it must have taken effect, and the thread be where it is. */
static void leave(struct cert_space *s, uint32_t t, uint32_t to)
{
	s->more.n = 0;
	for (uint64_t i = 0; i < s->set.n && !s->limit; i += width(s))
		if (s->set.v[i + 1 + t] == (int32_t)to * 2 + 1)
			put(s, &s->more, s->set.v + i, s->set.v[i], t, (int32_t)to * 2);
	swap(&s->set, &s->more);
}

/* Does the section say that the block takes effect at this step of it? */
static bool commits(const struct cert_space *s, uint32_t kind, uint32_t from, const struct cert_move *m, bool was)
{
	const struct ir_node *n = node_of(s, kind, from);
	uint32_t block = was ? n->block : node_of(s, kind, m->f)->block, to = (uint32_t)frame_of(s, kind, m->f)[0];
	if (s->p->blocks[block].has_commit)
		return m->committed;
	if (!was)
		return s->q->entry[block];
	for (uint32_t i = 0; i < n->nsucc; i++)
		if (s->p->succs[n->succ + i] == to && s->q->edge[n->succ + i])
			return true;
	return false;
}

/* The shadows of the row after a step of thread t. */
static void follow(struct cert_space *s, uint32_t t, const struct cert_move *m)
{
	uint32_t kind = s->kind_of[t], from = (uint32_t)s->now.v[1 + t], n = width(s);
	bool was = inside(s, kind, from), is = inside(s, kind, m->f);
	s->set.n = 0;
	for (uint64_t i = n; i < s->now.n && !s->limit; i += n) {
		int32_t *to = push(s, &s->set, n);
		if (to)
			memcpy(to, s->now.v + i, n * sizeof *to);
	}
	if (s->q->any_moment && !is && (was || node_of(s, kind, from)->naccess))
		effects_of_all(s);
	if (!was && !is) {
		step_outside(s, t, m->f);
		return;
	}
	if (!s->q->any_moment && (!is || commits(s, kind, from, m, was)))
		effect_everywhere(s, t);
	if (!is)
		leave(s, t, m->f);
}

/* ---- rows ------------------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b, void *n)
{
	const int32_t *x = a, *y = b;
	for (uint32_t i = 0; i < *(const uint32_t *)n; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

static void sort_shadows(struct cert_space *s)
{
	uint32_t n = width(s);
	if (s->set.n > n)
		qsort_r(s->set.v, s->set.n / n, n * sizeof *s->set.v, by_value, &n);
}

/* Does thread t come after the next one by its frame in the row, then in each shadow? */
static bool after_next(const struct cert_space *s, uint32_t t)
{
	const int32_t *v = s->next.v + 1 + t;
	for (uint64_t i = 0; v[0] == v[1] && i < s->set.n; i += width(s))
		v = s->set.v + i + 1 + t;
	return v[0] > v[1];
}

static void exchange(int32_t *v)
{
	int32_t x = v[0];
	v[0] = v[1];
	v[1] = x;
}

/* Identical threads in the order of their values: any order is right, this one makes equal states equal rows. */
static void sort_threads(struct cert_space *s)
{
	for (uint32_t t = 1; t < s->p->nthreads; t++)
		for (uint32_t k = t; k && s->kind_of[k] == s->kind_of[k - 1] && after_next(s, k - 1); k--) {
			exchange(s->next.v + k);
			for (uint64_t i = 0; i < s->set.n; i += width(s))
				exchange(s->set.v + i + k);
		}
}

/* Is the state, with all threads outside, one of its shadows? It is the only one from then on. */
static void look_outside(struct cert_space *s)
{
	uint32_t n = width(s);
	int32_t *own = room(s, SHADOW);
	for (uint32_t t = 0; t + 1 < n; t++)
		if (inside(s, s->kind_of[t], (uint32_t)s->next.v[1 + t]))
			return;
	own[0] = s->next.v[0];
	for (uint32_t t = 1; t < n; t++)
		own[t] = s->next.v[t] * 2;
	for (uint64_t i = 0; i < s->set.n; i += n)
		if (!memcmp(s->set.v + i, own, n * sizeof *own)) {
			memcpy(s->set.v, own, n * sizeof *own);
			s->set.n = n;
			return;
		}
	s->unexplained = true;
}

/* s->next, whose state is there, gets its shadows and its order. */
static void complete(struct cert_space *s)
{
	if (s->limit || s->unexplained)
		return;
	sort_shadows(s);
	sort_threads(s);
	sort_shadows(s);
	int32_t *to = push(s, &s->next, s->set.n);
	if (to && s->set.n)
		memcpy(to, s->set.v, s->set.n * sizeof *to);
}

bool cert_first(struct cert_space *s)
{
	uint32_t n = width(s);
	int32_t *state = room(s, BEFORE_G);
	memcpy(state, s->p->init, s->p->nstate * sizeof *state);
	ir_clear_dead(s->p, state);
	s->next.n = s->set.n = 0;
	int32_t *row = push(s, &s->next, n);
	uint32_t id = seqtab_add(&s->globals, state, s->p->nglobals);
	for (uint32_t t = 0; row && t < s->p->nthreads && id != SEQTAB_NONE; t++) {
		row[t] = (int32_t)id;
		id = seqtab_add(&s->frames[s->kind_of[t]], state + s->p->threads[t].frame, slots_of(s, s->kind_of[t]));
	}
	if (!row || id == SEQTAB_NONE) {
		stop(s, "memory");
		return false;
	}
	row[n - 1] = (int32_t)id;
	int32_t *shadow = s->q->kind == CERT_SERIAL ? push(s, &s->set, n) : NULL;
	for (uint32_t t = 0; shadow && t < n; t++)
		shadow[t] = t ? row[t] * 2 : row[t];
	complete(s);
	return !s->limit;
}

bool cert_row_valid(const struct cert_space *s, const int32_t *row, uint32_t len)
{
	uint32_t n = width(s);
	if (len < n || len % n || (s->q->kind == CERT_PLAIN && len != n) || len / n > CERT_SHADOWS + 1)
		return false;
	for (uint32_t at = 0; at < len; at += n)
		for (uint32_t t = 0; t < n; t++)
			if (row[at + t] < 0 ||
			    (uint32_t)row[at + t] >> (t && at) >= (t ? s->frames[s->kind_of[t - 1]].n : s->globals.n))
				return false;
	return true;
}

void cert_load(struct cert_space *s, const int32_t *row, uint32_t len)
{
	s->now.n = 0;
	int32_t *to = push(s, &s->now, len);
	if (to)
		memcpy(to, row, len * sizeof *to);
}

/* Threads that are equal in all respects make the same steps: is this one such as the one before it? */
static bool as_before(const struct cert_space *s, uint32_t t)
{
	if (!t || s->kind_of[t] != s->kind_of[t - 1])
		return false;
	for (uint64_t i = 0; i < s->now.n; i += width(s))
		if (s->now.v[i + t] != s->now.v[i + t + 1])
			return false;
	return true;
}

void cert_expand(struct cert_space *s, cert_visit *visit, void *arg)
{
	uint32_t n = width(s);
	s->fault = s->unexplained = false;
	s->moved = 0;
	for (uint32_t t = 0; t < s->p->nthreads && !s->limit; t++) {
		if (as_before(s, t))
			continue;
		uint32_t list = steps(s, s->kind_of[t], (uint32_t)s->now.v[0], (uint32_t)s->now.v[1 + t]);
		for (uint32_t k = 1; !s->limit && !s->nonsense && k <= s->moves[list].g; k++) {
			struct cert_move m = s->moves[list + k];
			s->moved++;
			s->fault |= m.fault;
			if (m.fault)
				continue;
			s->next.n = s->set.n = 0;
			int32_t *to = push(s, &s->next, n);
			if (!to)
				return;
			memcpy(to, s->now.v, n * sizeof *to);
			to[0] = (int32_t)m.g;
			to[1 + t] = (int32_t)m.f;
			if (s->q->kind == CERT_SERIAL) {
				follow(s, t, &m);
				look_outside(s);
			}
			complete(s);
			if (s->limit || s->nonsense || s->unexplained || !visit(arg))
				return;
		}
	}
}

const int32_t *cert_state(struct cert_space *s)
{
	uint32_t len;
	int32_t *to = room(s, BEFORE_G);
	memcpy(to, seqtab_get(&s->globals, (uint32_t)s->now.v[0], &len), s->p->nglobals * sizeof *to);
	for (uint32_t t = 0; t < s->p->nthreads; t++)
		memcpy(to + s->p->threads[t].frame, frame_of(s, s->kind_of[t], (uint32_t)s->now.v[1 + t]),
		       slots_of(s, s->kind_of[t]) * sizeof *to);
	return to;
}
