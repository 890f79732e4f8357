/*
 * check_history_file: judges the history in a file, for example one of Jepsen's, under the options that are given.
 *
 *     cc check_history_file.c $(pkg-config --cflags --libs intact) -o check_history_file
 *     ./check_history_file ../history/stale-read.edn
 *     ./check_history_file ../history/stale-read.edn condition=regular witness > result.json
 *
 * Options are those of `intact history` without their dashes. Prints what was found; when standard output is wanted for it
 * ("json" as an option of our own), the result as `intact history --json` writes it. Exit code: that of `intact history`.
 */
#include <intact/intact.h>
#include <stdio.h>
#include <string.h>

/* "name" or "name=value" */
static enum intact_status set(struct intact_history_judge *j, char *word)
{
	char *value = strchr(word, '=');
	if (value)
		*value++ = 0;
	return intact_history_judge_set(j, word, value);
}

int main(int argc, char **argv)
{
	struct intact_history_judge *j = intact_history_judge_new();
	struct intact_document *d = intact_document_new();
	enum intact_format format = INTACT_TEXT;
	enum intact_status status = INTACT_OK;
	int rc = 2;
	if (argc < 2 || !j || !d) {
		fprintf(stderr, "usage: check_history_file HISTORY [OPTION[=VALUE]...]\n");
		return 2;
	}
	for (int i = 2; i < argc && status == INTACT_OK; i++) {
		if (!strcmp(argv[i], "json"))
			format = INTACT_JSON;
		else
			status = set(j, argv[i]);
	}
	if (status == INTACT_OK)
		status = intact_history_judge_file(j, argv[1], d);
	if (status != INTACT_OK) {
		fprintf(stderr, "%s\n", intact_history_judge_messages(j));
	} else {
		fputs(intact_document_render(d, format, NULL), stdout);
		rc = (int)intact_document_verdict(d);
	}
	intact_document_free(d);
	intact_history_judge_free(j);
	return rc;
}
