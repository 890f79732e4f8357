/*
 * sched_twin: small concurrent programs with every primitive, their semantics
 * (a machine that can be copied), and what the room is compared with: a walk
 * over all schedules that collects the distinct traces and final states, with
 * happens-before computed naively from the definition in sched/op.h.
 *
 * The machine knows nothing of the room but the operations' type. Its state
 * holds no trace of the interleaving but what the program can see, so that
 * states can be compared (twin_same).
 */
#ifndef INTACT_TESTS_SCHED_TWIN_H
#define INTACT_TESTS_SCHED_TWIN_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "sched/sched.h"

enum { T_MAX = 24, CODE_MAX = 64, WORDS = 128, FUTEXES = 8, LOCKS = 48, RWS = 2, SEMS = 3, CONDS = 2, BARRIERS = 2, ONCES = 2, EV_MAX = 400 };

/* a: object; b: second object or thread; v: value */
enum twin_code {
	I_END,
	I_READ,    /* r = word a */
	I_READ2,   /* r = words a, a + 1 (8 bytes) */
	I_WRITE,   /* word a = v */
	I_WRITE2,  /* words a, a + 1 = v */
	I_WRITER,  /* word a = r + v */
	I_WRITEX,  /* word x = v; x = r */
	I_ADD,     /* atomic word a += v; r = the old value */
	I_CAS,     /* word a: b -> v; r = success */
	I_WEAKCAS, /* may fail by choice */
	I_LOAD,
	I_STORE,
	I_LOCK,
	I_TRY,     /* r = success */
	I_UNLOCK,  /* only if held */
	I_RD,
	I_WR,
	I_TRYRD,
	I_TRYWR,
	I_RWUN,    /* only if held */
	I_WAIT,    /* condition a, mutex b, only if held */
	I_TIMEDWAIT,
	I_SIGNAL,
	I_BROADCAST,
	I_SEMWAIT,
	I_SEMTRY,
	I_POST,
	I_VALUE,
	I_BARRIER,
	I_CREATE,  /* thread b */
	I_JOIN,    /* thread b, only if created by this one */
	I_TRYJOIN,
	I_ONCE,    /* once a: word b += 1 */
	I_FWAIT,   /* futex on word a with expected v */
	I_FWAKE,   /* word a, v: 0 one, 1 all */
	I_AWAIT,   /* while (word a == v); */
	I_SPINCAS, /* while (!cas(word a, 0, 1)); */
	I_SPINTRY, /* while (!trylock(a)); */
	I_AWAIT2,  /* while (word a == v && word b == v); */
	I_YIELD,
	I_CHOICE,  /* r = 0..v-1 */
	I_SKIP,    /* if r == v skip b instructions; no point */
	I_SKIPIF0, /* if r == 0 skip b */
	I_EXITALL,
	I_SEMINIT, /* semaphore a begins again with v */
	I_DESTROY, /* the lock a; no effect, but an operation on it */
};

struct twin_ins {
	uint8_t code;
	uint8_t a, b;
	int8_t v;
};

struct twin_program {
	int threads; /* thread 0 begins; the others are created, or not */
	struct twin_ins code[T_MAX][CODE_MAX];
	uint8_t sem[SEMS], barrier[BARRIERS];
	bool commutes; /* arrivals at barriers: exactly as many threads as the count */
	uint64_t seed;
};

enum twin_state { TW_NONE, TW_LIVE, TW_GONE };

struct twin_thread {
	uint8_t state, pc, phase;
	bool signalled;
	uint8_t changed; /* since it has looked: bit 0 word a or the lock, bit 1 word b */
	int32_t r;
	uint32_t steps;              /* operations executed */
	int8_t cause_thread;         /* of the enabling edge to the pending operation, -1 */
	uint32_t cause_step;
	uint32_t created;            /* threads it has created, a bit each */
};

struct twin {
	struct twin_thread t[T_MAX];
	int32_t word[WORDS];
	int8_t lock[LOCKS];          /* owner, -1 */
	int8_t wr[RWS];
	uint32_t rd[RWS];            /* readers, a bit each */
	int8_t sem[SEMS];
	uint32_t cond[CONDS], fut[FUTEXES]; /* waiters, a bit each */
	uint8_t arrived[BARRIERS];
	uint32_t at[BARRIERS];       /* who waits inside */
	int8_t once[ONCES];          /* -1: not begun, -2: done, else who runs it */
	bool ended;
};

