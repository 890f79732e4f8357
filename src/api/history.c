/* history: struct intact_history_judge of include/intact/intact.h: options by name, then judge/history.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/api.h"
#include "history/history.h"
#include "judge/history.h"

struct intact_history_judge {
	struct history_args args;
	struct api_words words;
	struct buf messages;
};

API_EXPORT struct intact_history_judge *intact_history_judge_new(void)
{
	struct intact_history_judge *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	j->args.jobs = 1;
	buf_init(&j->messages);
	return j;
}

API_EXPORT void intact_history_judge_free(struct intact_history_judge *j)
{
	if (!j)
		return;
	api_words_free(&j->words);
	buf_free(&j->messages);
	free(j);
}

API_EXPORT const char *intact_history_judge_messages(const struct intact_history_judge *j)
{
	return buf_cstr(&j->messages);
}

API_EXPORT enum intact_status intact_history_judge_set(struct intact_history_judge *j, const char *option, const char *value)
{
	const struct opt table[] = {
		HISTORY_QUESTION_OPTIONS(&j->args),
		HISTORY_LEVEL_OPTIONS(&j->args),
		HISTORY_READING_OPTIONS(&j->args),
		HISTORY_LIMIT_OPTIONS(&j->args),
		{ 0 },
	};
	return api_option(&j->words, table, option, value, &j->messages);
}

/* `text` NULL: the file `name`. */
static enum intact_status judge(struct intact_history_judge *j, const struct history_args *a, const char *name, const char *text,
                                size_t len, struct intact_document *d)
{
	struct buf results;
	struct history_sink sink = { .results = &results, .err = &j->messages };
	enum intact_status status = INTACT_INVALID;
	buf_clear(&j->messages);
	struct why why;
	const char *wrong = history_args_wrong(a, &why);
	if (wrong) {
		buf_str(&j->messages, wrong);
		return INTACT_INVALID;
	}
	struct history_run *run = history_run_new(a, &sink);
	if (!run)
		return j->messages.len ? INTACT_INVALID : INTACT_NO_MEMORY;
	buf_init(&results);
	int rc = text ? history_judge_text(run, name, text, len) : history_judge(run, name);
	status = api_judged("history", rc, &results, &j->messages, d);
	buf_free(&results);
	history_run_free(run);
	return status;
}

API_EXPORT enum intact_status intact_history_judge_file(struct intact_history_judge *j, const char *path, struct intact_document *d)
{
	return judge(j, &j->args, path, NULL, 0, d);
}

API_EXPORT enum intact_status intact_history_judge_text(struct intact_history_judge *j, const char *name, const char *text,
                                                        size_t len, struct intact_document *d)
{
	return judge(j, &j->args, name ? name : "history", text ? text : "", text ? len : 0, d);
}

/* The options that the history itself answers, unless they are set. */
static void of_recorded(struct history_args *a, const struct intact_history *h, char init[32])
{
	static const enum object objects[] = { [INTACT_REGISTER] = OBJ_CAS_REGISTER, [INTACT_COUNTER] = OBJ_COUNTER,
		                               [INTACT_MUTEX] = OBJ_MUTEX,           [INTACT_SET] = OBJ_SET,
		                               [INTACT_QUEUE] = OBJ_QUEUE,           [INTACT_STACK] = OBJ_STACK,
		                               [INTACT_PRIORITY_QUEUE] = OBJ_PQUEUE };
	enum intact_object o = intact_history_object(h);
	a->format = FORMAT_OF_RECORDED;
	a->nil = a->nil ? a->nil : HISTORY_NIL_VALUE;
	a->pairs = a->pairs ? a->pairs : HISTORY_PAIRS_NO;
	if (a->spec || a->object != OBJ_GUESS)
		return;
	a->object = o > 0 && (size_t)o < sizeof objects / sizeof *objects ? (int)objects[o] : OBJ_GUESS;
	if (!a->init && (o == INTACT_REGISTER || o == INTACT_COUNTER)) {
		snprintf(init, 32, "%lld", (long long)intact_history_initial(h));
		a->init = init;
	}
}

API_EXPORT enum intact_status intact_history_judge_recorded(struct intact_history_judge *j, struct intact_history *h,
                                                            struct intact_document *d)
{
	struct history_args a = j->args;
	char init[32];
	size_t len;
	const char *text = intact_history_text(h, &len);
	if (!text) {
		buf_clear(&j->messages);
		buf_str(&j->messages, intact_history_report(h));
		return INTACT_INVALID;
	}
	of_recorded(&a, h, init);
	return judge(j, &a, "recorded history", text, len, d);
}
