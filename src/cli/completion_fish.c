/* completion_fish: a line for each option. */
#include <string.h>

#include "cli/completion_int.h"

static void fish_text(struct buf *out, const char *s)
{
	buf_char(out, '\'');
	for (; *s; s++) {
		if (*s == '\'' || *s == '\\')
			buf_char(out, '\\');
		buf_char(out, *s);
	}
	buf_char(out, '\'');
}

static void fish_begin(struct buf *out)
{
	buf_str(out, "# fish completion for intact; written by `intact help --completion=fish`\n\n"
	             "# Is this the command (and its word)?\n"
	             "function __intact_in\n"
	             "    set -l words (commandline -opc)\n"
	             "    test (count $words) -gt 1; and test \"$words[2]\" = $argv[1]; or return 1\n"
	             "    if set -q argv[2]\n"
	             "        test (count $words) -gt 2; and test \"$words[3]\" = $argv[2]\n"
	             "    else\n"
	             "        test (count $words) -lt 3; or not contains -- \"$words[2] $words[3]\" $__intact_words\n"
	             "    end\n"
	             "end\n\n"
	             "# As __intact_in, and the program whose arguments are its own has not begun?\n"
	             "function __intact_before_program\n"
	             "    __intact_in $argv; or return 1\n"
	             "    set -l valued __intact_valued_$argv[1]\n"
	             "    set -l skip 0\n"
	             "    for word in (commandline -opc)[3..-1]\n"
	             "        if test $skip = 1\n"
	             "            set skip 0\n"
	             "        else if not string match -q -- '-*' $word; or test $word = --\n"
	             "            return 1\n"
	             "        else if contains -- $word $$valued\n"
	             "            set skip 1\n"
	             "        end\n"
	             "    end\n"
	             "end\n\n"
	             "# Files with one of the suffixes, and directories.\n"
	             "function __intact_files\n"
	             "    set -l token (commandline -ct | string replace -r '^--[^=]*=' '')\n"
	             "    for suffix in $argv\n"
	             "        for file in $token*$suffix\n"
	             "            echo $file\n"
	             "        end\n"
	             "    end\n"
	             "    for dir in $token*/\n"
	             "        echo $dir\n"
	             "    end\n"
	             "end\n\n"
	             "set -g __intact_words\n"
	             "complete -c intact -f\n");
	for (int i = 0; cli_commands[i]; i++) {
		buf_printf(out, "complete -c intact -n __fish_use_subcommand -a '%s' -d ", cli_commands[i]->name);
		fish_text(out, cli_commands[i]->summary);
		buf_char(out, '\n');
	}
}

static void fish_files(struct buf *out, const char *suffixes)
{
	if (*suffixes)
		buf_printf(out, " -f -a '(__intact_files %s)'", suffixes);
	else
		buf_str(out, " -F");
}

static void fish_table(struct buf *out, const struct cmd *cmd, const struct opt *table)
{
	struct buf words, suffixes;
	buf_init(&words);
	buf_init(&suffixes);
	completion_words(cmd, &words);
	completion_suffixes(cmd, &suffixes);
	if (strchr(cmd->name, ' '))
		buf_printf(out, "set -a __intact_words '%s'\n", cmd->name);
	const char *when = completion_of_program(cmd) ? "__intact_before_program" : "__intact_in";
	if (completion_of_program(cmd)) {
		buf_printf(out, "set -g __intact_valued_%s", cmd->name);
		for (const struct opt *t = table; t && t->help; t++)
			if (t->kind != OPT_FLAG && !opt_optional(t) && t->kind != OPT_GROUP) {
				buf_printf(out, " --%s", t->name);
				if (t->short_name)
					buf_printf(out, " -%c", t->short_name);
			}
		buf_char(out, '\n');
	}
	for (const struct opt *t = table; t && t->help; t++) {
		const char *files;
		if (t->kind == OPT_GROUP)
			continue;
		buf_printf(out, "complete -c intact -n '%s %s' -l %s", when, cmd->name, t->name);
		if (t->short_name)
			buf_printf(out, " -s %c", t->short_name);
		if (t->kind != OPT_FLAG && !opt_optional(t))
			buf_str(out, completion_files(cmd, t) ? " -r" : " -x");
		if (t->kind == OPT_CHOICE) {
			buf_str(out, " -a '");
			for (int i = 0; t->choices[i]; i++)
				buf_printf(out, "%s%s", i ? " " : "", t->choices[i]);
			buf_char(out, '\'');
		} else if ((files = completion_files(cmd, t))) {
			fish_files(out, files);
		}
		buf_str(out, " -d ");
		fish_text(out, t->help);
		buf_char(out, '\n');
	}
	if (words.len)
		buf_printf(out, "complete -c intact -n '__intact_in %s; and test (count (commandline -opc)) -eq 2' -a '%s'\n",
		           cmd->name, buf_cstr(&words));
	if (suffixes.len || !words.len) {
		buf_printf(out, "complete -c intact -n '__intact_in %s'", cmd->name);
		fish_files(out, buf_cstr(&suffixes));
		buf_char(out, '\n');
	}
	buf_free(&words);
	buf_free(&suffixes);
}

static void fish_end(struct buf *out)
{
	(void)out;
}

const struct completion_shell completion_fish = { "fish", fish_begin, fish_table, fish_end };
