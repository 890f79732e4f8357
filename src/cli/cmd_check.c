/* check: verify a model. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"
#include "cli/answers.h"
#include "cli/check_causal.h"
#include "cli/decide.h"
#include "cli/model.h"
#include "cli/objects.h"
#include "cli/outputs.h"
#include "cli/progress.h"
#include "cli/quiescence.h"
#include "report/check_json.h"
#include "report/check_text.h"

#define WAY_OUT_STATES 20000u
#define WAY_OUT_BYTES  (4u << 20)
#define RAISED_STATES  2000000u /* of each search with more threads than declared, when there is no limit */
#define MAX_RAISED     32u

static const char *const engine_names[] = { "auto", "reduction", "commit", "exact", "all", "causal", "cover", "unfold", NULL };

struct check {
	struct cli *cli;
	const struct cmd *cmd;
	const char *path;
	struct model_options model;
	struct decide_options decide;
	struct objects_options objects;
	const char *block;
	bool reduced;
	struct opt_list no_reduce, track, abstract;
	uint64_t max_states, max_memory, timeout, jobs;
	int dump, engine;
	struct outputs outputs;
	bool deadlock, stats, full, faults;
	uint64_t states;    /* of all searches so far */
	uint32_t raised;    /* how often the model was checked with more threads */
	bool contradiction; /* one engine proves what another refutes */
	bool safe; /* explored by itself, without a fault: so many states */
	uint64_t safe_states, safe_transitions;
	const char *quiescence; /* always, lost, unknown; NULL: not asked */
};

/* --no-reduce=LIST: which reductions are off. */
static bool set_reductions(struct check *c, struct buf *err)
{
	struct search_options *s = &c->decide.search;
	s->symmetry = s->merge_local = s->drop_pure = s->transactions = true;
	for (int i = 0; i < c->no_reduce.n; i++) {
		const char *name = c->no_reduce.items[i];
		bool all = !strcmp(name, "all");
		if (all || !strcmp(name, "symmetry"))
			s->symmetry = false;
		if (all || !strcmp(name, "local"))
			s->merge_local = s->drop_pure = false;
		if (all || !strcmp(name, "pure"))
			s->drop_pure = false;
		if (all || !strcmp(name, "transactions"))
			s->transactions = false;
		if (all || !strcmp(name, "dead"))
			c->model.keep_dead = true;
		static const char *const known[] = { "all", "symmetry", "local", "pure", "transactions", "dead" };
		bool found = false;
		for (int k = 0; k < 6; k++)
			found |= !strcmp(name, known[k]);
		if (found)
			continue;
		buf_str(err, "--no-reduce: '");
		buf_safe(err, name, strlen(name));
		buf_str(err, "' is not one of all, symmetry, local, pure, transactions, dead");
		return false;
	}
	return true;
}

static void set_limits(struct check *c)
{
	struct search_options *s = &c->decide.search;
	s->max_states = c->max_states;
	s->jobs = (uint32_t)c->jobs;
	s->max_bytes = c->max_memory;
	if (!s->max_bytes) {
		long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
		s->max_bytes = pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2
		                                     : (uint64_t)4 << 30;
	}
	if (c->timeout)
		s->deadline = clock_seconds() + (double)c->timeout;
}

static bool any_asked(const struct ir *p)
{
	for (uint32_t t = 0; t < p->ntemplates; t++)
		if (p->templates[t].any_count)
			return true;
	return false;
}

/* --threads name=any: a proof for the declared number is none for any number
 * (a counterexample stays one). */
static void fixed_counts_only(const struct ir *p, struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; any_asked(p) && i < n; i++)
		if (v[i].answer == ANSWER_HOLDS && v[i].scope == SCOPE_DECLARED) {
			v[i].answer = ANSWER_UNKNOWN;
			v[i].reason = "proved for the numbers of threads searched, not for any number";
		}
}

static bool is_deadlock(const struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].problem == PROBLEM_DEADLOCK)
			return true;
	return false;
}

