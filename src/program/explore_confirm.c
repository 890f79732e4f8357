#include "program/explore_confirm.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "base/source.h"
#include "program/explore_schedule.h"
#include "program/explore_story.h"
#include "base/paths.h"
#include "report/doc.h"

/* ---- the report ---- */

/* Results of `intact run`, wherever they stand: a run's, or those of recordings in a trace's. */
static json_t *all_findings(const json_t *doc)
{
	json_t *all = json_array();
	const json_t *r;
	size_t k;
	if (doc_is(doc, "kind", "run"))
		json_array_extend(all, json_object_get(doc, "results"));
	json_array_foreach(json_object_get(doc, "results"), k, r)
	{
		json_t *run = json_object_get(json_object_get(r, "run"), "results");
		if (doc_is(doc, "kind", "trace") && run)
			json_array_extend(all, run);
	}
	return all;
}

static bool same_build(struct cli *cli, const char *path, const char *program, const json_t *doc)
{
	char file[PATH_MAX], id[128];
	const char *was = doc_text(doc, "build_id");
	if (!find_in_path(program, file, sizeof file))
		return true; /* said when it is started */
	explore_build_id(file, id, sizeof id);
	if (!*was || !*id || !strcmp(was, id))
		return true;
	buf_printf(&cli->err,
	           "intact: '%s' is not about '%s' as it is now (build id %.16s, then %.16s)\n"
	           "hint: make the report again: intact run --json=%s ...\n",
	           path, program, was, id, path);
	return false;
}

const json_t *confirm_read(struct cli *cli, const char *path, const char *program, json_t **document)
{
	struct arena a;
	struct source src;
	struct buf why;
	struct why reason;
	json_t *doc = NULL;
	*document = NULL;
	arena_init(&a, 0);
	buf_init(&why);
	if (!source_read(&src, &a, path, &reason))
		buf_printf(&cli->err, "intact: cannot read '%s': %s\n", path, reason.text);
	else if (!(doc = doc_parse(src.text, src.len, &why)))
		buf_printf(&cli->err, "%s:%s%s\n", path, buf_cstr(&why)[0] >= '0' && buf_cstr(&why)[0] <= '9' ? "" : " ",
		           buf_cstr(&why));
	else if (!doc_is(doc, "kind", "run") && !doc_is(doc, "kind", "trace"))
		buf_printf(&cli->err,
		           "intact: '%s' is a result of `intact %s`: --confirm needs one of `intact run` or of "
		           "`intact trace` on a recording\n",
		           path, doc_text(doc, "kind"));
	else if (same_build(cli, path, program, doc))
		*document = json_pack("{s:o}", "results", all_findings(doc));
	json_decref(doc);
	buf_free(&why);
	arena_free(&a);
	return json_object_get(*document, "results");
}

/* ---- one finding ---- */

static struct explore_place place_of(const json_t *finding, struct arena *a)
{
	const json_t *f = json_array_get(json_object_get(json_object_get(finding, "entered"), "stack"), 0);
	struct explore_place p = { .function = arena_strdup(a, doc_text(f, "function")),
		                   .line = (uint32_t)doc_number(f, "line"),
		                   .module = arena_strdup(a, doc_text(f, "module")),
		                   .offset = (uint64_t)doc_number(f, "offset") };
	if (*doc_text(f, "file"))
		p.file = arena_strdup(a, doc_text(f, "file"));
	return p;
}

static const char *block_of(const json_t *finding, struct arena *a)
{
	const char *mark = doc_text(finding, "mark"), *block = doc_text(finding, "block");
	return *mark ? arena_printf(a, "block '%s' in %s", mark, block) : arena_strdup(a, block);
}

struct confirming {
	struct cli *cli;
	const struct confirm_ask *ask;
	struct arena *arena;
	struct explore_confirmation *out;
	double until; /* 0: no limit */
	bool saves;
};

/* The function's name as a file's, and a number when there is one already of this name. */
static const char *file_for(struct confirming *c, const char *block)
{
	assert(c->ask->save);
	char name[80];
	size_t n = 0;
	for (const char *s = block; *s && n + 1 < sizeof name; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_';
		if (*s == '(')
			break;
		if (plain || (n && name[n - 1] != '-'))
			name[n++] = plain ? *s : '-';
	}
	name[n] = 0;
	uint32_t same = 1;
	const char *file = arena_printf(c->arena, "%s/%s.schedule", c->ask->save, *name ? name : "block");
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < c->out->findings.len && !again; i++)
			again = c->out->findings.data[i].file && !strcmp(c->out->findings.data[i].file, file);
		if (again)
			file = arena_printf(c->arena, "%s/%s-%u.schedule", c->ask->save, *name ? name : "block", ++same);
	}
	return file;
}

static void cut_short(struct explore_finding *f, const char *why)
{
	assert(why);
	f->status = EXPLORE_CUT_SHORT;
	f->why = why;
}

