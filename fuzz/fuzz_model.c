#include "fuzz_model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "lang/lang.h"

#define STEPS 200u
#define MAX_STATE (1u << 16) /* larger programs are validated, not run */

static void fail(const char *what, const char *text)
{
	fprintf(stderr, "fuzz_model: %s\n--- model\n%s\n", what, text);
	abort();
}

/* A random walk; every successor of a step is made, one is gone to. */
static void walk(const struct ir *p, uint64_t seed)
{
	struct rng r;
	struct arena a;
	rng_seed(&r, seed);
	arena_init(&a, 0);
	int32_t *state = arena_array(&a, int32_t, p->nstate);
	int32_t *next = arena_array(&a, int32_t, p->nstate);
	int32_t *kept = arena_array(&a, int32_t, p->nstate);
	struct ir_packing k;
	ir_packing_init(&k, p, &a);
	uint8_t *bytes = arena_alloc(&a, k.nbytes + 1u);
	memcpy(state, p->init, p->nstate * sizeof *state);
	for (uint32_t i = 0; i < STEPS; i++) {
		uint32_t t = rng_below(&r, p->nthreads), n = 0, moved = 0;
		struct ir_choices ch = { 0 };
		do {
			struct ir_effect eff = { 0 };
			if (ir_step(p, state, t, &ch, next, &eff) != IR_OK)
				continue;
			/* what is reached can be packed and read back */
			ir_pack(&k, next, bytes);
			ir_unpack(&k, bytes, kept);
			if (memcmp(kept, next, p->nstate * sizeof *next))
				fail("a state changed by packing", p->src->text);
			if (rng_below(&r, ++moved) == 0)
				memcpy(kept, next, p->nstate * sizeof *next);
		} while (ir_choices_next(&ch) && ++n < 64);
		if (moved)
			memcpy(state, kept, p->nstate * sizeof *state);
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
	struct lang l;
	struct lang_options o = { .sml = -1 };
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
		if (l.ir->nstate <= MAX_STATE && l.ir->nthreads)
			walk(l.ir, size);
	}
	buf_free(&out);
	lang_free(&l);
	free(text);
}
