/* fuzz_project: any bytes as a project file: read, and matched with the option tables of all commands. */
#include <string.h>

#include "cli/project_options.h"
#include "fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct memory_file file;
	struct cli cli = { .columns = 100 };
	file_make(&file, data, size);
	buf_init(&cli.out);
	buf_init(&cli.err);
	bool ok = project_check(&cli, file.path);
	if (ok == (cli.err.len != 0) || cli.out.len)
		bad("refused without a message, or the other way round", buf_cstr(&cli.err));
	if (!ok && !strstr(buf_cstr(&cli.err), ": error: "))
		bad("a message without an error", buf_cstr(&cli.err));
	buf_free(&cli.out);
	buf_free(&cli.err);
	file_close(&file);
	return 0;
}
