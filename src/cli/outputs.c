#include "cli/outputs.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/invariant.h"
#include "report/doc.h"
#include "report/render.h"

static bool is_stdout(const char *file)
{
	return file && !strcmp(file, "-");
}

bool outputs_wanted(const struct outputs *o)
{
	return o->json || o->sarif || o->html || o->junit || o->github;
}

bool outputs_take_stdout(const struct outputs *o)
{
	return is_stdout(o->json) || is_stdout(o->sarif) || is_stdout(o->html) || is_stdout(o->junit);
}

const char *outputs_wrong(const struct outputs *o)
{
	int n = is_stdout(o->json) + is_stdout(o->sarif) + is_stdout(o->html) + is_stdout(o->junit) + o->github;
	return n > 1 ? "only one report can go to standard output; name a file for the others" : NULL;
}

bool outputs_swallowed(const struct outputs *o, struct buf *why)
{
	const struct {
		const char *name, *file;
	} all[] = { { "json", o->json }, { "sarif", o->sarif }, { "html", o->html }, { "junit", o->junit } };
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (all[i].file && !is_stdout(all[i].file) && !access(all[i].file, R_OK)) {
			buf_printf(why, "--%s took '", all[i].name);
			buf_safe(why, all[i].file, strlen(all[i].file));
			buf_printf(why, "' as the file to write; --%s=- writes to standard output", all[i].name);
			return true;
		}
	return false;
}

void outputs_hint(struct cli *cli, const struct cmd *cmd, const struct outputs *o, const char *path, int rc)
{
	assert(cmd->name);
	if (rc != EXIT_VIOLATED || outputs_wanted(o) || !path || !isatty(1))
		return;
	buf_printf(&cli->out, "\nas a page: intact %s --html report.html ", cmd->name);
	buf_safe(&cli->out, path, strlen(path));
	buf_char(&cli->out, '\n');
}

/* A report replaces a report, not whatever file was named by mistake. */
static bool may_replace(const char *path, const char *mark)
{
	assert(mark);
	char head[512];
	struct stat st;
	if (stat(path, &st) || !S_ISREG(st.st_mode) || !st.st_size)
		return true;
	FILE *f = fopen(path, "rb");
	if (!f)
		return true; /* writing it will tell */
	size_t n = fread(head, 1, sizeof head - 1, f);
	head[n] = 0;
	fclose(f);
	return strlen(head) == n && strstr(head, mark);
}

bool outputs_file(struct cli *cli, const struct cmd *cmd, const char *path, const char *mark, struct buf *text)
{
	assert(path && mark);
	if (is_stdout(path)) {
		buf_add(&cli->out, buf_cstr(text), text->len);
		return !text->failed;
	}
	const char *why = NULL;
	FILE *f = NULL;
	if (!may_replace(path, mark))
		why = "file exists and is not an Intact report; not overwritten";
	else if (!(f = fopen(path, "wb")))
		why = strerror(errno);
	else {
		if (!buf_flush(text, f))
			why = strerror(errno);
		if (fclose(f) && !why)
			why = strerror(errno);
	}
	if (!why)
		return true;
	buf_printf(&cli->err, "intact %s: cannot write '", cmd->name);
	buf_safe(&cli->err, path, strlen(path));
	buf_printf(&cli->err, "': %s\n", why);
	return false;
}

bool outputs_dot(struct cli *cli, const struct cmd *cmd, const char *path, const struct buf *document)
{
	struct buf why, dot;
	buf_init(&why);
	buf_init(&dot);
	json_t *d = doc_parse(buf_cstr(document), document->len, &why);
	if (d)
		renderers[RENDER_DOT].render(d, &dot);
	bool ok = d && outputs_file(cli, cmd, path, renderers[RENDER_DOT].mark, &dot);
	json_decref(d);
	buf_free(&why);
	buf_free(&dot);
	return ok;
}

int outputs_write(struct cli *cli, const struct cmd *cmd, const struct outputs *o, struct buf *document, int rc)
{
	assert(document && !outputs_wrong(o));
	struct buf text, why;
	bool ok = true;
	json_t *doc = NULL;
	buf_init(&text);
	buf_init(&why);
	if (document->failed ||
	    (!(o->sarif || o->html || o->junit || o->github) ? false
	                                                     : !(doc = doc_parse(buf_cstr(document), document->len, &why)))) {
		buf_printf(&cli->err, "intact %s: internal error: the result is not a valid document: %s\n", cmd->name,
		           document->failed ? "out of memory" : buf_cstr(&why));
		buf_free(&text);
		buf_free(&why);
		return EXIT_INTERNAL;
	}
	const char *const paths[RENDERERS] = { [RENDER_SARIF] = o->sarif,
		                               [RENDER_HTML] = o->html,
		                               [RENDER_JUNIT] = o->junit,
		                               [RENDER_GITHUB] = o->github ? "-" : NULL };
	for (int i = 0; i < RENDERERS; i++) {
		if (!paths[i])
			continue;
		buf_clear(&text);
		renderers[i].render(doc, &text);
		ok &= outputs_file(cli, cmd, paths[i], renderers[i].mark, &text);
	}
	if (o->json)
		ok &= outputs_file(cli, cmd, o->json, render_json_mark, document);
	json_decref(doc);
	buf_free(&text);
	buf_free(&why);
	return ok ? rc : EXIT_USAGE;
}
