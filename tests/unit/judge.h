/*
 * judge: atomicity by a walk over every interleaving, word by word as the
 * definition has it, on models that end.
 *
 * At each quiescent state the judge looks for an equivalent execution
 * (adjacent steps of different threads that do not conflict may be swapped:
 * any order of the steps that keeps each thread's own order and that of
 * conflicting steps) and a serial explanation of it in real time: the steps
 * happen in that order; before any of them a block that is inside and has not
 * taken effect may be run to its end; a step outside is taken by the serial
 * state too; leaving needs the effect. Asked with no swapping allowed it
 * decides the literal reading, which is stronger.
 *
 * And what the campaigns that use it share: how they complain and what a
 * violation must stand.
 */
#ifndef INTACT_TESTS_JUDGE_H
#define INTACT_TESTS_JUDGE_H

#include "check.h"

#include "campaign.h"

#include "explore/exact.h"
#include "explore/vector_table.h"
#include "verdict/replay.h"
#include "verdict/verify.h"

enum { MAX_EVENTS = 48, MAX_STATE = 64, MAX_THREADS = 8, MAX_TOUCH = 16 };

struct event {
	uint32_t thread, from, to;
	uint32_t outcome; /* which of the step's */
	uint64_t after;   /* earlier events that it cannot be swapped with */
	uint32_t ntouch;
	struct { uint32_t var, elem; bool write; } touch[MAX_TOUCH];
};

struct judge {
	const struct ir *p;
	uint32_t block;
	struct event ev[MAX_EVENTS];
	uint32_t nev;
	bool swaps;    /* equivalent executions count, and are walked once */
	struct vector_table walked; /* their least representatives */
	bool violated;
	uint64_t nodes, budget; /* of the walk and of the serial searches */
	bool gave_up;
};

static inline bool marked(const struct judge *j, uint32_t node)
{
	uint32_t b = j->p->nodes[node].block;
	return b != IR_NONE && (j->block == PROD_BLOCK_ALL || j->block == b);
}

static inline bool conflicting(const struct event *a, const struct event *b)
{
	for (uint32_t i = 0; i < a->ntouch; i++)
		for (uint32_t k = 0; k < b->ntouch; k++)
			if (a->touch[i].var == b->touch[k].var && a->touch[i].elem == b->touch[k].elem &&
			    (a->touch[i].write || b->touch[k].write))
				return true;
	return false;
}

/* Where a serial explanation is: which events have happened, what the serial
 * state is, and each thread's status. */
struct serial {
	uint64_t happened;
	int32_t status[MAX_THREADS]; /* 0 outside, 1 waiting, 2 effective */
	int32_t state[MAX_STATE];    /* the end of it is not used and 0 */
};

struct explain {
	struct judge *j;
	const int32_t *goal;
	struct vector_table seen; /* struct serial, as much of it as is used */
	bool found;
	bool ended;         /* some serial execution came to its end, whatever it was */
};

static inline void explain_go(struct explain *x, const struct serial *s);

struct explain_visit {
	struct explain *x;
	const struct serial *s;
	uint32_t thread;
	int event; /* the outside step being taken, or -1: a block is running */
	uint32_t depth;
};

static inline void explain_block(struct explain *x, const struct serial *s, uint32_t thread, uint32_t depth);

static inline bool explain_step(void *arg, enum ir_result r, const int32_t *next,
                         const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct explain_visit *v = arg;
	struct serial s = *v->s;
	(void)ch;
	(void)eff;
	if (r != IR_OK)
		return true;
	memcpy(s.state, next, sizeof *next * v->x->j->p->nstate);
	bool in = marked(v->x->j, ir_node_of(v->x->j->p, next, v->thread));
	if (v->event >= 0) {
		s.happened |= (uint64_t)1 << v->event;
		if (!in)
			explain_go(v->x, &s);
	} else if (in) {
		explain_block(v->x, &s, v->thread, v->depth + 1);
	} else {
		s.status[v->thread] = 2;
		explain_go(v->x, &s);
	}
	return !v->x->found;
}

