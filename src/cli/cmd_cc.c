/* cmd_cc: `intact cc` and `intact c++`, wrappers around gcc and clang (cc/compile.h). */
#include <string.h>

#include "cc/compile.h"
#include "cli/cli.h"

static int compile(struct cli *cli, const struct cmd *cmd, int argc, char **argv, bool cxx)
{
	if (argc == 1 && !strcmp(argv[0], "--help"))
		return cli_help(cli, cmd, NULL);
	return cc_compile(argc, argv, cxx, cli->keeps_pipe, &cli->err);
}

static int run_cc(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	return compile(cli, cmd, argc, argv, false);
}

static int run_cxx(struct cli *cli, const struct cmd *cmd, int argc, char **argv)
{
	return compile(cli, cmd, argc, argv, true);
}

#define ABOUT                                                                                     \
	"Compiles and links like the compiler that it wraps. All flags are passed through, and\n" \
	"the program can be watched for atomicity violations while it runs. Also available as\n"  \
	"`intact-cc` and `intact-c++`:\n\n"                                                       \
	"  CC=intact-cc CXX=intact-c++ ./configure && make\n\n"                                   \
	"INTACT_CC and INTACT_CXX select the compiler (gcc or clang, any version that\n"          \
	"supports -fsanitize=thread; default cc and c++). INTACT_CC_VERBOSE=1 prints the\n"       \
	"command lines that are run. clang's inlined functions with at most one access get no\n"  \
	"hooks, because no other thread can interfere within them; INTACT_CC_HOOKS=all keeps\n"   \
	"the hooks.\n"

const struct cmd cmd_cc = {
	"cc", "compile C for watching (wraps gcc or clang)", "cc [COMPILER ARGUMENTS]", ABOUT, NULL, run_cc,
};
const struct cmd cmd_cxx = {
	"c++", "compile C++ for watching (wraps g++ or clang++)", "c++ [COMPILER ARGUMENTS]", ABOUT, NULL, run_cxx,
};
