/*
 * history: see history.h. Each file has an arena and limits of its own; out-of-memory longjmps return to with_file.
 */
#include "judge/history.h"

#include <jansson.h>

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/invariant.h"
#include "history/read.h"
#include "judge/document.h"
#include "judge/transactions.h"
#include "judge/txn_follow.h"
#include "lang/spec.h"
#include "lin/check.h"
#include "lin/follow.h"
#include "report/history_json.h"
#include "report/history_text.h"
#include "verify/verify.h"
#include "report/claim_list.h"

const char *const history_orders[] = { "strict", "lines", "time", NULL };
const char *const history_nils[] = { "guess", "value", "any", NULL };
const char *const history_failed_cas[] = { "drop", "unequal", NULL };
const char *const history_pairs[] = { "guess", "yes", "no", NULL };

_Static_assert((int)FORMAT_OF_RECORDED == (int)FORMAT_JSON, "what intact_history_save writes");

/* The history at hand, and what is wanted of it. */
struct history_job {
	struct history_run *run;
	struct history *h;
	struct diags *d;
	const char *path; /* or the name of `text` */
	const char *text; /* NULL: the file is read */
	size_t len;
	bool (*make)(void *arg, struct history *h); /* history_judge_made */
	void *make_arg;
	const char *report; /* history_hold */
	struct claim_list *claims;
	int to; /* history_convert */
	struct buf *out;
	bool (*flush)(void *arg, struct buf *b);
	void *flush_arg;
};

struct history_run {
	const struct history_args *a;
	const struct history_sink *sink;
	struct lin_check_options opts;
	struct limits lim;
	uint64_t memory;            /* at most; found out once */
	struct lang lang;           /* of a->spec */
	const struct seqspec *spec; /* or NULL */
	bool following;             /* transactions that are being written */
	bool beginning;             /* of them, and more is to come */
	uint32_t followed;          /* ... the line that made them violated, or 0 */
};

/* ---- options ---------------------------------------------------------------------- */

static bool parse_k(const struct history_args *a, struct lin_check_options *o)
{
	const char *k = a->k;
	o->k = 1;
	if (!k)
		return true;
	o->k_min = !strcmp(k, "min");
	char *end;
	unsigned long n = strtoul(k, &end, 10);
	if (o->k_min)
		return true;
	o->k = (uint32_t)n;
	assert(!o->k_min);
	return *k >= '0' && *k <= '9' && !*end && n >= 1 && n <= 1000000;
}

/* What cannot be combined with --spec, or NULL. */
static const char *spec_conflict(const struct history_args *a)
{
	if (!a->spec)
		return NULL;
	if (a->object != OBJ_GUESS || a->init)
		return "--spec defines the object and its initial state: it cannot be combined with --object and --init";
	if (a->condition == COND_REGULAR || a->condition == COND_SAFE || a->k || a->delta)
		return "regular, safe, --k and --delta apply to registers, not to --spec";
	return NULL;
}

const char *history_args_wrong(const struct history_args *a, struct why *why)
{
	struct lin_check_options o = { 0 };
	if (!parse_k(a, &o))
		return "--k: expected a positive integer or min";
	if ((o.k > 1 || o.k_min || a->delta) && a->condition != COND_ATOMIC)
		return "--k and --delta require --condition=atomic";
	if (a->delta && (o.k > 1 || o.k_min))
		return "--delta and --k cannot be combined";
	if (a->algorithm != ALG_AUTO && a->condition != COND_ATOMIC)
		return "--algorithm requires --condition=atomic; each other condition has one algorithm";
	if (a->algorithm != ALG_AUTO && o.k_min)
		return "--k=min selects the algorithms itself";
	if (a->sessions && a->realtime)
		return "--sessions and --realtime cannot be combined";
	if (a->shards && a->condition == COND_SEQUENTIAL)
		return "--shard divides a history by its keys; sequential consistency is about all of them together";
	const char *level = transactions_args_wrong(a, why);
	return level ? level : spec_conflict(a);
}

