/* cmd_net: `intact net FILE`: options, and what becomes of the result (judge/net.h). */
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "cli/outputs.h"
#include "judge/net.h"

struct net_command {
	struct net_args a;
	struct outputs outputs;
	const char *dot;
	int to;
};

static int judge(struct cli *cli, const struct cmd *cmd, const struct net_command *c, const char *path)
{
	assert(path);
	struct buf doc, wrong;
	bool text = c->to || !(outputs_take_stdout(&c->outputs) || (c->dot && !strcmp(c->dot, "-")));
	struct net_sink sink = { .text = text ? &cli->out : NULL,
		                 .err = &cli->err,
		                 .wrong = &wrong,
		                 .color_err = cli->color_err,
		                 .document = outputs_wanted(&c->outputs) || c->dot ? &doc : NULL };
	buf_init(&doc);
	buf_init(&wrong);
	int rc = c->to ? net_rewrite(c->to, path, &sink) : net_judge(&c->a, path, &sink);
	cli->prose = text && !c->to;
	if (wrong.len)
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&wrong));
	if (doc.len && c->dot)
		rc = outputs_dot(cli, cmd, c->dot, &doc) ? rc : EXIT_USAGE;
	if (doc.len)
		rc = outputs_write(cli, cmd, &c->outputs, &doc, rc);
	buf_free(&doc);
	buf_free(&wrong);
	return rc;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char **args = calloc((size_t)argc + 1, sizeof *args);
	struct net_command c = { .to = 0 };
	const struct opt table[] = {
		NET_QUESTION_OPTIONS(&c.a),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "limits (when one is reached, the answer is unknown)", 0, 0, NULL },
		NET_LIMIT_OPTIONS(&c.a),
		{ OPT_GROUP, NULL, 0, NULL, NULL, "output", 0, 0, NULL },
		{ OPT_CHOICE, "to", 0, "FORM", &c.to, "print the net in this format instead", 0, 0, net_forms },
		{ OPT_FILE, "dot", 0, "FILE", &c.dot, "write the prefix (or the net) for Graphviz, if it is small", 0, 0, NULL },
		OUTPUT_OPTIONS(&c.outputs),
		{ .help = NULL },
	};
	struct opts o = { table, args, 0, false };
	struct buf why;
	int rc;
	if (!args)
		return EXIT_INTERNAL;
	buf_init(&why);
	if (!opts_parse(&o, argc, argv, &why))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (!o.nargs && outputs_swallowed(&c.outputs, &why))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&why));
	else if (o.nargs != 1)
		rc = cli_usage(cli, cmd, o.nargs ? "expected one FILE argument" : "missing FILE argument");
	else if (outputs_wrong(&c.outputs))
		rc = cli_usage(cli, cmd, "%s", outputs_wrong(&c.outputs));
	else if (net_args_wrong(&c.a))
		rc = cli_usage(cli, cmd, "%s", net_args_wrong(&c.a));
	else
		rc = judge(cli, cmd, &c, args[0]);
	buf_free(&why);
	free(args);
	return rc;
}

const struct cmd cmd_net = {
	"net",
	"unfold a Petri net (PNML, ll_net)",
	"net [OPTIONS] FILE",
	"Builds the complete finite prefix of the unfolding of a 1-safe net. Reports its size, whether the\n"
	"net can deadlock, and whether places can be marked together. Reads PEP's ll_net and PNML\n"
	"place/transition nets ('-' is standard input). For a net that is not 1-safe, reports the place\n"
	"and the marking that show it.\n\n"
	"Exit code: 0 done (and not coverable), 1 coverable or (--deadlock) a deadlock, 2 usage or input,\n"
	"3 unknown (a limit was reached), 4 internal error.",
	"*.pnml *.ll_net",
	run,
};
