/*
 * certificate_twin: a checker of certificates that knows nothing of tables of steps, of an order of threads, of what is equal: rows are whole
 * states of values, the set is closed under every exchange of identical threads first, each step is taken on a whole state, and shadows are
 * made by the definition in verdict/certificate.h. For tiny models.
 */
#ifndef INTACT_TESTS_CERTIFICATE_TWIN_H
#define INTACT_TESTS_CERTIFICATE_TWIN_H

#include <stdlib.h>
#include <string.h>

#include "base/seqtab.h"
#include "base/varint.h"
#include "verdict/certificate.h"

enum { CTWIN_VALUES = 400, CTWIN_SHADOWS = 60, CTWIN_ROW = CTWIN_VALUES * (CTWIN_SHADOWS + 1) };

struct ctwin {
	const struct ir *p;
	struct cert_claim q;
	uint8_t edge[4096], entry[64];
	uint32_t w;         /* words of a shadow: a state, and a mark for each thread */
	struct seqtab rows; /* state, shadows in order */
	int32_t (*ranks)[CERT_RANKS];
	bool wrong, too_much;
	/* the step being taken */
	int32_t now[CTWIN_ROW], next[CTWIN_ROW];
	uint32_t nnow, nnext, thread;
	int32_t set[CTWIN_SHADOWS][CTWIN_VALUES];
	uint32_t nset;
	bool fault, moved;
	uint32_t best[CERT_RANKS];
};

static inline bool ctwin_inside(const struct ctwin *x, const int32_t *state, uint32_t t)
{
	uint32_t b = ir_block_of(x->p, state, t);
	return b != IR_NONE && (x->q.block == VERDICT_PROGRAM || x->q.block == b);
}

static inline bool ctwin_same_frame(const struct ctwin *x, const int32_t *a, const int32_t *b, uint32_t t)
{
	const struct ir_thread *th = &x->p->threads[t];
	return !memcmp(a + th->frame, b + th->frame, x->p->templates[th->tmpl].nslots * sizeof *a);
}

static inline void ctwin_put(struct ctwin *x, const int32_t *shadow)
{
	for (uint32_t i = 0; i < x->nset; i++)
		if (!memcmp(x->set[i], shadow, x->w * sizeof *shadow))
			return;
	if (x->nset == CTWIN_SHADOWS) {
		x->too_much = true;
		return;
	}
	memcpy(x->set[x->nset++], shadow, x->w * sizeof *shadow);
}

struct ctwin_alone { /* thread t alone in a shadow */
	struct ctwin *x;
	uint32_t t, depth;
	const int32_t *goal; /* one step outside: the state whose frame it must come to; else the whole block */
	const int32_t *shadow;
};

static bool ctwin_outcome(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch,
                          const struct ir_effect *eff)
{
	struct ctwin_alone *a = arg;
	struct ctwin *x = a->x;
	int32_t s[CTWIN_VALUES], scratch[CTWIN_VALUES];
	(void)ch, (void)eff;
	if (r != IR_OK)
		return true;
	memcpy(s, next, x->p->nstate * sizeof *s);
	memcpy(s + x->p->nstate, a->shadow + x->p->nstate, x->p->nthreads * sizeof *s);
	ir_clear_dead(x->p, s);
	if (a->goal) {
		if (ctwin_same_frame(x, s, a->goal, a->t))
			ctwin_put(x, s);
	} else if (!ctwin_inside(x, s, a->t)) {
		s[x->p->nstate + a->t] = 1;
		ctwin_put(x, s);
	} else if (a->depth > 200) {
		x->too_much = true;
	} else {
		struct ctwin_alone on = { x, a->t, a->depth + 1, NULL, s };
		ir_successors(x->p, s, a->t, scratch, ctwin_outcome, &on);
	}
	return !x->too_much;
}

static inline void ctwin_run(struct ctwin *x, uint32_t t, const int32_t *shadow, const int32_t *goal)
{
	int32_t own[CTWIN_VALUES], scratch[CTWIN_VALUES];
	memcpy(own, shadow, x->w * sizeof *own);
	struct ctwin_alone a = { x, t, 0, goal, own };
	ir_successors(x->p, own, t, scratch, ctwin_outcome, &a);
}

