/*
 * hover: what is under the cursor: a declaration as written, with its kind and value; of a shared variable the locks that protect it at
 * each access (protection.h); of an atomic block its verdict and the reason, once it has been checked, and before that what
 * reduction alone says. Markdown, which reads as plain text, too.
 */
#include <string.h>

#include "base/invariant.h"
#include "lsp/protection.h"
#include "lsp/server.h"
#include "reduce/reduce.h"

enum { MAX_ACCESSES = 20, MAX_DECLARATION = 400, MAX_REDUCED = 200000 /* nodes of a program, while the editor waits */ };

/* ---- declarations ------------------------------------------------------------------------------- */

/* A piece of the text on one line. */
static void put_text(struct buf *out, const struct document *d, uint32_t start, uint32_t end)
{
	const char *s = buf_cstr(&d->text.bytes);
	bool blank = false;
	uint32_t limit = end > start + MAX_DECLARATION ? start + MAX_DECLARATION : end;
	for (uint32_t i = start; i < limit && i < d->text.bytes.len; i++) {
		bool white = s[i] == ' ' || s[i] == '\t' || s[i] == '\n' || s[i] == '\r';
		if (white) {
			blank = true;
			continue;
		}
		if (blank)
			buf_char(out, ' ');
		blank = false;
		buf_char(out, s[i]);
	}
	if (limit < end)
		buf_str(out, " ...");
}

static void put_declaration(struct buf *out, const struct document *d, const struct decl *x)
{
	uint32_t end = x->span.end;
	static const char *const classes[] = { [VAR_PLAIN] = "", [VAR_SAFE] = "safe ", [VAR_REGULAR] = "regular " };
	switch (x->kind) {
	case D_VAR:
		buf_str(out, classes[x->var_class]);
		if (x->type && x->type->span.start < x->name_span.start) {
			put_text(out, d, x->type->span.start, x->type->span.end);
			buf_char(out, ' ');
		} else {
			buf_str(out, "int "); /* a local of SML */
		}
		put_text(out, d, x->name_span.start, end);
		break;
	case D_PROC:
	case D_THREAD:
		put_text(out, d, x->span.start,
		         x->body && x->body->span.start > x->name_span.end ? x->body->span.start : x->name_span.end);
		break;
	case D_OBJECT:
		buf_str(out, "object ");
		put_text(out, d, x->name_span.start, x->spec_type ? x->spec_type->span.end + 1 : x->name_span.end);
		break;
	default:
		put_text(out, d, x->span.start, end);
		break;
	}
}

static void put_kind(struct buf *out, const struct decl *x, const struct document *d)
{
	bool lock = x->type && x->type->kind >= TY_LOCK;
	switch (x->kind) {
	case D_VAR:
		buf_str(out, lock                           ? "synchronisation object"
		             : x->is_member                 ? "field of a struct"
		             : x->is_param                  ? "parameter"
		             : x->is_field                  ? "field, shared by all threads"
		             : x->is_thread_local           ? "variable of each thread"
		             : x->is_ghost                  ? "ghost variable, for specifications only"
		             : !x->is_shared                ? "local variable"
		             : d->language == DOCUMENT_SPEC ? "variable of the specification"
		                                            : "shared variable");
		if (x->type && x->type->kind == TY_INT && x->type->ranged)
			buf_printf(out, ", values %d to %d", x->type->min, x->type->max);
		break;
	case D_CONST:
		buf_printf(out, "constant, %lld", (long long)x->value);
		break;
	case D_ENUM:
		if (x->is_pool)
			buf_printf(out, "pool of %lld cells; the type of references to them", (long long)x->value - 1);
		else
			buf_printf(out, "enum of %lld values", (long long)x->value);
		break;
	case D_STRUCT:
		buf_str(out, "struct");
		break;
	case D_ENUMERATOR:
		buf_printf(out, "enumerator, number %lld", (long long)x->value);
		break;
	case D_PROC:
		buf_str(out, x->owner || d->language == DOCUMENT_SPEC ? "operation" : "procedure");
		break;
	case D_THREAD:
		buf_printf(out, "thread, started %lld time%s", (long long)x->value, x->value == 1 ? "" : "s");
		break;
	case D_PROPERTY:
		break; /* has no name */
	case D_OBJECT:
		buf_str(out, d->language == DOCUMENT_SPEC ? "the object that is specified" : "object");
		break;
	}
}

