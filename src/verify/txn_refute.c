/*
 * txn_refute: see txn_refute.h. First every cycle: each step against the history, and the whole against what the level
 * forbids (txn/level.h). Then the clauses, in their order: a learned one must follow by unit propagation from those before it. In the end
 * unit propagation alone must lead to a contradiction. Two literals of a clause are watched.
 */
#include "verify/txn_refute.h"

#include <assert.h>
#include <string.h>

#include "txn/members.h"

#include "verify/txn_facts.h"

/* ---- the steps of a cycle ------------------------------------------------------------------------- */

static bool step_right(const struct txn_facts *f, struct isolation level, const struct proof_step *s)
{
	const struct txn *x, *y;
	if (s->from >= f->th->n || s->to >= f->th->n || s->from == s->to || !f->took_effect[s->from] || !f->took_effect[s->to])
		return false;
	x = &f->th->txns[s->from];
	y = &f->th->txns[s->to];
	if (s->kind >= PROOF_WR && s->key >= f->th->h->keys.len)
		return false;
	switch ((enum proof_kind)s->kind) {
	case PROOF_SESSION:
		return level.order == ORDER_SESSION && x->session == y->session && s->from < s->to && x->status == TXN_COMMITTED;
	case PROOF_REALTIME:
		return level.order == ORDER_REALTIME && x->ret != RANK_INF && x->ret < y->call;
	case PROOF_WR:
		return facts_reads(f, s->to, s->key, s->from) != FACT_NONE;
	case PROOF_WW:
		return facts_writes(f, s->from, s->key) != FACT_NONE && facts_writes(f, s->to, s->key) != FACT_NONE;
	case PROOF_RW:
		return facts_reads(f, s->from, s->key, s->version) != FACT_NONE && facts_writes(f, s->to, s->key) != FACT_NONE &&
		       s->version != s->to;
	}
	return false;
}

/* ---- what a level forbids --------------------------------------------------------------------------- */

struct refuted_cycle {
	const struct txn_facts *f;
	const struct proof_step *s;
	uint32_t n;
	uint32_t nrw, at; /* rw steps, and the place of the last one */
};

/* The i-th step after the rw step. */
static const struct proof_step *behind(const struct refuted_cycle *c, uint32_t i)
{
	return &c->s[(c->at + i) % c->n];
}

static bool all_of(const struct refuted_cycle *c, unsigned kinds)
{
	for (uint32_t i = 1; i < c->n; i++)
		if (!(kinds >> behind(c, i)->kind & 1))
			return false;
	return true;
}

/* cursor-stability: the reader overwrote what it had read last. */
static bool cursor(const struct refuted_cycle *c)
{
	const struct proof_step *rw = &c->s[c->at], *ww = behind(c, 1);
	uint32_t read = facts_reads(c->f, rw->from, rw->key, rw->version);
	if (c->n != 2 || ww->kind != PROOF_WW || ww->key != rw->key)
		return false;
	/* the last read of the key before its first write */
	const struct txn *x = &c->f->th->txns[rw->from];
	for (uint32_t i = read + 1; i < x->nops; i++) {
		const struct mop *m = &c->f->th->ops[x->first + i];
		if (m->key == rw->key)
			return m->kind != MOP_READ;
	}
	return false;
}

/* An operation of the reader before its last read of that version depends on what it missed. */
static bool monotonic(const struct refuted_cycle *c, bool direct)
{
	const struct proof_step *rw = &c->s[c->at], *in = behind(c, c->n - 1);
	uint32_t read = facts_reads(c->f, rw->from, rw->key, rw->version), t = rw->from;
	const struct txn *x = &c->f->th->txns[t];
	if (direct && (c->n != 2 || in->kind != PROOF_WR))
		return false;
	if (in->kind == PROOF_WW)
		return facts_writes(c->f, t, in->key) < read;
	for (uint32_t i = 0; in->kind == PROOF_WR && i < x->nops; i++) {
		const struct mop *m = &c->f->th->ops[x->first + i];
		if (m->key == in->key && m->kind == MOP_READ && m->v != VAL_NONE && !members_guessed(c->f->th, x->first + i) &&
		    facts_saw(c->f, m) == in->from)
			return i < read && !members_same(c->f->th, x->first + i, x->first + read);
	}
	return in->kind <= PROOF_REALTIME;
}

