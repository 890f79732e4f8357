/* options: options by name, as "engine" and "exact", for the tables of the commands (base/opts.h). */
#ifndef INTACT_API_OPTIONS_H
#define INTACT_API_OPTIONS_H

#include "base/opts.h"
#include "intact/intact.h"

/* The texts that parsed options point to; zero to begin with. */
struct api_words {
	char **list;
	size_t n;
};

/* Takes the option of the table that has this name; what is wrong goes to `messages`. */
enum intact_status api_option(struct api_words *w, const struct opt *table, const char *option, const char *value,
                              struct buf *messages);
void api_words_free(struct api_words *w);

#endif
