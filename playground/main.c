/*
 * main: the program of the playground, compiled to WebAssembly: some of the commands of `intact`, and the messages about a text
 * while it is typed.
 *
 * worker.js calls main() as a shell would, once for each check, with files in memory; what it writes to the two outputs is what the
 * command writes on a machine, so results can be compared byte by byte. Standard error counts as a terminal, because progress is
 * shown; nothing is coloured. No command leaves anything behind: the same instance is called again.
 */
#include <emscripten.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_out.h"
#include "cli/cli.h"
#include "cli/cmd_help.h"
#include "lang/lang.h"
#include "lang/spec.h"
#include "lang/words.h"

extern const struct cmd cmd_check, cmd_sim, cmd_history, cmd_fmt, cmd_explain, cmd_help, cmd_version;

const struct cmd *const cli_commands[] = {
	&cmd_check, &cmd_sim, &cmd_history, &cmd_fmt, &cmd_explain, &cmd_help, &cmd_version, NULL
};

int isatty(int fd)
{
	return fd == STDERR_FILENO;
}

int main(int argc, char **argv)
{
	struct cli cli = { .columns = 100, .utf8_out = true };
	buf_init(&cli.out);
	buf_init(&cli.err);
	const struct cmd *c = argc > 1 ? cli_find(argv[1]) : NULL;
	int rc = EXIT_USAGE;
	if (c)
		rc = c->run(&cli, c, argc - 2, argv + 2);
	else if (argc > 1)
		rc = cli_unknown_command(&cli, argv[1]);
	else
		help_overview(&cli.err);
	bool ok = buf_flush(&cli.err, stderr);
	ok = buf_flush(&cli.out, stdout) && ok;
	fflush(NULL);
	buf_free(&cli.out);
	buf_free(&cli.err);
	return ok || rc ? rc : EXIT_INTERNAL;
}

/* ---- while typing ----------------------------------------------------------------------------- */

static void put_place(struct json_out *j, const struct diag *m, const struct source *src)
{
	if (m->src != src)
		return;
	json_uint(j, "from", m->span.start);
	json_uint(j, "to", m->span.end);
	json_uint(j, "line", source_pos(src, m->span.start).line);
}

static void put_message(struct json_out *j, const struct diags *all, const struct diag *m, const struct source *src)
{
	struct buf text;
	buf_init(&text);
	buf_safe(&text, m->text, strlen(m->text));
	json_begin_object(j, NULL);
	put_place(j, m, src);
	json_text(j, "level",
	          m->level == DIAG_ERROR     ? "error"
	          : m->level == DIAG_WARNING ? "warning"
	          : m->level == DIAG_HINT    ? "hint"
	                                     : "note");
	json_text_if(j, "code", m->code);
	json_text_buf(j, "text", &text);
	if (m->first_child) {
		json_begin_array(j, "more");
		for (uint32_t c = m->first_child; c; c = all->list.data[c].next)
			put_message(j, all, &all->list.data[c], src);
		json_end(j);
	}
	json_end(j);
	buf_free(&text);
}

/* The messages of the front end about a model or a specification, as JSON; places are bytes of the text. Free it. */
EMSCRIPTEN_KEEPALIVE char *playground_messages(const char *name, const char *text)
{
	struct lang_options o = { .sml = -1 };
	struct json_out j;
	struct lang l;
	struct buf out;
	uint32_t n = 0;
	size_t len = strlen(name);
	lang_init(&l);
	if (len > 5 && !strcmp(name + len - 5, ".spec"))
		lang_load_spec_text(&l, name, text, strlen(text));
	else
		lang_load_text(&l, name, text, strlen(text), &o);
	uint32_t *order = diags_in_order(&l.diags, &n);
	buf_init(&out);
	json_out_init(&j, &out, true);
	json_begin_array(&j, NULL);
	for (uint32_t i = 0; order && i < n; i++)
		put_message(&j, &l.diags, &l.diags.list.data[order[i]], &l.src);
	json_end(&j);
	json_out_end(&j);
	char *told = out.failed || l.out_of_memory || !order ? NULL : strdup(buf_cstr(&out));
	free(order);
	buf_free(&out);
	lang_free(&l);
	return told;
}

/* The words of the language, for colours: "atomic thread ...\n" of .atm, a second line of .sml. Free it. */
EMSCRIPTEN_KEEPALIVE char *playground_words(void)
{
	struct buf out;
	struct lang_word w;
	buf_init(&out);
	for (int sml = 0; sml < 2; sml++) {
		for (uint32_t i = 0; lang_word(i, sml, &w); i++)
			buf_printf(&out, "%s%s", i ? " " : "", w.text);
		buf_char(&out, '\n');
	}
	char *words = out.failed ? NULL : strdup(buf_cstr(&out));
	buf_free(&out);
	return words;
}