/* At most one transaction that writes nothing. */
static bool one_reader(const struct refuted_cycle *c)
{
	uint32_t reader = FACT_NONE;
	for (uint32_t i = 0; i < c->n; i++) {
		const struct txn *x = &c->f->th->txns[c->s[i].from];
		bool writes = false;
		for (uint32_t k = 0; k < x->nops; k++)
			writes |= c->f->th->ops[x->first + k].kind != MOP_READ;
		if (!writes && reader != FACT_NONE && reader != c->s[i].from)
			return false;
		reader = writes ? reader : c->s[i].from;
	}
	return true;
}

/* Begins and ends: session, real time and wr lead from an end to a begin, rw from a begin to an end, ww from an end to
 * a begin (snapshot isolation) or to an end (prefix). Who arrives at an end does not go on from the begin. */
static bool overlaps(const struct refuted_cycle *c, bool prefix)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct proof_step *in = &c->s[i], *out = &c->s[(i + 1) % c->n];
		bool at_end = in->kind == PROOF_RW || (prefix && in->kind == PROOF_WW);
		if (at_end && out->kind == PROOF_RW)
			return false;
	}
	return true;
}

static bool forbidden(struct isolation level, struct refuted_cycle *c)
{
	const unsigned so = 1u << PROOF_SESSION | 1u << PROOF_REALTIME, wr = 1u << PROOF_WR, ww = 1u << PROOF_WW;
	for (uint32_t i = 0; i < c->n; i++)
		if (c->s[i].kind == PROOF_RW) {
			c->nrw++;
			c->at = i;
		}
	enum txn_level l = (enum txn_level)level.level;
	if (l == LEVEL_SER)
		return true;
	if (l == LEVEL_SI || l == LEVEL_PC)
		return overlaps(c, l == LEVEL_PC);
	if (l == LEVEL_US)
		return one_reader(c);
	if (!c->nrw) {
		for (uint32_t i = 0; i < c->n && l == LEVEL_RU; i++)
			if (c->s[i].kind == PROOF_WR)
				return false;
		return true;
	}
	if (c->nrw > 1)
		return false;
	switch (l) {
	case LEVEL_CS:
		return cursor(c);
	case LEVEL_MAV:
		return monotonic(c, true);
	case LEVEL_MV:
		return monotonic(c, false);
	case LEVEL_RA:
		return all_of(c, so) || (c->n == 2 && all_of(c, wr));
	case LEVEL_UA:
		return all_of(c, so) || (c->n == 2 && all_of(c, wr | ww));
	case LEVEL_CC:
		return all_of(c, so | wr);
	case LEVEL_CV:
		return true;
	default:
		return false;
	}
}

/* ---- clauses ------------------------------------------------------------------------------------------- */

struct watchers {
	AVEC(uint32_t) clauses;
};

struct refuter {
	const struct txn_facts *f;
	struct arena *a;
	struct map versions, pairs; /* (key, transaction) -> version; (version, version) -> variable */
	AVEC(int8_t) value;         /* by literal: 1 true, -1 false */
	AVEC(struct watchers) watch;
	AVEC(uint32_t) lits; /* clauses: size, literals */
	AVEC(uint32_t) trail;
	uint32_t head;
	bool contradiction;
};

static void need(bool ok, struct refuter *r)
{
	if (!ok)
		longjmp(*r->a->oom, 1);
}