/* ---- locks ---------------------------------------------------------------------------------------- */

static const char *mode_text(uint32_t modes)
{
	bool reads = modes & (IRA_READ | IRA_READ_INV | IRA_READ_RESP);
	bool writes = modes & (IRA_WRITE | IRA_WRITE_INV | IRA_WRITE_RESP);
	return modes & IRA_ACQUIRE   ? "acquired"
	       : modes & IRA_RELEASE ? "released"
	       : reads && writes     ? "read and written"
	       : writes              ? "written"
	                             : "read";
}

static void put_accesses(struct buf *out, const struct lsp_call *c, const struct protection *pr)
{
	uint32_t here = text_pos(&c->doc->text, c->offset).line;
	for (uint32_t i = 0; i < pr->accesses.len && i < MAX_ACCESSES; i++) {
		const struct protected_access *x = &pr->accesses.data[i];
		uint32_t line = text_pos(&c->doc->text, x->span.start).line;
		buf_printf(out, "\n- line %u: %s, holding ", line + 1, mode_text(x->modes));
		protection_locks(pr, x->set, out);
		if (line == here)
			buf_str(out, " (this line)");
	}
	if (pr->accesses.len > MAX_ACCESSES)
		buf_printf(out, "\n- and at %u more places", pr->accesses.len - MAX_ACCESSES);
}

static void put_protection(struct buf *out, const struct lsp_call *c, const struct decl *x, struct arena *a)
{
	const struct ir *p = c->a->lang.ir;
	struct protection pr;
	jmp_buf oom;
	if (x->kind != D_VAR || !x->is_shared || !p || c->doc->language == DOCUMENT_SPEC || x->type->kind > TY_LOCK ||
	    x->id >= p->nvars)
		return;
	if (setjmp(oom)) {
		buf_str(out, "\n\nNot enough memory to find the locks that protect it.");
		return;
	}
	a->oom = &oom;
	if (!protection_find(&pr, p, x->id, a)) {
		buf_str(out, "\n\nThe model is too large to find the locks that protect it here.");
		return;
	}
	bool lock = x->type->kind == TY_LOCK;
	buf_str(out, "\n\n");
	if (!pr.accesses.len) {
		buf_str(out, "No thread accesses it.");
	} else if (lock) {
		buf_str(out, "Uses, with what is held before:");
	} else if (pr.thread != IR_NONE) {
		buf_printf(out, "Only the thread `%s` accesses it.", p->templates[pr.thread].name);
	} else if (!pr.written) {
		buf_str(out, "No thread writes it.");
	} else if (pr.common == HELD_LOCKS_NONE) {
		buf_str(out, "No lock is held at every access:");
	} else {
		buf_str(out, "Protected by ");
		protection_locks(&pr, pr.common, out);
		buf_str(out, ", held at every access:");
	}
	put_accesses(out, c, &pr);
}

/* ---- blocks ----------------------------------------------------------------------------------------- */

/* The answer about this block in the results of checks; its number in *i. */
static const struct intact_document *find_answer(const struct document *d, const char *name, size_t *i)
{
	for (uint32_t k = d->nresults; k-- > 0;)
		for (*i = 0; *i < intact_document_answers(d->results[k].doc); ++*i)
			if (!strcmp(intact_answer_name(d->results[k].doc, *i), name))
				return d->results[k].doc;
	return NULL;
}

static void put_answer(struct buf *out, const struct intact_document *r, size_t i)
{
	assert(i < intact_document_answers(r));
	static const char *const words[] = { [INTACT_HOLDS] = "atomic",
		                             [INTACT_VIOLATED] = "not atomic",
		                             [INTACT_MISUSED] = "unknown",
		                             [INTACT_UNKNOWN] = "unknown" };
	buf_printf(out, "**%s**", words[intact_answer_verdict(r, i)]);
	if (*intact_answer_engine(r, i))
		buf_printf(out, " (%s)", intact_answer_engine(r, i));
	if (*intact_answer_message(r, i))
		buf_printf(out, ": %s", intact_answer_message(r, i));
	size_t n = intact_answer_steps(r, i);
	if (n)
		buf_str(out, "\n\nThe run:");
	for (size_t k = 0; k < n && k < MAX_ACCESSES; k++)
		buf_printf(out, "\n%zu. `%s`: `%s` (line %u)", k + 1, step_who(r, i, k), intact_step_text(r, i, k),
		           intact_step_line(r, i, k));
	if (n > MAX_ACCESSES)
		buf_printf(out, "\n\n%zu more steps: use \"show the run\".", n - MAX_ACCESSES);
}

