/* cmd_init: `intact init`: shows, and with --write carries out, the plan of project/init.h. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "project/init.h"

static void contents(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		buf_str(out, n ? "    | " : "    |");
		buf_add(out, text, n);
		buf_char(out, '\n');
		text += n;
		text += *text == '\n';
	}
}

static void show(struct cli *cli, const struct init_plan *p, bool written)
{
	struct buf *out = &cli->out;
	int missing = 0;
	buf_printf(out, "%s project (%s)\n", build_systems[p->system], p->found);
	for (int i = 0; i < p->nfiles; i++) {
		const struct init_file *f = &p->files[i];
		if (f->exists) {
			buf_printf(out, "\n%s exists; not changed\n", f->name);
			if (f->instead) {
				buf_str(out, "  to do: ");
				buf_add(out, f->instead, strcspn(f->instead, "\n"));
				buf_char(out, '\n');
				contents(out, strchr(f->instead, '\n') + 1);
			}
		} else {
			missing++;
			buf_printf(out, "\n%s %s%s\n", written ? "written:" : "would write", f->name, written ? "" : ":");
			if (!written)
				contents(out, f->text);
		}
	}
	buf_printf(out, "\n%s\n",
	           missing && !written ? "Write these files with `intact init --write`. Then build and test with"
	                               : "Build and test with");
	for (int i = 0; p->commands[i]; i++)
		buf_printf(out, "  %s\n", p->commands[i]);
	buf_str(out, "\nA test fails (status 66) when something is found. Keep build-intact out of version control; `intact "
	             "doctor` checks the machine.\n");
}

static int run_init(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	bool write = false;
	int system = BUILD_AUTO, rc;
	const struct opt table[] = {
		{ OPT_FLAG, "write", 'w', NULL, &write, "write the files; without it they are only shown", 0, 0, NULL },
		{ OPT_CHOICE, "build-system", 0, "NAME", &system, "the build system, when a project has several", 0, 0,
		  build_systems },
		{ 0 },
	};
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct opts o = { table, args, 0, false };
	struct init_plan plan;
	struct arena arena;
	struct buf err;
	if (!args)
		return EXIT_INTERNAL;
	arena_init(&arena, 0);
	buf_init(&err);
	const char *dir = ".";
	if (!opts_parse(&o, argc, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (o.help) {
		rc = cli_help(cli, cmd, table);
	} else if (o.nargs > 1) {
		rc = cli_usage(cli, cmd, "expected at most one DIRECTORY argument");
	} else if (!init_look(&plan, (enum build_system)system, dir = o.nargs ? args[0] : ".", &arena)) {
		buf_str(&cli->err, "intact init: '");
		buf_safe(&cli->err, dir, strlen(dir));
		buf_printf(&cli->err, "' has no %s\nhint: run it in the top directory of the project\n",
		           system == BUILD_AUTO    ? "CMakeLists.txt, meson.build, configure or Makefile"
		           : system == BUILD_CMAKE ? "CMakeLists.txt"
		           : system == BUILD_MESON ? "meson.build"
		           : system == BUILD_MAKE  ? "Makefile"
		                                   : "configure");
		rc = EXIT_USAGE;
	} else if (write && !init_write(&plan, dir, &err)) {
		buf_printf(&cli->err, "intact init: %s\n", buf_cstr(&err));
		rc = EXIT_USAGE;
	} else {
		show(cli, &plan, write);
		rc = EXIT_HOLDS;
	}
	buf_free(&err);
	arena_free(&arena);
	free(args);
	return rc;
}

const struct cmd cmd_init = {
	"init",
	"set a project up: build with `intact cc`, a project file",
	"init [OPTIONS] [DIRECTORY]",
	"Looks at a project (CMake, Meson, autotools, make) and shows the files that it needs to be built with\n"
	"the wrappers, beside its ordinary build, and the commands that do it. --write writes the files: a project\n"
	"file (intact.toml), a file for suppressions, and presets for CMake or a native file for Meson. A file that\n"
	"exists is never changed; what is to be added to it is shown.\n\n"
	"Exit code: 0 done, 2 usage, no known build system, or a file that cannot be written.",
	NULL,
	run_init,
};
