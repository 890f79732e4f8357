#include "report/step_text.h"

#include <string.h>

#include "base/invariant.h"

#define SOURCE_SHOWN 120u /* bytes of a statement's text */

const struct glyphs *glyphs_for(bool utf8)
{
	static const struct glyphs fine = { "→", "┌", "│", "└", "…", "●" };
	static const struct glyphs plain = { "->", "/", "|", "\\", "..", "o" };
	return utf8 ? &fine : &plain;
}

static void safe(struct buf *out, const char *s)
{
	buf_safe(out, s, strlen(s));
}

/* ---- names and values --------------------------------------------------- */

void text_thread(const struct ir *p, uint32_t thread, struct buf *out)
{
	assert(thread < p->nthreads);
	struct buf name;
	buf_init(&name);
	ir_print_thread(p, thread, &name);
	buf_printf(out, "%u: ", thread + 1);
	safe(out, buf_cstr(&name));
	buf_free(&name);
}

void text_who(const struct ir *p, uint32_t thread, struct buf *out)
{
	assert(thread < p->nthreads);
	struct buf name;
	buf_init(&name);
	ir_print_thread(p, thread, &name);
	buf_printf(out, "thread %u (", thread + 1);
	safe(out, buf_cstr(&name));
	buf_char(out, ')');
	buf_free(&name);
}

void text_variable(const struct ir *p, uint32_t var, uint32_t elem, struct buf *out)
{
	assert(var < p->nvars && elem < p->vars[var].len);
	struct buf text;
	buf_init(&text);
	ir_print_element(&p->vars[var], elem, "", &text);
	safe(out, buf_cstr(&text));
	buf_free(&text);
}

static void value(const struct ir *p, enum ir_value_kind kind, uint32_t enum_id, int32_t v, struct buf *out)
{
	struct buf text;
	buf_init(&text);
	ir_print_value(p, kind, enum_id, v, &text);
	safe(out, buf_cstr(&text));
	buf_free(&text);
}

void text_value(const struct ir *p, uint32_t var, int32_t v, struct buf *out)
{
	assert(var < p->nvars);
	value(p, p->vars[var].value, p->vars[var].enum_id, v, out);
}

void text_local(const struct ir *p, const struct run_local *l, struct buf *out)
{
	assert(l->local < p->nlocals);
	const struct ir_local *d = &p->locals[l->local];
	struct buf text;
	buf_init(&text);
	ir_print_local(d, l->elem, &text);
	safe(out, buf_cstr(&text));
	buf_free(&text);
	buf_str(out, " = ");
	value(p, d->value, d->enum_id, l->value, out);
}

uint32_t text_line(const struct ir *p, uint32_t node)
{
	assert(node < p->nnodes);
	return source_pos(p->src, p->nodes[node].span.start).line;
}

uint32_t text_visible(const struct run *r, uint32_t thread, uint32_t *out, uint32_t max)
{
	return text_visible_in(r->ir, run_now(r), thread, out, max);
}

uint32_t text_visible_in(const struct ir *p, const int32_t *state, uint32_t thread, uint32_t *out, uint32_t max)
{
	assert(thread < p->nthreads);
	uint32_t n = 0, node = ir_node_of(p, state, thread);
	for (uint32_t sc = p->nodes[node].scope; sc != IR_NONE; sc = p->scopes[sc].parent)
		for (uint32_t k = 0; k < p->scopes[sc].nlocal; k++) {
			const struct ir_local *l = &p->locals[p->scopes[sc].local + k];
			bool hidden = l->slot == IR_NONE;
			for (uint32_t i = 0; i < n && i < max && !hidden; i++)
				hidden = !strcmp(p->locals[out[i]].name, l->name);
			if (hidden)
				continue;
			if (n < max)
				out[n] = p->scopes[sc].local + k;
			n++;
		}
	return n;
}

/* ---- source text -------------------------------------------------------- */

/* How many bytes of a comment begin at s, 0 when none does. */
static uint32_t comment_length(const char *s, uint32_t len)
{
	uint32_t i = 2;
	if (len < 2 || s[0] != '/' || (s[1] != '/' && s[1] != '*'))
		return 0;
	if (s[1] == '/') {
		while (i < len && s[i] != '\n')
			i++;
		return i;
	}
	while (i + 1 < len && !(s[i] == '*' && s[i + 1] == '/'))
		i++;
	assert(i < len);
	return i + 2 < len ? i + 2 : len;
}

