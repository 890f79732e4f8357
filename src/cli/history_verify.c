#include "cli/history_verify.h"

#include <setjmp.h>
#include <stdlib.h>
#include <string.h>

#include "lang/spec.h"
#include "lin/read.h"
#include "verdict/verify_history_json.h"

/* The one result of the report, or NULL. */
static json_t *result_of(json_t *root)
{
	json_t *results = json_object_get(root, "results");
	return json_array_size(results) == 1 ? json_array_get(results, 0) : NULL;
}

static enum format format_of(const json_t *root)
{
	const char *name = json_string_value(json_object_get(root, "format"));
	for (int i = 1; name && format_names[i]; i++)
		if (!strcmp(format_names[i], name))
			return (enum format)i;
	return FORMAT_GUESS;
}

static int judge(struct cli *cli, json_t *root, struct history *h, const char *path, struct diags *d)
{
	static const char *const word[] = { "accepted", "rejected", "unknown" };
	struct read_options ro = { .format = format_of(result_of(root)) };
	char why[VERIFY_WHY] = "";
	if (!history_read(h, path, &ro, d)) {
		if (!d->errors)
			buf_str(&cli->err, "intact verify: no memory for the history\n");
		return d->errors ? EXIT_USAGE : EXIT_UNKNOWN;
	}
	char *text = json_dumps(root, JSON_COMPACT);
	enum verify_answer v = text ? verify_history_json(h, text, strlen(text), why) : VERIFY_UNDECIDED;
	free(text);
	buf_printf(&cli->out, "%s: ", word[v]);
	buf_safe(&cli->out, path, strlen(path));
	buf_str(&cli->out, ": ");
	const json_t *result = result_of(root);
	const char *verdict = json_string_value(json_object_get(result, "verdict"));
	if (v == VERIFY_ACCEPTED)
		buf_printf(&cli->out, "%s (%s)", !strcmp(verdict ? verdict : "", "holds") ? "holds" : "violated",
		           json_string_value(json_object_get(result, "condition")));
	else
		buf_safe(&cli->out, why, strlen(why));
	buf_char(&cli->out, '\n');
	return v == VERIFY_ACCEPTED ? EXIT_HOLDS : v == VERIFY_REJECTED ? EXIT_VIOLATED : EXIT_UNKNOWN;
}

/* The specification that the report names, if it does; false after a message. */
static bool load_spec(struct cli *cli, json_t *root, struct lang *l, struct history *h)
{
	const char *path = json_string_value(json_object_get(result_of(root), "spec"));
	if (!path)
		return true;
	h->user = lang_load_spec(l, path);
	if (!h->user)
		diags_render(&l->diags, &cli->err, cli->color_err);
	return h->user != NULL;
}

static int verify_file(struct cli *cli, json_t *root, const char *path)
{
	struct arena arena;
	struct limits lim = { 0 };
	struct history h;
	struct diags d;
	struct lang l;
	jmp_buf oom;
	arena_init(&arena, (size_t)8 << 30);
	arena.oom = &oom;
	if (setjmp(oom)) {
		buf_str(&cli->err, "intact verify: no memory for the history\n");
		arena_free(&arena);
		return EXIT_UNKNOWN;
	}
	history_init(&h, &arena, &lim);
	diags_init(&d, &arena);
	lang_init(&l);
	int rc = load_spec(cli, root, &l, &h) ? judge(cli, root, &h, path, &d) : EXIT_USAGE;
	diags_render(&d, &cli->err, cli->color_err);
	history_free(&h);
	arena_free(&arena);
	lang_free(&l);
	return rc;
}

int history_verify_report(struct cli *cli, json_t *root, const char *history)
{
	const json_t *result = result_of(root);
	if (!history)
		history = json_string_value(json_object_get(result, "file"));
	if (!result || !history || !strcmp(history, "-")) {
		buf_str(&cli->err, result ? "intact verify: the report names no file: intact verify REPORT.json HISTORY\n"
		                          : "intact verify: the report must be about one history\n");
		return EXIT_USAGE;
	}
	return verify_file(cli, root, history);
}