static void put_reduction(struct buf *out, const struct reduce_result *r, uint32_t block)
{
	if (r->out_of_memory || block >= r->nblocks)
		buf_str(out, "not checked yet");
	else if (r->blocks[block].reducible)
		buf_printf(out, "**atomic** (reduction)%s", r->blocks[block].any ? ", for any number of threads" : "");
	else
		buf_printf(out, "not checked yet; reduction alone does not decide: %s",
		           r->blocks[block].why ? r->blocks[block].why : "no reason known");
}

static bool hover_block(struct buf *out, const struct lsp_call *c, struct span *at)
{
	const struct ir *p = c->a->lang.ir;
	const struct stmt *s = NULL;
	struct reduce_result r;
	bool any = false;
	for (uint32_t i = 0; i < c->a->symbols.blocks.len && !s; i++) {
		const struct stmt *b = c->a->symbols.blocks.data[i];
		bool on_word = c->offset >= b->head.start && c->offset <= b->head.end;
		bool on_name = b->name && c->offset >= b->name_span.start && c->offset <= b->name_span.end;
		if (on_word || on_name)
			s = b;
	}
	if (!s || !p)
		return false;
	*at = s->name ? (struct span){ s->head.start, s->name_span.end } : s->head;
	if (p->nnodes <= MAX_REDUCED)
		reduce_run(p, &r);
	else
		r = (struct reduce_result){ .out_of_memory = true };
	for (uint32_t b = 0; b < p->nblocks; b++) {
		struct buf name;
		size_t i;
		if (p->blocks[b].span.start != s->head.start)
			continue;
		buf_init(&name);
		buf_printf(&name, "%s.%s", p->templates[p->blocks[b].tmpl].name, p->blocks[b].name);
		const struct intact_document *r2 = find_answer(c->doc, buf_cstr(&name), &i);
		buf_printf(out, "%sblock `%s`: ", any ? "\n\n" : "", buf_cstr(&name));
		any = true;
		if (r2)
			put_answer(out, r2, i);
		else
			put_reduction(out, &r, b);
		buf_free(&name);
	}
	reduce_result_free(&r);
	return any;
}

/* ---- the request -------------------------------------------------------------------------------------- */

static bool hover_name(struct buf *out, const struct lsp_call *c, struct span *at, struct arena *a)
{
	const struct use *u = symbols_at(&c->a->symbols, c->offset);
	if (!u || !u->decl)
		return false;
	*at = u->span;
	buf_str(out, "```atm\n");
	put_declaration(out, c->doc, u->decl);
	buf_str(out, "\n```\n");
	put_kind(out, u->decl, c->doc);
	put_protection(out, c, u->decl, a);
	return true;
}

/* Without the marks of Markdown. */
static void plain(struct buf *text)
{
	struct buf out;
	buf_init(&out);
	for (const char *s = buf_cstr(text); *s; s++) {
		if (!strncmp(s, "```", 3)) {
			s += strcspn(s, "\n");
			if (!*s)
				break;
			continue;
		}
		if (*s != '`' && strncmp(s, "**", 2) != 0 && !(s > text->data && !strncmp(s - 1, "**", 2)))
			buf_char(&out, *s);
	}
	buf_free(text);
	*text = out;
}

void on_hover(struct lsp *s, const struct lsp_call *c)
{
	struct buf text;
	struct arena a;
	struct span at = { 0, 0 };
	buf_init(&text);
	arena_init(&a, (size_t)256 << 20);
	if (!hover_block(&text, c, &at) && !hover_name(&text, c, &at, &a)) {
		reply_null(s, c->id);
	} else {
		assert(at.end <= c->a->len);
		if (!s->markdown)
			plain(&text);
		struct json_out *j = reply_begin(s, c->id);
		json_begin_object(j, "result");
		json_begin_object(j, "contents");
		json_text(j, "kind", s->markdown ? "markdown" : "plaintext");
		json_text_buf(j, "value", &text);
		json_end(j);
		put_range(j, "range", &c->doc->text, at);
		json_end(j);
		reply_end(s);
	}
	arena_free(&a);
	buf_free(&text);
}
