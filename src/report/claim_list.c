#include "report/claim_list.h"

#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"

#define MAX_TEXT 10000u /* bytes of a text in the document: longer ones are not plausible */

static const char *const words[] = { "accepted", "rejected", "unknown", "unchecked" };

void claim_list_init(struct claim_list *l, struct buf *err, const char *file, const char *of)
{
	assert(err && file && of);
	*l = (struct claim_list){ .err = err, .file = file, .of = of };
	buf_init(&l->list);
	json_out_init(&l->j, &l->list, false);
}

void claim_list_free(struct claim_list *l)
{
	buf_free(&l->list);
}

/* A text, cut where a character ends. */
static void bounded(struct json_out *j, const char *key, const char *text)
{
	size_t n = strlen(text);
	if (n > MAX_TEXT)
		n = MAX_TEXT;
	while (n && n == MAX_TEXT && ((unsigned char)text[n] & 0xC0) == 0x80)
		n--;
	json_text_n(j, key, text, n);
}

static void keep(struct claim_list *l, const struct claim *c)
{
	assert(c->answer <= CLAIM_UNCHECKED && l->listed <= CLAIM_LIST_LISTED);
	struct json_out *j = &l->j;
	if (l->listed == CLAIM_LIST_LISTED)
		return;
	l->listed++;
	json_line(j, 4);
	json_begin_object(j, NULL);
	bounded(j, "name", c->name);
	if (c->claimed)
		bounded(j, "claim", c->claimed);
	json_text(j, "answer", words[c->answer]);
	if (c->why && *c->why)
		bounded(j, "why", c->why);
	if (c->line)
		json_uint(j, "line", c->line);
	if (c->link)
		json_uint(j, "link", c->link);
	if (c->states)
		json_uint(j, "states", c->states);
	json_text_if(j, "schedule", c->schedule);
	json_end(j);
}

void claim_list_add(struct claim_list *l, const struct claim *c)
{
	assert(c->name && c->answer <= CLAIM_UNCHECKED);
	l->n[c->answer]++;
	keep(l, c);
	assert(l->listed <= l->n[CLAIM_ACCEPTED] + l->n[CLAIM_REJECTED] + l->n[CLAIM_UNKNOWN] + l->n[CLAIM_UNCHECKED]);
}

int claim_list_code(const struct claim_list *l)
{
	return l->n[CLAIM_REJECTED] ? CLAIM_VIOLATED : l->n[CLAIM_UNKNOWN] || l->n[CLAIM_UNCHECKED] ? CLAIM_OPEN : CLAIM_HOLDS;
}

bool claim_list_document(const struct claim_list *l, int status, struct buf *doc)
{
	assert(status == CLAIM_INPUT || status == CLAIM_INTERNAL || l->file);
	uint32_t all = 0;
	struct json_out w, *j = &w;
	if (status != CLAIM_HOLDS && status != CLAIM_VIOLATED && status != CLAIM_OPEN)
		return false;
	json_out_init(j, doc, false);
	doc_begin(j, "verify", 0);
	json_line(j, 2);
	json_text(j, "verdict", status == CLAIM_HOLDS ? "holds" : status == CLAIM_VIOLATED ? "violated" : "unknown");
	json_line(j, 2);
	bounded(j, "file", l->file);
	json_line(j, 2);
	json_text(j, "of", l->of);
	if (l->subject) {
		json_line(j, 2);
		bounded(j, "subject", l->subject);
	}
	for (int i = 0; i < 4; i++) {
		json_line(j, 2);
		json_uint(j, words[i], l->n[i]);
		all += l->n[i];
	}
	if (all > l->listed) {
		assert(all >= l->listed);
		json_line(j, 2);
		json_uint(j, "not_listed", all - l->listed);
	}
	json_line(j, 2);
	json_begin_array(j, "results");
	json_items(j, &l->list);
	if (l->listed)
		json_line(j, 2);
	json_end(j);
	json_line(j, 0);
	doc_end(j);
	return true;
}

/* ---- text ----------------------------------------------------------------------------------------- */

static void line(const json_t *claim, struct buf *out)
{
	static const char *const keys[] = { "answer", "name", "link", "why", "schedule" };
	static const char *const before[] = { "", ": ", ", link ", ": ", " " };
	for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
		const json_t *v = json_object_get(claim, keys[i]);
		buf_str(out, v ? before[i] : "");
		if (json_is_integer(v))
			buf_printf(out, "%lld", (long long)json_integer_value(v));
		else if (v)
			buf_safe(out, json_string_value(v), json_string_length(v));
	}
	buf_char(out, '\n');
}

/* Of a trace, "finding 3": one of many cycles, of which only those are told that are not accepted. */
static bool is_cycle(const json_t *doc, const json_t *claim)
{
	const char *name = doc_text(claim, "name");
	return doc_is(doc, "of", "trace") && !strncmp(name, "finding ", 8) && name[8] >= '0' && name[8] <= '9';
}

static void cycles(const json_t *doc, struct buf *out)
{
	const json_t *claim;
	size_t i, n = 0, good = 0;
	json_array_foreach(json_object_get(doc, "results"), i, claim)
	{
		if (!is_cycle(doc, claim))
			continue;
		n++;
		if (doc_is(claim, "answer", words[CLAIM_ACCEPTED]))
			good++;
		else
			line(claim, out);
	}
	buf_printf(out, "%zu of %zu cycle%s accepted\n", good, n, n == 1 ? "" : "s");
}

void claim_list_text(const json_t *doc, struct buf *out)
{
	const json_t *claim;
	size_t i;
	if (doc_is(doc, "of", "trace"))
		cycles(doc, out);
	json_array_foreach(json_object_get(doc, "results"), i, claim) if (!is_cycle(doc, claim)) line(claim, out);
	if (doc_number(doc, "not_listed"))
		buf_printf(out, "... and %lld more\n", (long long)doc_number(doc, "not_listed"));
	for (i = 0; i < 4 && (doc_is(doc, "of", "check") || doc_is(doc, "of", "certificate")); i++)
		buf_printf(out, "%s%lld %s%s", i ? ", " : "", (long long)doc_number(doc, words[i]), words[i], i == 3 ? "\n" : "");
}
