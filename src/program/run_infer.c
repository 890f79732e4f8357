#include "base/invariant.h"
#include "program/run_once.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_spec(struct cli *cli, struct settings *s, const char *path)
{
	FILE *f = fopen(path, "w");
	if (!f) {
		buf_printf(&cli->err, "intact: cannot write '%s': %s\n", path, strerror(errno));
		return false;
	}
	fputs("# What is not atomic, as seen by intact run --infer. Every other function\n"
	      "# that takes a lock was atomic in the runs so far.\n",
	      f);
	for (uint32_t i = 0; i < s->filter.atomic.len; i++)
		fprintf(f, "atomic %s\n", s->filter.atomic.data[i].text);
	for (uint32_t i = 0; i < s->filter.not_atomic.len; i++)
		fprintf(f, "not-atomic %s\n", s->filter.not_atomic.data[i].text);
	bool ok = !ferror(f);
	return !fclose(f) && ok;
}

int run_infer(struct cli *cli, struct settings *s, const struct run_how *how, const char *path, uint64_t runs, char **argv,
              struct run_result *r)
{
	assert(path && runs && argv && argv[0]);
	int rc = 0;
	uint32_t total = 0;
	if (access(path, F_OK) == 0 && !filter_read_spec(&s->filter, path, &cli->err))
		return EXIT_USAGE;
	for (uint64_t i = 0; i < runs; i++) {
		uint32_t before = s->shown.names.len;
		rc = run_once(cli, s, how, argv, r);
		if (!r->watched)
			return rc; /* it said why */
		uint32_t fresh = 0;
		for (uint32_t k = before; k < s->shown.names.len; k++) {
			const char *name = s->shown.names.data[k];
			struct src_frame fr = { .function = name };
			bool known = false;
			for (uint32_t j = 0; j < s->filter.not_atomic.len; j++)
				known |= pattern_matches(s->filter.not_atomic.data[j].text, &fr);
			if (known)
				continue;
			struct pattern p = { .text = arena_printf(&s->arena, "%.*s", (int)strcspn(name, "("), name) };
			avec_push(&s->arena, &s->filter.not_atomic, p);
			fresh++;
		}
		total += fresh;
		if (!fresh)
			break;
	}
	if (!write_spec(cli, s, path))
		return EXIT_USAGE;
	buf_printf(&cli->err, "intact: %u function%s dropped; %s lists what is not atomic\n", total, total == 1 ? "" : "s", path);
	return rc;
}