const char *history_follow_wrong(const struct history_args *a)
{
	struct lin_check_options o = { 0 };
	if (a->condition != COND_ATOMIC || a->delta || (parse_k(a, &o) && o.k_min))
		return "--follow checks atomicity (or --k=N) of one history";
	if (a->algorithm != ALG_AUTO && a->algorithm != ALG_BFS)
		return "--follow uses its own algorithm (bfs)";
	return NULL;
}

bool history_writes(int format)
{
	assert(format >= FORMAT_GUESS && format <= FORMAT_TXN_CSV);
	return format != FORMAT_GUESS && format < FORMAT_VIOLIN;
}

/* a->spec: loads it; false after a message. */
static bool load_spec(struct history_run *run)
{
	if (!run->a->spec)
		return true;
	run->spec = lang_load_spec(&run->lang, run->a->spec);
	if (!run->spec) {
		if (run->lang.out_of_memory)
			buf_str(run->sink->err, "intact history: out of memory while reading the specification\n");
		diags_render(&run->lang.diags, run->sink->err, run->sink->color_err);
	}
	return run->spec != NULL;
}

struct history_run *history_run_new(const struct history_args *a, const struct history_sink *to)
{
	assert(a && to && to->err);
	struct history_run *run = calloc(1, sizeof *run);
	if (!run)
		return NULL;
	run->a = a;
	run->sink = to;
	lang_init(&run->lang);
	if (!parse_k(a, &run->opts) || !load_spec(run)) {
		history_run_free(run);
		return NULL;
	}
	run->opts.condition = (enum condition)a->condition;
	run->opts.algorithm = (enum algorithm)a->algorithm;
	run->opts.delta = a->delta;
	run->opts.order = a->witness || to->results || to->judged;
	run->opts.jobs = (uint32_t)a->jobs;
	run->opts.shard = a->shard;
	run->opts.shards = a->shards;
	return run;
}

void history_run_free(struct history_run *run)
{
	if (!run)
		return;
	lang_free(&run->lang);
	free(run);
}

bool history_run_chooses(const struct history_run *run)
{
	return run->spec && run->spec->choices;
}

/* ---- limits ------------------------------------------------------------------------ */

static uint64_t default_memory(void)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return pages > 0 && size > 0 ? (uint64_t)pages / 10 * 8 * (uint64_t)size : 0;
}

