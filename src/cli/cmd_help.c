/*
 * cmd_help: `intact help`: the list of the commands, the help of one, and what is made of the same rows and option tables:
 * man pages (man_page.c) and completions (completion.c). The build calls it for these, so they cannot differ from --help.
 */
#include "cli/cmd_help.h"

#include <string.h>

#include "cli/cli.h"

void help_overview(struct buf *out)
{
	buf_str(out, "intact checks whether code that is meant to be atomic really is.\n\n"
	             "usage: intact COMMAND [OPTIONS] ...\n\n"
	             "commands:\n");
	for (int i = 0; cli_commands[i]; i++)
		buf_printf(out, "  %-10s %s\n", cli_commands[i]->name, cli_commands[i]->summary);
	buf_str(out, "\nSee 'intact help COMMAND' or 'intact COMMAND --help'.\n"
	             "Try: intact sim examples/lost-update.atm\n");
}

static int help_of(struct cli *cli, const struct cmd *c)
{
	char *help[] = { "--help", NULL };
	return c->run(cli, c, 1, help);
}

static int run_help(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	static const char *const shells[] = { "none", "bash", "zsh", "fish", NULL };
	const char *args[16];
	bool man = false;
	int shell = 0, rc;
	const struct opt table[] = {
		{ OPT_FLAG, "man", 0, NULL, &man, "write the man page of COMMAND, or of intact, in roff", 0, 0, NULL },
		{ OPT_CHOICE, "completion", 0, "SHELL", &shell, "write a completion script", 0, 0, shells },
		{ 0 },
	};
	struct opts o = { table, args, 0, false };
	struct buf err;
	buf_init(&err);
	const struct cmd *c = NULL;
	if (argc > 15)
		rc = cli_usage(cli, cmd, "expected at most one COMMAND argument");
	else if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, table);
	else if (o.nargs > 1 || (o.nargs && shell))
		rc = cli_usage(cli, cmd, shell ? "--completion takes no COMMAND" : "expected at most one COMMAND argument");
	else if (man && shell)
		rc = cli_usage(cli, cmd, "--man and --completion cannot be combined");
	else if (o.nargs && !(c = cli_find(args[0])))
		rc = cli_unknown_command(cli, args[0]);
	else if (man)
		rc = man_page(cli, c);
	else if (shell)
		rc = completion_script(cli, shells[shell]);
	else if (c)
		rc = help_of(cli, c);
	else {
		help_overview(&cli->out);
		rc = EXIT_HOLDS;
	}
	buf_free(&err);
	return rc;
}

const struct cmd cmd_help = {
	"help",
	"show help on a command; man pages and completions",
	"help [COMMAND]\n"
	"       intact help --man [COMMAND]\n"
	"       intact help --completion=SHELL",
	"Shows the list of commands, or the help of one. --man and --completion write the same as a man page\n"
	"or a completion script; an installation has them already.\n\n"
	"  intact help --man run | man -l -\n"
	"  source <(intact help --completion=bash)",
	"@command",
	run_help,
};