/* A statement on one line, without comments and the last semicolon. */
static void source(const struct ir *p, struct span s, struct buf *out)
{
	assert(s.start <= s.end);
	struct buf line;
	bool space = false;
	uint32_t end = s.end < p->src->len ? s.end : p->src->len;
	buf_init(&line);
	for (uint32_t i = s.start; i < end && line.len < SOURCE_SHOWN;) {
		const char *c = p->src->text + i;
		uint32_t skip = comment_length(c, end - i);
		if (skip || *c == ' ' || *c == '\t' || *c == '\r' || *c == '\n') {
			space = true;
			i += skip ? skip : 1;
			continue;
		}
		if (space && line.len)
			buf_char(&line, ' ');
		space = false;
		buf_char(&line, *c);
		i++;
	}
	while (line.len && line.data[line.len - 1] == ';')
		line.len--;
	buf_safe(out, line.data ? line.data : "", line.len);
	buf_free(&line);
}

/* ---- events ------------------------------------------------------------- */

/* These return how many bytes at the end are the result. */
static size_t event_update(const struct ir *p, const struct ir_event *e, const struct glyphs *g, struct buf *out)
{
	assert(e->ins < p->ncode);
	uint8_t op = p->code[e->ins].op;
	buf_str(out, op == IR_CAS ? "cas(" : op == IR_XCHG ? "exchange(" : "fetch_add(");
	text_variable(p, e->var, e->elem, out);
	buf_char(out, ')');
	size_t at = out->len;
	if (op == IR_CAS) {
		buf_str(out, e->mode == IRA_RMW ? " succeeds" : " fails");
	} else {
		buf_printf(out, " %s ", g->arrow);
		text_value(p, e->var, e->before, out);
	}
	return out->len - at;
}

static size_t event(const struct ir *p, const struct ir_event *e, const struct glyphs *g, struct buf *out)
{
	static const struct {
		uint32_t mode;
		const char *before, *between;
		bool arrow;
	} forms[] = {
		{ IRA_READ, "read ", "", true },
		{ IRA_WRITE, "", " = ", false },
		{ IRA_ACQUIRE, "acquire ", NULL, false },
		{ IRA_RELEASE, "release ", NULL, false },
		{ IRA_READ_INV, "begin read ", NULL, false },
		{ IRA_READ_RESP, "end read ", "", true },
		{ IRA_WRITE_INV, "begin write ", " = ", false },
		{ IRA_WRITE_RESP, "end write ", " = ", false },
	};
	uint8_t op = p->code[e->ins].op;
	if (op == IR_CAS || op == IR_XCHG || op == IR_FADD)
		return event_update(p, e, g, out);
	size_t at = 0;
	for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
		if (forms[i].mode != e->mode)
			continue;
		buf_str(out, forms[i].before);
		text_variable(p, e->var, e->elem, out);
		at = out->len;
		if (forms[i].arrow)
			buf_printf(out, " %s ", g->arrow);
		else if (forms[i].between)
			buf_str(out, forms[i].between);
		if (forms[i].between)
			text_value(p, e->var, e->after, out);
	}
	return at ? out->len - at : 0;
}

/* Accesses that come with others and are not told: to ghosts, and to what the cells of a pool are. */
static bool is_quiet(const struct ir *p, uint32_t var)
{
	bool cell = false;
	for (uint32_t i = 0; i < p->npools; i++)
		cell |= p->pools[i].state == var;
	return cell || p->vars[var].ghost;
}

static size_t events(const struct run *r, const struct run_step *s, const struct glyphs *g, struct buf *out)
{
	assert(s->event + s->nevent <= r->nevents);
	size_t result = 0;
	bool first = true;
	for (uint32_t i = 0; i < s->nevent; i++) {
		if (is_quiet(r->ir, r->events[s->event + i].var))
			continue; /* what became of it is among the changes */
		buf_str(out, first ? "" : "; ");
		first = false;
		result = event(r->ir, &r->events[s->event + i], g, out);
	}
	return s->nevent == 1 ? result : 0;
}

/* One access, and with it quiet ones. */
static bool is_access(const struct run *r, const struct run_step *s)
{
	uint32_t quiet = 0;
	for (uint32_t i = 0; i < s->nevent; i++)
		quiet += is_quiet(r->ir, r->events[s->event + i].var);
	return quiet && s->nevent == quiet + 1;
}

/* ---- steps -------------------------------------------------------------- */

static void operation(const struct ir *p, uint32_t oper, struct buf *out)
{
	assert(oper < p->nopers && p->opers[oper].object < p->nobjects);
	safe(out, p->objects[p->opers[oper].object].name);
	buf_char(out, '.');
	safe(out, p->opers[oper].method);
}

