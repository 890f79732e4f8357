/*
 * check_model: loads a model, prints the verdict of each block and, where one is violated, the run that shows it.
 *
 *     cc check_model.c $(pkg-config --cflags --libs intact) -o check_model
 *     ./check_model ../lost-update.atm
 *
 * Exit code: that of `intact check` (0 holds, 1 violated, 2 wrong input, 3 unknown).
 */
#include <intact/intact.h>
#include <stdio.h>

static const char *word(enum intact_verdict v)
{
	return v == INTACT_HOLDS ? "holds" : v == INTACT_VIOLATED ? "VIOLATED" : "unknown";
}

static void show(const struct intact_document *d, size_t i)
{
	printf("%s: %s (%s)\n", intact_answer_name(d, i), word(intact_answer_verdict(d, i)), intact_answer_engine(d, i));
	if (intact_answer_verdict(d, i) != INTACT_VIOLATED)
		return;
	printf("  line %u: %s\n", (unsigned)intact_answer_line(d, i), intact_answer_message(d, i));
	for (size_t k = 0; k < intact_answer_steps(d, i); k++)
		printf("  %-20s %s\n", intact_step_thread(d, i, k), intact_step_text(d, i, k));
	printf("  schedule: %s\n", intact_answer_schedule(d, i));
}

int main(int argc, char **argv)
{
	struct intact_model *m = intact_model_new();
	struct intact_check *c = intact_check_new();
	struct intact_document *d = intact_document_new();
	int rc = 2;
	if (argc != 2 || !m || !c || !d)
		fprintf(stderr, "usage: check_model MODEL\n");
	else if (intact_model_load(m, argv[1]) != INTACT_OK)
		fputs(intact_model_messages(m), stderr);
	else if (intact_check_set(c, "max-states", "1000000") != INTACT_OK || intact_check_run(c, m, d) != INTACT_OK)
		fprintf(stderr, "%s\n", intact_check_messages(c));
	else {
		for (size_t i = 0; i < intact_document_answers(d); i++)
			show(d, i);
		rc = (int)intact_document_verdict(d);
	}
	intact_document_free(d);
	intact_check_free(c);
	intact_model_free(m);
	return rc;
}