static int explore_one(struct confirming *c, struct explore_gaps *gaps, struct explore_finding *f, bool locks)
{
	struct explore_ask ask = c->ask->explore;
	gaps->lock_order = locks;
	struct explore_got got;
	struct explore_report *report = arena_new(c->arena, struct explore_report);
	/* A library that is not instrumented changes data unseen: then that another thread had the lock in between
	 * is what can be seen, and what `intact run` calls confirmed. A tenth of the schedules must do for that. */
	if (locks && ask.schedules)
		ask.schedules = ask.schedules / 10 + 1;
	ask.gaps = gaps;
	ask.only_gaps = true;
	ask.races = false;
	if (c->until > 0) {
		double left = c->until - server_now();
		if (left <= 0) {
			cut_short(f, "the time is over (--time)");
			return EXIT_HOLDS;
		}
		ask.until = c->until;
	}
	int rc = explore_search(c->cli, &ask, &got);
	if (rc == EXIT_HOLDS) {
		explore_story(&ask, &got, c->arena, report);
		f->schedules += report->schedules;
		f->aside += got.aside;
		f->failure = report->failure;
		c->out->mode = report->mode;
		c->out->why_fork = report->why_fork;
		c->out->strategy = report->strategy;
		f->exhausted = report->exhausted && !report->cut && !report->bounded && !report->unjudged;
		if (f->failure)
			f->status = EXPLORE_CONFIRMED;
		else if (report->stopped)
			cut_short(f, report->stopped);
		else if (report->cut && report->cut == report->schedules)
			cut_short(f, "every schedule was cut by the limit on steps (--max-steps)");
		else if (got.unjudged && got.unjudged >= got.judged)
			cut_short(f, "the schedules were too long for the blocks to be judged");
		else if (c->until > 0 && server_now() >= c->until && (!ask.schedules || report->schedules < ask.schedules))
			cut_short(f, "the time was over (--time)");
		else if (ask.strategy == SCHED_DPOR && !f->exhausted)
			cut_short(f, "--exhaustive did not come to its end");
		else
			f->status = EXPLORE_NOT_REACHED;
		if (f->failure && c->saves) {
			f->file = file_for(c, f->block);
			if (!explore_save(c->cli, f->file, &ask, &got) && !c->ask->optional_save)
				rc = EXIT_USAGE;
			f->replay = explore_replay_line(c->arena, f->file);
		}
	}
	explore_got_free(&got);
	return rc;
}

/* ---- all of them ---- */

static bool make_directory(struct confirming *c)
{
	const char *dir = c->ask->save;
	struct stat st;
	if (!dir)
		return true;
	if (mkdir(dir, 0777) && errno != EEXIST) {
		buf_printf(&c->cli->err, "intact: cannot make the directory '%s' for schedules: %s\n", dir, strerror(errno));
		return c->ask->optional_save;
	}
	if (stat(dir, &st) || !S_ISDIR(st.st_mode)) {
		buf_printf(&c->cli->err, "intact: '%s' is not a directory: a schedule is saved for each finding\n", dir);
		return c->ask->optional_save;
	}
	c->saves = true;
	return true;
}

static int no_finding(struct cli *cli, const struct confirm_ask *ask, size_t given, const char *why)
{
	const char *program = ask->explore.argv[0];
	if (given)
		buf_printf(&cli->err, "intact: none of the findings in '%s' is about '%s'%s%s\n", ask->report, program,
		           why ? ": " : "", why ? why : "");
	else
		buf_printf(&cli->err, "intact: there are no findings in '%s': nothing to confirm\n", ask->report);
	return EXIT_USAGE;
}

int confirm_findings(struct cli *cli, const struct confirm_ask *ask, const json_t *findings, struct arena *a,
                     struct explore_confirmation *out)
{
	struct confirming c = { .cli = cli, .ask = ask, .arena = a, .out = out };
	char program[PATH_MAX];
	const char *why = NULL;
	const json_t *r;
	size_t k, given = 0;
	*out = (struct explore_confirmation){ .report = ask->report,
		                              .program = ask->explore.argv[0],
		                              .arguments = (const char **)ask->explore.argv + 1,
		                              .strategy = "none",
		                              .mode = "snapshot",
		                              .seed = ask->explore.seed };
	while (out->arguments[out->narguments])
		out->narguments++;
	if (!find_in_path(ask->explore.argv[0], program, sizeof program)) {
		buf_printf(&cli->err, "intact: cannot run '%s': no such program\n", ask->explore.argv[0]);
		return EXIT_USAGE;
	}
	if (ask->explore.seconds)
		c.until = server_now() + (double)ask->explore.seconds;
	struct explore_gaps *gaps = arena_new(a, struct explore_gaps);
	int rc = EXIT_HOLDS;
	json_array_foreach(findings, k, r)
	{
		if (json_object_get(r, "suppressed") || json_object_get(r, "baseline"))
			continue;
		given++;
		memset(gaps, 0, sizeof *gaps);
		const char *bad = gaps_add(gaps, r, program, a);
		if (bad) {
			why = bad;
			continue;
		}
		if (!out->findings.len && !make_directory(&c))
			return EXIT_USAGE;
		struct explore_finding f = { .index = (uint32_t)k,
			                     .block = block_of(r, a),
			                     .sentence = arena_strdup(a, doc_text(r, "sentence")),
			                     .at = place_of(r, a) };
		rc = explore_one(&c, gaps, &f, false);
		if (rc == EXIT_HOLDS && f.status == EXPLORE_NOT_REACHED)
			rc = explore_one(&c, gaps, &f, true);
		if (rc != EXIT_HOLDS)
			return rc;
		avec_push(a, &out->findings, f);
	}
	if (out->findings.len < given && out->findings.len)
		buf_printf(&cli->err, "intact: %zu of the findings are left out: %s\n", given - out->findings.len, why);
	return out->findings.len ? EXIT_HOLDS : no_finding(cli, ask, given, why);
}

int confirm_code(const struct explore_confirmation *c)
{
	bool yes = false, cut = false;
	for (uint32_t i = 0; i < c->findings.len; i++) {
		yes |= c->findings.data[i].status == EXPLORE_CONFIRMED;
		cut |= c->findings.data[i].status == EXPLORE_CUT_SHORT;
	}
	return yes ? EXIT_VIOLATED : cut ? EXIT_UNKNOWN : EXIT_HOLDS;
}