static uint32_t version(struct refuter *r, uint32_t key, uint32_t t)
{
	uint32_t v = (uint32_t)r->versions.len;
	need(map_intern(&r->versions, (uint64_t)key << 32 | t, &v), r);
	return v;
}

static bool assume(struct refuter *r, uint32_t lit)
{
	assert(lit < r->value.len && r->value.data[lit] == -r->value.data[lit ^ 1]);
	if (r->value.data[lit])
		return r->value.data[lit] > 0;
	r->value.data[lit] = 1;
	r->value.data[lit ^ 1] = -1;
	avec_push(r->a, &r->trail, lit);
	return true;
}

/* The literal of "a before b"; what lists show is true from the first. */
static uint32_t literal(struct refuter *r, uint32_t key, uint32_t a, uint32_t b)
{
	uint32_t x = version(r, key, a), y = version(r, key, b), v = (uint32_t)r->pairs.len, n = v;
	bool up = x < y;
	need(map_intern(&r->pairs, up ? (uint64_t)x << 32 | y : (uint64_t)y << 32 | x, &v), r);
	uint32_t lit = 2 * v + !up;
	if (v == n) {
		for (int i = 0; i < 2; i++) {
			avec_push(r->a, &r->value, 0);
			avec_push(r->a, &r->watch, ((struct watchers){ { 0 } }));
		}
		/* lists that contradict each other may show both; one is enough then */
		if (facts_before(r->f, key, a, b))
			assume(r, lit);
		else if (facts_before(r->f, key, b, a))
			assume(r, lit ^ 1);
	}
	return lit;
}

static void watch(struct refuter *r, uint32_t lit, uint32_t clause)
{
	avec_push(r->a, &r->watch.data[lit].clauses, clause);
}

/* Everything that follows; false: a contradiction. */
static bool propagate(struct refuter *r)
{
	while (r->head < r->trail.len) {
		uint32_t off = r->trail.data[r->head++] ^ 1, to = 0;
		struct watchers *w = &r->watch.data[off];
		bool ok = true;
		for (uint32_t i = 0; i < w->clauses.len; i++) {
			uint32_t c = w->clauses.data[i], n = r->lits.data[c], *l = &r->lits.data[c + 1], k = 2;
			if (!ok) {
				w->clauses.data[to++] = c;
				continue;
			}
			if (l[0] == off) {
				l[0] = l[1];
				l[1] = off;
			}
			while (r->value.data[l[0]] <= 0 && k < n && r->value.data[l[k]] < 0)
				k++;
			if (r->value.data[l[0]] <= 0 && k < n) {
				l[1] = l[k];
				l[k] = off;
				watch(r, l[1], c);
				continue;
			}
			w->clauses.data[to++] = c;
			ok = r->value.data[l[0]] > 0 || assume(r, l[0]);
		}
		w->clauses.len = to;
		if (!ok)
			return false;
	}
	return true;
}

static void undo(struct refuter *r, uint32_t to)
{
	assert(to <= r->trail.len);
	while (r->trail.len > to) {
		uint32_t lit = r->trail.data[--r->trail.len];
		r->value.data[lit] = r->value.data[lit ^ 1] = 0;
	}
	r->head = to;
}

/* Adds a clause; what is false for good is left out. */
static void add(struct refuter *r, const uint32_t *lits, uint32_t n)
{
	assert(r->head == r->trail.len); /* propagated */
	uint32_t at = r->lits.len, left = 0;
	avec_push(r->a, &r->lits, 0);
	for (uint32_t i = 0; i < n; i++) {
		bool twin = r->value.data[lits[i]] < 0;
		for (uint32_t k = at + 1; k < r->lits.len; k++) {
			twin |= r->lits.data[k] == lits[i];
			if (r->lits.data[k] == (lits[i] ^ 1)) { /* always true */
				r->lits.len = at;
				return;
			}
		}
		if (!twin)
			avec_push(r->a, &r->lits, lits[i]);
	}
	left = r->lits.len - at - 1;
	r->lits.data[at] = left;
	if (left > 1) {
		watch(r, r->lits.data[at + 1], at);
		watch(r, r->lits.data[at + 2], at);
		return;
	}
	uint32_t only = left ? r->lits.data[at + 1] : 0;
	r->lits.len = at;
	if (!left || !assume(r, only) || !propagate(r))
		r->contradiction = true;
}