static void start_limits(struct history_run *run)
{
	struct timespec ts;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	memset(&run->lim, 0, sizeof run->lim);
	run->lim.tick = run->sink->tick;
	run->lim.tick_arg = run->sink->tick_arg;
	if (!run->memory)
		run->memory = run->a->max_memory ? run->a->max_memory : default_memory();
	run->lim.max_memory = run->memory;
	if (run->a->timeout)
		run->lim.deadline_ns = (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec + (int64_t)run->a->timeout * 1000000000;
}

/* ---- one history -------------------------------------------------------------------- */

/* --init: whatever reads as EDN or JSON; a bare word is a string. */
static bool parse_init(const struct history_run *run, struct history *h, val *init)
{
	const char *s = run->a->init;
	*init = VAL_NONE;
	if (!s)
		return true;
	size_t len = strlen(s);
	struct form f = { .p = s, .end = s + len, .last = true, .vals = &h->vals };
	if (len && form_value(&f, init, 1) == FORM_OK && f.p == f.end && val_kind(&h->vals, *init) != VK_WORD)
		return true;
	if (len && strchr("[({\"", *s)) {
		buf_printf(run->sink->err, "intact history: --init: '");
		buf_safe(run->sink->err, s, len);
		buf_str(run->sink->err, "' is not a value: expected 3, nil, \"text\" or [1 2]\n");
		return false;
	}
	*init = val_text(&h->vals, VK_STR, s, len);
	return true;
}

static int exit_of(enum lin_verdict v)
{
	assert(v <= LIN_REFUSED);
	static const int code[] = { EXIT_HOLDS, EXIT_VIOLATED, EXIT_UNKNOWN, EXIT_USAGE };
	return code[v];
}

static int spent(struct history_run *run, const char *name)
{
	assert(history_limit(&run->lim));
	struct buf *out = run->sink->text, *json = judge_next(run->sink->results);
	const char *limit = history_limit(&run->lim);
	if (json)
		history_spent_json(name, limit, run->a->shards ? run->a->shard + 1 : 0, run->a->shards, json);
	if (out)
		history_spent_text(name, limit, out);
	return EXIT_UNKNOWN;
}

static int refused(const struct history_run *run, const struct history *h, const struct check *c, enum object o)
{
	assert(c->nparts);
	for (uint32_t i = 0; i < c->nparts; i++) {
		const struct result *r = &c->parts[i].r;
		if (r->verdict != LIN_REFUSED)
			continue;
		struct buf *err = run->sink->err;
		buf_safe(err, h->name, strlen(h->name));
		if (run->a->condition != COND_ATOMIC || run->a->algorithm == ALG_AUTO)
			buf_printf(err, ": %s", r->why);
		else
			buf_printf(err, ": --algorithm=%s cannot check this history: %s", algorithm_names[run->a->algorithm],
			           r->why);
		for (int k = 0; k < 2; k++)
			if (r->refused[k] != RANK_INF) {
				buf_str(err, "\n  ");
				hop_print(h, &h->ops[r->refused[k]], o, err);
			}
		buf_str(err, "\n");
		break;
	}
	return EXIT_USAGE;
}

static struct interpretation interpretation_of(const struct history_args *a, val init)
{
	return (struct interpretation){
		.object = (enum object)a->object, .init = init, .nil_reads = a->nil, .failed_cas = a->failed_cas, .pairs = a->pairs
	};
}

/* A history that says nothing is not right: nothing was judged. */
static int nothing_to_judge(const struct history *h, const char *name, uint32_t records, struct diags *d)
{
	if (!records && h->nskipped)
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 },
		           "%s: no operation to check: only %u record%s or line%s of non-clients (read as %s)", name, h->nskipped,
		           h->nskipped == 1 ? "" : "s", h->nskipped == 1 ? "" : "s", h->format);
	else if (!records)
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 },
		           "%s: no operation to check: the history is empty (read as %s)", name, h->format);
	else
		diag_error(d, "no-operations", NULL, (struct span){ 0, 0 },
		           "%s: no operation to check: all %u failed, or never returned and constrain nothing", name, records);
	diag_hint(d, records ? "a history needs at least one read or removal that returned"
	                     : "--format=NAME sets the format if the guess is wrong");
	return EXIT_USAGE;
}

/* Transactions are judged apart; a specification is about objects. */
static bool is_transactions(const struct history_job *j, struct reader *r)
{
	bool looks = txn_sniff(r); /* and finds the format */
	return !j->run->a->spec && (looks || j->run->a->level);
}

/* The history is an object's, and an option is about transactions: it would be ignored. */
static bool misplaced(const struct history_job *j, struct reader *r)
{
	const char *option = transactions_option(j->run->a);
	if (!option)
		return false;
	diag_error(j->d, "transactions", NULL, (struct span){ 0, 0 },
	           "%s: %s is about transactions, but these are operations on an object", r->in.name, option);
	diag_hint(j->d, "without it the history is checked; docs/transactions.md says what a transaction looks like");
	reader_close(r);
	return true;
}

