/* cmd_doctor: `intact doctor`: the rows of project/doctor.h as text or JSON. */
#include <stdlib.h>
#include <string.h>

#include "base/json_out.h"
#include "cli/project_options.h"
#include "project/doctor.h"
#include "project/project.h"

static const char *const states[] = { "ok", "note", "bad" };

static void project(struct cli *cli, struct doctor *d)
{
	char path[PATH_MAX];
	struct cli quiet = { .columns = 100 };
	const char *chosen = getenv("INTACT_PROJECT");
	buf_init(&quiet.out);
	buf_init(&quiet.err);
	if (chosen && !strcmp(chosen, "none")) {
		doctor_add(d, DOCTOR_OK, NULL, "project file", "ignored (INTACT_PROJECT=none)");
	} else if (!(chosen && *chosen) && !project_find(path, &quiet.err)) {
		doctor_add(d, DOCTOR_OK, NULL, "project file", "none; `intact init` writes one");
	} else {
		const char *file = chosen && *chosen ? chosen : path;
		bool ok = project_check(&quiet, file);
		doctor_add(d, ok ? DOCTOR_OK : DOCTOR_BAD, ok ? NULL : "the messages on standard error name the places",
		           "project file", "%s%s", file, ok ? "" : " has errors");
	}
	buf_add(&cli->err, buf_cstr(&quiet.err), quiet.err.len);
	buf_free(&quiet.out);
	buf_free(&quiet.err);
}

static void text(struct cli *cli, const struct doctor *d)
{
	static const char *const colours[] = { "\033[32m", "\033[33m", "\033[31m" };
	size_t width = 0;
	for (uint32_t i = 0; i < d->rows.len; i++)
		width = strlen(d->rows.data[i].subject) > width ? strlen(d->rows.data[i].subject) : width;
	width = width > 30 ? 30 : width;
	for (uint32_t i = 0; i < d->rows.len; i++) {
		const struct doctor_row *r = &d->rows.data[i];
		buf_printf(&cli->out, "%s%-4s%s  ", cli->color_out ? colours[r->state] : "", states[r->state],
		           cli->color_out ? "\033[0m" : "");
		buf_safe(&cli->out, r->subject, strlen(r->subject));
		buf_repeat(&cli->out, ' ', strlen(r->subject) < width ? width - strlen(r->subject) : 0);
		buf_str(&cli->out, "  ");
		buf_safe(&cli->out, r->found, strlen(r->found));
		buf_char(&cli->out, '\n');
		if (r->fix)
			buf_printf(&cli->out, "      fix: %s\n", r->fix);
	}
	if (d->bad)
		buf_printf(&cli->out, "\n%u problem%s\n", d->bad, d->bad == 1 ? "" : "s");
	else
		buf_str(&cli->out, "\neverything that is needed works\n");
}

static void json(struct cli *cli, const struct doctor *d)
{
	struct json_out j;
	json_out_init(&j, &cli->out, false);
	json_begin_object(&j, NULL);
	json_line(&j, 2);
	json_uint(&j, "problems", d->bad);
	json_line(&j, 2);
	json_begin_array(&j, "checks");
	for (uint32_t i = 0; i < d->rows.len; i++) {
		json_line(&j, 4);
		json_begin_object(&j, NULL);
		json_text(&j, "state", states[d->rows.data[i].state]);
		json_text(&j, "subject", d->rows.data[i].subject);
		json_text(&j, "found", d->rows.data[i].found);
		json_text_if(&j, "fix", d->rows.data[i].fix);
		json_end(&j);
	}
	json_line(&j, 2);
	json_end(&j);
	json_line(&j, 0);
	json_end(&j);
	json_out_end(&j);
	buf_char(&cli->out, '\n');
}

static int run_doctor(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	bool quick = false, as_json = false;
	const struct opt table[] = {
		{ OPT_FLAG, "quick", 'q', NULL, &quick, "compile and run nothing", 0, 0, NULL },
		{ OPT_FLAG, "json", 'j', NULL, &as_json, "write JSON", 0, 0, NULL },
		{ 0 },
	};
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts o = { table, args, 0, false };
	struct arena arena;
	struct doctor d = { .arena = &arena };
	struct buf err;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	arena_init(&arena, 0);
	buf_init(&err);
	if (!opts_parse(&o, argc, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (o.help) {
		rc = cli_help(cli, cmd, table);
	} else {
		doctor_machine(&d, quick);
		project(cli, &d);
		for (int i = 0; i < o.nargs; i++)
			doctor_program(&d, args[i]);
		(as_json ? json : text)(cli, &d);
		rc = d.bad ? EXIT_VIOLATED : EXIT_HOLDS;
	}
	buf_free(&err);
	arena_free(&arena);
	free(args);
	return rc;
}

const struct cmd cmd_doctor = {
	"doctor",
	"check whether this machine can build, watch and explore programs",
	"doctor [OPTIONS] [PROGRAM...]",
	"Looks at the compilers, the kernel, its limits and the project file, and says what is wrong and how\n"
	"to fix it. Each compiler builds a small program with a lost update, which is then watched and explored.\n"
	"A PROGRAM is examined: is it built with `intact cc`, does it have debug information?\n\n"
	"Exit code: 0 everything that is needed works (notes do not count), 1 there is a problem, 2 usage.",
	NULL,
	run_doctor,
};
