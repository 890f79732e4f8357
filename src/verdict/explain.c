#include "verdict/explain.h"

#include <string.h>

#include "verdict/verdict.h"

struct window { /* one execution of a block: the steps from entry to exit */
	uint32_t thread, block, first, last;
};

static bool reads(uint32_t mode)
{
	return mode & (IRA_READ | IRA_READ_RESP);
}

static bool writes(uint32_t mode)
{
	return mode & (IRA_WRITE | IRA_WRITE_RESP);
}

static bool touches(const struct run *r, uint32_t step, uint32_t var, uint32_t elem,
                    bool (*how)(uint32_t))
{
	const struct run_step *s = &r->steps[step];
	for (uint32_t i = 0; i < s->nevent; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		if (e->var == var && e->elem == elem && how(e->mode))
			return true;
	}
	return false;
}

static void say_thread(const struct run *r, uint32_t thread, struct buf *out)
{
	struct buf name;
	buf_init(&name);
	ir_print_thread(r->ir, thread, &name);
	buf_safe(out, buf_cstr(&name), name.len);
	buf_free(&name);
}

static void say_var(const struct run *r, uint32_t var, uint32_t elem, struct buf *out)
{
	const struct ir_var *v = &r->ir->vars[var];
	buf_safe(out, v->name, strlen(v->name));
	if (v->is_array)
		buf_printf(out, "[%u]", elem);
}

/* The block instances of the run that count, one after the other. */
static bool next_window(const struct run *r, uint32_t block, struct window *w, uint32_t *from)
{
	for (uint32_t i = *from; i < r->nsteps; i++) {
		const struct run_step *s = &r->steps[i];
		if (s->entered == IR_NONE || (block != VERDICT_PROGRAM && s->entered != block))
			continue;
		*w = (struct window){ s->thread, s->entered, i, r->nsteps - 1 };
		for (uint32_t k = i + 1; k < r->nsteps; k++)
			if (r->steps[k].thread == s->thread && r->steps[k].exited != IR_NONE) {
				w->last = k;
				break;
			}
		*from = i + 1;
		return true;
	}
	return false;
}

static bool is_data(const struct run *r, const struct ir_event *e)
{
	return r->ir->vars[e->var].kind != IRV_LOCK;
}

/* A foreign write of the variable strictly between two steps. */
static uint32_t foreign_write(const struct run *r, const struct window *w, uint32_t var,
                              uint32_t elem, uint32_t after, uint32_t before)
{
	for (uint32_t i = after + 1; i < before; i++)
		if (r->steps[i].thread != w->thread && touches(r, i, var, elem, writes))
			return i;
	return IR_NONE;
}

static void mark3(bool *marks, uint32_t a, uint32_t b, uint32_t c)
{
	marks[a] = marks[b] = marks[c] = true;
}

/* read by us, written by another, written by us without reading again */
static bool lost_update(const struct run *r, const struct window *w, bool *marks, struct buf *out)
{
	for (uint32_t c = w->last + 1; c-- > w->first;) {
		const struct run_step *s = &r->steps[c];
		for (uint32_t k = 0; s->thread == w->thread && k < s->nevent; k++) {
			const struct ir_event *e = &r->events[s->event + k];
			if (!is_data(r, e) || !writes(e->mode) || reads(e->mode))
				continue;
			uint32_t a = c;
			while (a-- > w->first)
				if (r->steps[a].thread == w->thread && touches(r, a, e->var, e->elem, reads))
					break;
			if (a == IR_NONE || a < w->first)
				continue;
			uint32_t b = foreign_write(r, w, e->var, e->elem, a, c);
			if (b == IR_NONE)
				continue;
			mark3(marks, a, b, c);
			buf_str(out, "the update of ");
			say_var(r, e->var, e->elem, out);
			buf_str(out, " by ");
			say_thread(r, r->steps[b].thread, out);
			buf_str(out, " was lost: ");
			say_thread(r, w->thread, out);
			buf_printf(out, " had read it before (step %u) and then wrote over it (step %u)",
			           a + 1, c + 1);
			return true;
		}
	}
	return false;
}

/* two reads of one variable that a foreign write came between */
static bool two_reads(const struct run *r, const struct window *w, bool *marks, struct buf *out)
{
	for (uint32_t a = w->first; a <= w->last; a++) {
		const struct run_step *s = &r->steps[a];
		for (uint32_t k = 0; s->thread == w->thread && k < s->nevent; k++) {
			const struct ir_event *e = &r->events[s->event + k];
			if (!is_data(r, e) || !reads(e->mode))
				continue;
			for (uint32_t c = a + 1; c <= w->last; c++) {
				if (r->steps[c].thread != w->thread ||
				    !touches(r, c, e->var, e->elem, reads))
					continue;
				uint32_t b = foreign_write(r, w, e->var, e->elem, a, c);
				if (b == IR_NONE)
					break;
				mark3(marks, a, b, c);
				say_thread(r, w->thread, out);
				buf_str(out, " read ");
				say_var(r, e->var, e->elem, out);
				buf_printf(out, " twice (steps %u and %u), and ", a + 1, c + 1);
				say_thread(r, r->steps[b].thread, out);
				buf_printf(out, " changed it in between (step %u)", b + 1);
				return true;
			}
		}
	}
	return false;
}

/* Do two steps touch the same thing, one of them writing? */
static bool conflict(const struct run *r, uint32_t a, uint32_t b, uint32_t *var, uint32_t *elem)
{
	const struct run_step *s = &r->steps[a];
	for (uint32_t i = 0; i < s->nevent; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		if (!is_data(r, e))
			continue;
		if (touches(r, b, e->var, e->elem, writes) ||
		    (writes(e->mode) && touches(r, b, e->var, e->elem, reads))) {
			*var = e->var;
			*elem = e->elem;
			return true;
		}
	}
	return false;
}

/* a step of ours, then conflicting foreign ones, then a step of ours again */
static bool in_the_middle(const struct run *r, const struct window *w, bool *marks, struct buf *out)
{
	for (uint32_t a = w->first; a <= w->last; a++) {
		if (r->steps[a].thread != w->thread)
			continue;
		for (uint32_t b = a + 1; b < w->last; b++) {
			uint32_t v1, e1, v2, e2, other = r->steps[b].thread;
			if (other == w->thread || !conflict(r, a, b, &v1, &e1))
				continue;
			for (uint32_t c2 = b; c2 < w->last; c2++)
				for (uint32_t c = c2 + 1; r->steps[c2].thread == other && c <= w->last; c++) {
					if (r->steps[c].thread != w->thread || !conflict(r, c2, c, &v2, &e2))
						continue;
					mark3(marks, a, b, c);
					marks[c2] = true;
					say_thread(r, other, out);
					buf_str(out, " came in the middle: it met ");
					say_var(r, v1, e1, out);
					buf_printf(out, " (step %u) after ", b + 1);
					say_thread(r, w->thread, out);
					buf_printf(out, " had (step %u), and ", a + 1);
					say_var(r, v2, e2, out);
					buf_printf(out, " (step %u) before it did (step %u)", c2 + 1, c + 1);
					return true;
				}
		}
	}
	return false;
}

bool explain_run(const struct run *r, uint32_t block, bool *marks, struct buf *out)
{
	bool (*const patterns[])(const struct run *, const struct window *, bool *, struct buf *) = {
		lost_update, two_reads, in_the_middle,
	};
	memset(marks, 0, r->nsteps * sizeof *marks);
	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
		struct window w;
		uint32_t from = 0;
		while (next_window(r, block, &w, &from))
			if (patterns[p](r, &w, marks, out))
				return true;
	}
	return false;
}
