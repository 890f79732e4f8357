/*
 * outputs: --json, --sarif, --html, --junit and --github, for every command.
 *
 * A command puts OUTPUT_OPTIONS into its table, and when outputs_wanted says
 * so writes its result as a document (docs/json.md) and hands that over.
 */
#ifndef INTACT_CLI_OUTPUTS_H
#define INTACT_CLI_OUTPUTS_H

#include "cli/cli.h"
#include "report/claim_list.h"

struct outputs {
	const char *json, *sarif, *html, *junit; /* files; "-": standard output */
	bool github;
};

/* clang-format off */
#define OUTPUT_OPTIONS(o) \
	{ OPT_GROUP, NULL, 0, NULL, NULL, "reports (FILE - is standard output, in place of the text)", 0, 0, NULL }, \
	{ OPT_FILE, "json", 0, "FILE", &(o)->json, "the result as JSON, for 'intact report' and programs", 0, 0, NULL }, \
	{ OPT_FILE, "html", 0, "FILE", &(o)->html, "an HTML page that needs no other files", 0, 0, NULL }, \
	{ OPT_FILE, "sarif", 0, "FILE", &(o)->sarif, "SARIF 2.1.0, for code scanning and editors", 0, 0, NULL }, \
	{ OPT_FILE, "junit", 0, "FILE", &(o)->junit, "JUnit XML, for build servers", 0, 0, NULL }, \
	{ OPT_FLAG, "github", 0, NULL, &(o)->github, "annotations for GitHub workflows", 0, 0, NULL }
/* clang-format on */

bool outputs_wanted(const struct outputs *o);
/* One of them takes standard output: no text there. */
bool outputs_take_stdout(const struct outputs *o);
/* NULL, or what is wrong with the combination. */
const char *outputs_wrong(const struct outputs *o);
/* On a terminal, after the text of a violation: how to look at it. `path` may
 * be NULL. */
void outputs_hint(struct cli *cli, const struct cmd *cmd, const struct outputs *o, const char *path, int rc);
/* A report option took the only word as its file: "--json MODEL"? Says so into
 * a usage error; false when that is not it. */
bool outputs_swallowed(const struct outputs *o, struct buf *why);
/* Writes one file ("-": standard output); false after a message. A file that
 * exists is replaced only when its beginning has the mark of such a report. */
bool outputs_file(struct cli *cli, const struct cmd *cmd, const char *path, const char *mark, struct buf *text);
/* The net or the prefix of a document for graphviz, as outputs_file writes. */
bool outputs_dot(struct cli *cli, const struct cmd *cmd, const char *path, const struct buf *document);
/* Writes everything asked for. Returns `rc`, or the code of what went wrong. */
int outputs_write(struct cli *cli, const struct cmd *cmd, const struct outputs *o, struct buf *document, int rc);

/* ---- claims.c: a list of claims (report/claim_list.h) whose text, messages and document are a command's ---- */

void claims_init(struct claim_list *l, struct cli *cli, const char *file, const char *of);
/* Writes the text, or the reports that are wanted in its place or besides, and frees the claims; the exit code. */
int claims_end(struct claim_list *l, struct cli *cli, const struct cmd *cmd, const struct outputs *o, int rc);

#endif
