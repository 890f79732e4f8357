#include "report/trace_report.h"

#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "event/event.h"

void cycles_init(struct cycles *f, uint32_t limit, bool each)
{
	memset(f, 0, sizeof *f);
	f->limit = limit;
	f->each = each;
	map_init(&f->by_places);
}

void cycles_free(struct cycles *f)
{
	assert(f->n <= f->cap);
	for (uint32_t i = 0; i < f->n; i++)
		free((void *)(uintptr_t)f->list[i].cycle.links);
	free(f->list);
	map_free(&f->by_places);
	memset(f, 0, sizeof *f);
}

static uint64_t key_of(const struct cycle *c)
{
	assert(!c->n || c->links);
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
	if (!GROW(f->list, f->cap, f->n + 1ull))
		return false;
	struct cycle_link *links = NULL;
	if (c->n) {
		links = malloc(c->n * sizeof *links);
		if (!links)
			return false;
		memcpy(links, c->links, c->n * sizeof *links);
	}
	f->list[f->n] = (struct trace_finding){ *c, 1 };
	f->list[f->n++].cycle.links = links;
	assert(f->n <= f->cap);
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
		if (f->by_places.len < 1000000 && !map_put(&f->by_places, key, f->limit && f->n >= f->limit ? MAP_NONE - 1 : f->n))
			f->nomem = true;
	}
	f->kinds++;
	if (f->limit && f->n >= f->limit)
		f->unkept++;
	else if (!keep(f, c))
		f->nomem = true;
}

void op_show(const struct trace_names *t, uint8_t kind, uint32_t target, struct buf *out)
{
	assert(kind < EVENT_KINDS);
	static const uint8_t space[EVENT_KINDS] = { NS_VAR, NS_VAR, NS_LOCK, NS_LOCK, NS_THREAD, NS_THREAD, NS_LABEL, NS_LABEL };
	buf_str(out, event_kind_name[kind]);
	if (kind >= EVENT_BEGIN && !target)
		return;
	buf_char(out, '(');
	names_show(&t->ns[space[kind]], target, out);
	buf_char(out, ')');
}

/* ---- JSON --------------------------------------------------------------- */

static void json_place(const struct trace_names *t, uint32_t loc, struct buf *tmp, struct json_out *j)
{
	if (loc == LOC_NONE)
		return;
	buf_clear(tmp);
	loc_show(t, loc, tmp);
	json_text_buf(j, "place", tmp);
}

static void json_label(const struct trace_names *t, uint32_t label, struct buf *tmp, struct json_out *j)
{
	if (!label)
		return;
	buf_clear(tmp);
	names_show(&t->ns[NS_LABEL], label, tmp);
	json_text_buf(j, "label", tmp);
}

static void json_number(const struct trace_names *t, uint64_t event, struct json_out *j)
{
	assert(event);
	uint64_t line = lines_of(&t->lines, event);
	json_uint(j, "event", event);
	if (line)
		json_uint(j, "line", line);
}

void json_event(const struct trace_names *t, const struct trace_event *e, struct buf *tmp, struct json_out *j)
{
	assert(e->kind < EVENT_KINDS);
	json_number(t, e->event, j);
	buf_clear(tmp);
	names_show(&t->ns[NS_THREAD], e->thread, tmp);
	json_text_buf(j, "thread", tmp);
	buf_clear(tmp);
	op_show(t, e->kind, e->target, tmp);
	json_text_buf(j, "op", tmp);
	json_place(t, e->loc, tmp, j);
}

static void json_block(const struct trace_names *t, const char *key, uint64_t event, uint32_t loc, uint32_t label, struct buf *tmp,
                       struct json_out *j)
{
	if (!event)
		return;
	json_begin_object(j, key);
	json_number(t, event, j);
	json_place(t, loc, tmp, j);
	json_label(t, label, tmp, j);
	json_end(j);
}

static void json_end_of(const struct trace_names *t, const char *key, const struct cycle_end *e, struct buf *tmp,
                        struct json_out *j)
{
	struct trace_event one = { e->event, e->thread, e->target, e->loc, e->kind };
	json_begin_object(j, key);
	json_event(t, &one, tmp, j);
	json_block(t, "block", e->block, e->block_loc, e->block_label, tmp, j);
	json_end(j);
}

void cycles_json(const struct cycles *f, const struct trace_names *t, struct json_out *j)
{
	struct buf tmp;
	buf_init(&tmp);
	json_begin_array(j, "findings");
	for (uint32_t i = 0; t && i < f->n; i++) {
		const struct cycle *c = &f->list[i].cycle;
		json_begin_object(j, NULL);
		json_text(j, "kind", "cycle");
		json_uint(j, "count", f->list[i].count);
		json_bool(j, "alone", c->alone);
		json_end_of(t, "closing", &c->closing, &tmp, j);
		json_block(t, "inner", c->inner, c->inner_loc, c->inner_label, &tmp, j);
		json_begin_array(j, "cycle");
		for (uint32_t k = 0; k < c->n; k++) {
			json_begin_object(j, NULL);
			json_end_of(t, "from", &c->links[k].from, &tmp, j);
			json_end_of(t, "to", &c->links[k].to, &tmp, j);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
	buf_free(&tmp);
}
