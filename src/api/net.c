/* net: struct intact_net_judge of include/intact/intact.h: options by name, then judge/net.h. */
#include <stdlib.h>

#include "api/api.h"
#include "judge/net.h"

struct intact_net_judge {
	struct net_args args;
	struct api_words words;
	struct buf messages;
};

API_EXPORT struct intact_net_judge *intact_net_judge_new(void)
{
	struct intact_net_judge *j = calloc(1, sizeof *j);
	if (!j)
		return NULL;
	buf_init(&j->messages);
	return j;
}

API_EXPORT void intact_net_judge_free(struct intact_net_judge *j)
{
	if (!j)
		return;
	api_words_free(&j->words);
	buf_free(&j->messages);
	free(j);
}

API_EXPORT const char *intact_net_judge_messages(const struct intact_net_judge *j)
{
	return buf_cstr(&j->messages);
}

API_EXPORT enum intact_status intact_net_judge_set(struct intact_net_judge *j, const char *option, const char *value)
{
	const struct opt table[] = { NET_QUESTION_OPTIONS(&j->args), NET_LIMIT_OPTIONS(&j->args), { 0 } };
	return api_option(&j->words, table, option, value, &j->messages);
}

API_EXPORT enum intact_status intact_net_judge_file(struct intact_net_judge *j, const char *path, struct intact_document *d)
{
	struct buf doc;
	struct net_sink sink = { .document = &doc, .err = &j->messages, .wrong = &j->messages };
	buf_clear(&j->messages);
	if (net_args_wrong(&j->args)) {
		buf_str(&j->messages, net_args_wrong(&j->args));
		return INTACT_INVALID;
	}
	buf_init(&doc);
	int rc = net_judge(&j->args, path, &sink);
	enum intact_status status = api_judged_document(rc, &doc, &j->messages, d);
	buf_free(&doc);
	return status;
}
