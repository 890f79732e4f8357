/* trace: struct intact_trace_judge of include/intact/intact.h: options by name, then judge/trace.h. */
#include <stdlib.h>

#include "api/api.h"
#include "judge/trace.h"

struct intact_trace_judge {
	struct trace_args args;
	const char *options; /* for the findings of a recording */
	struct api_words words;
	struct buf messages;
};

API_EXPORT struct intact_trace_judge *intact_trace_judge_new(void)
{
	struct intact_trace_judge *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	j->args = (struct trace_args)TRACE_DEFAULTS;
	buf_init(&j->messages);
	return j;
}

API_EXPORT void intact_trace_judge_free(struct intact_trace_judge *j)
{
	if (!j)
		return;
	api_words_free(&j->words);
	buf_free(&j->messages);
	free(j);
}

API_EXPORT const char *intact_trace_judge_messages(const struct intact_trace_judge *j)
{
	return buf_cstr(&j->messages);
}

API_EXPORT enum intact_status intact_trace_judge_set(struct intact_trace_judge *j, const char *option, const char *value)
{
	const struct opt table[] = {
		TRACE_FINDING_OPTIONS(&j->args),
		TRACE_READING_OPTIONS(&j->args),
		{ OPT_STR, "options", 0, "TEXT", &j->options, "", 0, 0, NULL },
		{ 0 },
	};
	return api_option(&j->words, table, option, value, &j->messages);
}

API_EXPORT enum intact_status intact_trace_judge_file(struct intact_trace_judge *j, const char *path, struct intact_document *d)
{
	struct buf results;
	struct trace_sink sink = { .results = &results, .err = &j->messages, .options = j->options };
	buf_clear(&j->messages);
	if (trace_args_wrong(&j->args, 1)) {
		buf_str(&j->messages, trace_args_wrong(&j->args, 1));
		return INTACT_INVALID;
	}
	buf_init(&results);
	int rc = trace_judge(&j->args, path, &sink);
	enum intact_status status = api_judged("trace", rc, &results, &j->messages, d);
	buf_free(&results);
	return status;
}
