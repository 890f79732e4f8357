#include "report/story.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "report/check_text.h"
#include "report/run_json.h"
#include "report/property_story.h"
#include "report/serial_run.h"
#include "report/step_text.h"
#include "verdict/causal_run.h"
#include "verdict/explain.h"
#include "verdict/replay.h"

enum { SERIAL_ENDS = 16 }; /* in words */

/* ---- what went wrong ------------------------------------------------------- */

void story_halt(const struct ir *p, const struct verdict *v, struct buf *out)
{
	assert(v->problem == PROBLEM_STUCK || v->problem == PROBLEM_ENDLESS);
	buf_str(out, "No serial order of the same blocks terminates");
	if (!v->halt) {
		buf_char(out, '.');
		return;
	}
	uint32_t node = ir_node_of(p, v->halt, v->halt_thread);
	const struct ir_node *n = &p->nodes[node];
	buf_str(out, ": ");
	check_text_name(p, n->block, out);
	buf_printf(out, ", run without interference, %s at line %u: ",
	           v->problem == PROBLEM_STUCK ? "waits forever" : "loops forever, for example", text_line(p, node));
	struct buf what;
	buf_init(&what);
	ir_print_node(p, node, &what);
	buf_safe(out, buf_cstr(&what), what.len);
	buf_free(&what);
	for (uint32_t i = 0, shown = 0; i < n->naccess && shown < 4; i++) {
		const struct ir_access *a = &p->accesses[n->access + i];
		if (a->index == IR_NONE && p->vars[a->var].len > 1)
			continue;
		uint32_t elem = p->vars[a->var].len > 1 ? a->index : 0;
		buf_str(out, shown++ ? ", " : " (");
		text_variable(p, a->var, elem, out);
		buf_str(out, " is ");
		text_value(p, a->var, v->halt[p->vars[a->var].slot + elem], out);
		if (i + 1 == n->naccess || shown == 4)
			buf_char(out, ')');
	}
	buf_char(out, '.');
}

static void say_sentence(struct story *s, const struct verdict *v)
{
	assert(!s->marks && !s->sentence.len);
	const struct run *r = &s->run;
	s->marks = calloc((size_t)r->nsteps + 1, sizeof *s->marks);
	if (v->problem == PROBLEM_ATOMICITY) {
		if (s->marks && explain_run(r, v->block, s->marks, &s->sentence) && s->sentence.len)
			buf_char(&s->sentence, '.');
	} else if (v->problem == PROBLEM_STUCK || v->problem == PROBLEM_ENDLESS) {
		story_halt(r->ir, v, &s->sentence);
	} else if (v->property1) {
		property_story(r, v->property1 - 1, &s->sentence);
	} else if (v->why) {
		buf_str(&s->sentence, v->why);
	}
}

/* ---- how it ends, and how serial orders do ---------------------------------- */

/* Does the slot differ from the run's end in some serial order? */
static bool slot_differs(const struct ir *p, const struct verdict *v, const int32_t *end, uint32_t s)
{
	assert(s < p->nstate && (!v->nserial || v->serial));
	for (uint32_t i = 0; i < v->nserial; i++)
		if (v->serial[(size_t)i * p->nstate + s] != end[s])
			return true;
	return false;
}

/* "count = 1, flag = false": those shared variables of a state. */
static uint32_t telling_values(const struct ir *p, const struct verdict *v, const int32_t *end, const int32_t *state,
                               struct buf *out)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < p->nvars; i++)
		for (uint32_t k = 0; k < p->vars[i].len; k++) {
			uint32_t s = p->vars[i].slot + k;
			if (!slot_differs(p, v, end, s))
				continue;
			if (n++)
				buf_str(out, ", ");
			text_variable(p, i, k, out);
			buf_str(out, " = ");
			text_value(p, i, state[s], out);
		}
	return n;
}

/* " finished", " at 12:5 (read x in v = x)" */
static void stands(const struct ir *p, uint32_t node, struct buf *out)
{
	assert(node < p->nnodes);
	const struct ir_node *n = &p->nodes[node];
	struct source_pos at = source_pos(p->src, n->span.start);
	struct buf what;
	if (n->kind == IRN_END) {
		buf_str(out, " finished");
		return;
	}
	buf_init(&what);
	ir_print_node(p, node, &what);
	buf_printf(out, " at %u:%u (", at.line, at.column);
	buf_safe(out, buf_cstr(&what), what.len);
	buf_char(out, ')');
	buf_free(&what);
}