/* The shadows of the set that the thread's block has taken effect in, or takes it now. */
static inline void ctwin_effect(struct ctwin *x, uint32_t t)
{
	static int32_t old[CTWIN_SHADOWS][CTWIN_VALUES];
	uint32_t n = x->nset;
	memcpy(old, x->set, sizeof old);
	x->nset = 0;
	for (uint32_t i = 0; i < n && !x->too_much; i++)
		if (old[i][x->p->nstate + t])
			ctwin_put(x, old[i]);
		else
			ctwin_run(x, t, old[i], NULL);
}

static inline bool ctwin_commits(const struct ctwin *x, uint32_t from, uint32_t to, bool was, const struct ir_effect *eff)
{
	const struct ir_node *n = &x->p->nodes[from];
	uint32_t b = was ? n->block : x->p->nodes[to].block;
	if (x->p->blocks[b].has_commit)
		return eff->committed != IR_NONE;
	if (!was)
		return x->entry[b];
	for (uint32_t i = 0; i < n->nsucc; i++)
		if (x->p->succs[n->succ + i] == to && x->edge[n->succ + i])
			return true;
	return false;
}

static int ctwin_compare(const void *a, const void *b)
{
	const int32_t *x = a, *y = b;
	for (uint32_t i = 0; i < CTWIN_VALUES; i++)
		if (x[i] != y[i])
			return x[i] < y[i] ? -1 : 1;
	return 0;
}

/* The row x->next: its state is there, the shadows are those of the set. */
static inline void ctwin_complete(struct ctwin *x)
{
	for (uint32_t i = 0; i < x->nset; i++)
		memset(x->set[i] + x->w, 0, (CTWIN_VALUES - x->w) * sizeof(int32_t));
	qsort(x->set, x->nset, sizeof x->set[0], ctwin_compare);
	x->nnext = x->p->nstate;
	for (uint32_t i = 0; i < x->nset; i++, x->nnext += x->w)
		memcpy(x->next + x->nnext, x->set[i], x->w * sizeof(int32_t));
}

static inline void ctwin_shadows(struct ctwin *x, const struct ir_effect *eff)
{
	const struct ir *p = x->p;
	uint32_t t = x->thread, n;
	bool was = ctwin_inside(x, x->now, t), is = ctwin_inside(x, x->next, t), any = x->q.any_moment, outside = true;
	uint32_t from = ir_node_of(p, x->now, t), to = ir_node_of(p, x->next, t);
	static int32_t old[CTWIN_SHADOWS][CTWIN_VALUES];
	x->nset = 0;
	for (uint32_t i = p->nstate; i < x->nnow; i += x->w)
		ctwin_put(x, x->now + i);
	for (uint32_t i = 0; any && !is && (was || p->nodes[from].naccess) && i < x->nset && !x->too_much; i++)
		for (uint32_t u = 0; u < p->nthreads && !x->too_much; u++)
			if (ctwin_inside(x, x->now, u) && !x->set[i][p->nstate + u])
				ctwin_run(x, u, x->set[i], NULL);
	if ((was || is) && !any && (!is || ctwin_commits(x, from, to, was, eff)))
		ctwin_effect(x, t);
	n = x->nset;
	memcpy(old, x->set, sizeof old);
	for (uint32_t i = 0; !is && i < n; i++) {
		if (!i)
			x->nset = 0;
		if (!was) {
			ctwin_run(x, t, old[i], x->next);
		} else if (old[i][p->nstate + t] && ctwin_same_frame(x, old[i], x->next, t)) {
			old[i][p->nstate + t] = 0;
			ctwin_put(x, old[i]);
		}
	}
	for (uint32_t u = 0; u < p->nthreads; u++)
		outside &= !ctwin_inside(x, x->next, u);
	if (!outside)
		return;
	int32_t own[CTWIN_VALUES] = { 0 };
	memcpy(own, x->next, p->nstate * sizeof *own);
	bool there = false;
	for (uint32_t i = 0; i < x->nset; i++)
		there |= !memcmp(x->set[i], own, x->w * sizeof *own);
	x->wrong |= !there;
	x->nset = 0;
	ctwin_put(x, own);
}

static bool ctwin_step(void *arg, enum ir_result r, const int32_t *next, const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct ctwin *x = arg;
	(void)ch;
	x->moved = true;
	if (r == IR_FAULT) {
		x->fault = true;
		return true;
	}
	memcpy(x->next, next, x->p->nstate * sizeof *next);
	ir_clear_dead(x->p, x->next);
	x->nset = 0;
	if (x->q.kind == CERT_SERIAL)
		ctwin_shadows(x, eff);
	ctwin_complete(x);
	uint32_t id = seqtab_find(&x->rows, x->next, x->nnext);
	x->wrong |= id == SEQTAB_NONE;
	for (uint32_t k = 0; id != SEQTAB_NONE && k < CERT_RANKS; k++)
		if ((uint32_t)x->ranks[id][k] < x->best[k])
			x->best[k] = (uint32_t)x->ranks[id][k];
	return !x->wrong && !x->too_much;
}

