#include "cli/keep.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
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
	say_word(b, k->resume ? k->resume : k->checkpoint ? k->checkpoint : checkpoint_path(k->c));
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

/* A search leaves memory: said at once, as it may take long. */
static void say_begun(void *arg, uint64_t states)
{
	struct keep *k = arg;
	progress_end(k->line);
	fprintf(stderr, "intact check: %s after %llu states: the search goes on in files in '%s'\n",
	        k->place.from ? "--disk-from was reached" : "the memory limit was reached", (ull)states, k->disk);
	fflush(stderr);
}

/* --disk. EXIT_HOLDS, or what went wrong. */
static int begin_disk(struct keep *k, struct cli *cli, const struct cmd *cmd, struct check_options *o)
{
	if (!k->disk && (k->place.limit || k->place.from))
		return cli_usage(cli, cmd, "--disk-%s needs --disk", k->place.limit ? "size" : "from");
	k->place.dir = -1;
	if (!k->disk)
		return EXIT_HOLDS;
	if (o->engine && o->engine->ask_itself)
		return cli_usage(cli, cmd, "--engine=%s cannot use --disk: it is no search over states", o->engine->about.name);
	k->place.dir = open(k->disk, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (k->place.dir < 0) {
		buf_str(&cli->err, "intact check: --disk: directory '");
		buf_safe(&cli->err, k->disk, strlen(k->disk));
		buf_printf(&cli->err, "' cannot be opened: %s\n", strerror(errno));
		return EXIT_USAGE;
	}
	k->place.begun = say_begun;
	k->place.arg = k;
	o->search.disk = &k->place;
	return EXIT_HOLDS;
}

int keep_begin(struct keep *k, struct cli *cli, const struct cmd *cmd, const struct ir *p, struct check_options *o)
{
	const char *dir = k->resume ? k->resume : k->checkpoint;
	int rc = begin_disk(k, cli, cmd, o);
	if (rc != EXIT_HOLDS)
		return rc;
	struct check_keep setup = { .dir = dir ? dir : k->disk, .resume = k->resume != NULL, .later = !dir, .stop = &stop };
	struct sigaction on = { .sa_handler = ask_to_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART) };
	struct buf err;
	if (!setup.dir && k->every)
		return cli_usage(cli, cmd, "--every needs --checkpoint, --resume or --disk");
	if (!setup.dir)
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

static void close_keep(struct keep *k)
{
	checkpoint_close(k->c);
	k->c = NULL;
	if (k->place.dir >= 0)
		close(k->place.dir);
	k->place.dir = -1;
}

static void say_trouble(const struct keep *k, struct cli *cli, int rc)
{
	const char *why = checkpoint_trouble(k->c);
	if (k->place.why.text[0] && rc == EXIT_UNKNOWN)
		buf_printf(&cli->err, "intact check: --disk: %s\n", k->place.why.text);
	if (why)
		buf_printf(&cli->err, "intact check: %s%s\n", why,
		           checkpoint_exists(k->c) ? "; the one before it is complete" : "");
}

bool keep_cut(struct keep *k, struct cli *cli, const struct cmd *cmd, int *rc)
{
	if (!k->c || (!checkpoint_failed(k->c) && !checkpoint_interrupted(k->c)))
		return false;
	*rc = checkpoint_failed(k->c) ? EXIT_USAGE : EXIT_UNKNOWN;
	say_trouble(k, cli, *rc);
	if (!checkpoint_failed(k->c)) {
		buf_str(&cli->err, "intact check: interrupted before every question was answered\n");
		if (checkpoint_exists(k->c))
			say_command(k, cmd, &cli->err);
	}
	close_keep(k);
	return true;
}

void keep_end(struct keep *k, struct cli *cli, const struct cmd *cmd, int rc)
{
	if (!k->c)
		return;
	checkpoint_finish(k->c);
	say_trouble(k, cli, rc);
	if (rc == EXIT_UNKNOWN && checkpoint_kept(k->c) && checkpoint_exists(k->c)) {
		buf_str(&cli->err, "the search that reached a limit can continue, with another limit\n");
		say_command(k, cmd, &cli->err);
	}
	close_keep(k);
}
