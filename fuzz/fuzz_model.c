#include "fuzz_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "lang/lang.h"

#define STEPS 200u
#define MAX_STATE (1u << 12) /* larger programs are validated, not run */

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "fuzz_model: %s\n--- model\n%s\n", what, text);
	abort();
}

struct run { /* one program, where it is, and one outcome of its next step */
	const struct ir *p;
	int32_t *state, *next, *chosen;
	struct ir_choices ch;
	struct ir_effect eff;
	enum ir_result r;
};

static void run_init(struct run *x, const struct ir *p, struct arena *a)
{
	x->p = p;
	x->state = arena_array(a, int32_t, p->nstate);
	x->next = arena_array(a, int32_t, p->nstate);
	x->chosen = arena_array(a, int32_t, p->nstate);
	memcpy(x->state, p->init, p->nstate * sizeof *x->state);
}

static void run_step(struct run *x, uint32_t thread)
{
	x->eff = (struct ir_effect){ 0 };
	x->r = ir_step(x->p, x->state, thread, &x->ch, x->next, &x->eff);
}

/* Both did the same: result, shared state, place of the thread. */
static void compare(const struct run *x, const struct run *y, uint32_t thread)
{
	const char *text = x->p->src->text;
	if (x->r != y->r || (x->r == IR_FAULT && x->eff.fault != y->eff.fault))
		fail("resetting dead values changed what a step does", text);
	if (x->r == IR_OK && memcmp(x->next, y->next, x->p->nglobals * sizeof *x->next))
		fail("resetting dead values changed the shared state", text);
	if (x->r == IR_OK &&
	    ir_node_of(x->p, x->next, thread) != ir_node_of(y->p, y->next, thread))
		fail("resetting dead values changed where a thread goes", text);
}

/*
 * A random walk of the program, and in step with it of the same program in
 * which dead locals keep their values. Every outcome of a step is made and
 * compared, one is gone to.
 */
static void walk(const struct ir *p, const struct ir *kept, uint64_t seed)
{
	struct rng r;
	struct arena a;
	struct run x = { 0 }, y = { 0 };
	rng_seed(&r, seed);
	arena_init(&a, 0);
	run_init(&x, p, &a);
	run_init(&y, kept, &a);
	if (p->nglobals != kept->nglobals || p->nthreads != kept->nthreads)
		fail("the two programs have different shapes", p->src->text);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t t = rng_below(&r, p->nthreads), n = 0, moved = 0;
		bool more;
		memset(&x.ch, 0, sizeof x.ch);
		memset(&y.ch, 0, sizeof y.ch);
		do {
			run_step(&x, t);
			run_step(&y, t);
			compare(&x, &y, t);
			if (x.r == IR_OK) {
				if (!ir_state_valid(p, x.next))
					fail("a value outside the range of its slot", p->src->text);
				if (rng_below(&r, ++moved) == 0) {
					memcpy(x.chosen, x.next, p->nstate * sizeof *x.next);
					memcpy(y.chosen, y.next, kept->nstate * sizeof *y.next);
				}
			}
			more = ir_choices_next(&x.ch);
			if (more != ir_choices_next(&y.ch))
				fail("resetting dead values changed the choices", p->src->text);
		} while (more && ++n < 64);
		if (moved) {
			memcpy(x.state, x.chosen, p->nstate * sizeof *x.state);
			memcpy(y.state, y.chosen, kept->nstate * sizeof *y.state);
		}
	}
	arena_free(&a);
}

void fuzz_model(const char *name, const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	if (!text)
		return;
	if (size)
		memcpy(text, data, size);
	text[size] = 0;
	struct lang l, kept;
	struct lang_options o = { .sml = -1 }, keep = { .sml = -1, .keep_dead = true };
	struct buf out;
	lang_init(&l);
	buf_init(&out);
	bool ok = lang_load_text(&l, name, text, size, &o);
	diags_render(&l.diags, &out, true);
	if (ok && l.diags.errors)
		fail("a program in spite of errors", text);
	if (!ok && !l.diags.errors && !l.out_of_memory)
		fail("no program and no reason why", text);
	if (ok) {
		const char *wrong = ir_validate(l.ir, &l.arena);
		if (wrong)
			fail(wrong, text);
		ir_print(l.ir, &out);
		lang_init(&kept);
		/* with dead values kept a frame can become too large */
		if (lang_load_text(&kept, name, text, size, &keep) && kept.ir->nstate <= MAX_STATE &&
		    l.ir->nthreads)
			walk(l.ir, kept.ir, size);
		lang_free(&kept);
	}
	buf_free(&out);
	lang_free(&l);
	free(text);
}
