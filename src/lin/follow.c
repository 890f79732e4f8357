#include "lin/follow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/invariant.h"
#include "lin/watch.h"

#define FOLLOW_AHEAD 256 /* records read before the object must be known */

struct open_op {
	struct hop raw, op;
	uint32_t handle;
	bool open;
};

struct follower {
	struct reader r;
	struct interpretation *in;
	uint32_t k;
	struct open_op *procs;
	uint32_t nprocs;
	struct watch *keys;
	uint32_t nkeys, ckeys, nopen, violated;
	uint32_t max_rows;
	proof_text *say;
	struct read_rec *ahead;
	uint32_t nahead;
	struct follow_result *out;
};

/* ---- guessing from the beginning ---------------------------------------------------- */

static bool tells(const struct read_rec *rec)
{
	return rec->kind == REC_INVOKE && rec->fn != FN_READ;
}

/* [key nil], as reads of independent keys are invoked; with `write` any pair
 * that may be [key value]. */
static bool is_pair(const struct values *vs, const struct read_rec *rec, bool write)
{
	uint32_t n = 0;
	const val *e = rec->in == VAL_NONE ? NULL : val_elems(vs, rec->in, &n);
	if (rec->kind != REC_INVOKE || !e || n != 2)
		return false;
	return write ? rec->fn == FN_WRITE || (rec->fn == FN_CAS && val_elems(vs, e[1], &n))
	             : rec->fn == FN_READ && e[1] == VAL_NIL;
}

/* Reads ahead until an operation tells what the object is, and one whether its
 * values are pairs. */
static int look_ahead(struct follower *f)
{
	int more = 1;
	bool told = false, open = false, pairs = f->in->pairs == 0 && !f->r.h->user;
	f->ahead = calloc(FOLLOW_AHEAD, sizeof *f->ahead);
	while (f->ahead && f->nahead < FOLLOW_AHEAD) {
		more = reader_next(&f->r, &f->ahead[f->nahead]);
		if (more <= 0)
			break;
		const struct read_rec *rec = &f->ahead[f->nahead++];
		told |= tells(rec);
		open |= pairs && is_pair(&f->r.h->vals, rec, true);
		if (told && (!open || (rec->kind == REC_INVOKE && rec->fn == FN_READ)))
			break;
	}
	return f->ahead ? more : -1;
}

static void guess(struct follower *f)
{
	struct interpretation *in = f->in;
	struct values *vs = &f->r.h->vals;
	const struct read_rec *told = NULL;
	val first_read = VAL_NONE;
	bool paired = false;
	for (uint32_t i = 0; i < f->nahead; i++) {
		paired |= is_pair(vs, &f->ahead[i], false);
		if (tells(&f->ahead[i]))
			told = told ? told : &f->ahead[i];
		else if (!told && f->ahead[i].kind == REC_OK && first_read == VAL_NONE)
			first_read = f->ahead[i].in;
	}
	if (f->r.h->user) {
		in->object = OBJ_USER;
		in->init = VAL_NIL;
	}
	in->object_guessed = in->object == OBJ_GUESS;
	if (in->object_guessed) {
		struct hop one = { .fn = (uint8_t)(told ? told->fn : FN_READ), .a = VAL_NIL, .b = VAL_NONE };
		struct history h = { .ops = &one, .n = 1, .vals = *vs, .declared = f->r.h->declared };
		bool pairs;
		in->object = history_guess_object(&h, &pairs);
		if (told && told->fn == FN_APPEND && told->in != VAL_NONE && val_kind(vs, told->in) == VK_STR)
			in->object = OBJ_KV;
		if (in->object == OBJ_REGISTER) /* a cas may still come */
			in->object = OBJ_CAS_REGISTER;
	}
	in->paired = in->pairs == 1 || (in->pairs == 0 && paired && !f->r.h->user);
	uint32_t pair;
	const val *e = in->paired && first_read != VAL_NONE ? val_elems(vs, first_read, &pair) : NULL;
	first_read = e && pair == 2 ? e[1] : first_read;
	in->init_guessed = in->init == VAL_NONE;
	if (!in->init_guessed)
		return;
	in->init = object_default_init(in->object, vs);
	if (!object_has(in->object, OBJECT_VALUE))
		return;
	int64_t n;
	if (first_read != VAL_NONE)
		in->init = first_read;
	else if (object_has(in->object, OBJECT_APPENDS))
		in->init = val_text(vs, VK_STR, "", 0);
	else if (told && told->fn == FN_WRITE && told->in != VAL_NONE) {
		e = in->paired ? val_elems(vs, told->in, &pair) : NULL;
		if (val_get_int(vs, e && pair == 2 ? e[1] : told->in, &n))
			in->init = val_int(vs, 0);
	}
}

