/* completion_zsh: a function for each command, which calls _arguments. */
#include <ctype.h>
#include <string.h>

#include "cli/completion_int.h"

/* The name of a shell function: letters, digits and underscores. */
static void identifier(struct buf *out, const char *name)
{
	for (; *name; name++)
		buf_char(out, isalnum((unsigned char)*name) ? *name : '_');
}

/* Inside '...' and a description of _arguments. */
static void zsh_text(struct buf *out, const char *s)
{
	for (; *s; s++) {
		if (*s == '\'')
			buf_str(out, "'\\''");
		else if (strchr("[]:\\", *s))
			buf_printf(out, "\\%c", *s);
		else
			buf_char(out, *s);
	}
}

/* *.a or *.(a|b): parentheses at the end would be qualifiers if nothing were between them but one suffix */
static void zsh_files(struct buf *out, const char *suffixes)
{
	bool several = strchr(suffixes, ' ');
	if (!*suffixes) {
		buf_str(out, "_files");
		return;
	}
	buf_printf(out, "_files -g \"*.%s", several ? "(" : "");
	for (suffixes++; *suffixes; suffixes++)
		if (*suffixes == ' ') {
			buf_char(out, '|');
			suffixes++; /* the dot */
		} else {
			buf_char(out, *suffixes);
		}
	buf_str(out, several ? ")\"" : "\"");
}

static void zsh_value(struct buf *out, const struct cmd *cmd, const struct opt *t)
{
	const char *files = completion_files(cmd, t);
	if (t->kind == OPT_FLAG)
		return;
	buf_str(out, opt_optional(t) ? "::" : ":");
	zsh_text(out, t->arg);
	buf_char(out, ':');
	if (files)
		zsh_files(out, files);
	for (int i = 0; t->kind == OPT_CHOICE && t->choices[i]; i++)
		buf_printf(out, "%s%s", i ? " " : "(", t->choices[i]);
	buf_str(out, t->kind == OPT_CHOICE ? ")" : "");
}

static void zsh_begin(struct buf *out)
{
	buf_str(out, "#compdef intact\n# zsh completion for intact; written by `intact help --completion=zsh`\n");
}

static void zsh_option(struct buf *out, const struct cmd *cmd, const struct opt *t)
{
	const char *value = t->kind == OPT_FLAG ? "" : opt_optional(t) ? "=-" : "=";
	buf_str(out, " \\\n\t\t");
	if (t->short_name)
		buf_printf(out, "'(-%c --%s)'{-%c%s,--%s%s}'[", t->short_name, t->name, t->short_name,
		           t->kind == OPT_FLAG ? "" : "+", t->name, value);
	else
		buf_printf(out, "'%s--%s%s[", t->kind == OPT_LIST ? "*" : "", t->name, value);
	zsh_text(out, t->help);
	buf_char(out, ']');
	zsh_value(out, cmd, t);
	buf_char(out, '\'');
}

static void zsh_table(struct buf *out, const struct cmd *cmd, const struct opt *table)
{
	struct buf words, suffixes;
	buf_init(&words);
	buf_init(&suffixes);
	completion_words(cmd, &words);
	completion_suffixes(cmd, &suffixes);
	buf_str(out, "\n_intact_");
	identifier(out, cmd->name);
	buf_str(out, "()\n{\n");
	if (cmd->takes && isalpha((unsigned char)*cmd->takes)) {
		buf_str(out, "\tif (( CURRENT > 2 )) && (( $+functions[_intact_");
		identifier(out, cmd->name);
		buf_str(out, "_$words[2]] )); then\n\t\tlocal sub=$words[2]\n\t\tshift words\n\t\t(( CURRENT-- ))\n\t\t_intact_");
		identifier(out, cmd->name);
		buf_str(out, "_$sub\n\t\treturn\n\tfi\n");
	}
	buf_str(out, "\t_arguments -s -S");
	for (const struct opt *t = table; t && t->help; t++)
		if (t->kind != OPT_GROUP)
			zsh_option(out, cmd, t);
	buf_str(out, " \\\n\t\t'(- *)'{-h,--help}'[show the help]'");
	if (completion_of_program(cmd)) {
		buf_str(out, " \\\n\t\t'(-)1:program:_files -g \"*(-*,-/)\"' \\\n\t\t'*::arguments:_files'");
	} else if (words.len && suffixes.len) {
		buf_printf(out, " \\\n\t\t'1: :{ compadd -- %s; ", buf_cstr(&words));
		zsh_files(out, buf_cstr(&suffixes));
		buf_str(out, " }' \\\n\t\t'*:file:");
		zsh_files(out, buf_cstr(&suffixes));
		buf_char(out, '\'');
	} else if (words.len) {
		buf_printf(out, " \\\n\t\t'1: :(%s)'", buf_cstr(&words));
	} else {
		buf_str(out, " \\\n\t\t'*:file:");
		zsh_files(out, buf_cstr(&suffixes));
		buf_char(out, '\'');
	}
	buf_str(out, "\n}\n");
	buf_free(&words);
	buf_free(&suffixes);
}

static void zsh_end(struct buf *out)
{
	buf_str(out, "\n_intact()\n{\n\tlocal -a commands\n\tcommands=(\n");
	for (int i = 0; cli_commands[i]; i++) {
		buf_printf(out, "\t\t'%s:", cli_commands[i]->name);
		zsh_text(out, cli_commands[i]->summary);
		buf_str(out, "'\n");
	}
	buf_str(out, "\t)\n"
	             "\tif (( CURRENT == 2 )); then\n"
	             "\t\t_describe -t commands command commands\n"
	             "\t\treturn\n"
	             "\tfi\n"
	             "\tlocal name=_intact_${words[2]//[^a-zA-Z0-9]/_}\n"
	             "\tshift words\n"
	             "\t(( CURRENT-- ))\n"
	             "\tif (( $+functions[$name] )); then\n"
	             "\t\t$name\n"
	             "\telse\n"
	             "\t\t_files\n"
	             "\tfi\n"
	             "}\n\n"
	             "# autoloaded, or sourced\n"
	             "if [[ $funcstack[1] == _intact ]]; then\n"
	             "\t_intact \"$@\"\n"
	             "else\n"
	             "\tcompdef _intact intact\n"
	             "fi\n");
}

const struct completion_shell completion_zsh = { "zsh", zsh_begin, zsh_table, zsh_end };