/* Runs the thread's block on from where it is, alone. */
static inline void explain_block(struct explain *x, const struct serial *s, uint32_t thread, uint32_t depth)
{
	int32_t scratch[MAX_STATE];
	struct explain_visit v = { x, s, thread, -1, depth };
	if (depth <= 40) /* the generator makes no loops: never so deep */
		ir_successors(x->j->p, s->state, thread, scratch, explain_step, &v);
}

/* May event i happen next? */
static inline bool may_happen(const struct judge *j, uint64_t happened, uint32_t i)
{
	return !(happened >> i & 1) && !(j->ev[i].after & ~happened);
}

static inline void event_happens(struct explain *x, const struct serial *s, uint32_t i)
{
	const struct ir *p = x->j->p;
	const struct event *e = &x->j->ev[i];
	bool was = marked(x->j, e->from), in = marked(x->j, e->to);
	struct serial next = *s;
	next.happened |= (uint64_t)1 << i;
	if (was && in) {
		explain_go(x, &next);
	} else if (in) {
		const struct ir_node *n = &p->nodes[ir_node_of(p, s->state, e->thread)];
		next.status[e->thread] = 1;
		if (n->kind == IRN_ENTER && (uint32_t)p->code[n->ins + 1].a == p->nodes[e->to].block)
			explain_go(x, &next);
	} else if (was) {
		next.status[e->thread] = 0;
		if (s->status[e->thread] == 2)
			explain_go(x, &next);
	} else {
		int32_t scratch[MAX_STATE];
		struct explain_visit v = { x, s, e->thread, (int)i, 0 };
		ir_successors(p, s->state, e->thread, scratch, explain_step, &v);
	}
}

static inline void explain_go(struct explain *x, const struct serial *s)
{
	struct judge *j = x->j;
	uint32_t before = x->seen.n;
	if (x->found || j->gave_up)
		return;
	if (s->happened == ((uint64_t)1 << j->nev) - 1) {
		x->ended = true;
		x->found = !memcmp(s->state, x->goal, sizeof *x->goal * j->p->nstate);
		return;
	}
	if (vector_table_add(&x->seen, (const int32_t *)s) < before)
		return;
	if (++j->nodes > j->budget) {
		j->gave_up = true;
		return;
	}
	for (uint32_t t = 0; t < j->p->nthreads && !x->found; t++)
		if (s->status[t] == 1)
			explain_block(x, s, t, 0);
	for (uint32_t i = 0; i < j->nev && !x->found; i++)
		if (may_happen(j, s->happened, i))
			event_happens(x, s, i);
}

static inline bool explained(struct judge *j, const int32_t *goal)
{
	struct explain x = { .j = j, .goal = goal };
	struct serial s = { 0 };
	vector_table_init(&x.seen, 2 + MAX_THREADS + j->p->nstate);
	memcpy(s.state, j->p->init, sizeof *j->p->init * j->p->nstate);
	explain_go(&x, &s);
	vector_table_free(&x.seen);
	return x.found;
}

static inline void judge_walk(struct judge *j, const int32_t *state);

struct walk_visit {
	struct judge *j;
	const int32_t *state;
	uint32_t thread, from, outcome;
};

/* What the step touches: it is taken once more, with its accesses recorded. */
static inline void record(struct judge *j, struct event *e, const int32_t *state,
                   const struct ir_choices *ch)
{
	struct ir_event list[IR_MAX_EVENTS];
	struct ir_effect eff = { .events = list };
	struct ir_choices again = *ch;
	int32_t out[MAX_STATE];
	again.fixed = ch->n;
	again.n = 0;
	ir_step(j->p, state, e->thread, &again, out, &eff);
	if (eff.nevents > MAX_TOUCH)
		j->gave_up = true;
	for (uint32_t i = 0; i < eff.nevents && i < MAX_TOUCH; i++) {
		e->touch[e->ntouch].var = list[i].var;
		e->touch[e->ntouch].elem = list[i].elem;
		e->touch[e->ntouch++].write = list[i].mode != IRA_READ;
	}
	e->after = 0;
	for (const struct event *k = j->ev; k < e; k++)
		if (!j->swaps || k->thread == e->thread || conflicting(k, e))
			e->after |= (uint64_t)1 << (k - j->ev);
}

