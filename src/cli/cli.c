/* cli: what the commands share (cli.h). Which commands there are is the table of the program: main.c, or that of the playground. */
#include "cli/cli.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/fold.h"
#include "base/invariant.h"
#include "version.h"

const struct cmd *cli_find(const char *name)
{
	assert(name);
	for (int i = 0; cli_commands[i]; i++)
		if (!strcmp(cli_commands[i]->name, name))
			return cli_commands[i];
	return NULL;
}

int cli_help(struct cli *cli, const struct cmd *cmd, const struct opt *table)
{
	assert(cmd->usage && cmd->about);
	if (cli->help) {
		cli->help(cli, cmd, table);
		return EXIT_HOLDS;
	}
	buf_printf(&cli->out, "usage: intact %s\n\n%s\n", cmd->usage, cmd->about);
	if (table) {
		buf_str(&cli->out, "\noptions:\n");
		opts_help(table, &cli->out);
	}
	return EXIT_HOLDS;
}

void cli_all_help(struct cli *cli, const struct cmd *cmd)
{
	char *help[] = { "--help", NULL };
	cmd->run(cli, cmd, 1, help);
	for (const char *s = cmd->takes ? cmd->takes : ""; *s; s += strcspn(s, " "), s += *s == ' ') {
		char word[32];
		size_t n = strcspn(s, " ");
		if (!isalpha((unsigned char)*s) || n >= sizeof word)
			continue;
		memcpy(word, s, n);
		word[n] = 0;
		char *of_word[] = { word, "--help", NULL };
		cmd->run(cli, cmd, 2, of_word);
	}
}

enum { MAX_SHARDS = 100000 };

bool cli_shard(const char *text, uint32_t *shard, uint32_t *shards)
{
	char *end;
	if (*text < '0' || *text > '9')
		return false;
	unsigned long k = strtoul(text, &end, 10), n = 0;
	if (*end == '/' && end[1] >= '0' && end[1] <= '9')
		n = strtoul(end + 1, &end, 10);
	*shard = (uint32_t)(k - 1);
	*shards = (uint32_t)n;
	return !*end && k >= 1 && k <= n && n <= MAX_SHARDS;
}

int cli_usage(struct cli *cli, const struct cmd *cmd, const char *fmt, ...)
{
	assert(cmd->name && cmd->usage);
	va_list ap;
	va_start(ap, fmt);
	buf_printf(&cli->err, "intact %s: ", cmd->name);
	buf_vprintf(&cli->err, fmt, ap);
	va_end(ap);
	buf_printf(&cli->err, "\nusage: intact %s\n", cmd->usage);
	return EXIT_USAGE;
}

int cli_unknown_command(struct cli *cli, const char *name)
{
	const char *names[64];
	int n = 0;
	for (; cli_commands[n] && n < 64; n++)
		names[n] = cli_commands[n]->name;
	buf_str(&cli->err, "intact: unknown command '");
	buf_safe(&cli->err, name, strlen(name));
	buf_str(&cli->err, "'");
	int best = nearest_name(name, names, n);
	if (best >= 0)
		buf_printf(&cli->err, "; did you mean '%s'?", names[best]);
	else if (strchr(name, '.'))
		buf_str(&cli->err, "; to check a model: intact check FILE");
	buf_str(&cli->err, "\n'intact help' lists the commands.\n");
	return EXIT_USAGE;
}

static int run_version(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	if (argc > 0 && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h")))
		return cli_help(cli, cmd, NULL);
	if (argc > 0)
		return cli_usage(cli, cmd, "takes no arguments");
	buf_str(&cli->out, "intact " INTACT_VERSION "\n");
	return EXIT_HOLDS;
}

const struct cmd cmd_version = {
	"version", "show the version", "version", "Prints the version and exits.", NULL, run_version,
};
