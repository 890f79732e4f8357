#include "report/trace_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/utf8.h"
#include "event/event.h"
#include "report/line.h"

typedef unsigned long long ull;

void cycles_init(struct cycles *f, uint32_t limit, bool each)
{
	memset(f, 0, sizeof *f);
	f->limit = limit;
	f->each = each;
	map_init(&f->by_places);
}

void cycles_free(struct cycles *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		free((void *)(uintptr_t)f->list[i].cycle.links);
	free(f->list);
	map_free(&f->by_places);
	memset(f, 0, sizeof *f);
}

static uint64_t key_of(const struct cycle *c)
{
	uint64_t h = hash64((uint64_t)c->closing.block_loc << 32 | c->closing.block_label);
	h = hash64(h ^ c->closing.loc);
	if (c->n) {
		h = hash64(h ^ c->links[0].from.loc);
		h = hash64(h ^ c->links[0].to.loc);
		h = hash64(h ^ c->links[c->n - 1].from.loc);
	}
	return h ^ (uint64_t)c->lost;
}

static bool keep(struct cycles *f, const struct cycle *c)
{
	if (f->n == f->cap) {
		uint32_t cap = f->cap ? f->cap * 2 : 16;
		struct finding *p = realloc(f->list, cap * sizeof *p);
		if (!p)
			return false;
		f->list = p;
		f->cap = cap;
	}
	struct cycle_link *links = NULL;
	if (c->n) {
		links = malloc(c->n * sizeof *links);
		if (!links)
			return false;
		memcpy(links, c->links, c->n * sizeof *links);
	}
	f->list[f->n] = (struct finding){ *c, 1 };
	f->list[f->n++].cycle.links = links;
	return true;
}

void cycles_add(void *ctx, const struct cycle *c)
{
	struct cycles *f = ctx;
	f->blocks++;
	f->lost += c->lost;
	if (!f->each) {
		/* kept ones map to their place in the list, others to MAP_NONE - 1;
		 * the map itself is bounded too */
		uint64_t key = key_of(c);
		uint32_t at = map_get(&f->by_places, key);
		if (at != MAP_NONE) {
			if (at < f->n)
				f->list[at].count++;
			else
				f->unkept++;
			return;
		}
		if (f->by_places.len < 1000000 &&
		    !map_put(&f->by_places, key,
		             f->limit && f->n >= f->limit ? MAP_NONE - 1 : f->n))
			f->nomem = true;
	}
	f->kinds++;
	if (f->limit && f->n >= f->limit)
		f->unkept++;
	else if (!keep(f, c))
		f->nomem = true;
}

/* ---- text --------------------------------------------------------------- */

void op_show(const struct trace_names *t, uint8_t kind, uint32_t target,
             struct buf *out)
{
	static const uint8_t space[EVENT_KINDS] = { NS_VAR, NS_VAR, NS_LOCK, NS_LOCK,
		NS_THREAD, NS_THREAD, NS_LABEL, NS_LABEL };
	buf_str(out, event_kind_name[kind]);
	if (kind >= EVENT_BEGIN && !target)
		return;
	buf_char(out, '(');
	names_show(&t->ns[space[kind]], target, out);
	buf_char(out, ')');
}

static void thread_show(const struct trace_names *t, uint32_t id, struct buf *out)
{
	names_show(&t->ns[NS_THREAD], id, out);
}

/* "block `f` begun at 12 (event 3)" */
static void block_show(const struct trace_names *t, uint64_t event, uint32_t loc,
                       uint32_t label, struct buf *out)
{
	buf_str(out, "block ");
	if (label) {
		buf_char(out, '`');
		names_show(&t->ns[NS_LABEL], label, out);
		buf_str(out, "` ");
	}
	buf_str(out, "begun at ");
	loc_show(t, loc, out);
	buf_printf(out, " (event %llu)", (ull)event);
}

/* One event of the cycle; `what` ends the line, or is put below if the line
 * would be wider than the terminal. Long names are cut. */