/* ---- events --------------------------------------------------------------------------- */

static struct open_op *process(struct follower *f, val name)
{
	uint32_t p = proc_intern(f->r.h, name);
	if (!GROW(f->procs, f->nprocs, p + 1ull))
		return NULL;
	return &f->procs[p];
}

static struct watch *watch_of(struct follower *f, uint32_t key)
{
	if (!GROW(f->keys, f->ckeys, key + 1ull))
		return NULL;
	assert(f->nkeys <= f->ckeys);
	struct watch *w = &f->keys[key];
	if (key >= f->nkeys)
		f->nkeys = key + 1;
	return w->open || watch_open(w, f->r.h, f->in, f->k, f->max_rows, f->say) ? w : NULL;
}

/* An error at a record; of one that was read ahead only the line is known. */
static int wrong(struct follower *f, const struct read_rec *rec, const char *code, const char *text)
{
	if (rec->start)
		reader_error(&f->r, rec->start, rec->len, code, "%s", text);
	else
		diag_error(f->r.d, code, history_line(f->r.h, rec->line), (struct span){ 0, 0 }, "%s", text);
	return -2;
}

static int bad_op(struct follower *f, const struct read_rec *rec, const char *why)
{
	char text[256];
	snprintf(text, sizeof text, "%s (checked as a %s)", why, history_object(f->r.h, f->in->object));
	return wrong(f, rec, "bad-operation", text);
}

static int on_invoke(struct follower *f, const struct read_rec *rec, struct open_op *p)
{
	struct why why = { "" };
	struct history *h = f->r.h;
	if (p->open)
		return wrong(f, rec, "two-open-operations", "the process invokes an operation while its previous one is open");
	if (!f->in->paired && f->in->pairs == 0 && !h->user && is_pair(&h->vals, rec, false)) {
		wrong(f, rec, "pairs", "this read is of one key, but the values before were not taken as [key value] pairs");
		diag_hint(f->r.d, "--pairs=yes says that they are, --pairs=no that they are not");
		return -2;
	}
	p->raw = (struct hop){ .fn = (uint8_t)rec->fn,
		               .a = rec->in,
		               .b = VAL_NONE,
		               .ret = RANK_INF,
		               .line = rec->line,
		               .proc = proc_intern(h, rec->proc) };
	p->raw.key = rec->has_key ? key_intern(h, rec->key) : 0;
	p->op = p->raw;
	if (hop_interpret(h, f->in, &p->op, &why) < 0)
		return bad_op(f, rec, why.text);
	if (f->k > 1 && p->op.fn != FN_READ && p->op.fn != FN_WRITE)
		return wrong(f, rec, "not-a-register", "k-atomicity is defined only for registers with reads and writes");
	struct watch *w = watch_of(f, p->op.key);
	p->handle = w ? watch_call(w, &p->op) : RANK_INF;
	p->open = true;
	f->out->ops++;
	f->nopen++;
	f->out->max_open = f->nopen > f->out->max_open ? f->nopen : f->out->max_open;
	return p->handle == RANK_INF ? -1 : 1;
}

static int on_response(struct follower *f, const struct read_rec *rec, struct open_op *p)
{
	if (!p->open || p->raw.fn != rec->fn) {
		return wrong(f, rec, p->open ? "response-mismatch" : "response-without-invocation",
		             p->open ? "the open operation of the process is another one"
		                     : "a response, but the process has no open operation");
	}
	struct watch *w = &f->keys[p->op.key];
	f->violated = p->op.key;
	p->open = false;
	f->nopen--;
	if (rec->kind == REC_INFO)
		return watch_crash(w, p->handle);
	struct why why = { "" };
	struct hop op = p->raw;
	op.ret = 0;
	op.b = rec->in;
	op.flags = rec->kind == REC_FAIL ? HF_FAILED : 0;
	int keep = hop_interpret(f->r.h, f->in, &op, &why);
	if (keep < 0)
		return bad_op(f, rec, why.text);
	f->out->completed++;
	bool observer = op.fn == FN_READ || op.fn == FN_PEEK || op.fn == FN_CONTAINS;
	if (!keep)
		return observer ? watch_crash(w, p->handle) : watch_fail(w, p->handle, rec->line);
	return watch_return(w, p->handle, &op, rec->line);
}

