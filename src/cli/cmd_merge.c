/* merge: results of the parts of a check as the result of the whole. */
#include <stdlib.h>
#include <string.h>

#include "api/document_text.h"
#include "base/invariant.h"
#include "cli/outputs.h"
#include "report/doc.h"
#include "report/merge.h"
#include "report/render.h"

/* The document of a file; false: it cannot be read or is none, as cli->err says. */
static bool read_input(struct cli *cli, struct arena *a, const char *path, struct merge_input *in, json_t **doc)
{
	struct source src;
	struct why why;
	struct buf wrong;
	if (!source_read(&src, a, path, &why)) {
		buf_str(&cli->err, "intact merge: cannot read ");
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, ": %s\n", why.text);
		return false;
	}
	buf_init(&wrong);
	*doc = doc_parse(src.text, src.len, &wrong);
	if (!*doc) {
		bool placed = wrong.len && wrong.data[0] >= '0' && wrong.data[0] <= '9';
		buf_safe(&cli->err, path, strlen(path));
		buf_printf(&cli->err, "%s%s\n", placed ? ":" : ": error: ", buf_cstr(&wrong));
	}
	buf_free(&wrong);
	*in = (struct merge_input){ path, src.text, src.len, *doc };
	return *doc != NULL;
}

static int exit_of(const json_t *doc)
{
	return doc_is(doc, "verdict", "violated") ? EXIT_VIOLATED : doc_is(doc, "verdict", "unknown") ? EXIT_UNKNOWN : EXIT_HOLDS;
}

/* The text, the reports, and what was missing. */
static int tell(struct cli *cli, const struct cmd *cmd, const struct outputs *outputs, struct buf *text)
{
	struct render_text_options to = { .width = cli->columns, .color = cli->color_out, .utf8 = cli->utf8_out, .max_rows = 60 };
	struct buf why;
	buf_init(&why);
	json_t *doc = text->failed ? NULL : doc_parse(buf_cstr(text), text->len, &why);
	int rc = doc ? exit_of(doc) : EXIT_INTERNAL;
	if (!doc)
		buf_printf(&cli->err, "intact merge: internal error: the result is not a valid document: %s\n", buf_cstr(&why));
	else if (!outputs_take_stdout(outputs) && !outputs->github) {
		cli->prose = true;
		document_text(doc, &to, &cli->out);
	}
	if (doc && outputs_wanted(outputs))
		rc = outputs_write(cli, cmd, outputs, text, rc);
	json_decref(doc);
	buf_free(&why);
	return rc;
}

static int merge(struct cli *cli, const struct cmd *cmd, const char *const *files, uint32_t n, const struct outputs *outputs)
{
	struct arena a;
	struct buf text, notes;
	arena_init(&a, 0);
	buf_init(&text);
	buf_init(&notes);
	assert(n && n <= MERGE_MAX);
	json_t **docs = arena_array(&a, json_t *, n);
	struct merging m = { .arena = &a, .in = arena_array(&a, struct merge_input, n), .n = n, .err = &cli->err, .notes = &notes };
	int rc = EXIT_HOLDS;
	for (uint32_t i = 0; i < n && rc == EXIT_HOLDS; i++)
		rc = read_input(cli, &a, files[i], &m.in[i], &docs[i]) ? EXIT_HOLDS : EXIT_USAGE;
	if (rc == EXIT_HOLDS && merge_documents(&m, &text)) {
		if (notes.len)
			buf_printf(&cli->err, "intact merge: %s", buf_cstr(&notes));
		rc = tell(cli, cmd, outputs, &text);
	} else if (rc == EXIT_HOLDS) {
		rc = EXIT_USAGE;
		if (m.hint)
			buf_printf(&cli->err, "hint: %s\n", m.hint);
	}
	for (uint32_t i = 0; i < n; i++)
		json_decref(docs[i]);
	buf_free(&text);
	buf_free(&notes);
	arena_free(&a);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args), *wrong;
	struct outputs outputs = { 0 };
	const struct opt table[] = {
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
	else if (!o.nargs && outputs_swallowed(&outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (!o.nargs)
		rc = cli_usage(cli, cmd, "missing RESULT arguments (files written by --json)");
	else if ((uint32_t)o.nargs > MERGE_MAX)
		rc = cli_usage(cli, cmd, "more than %u results", MERGE_MAX);
	else if ((wrong = outputs_wrong(&outputs)))
		rc = cli_usage(cli, cmd, "%s", wrong);
	else
		rc = merge(cli, cmd, args, (uint32_t)o.nargs, &outputs);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_merge = {
	"merge",
	"join the results of parts of a check",
	"merge [OPTIONS] RESULT.json...",
	"Joins the results (--json) of all parts of a check into that of the whole: violated when a part is, unknown when\n"
	"a part is unknown or missing, and holds only when all parts are there and hold. Parts are those of\n"
	"'intact history --shard' and 'intact explore --shard', in any order. They must be of the same input, with the same\n"
	"options. Results of 'intact run' are joined, too: each function once.\n\n"
	"  intact history --shard 1/2 --json a.json examples/history/two-keys.json\n"
	"  intact history --shard 2/2 --json b.json examples/history/two-keys.json\n"
	"  intact merge a.json b.json\n\n"
	"Exit code: that of the whole (0 holds, 1 violated, 3 unknown or a part is missing), 2 usage or input.",
	"*.json",
	run,
};