static void event_line(const struct trace_names *t, const struct cycle_end *e,
                       const char *what, unsigned width, struct buf *out)
{
	struct line l = { out, false, 0, 0 };
	struct buf b;
	unsigned need = (unsigned)utf8_columns(what, strlen(what));
	buf_init(&b);
	buf_printf(&b, "    event %llu", (ull)e->event);
	line_put(&l, NULL, buf_cstr(&b), b.len);
	buf_clear(&b);
	thread_show(t, e->thread, &b);
	line_pad(&l, 19);
	line_fit(&l, NULL, buf_cstr(&b), b.len, 24, "...");
	buf_clear(&b);
	op_show(t, e->kind, e->target, &b);
	buf_str(&b, " at ");
	loc_show(t, e->loc, &b);
	line_pad(&l, l.at < 28 ? 28 : l.at + 1);
	line_fit(&l, NULL, buf_cstr(&b), b.len, width > l.at + 40 ? width - l.at - 4 : 40, "...");
	line_pad(&l, l.at < 56 ? 56 : l.at + 1);
	if (l.at + l.pending + need > width && need + 8 < width) {
		buf_char(out, '\n');
		l = (struct line){ out, false, 0, need + 28 <= width ? 28 : 8 };
	}
	line_put(&l, NULL, what, strlen(what));
	buf_char(out, '\n');
	buf_free(&b);
}

/* Of a long cycle the middle is left out. */
enum { LINKS_SHOWN = 24 };

/* The reason that connects the two ends of a link. */
static const char *reason(const struct cycle_link *l)
{
	if (l->from.kind == EVENT_WRITE)
		return l->to.kind == EVENT_WRITE ? "overwritten by" : "read by";
	if (l->from.kind == EVENT_READ && l->to.kind == EVENT_WRITE)
		return "then overwritten by";
	if (l->from.kind == EVENT_REL && l->to.kind == EVENT_ACQ)
		return "lock passed on to";
	if (l->from.kind == EVENT_FORK)
		return "starts";
	return "awaited by";
}

static void cycle_text(const struct cycle *c, const struct trace_names *t,
                       unsigned width, struct buf *out)
{
	struct buf b;
	buf_init(&b);
	for (uint32_t i = 0; i < c->n; i++) {
		if (c->n > LINKS_SHOWN && i == LINKS_SHOWN / 2) {
			uint32_t hidden = c->n - LINKS_SHOWN;
			buf_printf(out, "    ... %u links left out (--json has them)\n", hidden);
			i += hidden;
		}
		const struct cycle_link *l = &c->links[i];
		const struct cycle_end *before = i ? &c->links[i - 1].to : NULL;
		bool same_txn = before && before->thread == l->from.thread &&
		                before->block == l->from.block &&
		                (before->block || before->event == l->from.event);
		if (!before || before->event != l->from.event) {
			buf_clear(&b);
			if (!before)
				buf_str(&b, "in the block;");
			else if (same_txn)
				buf_str(&b, "in the same block;");
			else
				buf_str(&b, "later in that thread;");
			buf_printf(&b, " %s", reason(l));
			event_line(t, &l->from, buf_cstr(&b), width, out);
		}
		buf_clear(&b);
		if (i + 1 == c->n) {
			buf_str(&b, "in the block: closes the cycle");
		} else {
			if (l->to.block) {
				buf_str(&b, "in the ");
				block_show(t, l->to.block, l->to.block_loc, l->to.block_label, &b);
			} else {
				buf_str(&b, "outside of blocks");
			}
			if (c->links[i + 1].from.event == l->to.event)
				buf_printf(&b, "; %s", reason(&c->links[i + 1]));
		}
		event_line(t, &l->to, buf_cstr(&b), width, out);
	}
	buf_free(&b);
}

/* The others on the cycle, as text. */
static void advice(const struct cycle *c, const struct trace_names *t, struct buf *out)
{
	const struct cycle_end *in = &c->links[0].from, *back = &c->closing;
	if (c->alone) {
		buf_str(out, "    Between ");
		op_show(t, in->kind, in->target, out);
		buf_str(out, " and ");
		op_show(t, back->kind, back->target, out);
		buf_str(out, " of this block, thread ");
		thread_show(t, c->links[0].to.thread, out);
		buf_str(out, " intervened:\n    no serial order of the block gives the same result.\n");
		if (c->inner) {
			buf_str(out, "    The nested ");
			block_show(t, c->inner, c->inner_loc, c->inner_label, out);
			buf_str(out, " holds both and is not atomic either.\n");
		}
		return;
	}
	buf_str(out, "    Each of these blocks must come before the next, and the last before the first:\n"
	             "    they cannot all be atomic.\n");
}