static int write_reports(struct check *c, const struct ir *p, const struct verdict *v, uint32_t n, int rc)
{
	struct check_json_options jo = { .model = c->path, .engine = engine_names[c->engine], .block = c->block, .faults = c->faults,
		                         .deadlock = c->deadlock, .quiescence = c->quiescence,
		                         .keep_dead = c->model.keep_dead };
	struct buf doc;
	if (!outputs_wanted(&c->outputs))
		return rc;
	buf_init(&doc);
	check_json(p, v, n, &jo, &doc);
	rc = outputs_write(c->cli, c->cmd, &c->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}

/* Nobody has to look for faults: they cannot happen, and neither deadlocks nor
 * the number of states are asked for. */
static bool no_faults(const struct check *c, const struct decide *d)
{
	return d->reduce.fault_free && !c->deadlock && !c->stats;
}

enum asked { ASK_AGAIN, ASKED, ALL_DONE };

/* One search for the program that also counts faults as violations: when it
 * holds there is nothing more to look for, and a run that no serial order
 * explains, or a spent limit, stays what it is. */
static enum asked all_in_one(struct check *c, struct decide *d, struct verdict *v)
{
	struct verdict *program = &v[d->p->nblocks];
	if (c->block || c->deadlock || c->stats || !d->p->nblocks || any_asked(d->p))
		return ASK_AGAIN; /* --stats counts the program's own states too */
	if (d->reduce.all && !no_faults(c, d) && c->engine != ENGINE_COMMIT && c->engine != ENGINE_EXACT)
		return ASK_AGAIN; /* reduction meets no fault, it does not look */
	d->o.search.faults = !no_faults(c, d);
	decide_program(d, v);
	d->o.search.faults = false;
	if (program->answer == ANSWER_HOLDS)
		return ALL_DONE;
	if (program->answer == ANSWER_VIOLATED || program->limit || no_faults(c, d))
		return ASKED;
	for (uint32_t i = 0; i <= d->p->nblocks; i++)
		verdict_free(&v[i]);
	return ASK_AGAIN;
}

/* The question about faults: a line only when something is wrong. */
static uint32_t look_for_faults(struct check *c, struct decide *d, struct verdict *v)
{
	if (no_faults(c, d))
		return 0;
	d->o.search.deadlock = c->deadlock;
	decide_safety(d, c->faults || c->deadlock || c->stats || !d->p->nblocks, v);
	d->o.search.deadlock = false;
	c->safe = v->answer == ANSWER_HOLDS;
	c->safe_states = v->states;
	c->safe_transitions = v->transitions;
	if (c->safe && any_asked(d->p) && !(d->reduce.fault_free && !c->deadlock)) {
		v->answer = ANSWER_UNKNOWN;
		v->reason = "no fault with the numbers of threads searched; with more of them, not known";
		return 1;
	}
	return v->answer != ANSWER_HOLDS;
}

/* Faults first, then every question. */
static uint32_t one_by_one(struct check *c, struct decide *d, struct verdict *v)
{
	uint32_t all = d->p->nblocks + 1, n;
	if (c->faults)
		return look_for_faults(c, d, v);
	enum asked asked = all_in_one(c, d, v + 1);
	if (asked == ALL_DONE) {
		memmove(v, v + 1, all * sizeof *v);
		return all;
	}
	n = look_for_faults(c, d, v);
	if (!n)
		memmove(v, v + 1, all * sizeof *v);
	for (uint32_t b = 0; b < d->p->nblocks && c->block; b++)
		if (answers_name_block(d->p, b, c->block))
			decide_block(d, b, &v[n++]);
	if (!c->block && d->p->nblocks) {
		if (asked == ASK_AGAIN)
			decide_program(d, &v[n]);
		decide_blocks(d, &v[n]);
		n += all;
	}
	return n;
}

/* --engine=all: every engine on every question. */
static uint32_t side_by_side(struct check *c, struct decide *d, struct verdict *v)
{
	uint32_t n = look_for_faults(c, d, v);
	for (uint32_t b = 0; b < d->p->nblocks; b++)
		if (!c->block || answers_name_block(d->p, b, c->block))
			c->contradiction |= !decide_by_all(d, b, &v[n++]);
	if (!c->block && d->p->nblocks)
		c->contradiction |= !decide_by_all(d, VERDICT_PROGRAM, &v[n++]);
	return n;
}

static bool assertion_fits(struct check *c, const struct ir *p)
{
	struct arena a;
	struct diags d;
	arena_init(&a, 0);
	diags_init(&d, &a);
	bool ok = objects_allowed(p, &c->objects, &d);
	diags_render(&d, &c->cli->err, c->cli->color_err);
	arena_free(&a);
	return ok;
}

/* Can threads always leave their blocks? Beside the questions about atomicity
 * it may cost little only; who asks for deadlocks gets all of it. */
static uint32_t look_for_a_way_out(struct check *c, const struct ir *p, struct verdict *v, uint32_t n)
{
	struct search_options s = c->decide.search;
	if (!p->nblocks || c->block || c->faults || is_deadlock(v, n) || any_asked(p) ||
	    (c->engine != ENGINE_AUTO && c->engine != ENGINE_ALL))
		return 0;
	if (!c->deadlock) {
		s.max_states = s.max_states && s.max_states < WAY_OUT_STATES ? s.max_states : WAY_OUT_STATES;
		s.max_bytes = s.max_bytes < WAY_OUT_BYTES ? s.max_bytes : WAY_OUT_BYTES;
	}
	return quiescence_ask(p, &s, &v[n], &c->quiescence);
}

static bool options_fit(struct check *c, const struct ir *p)
{
	struct arena a;
	struct diags e;
	arena_init(&a, 0);
	diags_init(&e, &a);
	c->decide.track = c->track.items;
	c->decide.ntrack = (uint32_t)c->track.n;
	c->decide.abstract = c->abstract.items;
	c->decide.nabstract = (uint32_t)c->abstract.n;
	bool ok = decide_options_fit(p, &c->decide, &e);
	diags_render(&e, &c->cli->err, c->cli->color_err);
	arena_free(&a);
	return ok;
}

/* --block: is there such a block? Says what may have been meant. */
static int block_known(struct check *c, const struct ir *p)
{
	const char **names = calloc(p->nblocks + 1, sizeof *names);
	struct buf asked;
	int rc = EXIT_HOLDS;
	bool found = false;
	buf_init(&asked);
	buf_safe(&asked, c->block, strlen(c->block));
	for (uint32_t b = 0; b < p->nblocks; b++) {
		found |= answers_name_block(p, b, c->block);
		if (names)
			names[b] = p->blocks[b].name;
	}
	int near = names ? nearest_name(c->block, names, (int)p->nblocks) : -1;
	if (!found && near >= 0)
		rc = cli_usage(c->cli, c->cmd, "--block: the model has no block '%s'; did you mean '%s'?",
		               buf_cstr(&asked), names[near]);
	else if (!found)
		rc = cli_usage(c->cli, c->cmd, "--block: the model has no block '%s'", buf_cstr(&asked));
	buf_free(&asked);
	free(names);
	return rc;
}

/* Every question that is asked of this program; how many answers there are. `need`: see struct decide. */
static uint32_t ask_everything(struct check *c, const struct ir *p, struct verdict *v, uint32_t *need)
{
	struct decide d;
	uint64_t limit = c->decide.search.max_states;
	c->quiescence = NULL;
	decide_begin(&d, p, &c->decide);
	d.states = c->states;
	if (c->raised && !limit && c->decide.search.deadline <= 0)
		d.o.search.max_states = c->states + RAISED_STATES;
	uint32_t n = c->engine == ENGINE_ALL ? side_by_side(c, &d, v) : one_by_one(c, &d, v);
	c->states = d.states;
	memset(need, 0, p->ntemplates * sizeof *need);
	if (d.need)
		memcpy(need, d.need, p->ntemplates * sizeof *need);
	decide_end(&d);
	n += look_for_a_way_out(c, p, v, n);
	if (!c->block && !c->faults) {
		objects_check(p, &c->objects, &c->decide.search, &v[n]);
		n += p->nobjects;
	}
	fixed_counts_only(p, v, n);
	return n;
}

/* Is a question about blocks unanswered? */
static bool open_block(const struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (v[i].answer == ANSWER_UNKNOWN && !v[i].object1 && v[i].nattempts)
			return true;
	return false;
}

/* --threads name=any, and what is suspected needs more threads than there are: the model with one more of them. */
static bool raise_counts(struct check *c, const struct ir *p, const struct verdict *v, uint32_t n, const uint32_t *need, struct lang *l)
{
	const struct search_options *s = &c->decide.search;
	uint32_t *counts = calloc(p->ntemplates + 1ull, sizeof *counts);
	bool more = false;
	for (uint32_t t = 0; counts && t < p->ntemplates; t++) {
		bool few = p->templates[t].any_count && need[t] > p->templates[t].count;
		counts[t] = p->templates[t].count + few;
		more |= few;
	}
	more = more && open_block(v, n) && c->raised < MAX_RAISED &&
	       !(s->max_states && c->states >= s->max_states) && !(s->deadline > 0 && clock_seconds() >= s->deadline) &&
	       lang_load_again(l, p, IR_NONE, counts);
	free(counts);
	c->raised += more;
	return more;
}

/* How many threads there were, when they are more than declared. */
static void say_raised(const struct check *c, const struct ir *p, struct buf *out)
{
	if (!c->raised)
		return;
	buf_str(out, "\nsearched with");
	for (uint32_t t = 0, first = 1; t < p->ntemplates; t++)
		if (p->templates[t].any_count) {
			buf_printf(out, "%s %u ", first ? "" : ",", p->templates[t].count);
			buf_safe(out, p->templates[t].name, strlen(p->templates[t].name));
			first = 0;
		}
	buf_str(out, ", more than declared: a suspicion of the causal engine needs them\n");
}

static void say(struct check *c, const struct ir *p, const struct verdict *v, uint32_t n)
{
	struct cli *cli = c->cli;
	struct check_text_options to = { .width = cli->columns, .utf8 = cli->utf8_out,
		                         .color = cli->color_out, .stats = c->stats,
		                         .matrix = c->engine == ENGINE_ALL,
		                         .max_rows = c->full ? 0 : 60, .model = c->path };
	cli->prose = true;
	if ((p->nblocks && !c->faults) || n)
		check_text(p, v, n, &to, &cli->out);
	else
		buf_printf(&cli->out, "%sno %s in any execution\n", c->faults ? "" : "no atomic block; ",
		           c->deadlock ? "fault and no deadlock" : "fault");
	if (c->stats && c->safe)
		buf_printf(&cli->out, "\nno fault in the %llu states and %llu transitions of the program\n",
		           (unsigned long long)c->safe_states,
		           (unsigned long long)c->safe_transitions);
	say_raised(c, p, &cli->out);
	if (c->quiescence && !strcmp(c->quiescence, "unknown"))
		buf_str(&cli->out, "\nnot found out: whether threads can always leave their blocks again (too many states; --deadlock looks further)\n");
}

static void free_answers(struct verdict *v, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		verdict_free(&v[i]);
	memset(v, 0, n * sizeof *v);
}

static int verify(struct check *c, const struct ir *p)
{
	struct verdict *v = calloc((size_t)p->nblocks + p->nobjects + 4, sizeof *v);
	uint32_t *need = calloc(p->ntemplates + 1ull, sizeof *need);
	struct lang models[2]; /* the model with more threads, in turn */
	uint32_t turn = 0;
	struct progress line;
	if (!v || !need) {
		free(v);
		free(need);
		return EXIT_INTERNAL;
	}
	set_limits(c);
	if (!options_fit(c, p)) {
		free(v);
		free(need);
		return EXIT_USAGE;
	}
	progress_begin(&line);
	line.on &= !c->model.quiet;
	c->decide.search.progress = line.on ? progress_line : NULL;
	c->decide.search.progress_arg = &line;
	lang_init(&models[0]);
	lang_init(&models[1]);
	uint32_t n = ask_everything(c, p, v, need);
	while (raise_counts(c, p, v, n, need, &models[turn])) {
		free_answers(v, n);
		p = models[turn].ir;
		turn ^= 1;
		lang_free(&models[turn]);
		lang_init(&models[turn]);
		n = ask_everything(c, p, v, need);
	}
	progress_end(&line);
	int rc = n ? answers_exit_code(v, n) : EXIT_HOLDS;
	if (!outputs_take_stdout(&c->outputs))
		say(c, p, v, n);
	if (c->contradiction) {
		buf_str(&c->cli->err, "intact check: one engine proves what another refutes: this is a bug in intact\n");
		rc = EXIT_INTERNAL;
	}
	outputs_hint(c->cli, c->cmd, &c->outputs, c->path, rc);
	rc = write_reports(c, p, v, n, rc);
	free_answers(v, n);
	free(v);
	free(need);
	lang_free(&models[0]);
	lang_free(&models[1]);
	return rc;
}

static bool is_causal(const char *engine)
{
	return !strcmp(engine, "causal") || !strcmp(engine, "cover") || !strcmp(engine, "unfold");
}

/* The causal engines have their own verdicts and their own report. */
static int verify_causal(struct check *c, const char *engine, const struct ir *p)
{
	set_limits(c);
	const struct search_options *s = &c->decide.search;
	struct check_causal x = { .path = c->path, .block = c->block, .engine = engine, .outputs = &c->outputs,
		                  .stats = c->stats, .model = &c->model };
	x.causal = (struct causal_options){
		.engine = !strcmp(engine, "cover")    ? CAUSAL_COVER
		          : !strcmp(engine, "unfold") ? CAUSAL_UNFOLD
		                                      : CAUSAL_PICK,
		.track = c->track.items, .abstract = c->abstract.items, .ntrack = (uint32_t)c->track.n,
		.nabstract = (uint32_t)c->abstract.n, .max_states = s->max_states,
		.max_bytes = s->max_bytes, .deadline = s->deadline, .reduced = c->reduced };
	return check_causal(c->cli, c->cmd, &x, p);
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	int rc;
	const char **args = calloc((size_t)argc * 5 + 5, sizeof *args);
	struct check c = { .cli = cli, .cmd = cmd };
	c.model.threads.items = args + argc + 1;
	c.no_reduce.items = args + 2 * argc + 2;
	c.track.items = args + 3 * argc + 3;
	c.abstract.items = args + 4 * argc + 4;
	static const char *const dumps[] = { "none", "ir", NULL };
	const struct opt table[] = {
		{ OPT_CHOICE, "engine", 0, "ENGINE", &c.engine, "how to decide", 0, 0, engine_names },
		{ OPT_LIST, "threads", 0, "NAME=N", &c.model.threads, "run N threads of this name", 0, 0, NULL },
		{ OPT_STR, "block", 0, "NAME", &c.block, "this block alone, the other blocks' marks ignored", 0, 0, NULL },
		{ OPT_LIST, "track", 0, "NAME", &c.track, "causal engines: keep the values of this variable", 0, 0, NULL },
		{ OPT_LIST, "abstract", 0, "NAME", &c.abstract, "causal engines: forget the values of this variable", 0, 0, NULL },
		{ OPT_FLAG, "reduced", 0, NULL, &c.reduced, "--engine=unfold: a smaller prefix, enough for the verdict", 0, 0, NULL },
		{ OPT_FLAG, "deadlock", 0, NULL, &c.deadlock, "a deadlock is a violation too", 0, 0, NULL },
		{ OPT_UINT, "jobs", 'j', "N", &c.jobs, "explore with N threads (the result is the same)", 1, 32, NULL },
		{ OPT_FLAG, "faults", 0, NULL, &c.faults, "look for faults and failed assertions only (and --deadlock)", 0, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "objects", 0, 0, NULL },
		{ OPT_CHOICE, "condition", 0, "NAME", &c.objects.condition, "what their histories must be", 0, 0, object_conditions },
		{ OPT_CHOICE, "assertion", 0, "NAME", &c.objects.assertion, "how they are judged: on the way, or as the SOAR paper does", 0, 0, objects_assertions },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits (when one is spent, what is not decided is unknown)", 0, 0, NULL },
		{ OPT_UINT, "max-states", 0, "N", &c.max_states, "states of all searches together", 1, 0, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &c.max_memory, "memory of the check (default: half the machine's)", 1 << 20, 0, NULL },
		{ OPT_UINT, "timeout", 0, "SECONDS", &c.timeout, "for all of it", 1, 0, NULL },
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output and experiments", 0, 0, NULL },
		{ OPT_FLAG, "stats", 0, NULL, &c.stats, "states, transitions, memory and time of each verdict", 0, 0, NULL },
		{ OPT_FLAG, "full", 0, NULL, &c.full, "counterexamples in full length", 0, 0, NULL },
		{ OPT_LIST, "no-reduce", 0, "WHAT", &c.no_reduce, "switch a reduction off: symmetry, local, pure, transactions, dead, all", 0, 0, NULL },
		{ OPT_CHOICE, "dump", 0, "WHAT", &c.dump, "print the program instead of checking it", 0, 0, dumps },
		{ OPT_FLAG, "sml", 0, NULL, &c.model.sml, "read the file as SML whatever its name", 0, 0, NULL },
		{ OPT_FLAG, "quiet", 'q', NULL, &c.model.quiet, "no warnings", 0, 0, NULL },
		OUTPUT_OPTIONS(&c.outputs),
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct lang l;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	lang_init(&l);
	if (!opts_parse(&o, argc, argv, &err) || !set_reductions(&c, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&c.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "one model at a time" : "which model?");
	else if (c.faults && (c.block || c.engine))
		rc = cli_usage(cli, cmd, "--faults judges no block: it takes no %s", c.block ? "--block" : "--engine");
	else if (outputs_wrong(&c.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&c.outputs));
	else {
		c.path = args[0];
		c.decide.engine = (enum decide_engine)c.engine;
		rc = model_load(cli, cmd, &l, c.path, &c.model);
		if (rc == EXIT_HOLDS && c.block && c.dump != 1)
			rc = block_known(&c, l.ir);
		if (rc == EXIT_HOLDS && c.dump == 1)
			ir_print(l.ir, &cli->out);
		else if (rc == EXIT_HOLDS && is_causal(engine_names[c.engine]))
			rc = verify_causal(&c, engine_names[c.engine], l.ir);
		else if (rc == EXIT_HOLDS)
			rc = assertion_fits(&c, l.ir) ? verify(&c, l.ir) : EXIT_USAGE;
	}
	lang_free(&l);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_check = {
	"check", "verify the atomic blocks and objects of a model", "check [OPTIONS] MODEL",
	"Decides whether every execution of a model (.atm or .sml) has a serial explanation, for all its\n"
	"atomic blocks together and, when there is none, for each block alone, and shows a run that has\n"
	"none. Faults and failed assertions are reported too. Every history of every object is held\n"
	"against the object's specification.\n\n"
	"Engines, the cheapest first: reduction (right-movers, one non-mover, left-movers: for any number\n"
	"of threads), causal (no chain of causes leaves the block and comes back: the net of the program\n"
	"with most data forgotten), commit (the shadow store, with the source's commit; marks or with commit points\n"
	"found by search), exact (no commit points: every moment between entry and exit is tried). auto\n"
	"goes up this ladder, each question until it is answered; all asks every engine every question\n"
	"and shows the answers side by side. `intact explain ENGINE` tells more.\n\n"
	"cover and unfold look at causality alone (docs/causal.md): is there a chain of events that leaves\n"
	"a block and comes back to it, or a cycle through several blocks? They forget all but small data,\n"
	"so what they prove holds and what they find may not be real; cover also answers for --threads\n"
	"NAME=any. causal picks one of them.\n\n"
	"Exit code: 0 holds, 1 violated, 2 usage or input, 3 unknown (a limit was spent), 4 internal error.",
	NULL, run,
};
