/*
 * verify: checks a saved result without the engines that made it.
 *
 * The counterexamples are replayed, the replay is compared with what the
 * result says step by step, and the claim (no serial order explains it, it
 * faults, it is a deadlock) is decided anew.
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model.h"
#include "cli/sim.h"
#include "cli/trace_tools.h"
#include "report/check_json.h"
#include "report/check_text.h"
#include "verdict/verify.h"

struct verify {
	struct cli *cli;
	const struct cmd *cmd;
	const char *path, *model;
	struct lang lang;
	unsigned accepted, rejected, unknown, unchecked;
};

static void say(struct verify *v, const char *block, const char *verdict, const char *why)
{
	struct buf *out = &v->cli->out;
	buf_str(out, verdict);
	buf_str(out, ": ");
	buf_safe(out, block, strlen(block));
	if (why && *why) {
		buf_str(out, ": ");
		buf_safe(out, why, strlen(why));
	}
	buf_char(out, '\n');
}

static void reject(struct verify *v, const char *block, const char *why)
{
	v->rejected++;
	say(v, block, "rejected", why);
}

static const char *get_string(json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));
	return s ? s : "";
}

/* The block of this name, VERDICT_PROGRAM for none; false: no such block. */
static bool find_block(const struct ir *p, json_t *result, uint32_t *block)
{
	json_t *name = json_object_get(result, "block");
	*block = VERDICT_PROGRAM;
	if (json_is_null(name))
		return true;
	for (uint32_t b = 0; json_is_string(name) && b < p->nblocks; b++) {
		struct buf full;
		buf_init(&full);
		check_text_name(p, b, &full);
		bool same = !strcmp(buf_cstr(&full), json_string_value(name));
		buf_free(&full);
		if (same) {
			*block = b;
			return json_integer_value(json_object_get(result, "line")) ==
			       source_pos(p->src, p->blocks[b].span.start).line;
		}
	}
	return false;
}

/* Does the replay say of itself what the result says of it? */
static bool same_run(const struct run *r, json_t *claimed)
{
	struct buf text;
	buf_init(&text);
	buf_char(&text, '{');
	check_json_run(r, &text);
	buf_char(&text, '}');
	json_t *own = json_loads(buf_cstr(&text), 0, NULL);
	bool same = own && json_equal(own, claimed);
	json_decref(own);
	buf_free(&text);
	return same;
}

static const char *check_claim(struct run *r, uint32_t block, enum problem problem, bool *unknown)
{
	bool all_done = true;
	switch (problem) {
	case PROBLEM_ATOMICITY:
		switch (verify_run(r, block)) {
		case VERIFY_UNEXPLAINED:
			return NULL;
		case VERIFY_EXPLAINED:
			return "a serial order explains the run";
		case VERIFY_OPEN:
			return "the run ends inside a block";
		case VERIFY_LIMIT:
			*unknown = true;
			return "too many serial orders to try";
		}
		return "?";
	case PROBLEM_FAULT:
		return run_faulted(r) ? NULL : "the run does not go wrong";
	case PROBLEM_DEADLOCK:
		for (uint32_t t = 0; t < r->ir->nthreads; t++) {
			if (run_enabled(r, t))
				return "a thread can still move";
			all_done &= r->ir->nodes[ir_node_of(r->ir, run_now(r), t)].kind == IRN_END;
		}
		return all_done ? "every thread has finished" : NULL;
	default:
		return "the result claims a problem that cannot be checked";
	}
}

static void check_counterexample(struct verify *v, json_t *result, const char *name)
{
	const struct ir *p = v->lang.ir;
	json_t *ce = json_object_get(result, "counterexample");
	const char *schedule = get_string(ce, "schedule"), *why;
	uint32_t block;
	struct sched s;
	struct run r;
	if (!find_block(p, result, &block)) {
		reject(v, name, "the model has no such block at that line");
		return;
	}
	sched_init(&s);
	bool unknown = false;
	if (!json_is_object(ce) || !*schedule)
		why = "it has no schedule";
	else if (!sched_parse(&s, p, "schedule", schedule))
		why = "the schedule cannot be read";
	else if (!run_init(&r, p))
		why = "no memory";
	else {
		if (!sched_run(&s, &r))
			why = "the schedule is not possible";
		else if (!same_run(&r, ce))
			why = "the replay differs from the steps or the state that are claimed";
		else
			why = check_claim(&r, block, problem_from(get_string(result, "problem")), &unknown);
		run_free(&r);
	}
	sched_free(&s);
	if (!why) {
		v->accepted++;
		say(v, name, "accepted", get_string(result, "problem"));
	} else if (unknown) {
		v->unknown++;
		say(v, name, "unknown", why);
	} else {
		reject(v, name, why);
	}
}

/* The model the result is about: its own text, held against its hash and,
 * when a file is named, against that. */
