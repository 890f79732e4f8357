#include "cli/project_options.h"

#include <ctype.h>
#include <string.h>
#include <unistd.h>

#include "base/invariant.h"
#include "cli/completion_int.h"
#include "project/project.h"

/* Keys that concern several commands. */
static const char *const shared[] = { "atomic", "not-atomic", "suppressions", "baseline", NULL };

struct matching {
	struct project p;
	struct diags d;
	const struct cmd *asked; /* the command that runs */
	const struct cmd *row;   /* whose table is looked at */
	bool *used;              /* one for each entry */
	AVEC(char *) words;
};

/* These take no options from a project. */
static bool reads(const struct cmd *cmd, const struct opt *table)
{
	static const char *const others[] = { "help", "version", "doctor", "init", "symbolize" };
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(cmd->name, others[i]))
			return false;
	return table && table->help;
}

static const struct opt *find(const struct opt *table, const char *name)
{
	for (; table->help; table++)
		if (table->kind != OPT_GROUP && !strcmp(table->name, name))
			return table;
	return NULL;
}

/* A command may hand over a copy of its row. */
static bool asked(const struct matching *m)
{
	return m->asked && !strcmp(m->row->name, m->asked->name);
}

static void add(struct matching *m, const struct opt *t, const char *value)
{
	struct arena *a = m->d.arena;
	if (!asked(m))
		return;
	bool file = completion_files(m->row, t) && *m->p.dir && *value && *value != '/' && strcmp(value, "-") != 0;
	avec_push(a, &m->words,
	          file ? arena_printf(a, "--%s=%s/%s", t->name, m->p.dir, value) : arena_printf(a, "--%s=%s", t->name, value));
}

/* One value for an option, checked as the command line's would be. */
static void give(struct matching *m, const struct opt *t, const char *value, struct span at)
{
	struct buf err;
	buf_init(&err);
	if (!opts_value_fits(t, value, &err))
		diag_error(&m->d, "project-value", &m->p.src, at, "%s", buf_cstr(&err));
	else
		add(m, t, value);
	buf_free(&err);
}

static const char *expects(const struct opt *t)
{
	switch (t->kind) {
	case OPT_FLAG:
		return "true or false";
	case OPT_LIST:
		return "an array of strings";
	case OPT_UINT:
	case OPT_SEED:
		return "a number";
	case OPT_SIZE:
		return "a size such as \"512M\"";
	default:
		return "a string";
	}
}

static void entry(struct matching *m, const struct opt *t, const struct toml_entry *e)
{
	bool fits = e->kind == TOML_BOOLEAN   ? t->kind == OPT_FLAG
	            : e->kind == TOML_ARRAY   ? t->kind == OPT_LIST
	            : e->kind == TOML_INTEGER ? (t->kind == OPT_UINT || t->kind == OPT_SIZE || t->kind == OPT_SEED) && e->number >= 0
	                                      : t->kind != OPT_FLAG && t->kind != OPT_UINT && t->kind != OPT_SEED;
	if (!fits) {
		diag_error(&m->d, "project-value", &m->p.src, e->at, "expected %s for '%s'", expects(t), e->key);
		return;
	}
	if (e->kind == TOML_BOOLEAN && e->truth && asked(m))
		avec_push(m->d.arena, &m->words, arena_printf(m->d.arena, "--%s", t->name));
	for (uint32_t i = 0; e->kind == TOML_ARRAY && i < e->items.len; i++)
		give(m, t, e->items.data[i].text, e->items.data[i].at);
	if (e->kind == TOML_INTEGER)
		give(m, t, arena_printf(m->d.arena, "%lld", (long long)e->number), e->at);
	if (e->kind == TOML_STRING)
		give(m, t, e->text, e->at);
}

static void unknown(struct matching *m, const struct toml_entry *e, const char *what, const char *const *names, int n)
{
	int best = nearest_name(e->key, names, n);
	diag_error(&m->d, "project-unknown-key", &m->p.src, e->key_at, "unknown key '%s'%s", e->key, what);
	if (best >= 0)
		diag_hint(&m->d, "did you mean '%s'?", names[best]);
}

/* cli->help: the table of one command. */
static void table_of(struct cli *cli, const struct cmd *cmd, const struct opt *table)
{
	struct matching *m = cli->help_arg;
	const char *names[256];
	int n = 0;
	bool takes = reads(cmd, table);
	m->row = cmd;
	for (const struct opt *t = table; takes && t->help && n < 256; t++)
		if (t->kind != OPT_GROUP)
			names[n++] = t->name;
	for (uint32_t i = 0; i < m->p.toml.entries.len; i++) {
		const struct toml_entry *e = &m->p.toml.entries.data[i];
		if (!strcmp(e->table, cmd->name)) {
			const struct opt *t = takes ? find(table, e->key) : NULL;
			m->used[i] = true;
			if (t)
				entry(m, t, e);
			else if (takes)
				unknown(m, e, arena_printf(m->d.arena, ": 'intact %s' has no such option", cmd->name), names, n);
			else
				diag_error(&m->d, "project-unknown-key", &m->p.src, e->key_at,
				           "'intact %s' takes no options from a project file", cmd->name);
		} else if (!*e->table && takes) {
			const struct opt *t = NULL;
			for (int k = 0; shared[k]; k++)
				if (!strcmp(shared[k], e->key))
					t = find(table, e->key);
			if (t && !m->used[i]) {
				entry(m, t, e);
				m->used[i] = true;
			} else if (t && asked(m)) {
				entry(m, t, e);
			}
		}
	}
}