void cycles_text(const struct cycles *f, const struct trace_names *t,
                 unsigned width, bool color, struct buf *out)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct finding *x = &f->list[i];
		const struct cycle *c = &x->cycle;
		buf_printf(out, "\n%u. %s", i + 1, color ? "\033[1m" : "");
		buf_str(out, "thread ");
		thread_show(t, c->closing.thread, out);
		buf_str(out, ": ");
		block_show(t, c->closing.block, c->closing.block_loc, c->closing.block_label, out);
		buf_str(out, " is not atomic");
		buf_str(out, color ? "\033[0m" : "");
		if (x->count > 1)
			buf_printf(out, "   [%llu times at these places; the first:]", (ull)x->count);
		buf_char(out, '\n');
		if (c->lost) {
			event_line(t, &c->closing, "closes a cycle that is too long to record", width, out);
			continue;
		}
		cycle_text(c, t, width, out);
		advice(c, t, out);
	}
	if (f->unkept)
		buf_printf(out, "\n... and %llu more violating block%s at other places (--limit=0 shows all)\n",
		           (ull)f->unkept, f->unkept == 1 ? "" : "s");
}

/* ---- JSON --------------------------------------------------------------- */

static void json_buf(struct buf *b, struct buf *out)
{
	buf_json(out, buf_cstr(b), b->len);
	buf_clear(b);
}

static void json_place(const struct trace_names *t, const char *key, uint32_t loc,
                       struct buf *tmp, struct buf *out)
{
	if (loc == LOC_NONE)
		return;
	loc_show(t, loc, tmp);
	buf_printf(out, ",\"%s\":", key);
	json_buf(tmp, out);
}

void json_event_line(const struct trace_names *t, uint64_t event, struct buf *out)
{
	uint64_t line = lines_of(&t->lines, event);
	if (line)
		buf_printf(out, ",\"line\":%llu", (ull)line);
}

static void json_end(const struct trace_names *t, const struct cycle_end *e,
                     struct buf *tmp, struct buf *out)
{
	buf_printf(out, "{\"event\":%llu", (ull)e->event);
	json_event_line(t, e->event, out);
	buf_str(out, ",\"thread\":");
	thread_show(t, e->thread, tmp);
	json_buf(tmp, out);
	buf_str(out, ",\"op\":");
	op_show(t, e->kind, e->target, tmp);
	json_buf(tmp, out);
	json_place(t, "place", e->loc, tmp, out);
	if (e->block) {
		buf_printf(out, ",\"block\":{\"event\":%llu", (ull)e->block);
		json_event_line(t, e->block, out);
		json_place(t, "place", e->block_loc, tmp, out);
		if (e->block_label) {
			buf_str(out, ",\"label\":");
			names_show(&t->ns[NS_LABEL], e->block_label, tmp);
			json_buf(tmp, out);
		}
		buf_char(out, '}');
	}
	buf_char(out, '}');
}

void cycles_json(const struct cycles *f, const struct trace_names *t,
                   struct buf *out)
{
	struct buf tmp;
	buf_init(&tmp);
	buf_char(out, '[');
	for (uint32_t i = 0; i < f->n; i++) {
		const struct cycle *c = &f->list[i].cycle;
		buf_printf(out, "%s{\"kind\":\"cycle\",\"count\":%llu,\"alone\":%s,\"closing\":",
		           i ? "," : "", (ull)f->list[i].count, c->alone ? "true" : "false");
		json_end(t, &c->closing, &tmp, out);
		if (c->inner) {
			buf_printf(out, ",\"inner\":{\"event\":%llu", (ull)c->inner);
			json_event_line(t, c->inner, out);
			json_place(t, "place", c->inner_loc, &tmp, out);
			buf_char(out, '}');
		}
		buf_str(out, ",\"cycle\":[");
		for (uint32_t k = 0; k < c->n; k++) {
			buf_str(out, k ? ",{\"from\":" : "{\"from\":");
			json_end(t, &c->links[k].from, &tmp, out);
			buf_str(out, ",\"to\":");
			json_end(t, &c->links[k].to, &tmp, out);
			buf_char(out, '}');
		}
		buf_str(out, "]}");
	}
	buf_char(out, ']');
	buf_free(&tmp);
}
