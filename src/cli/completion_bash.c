/* completion_bash: one script with the tables as case arms; needs bash alone, not the package bash-completion. */
#include "cli/completion_int.h"

/* Data as case arms: "COMMAND options" gives the options, "COMMAND --name" how a value is completed, "COMMAND" its arguments. */
static void bash_begin(struct buf *out)
{
	buf_str(out, "# bash completion for intact; written by `intact help --completion=bash`\n\n"
	             "_intact_data()\n{\n\tcase $1 in\n\t'commands') echo \"");
	completion_commands(out);
	buf_str(out, "\" ;;\n");
}

static void bash_table(struct buf *out, const struct cmd *cmd, const struct opt *table)
{
	struct buf words, suffixes;
	buf_init(&words);
	buf_init(&suffixes);
	buf_printf(out, "\t'%s options') echo \"", cmd->name);
	for (const struct opt *t = table; t && t->help; t++)
		if (t->kind != OPT_GROUP)
			buf_printf(out, "--%s%s ", t->name, t->kind == OPT_FLAG || opt_optional(t) ? "" : "=");
	buf_str(out, "--help\" ;;\n");
	for (const struct opt *t = table; t && t->help; t++) {
		const char *files = t->kind == OPT_GROUP ? NULL : completion_files(cmd, t);
		if (t->kind == OPT_GROUP || t->kind == OPT_FLAG)
			continue;
		buf_printf(out, "\t'%s --%s'", cmd->name, t->name);
		if (t->short_name)
			buf_printf(out, "|'%s -%c'", cmd->name, t->short_name);
		buf_str(out, ") echo \"");
		if (files)
			buf_printf(out, "files %s", files);
		else if (t->kind != OPT_CHOICE)
			buf_str(out, "none");
		for (int i = 0; t->kind == OPT_CHOICE && t->choices[i]; i++)
			buf_printf(out, "%s%s", i ? " " : "words ", t->choices[i]);
		buf_str(out, "\" ;;\n");
	}
	completion_words(cmd, &words);
	completion_suffixes(cmd, &suffixes);
	buf_printf(out, "\t'%s words') echo \"%s\" ;;\n", cmd->name, buf_cstr(&words));
	buf_printf(out, "\t'%s') echo \"%s%s\" ;;\n", cmd->name,
	           completion_of_program(cmd)   ? "program"
	           : words.len && !suffixes.len ? "none"
	                                        : "files ",
	           buf_cstr(&suffixes));
	buf_free(&words);
	buf_free(&suffixes);
}

