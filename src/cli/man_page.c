/*
 * man_page: roff with the man macros. The command runs with --help and cli->help set, so that it hands over the very table
 * that its --help shows; words of `takes` (trace's convert) with a help of their own become parts of the page.
 *
 * A paragraph of the description whose lines are aligned by hand (a line starts with a blank, or has two in a row) is
 * kept as it is; others are filled. One that begins with "Exit code" or "Exit status" becomes EXIT STATUS.
 */
#include "cli/cmd_help.h"

#include <ctype.h>
#include <string.h>

#include "base/invariant.h"
#include "version.h"

struct man_parts {
	const struct cmd *first; /* the command; a table that another one hands over is a part's */
	struct buf parts, exits;
	int depth;
};

/* Text that roff shows as it is: `-` is a minus, which readers can copy. */
static void roff(struct buf *out, const char *s, size_t n)
{
	bool start = true;
	for (size_t i = 0; i < n; i++) {
		if (start && (s[i] == '.' || s[i] == '\''))
			buf_str(out, "\\&");
		start = s[i] == '\n';
		if (s[i] == '\\')
			buf_str(out, "\\e");
		else if (s[i] == '-')
			buf_str(out, "\\-");
		else if (s[i] == '`')
			buf_str(out, "\\(ga");
		else if (s[i] == '\'')
			buf_str(out, "\\(aq");
		else if (s[i] == '~')
			buf_str(out, "\\(ti");
		else if (s[i] == '^')
			buf_str(out, "\\(ha");
		else
			buf_char(out, s[i]);
	}
}

static void roff_str(struct buf *out, const char *s)
{
	roff(out, s, strlen(s));
}

static bool aligned(const char *s, size_t n)
{
	for (size_t i = 0; i + 1 < n; i++)
		if (s[i] == ' ' && (s[i + 1] == ' ' || i == 0 || s[i - 1] == '\n'))
			return true;
	return false;
}

/* A new paragraph, unless a heading has just begun one. */
static void separate(struct buf *out)
{
	const char *s = buf_cstr(out);
	size_t at = out->len ? out->len - 1 : 0;
	while (at && s[at - 1] != '\n')
		at--;
	if (out->len && strncmp(s + at, ".S", 2) != 0)
		buf_str(out, ".PP\n");
}

static void paragraph(struct buf *out, const char *s, size_t n)
{
	separate(out);
	if (aligned(s, n)) {
		buf_str(out, ".nf\n.ft CW\n");
		roff(out, s, n);
		buf_str(out, "\n.ft\n.fi\n");
	} else {
		roff(out, s, n);
		buf_char(out, '\n');
	}
}

/* The paragraphs; the last of an exit code goes to `exits`. */
static void paragraphs(struct buf *out, struct buf *exits, const char *text)
{
	while (*text) {
		const char *end = strstr(text, "\n\n");
		size_t n = end ? (size_t)(end - text) : strlen(text);
		while (n && text[n - 1] == '\n')
			n--;
		bool exit = !strncasecmp(text, "exit code", 9) || !strncasecmp(text, "exit status", 11);
		if (n)
			paragraph(exit ? exits : out, text, n);
		text = end ? end + 2 : text + strlen(text);
		while (*text == '\n')
			text++;
	}
}

static void option(struct buf *out, const struct opt *t)
{
	buf_str(out, ".TP\n");
	if (t->short_name)
		buf_printf(out, "\\fB\\-%c\\fR, ", t->short_name);
	buf_str(out, "\\fB\\-\\-");
	roff_str(out, t->name);
	buf_str(out, "\\fR");
	if (t->kind != OPT_FLAG) {
		buf_str(out, opt_optional(t) ? "[=\\fI" : "=\\fI");
		roff_str(out, t->arg);
		buf_str(out, opt_optional(t) ? "\\fR]" : "\\fR");
	}
	buf_char(out, '\n');
	roff_str(out, t->help);
	for (int i = 0; t->kind == OPT_CHOICE && t->choices[i]; i++) {
		buf_str(out, i ? ", " : "\n(");
		roff_str(out, t->choices[i]);
	}
	buf_str(out, t->kind == OPT_CHOICE ? ")\n" : "\n");
}

static void heading(struct buf *out, const char *s)
{
	buf_str(out, ".SS \"");
	for (; *s; s++)
		if (*s == '"')
			buf_str(out, "\\(dq");
		else
			roff(out, s, 1);
	buf_str(out, "\"\n");
}

static void options(struct buf *out, const struct opt *t)
{
	for (; t->help; t++)
		if (t->kind == OPT_GROUP)
			heading(out, t->help);
		else
			option(out, t);
	buf_str(out, ".TP\n\\fB\\-h\\fR, \\fB\\-\\-help\\fR\nshow the help\n");
}

/* Each line of the usage; its first word, the command's, is bold. */
static void synopsis(struct buf *out, const char *usage)
{
	for (const char *s = usage; *s;) {
		size_t n = strcspn(s, "\n");
		while (n && *s == ' ')
			s++, n--;
		if (!strncmp(s, "intact ", 7))
			s += 7, n -= 7;
		size_t word = 0;
		while (word < n && s[word] != ' ')
			word++;
		buf_str(out, s == usage ? ".B intact " : ".br\n.B intact ");
		roff(out, s, word);
		buf_char(out, '\n');
		if (word < n) {
			roff(out, s + word + 1, n - word - 1);
			buf_char(out, '\n');
		}
		s += n;
		s += *s == '\n';
	}
}

