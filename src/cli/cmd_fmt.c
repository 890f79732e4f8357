#include "cli/cli.h"
static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	return cli_usage(cli, cmd, "not built yet");
}
const struct cmd cmd_fmt = { "fmt", "", "fmt MODEL", "", NULL, run };