static int transactions(const struct history_job *j, struct reader *r, val init)
{
	assert(!j->run->a->spec);
	struct history_run *run = j->run;
	if (run->a->shards) {
		diag_error(j->d, "transactions", NULL, (struct span){ 0, 0 },
		           "%s: --shard divides a history by its keys, and transactions are about several keys", r->in.name);
		diag_hint(j->d, "without it the history is checked; -j shares the levels among threads");
		reader_close(r);
		return EXIT_USAGE;
	}
	struct transactions_job t = { .a = run->a,
		                      .sink = run->sink,
		                      .lim = &run->lim,
		                      .h = j->h,
		                      .d = j->d,
		                      .init = init,
		                      .following = run->following,
		                      .beginning = run->beginning,
		                      .followed = run->followed };
	int rc = transactions_judge(&t, r);
	reader_close(r);
	return rc == EXIT_UNKNOWN && !t.said ? spent(run, j->path) : rc;
}

static bool read_history(const struct history_job *j, const struct read_options *ro)
{
	return j->text ? history_read_text(j->h, j->path, j->text, j->len, ro, j->d) : history_read(j->h, j->path, ro, j->d);
}

static void say(const struct history_run *run, const struct history *h, const struct interpretation *in, const struct check *c)
{
	assert(run->sink->text);
	struct history_told told;
	history_told_make(&told, h->arena, h, in, &run->opts, c);
	history_text(&told, run->sink->color, run->sink->text);
	if (run->a->witness)
		history_orders_text(h, in, &run->opts, c, run->sink->text);
}

/* Of a file or a text. False: that was all, with the exit code *rc. */
static bool read_or_end(const struct history_job *j, val init, int *rc)
{
	struct history_run *run = j->run;
	const struct history_args *a = run->a;
	struct read_options ro = { (enum format)a->format, (enum read_order)a->order, a->delta, !a->delta };
	struct reader r;
	*rc = EXIT_USAGE;
	if (!(j->text ? reader_open_text(&r, j->h, j->path, j->text, j->len, ro.format, j->d)
	              : reader_open(&r, j->h, j->path, ro.format, j->d))) {
		reader_close(&r);
		return false;
	}
	if (is_transactions(j, &r)) {
		*rc = transactions(j, &r, init);
		return false;
	}
	if (misplaced(j, &r))
		return false;
	if (history_read_opened(&r, &ro))
		return true;
	*rc = j->d->errors ? EXIT_USAGE : spent(run, j->path);
	return false;
}

static int judge_job(const struct history_job *j)
{
	struct history_run *run = j->run;
	struct history *h = j->h;
	const struct history_args *a = run->a;
	val init;
	int rc;
	if (!parse_init(run, h, &init))
		return EXIT_USAGE;
	if (j->make) {
		h->name = j->path;
		if (!j->make(j->make_arg, h))
			return atomic_load(&run->lim.spent) ? spent(run, j->path) : EXIT_USAGE;
	} else if (!read_or_end(j, init, &rc)) {
		return rc;
	}
	struct interpretation in = interpretation_of(a, init);
	uint32_t records = h->n;
	if (!history_interpret(h, &in, j->d))
		return EXIT_USAGE;
	if (!h->n)
		return nothing_to_judge(h, j->path, records, j->d);
	struct check c;
	if (!lin_check(h, &in, &run->opts, &c)) {
		check_free(&c, h);
		return spent(run, j->path);
	}
	if (c.verdict == LIN_REFUSED) {
		rc = refused(run, h, &c, in.object);
	} else {
		rc = exit_of(c.verdict);
		if (run->sink->judged)
			run->sink->judged(run->sink->judged_arg, h, &c);
		struct buf *json = run->sink->bad_only && rc == EXIT_HOLDS ? NULL : judge_next(run->sink->results);
		if (json)
			history_json(h, &in, &run->opts, &c, a->witness, part_order, json);
		if (run->sink->text && !run->sink->quiet)
			say(run, h, &in, &c);
	}
	check_free(&c, h);
	return rc;
}

/* ---- one that is being written, checked against a report, converted ------------------------ */