static inline void twin_begin(struct twin *m, const struct twin_program *p)
{
	memset(m, 0, sizeof *m);
	m->t[0].state = TW_LIVE;
	for (int i = 0; i < T_MAX; i++)
		m->t[i].cause_thread = -1;
	memset(m->lock, -1, sizeof m->lock);
	memset(m->wr, -1, sizeof m->wr);
	memset(m->once, -1, sizeof m->once);
	for (int i = 0; i < SEMS; i++)
		m->sem[i] = (int8_t)p->sem[i];
	m->t[0].phase = 1; /* main has started */
}

static inline uint64_t at_word(int i) { return 0x10000 + 4 * (uint64_t)i; }
static inline uint64_t at_lock(int i) { return 0x20000 + 64 * (uint64_t)i; }
static inline uint64_t at_rw(int i) { return 0x30000 + 64 * (uint64_t)i; }
static inline uint64_t at_sem(int i) { return 0x40000 + 64 * (uint64_t)i; }
static inline uint64_t at_cond(int i) { return 0x50000 + 64 * (uint64_t)i; }
static inline uint64_t at_barrier(int i) { return 0x60000 + 64 * (uint64_t)i; }
static inline uint64_t at_once(int i) { return 0x70000 + 64 * (uint64_t)i; }

static inline const struct twin_ins *twin_ins(const struct twin_program *p, const struct twin *m, int t)
{
	return &p->code[t][m->t[t].pc];
}

/* Instructions without a point run at once: after this the thread has a
 * pending operation. Local, so it does not matter when. */
static inline void twin_local(const struct twin_program *p, struct twin *m, int t)
{
	struct twin_thread *x = &m->t[t];
	for (;;) {
		const struct twin_ins *i = twin_ins(p, m, t);
		if (x->phase == 0)
			return; /* START is pending */
		if ((i->code == I_SKIP && x->r == i->v) || (i->code == I_SKIPIF0 && !x->r))
			x->pc = (uint8_t)(x->pc + 1 + i->b);
		else if (i->code == I_SKIP || i->code == I_SKIPIF0 ||
		         (i->code == I_UNLOCK && m->lock[i->a] != t) ||
		         (i->code == I_RWUN && m->wr[i->a] != t && !(m->rd[i->a] >> t & 1)) ||
		         ((i->code == I_WAIT || i->code == I_TIMEDWAIT) && x->phase == 1 && m->lock[i->b] != t) ||
		         (i->code == I_CREATE && m->t[i->b].state) ||
		         ((i->code == I_JOIN || i->code == I_TRYJOIN) && !(x->created >> i->b & 1)) ||
		         ((i->code == I_LOCK || i->code == I_SPINTRY || i->code == I_TRY) && m->lock[i->a] == t) ||
		         ((i->code == I_RD || i->code == I_WR || i->code == I_TRYRD || i->code == I_TRYWR) &&
		          (m->wr[i->a] == t || m->rd[i->a] >> t & 1)))
			x->pc++;
		else
			return;
	}
}

/* The pending operation; ids of threads are the twin's. Returns whether it can
 * be executed. phase: 0 not started, 1 at the instruction, 2 its second part. */
