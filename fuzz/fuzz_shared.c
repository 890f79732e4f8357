#include "fuzz.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/cli.h"
#include "event/itr.h"
#include "report/doc.h"
#include "api/document_text.h"
#include "report/render.h"

void bad(const char *what, const char *detail)
{
	fprintf(stderr, "fuzz: %s\n%s\n", what, detail ? detail : "");
	abort();
}

/* Nothing that a file says is read from the terminal, or from our surroundings. */
int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	int fd = open("/dev/null", O_RDONLY);
	if (fd > 0) {
		dup2(fd, 0);
		close(fd);
	}
	unsetenv("INTACT_OPTIONS");
	return 0;
}

void file_make(struct memory_file *f, const void *data, size_t size)
{
	f->fd = memfd_create("input", 0);
	if (f->fd < 0 || write(f->fd, data, size) != (ssize_t)size)
		bad("no memory for a file", NULL);
	snprintf(f->path, sizeof f->path, "/proc/self/fd/%d", f->fd);
}

void file_close(struct memory_file *f)
{
	close(f->fd);
}

void command(struct said *s, const char *name, const char *const *words)
{
	struct cli cli = { .columns = 100 };
	char *argv[16];
	int argc = 0;
	const struct cmd *cmd = NULL;
	for (int i = 0; cli_commands[i]; i++)
		if (!strcmp(cli_commands[i]->name, name))
			cmd = cli_commands[i];
	for (; words[argc]; argc++)
		argv[argc] = strdup(words[argc]);
	argv[argc] = NULL;
	buf_init(&cli.out);
	buf_init(&cli.err);
	s->rc = cmd->run(&cli, cmd, argc, argv);
	s->out = cli.out;
	s->err = cli.err;
	for (int i = 0; i < argc; i++)
		free(argv[i]);
	if (s->rc < 0 || s->rc > 3)
		bad("an exit code that means an internal error", buf_cstr(&s->err));
	if (s->rc == EXIT_USAGE && !s->err.len)
		bad("refused without a message", buf_cstr(&s->out));
}

void said_free(struct said *s)
{
	buf_free(&s->out);
	buf_free(&s->err);
}

/* ---- results ---- */

static void must_be_json(const struct buf *text)
{
	json_error_t e;
	json_t *j = json_loadb(text->data, text->len, 0, &e);
	if (!j)
		bad("a renderer wrote no JSON", e.text);
	json_decref(j);
}

static void render_all(const json_t *doc)
{
	struct buf out;
	struct render_text_options wide = { .width = 100, .max_rows = 60 };
	struct render_text_options narrow = { .width = 40, .color = true, .utf8 = true };
	buf_init(&out);
	render_sarif(doc, &out);
	must_be_json(&out);
	buf_clear(&out);
	render_html(doc, &out);
	render_junit(doc, &out);
	render_github(doc, &out);
	render_dot(doc, &out);
	document_text(doc, &wide, &out);
	document_text(doc, &narrow, &out);
	render_list(doc, &narrow, &out);
	buf_free(&out);
}

bool look_at_document(const char *text, size_t len, bool strict)
{
	struct buf why;
	buf_init(&why);
	json_t *doc = doc_parse(text, len, &why);
	if (!doc && !why.len)
		bad("refused without a reason", NULL);
	if (!doc && strict)
		bad("what a command wrote is not a result", buf_cstr(&why));
	if (doc)
		render_all(doc);
	bool ok = doc != NULL;
	json_decref(doc);
	buf_free(&why);
	return ok;
}

/* ---- histories ---- */

void look_at_history(const void *data, size_t size, const char *format, const char *spec)
{
	struct memory_file in, result;
	struct said h, v;
	const char *words[12] = { "--json=-", "--witness", "--timeout=2", "--max-memory=64M", "--jobs=1" };
	int n = 5;
	file_make(&in, data, size);
	if (format) {
		words[n++] = "--format";
		words[n++] = format;
	}
	if (spec) {
		words[n++] = "--spec";
		words[n++] = spec;
	}
	words[n++] = in.path;
	command(&h, "history", words);
	if (h.rc == 0 || h.rc == 1) {
		look_at_document(buf_cstr(&h.out), h.out.len, true);
		file_make(&result, buf_cstr(&h.out), h.out.len);
		command(&v, "verify", (const char *const[]){ "--max-states=20000", result.path, NULL });
		if (v.rc == 1 || v.rc == 2) {
			fputs(buf_cstr(&h.out), stderr);
			fputs(buf_cstr(&v.err), stderr);
			bad("verify rejects what history says", buf_cstr(&v.out));
		}
		said_free(&v);
		file_close(&result);
	}
	said_free(&h);
	file_close(&in);
}

/* ---- traces ---- */

void mend_trace(uint8_t *p, size_t size)
{
	if (size < ITR_HEADER || memcmp(p, ITR_MAGIC, 8))
		return;
	for (size_t at = ITR_HEADER; at + ITR_HEAD <= size;) {
		uint32_t stored, crc;
		memcpy(&stored, p + at + 8, 4);
		if (stored > size - at - ITR_HEAD)
			return;
		crc = itr_crc(p + at + ITR_HEAD, stored);
		memcpy(p + at + 28, &crc, 4);
		crc = itr_crc(p + at, 36);
		memcpy(p + at + 36, &crc, 4);
		at += ITR_HEAD + stored;
	}
}