static void invocation(const struct ir *p, const struct run_step *s, struct buf *out)
{
	assert(s->invoked < p->nopers);
	const struct ir_oper *o = &p->opers[s->invoked];
	const struct ir_object *obj = &p->objects[o->object];
	buf_str(out, "call ");
	operation(p, s->invoked, out);
	buf_char(out, '(');
	if (o->nargs)
		value(p, obj->value, obj->enum_id, s->arg, out);
	buf_char(out, ')');
}

static size_t response(const struct ir *p, const struct run_step *s, struct buf *out)
{
	assert(s->responded < p->nopers);
	const struct ir_oper *o = &p->opers[s->responded];
	const struct ir_object *obj = &p->objects[o->object];
	operation(p, s->responded, out);
	buf_str(out, "()");
	size_t at = out->len;
	buf_str(out, " returns");
	if (o->has_result) {
		buf_char(out, ' ');
		value(p, obj->value, obj->enum_id, s->result, out);
	}
	return out->len - at;
}

/* The statement, and what its reads saw. */
static void statement(const struct run *r, const struct run_step *s, const struct glyphs *g, struct buf *out)
{
	bool first = true;
	source(r->ir, r->ir->nodes[s->node].span, out);
	for (uint32_t i = 0; i < s->nevent && i < 4; i++) {
		const struct ir_event *e = &r->events[s->event + i];
		if (e->mode != IRA_READ)
			continue;
		buf_str(out, first ? " (" : ", ");
		first = false;
		text_variable(r->ir, e->var, e->elem, out);
		buf_printf(out, " %s ", g->arrow);
		text_value(r->ir, e->var, e->before, out);
	}
	if (!first)
		buf_char(out, ')');
}

static void primitive(const struct ir *p, const struct ir_node *n, struct buf *out)
{
	buf_str(out, n->primitive == IR_PRIMITIVE_RESUMES ? "resume " : "");
	source(p, n->span, out);
}

/* What a step did; one that went wrong before it did anything that is shown: what it was to do. */
static size_t step_events(const struct run *r, const struct run_step *s, const struct glyphs *g, struct buf *out)
{
	struct buf shown;
	buf_init(&shown);
	size_t result = events(r, s, g, &shown);
	if (!shown.len && s->fault != IRF_NONE)
		source(r->ir, r->ir->nodes[s->node].span, out);
	else
		buf_printf(out, "%s%s", is_access(r, s) ? "" : "step: ", buf_cstr(&shown));
	out->failed |= shown.failed;
	buf_free(&shown);
	return result;
}

/* Returns how many bytes at the end are the step's result. */
static size_t action(const struct run *r, const struct run_step *s, const struct glyphs *g, struct buf *out)
{
	const struct ir *p = r->ir;
	const struct ir_node *n = &p->nodes[s->node];
	switch (n->kind) {
	case IRN_INVOKE:
		if (s->invoked != IR_NONE)
			invocation(p, s, out);
		return 0;
	case IRN_RESPOND:
		return s->responded != IR_NONE ? response(p, s, out) : 0;
	case IRN_START:
		buf_str(out, "start");
		return 0;
	case IRN_STEP:
		if (n->primitive) {
			primitive(p, n, out);
			return 0;
		}
		if (p->sml || !s->nevent || s->nevent > 4) {
			statement(r, s, g, out);
			return 0;
		}
		return step_events(r, s, g, out);
	case IRN_ACCESS:
	case IRN_LOCK:
	case IRN_REGISTER:
		if (n->primitive) {
			primitive(p, n, out);
			return 0;
		}
		if (s->nevent)
			return events(r, s, g, out);
		source(p, n->span, out);
		return 0;
	case IRN_ENTER:
	case IRN_EXIT:
	case IRN_END:
	case IRN_STUCK:
	case IRN_LOCAL:
	case IRN_AWAIT:
		source(p, n->span, out);
		return 0;
	}
	return 0;
}

/* What was picked: the locals it decided, else the alternatives' numbers. The
 * value that a read of a safe or regular variable returned is already shown. */
static void choice(const struct run *r, const struct run_step *s, struct buf *out)
{
	assert(s->pick + s->npick <= r->npicks && s->local + s->nlocal <= r->nlocals);
	bool told = s->npick == 1 && ((s->nevent == 1 && r->events[s->event].mode == IRA_READ_RESP) ||
	                              r->ir->nodes[s->node].primitive); /* whom a signal woke is in the changes */
	for (uint32_t i = 0; i < s->nlocal; i++) {
		buf_str(out, ", ");
		text_local(r->ir, &r->locals[s->local + i], out);
	}
	for (uint32_t i = 0; i < s->npick && !s->nlocal && !told; i++)
		buf_printf(out, i ? ".%u" : ", alternative %u", r->picks[s->pick + i] + 1);
}

