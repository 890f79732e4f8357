/* diff: what is new in the findings of a second run, as text and as reports. */
#include <stdlib.h>
#include <string.h>

#include "cli/outputs.h"
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

static int exit_of(const json_t *doc)
{
	return doc_is(doc, "verdict", "violated") ? EXIT_VIOLATED : doc_is(doc, "verdict", "unknown") ? EXIT_UNKNOWN : EXIT_HOLDS;
}

static int compare(struct cli *cli, const struct cmd *cmd, const char *const *files, bool only_new, const struct outputs *outputs)
{
	struct arena a;
	struct buf text, why;
	arena_init(&a, 0);
	buf_init(&text);
	buf_init(&why);
	json_t *before = document(cli, &a, files[0]), *after = before ? document(cli, &a, files[1]) : NULL, *doc = NULL;
	struct findings_diff d = { files[0], files[1], before, after, only_new };
	int rc = EXIT_USAGE;
	if (after) {
		findings_diff(&d, &text);
		doc = text.failed ? NULL : doc_parse(buf_cstr(&text), text.len, &why);
		rc = doc ? exit_of(doc) : EXIT_INTERNAL;
	}
	if (doc && !outputs_take_stdout(outputs) && !outputs->github)
		findings_diff_text(doc, &cli->out);
	else if (after && !doc)
		buf_printf(&cli->err, "intact diff: internal error: the result is not a valid document: %s\n", buf_cstr(&why));
	if (doc && outputs_wanted(outputs))
		rc = outputs_write(cli, cmd, outputs, &text, rc);
	json_decref(before);
	json_decref(after);
	json_decref(doc);
	buf_free(&text);
	buf_free(&why);
	arena_free(&a);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args), *wrong;
	bool only_new = false;
	struct outputs outputs = { 0 };
	const struct opt table[] = {
		{ OPT_FLAG, "new", 0, NULL, &only_new, "list new findings only", 0, 0, NULL },
		OUTPUT_OPTIONS(&outputs),
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
	else if ((wrong = outputs_wrong(&outputs)))
		rc = cli_usage(cli, cmd, "%s", wrong);
	else
		rc = compare(cli, cmd, args, only_new, &outputs);
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
	"Exit code: 0 no new finding, 1 new findings, 2 usage or input, 3 unknown: there is no new finding in AFTER.json,\n"
	"but that run came to no answer (nothing was watched, or a signal ended the program).",
	"*.json",
	run,
};
