/*
 * verify: checks a saved result without what made it: of a model (check_verify.c), a trace (trace_verify.c) or a
 * history (history_verify.c).
 */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "cli/outputs.h"
#include "verify/verify.h"

struct options {
	uint64_t max_states, max_bytes;
	const char *certificate;
	struct outputs outputs;
};

/* The document in the file ("-": standard input); NULL after a message. */
static json_t *load(struct cli *cli, const char *path)
{
	json_error_t je;
	json_t *root = strcmp(path, "-") ? json_load_file(path, JSON_REJECT_DUPLICATES, &je)
	                                 : json_loadf(stdin, JSON_REJECT_DUPLICATES, &je);
	if (root)
		return root;
	buf_str(&cli->err, "intact verify: ");
	buf_safe(&cli->err, path, strlen(path));
	buf_printf(&cli->err, ":%d:%d: ", je.line, je.column);
	buf_safe(&cli->err, je.text, strlen(je.text));
	buf_str(&cli->err, "\nhint: verify expects a result that was saved with --json\n");
	return NULL;
}

static int judge(struct cli *cli, const struct cmd *cmd, struct options *x, const char *path, const char *about)
{
	assert(x->max_states);
	json_t *root = load(cli, path);
	struct claim_list l;
	struct buf wrong;
	int rc;
	if (!root)
		return EXIT_USAGE;
	buf_init(&wrong);
	claims_init(&l, cli, path, verify_kind(root));
	rc = verify_result(&l, root, about, x->max_states, &wrong);
	if (wrong.len)
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&wrong));
	buf_free(&wrong);
	rc = claims_end(&l, cli, cmd, &x->outputs, rc);
	json_decref(root);
	return rc;
}

/* A certificate against its model. */
static int judge_certificate(struct cli *cli, const struct cmd *cmd, struct options *x, const char *model)
{
	struct claim_list l;
	claims_init(&l, cli, x->certificate, "certificate");
	return claims_end(&l, cli, cmd, &x->outputs, certificate_verify(&l, x->certificate, model, x->max_bytes));
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct options x = { .max_states = VERIFY_STATES, .max_bytes = VERIFY_BYTES };
	const struct opt table[] = {
		{ OPT_UINT, "max-states", 0, "N", &x.max_states,
		  "maximum number of states for claims that something holds (300000)", 1, 1u << 30, NULL },
		{ OPT_STR, "certificate", 0, "FILE", &x.certificate,
		  "verify this certificate of 'intact check --certificate' for MODEL", 0, 0, NULL },
		{ OPT_SIZE, "max-memory", 0, "SIZE", &x.max_bytes, "memory limit for a certificate (default: 4G)", 1 << 20, 0,
		  NULL },
		OUTPUT_OPTIONS(&x.outputs),
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
	else if (!o.nargs && outputs_swallowed(&x.outputs, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (x.certificate && o.nargs != 1)
		rc = cli_usage(cli, cmd, "--certificate: expected one MODEL argument");
	else if (o.nargs < 1 || o.nargs > 2)
		rc = cli_usage(cli, cmd, "expected RESULT and optionally the model, trace or history");
	else if (outputs_wrong(&x.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&x.outputs));
	else if (x.outputs.json && strcmp(args[0], "-") && !strcmp(x.outputs.json, args[0]))
		rc = cli_usage(cli, cmd, "--json would overwrite the result that is verified");
	else if (x.certificate && x.outputs.json && !strcmp(x.outputs.json, x.certificate))
		rc = cli_usage(cli, cmd, "--json would overwrite the certificate that is verified");
	else if (x.certificate)
		rc = judge_certificate(cli, cmd, &x, args[0]);
	else
		rc = judge(cli, cmd, &x, args[0], o.nargs > 1 ? args[1] : NULL);
	buf_free(&err);
	free(args);
	return rc;
}

const struct cmd cmd_verify = {
	"verify",
	"verify a saved result independently of the engines",
	"verify [OPTIONS] RESULT.json [MODEL, TRACE or HISTORY]\n"
	"verify [OPTIONS] --certificate FILE MODEL",
	"Verifies a result of 'intact check --json': replays each counterexample and decides its claim\n"
	"independently: that no serial order of the same blocks explains the run, that the history of an\n"
	"object does not meet its condition, that the run has a fault, or that it is a deadlock. For\n"
	"claims that something holds, a separate search visits every run of the declared threads and\n"
	"every history of an object. Every question that was asked must have an answer; a proof for any\n"
	"number of threads is checked by the held locks. If a model is given, the result must be about\n"
	"exactly that text.\n"
	"For a result of 'intact trace --json', checks every cycle against the trace, or that there is no\n"
	"cycle. For a result of 'intact history --json --witness', checks every order and every proof\n"
	"against the history.\n\n"
	"With --certificate, goes through a certificate of 'intact check --certificate' once, without a\n"
	"search: a set of states that no step leaves and that shows nothing wrong (docs/certificates.md).\n"
	"Every question of the model is listed; those that the certificate does not cover are unchecked.\n\n"
	"Exit code: 0 everything is accepted, 1 something is rejected or missing, 2 usage or input,\n"
	"3 unknown (a limit was reached, or a part cannot be checked and is named), 4 internal error.",
	"*.json *.atm *.sml *.trace *.std *.edn",
	run,
};
