/*
 * lin_enum: every history of a register with complete operations, up to a
 * number of them. One stands for all that differ in nothing an engine may
 * look at:
 *   - the order of neighbouring invocations, or of neighbouring responses:
 *     which operations precede which is the same;
 *   - which process an operation belongs to: operations that overlap need
 *     different ones, so at most `writers` writes and `readers` reads are
 *     open at once, and no verdict depends on more;
 *   - the names of values. Repeated values: 0 is the initial one, 1 and 2 are
 *     alike, and 2 appears only after 1. Distinct values: the i-th write
 *     writes i, a read returns what some write of the history writes, maybe a
 *     later one, or 0.
 *
 * A history is a word of runs of invocations (kinds ascending) and of
 * responses (operations ascending) in turn: one word for every interval
 * order. Kinds with repeated values: write v is v, read v is 3 + v; with
 * distinct ones: 0 is the next write, read v is 1 + v.
 */
#ifndef INTACT_TESTS_LIN_ENUM_H
#define INTACT_TESTS_LIN_ENUM_H

#include "lin_gen.h"
#include "soak.h"

struct enumerate {
	struct gen g;
	uint32_t max_ops, readers, writers;
	bool distinct;
	uint32_t open[8], nopen, nwrites_open, nreads_open, nwrites;
	uint32_t value[GEN_MAX]; /* of each operation */
	void (*visit)(struct enumerate *e);
	uint64_t count, part, parts; /* every parts-th history, from this one on */
};

/* With distinct values: every read returns what some write writes. */
static inline bool enum_sound(const struct enumerate *e)
{
	for (uint32_t i = 0; i < e->g.p.n && e->distinct; i++)
		if (e->g.ops[i].fn == FN_READ && e->value[i] > e->nwrites)
			return false;
	return true;
}

static inline void enum_extend(struct enumerate *e, int last_kind, int last_op, int values);

static inline void enum_invoke(struct enumerate *e, int kind, int values)
{
	struct problem *p = &e->g.p;
	int per = e->distinct ? 1 : 3;
	bool write = kind < per;
	int v = write ? e->distinct ? (int)e->nwrites + 1 : kind : kind - per;
	uint32_t *open = write ? &e->nwrites_open : &e->nreads_open;
	if (*open >= (write ? e->writers : e->readers) || (!e->distinct && v > values))
		return;
	if (e->distinct && !write && (uint32_t)v > e->nwrites + e->max_ops - p->n - 1)
		return; /* nothing will write it */
	e->g.ops[p->n] = (struct hop){ .fn = write ? FN_WRITE : FN_READ, .call = p->nevents, .a = num(&e->g, v),
		                       .b = num(&e->g, v) };
	e->value[p->n] = (uint32_t)v;
	e->open[e->nopen++] = p->n++;
	p->nevents++;
	*open += 1;
	e->nwrites += write;
	enum_extend(e, kind, -1, v == values && v < 2 && v > 0 ? v + 1 : values);
	e->nwrites -= write;
	*open -= 1;
	p->nevents--;
	p->n--;
	e->nopen--;
}

static inline void enum_respond(struct enumerate *e, uint32_t i, int values)
{
	struct problem *p = &e->g.p;
	uint32_t op = e->open[i], saved[8];
	uint32_t *open = e->g.ops[op].fn == FN_WRITE ? &e->nwrites_open : &e->nreads_open;
	memcpy(saved, e->open, sizeof saved);
	memmove(e->open + i, e->open + i + 1, (e->nopen - i - 1) * sizeof *e->open);
	e->nopen--;
	*open -= 1;
	e->g.ops[op].ret = p->nevents++;
	enum_extend(e, -1, (int)op, values);
	p->nevents--;
	*open += 1;
	e->nopen++;
	memcpy(e->open, saved, sizeof saved);
}

static inline void enum_extend(struct enumerate *e, int last_kind, int last_op, int values)
{
	int kinds = e->distinct ? 2 + (int)e->max_ops : 6;
	if (!e->nopen && e->g.p.n && enum_sound(e) && e->count++ % e->parts == e->part)
		e->visit(e);
	if (e->g.p.n < e->max_ops)
		for (int kind = last_kind < 0 ? 0 : last_kind; kind < kinds; kind++)
			enum_invoke(e, kind, values);
	for (uint32_t i = 0; i < e->nopen; i++)
		if ((int)e->open[i] >= last_op)
			enum_respond(e, i, values);
}

/* Sets max_ops, readers, writers, distinct and visit first. */
static inline void enum_run(struct enumerate *e)
{
	soak_part(&e->part, &e->parts);
	if (!getenv("INTACT_SOAK")) {
		e->part = 0;
		e->parts = 1;
	}
	gen_open(&e->g);
	e->g.p.obj = OBJ_REGISTER;
	e->g.p.init = num(&e->g, 0);
	enum_extend(e, -1, -1, 1);
	gen_close(&e->g);
}

#endif
