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

#define ABOUT                                                                  \
	"Compiles and links like the compiler it wraps, with every flag passed\n" \
	"through, so that the program can be watched for atomicity violations\n" \
	"while it runs. Also as `intact-cc` and `intact-c++`:\n\n"             \
	"  CC=intact-cc CXX=intact-c++ ./configure && make\n\n"                \
	"INTACT_CC and INTACT_CXX choose the compiler (gcc or clang, any version\n" \
	"that knows -fsanitize=thread; default cc and c++). INTACT_CC_VERBOSE=1\n" \
	"prints the command lines that are run. clang's inlined functions of at\n" \
	"most one access get no hooks, as nothing can come between;\n"       \
	"INTACT_CC_HOOKS=all keeps them.\n"

const struct cmd cmd_cc = {
	"cc", "compile C for watching (wraps gcc or clang)", "cc [COMPILER ARGUMENTS]", ABOUT,
	NULL, run_cc,
};
const struct cmd cmd_cxx = {
	"c++", "compile C++ for watching (wraps g++ or clang++)",
	"c++ [COMPILER ARGUMENTS]", ABOUT, NULL, run_cxx,
};
