/*
 * sched_gen: random twin programs. A mask says which primitives; thread 0
 * creates most of the others first, so that they overlap.
 */
#ifndef INTACT_TESTS_SCHED_GEN_H
#define INTACT_TESTS_SCHED_GEN_H

#include "sched_twin.h"

enum {
	GEN_MEMORY = 1,
	GEN_MUTEX = 2,
	GEN_RWLOCK = 4,
	GEN_SEM = 8,
	GEN_COND = 16,
	GEN_BARRIER = 32,
	GEN_THREADS = 64,
	GEN_ONCE = 128,
	GEN_FUTEX = 256,
	GEN_CHOICE = 512,
	GEN_SPIN = 1024,
	GEN_EXIT = 2048,
	GEN_ALL = 4095,
};

struct gen_kind {
	uint8_t code;
	uint16_t group;
	uint8_t weight;
};

static const struct gen_kind gen_kinds[] = {
	{ I_READ, GEN_MEMORY, 3 },    { I_WRITE, GEN_MEMORY, 3 },    { I_READ2, GEN_MEMORY, 1 },
	{ I_WRITE2, GEN_MEMORY, 1 },  { I_WRITER, GEN_MEMORY, 2 },   { I_ADD, GEN_MEMORY, 2 },
	{ I_CAS, GEN_MEMORY, 2 },     { I_LOAD, GEN_MEMORY, 1 },     { I_STORE, GEN_MEMORY, 1 },
	{ I_SKIP, GEN_MEMORY, 2 },    { I_LOCK, GEN_MUTEX, 6 },      { I_TRY, GEN_MUTEX, 4 },
	{ I_UNLOCK, GEN_MUTEX, 6 },   { I_RD, GEN_RWLOCK, 6 },       { I_WR, GEN_RWLOCK, 4 },
	{ I_TRYRD, GEN_RWLOCK, 3 },   { I_TRYWR, GEN_RWLOCK, 3 },    { I_RWUN, GEN_RWLOCK, 8 },
	{ I_SEMWAIT, GEN_SEM, 6 },    { I_SEMTRY, GEN_SEM, 3 },      { I_POST, GEN_SEM, 7 },
	{ I_VALUE, GEN_SEM, 2 },      { I_WAIT, GEN_COND, 8 },       { I_TIMEDWAIT, GEN_COND, 4 },
	{ I_SIGNAL, GEN_COND, 8 },    { I_BROADCAST, GEN_COND, 3 },  { I_BARRIER, GEN_BARRIER, 8 },
	{ I_TRYJOIN, GEN_THREADS, 4 }, { I_JOIN, GEN_THREADS, 4 },   { I_CREATE, GEN_THREADS, 6 },
	{ I_ONCE, GEN_ONCE, 8 },      { I_FWAIT, GEN_FUTEX, 6 },     { I_FWAKE, GEN_FUTEX, 6 },
	{ I_CHOICE, GEN_CHOICE, 4 },  { I_WEAKCAS, GEN_CHOICE, 6 },  { I_AWAIT, GEN_SPIN, 5 },
	{ I_SPINCAS, GEN_SPIN, 4 },   { I_SPINTRY, GEN_SPIN, 3 },    { I_AWAIT2, GEN_SPIN, 2 },
	{ I_UNLOCK, GEN_SPIN, 3 },    { I_YIELD, GEN_SPIN, 1 },      { I_EXITALL, GEN_EXIT, 2 },
	{ I_SEMINIT, GEN_SEM, 1 },    { I_DESTROY, GEN_MUTEX, 1 },
};

static inline struct twin_ins gen_ins(struct rng *r, uint32_t mask, int words)
{
	uint32_t n = sizeof gen_kinds / sizeof *gen_kinds, sum = 0, i;
	for (i = 0; i < n; i++)
		sum += gen_kinds[i].group & mask ? gen_kinds[i].weight : 0;
	uint32_t k = rng_below(r, sum);
	for (i = 0;; i++) {
		uint32_t w = gen_kinds[i].group & mask ? gen_kinds[i].weight : 0;
		if (k < w)
			break;
		k -= w;
	}
	struct twin_ins x = { .code = gen_kinds[i].code };
	x.v = (int8_t)rng_below(r, 3);
	switch (x.code) {
	case I_READ2: case I_WRITE2:
		x.a = (uint8_t)(rng_below(r, (uint32_t)(words + 1) / 2) * 2);
		break;
	case I_LOCK: case I_TRY: case I_UNLOCK: case I_SPINTRY:
	case I_SEMINIT: case I_DESTROY:
	case I_SIGNAL: case I_BROADCAST: case I_SEMWAIT: case I_SEMTRY: case I_POST: case I_VALUE:
	case I_RD: case I_WR: case I_TRYRD: case I_TRYWR: case I_RWUN: case I_BARRIER:
		x.a = (uint8_t)(rng_below(r, 4) == 0);
		break;
	case I_WAIT: case I_TIMEDWAIT:
		x.a = (uint8_t)(rng_below(r, 4) == 0);
		x.b = (uint8_t)(rng_below(r, 4) == 0);
		break;
	case I_ONCE:
		x.a = (uint8_t)(rng_below(r, 4) == 0);
		x.b = (uint8_t)rng_below(r, (uint32_t)words);
		break;
	case I_SKIP:
		x.b = (uint8_t)(1 + rng_below(r, 2));
		break;
	case I_CHOICE:
		x.v = (int8_t)(2 + rng_below(r, 2));
		break;
	case I_CAS: case I_WEAKCAS:
		x.a = (uint8_t)rng_below(r, (uint32_t)words);
		x.b = (uint8_t)rng_below(r, 2);
		break;
	case I_FWAIT: case I_AWAIT:
		x.a = (uint8_t)rng_below(r, (uint32_t)words);
		x.v = (int8_t)rng_below(r, 2);
		break;
	case I_FWAKE:
		x.a = (uint8_t)rng_below(r, (uint32_t)words);
		x.v = (int8_t)(rng_below(r, 3) == 0);
		break;
	case I_AWAIT2:
		x.a = (uint8_t)rng_below(r, (uint32_t)words);
		x.b = (uint8_t)((x.a + 1u) % (uint32_t)words);
		x.v = 0;
		break;
	default:
		x.a = (uint8_t)rng_below(r, (uint32_t)words);
	}
	return x;
}

