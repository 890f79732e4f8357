#include "judge/functions.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/invariant.h"
#include "base/paths.h"
#include "dynamic/replay.h"
#include "program/run_report.h"
#include "report/doc.h"

enum { SCHEDULES = 8 };
#define ROOM (UINT64_C(1) << 22) /* records: 64 MiB, untouched until used */

struct survey {
	struct cli *cli;
	const struct control *c; /* counts and modules */
	const char *program;
	struct arena *arena;
	struct explore_gaps *out;
};

static void put_text(struct rec *r, unsigned kind, const char *text, size_t n)
{
	assert(n <= REC_TEXT_MAX);
	r[0] = rec_make(REC_TEXT, kind, n, 0, 0);
	memset(r + 1, 0, rec_letters(r[0]) * sizeof *r);
	memcpy(r + 1, text, n);
}

/* What a recording begins with: the loaded files. */
static void feed_modules(struct survey *s, struct replay *r)
{
	for (uint32_t i = 0; i < s->c->nmodules && i < CONTROL_MODULES; i++) {
		const struct control_module *m = &s->c->modules[i];
		struct rec rec[2 + CONTROL_PATH / 16 + 2];
		size_t n = strnlen(m->path, CONTROL_PATH - 1);
		put_text(rec, REC_TEXT_PATH, m->path, n);
		size_t k = 1 + rec_letters(rec[0]);
		assert(k + 2 <= sizeof rec / sizeof *rec);
		rec[k++] = rec_make(REC_MODULE, 0, m->lo, 0, m->hi);
		rec[k++] = rec_make(REC_MODULE, 1, m->base, 0, 0);
		replay_feed(r, rec, k);
	}
}

/* Of those that the analysis itself knows: report_loops (runtime/record_out.c). */
static void feed_options(struct replay *r)
{
	const char *options = getenv("INTACT_OPTIONS"), *at = options ? strstr(options, "report_loops=") : NULL;
	struct rec rec[3];
	put_text(rec, REC_TEXT_OPTIONS, at && at[13] != '0' ? "0 0 1" : "0 0 0", 5);
	replay_feed(r, rec, 1 + rec_letters(rec[0]));
}

/* A marked block has no name in these records: it gets one, by which its findings are known (add_findings). */
static void feed_records(struct replay *r, const struct rec *rec, size_t n)
{
	size_t from = 0;
	struct rec named[4];
	put_text(named, REC_TEXT_MARK, "marked", 6);
	size_t k = 1 + rec_letters(named[0]);
	assert(k < sizeof named / sizeof *named);
	for (size_t i = 0; i < n; i++) {
		if (rec_kind(rec[i]) != REC_MARK)
			continue;
		replay_feed(r, rec + from, i - from);
		named[k] = rec_make(REC_MARK, REC_NAMED, rec_addr(rec[i]), rec_slot(rec[i]), rec_pc(rec[i]));
		replay_feed(r, named, k + 1);
		from = i + 1;
	}
	replay_feed(r, rec + from, n - from);
}

static bool same_place(const struct control_gap_place *a, const struct control_gap_place *b)
{
	return a->module == b->module && a->offset == b->offset;
}

static bool same(const struct control_gap *a, const struct control_gap *b)
{
	return same_place(&a->commit, &b->commit) && same_place(&a->violation, &b->violation) &&
	       same_place(&a->entered, &b->entered);
}

/* Those of one schedule. Marked blocks, too: they are judged in any case, but the search is steered into their gaps. */
static void add_findings(struct survey *s, const json_t *findings)
{
	struct explore_gaps *g = s->out;
	const json_t *f;
	size_t k;
	json_array_foreach(findings, k, f)
	{
		uint32_t n = g->n;
		if (json_object_get(f, "suppressed") || gaps_add(g, f, s->program, s->arena))
			continue;
		for (uint32_t i = 0; i < n; i++)
			if (same(&g->gap[i], &g->gap[n]))
				g->n = n;
	}
	assert(g->n <= CONTROL_GAPS);
}

static void judge(struct survey *s, const struct rec *rec, size_t n)
{
	struct replay *r = replay_new();
	struct buf message, text, results;
	struct run_shown shown;
	buf_init(&message);
	buf_init(&text);
	buf_init(&results);
	if (r) {
		feed_modules(s, r);
		feed_options(r);
		feed_records(r, rec, n);
		if (replay_message(r, &message)) {
			struct run_reporting how = { .options = getenv("INTACT_OPTIONS"), .err = &text, .all = true };
			struct run_message m = { buf_cstr(&message), message.len, NULL };
			buf_char(&results, '[');
			run_report(&how, &m, 1, &results, &text, &shown);
			buf_char(&results, ']');
			json_t *findings = json_loadb(buf_cstr(&results), results.len, 0, NULL);
			add_findings(s, findings);
			json_decref(findings);
		}
	}
	replay_free(r);
	buf_free(&message);
	buf_free(&text);
	buf_free(&results);
}

/* Numbers in the block are the program's: not trusted. */
static void judge_all(struct survey *s, const struct rec *rec)
{
	assert(s->c);
	uint64_t from = 0;
	for (uint32_t i = 0; i < s->c->nsurveys && i < CONTROL_SURVEYS; i++) {
		uint64_t to = s->c->survey_end[i];
		if (to < from || to > ROOM)
			return;
		bool texts = false; /* they say how many records follow; the program writes none */
		for (uint64_t k = from; k < to && !texts; k++)
			texts = rec_kind(rec[k]) == REC_TEXT || rec_kind(rec[k]) == REC_MODULE;
		if (!texts)
			judge(s, rec + from, to - from);
		from = to;
	}
	if (s->c->survey_full)
		buf_str(&s->cli->err, "intact: the schedules are too long to find all functions that `intact run` would report; "
		                      "--atomic names those that matter\n");
}

bool functions_survey(struct cli *cli, const struct explore_ask *ask, struct arena *a, struct explore_gaps *out)
{
	assert(ask->argv && ask->argv[0]);
	struct explore_ask some = *ask;
	struct explore_got got;
	char program[PATH_MAX];
	struct cli quiet = *cli;
	int fd = memfd_create("intact-survey", 0);
	void *rec = MAP_FAILED;
	bool done = false;
	if (fd > 0 && !ftruncate(fd, (off_t)(ROOM * sizeof(struct rec))))
		rec = mmap(NULL, ROOM * sizeof(struct rec), PROT_READ, MAP_SHARED, fd, 0);
	if (rec != MAP_FAILED && find_in_path(ask->argv[0], program, sizeof program)) {
		buf_init(&quiet.err);
		buf_init(&quiet.out);
		some.survey_fd = fd;
		some.survey_room = ROOM;
		some.schedules = SCHEDULES;
		some.jobs = 1;
		some.strategy = SCHED_MIX;
		some.no_coverage = true;
		if (ask->until > 0) /* half of the time at most */
			some.until = (server_now() + ask->until) / 2;
		int rc = explore_search(&quiet, &some, &got);
		done = rc == EXIT_HOLDS && got.modules;
		if (done) {
			struct survey s = { cli, got.modules, program, a, out };
			judge_all(&s, rec);
		}
		explore_got_free(&got);
		buf_free(&quiet.err);
		buf_free(&quiet.out);
	}
	if (rec != MAP_FAILED)
		munmap(rec, ROOM * sizeof(struct rec));
	if (fd >= 0)
		close(fd);
	return done;
}
