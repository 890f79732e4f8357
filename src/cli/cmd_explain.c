/* explain: half a page on an idea, an engine or a diagnostic's code. */
#include <string.h>

#include "check/engine.h"
#include "cli/cli.h"
#include "cli/cmd_help.h"
#include "explain/explain.h"
#include "history/object.h"

static const struct explain_page *const tables[] = { explain_topics, explain_model, explain_input };
static const char *const headings[] = {
	"ideas and engines",
	"diagnostics of models",
	"diagnostics of traces, histories, nets and schedules",
};
enum { TABLES = 3, MAX_PAGES = 256 };

static const struct explain_page *find(const char *name)
{
	for (int t = 0; t < TABLES; t++)
		for (const struct explain_page *p = tables[t]; p->name; p++)
			if (!strcmp(p->name, name))
				return p;
	return NULL;
}

/* The page of an engine that has none of its own name. */
static const struct explain_page *page_of_engine(const struct check_engine *e)
{
	return e ? find(e->about.topic) : NULL;
}

static void list(struct cli *cli)
{
	for (int t = 0; t < TABLES; t++) {
		buf_printf(&cli->out, "%s%s:\n", t ? "\n" : "", headings[t]);
		for (const struct explain_page *p = tables[t]; p->name; p++)
			buf_printf(&cli->out, "  %-28s %s\n", p->name, p->title);
	}
	buf_str(&cli->out, "\n'intact explain TOPIC' shows one.\n");
}

/* What reads the example, when it is not a model as usual. */
static const char *reader(const struct explain_page *p)
{
	static const char *const words[][2] = {
		{ "sml", " (SML)" }, { "trace", " (intact trace)" }, { "history", " (intact history)" }, { "net", " (intact net)" }
	};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (!strcmp(p->reader, words[i][0]))
			return words[i][1];
	return "";
}

static void example(struct cli *cli, const struct explain_page *p, const char *heading, const char *text)
{
	buf_printf(&cli->out, "\n%s%s:\n\n", heading, reader(p));
	for (const char *s = text; *s;) {
		const char *end = strchr(s, '\n');
		size_t n = end ? (size_t)(end - s) : strlen(s);
		buf_str(&cli->out, n ? "    " : "");
		buf_safe(&cli->out, s, n);
		buf_char(&cli->out, '\n');
		s += n + (end != NULL);
	}
}

/* The text; the ladder and the objects are those of the tables. */
static void paragraphs(const char *text, struct buf *out)
{
	for (; *text; text++) {
		if (*text == *EXPLAIN_LADDER) {
			for (const struct check_engine *const *e = engines; *e; e++)
				if ((*e)->ladder)
					buf_printf(out, "  %-10s %s\n", (*e)->about.name, (*e)->about.summary);
		} else if (*text == *EXPLAIN_OBJECTS) {
			for (int o = OBJ_GUESS + 1; o < OBJ_USER; o++)
				buf_printf(out, "  %-22s %s\n", object_names[o], object_type((enum object)o)->operations);
		} else {
			buf_char(out, *text);
		}
	}
}

static void show(struct cli *cli, const struct explain_page *p)
{
	bool topic = false;
	for (const struct explain_page *q = explain_topics; q->name; q++)
		topic |= p == q;
	buf_printf(&cli->out, "%s: %s\n\n", p->name, p->title);
	paragraphs(p->text, &cli->out);
	if (p->wrong)
		example(cli, p, topic ? "Violated in this model" : "Wrong", p->wrong);
	if (p->right)
		example(cli, p, topic ? (p->wrong ? "Holds in this model" : "For example") : "Right", p->right);
}

int explain_names(const char **names, int max)
{
	int n = 0;
	for (int t = 0; t < TABLES; t++)
		for (const struct explain_page *p = tables[t]; p->name && n < max; p++)
			names[n++] = p->name;
	return n;
}

static int unknown(struct cli *cli, const struct cmd *cmd, const char *name)
{
	const char *names[MAX_PAGES];
	int n = explain_names(names, MAX_PAGES);
	buf_printf(&cli->err, "intact %s: unknown topic '", cmd->name);
	buf_safe(&cli->err, name, strlen(name));
	buf_str(&cli->err, "'");
	int best = nearest_name(name, names, n);
	if (best >= 0)
		buf_printf(&cli->err, "; did you mean '%s'?", names[best]);
	buf_str(&cli->err, "\n'intact explain' lists the topics.\n");
	return EXIT_USAGE;
}

/* A code may be given as it is printed: [undeclared-name]. */
static int explain(struct cli *cli, const struct cmd *cmd, const char *arg)
{
	char name[64];
	size_t n = strlen(arg);
	if (n > 2 && arg[0] == '[' && arg[n - 1] == ']') {
		arg++;
		n -= 2;
	}
	if (n >= sizeof name)
		return unknown(cli, cmd, arg);
	memcpy(name, arg, n);
	name[n] = 0;
	const struct explain_page *p = find(name);
	const struct check_engine *engine = p ? NULL : engine_find(name);
	if (engine) {
		p = page_of_engine(engine);
		buf_printf(&cli->out, "%s: %s\n\n", name, engine->about.summary);
	}
	if (!p)
		return unknown(cli, cmd, name);
	show(cli, p);
	return EXIT_HOLDS;
}

static int run(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	const char *args[8];
	static const struct opt table[] = { { 0 } };
	struct opts o = { table, args, 0, false };
	struct buf err;
	int rc = EXIT_HOLDS;
	buf_init(&err);
	if (argc > 7)
		rc = cli_usage(cli, cmd, "expected at most one TOPIC argument");
	else if (!opts_parse(&o, argc, argv, &err))
		rc = cli_usage(cli, cmd, "%s", buf_cstr(&err));
	else if (o.help)
		rc = cli_help(cli, cmd, NULL);
	else if (o.nargs > 1)
		rc = cli_usage(cli, cmd, "expected at most one TOPIC argument");
	else if (!o.nargs)
		list(cli);
	else
		rc = explain(cli, cmd, args[0]);
	buf_free(&err);
	return rc;
}

const struct cmd cmd_explain = {
	"explain",
	"explain a concept, an engine or a diagnostic",
	"explain [TOPIC]",
	"Explains a concept (atomic, serializable, linearizable), an engine of 'intact check' (reduction,\n"
	"causal, commit, exact) or a diagnostic, named by the code in brackets at its end, with a small\n"
	"example. Without a topic: lists the topics.",
	"@topic",
	run,
};
