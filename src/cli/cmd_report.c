/*
 * report: a saved result, rendered again. The document is all that counts:
 * the page made here is the page that --html would have made in the command.
 */
#include <stdlib.h>
#include <string.h>

#include "api/document_text.h"
#include "cli/outputs.h"
#include "report/doc.h"
#include "report/render.h"

struct report {
	struct outputs outputs;
	const char *dot;
	bool text, full, check, schema;
};

static int exit_of(const json_t *doc)
{
	const char *v = doc_text(doc, "verdict");
	return !strcmp(v, "violated") ? EXIT_VIOLATED : !strcmp(v, "unknown") ? EXIT_UNKNOWN : EXIT_HOLDS;
}

static int render(struct cli *cli, const struct cmd *cmd, struct report *r, const struct source *src)
{
	struct buf why, text, dot;
	buf_init(&why);
	json_t *doc = doc_parse(src->text, src->len, &why);
	if (!doc) {
		buf_safe(&cli->err, src->name, strlen(src->name));
		/* "12:3: ..." goes on with the place */
		bool placed = why.len && why.data[0] >= '0' && why.data[0] <= '9';
		buf_printf(&cli->err, "%s%s%s\n", placed ? ":" : ": ", placed ? "" : "error: ", buf_cstr(&why));
		buf_free(&why);
		return EXIT_USAGE;
	}
	int rc = exit_of(doc);
	struct render_text_options to = {
		.width = cli->columns, .color = cli->color_out, .utf8 = cli->utf8_out, .max_rows = r->full ? 0 : 60
	};
	buf_init(&text);
	buf_init(&dot);
	if (r->check)
		buf_str(&cli->out, "a valid result of intact (docs/json.md)\n");
	else if (r->text || !(outputs_wanted(&r->outputs) || r->dot)) {
		cli->prose = true;
		document_text(doc, &to, &cli->out);
	}
	if (r->dot) {
		render_dot(doc, &dot);
		rc = outputs_file(cli, cmd, r->dot, "digraph intact", &dot) ? rc : EXIT_USAGE;
	}
	buf_add(&text, src->text, src->len);
	if (outputs_wanted(&r->outputs))
		rc = outputs_write(cli, cmd, &r->outputs, &text, rc);
	json_decref(doc);
	buf_free(&why);
	buf_free(&text);
	buf_free(&dot);
	return r->check ? EXIT_HOLDS : rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	struct report r = { 0 };
	const char **args = calloc((size_t)argc + 1, sizeof *args), *wrong;
	struct why why;
	const struct opt table[] = {
		{ OPT_FLAG, "text", 0, NULL, &r.text, "print text (the default without another output)", 0, 0, NULL },
		{ OPT_FLAG, "full", 0, NULL, &r.full, "show long runs in full", 0, 0, NULL },
		{ OPT_FLAG, "check", 0, NULL, &r.check, "only validate the file", 0, 0, NULL },
		{ OPT_FLAG, "schema", 0, NULL, &r.schema, "print the JSON Schema of results and exit", 0, 0, NULL },
		{ OPT_FILE, "dot", 0, "FILE", &r.dot, "write nets, prefixes and cycles for Graphviz", 0, 0, NULL },
		OUTPUT_OPTIONS(&r.outputs),
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	struct arena a;
	struct source src;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&err);
	arena_init(&a, 0);
	if (!opts_parse(&o, argc, argv, &err)) {
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	} else if (o.help) {
		rc = cli_help(cli, cmd, table);
	} else if (r.schema) {
		size_t len;
		const char *text = doc_schema(&len);
		buf_add(&cli->out, text, len);
		rc = EXIT_HOLDS;
	} else if (o.nargs != 1) {
		rc = cli_usage(cli, cmd,
		               o.nargs ? "expected one RESULT argument" : "missing RESULT argument (a file written by --json)");
	} else if ((wrong = outputs_wrong(&r.outputs))) {
		rc = cli_usage(cli, cmd, "%s", wrong);
	} else if (!source_read(&src, &a, args[0], &why)) {
		buf_str(&cli->err, "intact report: cannot read ");
		buf_safe(&cli->err, args[0], strlen(args[0]));
		buf_printf(&cli->err, ": %s\n", why.text);
		rc = EXIT_USAGE;
	} else {
		rc = render(cli, cmd, &r, &src);
	}
	arena_free(&a);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_report = {
	"report",
	"show a saved result: text, page, SARIF, JUnit, annotations",
	"report [OPTIONS] RESULT.json",
	"Renders a result that a command wrote with --json, exactly as that command would have. Checks\n"
	"nothing again: use 'intact verify' for that.\n\n"
	"  intact check --json r.json examples/lost-update.atm\n"
	"  intact report r.json --html r.html\n\n"
	"Exit code: that of the result (0 holds, 1 violated, 3 unknown), 2 usage or input.",
	"*.json",
	run,
};