static int load_model(struct verify *v, json_t *root)
{
	json_t *m = json_object_get(root, "model");
	json_t *text = json_object_get(m, "text"), *threads = json_object_get(m, "threads"), *n;
	const char *name, *language = get_string(m, "language");
	char hash[17];
	if (!json_is_string(text) || !json_is_object(threads)) {
		buf_printf(&v->cli->err, "intact verify: %s: the result carries no model\n", v->path);
		return EXIT_USAGE;
	}
	text_hash(json_string_value(text), json_string_length(text), hash);
	if (strcmp(hash, get_string(m, "hash"))) {
		reject(v, "model", "its text does not have the hash that is claimed");
		return EXIT_VIOLATED;
	}
	struct lang_threads *counts =
		arena_array(&v->lang.arena, struct lang_threads, json_object_size(threads) + 1);
	struct lang_options o = { .threads = counts, .sml = !strcmp(language, "sml") };
	json_object_foreach(threads, name, n) {
		json_int_t count = json_integer_value(n);
		if (count < 1 || count > 10000) {
			reject(v, "model", "a number of threads is out of range");
			return EXIT_VIOLATED;
		}
		counts[o.nthreads++] = (struct lang_threads){ name, (uint32_t)count };
	}
	if (!lang_load_text(&v->lang, get_string(m, "name"), json_string_value(text),
	                    json_string_length(text), &o)) {
		reject(v, "model", "it does not load");
		return EXIT_VIOLATED;
	}
	return EXIT_HOLDS;
}

static bool same_file(struct verify *v, json_t *root)
{
	struct arena a;
	struct source src;
	const char *why;
	json_t *text = json_object_get(json_object_get(root, "model"), "text");
	arena_init(&a, 0);
	bool ok = source_read(&src, &a, v->model, &why);
	if (!ok)
		buf_printf(&v->cli->err, "intact verify: %s: %s\n", v->model, why);
	else if (src.len != json_string_length(text) ||
	         memcmp(src.text, json_string_value(text), src.len)) {
		reject(v, "model", "the result is about another text than the file's");
		ok = false;
	}
	arena_free(&a);
	return ok;
}

static int check_result(struct verify *v, json_t *root)
{
	int rc = load_model(v, root);
	size_t i;
	json_t *result;
	if (rc != EXIT_HOLDS)
		return rc;
	if (v->model && !same_file(v, root))
		return v->rejected ? EXIT_VIOLATED : EXIT_USAGE;
	bool violated = false;
	json_array_foreach(json_object_get(root, "results"), i, result) {
		const char *name = get_string(result, "block"), *verdict = get_string(result, "verdict");
		if (!*name)
			name = "program";
		if (!strcmp(verdict, "violated")) {
			check_counterexample(v, result, name);
			violated = true;
		} else if (!strcmp(verdict, "holds") || !strcmp(verdict, "unknown")) {
			v->unchecked++;
			say(v, name, verdict, "nothing to replay");
		} else {
			reject(v, name, "no such verdict");
		}
	}
	if (violated != !strcmp(get_string(root, "verdict"), "violated"))
		reject(v, "result", "its verdict is not that of its parts");
	buf_printf(&v->cli->out, "%u accepted, %u rejected, %u unknown, %u without a witness\n",
	           v->accepted, v->rejected, v->unknown, v->unchecked);
	return v->rejected ? EXIT_VIOLATED : v->unknown ? EXIT_UNKNOWN : EXIT_HOLDS;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	const struct opt table[] = { { 0 } };
	struct opts o = { table, args, 0, false };
	struct verify v = { .cli = cli, .cmd = cmd };
	struct buf err;
	json_error_t je;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	lang_init(&v.lang);
	if (!opts_parse(&o, argc, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (o.help) {
		rc = cli_help(cli, cmd, NULL);
	} else if (o.nargs < 1 || o.nargs > 2) {
		rc = cli_usage(cli, cmd, "a result, and perhaps the model it is about");
	} else {
		v.path = args[0];
		v.model = o.nargs > 1 ? args[1] : NULL;
		json_t *root = strcmp(v.path, "-") ? json_load_file(v.path, JSON_REJECT_DUPLICATES, &je)
		                                   : json_loadf(stdin, JSON_REJECT_DUPLICATES, &je);
		if (!root) {
			buf_str(&cli->err, "intact verify: ");
			buf_safe(&cli->err, v.path, strlen(v.path));
			buf_printf(&cli->err, ":%d:%d: ", je.line, je.column);
			buf_safe(&cli->err, je.text, strlen(je.text));
			buf_char(&cli->err, '\n');
			rc = EXIT_USAGE;
		} else if (!strcmp(get_string(root, "kind"), "trace")) {
			rc = trace_verify_report(cli, cmd, root, v.model);
		} else if (!strcmp(get_string(root, "kind"), "history")) {
			rc = cli_usage(cli, cmd, "a result about a history is checked by 'intact history --verify=RESULT FILE'");
		} else {
			rc = check_result(&v, root);
		}
		json_decref(root);
	}
	lang_free(&v.lang);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_verify = {
	"verify", "check a saved result without the engines that made it", "verify RESULT.json [MODEL or TRACE]",
	"Replays the counterexamples of a result saved by 'intact check --json' and decides anew what is\n"
	"claimed of them: that no serial order of the same blocks explains the run, that it goes wrong, or\n"
	"that it is a deadlock. With a model, the result must be about exactly that text.\n"
	"Of a result saved by 'intact trace --json', every cycle is held against the trace.\n\n"
	"Exit code: 0 everything that can be checked is accepted, 1 something is rejected, 2 usage or\n"
	"input, 3 unknown (too many orders to try), 4 internal error.",
	NULL, run,
};