/* Entries and tables that no command knows. */
static void leftovers(struct matching *m)
{
	const char *names[64];
	int n = 0;
	for (; cli_commands[n] && n < 64; n++)
		names[n] = cli_commands[n]->name;
	for (uint32_t i = 0; i < m->p.toml.tables.len; i++) {
		const struct toml_table *t = &m->p.toml.tables.data[i];
		if (cli_find(t->name))
			continue;
		int best = nearest_name(t->name, names, n);
		diag_error(&m->d, "project-unknown-key", &m->p.src, t->at, "unknown table [%s]: there is no command of this name",
		           t->name);
		if (best >= 0)
			diag_hint(&m->d, "did you mean [%s]?", names[best]);
	}
	for (uint32_t i = 0; i < m->p.toml.entries.len; i++) {
		const struct toml_entry *e = &m->p.toml.entries.data[i];
		int k = 0;
		if (m->used[i] || (*e->table && e->table_at.end))
			continue; /* the message is about the table */
		while (shared[k] && strcmp(shared[k], e->key) != 0)
			k++;
		if (shared[k] && !*e->table) {
			diag_error(&m->d, "project-unknown-key", &m->p.src, e->key_at, "no command of this version has --%s",
			           e->key);
		} else {
			unknown(m, e, *e->table ? ": there is no such command" : "", shared,
			        (int)(sizeof shared / sizeof *shared) - 1);
			diag_hint(&m->d, "options of a command go into its table: [run], [explore], ...");
		}
	}
}

/* Reads and checks the file; the words for `asked` are in m. */
static bool match(struct cli *cli, struct matching *m, const char *file)
{
	struct cli quiet = { .help = table_of, .help_arg = m, .columns = 100 };
	char *help[] = { "--help", NULL };
	if (project_read(&m->p, file, &m->d)) {
		m->used = arena_array(m->d.arena, bool, m->p.toml.entries.len + 1);
		buf_init(&quiet.out);
		buf_init(&quiet.err);
		for (int i = 0; cli_commands[i]; i++)
			cli_commands[i]->run(&quiet, cli_commands[i], 1, help);
		assert(!quiet.out.len);
		buf_free(&quiet.out);
		buf_free(&quiet.err);
		leftovers(m);
	}
	diags_render(&m->d, &cli->err, cli->color_err);
	return !m->d.errors;
}

/* Words that begin a subcommand (trace convert): it has other options. */
static bool subcommand(const struct cmd *cmd, const char *word)
{
	const char *s = cmd->takes ? cmd->takes : "";
	size_t len = strlen(word);
	for (; *s; s += strcspn(s, " "), s += *s == ' ')
		if (isalpha((unsigned char)*s) && strcspn(s, " ") == len && !memcmp(s, word, len))
			return true;
	return false;
}

bool project_options(struct cli *cli, const struct cmd *cmd, const char *file, int argc, char **argv, struct project_words *w)
{
	struct matching m = { .asked = cmd };
	char found[PATH_MAX];
	static const char *const others[] = { "cc", "c++", "help", "version", "doctor", "init", "symbolize", "explain" };
	arena_init(&w->arena, 0);
	w->argc = argc;
	w->argv = argv;
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (!strcmp(cmd->name, others[i]))
			return true;
	if (argc && (!strcmp(argv[0], "--help") || !strcmp(argv[0], "-h") || subcommand(cmd, argv[0])))
		return true;
	if (!file && !project_find(found, &cli->err))
		return true;
	diags_init(&m.d, &w->arena);
	if (!match(cli, &m, file ? file : found))
		return false;
	if (!m.words.len)
		return true;
	char **words = arena_array(&w->arena, char *, m.words.len + (size_t)argc + 1);
	memcpy(words, m.words.data, m.words.len * sizeof *words);
	memcpy(words + m.words.len, argv, (size_t)argc * sizeof *words);
	w->argv = words;
	w->argc = argc + (int)m.words.len;
	buf_printf(&cli->err, "intact: note: %u option%s from '", m.words.len, m.words.len == 1 ? "" : "s");
	buf_safe(&cli->err, m.p.src.name, strlen(m.p.src.name));
	buf_str(&cli->err, "'\n");
	buf_flush(&cli->err, stderr); /* before what a watched program prints */
	return true;
}

void project_words_free(struct project_words *w)
{
	arena_free(&w->arena);
}

bool project_check(struct cli *cli, const char *file)
{
	struct matching m = { 0 };
	struct arena a;
	arena_init(&a, 0);
	diags_init(&m.d, &a);
	bool ok = match(cli, &m, file);
	arena_free(&a);
	return ok;
}