/* What else happened: picks, a commit, a fault. */
static void consequences(const struct run *r, const struct run_step *s, struct buf *out)
{
	if (s->npick)
		choice(r, s, out);
	if (s->committed != IR_NONE)
		buf_str(out, ", commits");
	if (s->stuck)
		buf_str(out, ", waits forever");
	if (s->fault != IRF_NONE)
		buf_printf(out, ", fault (%s)", ir_fault_name(s->fault));
}

static void boundary(const struct run *r, const struct run_step *s, const char *in, const char *out_, struct buf *out)
{
	assert((s->entered != IR_NONE) != (s->exited != IR_NONE));
	bool enter = s->entered != IR_NONE;
	buf_printf(out, "%s ", enter ? in : out_);
	safe(out, r->ir->blocks[enter ? s->entered : s->exited].name);
}

static size_t step(const struct run *r, uint32_t i, const struct glyphs *g, const char *in, const char *out_, struct buf *out)
{
	assert(i < r->nsteps);
	const struct run_step *s = &r->steps[i];
	size_t result = 0;
	if (s->entered != IR_NONE || s->exited != IR_NONE)
		boundary(r, s, in, out_, out);
	else
		result = action(r, s, g, out);
	size_t before = out->len;
	consequences(r, s, out);
	return result + out->len - before;
}

void text_step(const struct run *r, uint32_t i, const struct glyphs *g, struct buf *out)
{
	step(r, i, g, "enter", "leave", out);
}

size_t text_step_lane(const struct run *r, uint32_t i, const struct glyphs *g, struct buf *out)
{
	return step(r, i, g, g->top, g->bottom, out);
}

size_t text_changes(const struct run *r, uint32_t i, const struct glyphs *g, bool brief, struct buf *out)
{
	assert(i < r->nsteps && r->steps[i].change + r->steps[i].nchange <= r->nchanges);
	const struct run_step *s = &r->steps[i];
	size_t at = out->len;
	for (uint32_t k = 0; k < s->nchange; k++) {
		const struct run_change *c = &r->changes[s->change + k];
		buf_str(out, k ? ", " : "");
		text_variable(r->ir, c->var, c->elem, out);
		if (!brief) {
			buf_str(out, ": ");
			text_value(r->ir, c->var, c->before, out);
		}
		at = out->len;
		buf_printf(out, " %s ", g->arrow);
		text_value(r->ir, c->var, c->after, out);
	}
	return s->nchange == 1 ? out->len - at : 0;
}

/* ---- waiting ------------------------------------------------------------ */

/* The lock a node acquires; the element only when it is a constant. */
static const struct ir_access *acquired(const struct ir *p, const struct ir_node *n)
{
	for (uint32_t i = 0; i < n->naccess; i++)
		if (p->accesses[n->access + i].mode == IRA_ACQUIRE)
			return &p->accesses[n->access + i];
	return NULL;
}

/* The values now of what a waiting step reads. */
static void wait_values(const struct run *r, const struct ir_node *n, struct buf *out)
{
	bool first = true;
	for (uint32_t i = 0; i < n->naccess && i < 4; i++) {
		const struct ir_access *a = &r->ir->accesses[n->access + i];
		const struct ir_var *v = &r->ir->vars[a->var];
		if (!(a->mode & IRA_READ) || a->index == IR_NONE)
			continue;
		buf_str(out, first ? "; now " : ", ");
		first = false;
		text_variable(r->ir, a->var, a->index, out);
		buf_str(out, " = ");
		text_value(r->ir, a->var, run_now(r)[v->slot + a->index], out);
	}
}

void text_wait(const struct run *r, uint32_t thread, struct buf *out)
{
	assert(thread < r->ir->nthreads);
	const struct ir *p = r->ir;
	const struct ir_node *n = &p->nodes[ir_node_of(p, run_now(r), thread)];
	const struct ir_access *a = acquired(p, n);
	if (n->kind == IRN_END) {
		buf_str(out, "has finished");
		return;
	}
	buf_str(out, n->kind == IRN_STUCK ? "waits forever at line " : "waits at line ");
	buf_printf(out, "%u: ", source_pos(p->src, n->span.start).line);
	source(p, n->span, out);
	if (!a) {
		wait_values(r, n, out);
		return;
	}
	if (a->index == IR_NONE)
		return;
	uint32_t holder = run_holder(r, a->var, a->index);
	buf_str(out, "; ");
	text_variable(p, a->var, a->index, out);
	if (holder == IR_NONE) {
		buf_str(out, " is held");
	} else if (holder == thread) {
		buf_str(out, " is held by the thread itself");
	} else {
		buf_str(out, " is held by ");
		text_who(p, holder, out);
	}
}
