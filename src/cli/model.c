#include "cli/model.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

/* name=n or name=any */
static bool parse_threads(struct lang *l, const char *text, struct lang_threads *out)
{
	assert(text);
	const char *eq = strrchr(text, '=');
	if (!eq || eq == text)
		return false;
	out->name = arena_strndup(&l->arena, text, (size_t)(eq - text));
	if (!strcmp(eq + 1, "any")) {
		out->count = 0;
		return true;
	}
	char *end;
	unsigned long n = strtoul(eq + 1, &end, 10);
	if (!isdigit((unsigned char)eq[1]) || *end || n < 1 || n > 10000)
		return false;
	out->count = (uint32_t)n;
	return true;
}

int model_load(struct cli *cli, const struct cmd *cmd, struct lang *l, const char *path, const struct model_options *o)
{
	assert(path && !l->ir);
	struct lang_options lo = { .keep_dead = o->keep_dead, .sml = o->sml ? 1 : -1 };
	struct lang_threads *threads = arena_array(&l->arena, struct lang_threads, (size_t)o->threads.n + 1);
	for (int i = 0; i < o->threads.n; i++)
		if (!parse_threads(l, o->threads.items[i], &threads[i]))
			return cli_usage(cli, cmd, "--threads: expected name=N (1 to 10000) or name=any, found '%s'",
			                 o->threads.items[i]);
	lo.threads = threads;
	lo.nthreads = (uint32_t)o->threads.n;
	bool ok = lang_load(l, path, &lo);
	if (l->out_of_memory) {
		buf_printf(&cli->err, "intact %s: %s: out of memory while reading the model\n", cmd->name, path);
		return EXIT_UNKNOWN;
	}
	if (!ok || !o->quiet)
		diags_render(&l->diags, &cli->err, cli->color_err);
	return ok ? EXIT_HOLDS : EXIT_USAGE;
}
