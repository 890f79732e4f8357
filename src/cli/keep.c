#include "cli/keep.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"

#define DEFAULT_EVERY "10m"

static volatile sig_atomic_t stop;

static void ask_to_stop(int sig)
{
	(void)sig;
	stop = 1;
}

/* A word as a shell reads it back. */
static void say_word(struct buf *b, const char *s)
{
	if (*s && strspn(s, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,@%") == strlen(s)) {
		buf_str(b, s);
		return;
	}
	buf_char(b, '\'');
	for (; *s; s++)
		if (*s == '\'')
			buf_str(b, "'\\''");
		else
			buf_char(b, *s);
	buf_char(b, '\'');
}

/* Is this word the option --name, and does its value follow as a word of its own? */
static bool is_option(const char *word, const char *name, bool *alone)
{
	size_t n = strlen(name);
	if (strncmp(word, "--", 2) != 0 || strncmp(word + 2, name, n) != 0)
		return false;
	*alone = !word[2 + n];
	return *alone || word[2 + n] == '=';
}

static void say_command(const struct keep *k, const struct cmd *cmd, struct buf *b)
{
	buf_printf(b, "resume: intact %s --resume ", cmd->name);
	say_word(b, k->resume ? k->resume : k->checkpoint);
	for (int i = 0; i < k->argc; i++) {
		bool alone;
		if (is_option(k->argv[i], "checkpoint", &alone) || is_option(k->argv[i], "resume", &alone)) {
			i += alone;
			continue;
		}
		buf_char(b, ' ');
		say_word(b, k->argv[i]);
	}
	buf_char(b, '\n');
}

int keep_begin(struct keep *k, struct cli *cli, const struct cmd *cmd, const struct ir *p, struct check_options *o)
{
	const char *dir = k->resume ? k->resume : k->checkpoint;
	struct check_keep setup = { .dir = dir, .resume = k->resume != NULL, .stop = &stop };
	struct sigaction on = { .sa_handler = ask_to_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
	struct buf err;
	if (!dir && k->every)
		return cli_usage(cli, cmd, "--every needs --checkpoint or --resume");
	if (!dir)
		return EXIT_HOLDS;
	if (k->resume && k->checkpoint && strcmp(k->resume, k->checkpoint) != 0)
		return cli_usage(cli, cmd, "--resume continues in its own directory: it cannot be combined with --checkpoint");
	if (o->engine && o->engine->ask_itself)
		return cli_usage(cli, cmd, "--engine=%s cannot be checkpointed: it is no search over states",
		                 o->engine->about.name);
	if (!check_keep_interval(k->every ? k->every : DEFAULT_EVERY, &setup.every))
		return cli_usage(cli, cmd, "--every: expected a time such as 90s, 10m or 2h");
	buf_init(&err);
	o->search.checkpoint = k->c = check_keep_open(&setup, p, o, &err);
	if (!k->c) {
		buf_str(&cli->err, "intact check: --");
		buf_str(&cli->err, k->resume ? "resume" : "checkpoint");
		buf_str(&cli->err, ": directory '");
		buf_safe(&cli->err, dir, strlen(dir));
		buf_printf(&cli->err, "' %s\n", buf_cstr(&err));
	}
	buf_free(&err);
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGTERM, &on, NULL);
	return k->c ? EXIT_HOLDS : EXIT_USAGE;
}

static void say_trouble(const struct keep *k, struct cli *cli)
{
	const char *why = checkpoint_trouble(k->c);
	if (why)
		buf_printf(&cli->err, "intact check: %s%s\n", why,
		           checkpoint_exists(k->c) ? "; the one before it is complete" : "");
}

bool keep_cut(struct keep *k, struct cli *cli, const struct cmd *cmd, int *rc)
{
	if (!k->c || (!checkpoint_failed(k->c) && !checkpoint_interrupted(k->c)))
		return false;
	*rc = checkpoint_failed(k->c) ? EXIT_USAGE : EXIT_UNKNOWN;
	say_trouble(k, cli);
	if (!checkpoint_failed(k->c)) {
		buf_str(&cli->err, "intact check: interrupted before every question was answered\n");
		if (checkpoint_exists(k->c))
			say_command(k, cmd, &cli->err);
	}
	checkpoint_close(k->c);
	k->c = NULL;
	return true;
}

void keep_end(struct keep *k, struct cli *cli, const struct cmd *cmd, int rc)
{
	if (!k->c)
		return;
	checkpoint_finish(k->c);
	say_trouble(k, cli);
	if (rc == EXIT_UNKNOWN && checkpoint_kept(k->c) && checkpoint_exists(k->c)) {
		buf_str(&cli->err, "the search that reached a limit can continue, with another --timeout or --max-memory\n");
		say_command(k, cmd, &cli->err);
	}
	checkpoint_close(k->c);
	k->c = NULL;
}
