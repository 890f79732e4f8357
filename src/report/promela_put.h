/*
 * promela_put: names, expressions and straight-line code as Promela text, and
 * what the instrumented semantics adds to a step (promela_shadow.c).
 *
 * Names: g_x is the global x and s3 slot 3 of a frame (sa3[] when it is
 * indexed); h_x, h3 and ha3[] are the same in the shadow store. r5 is scratch
 * that every d_step writes before it reads it: hidden, so no part of SPIN's
 * state.
 */
#ifndef INTACT_REPORT_PROMELA_PUT_H
#define INTACT_REPORT_PROMELA_PUT_H

#include "base/buf.h"
#include "base/diag.h"
#include "report/promela.h"
#include "report/promela_path.h"

#define PML_MAX_OUTPUT ((size_t)64 << 20)

struct pml {
	const struct ir *p;
	const struct ir_template *t;
	uint32_t tmpl;
	struct paths x;
	const struct promela_options *o;
	bool instrumented;
	bool *join;       /* registers r and r + 1 lie in one array */
	bool shadow;      /* names are those of the shadow store */
	uint32_t choices; /* most choices that a thread of this template records */
	struct buf *out;
};

void pml_const(struct buf *out, int64_t v);
void pml_var(const struct pml *m, const struct ir_var *v);
/* The registers of r's array: *first and the number of them; 1: a scalar. */
uint32_t pml_array_of(const struct pml *m, uint32_t r, uint32_t *first);
/* Lives across steps. (Scratch in one array with slots is kept too, zeroed.) */
bool pml_is_state(const struct pml *m, uint32_t r);
void pml_reg(const struct pml *m, uint32_t r);
/* Text of the source inside a comment. */
void pml_comment(const struct pml *m, const char *s);
/* The instructions of a path; false when memory is short. */
bool pml_code(const struct pml *m, const struct path *path);
/* The condition under which it is taken. */
void pml_conds(const struct pml *m, const struct path *path);
void pml_fault(const struct pml *m, const struct path *path);
static inline bool pml_inside(const struct pml *m, uint32_t node)
{
	return m->p->nodes[node].block != IR_NONE;
}

/* ---- the shadow store: promela_shadow.c ---- */

/* Finds how many choices the current template has to record; false with a
 * message in `d` when the shadow could not repeat them, or x.error. */
bool pml_count_choices(struct pml *m, struct diags *d);
/* The inline that runs a block of the current template on the shadow. */
bool pml_shadow(struct pml *m);
/* The process's own variables that the instrumented semantics needs. */
void pml_shadow_frame(const struct pml *m, int32_t first_node);
/* What the instrumented semantics adds to a step. */
void pml_instrument(struct pml *m, uint32_t from, const struct path *path);
/* The inline that compares the two stores. */
void pml_quiescent(struct pml *m);

#endif
