#include "cli/ranks.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "check/serve.h"

/* A launcher ends the other ranks like this when one is lost. */
static void ended(int sig)
{
	static const char text[] = "intact: a rank was lost, or the check was stopped: nothing is decided (unknown)\n";
	(void)sig;
	ssize_t n = write(STDERR_FILENO, text, sizeof text - 1);
	(void)n;
	_exit(EXIT_UNKNOWN);
}

static void say(struct cli *cli, const struct cmd *cmd, const char *what)
{
	buf_printf(&cli->err, "intact %s: ", cmd->name);
	buf_safe(&cli->err, what, strlen(what));
	buf_char(&cli->err, '\n');
}

int ranks_begin(struct ranks *r, struct cli *cli, const struct cmd *cmd, bool *rest)
{
	struct dist_launch l = dist_launched();
	struct why why;
	*rest = false;
	if (l.mpi == DIST_NO_MPI)
		return EXIT_HOLDS;
	if (!dist_open(l, &r->dist, &why)) {
		say(cli, cmd, why.text);
		return EXIT_USAGE;
	}
	r->on = true;
	if (!r->dist.rank) {
		struct sigaction on = { .sa_handler = ended };
		sigaction(SIGTERM, &on, NULL);
		sigaction(SIGINT, &on, NULL);
		return EXIT_HOLDS;
	}
	*rest = true;
	bool ok = check_serve(&r->dist);
	if (!ok)
		say(cli, cmd, r->dist.why.text);
	else
		dist_close(&r->dist);
	return ok ? EXIT_HOLDS : EXIT_UNKNOWN;
}

static uint64_t share_of_memory(uint32_t here)
{
	long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
	return (pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size / 2 : (uint64_t)4 << 30) / here;
}

int ranks_check(struct ranks *r, struct cli *cli, const struct cmd *cmd, const struct keep *k, struct check_options *o)
{
	if (!r->on)
		return EXIT_HOLDS;
	assert(!r->dist.rank && r->dist.here);
	if (r->dist.n > 1 && (k->checkpoint || k->resume || k->disk))
		return cli_usage(
			cli, cmd,
			"--%s cannot be used with several MPI ranks: the states are in the memory of all ranks (docs/scale.md)",
			k->checkpoint ? "checkpoint"
			: k->resume   ? "resume"
				      : "disk");
	if (!o->search.max_bytes)
		o->search.max_bytes = share_of_memory(r->dist.here);
	r->told.dist = &r->dist;
	o->search.ranks = &r->told;
	return EXIT_HOLDS;
}

void ranks_say(const struct ranks *r, struct buf *out)
{
	if (!r->on)
		return;
	buf_printf(out,
	           "\n%u MPI ranks (%s): %u search%s over states shared by all; reduction, causality, the exact engine, "
	           "quiescence, objects, "
	           "smaller searches and explanations ran on rank 0 while the others waited\n",
	           r->dist.n, r->dist.name, r->told.shared, r->told.shared == 1 ? "" : "es");
	if (r->told.shared)
		buf_printf(
			out,
			"rank 0 sent %llu states in %llu bytes; ids were agreed %llu times, states distributed again %llu times\n",
			(ull)r->told.states, (ull)r->told.bytes, (ull)r->told.agreements, (ull)r->told.layouts);
}

void ranks_end(struct ranks *r, struct cli *cli, const struct cmd *cmd)
{
	if (!r->on)
		return;
	assert(!r->dist.rank);
	if (r->told.why.text[0])
		say(cli, cmd, r->told.why.text);
	check_serve_end(&r->dist);
	if (!r->dist.broken) /* else the launcher ends the others when this process ends */
		dist_close(&r->dist);
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
}
