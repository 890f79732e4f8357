/* diff: what is new in the findings of a second run. */
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "report/doc.h"
#include "report/findings_diff.h"

/* The document of a file; NULL: it cannot be read or is none of `intact run`, as cli->err says. */
static json_t *document(struct cli *cli, struct arena *a, const char *path)
{
	struct source src;
	struct why why;
	struct buf wrong;
	if (!source_read(&src, a, path, &why)) {
		buf_str(&cli->err, "intact diff: cannot read ");
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, ": %s\n", why.text);
		return NULL;
	}
	buf_init(&wrong);
	json_t *doc = doc_parse(src.text, src.len, &wrong);
	if (doc && !doc_is(doc, "kind", "run")) {
		buf_str(&wrong, "expected a result of 'intact run', found one of 'intact ");
		buf_safe(&wrong, doc_text(doc, "kind"), strlen(doc_text(doc, "kind")));
		buf_str(&wrong, "'");
		json_decref(doc);
		doc = NULL;
	}
	if (!doc) {
		bool placed = wrong.len && wrong.data[0] >= '0' && wrong.data[0] <= '9';
		buf_safe(&cli->err, src.name, strlen(src.name));
		buf_printf(&cli->err, "%s%s\n", placed ? ":" : ": error: ", buf_cstr(&wrong));
		if (!placed)
			buf_str(&cli->err, "hint: 'intact run --json FILE ...' writes one\n");
	}
	buf_free(&wrong);
	return doc;
}

static int compare(struct cli *cli, const char *const *files, bool only_new)
{
	struct arena a;
	arena_init(&a, 0);
	json_t *before = document(cli, &a, files[0]), *after = before ? document(cli, &a, files[1]) : NULL;
	int rc = EXIT_USAGE;
	if (after)
		rc = findings_diff(before, after, only_new, &cli->out).added ? EXIT_VIOLATED : EXIT_HOLDS;
	json_decref(before);
	json_decref(after);
	arena_free(&a);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	bool only_new = false;
	const struct opt table[] = {
		{ OPT_FLAG, "new", 0, NULL, &only_new, "list new findings only", 0, 0, NULL },
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (o.nargs != 2)
		rc = cli_usage(cli, cmd, "expected two files written by 'intact run --json'");
	else
		rc = compare(cli, args, only_new);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_diff = {
	"diff",
	"compare the findings of two runs",
	"diff [OPTIONS] BEFORE.json AFTER.json",
	"Compares two results of 'intact run --json' and lists the findings that are new, gone or changed.\n"
	"A finding is known by its function, its pattern and the calls on both sides of the gap, by name:\n"
	"lines may have moved. Suppressed findings are not compared.\n\n"
	"  intact run --json before.json ./server-1.0\n"
	"  intact run --json after.json ./server-1.1\n"
	"  intact diff before.json after.json\n\n"
	"Exit code: 0 no new finding, 1 new findings, 2 usage or input.",
	"*.json",
	run,
};