static inline bool twin_pending(const struct twin_program *p, const struct twin *m, int t, struct sched_op *op)
{
	const struct twin_thread *x = &m->t[t];
	const struct twin_ins *i = twin_ins(p, m, t);
	*op = (struct sched_op){ .pc = 0x400000 + (uint64_t)t * 256 + x->pc * 4u + x->phase };
#define OP(k, obj, sz) (op->kind = (k), op->a = (obj), op->size = (sz))
	if (!x->phase)
		return OP(SCHED_START, (uint64_t)t, 0), true;
	switch (i->code) {
	case I_END: return OP(SCHED_EXIT, (uint64_t)t, 0), true;
	case I_READ: return OP(SCHED_READ, at_word(i->a), 4), true;
	case I_READ2: return OP(SCHED_READ, at_word(i->a), 8), true;
	case I_WRITE: case I_WRITER: return OP(SCHED_WRITE, at_word(i->a), 4), true;
	case I_WRITEX: return OP(SCHED_WRITE, at_word(x->r), 4), true;
	case I_WRITE2: return OP(SCHED_WRITE, at_word(i->a), 8), true;
	case I_ADD: case I_CAS: case I_WEAKCAS: return OP(SCHED_RMW, at_word(i->a), 4), true;
	case I_LOAD: return OP(SCHED_LOAD, at_word(i->a), 4), true;
	case I_STORE: return OP(SCHED_STORE, at_word(i->a), 4), true;
	case I_LOCK: return OP(SCHED_LOCK, at_lock(i->a), 0), m->lock[i->a] < 0;
	case I_TRY: return OP(SCHED_TRYLOCK, at_lock(i->a), 0), true;
	case I_SPINTRY: return OP(SCHED_TRYLOCK, at_lock(i->a), 0), x->phase == 1 || x->changed;
	case I_UNLOCK: return OP(SCHED_UNLOCK, at_lock(i->a), 0), true;
	case I_RD: return OP(SCHED_RDLOCK, at_rw(i->a), 0), m->wr[i->a] < 0;
	case I_WR: return OP(SCHED_WRLOCK, at_rw(i->a), 0), m->wr[i->a] < 0 && !m->rd[i->a];
	case I_TRYRD: return OP(SCHED_TRYRD, at_rw(i->a), 0), true;
	case I_TRYWR: return OP(SCHED_TRYWR, at_rw(i->a), 0), true;
	case I_RWUN: return OP(m->wr[i->a] == t ? SCHED_WRUNLOCK : SCHED_RDUNLOCK, at_rw(i->a), 0), true;
	case I_WAIT: case I_TIMEDWAIT:
		op->b = at_lock(i->b);
		if (x->phase == 1)
			return OP(SCHED_COND_WAIT, at_cond(i->a), 0), true;
		op->flags = i->code == I_TIMEDWAIT ? SCHED_TIMED : 0;
		return OP(SCHED_COND_WAKE, at_cond(i->a), 0), (x->signalled || op->flags) && m->lock[i->b] < 0;
	case I_SIGNAL: return OP(SCHED_COND_SIGNAL, at_cond(i->a), 0), true;
	case I_BROADCAST: return OP(SCHED_COND_BROADCAST, at_cond(i->a), 0), true;
	case I_SEMWAIT: return OP(SCHED_SEM_WAIT, at_sem(i->a), 0), m->sem[i->a] > 0;
	case I_SEMTRY: return OP(SCHED_SEM_TRY, at_sem(i->a), 0), true;
	case I_POST: return OP(SCHED_SEM_POST, at_sem(i->a), 0), true;
	case I_VALUE: return OP(SCHED_SEM_VALUE, at_sem(i->a), 0), true;
	case I_BARRIER:
		if (x->phase == 1) {
			op->flags = p->commutes ? SCHED_COMMUTES : 0;
			return OP(SCHED_BARRIER_ARRIVE, at_barrier(i->a), 0), true;
		}
		return OP(SCHED_BARRIER_LEAVE, at_barrier(i->a), 0), x->signalled;
	case I_CREATE: return OP(SCHED_CREATE, i->b, 0), true;
	case I_JOIN: return OP(SCHED_JOIN, i->b, 0), m->t[i->b].state == TW_GONE;
	case I_TRYJOIN: return OP(SCHED_TRYJOIN, i->b, 0), true;
	case I_ONCE:
		if (x->phase == 1)
			return OP(SCHED_ONCE, at_once(i->a), 0), m->once[i->a] < 0;
		if (x->phase == 2)
			return OP(SCHED_WRITE, at_word(i->b), 4), true;
		return OP(SCHED_ONCE_END, at_once(i->a), 0), true;
	case I_FWAIT:
		if (x->phase == 1)
			return OP(SCHED_FUTEX_WAIT, at_word(i->a), 4), true;
		return OP(SCHED_FUTEX_WOKEN, at_word(i->a), 4), x->signalled;
	case I_FWAKE: return OP(SCHED_FUTEX_WAKE, at_word(i->a), 4), true;
	case I_AWAIT: return OP(SCHED_LOAD, at_word(i->a), 4), x->phase == 1 || x->changed;
	case I_AWAIT2:
		if (x->phase == 2 || x->phase == 4)
			return OP(SCHED_LOAD, at_word(i->b), 4), true;
		return OP(SCHED_LOAD, at_word(i->a), 4), x->phase == 1 || x->changed;
	case I_SPINCAS: return OP(SCHED_RMW, at_word(i->a), 4), x->phase == 1 || x->changed;
	case I_YIELD: return OP(SCHED_YIELD, 0, 0), true;
	case I_CHOICE: return OP(SCHED_CHOICE, 0, 0), true;
	case I_EXITALL: return OP(SCHED_PROCESS_EXIT, 0, 0), true;
	case I_SEMINIT: return OP(SCHED_INIT, at_sem(i->a), 0), true;
	case I_DESTROY: return OP(SCHED_DESTROY, at_lock(i->a), 0), true;
	}
#undef OP
	abort();
}