static inline bool walk_step(void *arg, enum ir_result r, const int32_t *next,
                      const struct ir_choices *ch, const struct ir_effect *eff)
{
	struct walk_visit *v = arg;
	struct judge *j = v->j;
	(void)eff;
	if (r != IR_OK)
		return true;
	int32_t copy[MAX_STATE];
	memcpy(copy, next, sizeof *next * j->p->nstate);
	j->ev[j->nev] = (struct event){ .thread = v->thread, .from = v->from,
		                        .to = ir_node_of(j->p, next, v->thread),
		                        .outcome = v->outcome++ };
	record(j, &j->ev[j->nev++], v->state, ch);
	judge_walk(j, copy);
	j->nev--;
	return !j->violated && !j->gave_up;
}

/* Equivalent executions are told by the one that always takes the first
 * thread it can. */
static inline void representative(const struct judge *j, int32_t least[MAX_EVENTS])
{
	uint64_t happened = 0;
	memset(least, 0, sizeof *least * MAX_EVENTS);
	for (uint32_t n = 0; n < j->nev; n++) {
		uint32_t best = MAX_EVENTS;
		for (uint32_t i = 0; i < j->nev; i++)
			if (may_happen(j, happened, i) &&
			    (best == MAX_EVENTS || j->ev[i].thread < j->ev[best].thread))
				best = i;
		happened |= (uint64_t)1 << best;
		least[n] = (int32_t)(1 + j->ev[best].thread * 64 + j->ev[best].outcome);
	}
}

/* The first time that an execution equivalent to this one is seen? */
static inline bool first_of_its_kind(struct judge *j)
{
	int32_t least[MAX_EVENTS];
	uint32_t before = j->walked.n;
	representative(j, least);
	return vector_table_add(&j->walked, least) >= before;
}

static inline void judge_walk(struct judge *j, const int32_t *state)
{
	const struct ir *p = j->p;
	if (++j->nodes > j->budget || j->nev >= MAX_EVENTS - 1) {
		j->gave_up = true;
		return;
	}
	if (j->swaps && !first_of_its_kind(j))
		return;
	bool quiet = true;
	for (uint32_t t = 0; t < p->nthreads; t++)
		quiet &= !marked(j, ir_node_of(p, state, t));
	if (quiet && !explained(j, state) && !j->gave_up) {
		j->violated = true;
		return;
	}
	for (uint32_t t = 0; t < p->nthreads && !j->violated && !j->gave_up; t++) {
		int32_t scratch[MAX_STATE];
		struct walk_visit v = { j, state, t, ir_node_of(p, state, t), 0 };
		ir_successors(p, state, t, scratch, walk_step, &v);
	}
}

/* 1 atomic, 0 not, -1 too large to tell */
static inline int judge(const struct ir *p, uint32_t block, bool swaps)
{
	struct judge j = { .p = p, .block = block, .swaps = swaps, .budget = swaps ? 100000 : 20000 };
	if (p->nstate > MAX_STATE || p->nthreads > MAX_THREADS)
		return -1;
	vector_table_init(&j.walked, MAX_EVENTS);
	judge_walk(&j, p->init);
	vector_table_free(&j.walked);
	return j.violated ? 0 : j.gave_up ? -1 : 1;
}

/* ---- campaigns ------------------------------------------------------------ */

static inline void print_seeds(const struct campaign *c)
{
	printf("# seeds %llu..%llu, %d disagreements: ", (unsigned long long)c->seed,
	       (unsigned long long)c->seed + (unsigned long long)c->n - 1, check_failed);
}

static inline void complain(uint64_t seed, const char *text, const char *what)
{
	printf("# seed %llu: %s\n", (unsigned long long)seed, what);
	for (const char *s = text; *s;) {
		const char *nl = strchr(s, '\n');
		int n = nl ? (int)(nl - s) : (int)strlen(s);
		printf("#   %.*s\n", n, s);
		s += nl ? n + 1 : n;
	}
	check_failed++;
}

/* A violating path must be refused by exact_explains and by verify. */
static inline bool real_violation(const struct ir *p, uint32_t block, const struct search_result *r)
{
	struct run run;
	bool real = r->npath && exact_explains(p, block, r->path, r->npath, 0) == 0;
	real = run_init(&run, p) && real && replay(&run, r->path, r->npath) &&
	       verify_run(&run, block) == VERIFY_UNEXPLAINED;
	run_free(&run);
	return real;
}

#endif
