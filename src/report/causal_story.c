#include "report/causal_story.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/step_text.h"

const char *const causal_concrete_names[] = { "not tried", "possible", "impossible", "not known", NULL };

/* ---- words --------------------------------------------------------------- */

/* The text, in the arena. */
static const char *keep(struct causal_story *s, struct buf *text)
{
	const char *t = arena_strndup(&s->arena, buf_cstr(text), text->len);
	buf_free(text);
	return t;
}

/* "worker 2", or "worker" when the run has one of them. */
static const char *thread(struct causal_story *s, const struct ir *p, const struct causal_run *r, const struct causal_thread *t)
{
	assert(t->tmpl < p->ntemplates && r->count);
	const char *name = p->templates[t->tmpl].name;
	return r->count[t->tmpl] > 1 ? arena_printf(&s->arena, "%s %u", name, t->index) : name;
}

static void variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out)
{
	assert(var < p->nvars);
	if (elem == IR_NONE)
		buf_str(out, p->vars[var].name);
	else
		text_variable(p, var, elem, out);
}

static const char *variable_name(struct causal_story *s, const struct ir *p, uint32_t var, uint32_t elem)
{
	struct buf text;
	buf_init(&text);
	variable(p, var, elem, &text);
	return keep(s, &text);
}

static const char *value(struct causal_story *s, const struct ir *p, uint32_t var, int32_t x)
{
	struct buf text;
	buf_init(&text);
	text_value(p, var, x, &text);
	return keep(s, &text);
}

static void touch_text(const struct ir *p, const struct causal_touch *t, struct buf *out)
{
	assert(t->var < p->nvars);
	bool lock = p->vars[t->var].kind == IRV_LOCK;
	if (lock || !t->valued || (t->write && !t->looked)) {
		buf_str(out, lock ? t->left ? "acquire " : "release " : t->write ? "write " : "read ");
		variable(p, t->var, t->elem, out);
		if (t->valued && !lock) {
			buf_str(out, " = ");
			text_value(p, t->var, t->left, out);
		}
		return;
	}
	buf_str(out, t->write ? "" : "read ");
	variable(p, t->var, t->elem, out);
	buf_str(out, t->write ? ": " : " = ");
	text_value(p, t->var, t->found, out);
	if (!t->write)
		return;
	buf_str(out, " -> ");
	text_value(p, t->var, t->left, out);
}

/* What the step does: "read data", "m: false -> true". */
static const char *event_text(struct causal_story *s, const struct ir *p, const struct causal_run *r, const struct causal_event *e)
{
	assert(e->touch + e->ntouch <= r->ntouches);
	struct buf text;
	buf_init(&text);
	if (e->entered != IR_NONE)
		buf_printf(&text, "enter %s", p->blocks[e->entered].name);
	else if (e->exited != IR_NONE)
		buf_printf(&text, "leave %s", p->blocks[e->exited].name);
	else if (!e->ntouch)
		buf_str(&text, "(local step)");
	for (uint32_t i = 0; !text.failed && i < e->ntouch && e->entered == IR_NONE && e->exited == IR_NONE; i++) {
		buf_str(&text, i ? ", " : "");
		touch_text(p, &r->touches[e->touch + i], &text);
	}
	return keep(s, &text);
}

/* ---- the story ------------------------------------------------------------ */

static const char *block_name(const struct ir *p, uint32_t block)
{
	assert(block == IR_NONE || block < p->nblocks);
	return block == IR_NONE ? NULL : p->blocks[block].name;
}

static void make_event(struct causal_story *s, const struct ir *p, const struct causal_run *r, uint32_t i)
{
	assert(i < r->nevents);
	const struct causal_event *e = &r->events[i];
	struct causal_story_touch *touches = arena_array(&s->arena, struct causal_story_touch, e->ntouch + 1ull);
	for (uint32_t k = 0; k < e->ntouch; k++) {
		const struct causal_touch *t = &r->touches[e->touch + k];
		touches[k] = (struct causal_story_touch){ .variable = variable_name(s, p, t->var, t->elem),
			                                  .write = t->write,
			                                  .found = t->valued && t->looked ? value(s, p, t->var, t->found) : NULL,
			                                  .left = t->valued && t->write ? value(s, p, t->var, t->left) : NULL };
	}
	s->events[i] = (struct causal_story_event){ .lane = e->thread,
		                                    .line = text_line(p, e->node),
		                                    .text = event_text(s, p, r, e),
		                                    .block = block_name(p, e->block),
		                                    .entered = block_name(p, e->entered),
		                                    .left = block_name(p, e->exited),
		                                    .touches = touches,
		                                    .ntouches = e->ntouch };
}

struct causal_story *causal_story_make(const struct ir *p, const struct causal_run *r)
{
	struct causal_story *s = calloc(1, sizeof *s);
	if (!s)
		return NULL;
	arena_init(&s->arena, 0);
	s->lanes = arena_array(&s->arena, const char *, r->nthreads + 1ull);
	s->events = arena_array(&s->arena, struct causal_story_event, r->nevents + 1ull);
	s->links = arena_array(&s->arena, struct causal_story_link, r->nlinks + 1ull);
	s->count = arena_array(&s->arena, uint32_t, p->ntemplates + 1ull);
	for (; s->nlanes < r->nthreads; s->nlanes++)
		s->lanes[s->nlanes] = thread(s, p, r, &r->threads[s->nlanes]);
	for (; s->nevents < r->nevents; s->nevents++)
		make_event(s, p, r, s->nevents);
	for (; s->nlinks < r->nlinks; s->nlinks++) {
		const struct causal_link *k = &r->links[s->nlinks];
		s->links[s->nlinks] = (struct causal_story_link){ k->from, k->to,
			                                          k->var == IR_NONE ? NULL : variable_name(s, p, k->var, k->elem) };
	}
	memcpy(s->count, r->count, p->ntemplates * sizeof *s->count);
	s->smallest = r->smallest;
	s->concrete = r->concrete;
	s->stops = r->stops;
	s->schedule = r->schedule ? arena_strdup(&s->arena, r->schedule) : NULL;
	return s;
}