/* The row with threads t and t + 1 exchanged goes into x->next. */
static inline void ctwin_exchange(struct ctwin *x, const int32_t *row, uint32_t n, uint32_t t)
{
	uint32_t slots = x->p->templates[x->p->threads[t].tmpl].nslots, f = x->p->threads[t].frame;
	memcpy(x->next, row, n * sizeof *row);
	x->nset = 0;
	for (uint32_t at = 0; at < n; at += at ? x->w : x->p->nstate) {
		int32_t *s = x->next + at;
		for (uint32_t i = 0; i < slots; i++) {
			int32_t v = s[f + i];
			s[f + i] = s[f + slots + i];
			s[f + slots + i] = v;
		}
		if (at) {
			int32_t v = s[x->p->nstate + t];
			s[x->p->nstate + t] = s[x->p->nstate + t + 1];
			s[x->p->nstate + t + 1] = v;
			ctwin_put(x, s);
		}
	}
	ctwin_complete(x);
}

static inline void ctwin_add(struct ctwin *x, const int32_t *ranks)
{
	uint32_t before = x->rows.n, id = seqtab_add(&x->rows, x->next, x->nnext);
	if (id != before)
		return;
	x->ranks = realloc(x->ranks, (id + 1ull) * sizeof *x->ranks);
	memcpy(x->ranks[id], ranks, sizeof x->ranks[id]);
}

/* All of the set: rows as values, and what comes of exchanging threads. False: not such a section. */
static inline bool ctwin_read(struct ctwin *x, struct cursor *c)
{
	const struct ir *p = x->p;
	uint32_t nkinds = 0, kind_of[64], slots[64];
	struct {
		int32_t *v;
		uint64_t n;
	} table[65] = { 0 };
	int32_t row[CTWIN_ROW / 4] = { 0 };
	bool ok = true;
	x->w = p->nstate + p->nthreads;
	for (uint64_t at = 0, n = x->q.kind == CERT_SERIAL ? get_varint(c) : 0; n && !c->bad; n--)
		x->edge[(at += get_varint(c)) % sizeof x->edge] = 1;
	for (uint64_t at = 0, n = x->q.kind == CERT_SERIAL ? get_varint(c) : 0; n && !c->bad; n--)
		x->entry[(at += get_varint(c)) % sizeof x->entry] = 1;
	for (uint32_t t = 0; t < p->nthreads; t++) {
		const struct ir_template *tm = &p->templates[p->threads[t].tmpl];
		if (t == tm->first_thread || tm->names_threads)
			slots[nkinds++] = tm->nslots;
		kind_of[t] = nkinds - 1;
	}
	for (uint32_t k = 0; k <= nkinds && !c->bad; k++) {
		uint32_t width = k ? slots[k - 1] : p->nglobals;
		table[k].n = get_varint(c);
		ok = ok && table[k].n < 100000;
		table[k].v = ok ? calloc(table[k].n * width + 1, sizeof(int32_t)) : NULL;
		for (uint64_t i = 0; ok && i < table[k].n * width && !c->bad; i++)
			table[k].v[i] = (int32_t)unzigzag(get_varint(c), i < width ? 0 : (uint64_t)table[k].v[i - width]);
	}
	for (uint64_t n = ok ? get_varint(c) : 0; n && ok && !c->bad; n--) {
		uint64_t common = get_varint(c), len = get_varint(c), group = p->nthreads + 1;
		int32_t ranks[CERT_RANKS] = { 0 };
		ok = common < len && len < sizeof row / sizeof *row && len % group == 0 && len / group <= CTWIN_SHADOWS;
		for (uint64_t k = common; ok && k < len; k++)
			row[k] = (int32_t)get_varint(c) + (k == common ? row[k] : 0);
		for (uint32_t k = 0, g[CERT_RANKS]; ok && k < cert_goals(p, &x->q, g); k++)
			ranks[k] = (int32_t)get_varint(c);
		x->nset = 0;
		for (uint64_t at = 0; ok && at < len; at += group) {
			int32_t s[CTWIN_VALUES] = { 0 };
			for (uint32_t t = 0; t <= p->nthreads && ok; t++) {
				uint32_t id = (uint32_t)row[at + t], k = t ? kind_of[t - 1] + 1 : 0,
					 width = t ? slots[k - 1] : p->nglobals;
				if (at && t)
					s[p->nstate + t - 1] = id & 1;
				id >>= at && t;
				ok = id < table[k].n;
				if (ok)
					memcpy(s + (t ? p->threads[t - 1].frame : 0), table[k].v + (size_t)id * width,
					       width * sizeof *s);
			}
			if (at)
				ctwin_put(x, s);
			else
				memcpy(x->next, s, p->nstate * sizeof *s);
		}
		for (uint64_t k = len; k < sizeof row / sizeof *row; k++)
			row[k] = 0; /* a longer row adds to nothing */
		ctwin_complete(x);
		if (ok)
			ctwin_add(x, ranks);
		ok = ok && !x->too_much && x->rows.n < 200000;
	}
	for (uint32_t i = 0; ok && i < x->rows.n; i++)
		for (uint32_t t = 0; t + 1 < p->nthreads; t++)
			if (kind_of[t] == kind_of[t + 1]) {
				uint32_t len;
				const int32_t *r = seqtab_get(&x->rows, i, &len);
				int32_t ranks[CERT_RANKS];
				memcpy(ranks, x->ranks[i], sizeof ranks);
				ctwin_exchange(x, r, len, t);
				ctwin_add(x, ranks);
			}
	for (uint32_t k = 0; k <= nkinds; k++)
		free(table[k].v);
	return ok && !c->bad;
}