/* Locals that differ from those of serial orders, or where threads are. */
static uint32_t telling_locals(const struct ir *p, const struct verdict *v, const int32_t *end, const int32_t *state, uint32_t n,
                               struct buf *out)
{
	assert(!v->nserial || v->serial);
	uint32_t seen[32];
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t frame = p->threads[t].frame, count = text_visible_in(p, state, t, seen, 32);
		struct buf name;
		buf_init(&name);
		ir_print_thread(p, t, &name);
		if (slot_differs(p, v, end, frame)) {
			buf_str(out, n++ ? ", " : "");
			buf_safe(out, buf_cstr(&name), name.len);
			stands(p, ir_node_of(p, state, t), out);
		}
		for (uint32_t i = 0; i < count && i < 32; i++) {
			const struct ir_local *l = &p->locals[seen[i]];
			for (uint32_t k = 0; k < l->len; k++) {
				struct run_local one = { seen[i], k, state[frame + l->slot + k] };
				if (!slot_differs(p, v, end, frame + l->slot + k))
					continue;
				buf_str(out, n++ ? ", " : "");
				buf_safe(out, buf_cstr(&name), name.len);
				buf_char(out, '.');
				text_local(p, &one, out);
			}
		}
		buf_free(&name);
	}
	return n;
}

/* What of the state is not the same in the run's end and all serial ends. */
static void telling(const struct ir *p, const struct verdict *v, const int32_t *end, const int32_t *state, struct buf *out)
{
	uint32_t n = telling_values(p, v, end, state, out);
	telling_locals(p, v, end, state, n, out);
}

/* The thread whose values without a name (a part of an expression) are others than in this serial end; IR_NONE. */
static uint32_t unnamed_differs(const struct ir *p, const int32_t *end, const int32_t *serial)
{
	for (uint32_t t = 0; t < p->nthreads; t++) {
		uint32_t frame = p->threads[t].frame;
		if (memcmp(end + frame, serial + frame, p->templates[p->threads[t].tmpl].nslots * sizeof *end))
			return t;
	}
	return IR_NONE;
}

/* The serial ends as text, each once; `mine` is the run's. */
static void list_ends(const struct ir *p, const struct verdict *v, const int32_t *end, const char *mine, struct buf *out)
{
	assert(v->nserial);
	struct buf got[SERIAL_ENDS];
	uint32_t n = 0, same = IR_NONE;
	for (uint32_t i = 0; i < v->nserial && i < SERIAL_ENDS; i++) {
		const int32_t *state = v->serial + (size_t)i * p->nstate;
		bool known = false;
		buf_init(&got[n]);
		telling(p, v, end, state, &got[n]);
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(buf_cstr(&got[k]), buf_cstr(&got[n]));
		if (!strcmp(buf_cstr(&got[n]), mine))
			same = unnamed_differs(p, end, state);
		if (known)
			buf_free(&got[n]);
		else
			n++;
	}
	for (uint32_t i = 0; i < n; i++) {
		if (v->nserial_all == 1 || (n == 1 && v->nserial_all == v->nserial))
			buf_printf(out, "Every serial order of the same blocks ends with %s.\n", buf_cstr(&got[i]));
		else
			buf_printf(out, "%s with %s.\n",
			           i ? "                                 or" : "Serial orders of the same blocks end",
			           buf_cstr(&got[i]));
		buf_free(&got[i]);
	}
	if (v->nserial_all > v->nserial)
		buf_printf(out, "... and %u more\n", v->nserial_all - v->nserial);
	if (same != IR_NONE) {
		buf_str(out, "Where these are the same, ");
		text_who(p, same, out);
		buf_str(out, " continues with a different intermediate result.\n");
	}
}

