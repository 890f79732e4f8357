#include "verify/claim_list.h"

#include <assert.h>
#include <string.h>

#include "report/doc.h"

#define MAX_TEXT 10000u /* bytes of a text in the document: longer ones are not plausible */

static const char *const words[] = { "accepted", "rejected", "unknown", "unchecked" };

void claim_list_init(struct claim_list *l, struct buf *err, const char *file, const char *of)
{
	assert(err && file && of);
	*l = (struct claim_list){ .err = err, .file = file, .of = of };
	buf_init(&l->list);
}

void claim_list_free(struct claim_list *l)
{
	buf_free(&l->list);
}

struct buf *claim_list_text(struct claim_list *l)
{
	return l->silent ? NULL : l->text;
}

static void say(struct buf *out, const struct claim *c)
{
	buf_str(out, words[c->answer]);
	buf_str(out, ": ");
	buf_safe(out, c->name, strlen(c->name));
	if (c->link)
		buf_printf(out, ", link %u", c->link);
	if (c->why && *c->why) {
		buf_str(out, ": ");
		buf_safe(out, c->why, strlen(c->why));
	}
	if (c->schedule)
		buf_printf(out, " %s", c->schedule);
	buf_char(out, '\n');
}

static void member(struct buf *out, const char *key, const char *text, const char *before)
{
	size_t n = strlen(text);
	if (n > MAX_TEXT)
		n = MAX_TEXT;
	while (n && n == MAX_TEXT && ((unsigned char)text[n] & 0xC0) == 0x80)
		n--; /* not in the middle of a character */
	buf_printf(out, "%s\"%s\": ", before, key);
	buf_json(out, text, n);
}

static void keep(struct claim_list *l, const struct claim *c)
{
	struct buf *out = &l->list;
	if (l->listed == CLAIM_LIST_LISTED)
		return;
	member(out, "name", c->name, l->listed++ ? ",\n    {" : "\n    {");
	if (c->claimed)
		member(out, "claim", c->claimed, ", ");
	member(out, "answer", words[c->answer], ", ");
	if (c->why && *c->why)
		member(out, "why", c->why, ", ");
	if (c->line)
		buf_printf(out, ", \"line\": %u", c->line);
	if (c->link)
		buf_printf(out, ", \"link\": %u", c->link);
	if (c->states)
		buf_printf(out, ", \"states\": %llu", (unsigned long long)c->states);
	if (c->schedule) {
		buf_str(out, ", \"schedule\": ");
		buf_json(out, c->schedule, strlen(c->schedule));
	}
	buf_char(out, '}');
}

void claim_list_add(struct claim_list *l, const struct claim *c)
{
	struct buf *text = claim_list_text(l);
	if (text && !(c->answer == CLAIM_ACCEPTED && l->brief))
		say(text, c);
	l->n[c->answer]++;
	if (l->keep)
		keep(l, c);
}

int claim_list_code(const struct claim_list *l)
{
	return l->n[CLAIM_REJECTED] ? CLAIM_VIOLATED : l->n[CLAIM_UNKNOWN] || l->n[CLAIM_UNCHECKED] ? CLAIM_OPEN : CLAIM_HOLDS;
}

bool claim_list_document(const struct claim_list *l, int status, struct buf *doc)
{
	uint32_t all = 0;
	assert(l->keep);
	if (status != CLAIM_HOLDS && status != CLAIM_VIOLATED && status != CLAIM_OPEN)
		return false;
	buf_char(doc, '{');
	doc_begin(doc, "verify");
	buf_printf(doc, ",\n  \"verdict\": \"%s\"",
	           status == CLAIM_HOLDS ? "holds" : status == CLAIM_VIOLATED ? "violated" : "unknown");
	member(doc, "file", l->file, ",\n  ");
	member(doc, "of", l->of, ",\n  ");
	if (l->subject)
		member(doc, "subject", l->subject, ",\n  ");
	for (int i = 0; i < 4; i++) {
		buf_printf(doc, ",\n  \"%s\": %u", words[i], l->n[i]);
		all += l->n[i];
	}
	if (all > l->listed)
		buf_printf(doc, ",\n  \"not_listed\": %u", all - l->listed);
	buf_str(doc, ",\n  \"results\": [");
	buf_add(doc, buf_cstr(&l->list), l->list.len);
	buf_str(doc, l->listed ? "\n  ]\n}\n" : "]\n}\n");
	doc->failed |= l->list.failed;
	return true;
}