static inline void gen_program(struct twin_program *p, uint64_t seed, uint32_t mask)
{
	struct rng r;
	rng_seed(&r, seed * 0x9e3779b97f4a7c15u + mask);
	memset(p, 0, sizeof *p);
	p->seed = seed;
	p->threads = 2 + (int)rng_below(&r, 3);
	int words = 2 + 2 * (int)rng_below(&r, 2), late = 0;
	for (int i = 0; i < SEMS; i++)
		p->sem[i] = (uint8_t)rng_below(&r, 3);
	for (int i = 0; i < BARRIERS; i++)
		p->barrier[i] = (uint8_t)(2 + (rng_below(&r, 4) == 0));
	if (mask & GEN_THREADS && p->threads > 2)
		late = 1; /* the last thread is created by another, in the middle */
	for (int t = 0; t < p->threads; t++) {
		int n = 0;
		if (t == 0)
			for (int u = 1; u < p->threads - late; u++)
				p->code[0][n++] = (struct twin_ins){ .code = I_CREATE, .b = (uint8_t)u };
		int len = (t == 0 ? 0 : 1) + (int)rng_below(&r, p->threads == 2 ? 6 : p->threads == 3 ? 5 : 3);
		bool made = false;
		for (int i = 0; i < len; i++) {
			struct twin_ins x = gen_ins(&r, mask, words);
			if (x.code == I_CREATE) {
				if (!late || t != 1 || made)
					continue;
				x.b = (uint8_t)(p->threads - 1);
				made = true;
			}
			if (x.code == I_JOIN || x.code == I_TRYJOIN)
				x.b = (uint8_t)(1 + rng_below(&r, (uint32_t)p->threads - 1));
			if (x.code == I_SEMINIT)
				p->sem[x.a] = 0; /* what is initialised in the run is 0 before: sched_result */
			/* waits need their mutex: most of the time give it to them */
			if ((x.code == I_WAIT || x.code == I_TIMEDWAIT) && rng_below(&r, 4))
				p->code[t][n++] = (struct twin_ins){ .code = I_LOCK, .a = x.b };
			p->code[t][n++] = x;
			if ((x.code == I_LOCK || x.code == I_WAIT) && rng_below(&r, 2))
				p->code[t][n++] = (struct twin_ins){ .code = I_UNLOCK, .a = x.code == I_WAIT ? x.b : x.a };
			if ((x.code == I_RD || x.code == I_WR) && rng_below(&r, 2))
				p->code[t][n++] = (struct twin_ins){ .code = I_RWUN, .a = x.a };
		}
		/* skips must not leave the code: two ends */
		p->code[t][n] = p->code[t][n + 1] = p->code[t][n + 2] = (struct twin_ins){ .code = I_END };
	}
}

static inline void print_program(const struct twin_program *p)
{
	static const char *const name[] = { "end", "read", "read2", "write", "write2", "writer", "writex", "add", "cas",
		"weakcas", "load", "store", "lock", "try", "unlock", "rd", "wr", "tryrd", "trywr", "rwun", "wait",
		"timedwait", "signal", "broadcast", "semwait", "semtry", "post", "value", "barrier", "create", "join",
		"tryjoin", "once", "fwait", "fwake", "await", "spincas", "spintry", "await2", "yield", "choice", "skip",
		"skipif0", "exitall", "seminit", "destroy" };
	for (int t = 0; t < p->threads; t++) {
		printf("#   thread %d:", t);
		for (int i = 0; p->code[t][i].code != I_END; i++)
			printf(" %s(%d,%d,%d)", name[p->code[t][i].code], p->code[t][i].a, p->code[t][i].b, p->code[t][i].v);
		printf("\n");
	}
}

#endif