static void say_ends(const struct run *r, const struct verdict *v, struct buf *out)
{
	const int32_t *end = run_now(r);
	if (!v->serial)
		return; /* too large to find out */
	if (!v->nserial) {
		buf_str(out, "No serial order of the same blocks is possible at all: in each of them some thread "
		             "reaches a different place or is blocked.\n");
		return;
	}
	struct buf mine;
	buf_init(&mine);
	telling(r->ir, v, end, end, &mine);
	if (mine.len) {
		buf_printf(out, "It ends with %s.\n", buf_cstr(&mine));
		list_ends(r->ir, v, end, buf_cstr(&mine), out);
	} else {
		uint32_t who = unnamed_differs(r->ir, end, v->serial);
		buf_str(out, "No serial order of the same blocks ends in this state");
		if (who != IR_NONE) {
			buf_str(out, ": ");
			text_who(r->ir, who, out);
			buf_str(out, " continues with a different intermediate result");
		}
		buf_str(out, ".\n");
	}
	buf_free(&mine);
}

/* ---- the story -------------------------------------------------------------- */

static bool about_serial(const struct verdict *v)
{
	return v->problem == PROBLEM_ATOMICITY || v->problem == PROBLEM_COMMIT;
}

void story_companions(struct story *s, const struct verdict *v)
{
	assert(!s->possible[0] && !s->possible[1]);
	for (int at_exit = 0; at_exit < 2 && about_serial(v) && s->run.nsteps <= SERIAL_RUN_MAX; at_exit++)
		s->possible[at_exit] = serial_run(&s->run, v->block, at_exit != 0, &s->serial[at_exit]);
}

static void tell(struct story *s, const struct verdict *v)
{
	assert(!s->replayed);
	s->replayed = true;
	if (v->causal)
		return; /* has words of its own */
	say_sentence(s, v);
	if (about_serial(v))
		say_ends(&s->run, v, &s->ends);
	story_companions(s, v);
}

static void clear(struct story *s)
{
	*s = (struct story){ .replayed = false };
	buf_init(&s->sentence);
	buf_init(&s->ends);
}

/* Of a causal counterexample: its concrete run, when it is one of these threads. */
static bool has_run(const struct ir *p, const struct verdict *v)
{
	assert(!v->causal || v->causal->count);
	if (!v->causal)
		return v->path != NULL;
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (v->causal->count[t] != p->templates[t].count)
			return false;
	return v->causal->concrete == CAUSAL_POSSIBLE;
}

/* Replays the verdict's counterexample and says what there is to say; `s` is to be freed in any case. */
static void story_make(struct story *s, const struct ir *p, const struct verdict *v)
{
	const struct move *path = v->causal ? v->causal->path : v->path;
	clear(s);
	if (v->causal)
		s->causal = causal_story_make(p, v->causal);
	if (has_run(p, v) && run_init(&s->run, p) && replay(&s->run, path, v->causal ? v->causal->npath : v->npath))
		tell(s, v);
}

void story_of_run(struct story *s, struct run *r, const struct verdict *v)
{
	assert(r->ir);
	clear(s);
	s->run = *r;
	memset(r, 0, sizeof *r);
	tell(s, v);
}

static void story_free(struct story *s)
{
	run_free(&s->run);
	run_free(&s->serial[0]);
	run_free(&s->serial[1]);
	causal_story_free(s->causal);
	free(s->marks);
	buf_free(&s->sentence);
	buf_free(&s->ends);
}

void story_give_back(struct story *s, struct run *r)
{
	assert(s->replayed);
	*r = s->run;
	memset(&s->run, 0, sizeof s->run);
	story_free(s);
}

struct story *stories_make(const struct ir *p, const struct verdict *v, uint32_t n)
{
	struct story *s = calloc(n + 1ull, sizeof *s);
	for (uint32_t i = 0; s && i < n; i++)
		story_make(&s[i], p, &v[i]);
	return s;
}

void stories_free(struct story *s, uint32_t n)
{
	for (uint32_t i = 0; s && i < n; i++)
		story_free(&s[i]);
	free(s);
}

/* ---- JSON ------------------------------------------------------------------- */

