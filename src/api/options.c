#include "api/api.h"
#include "base/invariant.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "--option=value", kept as long as w is; NULL: out of memory. */
static char *word(struct api_words *w, const char *option, const char *value)
{
	char **list = realloc(w->list, (w->n + 1) * sizeof *list);
	if (!list)
		return NULL;
	w->list = list;
	if ((value ? asprintf(&list[w->n], "--%s=%s", option, value) : asprintf(&list[w->n], "--%s", option)) < 0)
		return NULL;
	return list[w->n++];
}

enum intact_status api_option(struct api_words *w, const struct opt *table, const char *option, const char *value,
                              struct buf *messages)
{
	assert(table && messages);
	const char *args[2];
	struct opts parsed = { table, args, 0, false };
	buf_clear(messages);
	if (!option || !*option || strchr(option, '=')) {
		buf_str(messages, "unknown option");
		return INTACT_INVALID;
	}
	char *line[] = { word(w, option, value), NULL };
	if (!line[0])
		return INTACT_NO_MEMORY;
	return opts_parse(&parsed, 1, line, messages) && !parsed.help ? INTACT_OK : INTACT_INVALID;
}

void api_words_free(struct api_words *w)
{
	assert(!w->n || w->list);
	for (size_t i = 0; i < w->n; i++)
		free(w->list[i]);
	free(w->list);
	*w = (struct api_words){ 0 };
}