/* Is the pending operation an await (sched_await before the point)? */
static inline uint32_t twin_awaits(const struct twin_program *p, const struct twin *m, int t, struct sched_range *r,
                                   uint32_t *ops)
{
	const struct twin_ins *i = twin_ins(p, m, t);
	int phase = m->t[t].phase;
	*ops = 1;
	r[0] = (struct sched_range){ at_word(i->a), 4 };
	if (phase == 2 && (i->code == I_AWAIT || i->code == I_SPINCAS))
		return 1;
	if (phase == 2 && i->code == I_SPINTRY)
		return r[0] = (struct sched_range){ at_lock(i->a), 0 }, 1;
	if (phase == 3 && i->code == I_AWAIT2) {
		r[1] = (struct sched_range){ at_word(i->b), 4 };
		*ops = 2;
		return 2;
	}
	return 0;
}

/* How an operation turned out, for the record. */
struct twin_result {
	uint32_t flags, value;
	uint32_t choice, choices; /* choices = 0: none */
	uint32_t caused;          /* threads with an enabling edge from it, a bit each */
	int created;              /* thread, -1 */
};

/* How many ways the pending operation can be executed. */
static inline uint32_t twin_choices(const struct twin_program *p, const struct twin *m, int t)
{
	const struct twin_ins *i = twin_ins(p, m, t);
	if (!m->t[t].phase)
		return 0;
	if (i->code == I_SIGNAL)
		return m->cond[i->a] ? (uint32_t)__builtin_popcount(m->cond[i->a]) : 0;
	if (i->code == I_FWAKE && !i->v)
		return m->fut[i->a] ? (uint32_t)__builtin_popcount(m->fut[i->a]) : 0;
	if (i->code == I_CHOICE)
		return (uint32_t)i->v;
	if (i->code == I_WEAKCAS)
		return m->word[i->a] == i->b ? 2 : 0;
	return 0;
}

static inline void twin_wake(struct twin *m, int u, int by, struct twin_result *r)
{
	m->t[u].signalled = true;
	m->t[u].cause_thread = (int8_t)by;
	m->t[u].cause_step = m->t[by].steps;
	r->caused |= 1u << u;
}

static inline int nth_bit(uint32_t set, uint32_t n)
{
	while (n--)
		set &= set - 1;
	return __builtin_ctz(set);
}

/* Spinning threads that look at this word or lock see a change. */
static inline void twin_changed(const struct twin_program *p, struct twin *m, int by, int word, int lock)
{
	for (int u = 0; u < p->threads; u++) {
		const struct twin_ins *i = twin_ins(p, m, u);
		bool spins = i->code == I_AWAIT || i->code == I_SPINCAS || i->code == I_AWAIT2;
		if (u == by || m->t[u].state != TW_LIVE || m->t[u].phase < 2)
			continue;
		if ((spins && i->a == word) || (i->code == I_SPINTRY && i->a == lock))
			m->t[u].changed |= 1;
		if (i->code == I_AWAIT2 && i->b == word && m->t[u].phase != 2)
			m->t[u].changed |= 2;
	}
}

static inline void twin_set(const struct twin_program *p, struct twin *m, int by, int word, int32_t v, struct twin_result *r)
{
	if (m->word[word] == v)
		r->flags |= SCHED_RES_SAME;
	else
		twin_changed(p, m, by, word, -1);
	m->word[word] = v;
}