/* The threads whose blocks these are, in order: "1, 2, 1". */
static void order_text(const struct run *r, uint32_t block, struct buf *out)
{
	bool first = true;
	for (uint32_t i = 0; i < r->nsteps; i++)
		if (r->steps[i].entered != IR_NONE && (block == VERDICT_PROGRAM || r->steps[i].entered == block)) {
			buf_printf(out, "%s%u", first ? "" : ", ", r->steps[i].thread + 1);
			first = false;
		}
}

static void orders(const struct story *s, uint32_t block, struct json_out *j)
{
	assert(block == VERDICT_PROGRAM || block < s->run.ir->nblocks);
	struct buf order[2];
	for (int k = 0; k < 2; k++) {
		buf_init(&order[k]);
		if (!s->possible[k])
			continue;
		order_text(&s->serial[k], block, &order[k]);
		if (k && s->possible[0] && !strcmp(buf_cstr(&order[0]), buf_cstr(&order[1])))
			continue;
		if (k && s->possible[0])
			json_line(j, 0);
		json_begin_object(j, NULL);
		json_text_buf(j, "order", &order[k]);
		run_json(&s->serial[k], j);
		json_end(j);
	}
	buf_free(&order[0]);
	buf_free(&order[1]);
}

enum { STORY_ENDS = 16 };

/* ---- the members --------------------------------------------------------- */

/* A list of lines. */
static void lines(const char *key, const struct buf *text, struct json_out *j)
{
	json_begin_array(j, key);
	for (const char *s = buf_cstr(text); *s;) {
		size_t n = strcspn(s, "\n");
		json_text_n(j, NULL, s, n);
		s += n + (s[n] != 0);
	}
	json_end(j);
}

static void ends(const struct story *t, const struct verdict *v, struct json_out *j)
{
	assert(t->replayed);
	const struct run *r = &t->run;
	struct buf got[STORY_ENDS];
	uint32_t n = 0;
	run_json_end(r->ir, run_now(r), "end", j);
	json_begin_array(j, "ends");
	for (uint32_t i = 0; i < v->nserial && n < STORY_ENDS; i++) {
		struct json_out end;
		bool known = false;
		buf_init(&got[n]);
		json_out_init(&end, &got[n], false);
		run_json_end(r->ir, v->serial + (size_t)i * r->ir->nstate, NULL, &end);
		for (uint32_t k = 0; k < n; k++)
			known |= !strcmp(buf_cstr(&got[k]), buf_cstr(&got[n]));
		if (known)
			buf_free(&got[n]);
		else
			json_items(j, &got[n++]);
	}
	json_end(j);
	json_uint(j, "more", v->nserial_all - n);
	json_flag(j, "cut", !v->serial);
	lines("text", &t->ends, j);
	while (n)
		buf_free(&got[--n]);
}

static void sentence(const struct story *s, const struct verdict *v, struct json_out *j)
{
	if (!s->sentence.len)
		return;
	json_line(j, 5);
	json_text_buf(j, "sentence", &s->sentence);
	if (!s->marks || v->problem != PROBLEM_ATOMICITY)
		return;
	json_begin_array(j, "marks");
	for (uint32_t i = 0; i < s->run.nsteps; i++)
		if (s->marks[i])
			json_uint(j, NULL, i + 1);
	json_end(j);
}

static void waits(const struct run *r, struct json_out *j)
{
	json_line(j, 5);
	json_begin_array(j, "waits");
	for (uint32_t t = 0; t < r->ir->nthreads; t++) {
		struct buf text;
		if (r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END)
			continue;
		buf_init(&text);
		text_wait(r, t, &text);
		json_begin_object(j, NULL);
		json_uint(j, "thread", t + 1);
		json_text_buf(j, "text", &text);
		json_end(j);
		buf_free(&text);
	}
	json_end(j);
}

void story_json(const struct story *s, const struct verdict *v, struct json_out *j)
{
	assert(s->replayed);
	sentence(s, v, j);
	if (v->problem == PROBLEM_DEADLOCK || v->problem == PROBLEM_QUIESCENCE || v->problem == PROBLEM_REACH)
		waits(&s->run, j);
	if (!about_serial(v))
		return;
	json_line(j, 5);
	json_begin_object(j, "serial");
	ends(s, v, j);
	json_begin_array(j, "orders");
	orders(s, v->block, j);
	json_end(j);
	json_end(j);
}