void causal_story_free(struct causal_story *s)
{
	if (s)
		arena_free(&s->arena);
	free(s);
}

/* ---- JSON ------------------------------------------------------------------- */

static void event_json(const struct causal_story *s, uint32_t i, struct json_out *j)
{
	assert(i < s->nevents && s->events[i].lane < s->nlanes);
	const struct causal_story_event *e = &s->events[i];
	json_line(j, 8);
	json_begin_object(j, NULL);
	json_uint(j, "event", i + 1);
	json_text(j, "thread", s->lanes[e->lane]);
	json_uint(j, "line", e->line);
	json_text(j, "text", e->text);
	json_text_if(j, "block", e->block);
	json_text_if(j, "entered", e->entered);
	json_text_if(j, "left", e->left);
	json_begin_array(j, "touches");
	for (uint32_t k = 0; k < e->ntouches; k++) {
		const struct causal_story_touch *t = &e->touches[k];
		json_begin_object(j, NULL);
		json_text(j, "variable", t->variable);
		json_text(j, "mode", t->write ? "write" : "read");
		json_text_if(j, "found", t->found);
		json_text_if(j, "left", t->left);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

static void run_json(const struct ir *p, const struct causal_story *s, struct json_out *j)
{
	assert(s->concrete < sizeof causal_concrete_names / sizeof *causal_concrete_names - 1);
	json_line(j, 5);
	json_begin_object(j, "causal");
	json_bool(j, "abstract", true);
	json_text(j, "concrete", causal_concrete_names[s->concrete]);
	if (s->concrete == CAUSAL_IMPOSSIBLE)
		json_uint(j, "stops", s->stops + 1);
	json_begin_object(j, "threads");
	for (uint32_t t = 0; t < p->ntemplates; t++)
		json_uint(j, p->templates[t].name, s->count[t]);
	json_end(j);
	json_bool(j, "smallest", s->smallest);
	json_begin_array(j, "lanes");
	for (uint32_t i = 0; i < s->nlanes; i++)
		json_text(j, NULL, s->lanes[i]);
	json_end(j);
	json_line(j, 6);
	json_begin_array(j, "events");
	for (uint32_t i = 0; i < s->nevents; i++)
		event_json(s, i, j);
	json_line(j, 6);
	json_end(j);
	json_line(j, 6);
	json_begin_array(j, "chain");
	for (uint32_t i = 0; i < s->nlinks; i++) {
		json_begin_object(j, NULL);
		json_uint(j, "from", s->links[i].from + 1);
		json_uint(j, "to", s->links[i].to + 1);
		json_text_or_null(j, "by", s->links[i].by);
		json_end(j);
	}
	json_end(j);
	if (s->schedule) {
		json_line(j, 6);
		json_text(j, "schedule", s->schedule);
	}
	json_end(j);
}

static void link_end(const struct causal_story *s, uint32_t event, struct buf *out)
{
	assert(event < s->nevents);
	buf_printf(out, "%s: %s", s->lanes[s->events[event].lane], s->events[event].text);
}

/* "worker 1: read data, before meddler: write data, ..." */
static void sentence(const struct verdict *v, const struct causal_story *s, struct json_out *j)
{
	assert(s->nlinks);
	struct buf text;
	buf_init(&text);
	buf_str(&text, v->block == VERDICT_PROGRAM ? "The blocks form a causal cycle: "
	                                           : "A causal chain leaves the block and returns to it: ");
	for (uint32_t i = 0; i < s->nlinks; i++) {
		const struct causal_story_link *k = &s->links[i];
		if (!i || s->links[i - 1].to != k->from) {
			buf_str(&text, i ? "; and in that block " : "");
			link_end(s, k->from, &text);
		}
		buf_str(&text, ", before ");
		link_end(s, k->to, &text);
	}
	buf_char(&text, '.');
	json_line(j, 5);
	json_text_buf(j, "sentence", &text);
	buf_free(&text);
}

static void marks(const struct causal_story *s, struct json_out *j)
{
	json_begin_array(j, "marks");
	for (uint32_t e = 0; e < s->nevents; e++)
		for (uint32_t i = 0; i < s->nlinks; i++)
			if (s->links[i].from == e || s->links[i].to == e) {
				json_uint(j, NULL, e + 1);
				break;
			}
	json_end(j);
}

void causal_story_json(const struct ir *p, const struct verdict *v, const struct causal_story *s, struct json_out *j)
{
	if (v->events) {
		json_uint(j, "conditions", v->conditions);
		json_uint(j, "events", v->events);
		json_uint(j, "cutoffs", v->cutoffs);
	}
	if (!s)
		return;
	sentence(v, s, j);
	marks(s, j);
	run_json(p, s, j);
}
