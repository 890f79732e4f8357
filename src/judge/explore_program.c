#include "judge/explore_program.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/invariant.h"
#include "judge/functions.h"
#include "program/explore_schedule.h"
#include "program/explore_story.h"

int explore_program(struct cli *cli, struct explore_ask *ask, bool functions, struct arena *a, struct explore_got *got,
                    struct explore_report *report)
{
	bool surveyed = true;
	if (functions && !ask->replay) {
		struct explore_gaps *gaps = arena_new(a, struct explore_gaps);
		surveyed = functions_survey(cli, ask, a, gaps);
		ask->gaps = gaps->n ? gaps : NULL;
	}
	int rc = explore_search(cli, ask, got);
	if (rc == EXIT_HOLDS && !surveyed) /* otherwise the message of the search is the cause */
		buf_str(&cli->err, "intact: the functions that `intact run` would report could not be determined; they are not "
		                   "judged (--atomic names functions)\n");
	if (rc == EXIT_HOLDS && !ask->gdb)
		explore_story(ask, got, a, report);
	else
		explore_got_free(got);
	return rc;
}

/* ---- test cases ---- */

struct case_run {
	struct cli *cli;
	const struct explore_ask *ask;
	const struct test_cases *cases;
	const char *save;
	struct arena *arena;
	struct explore_cases *out;
	int code;
};

/* 1 violated; else 2 a case could not be explored; else 3 unknown; an internal error is worse than all. */
static int worse(int a, int b)
{
	static const int rank[] = {
		[EXIT_HOLDS] = 0, [EXIT_UNKNOWN] = 1, [EXIT_USAGE] = 2, [EXIT_VIOLATED] = 3, [EXIT_INTERNAL] = 4
	};
	assert(a >= 0 && a <= EXIT_INTERNAL && b >= 0 && b <= EXIT_INTERNAL);
	return rank[a] >= rank[b] ? a : b;
}

/* The case's messages, below its name. */
static void say_of(struct case_run *x, const char *name, const struct buf *said)
{
	if (!said->len)
		return;
	buf_str(&x->cli->err, "intact: case '");
	buf_safe(&x->cli->err, name, strlen(name));
	buf_str(&x->cli->err, "':\n");
	buf_add(&x->cli->err, said->data, said->len);
}

/* The first line of a message, without who says it. */
static const char *first_line(struct arena *a, const struct buf *said)
{
	const char *s = said->len ? said->data : "no message";
	size_t n = said->len ? said->len : strlen(s);
	const char *end = memchr(s, '\n', n);
	n = end ? (size_t)(end - s) : n;
	if (n > 8 && !strncmp(s, "intact: ", 8))
		s += 8, n -= 8;
	return arena_strndup(a, s, n);
}

static int save_case(struct case_run *x, const struct explore_ask *ask, const struct explore_got *got, uint32_t i,
                     struct explore_report *report)
{
	if (!x->save || !got->failed)
		return EXIT_HOLDS;
	char name[80];
	size_t n = 0;
	for (const char *s = x->cases->list.data[i].name; *s && n + 1 < sizeof name; s++) {
		bool plain = (*s >= 'a' && *s <= 'z') || (*s >= 'A' && *s <= 'Z') || (*s >= '0' && *s <= '9') || *s == '_' ||
		             (n && *s == '.');
		if (plain || (n && name[n - 1] != '-'))
			name[n++] = plain ? *s : '-';
	}
	name[n] = 0;
	const char *file = arena_printf(x->arena, "%s/%u-%s.schedule", x->save, i + 1, name);
	if (!explore_save(x->cli, file, ask, got))
		return EXIT_USAGE;
	report->replay = explore_replay_line(x->arena, file);
	return EXIT_HOLDS;
}

/* Its part of the time that is left. */
static void share_time(const struct case_run *x, uint32_t i, struct explore_ask *one)
{
	if (x->ask->until <= 0)
		return;
	double now = server_now(), part = (x->ask->until - now) / (double)(x->cases->list.len - i);
	part = part > 0.01 ? part : 0.01;
	one->until = now + part;
	one->seconds = part > 1 ? (uint64_t)part : 1;
}

static void explore_case(struct case_run *x, uint32_t i, bool functions)
{
	const struct test_case *t = &x->cases->list.data[i];
	struct explore_case c = { .name = t->name, .report = arena_new(x->arena, struct explore_report) };
	struct explore_ask one = *x->ask;
	struct explore_got got;
	struct cli quiet = *x->cli;
	buf_init(&quiet.err);
	one.argv = t->argv;
	share_time(x, i, &one);
	int rc = explore_program(&quiet, &one, functions, x->arena, &got, c.report);
	say_of(x, t->name, &quiet.err);
	if (rc == EXIT_HOLDS) {
		rc = explore_code(&one, c.report);
		rc = worse(rc, save_case(x, &one, &got, i, c.report));
		explore_got_free(&got);
	} else {
		c.report = NULL;
		c.why = first_line(x->arena, &quiet.err);
	}
	x->code = worse(x->code, rc);
	buf_free(&quiet.err);
	avec_push(x->arena, &x->out->cases, c);
}

static bool make_directory(struct cli *cli, const char *dir)
{
	struct stat st;
	if (!mkdir(dir, 0777) || (errno == EEXIST && !stat(dir, &st) && S_ISDIR(st.st_mode)))
		return true;
	buf_str(&cli->err, "intact: --save '");
	buf_safe(&cli->err, dir, strlen(dir));
	buf_printf(&cli->err, "': with --cases it is a directory, with a schedule for each case that fails: %s\n", strerror(errno));
	return false;
}

int explore_test_cases(struct cli *cli, const struct explore_ask *ask, bool functions, const struct test_cases *cases,
                       const char *save, struct arena *a, struct explore_cases *out)
{
	assert(cases->list.len && !ask->replay);
	struct case_run x = { .cli = cli, .ask = ask, .cases = cases, .save = save, .arena = a, .out = out };
	*out = (struct explore_cases){ .program = ask->argv[0],
		                       .arguments = (const char **)ask->argv + 1,
		                       .framework = cases->framework,
		                       .disabled = cases->disabled,
		                       .seed = ask->seed };
	while (out->arguments[out->narguments])
		out->narguments++;
	if (save && !make_directory(cli, save))
		return EXIT_USAGE;
	uint32_t alone = 0;
	for (uint32_t i = 0; i < cases->list.len; i++) {
		explore_case(&x, i, functions);
		alone += explore_case_outcome(&out->cases.data[i]) == EXPLORE_ALONE;
	}
	if (alone == cases->list.len) {
		buf_str(&cli->err, "intact: none of the cases has a second thread: nothing was explored\n");
		return EXIT_USAGE;
	}
	return x.code;
}