static void title(struct buf *out, const char *name, const char *summary)
{
	char upper[64];
	size_t i = 0;
	for (; name[i] && i < sizeof upper - 1; i++)
		upper[i] = (char)toupper((unsigned char)name[i]);
	upper[i] = 0;
	buf_printf(out, ".TH \"%s\" 1 \"" INTACT_DATE "\" \"Intact " INTACT_VERSION "\" \"Intact Manual\"\n.nh\n.ad l\n.SH NAME\n",
	           upper);
	roff_str(out, name);
	buf_str(out, " \\- ");
	roff_str(out, summary);
	buf_char(out, '\n');
}

/* What cli_help hands over. */
static void told(struct cli *cli, const struct cmd *cmd, const struct opt *table)
{
	struct man_parts *p = cli->help_arg;
	if (p->depth++ && !strcmp(cmd->name, p->first->name))
		return; /* a word without a help of its own */
	if (strcmp(cmd->name, p->first->name) != 0) {
		char name[64];
		snprintf(name, sizeof name, "intact %s", cmd->name);
		heading(&p->parts, name);
		synopsis(&p->parts, cmd->usage);
		paragraphs(&p->parts, &p->parts, cmd->about);
		for (; table && table->help; table++)
			if (table->kind != OPT_GROUP)
				option(&p->parts, table);
		return;
	}
	struct buf *out = &cli->out;
	buf_str(out, ".SH SYNOPSIS\n");
	synopsis(out, cmd->usage);
	buf_str(out, ".SH DESCRIPTION\n");
	paragraphs(out, &p->exits, cmd->about);
	if (table && table->help) {
		buf_str(out, ".SH OPTIONS\n");
		options(out, table);
	}
}

static void see_also(struct buf *out, const struct cmd *c)
{
	buf_str(out, ".SH SEE ALSO\n");
	bool first = true;
	for (int i = 0; cli_commands[i]; i++)
		if (cli_commands[i] != c) {
			buf_str(out, first ? ".BR intact\\-" : ",\n.BR intact\\-");
			roff_str(out, cli_commands[i]->name);
			buf_str(out, " (1)");
			first = false;
		}
	buf_str(out, "\n.PP\nThe documentation: ");
	roff_str(out, INTACT_HOMEPAGE "index.md\n");
}

static int overview_page(struct cli *cli)
{
	static const char *const variables[][2] = {
		{ "INTACT_OPTIONS", "options of watched programs, separated by colons; help=1 lists them" },
		{ "INTACT_CC, INTACT_CXX", "the compilers that intact\\-cc(1) and intact\\-c++(1) call" },
		{ "INTACT_CC_VERBOSE", "1: intact\\-cc(1) prints the command lines that it runs" },
		{ "INTACT_CC_HOOKS", "all: keep the hooks of small inlined functions" },
		{ "NO_COLOR", "no colours on terminals" },
	};
	struct buf *out = &cli->out;
	title(out, "intact", "check whether code that is meant to be atomic really is");
	buf_str(out, ".SH SYNOPSIS\n.B intact\n.I COMMAND\n[OPTIONS] ...\n.SH DESCRIPTION\n"
	             "Intact checks models, programs in C and C++, recorded executions and histories of objects and transactions "
	             "for atomicity.\n.SH COMMANDS\n");
	for (int i = 0; cli_commands[i]; i++) {
		buf_str(out, ".TP\n.BR intact\\-");
		roff_str(out, cli_commands[i]->name);
		buf_str(out, " (1)\n");
		roff_str(out, cli_commands[i]->summary);
		buf_char(out, '\n');
	}
	buf_str(out, ".SH ENVIRONMENT\n");
	for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
		buf_printf(out, ".TP\n.B %s\n%s\n", variables[i][0], variables[i][1]);
	buf_str(out, ".SH EXIT STATUS\n"
	             "0 holds, 1 violated, 2 wrong usage or input, 3 unknown (a limit was reached), 4 internal error. The commands "
	             "that start a program have its status; see their pages.\n");
	see_also(out, NULL);
	return EXIT_HOLDS;
}

int man_page(struct cli *cli, const struct cmd *c)
{
	struct man_parts p = { .first = c };
	char name[64];
	if (!c)
		return overview_page(cli);
	assert(!cli->help);
	buf_init(&p.parts);
	buf_init(&p.exits);
	snprintf(name, sizeof name, "intact-%s", c->name);
	title(&cli->out, name, c->summary);
	cli->help = told;
	cli->help_arg = &p;
	cli_all_help(cli, c);
	cli->help = NULL;
	if (p.parts.len) {
		buf_str(&cli->out, ".SH SUBCOMMANDS\n");
		buf_add(&cli->out, buf_cstr(&p.parts), p.parts.len);
	}
	if (p.exits.len) {
		buf_str(&cli->out, ".SH EXIT STATUS\n");
		buf_add(&cli->out, buf_cstr(&p.exits), p.exits.len);
	}
	cli->out.failed |= p.parts.failed | p.exits.failed;
	buf_free(&p.parts);
	buf_free(&p.exits);
	see_also(&cli->out, c);
	return EXIT_HOLDS;
}