/* Does the clause follow by unit propagation? */
static bool follows(struct refuter *r, const uint32_t *lits, uint32_t n)
{
	uint32_t mark = r->trail.len;
	bool conflict = false;
	for (uint32_t i = 0; i < n && !conflict; i++)
		conflict = !assume(r, lits[i] ^ 1);
	conflict = conflict || !propagate(r);
	undo(r, mark);
	return conflict;
}

/* ---- all of it -------------------------------------------------------------------------------------------- */

static bool txn_right(const struct txn_facts *f, uint32_t t, uint32_t key)
{
	return t < f->th->n && f->took_effect[t] && facts_writes(f, t, key) != FACT_NONE;
}

static const char *check_cycle(struct refuter *r, struct isolation level, const struct proof_step *s, uint32_t n)
{
	struct refuted_cycle c = { .f = r->f, .s = s, .n = n };
	if (n < 2)
		return "a cycle of the proof has fewer than two steps";
	for (uint32_t i = 0; i < n; i++) {
		if (!step_right(r->f, level, &s[i]))
			return "a step of a cycle of the proof is not in the history";
		if (s[i].to != s[(i + 1) % n].from)
			return "a cycle of the proof is not closed";
	}
	return forbidden(level, &c) ? NULL : "the level does not forbid a cycle of the proof";
}

static const char *check_clause(struct refuter *r, struct isolation level, const struct txn_proof *p, const struct proof_clause *c)
{
	AVEC(uint32_t) lits = { 0 };
	if (c->learned) {
		for (uint32_t i = 0; i < c->n; i++) {
			const struct proof_fact *x = &p->facts.data[c->first + i];
			if (x->key >= r->f->th->h->keys.len || !txn_right(r->f, x->a, x->key) || !txn_right(r->f, x->b, x->key) ||
			    x->a == x->b)
				return "a clause of the proof names a write that is not there";
			avec_push(r->a, &lits, literal(r, x->key, x->a, x->b));
		}
		if (!propagate(r)) {
			r->contradiction = true;
			return NULL;
		}
		if (!follows(r, lits.data, lits.len))
			return "a clause of the proof does not follow";
	} else {
		const struct proof_step *s = p->steps.data + c->first;
		const char *why = check_cycle(r, level, s, c->n);
		if (why)
			return why;
		for (uint32_t i = 0; i < c->n; i++)
			if (s[i].kind == PROOF_WW)
				avec_push(r->a, &lits, literal(r, s[i].key, s[i].from, s[i].to) ^ 1);
			else if (s[i].kind == PROOF_RW && s[i].version != PROOF_INITIAL)
				avec_push(r->a, &lits, literal(r, s[i].key, s[i].version, s[i].to) ^ 1);
		if (!propagate(r)) {
			r->contradiction = true;
			return NULL;
		}
	}
	add(r, lits.data, lits.len);
	return NULL;
}

const char *txn_refute(struct txn_facts *f, struct isolation level, const struct txn_proof *p)
{
	struct refuter *r = arena_new(f->a, struct refuter);
	const char *why = NULL;
	r->f = f;
	r->a = f->a;
	map_init(&r->versions);
	map_init(&r->pairs);
	for (uint32_t i = 0; i < p->clauses.len && !why && !r->contradiction; i++)
		why = check_clause(r, level, p, &p->clauses.data[i]);
	if (!why && !r->contradiction)
		why = "the proof does not lead to a contradiction";
	map_free(&r->versions);
	map_free(&r->pairs);
	return why;
}