static int on_record(struct follower *f, const struct read_rec *rec)
{
	if (rec->kind == REC_OP) {
		return wrong(f, rec, "not-events", "--follow needs invocations and responses as they happen, not whole operations");
	}
	struct open_op *p = process(f, rec->proc);
	if (!p)
		return -1;
	f->out->line = rec->line;
	int ok = rec->kind == REC_INVOKE ? on_invoke(f, rec, p) : on_response(f, rec, p);
	if ((f->out->ops & 0xFFF) == 0 && lim_spent(f->r.h->lim))
		ok = ok > 0 ? -1 : ok;
	return ok;
}

/* Every key that is not judged event by event. */
static int settle(struct follower *f)
{
	int ok = 1;
	for (uint32_t i = 0; i < f->nkeys && ok > 0; i++) {
		f->violated = i;
		ok = watch_settle(&f->keys[i]);
	}
	return ok;
}

/* While nothing is there to read: what is due is judged. */
static int idle(struct follower *f)
{
	int64_t wait = -1;
	if (f->nkeys && input_idle(&f->r.in, 0))
		for (uint32_t i = 0; i < f->nkeys; i++) {
			int64_t due = watch_due(&f->keys[i]);
			wait = due > wait ? due : wait;
		}
	return wait >= 0 && input_idle(&f->r.in, wait) ? settle(f) : 1;
}

/* The result, when all is read. */
static void conclude(struct follower *f, int ok)
{
	assert(ok || f->violated < f->nkeys);
	struct follow_result *out = f->out;
	out->verdict = ok > 0 ? LIN_HOLDS : ok == 0 ? LIN_VIOLATED : LIN_UNKNOWN;
	if (!ok) {
		struct watch *w = &f->keys[f->violated];
		const struct logged *l = watch_culprit(w);
		assert(l);
		out->culprit = l->op;
		out->line = l->line;
		out->sentence = watch_explain(w);
	}
	for (uint32_t i = 0; i < f->nkeys; i++) {
		out->peak = f->keys[i].peak > out->peak ? f->keys[i].peak : out->peak;
		out->recorded += f->keys[i].open && !f->keys[i].monitored;
		if (f->keys[i].open)
			watch_close(&f->keys[i]);
	}
}

bool follow(struct history *h, const char *path, const struct read_options *o, struct interpretation *in, uint32_t k,
            uint32_t max_rows, proof_text *say, struct diags *d, struct follow_result *out)
{
	struct reader r;
	memset(out, 0, sizeof *out);
	out->verdict = LIN_UNKNOWN;
	if (reader_open(&r, h, path, o->format, d))
		return follow_opened(&r, in, k, max_rows, say, out);
	reader_close(&r);
	return false;
}

bool follow_opened(struct reader *r, struct interpretation *in, uint32_t k, uint32_t max_rows, proof_text *say,
                   struct follow_result *out)
{
	struct follower f = { .r = *r, .in = in, .k = k, .say = say, .max_rows = max_rows ? max_rows : WATCH_ROWS, .out = out };
	struct history *h = r->h;
	struct diags *d = r->d;
	memset(out, 0, sizeof *out);
	out->verdict = LIN_UNKNOWN;
	int ok = 1, more = look_ahead(&f);
	if (more < 0)
		ok = -2;
	if (ok > 0)
		guess(&f);
	if (ok > 0 && !h->user && object_has(in->object, OBJECT_CHOOSES)) {
		diag_error(d, "bad-object", NULL, (struct span){ 0, 0 },
		           "--follow cannot check a %s: which element was taken is known only when the operation answers",
		           object_names[in->object]);
		diag_hint(d, "check the recorded history without --follow");
		ok = -2;
	}
	if (ok > 0 && (in->init_guessed ? init_missing(h, in, d) : !h->user && !init_fits(h, in, d)))
		ok = -2;
	in->nil_any = in->nil_reads == 2 || (in->nil_reads == 0 && in->init != VAL_NIL);
	for (uint32_t i = 0; i < f.nahead && ok > 0; i++) {
		f.ahead[i].start = NULL; /* the text is gone */
		ok = on_record(&f, &f.ahead[i]);
	}
	struct read_rec rec;
	while (ok > 0 && more > 0) {
		if ((ok = idle(&f)) <= 0)
			break;
		more = reader_next(&f.r, &rec);
		ok = more > 0 ? on_record(&f, &rec) : more < 0 ? -2 : ok;
	}
	if (ok > 0)
		ok = settle(&f);
	conclude(&f, ok);
	free(f.keys);
	free(f.procs);
	free(f.ahead);
	reader_close(&f.r);
	return ok != -2;
}
