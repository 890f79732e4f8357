/*
 * object_text: a history of an object as a drawing, one line per thread,
 * time from left to right (Fig. 6 of the SOAR paper):
 *
 *     writer  ├─w1 write(true)────────────────────────────┤
 *     reader     ├─r1 read → true─┤ ├─r2 read → false─┤
 *
 * Only the order of calls and answers is to scale. Where the page is too
 * narrow for it, the operations are listed with their steps.
 */
#include "report/check_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "report/step_text.h"

struct draw {
	const struct object_history *h;
	bool utf8;
	uint32_t *column; /* by event */
	uint32_t width;   /* of the drawing */
	size_t names;     /* columns that the longest thread's name takes */
	struct buf *out;
};

static void label(const struct draw *d, const struct object_op *o, struct buf *out)
{
	object_op_name(o, out);
	buf_char(out, ' ');
	object_op_text(d->h, o, d->utf8, out);
}

static uint32_t label_width(const struct draw *d, const struct object_op *o)
{
	struct buf b;
	buf_init(&b);
	label(d, o, &b);
	size_t n = utf8_columns(buf_cstr(&b), b.len);
	buf_free(&b);
	return (uint32_t)n;
}

/* Events from left to right, each as near to the one before as the labels
 * allow. */
static void place(struct draw *d)
{
	const struct object_history *h = d->h;
	uint32_t x = 0;
	for (uint32_t e = 0; e < h->nevents; e++) {
		for (uint32_t i = 0; i < h->n; i++)
			if (h->ops[i].ret == e) {
				uint32_t need = d->column[h->ops[i].call] + label_width(d, &h->ops[i]) + 3;
				x = x > need ? x : need;
			}
		d->column[e] = x;
		x += 2;
	}
	d->width = x;
	for (uint32_t i = 0; i < h->n; i++)
		if (h->ops[i].ret == OBJECT_OPEN) {
			uint32_t need = d->column[h->ops[i].call] + label_width(d, &h->ops[i]) + 4;
			d->width = d->width > need ? d->width : need;
		}
}

static void line(const struct draw *d, uint32_t thread)
{
	const struct object_history *h = d->h;
	struct buf *out = d->out, name;
	uint32_t x = 0;
	buf_init(&name);
	text_thread(h->ir, thread, &name);
	buf_str(out, "  ");
	buf_add(out, buf_cstr(&name), name.len);
	buf_repeat(out, ' ', d->names - utf8_columns(buf_cstr(&name), name.len) + 2);
	for (uint32_t i = 0; i < h->n; i++) {
		const struct object_op *o = &h->ops[i];
		if (o->thread != thread)
			continue;
		buf_repeat(out, ' ', d->column[o->call] - x);
		buf_str(out, d->utf8 ? "├─" : "|-");
		buf_clear(&name);
		label(d, o, &name);
		buf_add(out, buf_cstr(&name), name.len);
		x = d->column[o->call] + 2 + (uint32_t)utf8_columns(buf_cstr(&name), name.len);
		uint32_t end = o->ret == OBJECT_OPEN ? d->width : d->column[o->ret];
		for (; x < end; x++)
			buf_str(out, d->utf8 ? "─" : "-");
		if (o->ret != OBJECT_OPEN) {
			buf_str(out, d->utf8 ? "┤" : "|");
			x++;
		}
	}
	buf_char(out, '\n');
	buf_free(&name);
}

static void list(const struct draw *d)
{
	for (uint32_t i = 0; i < d->h->n; i++) {
		const struct object_op *o = &d->h->ops[i];
		buf_str(d->out, "  ");
		label(d, o, d->out);
		buf_str(d->out, " by ");
		text_thread(d->h->ir, o->thread, d->out);
		buf_printf(d->out, ", from step %u ", o->call_step + 1);
		if (o->ret == OBJECT_OPEN)
			buf_str(d->out, "on, not answered\n");
		else
			buf_printf(d->out, "to step %u\n", o->ret_step + 1);
	}
}

void object_draw(const struct object_history *h, unsigned width, bool utf8, struct buf *out)
{
	struct draw d = { .h = h, .utf8 = utf8, .out = out };
	bool *there = calloc(h->ir->nthreads + 1ull, sizeof *there);
	struct buf name;
	buf_init(&name);
	d.column = calloc(h->nevents + 1ull, sizeof *d.column);
	if (d.column && there) {
		place(&d);
		for (uint32_t i = 0; i < h->n; i++) {
			there[h->ops[i].thread] = true;
			buf_clear(&name);
			text_thread(h->ir, h->ops[i].thread, &name);
			size_t w = utf8_columns(buf_cstr(&name), name.len);
			d.names = w > d.names ? w : d.names;
		}
	}
	if (!d.column || !there || (width && d.width + d.names + 4 > width))
		list(&d);
	else
		for (uint32_t t = 0; t < h->ir->nthreads; t++)
			if (there[t])
				line(&d, t);
	buf_free(&name);
	free(d.column);
	free(there);
}