static void bash_end(struct buf *out)
{
	buf_str(out, "\tesac\n}\n\n"
	             "# Files with one of the suffixes (any when there is none), and directories to descend into.\n"
	             "_intact_files()\n{\n"
	             "\tlocal f s\n"
	             "\tcompopt -o filenames 2>/dev/null\n"
	             "\twhile IFS= read -r f; do\n"
	             "\t\tif [ -d \"$f\" ] || [ $# = 0 ]; then\n"
	             "\t\t\tCOMPREPLY+=(\"$f\")\n"
	             "\t\t\tcontinue\n"
	             "\t\tfi\n"
	             "\t\tfor s in \"$@\"; do\n"
	             "\t\t\tcase $f in *\"$s\") COMPREPLY+=(\"$f\") ;; esac\n"
	             "\t\tdone\n"
	             "\tdone < <(compgen -f -- \"$cur\")\n"
	             "}\n\n"
	             "_intact_words()\n{\n"
	             "\tlocal w\n"
	             "\twhile IFS= read -r w; do\n"
	             "\t\tCOMPREPLY+=(\"$w\")\n"
	             "\tdone < <(compgen -W \"$*\" -- \"$cur\")\n"
	             "}\n\n"
	             "_intact_value()\n{\n"
	             "\tlocal kind\n"
	             "\tread -r -a kind <<< \"$1\"\n"
	             "\tcase ${kind[0]} in\n"
	             "\tfiles) _intact_files \"${kind[@]:1}\" ;;\n"
	             "\twords) _intact_words \"${kind[@]:1}\" ;;\n"
	             "\tesac\n"
	             "}\n\n"
	             "_intact()\n{\n"
	             "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]} i w how=\n"
	             "\tCOMPREPLY=()\n"
	             "\tif [ \"$COMP_CWORD\" = 1 ]; then\n"
	             "\t\t_intact_words \"$(_intact_data commands) --help --version\"\n"
	             "\t\treturn\n"
	             "\tfi\n"
	             "\tcase \" $(_intact_data \"$cmd words\") \" in *\" ${COMP_WORDS[2]} \"*)\n"
	             "\t\t[ \"$COMP_CWORD\" -gt 2 ] && [ -n \"$(_intact_data \"$cmd ${COMP_WORDS[2]} options\")\" ] && cmd=\"$cmd "
	             "${COMP_WORDS[2]}\" ;;\n"
	             "\tesac\n"
	             "\t# the arguments of a program are its own\n"
	             "\tif [ \"$(_intact_data \"$cmd\")\" = program ]; then\n"
	             "\t\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	             "\t\t\tw=${COMP_WORDS[i]}\n"
	             "\t\t\tif [ \"$w\" = -- ]; then\n"
	             "\t\t\t\tbreak\n"
	             "\t\t\telif [[ $w == -* ]]; then\n"
	             "\t\t\t\tif [ \"${COMP_WORDS[i+1]}\" = '=' ]; then\n"
	             "\t\t\t\t\ti=$((i + 2))\n"
	             "\t\t\t\telif [[ $w != *=* && \" $(_intact_data \"$cmd options\") \" == *\" $w= \"* ]]; then\n"
	             "\t\t\t\t\ti=$((i + 1))\n"
	             "\t\t\t\tfi\n"
	             "\t\t\telse\n"
	             "\t\t\t\tbreak\n"
	             "\t\t\tfi\n"
	             "\t\tdone\n"
	             "\t\tif [ \"$i\" -lt \"$COMP_CWORD\" ]; then\n"
	             "\t\t\t_intact_files\n"
	             "\t\t\treturn\n"
	             "\t\tfi\n"
	             "\tfi\n"
	             "\t# a value: --name=VALUE, which readline may split at =, or --name VALUE\n"
	             "\tif [ \"$cur\" = '=' ]; then\n"
	             "\t\tcur='' how=$(_intact_data \"$cmd $prev\")\n"
	             "\telif [ \"$prev\" = '=' ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
	             "\t\thow=$(_intact_data \"$cmd ${COMP_WORDS[COMP_CWORD-2]}\")\n"
	             "\telif [[ $cur == --*=* ]]; then\n"
	             "\t\thow=$(_intact_data \"$cmd ${cur%%=*}\")\n"
	             "\t\tw=${cur%%=*}=\n"
	             "\t\tcur=${cur#*=}\n"
	             "\t\t_intact_value \"$how\"\n"
	             "\t\tCOMPREPLY=(\"${COMPREPLY[@]/#/$w}\")\n"
	             "\t\treturn\n"
	             "\telif [[ $prev == -* && $cur != -* ]]; then\n"
	             "\t\thow=$(_intact_data \"$cmd $prev\")\n"
	             "\tfi\n"
	             "\tif [ -n \"$how\" ]; then\n"
	             "\t\t_intact_value \"$how\"\n"
	             "\telif [[ $cur == -* ]]; then\n"
	             "\t\t_intact_words \"$(_intact_data \"$cmd options\")\"\n"
	             "\t\t[[ ${#COMPREPLY[@]} = 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null\n"
	             "\telse\n"
	             "\t\thow=$(_intact_data \"$cmd\")\n"
	             "\t\t[ \"$COMP_CWORD\" = 2 ] && _intact_words \"$(_intact_data \"$cmd words\")\"\n"
	             "\t\tif [ \"$how\" = program ]; then\n"
	             "\t\t\t_intact_files\n"
	             "\t\telse\n"
	             "\t\t\t_intact_value \"${how:-files}\"\n"
	             "\t\tfi\n"
	             "\tfi\n"
	             "}\n\n"
	             "complete -F _intact intact\n");
}

const struct completion_shell completion_bash = { "bash", bash_begin, bash_table, bash_end };