static void say_follow(const struct history_run *run, const char *path, const struct history *h, const struct interpretation *in,
                       const struct follow_result *f)
{
	assert(f->verdict != LIN_REFUSED);
	struct buf *json = judge_next(run->sink->results), init, culprit;
	buf_init(&init);
	buf_init(&culprit);
	val_print(&h->vals, in->init, &init);
	if (f->verdict == LIN_VIOLATED)
		hop_print(h, &f->culprit, in->object, &culprit);
	struct history_followed told = { .object = history_object(h, in->object),
		                         .init = h->user ? NULL : buf_cstr(&init),
		                         .object_guessed = in->object_guessed,
		                         .init_guessed = in->init_guessed,
		                         .verdict = f->verdict,
		                         .culprit = f->verdict == LIN_VIOLATED ? buf_cstr(&culprit) : NULL,
		                         .sentence = f->sentence,
		                         .limit = history_limit(&run->lim),
		                         .line = f->line,
		                         .open = f->max_open,
		                         .configurations = f->peak,
		                         .operations = f->ops,
		                         .completed = f->completed };
	if (json)
		history_followed_json(path, h, in, &told, json);
	if (run->sink->text)
		history_followed_text(&told, run->sink->text);
	buf_free(&init);
	buf_free(&culprit);
}

static int with_file(struct history_run *run, struct history_job *j, int (*f)(const struct history_job *));

/* A beginning of a history of transactions; silent, or with the report. `line`: the last one, when it made the difference. */
static int judge_beginning(void *arg, const char *text, size_t len, uint32_t line, bool tell)
{
	const struct history_job *j = arg;
	struct history_run *run = j->run;
	const struct history_sink *sink = run->sink;
	struct buf nowhere;
	buf_init(&nowhere);
	struct history_sink silent = { .err = &nowhere, .quiet = true, .tick = sink->tick, .tick_arg = sink->tick_arg };
	run->sink = tell ? sink : &silent;
	run->following = true;
	run->beginning = !tell;
	run->followed = line;
	int rc = with_file(run, &(struct history_job){ .path = j->path, .text = text, .len = len }, judge_job);
	run->following = run->beginning = false;
	run->sink = sink;
	buf_free(&nowhere);
	return rc;
}

static int follow_job(const struct history_job *j)
{
	struct history_run *run = j->run;
	struct follow_result f;
	struct reader r;
	val init;
	if (!parse_init(run, j->h, &init))
		return EXIT_USAGE;
	if (!reader_open(&r, j->h, j->path, (enum format)run->a->format, j->d)) {
		reader_close(&r);
		return EXIT_USAGE;
	}
	if (is_transactions(j, &r)) {
		int rc = txn_follow(&r, judge_beginning, (void *)(uintptr_t)(const void *)j, j->d);
		reader_close(&r);
		return rc;
	}
	if (misplaced(j, &r))
		return EXIT_USAGE;
	struct interpretation in = interpretation_of(run->a, init);
	if (!follow_opened(&r, &in, run->opts.k, 0, history_proof_text, &f)) {
		free(f.sentence);
		return EXIT_USAGE;
	}
	if (!f.ops && f.verdict == LIN_HOLDS) {
		free(f.sentence);
		return nothing_to_judge(j->h, j->path, 0, j->d);
	}
	say_follow(run, j->path, j->h, &in, &f);
	free(f.sentence);
	return exit_of(f.verdict);
}

