/*
 * completion: as for man pages, each command runs with --help and cli->help set and hands over its table; what a shell
 * needs to know of it is written at once. A value is completed by its kind: choices by their names, files by the suffixes
 * of their option (completion_files), directories by name; numbers and patterns not at all.
 */
#include "cli/cmd_help.h"

#include <ctype.h>
#include <string.h>

#include "base/invariant.h"
#include "cli/completion_int.h"

enum { MAX_TOPICS = 256 };

struct scripting {
	const struct completion_shell *shell;
	const struct cmd *first;
	bool told;
};

const char *completion_files(const struct cmd *cmd, const struct opt *t)
{
	static const struct {
		const char *option, *suffixes;
	} usual[] = {
		{ "json", ".json" },        { "html", ".html" },    { "sarif", ".sarif" }, { "junit", ".xml" },
		{ "dot", ".dot .gv" },      { "confirm", ".json" }, { "verify", ".json" }, { "replay", ".schedule" },
		{ "perfetto", ".pftrace" }, { "chrome", ".json" },
	};
	if (t->kind == OPT_FLAG || t->kind == OPT_GROUP || t->kind == OPT_CHOICE || !t->arg)
		return NULL;
	for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
		if (!strcmp(usual[i].option, t->name))
			return usual[i].suffixes;
	if (!strcmp(t->name, "spec") && !strcmp(cmd->name, "history"))
		return ".spec";
	return !strcmp(t->arg, "FILE") || !strcmp(t->arg, "DIR") || !strcmp(t->arg, "REPORT") ? "" : NULL;
}

/* Of `takes`: the words with this first character, without it; its globs as suffixes (".atm .sml"). */
static void taken(const struct cmd *cmd, char kind, struct buf *out)
{
	const char *s = cmd->takes ? cmd->takes : "";
	while (*s) {
		size_t n = strcspn(s, " ");
		char k = isalpha((unsigned char)*s) ? 'w' : *s;
		if (k == kind) {
			if (out->len)
				buf_char(out, ' ');
			buf_add(out, s + (k != 'w'), n - (k != 'w'));
		}
		s += n;
		s += *s == ' ';
	}
}

static void topics(struct buf *out)
{
	const char *names[MAX_TOPICS];
	int n = explain_names(names, MAX_TOPICS);
	for (int i = 0; i < n; i++)
		buf_printf(out, "%s%s", i ? " " : "", names[i]);
}

void completion_commands(struct buf *out)
{
	for (int i = 0; cli_commands[i]; i++)
		buf_printf(out, "%s%s", i ? " " : "", cli_commands[i]->name);
}

void completion_words(const struct cmd *cmd, struct buf *out)
{
	struct buf kind;
	buf_init(&kind);
	taken(cmd, '@', &kind);
	if (!strchr(cmd->name, ' ')) /* trace convert has the row of trace */
		taken(cmd, 'w', out);
	if (!strcmp(buf_cstr(&kind), "topic"))
		topics(out);
	else if (!strcmp(buf_cstr(&kind), "command"))
		completion_commands(out);
	buf_free(&kind);
}

void completion_suffixes(const struct cmd *cmd, struct buf *out)
{
	taken(cmd, '*', out);
}

bool completion_of_program(const struct cmd *cmd)
{
	return cmd->takes && strstr(cmd->takes, "@program");
}

static const struct completion_shell *const shells[] = { &completion_bash, &completion_zsh, &completion_fish };

static void told(struct cli *cli, const struct cmd *cmd, const struct opt *table)
{
	struct scripting *s = cli->help_arg;
	if (s->told && !strcmp(cmd->name, s->first->name))
		return; /* a word without a help of its own */
	s->told = true;
	s->shell->table(&cli->out, cmd, table);
}

int completion_script(struct cli *cli, const char *shell)
{
	struct scripting s = { 0 };
	for (size_t i = 0; i < sizeof shells / sizeof *shells; i++)
		if (!strcmp(shells[i]->name, shell))
			s.shell = shells[i];
	assert(s.shell && !cli->help);
	s.shell->begin(&cli->out);
	cli->help_arg = &s;
	cli->help = told;
	for (int i = 0; cli_commands[i]; i++) {
		s.first = cli_commands[i];
		s.told = false;
		cli_all_help(cli, cli_commands[i]);
	}
	cli->help = NULL;
	s.shell->end(&cli->out);
	return EXIT_HOLDS;
}
