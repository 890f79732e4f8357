/*
 * check_trace: judges a recorded execution, and what other schedules of it could have done.
 *
 *     cc check_trace.c $(pkg-config --cflags --libs intact) -o check_trace
 *     ./check_trace ../traces/lost-update.std     (or a file that `intact run --record` wrote)
 *
 * Prints every finding with the events that show it. Exit code: that of `intact trace --predict` (0 every block is atomic
 * in every schedule that was looked at, 1 one is not, 2 wrong input, 3 unknown).
 */
#include <intact/intact.h>
#include <stdio.h>

static void show(const struct intact_document *d, size_t i)
{
	printf("%s\n  %s\n", intact_answer_title(d, i), intact_answer_message(d, i));
	for (size_t k = 0; k < intact_answer_steps(d, i); k++)
		printf("  %-8s %s\n", intact_step_thread(d, i, k), intact_step_text(d, i, k));
}

int main(int argc, char **argv)
{
	struct intact_trace_judge *j = intact_trace_judge_new();
	struct intact_document *d = intact_document_new();
	int rc = 2;
	if (argc != 2 || !j || !d)
		fprintf(stderr, "usage: check_trace TRACE\n");
	else if (intact_trace_judge_set(j, "predict", NULL) != INTACT_OK || intact_trace_judge_file(j, argv[1], d) != INTACT_OK)
		fprintf(stderr, "%s\n", intact_trace_judge_messages(j));
	else {
		for (size_t i = 0; i < intact_document_answers(d); i++)
			if (intact_answer_verdict(d, i) != INTACT_HOLDS)
				show(d, i);
		rc = (int)intact_document_verdict(d);
	}
	intact_document_free(d);
	intact_trace_judge_free(j);
	return rc;
}