static int hold_job(const struct history_job *j)
{
	assert(j->report && j->claims);
	struct history_run *run = j->run;
	struct read_options ro = { (enum format)run->a->format, (enum read_order)run->a->order, run->a->delta, !run->a->delta };
	struct why why = { "" };
	struct source src;
	val init;
	if (!parse_init(run, j->h, &init))
		return EXIT_USAGE;
	if (!source_read(&src, j->h->arena, j->report, &why)) {
		diag_error(j->d, "cannot-read", NULL, (struct span){ 0, 0 }, "%s: %s", j->report, why.text);
		return EXIT_USAGE;
	}
	json_t *root = json_loadb(src.text, src.len, JSON_REJECT_DUPLICATES, NULL);
	const json_t *result = json_array_get(json_object_get(root, "results"), 0);
	int of_transactions = json_object_get(result, "levels") ? txn_verify(j->claims, result, j->h, j->path, ro.format, j->d)
	                                                        : -1;
	json_decref(root);
	if (of_transactions >= 0)
		return of_transactions;
	if (!read_history(j, &ro))
		return j->d->errors ? EXIT_USAGE : spent(run, j->path);
	enum verify_answer v = verify_history_json(j->h, src.text, src.len, &why);
	static const enum claim_answer answers[] = { CLAIM_ACCEPTED, CLAIM_REJECTED, CLAIM_UNKNOWN };
	const char *said = v ? why.text : "the report is true for the history";
	claim_list_add(j->claims, &(struct claim){ .name = j->path, .answer = answers[v], .why = said });
	return v == VERIFY_ACCEPTED ? EXIT_HOLDS : v == VERIFY_REJECTED ? EXIT_VIOLATED : EXIT_UNKNOWN;
}

static int convert_job(const struct history_job *j)
{
	assert(history_writes(j->to) && j->out && j->flush);
	struct history_run *run = j->run;
	struct read_options ro = { (enum format)run->a->format, (enum read_order)run->a->order, false, false };
	if (!read_history(j, &ro))
		return j->d->errors ? EXIT_USAGE : spent(run, j->path);
	history_write(j->h, (enum format)j->to, j->out, j->flush, j->flush_arg);
	if (j->to == FORMAT_LOG && j->h->keys.len)
		buf_str(run->sink->err, "note: a log has no keys: values are written as [key value] (--pairs=yes reads them)\n");
	return EXIT_HOLDS;
}

/* One history in an arena of its own; out-of-memory longjmps return here. */
static int with_file(struct history_run *run, struct history_job *j, int (*f)(const struct history_job *))
{
	assert(j->path && !j->run);
	struct arena arena;
	struct history h;
	struct diags d;
	jmp_buf oom;
	start_limits(run);
	arena_init(&arena, run->lim.max_memory);
	arena.oom = &oom;
	int rc;
	if (setjmp(oom)) {
		atomic_store(&run->lim.spent, LIMIT_MEMORY);
		rc = spent(run, j->path);
		history_free(&h);
		arena_free(&arena);
		return rc;
	}
	history_init(&h, &arena, &run->lim);
	h.user = run->spec;
	diags_init(&d, &arena);
	j->run = run;
	j->h = &h;
	j->d = &d;
	rc = f(j);
	diags_render(&d, run->sink->err, run->sink->color_err);
	history_free(&h);
	arena_free(&arena);
	assert(rc >= EXIT_HOLDS && rc <= EXIT_INTERNAL);
	return rc;
}

int history_judge(struct history_run *run, const char *path)
{
	return with_file(run, &(struct history_job){ .path = path }, judge_job);
}

int history_judge_text(struct history_run *run, const char *name, const char *text, size_t len)
{
	return with_file(run, &(struct history_job){ .path = name, .text = text, .len = len }, judge_job);
}

int history_judge_made(struct history_run *run, const char *name, bool (*make)(void *arg, struct history *h), void *arg)
{
	return with_file(run, &(struct history_job){ .path = name, .make = make, .make_arg = arg }, judge_job);
}

int history_follow(struct history_run *run, const char *path)
{
	return with_file(run, &(struct history_job){ .path = path }, follow_job);
}

int history_hold(struct history_run *run, const char *path, const char *report, struct claim_list *l)
{
	return with_file(run, &(struct history_job){ .path = path, .report = report, .claims = l }, hold_job);
}

int history_convert(struct history_run *run, const char *path, int to, struct buf *out, bool (*flush)(void *arg, struct buf *b),
                    void *arg)
{
	struct history_job j = { .path = path, .to = to, .out = out, .flush = flush, .flush_arg = arg };
	return with_file(run, &j, convert_job);
}