/* Executes the pending operation of t; the caller has chosen r->choice. */
static inline void twin_step(const struct twin_program *p, struct twin *m, int t, struct twin_result *r)
{
	struct twin_thread *x = &m->t[t];
	const struct twin_ins *i = twin_ins(p, m, t);
	uint32_t c = r->choice;
	int next = 1; /* phase; the instruction is done when 1 */
	r->flags = r->value = r->caused = 0;
	r->created = -1;
	x->cause_thread = -1;
	if (!x->phase) {
		x->phase = 1;
		x->steps++;
		twin_local(p, m, t);
		return;
	}
	switch (i->code) {
	case I_END:
		x->state = TW_GONE;
		break;
	case I_READ: case I_LOAD: x->r = m->word[i->a]; break;
	case I_READ2: x->r = m->word[i->a] * 16 + m->word[i->a + 1]; break;
	case I_WRITE: case I_STORE: twin_set(p, m, t, i->a, i->v, r); break;
	case I_WRITER: twin_set(p, m, t, i->a, x->r + i->v, r); break;
	case I_WRITEX: twin_set(p, m, t, x->r, i->v, r); break;
	case I_WRITE2: {
		struct twin_result u = { 0 };
		twin_set(p, m, t, i->a, i->v, r);
		twin_set(p, m, t, i->a + 1, i->v, &u);
		r->flags &= u.flags;
		for (int w = 0; w < 2 && !r->flags; w++) /* a write is one change of all it covers */
			twin_changed(p, m, t, i->a + w, -1);
		break;
	}
	case I_ADD: {
		int32_t old = m->word[i->a];
		twin_set(p, m, t, i->a, old + i->v, r);
		x->r = old;
		break;
	}
	case I_WEAKCAS: case I_CAS:
		x->r = m->word[i->a] == i->b && !(i->code == I_WEAKCAS && c == 1);
		if (x->r)
			twin_set(p, m, t, i->a, i->v, r);
		else
			r->flags = SCHED_RES_SAME;
		break;
	case I_SPINCAS:
		if (m->word[i->a] == 0)
			twin_set(p, m, t, i->a, 1, r);
		else
			r->flags = SCHED_RES_SAME, next = 2, x->changed = 0;
		break;
	case I_LOCK: m->lock[i->a] = (int8_t)t; twin_changed(p, m, t, -1, i->a); break;
	case I_TRY: case I_SPINTRY:
		x->r = m->lock[i->a] < 0;
		if (x->r) {
			m->lock[i->a] = (int8_t)t;
			twin_changed(p, m, t, -1, i->a);
		} else {
			r->flags = SCHED_RES_FAILED;
			if (i->code == I_SPINTRY)
				next = 2, x->changed = 0;
		}
		break;
	case I_UNLOCK: m->lock[i->a] = -1; twin_changed(p, m, t, -1, i->a); break;
	case I_RD: m->rd[i->a] |= 1u << t; break;
	case I_WR: m->wr[i->a] = (int8_t)t; break;
	case I_TRYRD:
		x->r = m->wr[i->a] < 0;
		if (x->r)
			m->rd[i->a] |= 1u << t;
		else
			r->flags = SCHED_RES_FAILED;
		break;
	case I_TRYWR:
		x->r = m->wr[i->a] < 0 && !m->rd[i->a];
		if (x->r)
			m->wr[i->a] = (int8_t)t;
		else
			r->flags = SCHED_RES_FAILED;
		break;
	case I_RWUN:
		if (m->wr[i->a] == t)
			m->wr[i->a] = -1;
		else
			m->rd[i->a] &= ~(1u << t);
		break;
	case I_WAIT: case I_TIMEDWAIT:
		if (x->phase == 1) {
			m->lock[i->b] = -1;
			m->cond[i->a] |= 1u << t;
			x->signalled = false;
			twin_changed(p, m, t, -1, i->b);
			next = 2;
		} else {
			m->lock[i->b] = (int8_t)t;
			twin_changed(p, m, t, -1, i->b);
			x->r = x->signalled;
			if (!x->signalled)
				r->flags = SCHED_RES_TIMEOUT;
			m->cond[i->a] &= ~(1u << t);
			x->signalled = false;
		}
		break;
	case I_SIGNAL:
		if (m->cond[i->a]) {
			int u = nth_bit(m->cond[i->a], c);
			m->cond[i->a] &= ~(1u << u);
			twin_wake(m, u, t, r);
		}
		break;
	case I_BROADCAST:
		for (int u = 0; u < p->threads; u++)
			if (m->cond[i->a] >> u & 1)
				twin_wake(m, u, t, r);
		m->cond[i->a] = 0;
		break;
	case I_SEMWAIT: r->value = (uint32_t)m->sem[i->a]--; break;
	case I_SEMTRY:
		r->value = (uint32_t)m->sem[i->a];
		x->r = m->sem[i->a] > 0;
		if (x->r)
			m->sem[i->a]--;
		else
			r->flags = SCHED_RES_FAILED;
		break;
	case I_POST: r->value = (uint32_t)m->sem[i->a]++; break;
	case I_VALUE: r->value = (uint32_t)(x->r = m->sem[i->a]); break;
	case I_BARRIER:
		if (x->phase == 2) {
			x->r = 0;
			x->signalled = false;
		} else if (++m->arrived[i->a] < p->barrier[i->a]) {
			m->at[i->a] |= 1u << t;
			x->signalled = false;
			next = 2;
		} else {
			r->flags = SCHED_RES_OPENED;
			for (int u = 0; u < p->threads; u++)
				if (m->at[i->a] >> u & 1)
					twin_wake(m, u, t, r);
			m->at[i->a] = m->arrived[i->a] = 0;
			x->r = !p->commutes;
			if (p->commutes) { /* the last has a leave like the others */
				twin_wake(m, t, t, r);
				next = 2;
			}
		}
		break;
	case I_CREATE:
		m->t[i->b].state = TW_LIVE;
		m->t[i->b].cause_thread = (int8_t)t;
		m->t[i->b].cause_step = x->steps;
		x->created |= 1u << i->b;
		r->created = i->b;
		break;
	case I_JOIN: break;
	case I_TRYJOIN:
		x->r = m->t[i->b].state == TW_GONE;
		r->flags = x->r ? 0 : SCHED_RES_FAILED;
		break;
	case I_ONCE:
		if (x->phase == 1 && m->once[i->a] == -2)
			r->flags = SCHED_RES_PASSED;
		else if (x->phase == 1)
			m->once[i->a] = (int8_t)t, next = 2;
		else if (x->phase == 2)
			twin_set(p, m, t, i->b, m->word[i->b] + 1, r), next = 3;
		else
			m->once[i->a] = -2;
		break;
	case I_FWAIT:
		if (x->phase == 1 && m->word[i->a] == i->v) {
			m->fut[i->a] |= 1u << t;
			x->signalled = false;
			r->flags = SCHED_RES_WAITS;
			next = 2;
		} else if (x->phase == 2)
			x->signalled = false;
		break;
	case I_FWAKE:
		for (uint32_t set = m->fut[i->a]; set;) {
			int u = i->v ? nth_bit(set, 0) : nth_bit(set, c);
			m->fut[i->a] &= ~(1u << u);
			set = i->v ? set & (set - 1) : 0;
			twin_wake(m, u, t, r);
		}
		break;
	case I_AWAIT:
		x->r = m->word[i->a];
		x->changed = 0;
		if (x->r == i->v)
			next = 2;
		break;
	case I_AWAIT2: /* phases: 1 a, 2 b, 3 a again, 4 b again */
		x->r = m->word[x->phase % 2 ? i->a : i->b];
		x->changed &= x->phase % 2 ? 2 : 1;
		if (x->r == i->v)
			next = x->phase == 4 ? 3 : x->phase + 1;
		break;
	case I_YIELD: break;
	case I_CHOICE: x->r = (int32_t)c; break;
	case I_EXITALL: m->ended = true; break;
	case I_SEMINIT: m->sem[i->a] = i->v; r->value = (uint32_t)i->v; break;
	case I_DESTROY: twin_changed(p, m, t, -1, i->a); break;
	default: abort();
	}
	x->steps++;
	x->phase = (uint8_t)next;
	if (next == 1 && i->code != I_END) {
		x->pc++;
		x->changed = 0;
	}
	if (x->state == TW_LIVE)
		twin_local(p, m, t);
}

static inline bool twin_enabled(const struct twin_program *p, const struct twin *m, int t)
{
	struct sched_op op;
	return !m->ended && m->t[t].state == TW_LIVE && twin_pending(p, m, t, &op);
}

#endif