static inline void ctwin_look(struct ctwin *x, uint32_t id)
{
	const struct ir *p = x->p;
	int32_t scratch[CTWIN_VALUES];
	const int32_t *row = seqtab_get(&x->rows, id, &x->nnow);
	memcpy(x->now, row, x->nnow * sizeof *row);
	memset(x->best, 0xff, sizeof x->best);
	x->fault = x->moved = false;
	for (x->thread = 0; x->thread < p->nthreads && !x->wrong && !x->too_much; x->thread++)
		ir_successors(p, x->now, x->thread, scratch, ctwin_step, x);
	if (x->q.kind != CERT_PLAIN)
		return;
	x->wrong |= (x->q.faults && x->fault) || (x->q.deadlock && !x->moved && !ir_all_finished(p, x->now));
	for (uint32_t i = 0; i < p->nproperties; i++)
		x->wrong |= x->q.properties >> i & 1 && ir_property_broken(p, i, x->now);
	for (uint32_t k = 0, g[CERT_RANKS]; k < cert_goals(p, &x->q, g); k++) {
		uint32_t rank = (uint32_t)x->ranks[id][k], i = g[k];
		bool goal = i == IR_NONE ? ir_quiescent(p, x->now) : ir_property_holds(p, i, x->now);
		x->wrong |= rank ? x->best[k] >= rank : !goal && !x->fault;
	}
}

enum ctwin_answer { CTWIN_ACCEPTS, CTWIN_REJECTS, CTWIN_TOO_MUCH };

/* One section about p, the cursor behind its claims. */
static inline enum ctwin_answer ctwin_check(const struct ir *p, const struct cert_claim *q, struct cursor *c)
{
	struct ctwin *x = calloc(1, sizeof *x);
	enum ctwin_answer a = CTWIN_REJECTS;
	x->p = p;
	x->q = *q;
	if (p->nstate + p->nthreads >= CTWIN_VALUES || p->nsuccs >= sizeof x->edge || p->nthreads >= 60) {
		x->too_much = true;
	} else if (ctwin_read(x, c) && !x->too_much) {
		int32_t own[CTWIN_VALUES] = { 0 };
		memcpy(own, p->init, p->nstate * sizeof *own);
		ir_clear_dead(p, own);
		memcpy(x->next, own, p->nstate * sizeof *own);
		x->nset = 0;
		if (q->kind == CERT_SERIAL)
			ctwin_put(x, own);
		ctwin_complete(x);
		x->wrong |= seqtab_find(&x->rows, x->next, x->nnext) == SEQTAB_NONE;
		for (uint32_t i = 0; i < x->rows.n && !x->wrong && !x->too_much; i++)
			ctwin_look(x, i);
		a = x->wrong ? CTWIN_REJECTS : CTWIN_ACCEPTS;
	}
	a = x->too_much ? CTWIN_TOO_MUCH : a;
	seqtab_free(&x->rows);
	free(x->ranks);
	free(x);
	return a;
}

#endif
