#include "cli/ledger.h"

#include <string.h>

#include "report/doc.h"

#define MAX_TEXT 10000u /* bytes of a text in the document: the rest would be somebody's joke */

static const char *const words[] = { "accepted", "rejected", "unknown", "unchecked" };

void ledger_init(struct ledger *l, struct cli *cli, const struct cmd *cmd, struct outputs *o, const char *file,
                 const char *of)
{
	*l = (struct ledger){ .cli = cli, .cmd = cmd, .outputs = o, .file = file, .of = of };
	buf_init(&l->list);
}

void ledger_free(struct ledger *l)
{
	buf_free(&l->list);
}

struct buf *ledger_text(struct ledger *l)
{
	if (l->silent || outputs_take_stdout(l->outputs))
		return NULL;
	l->cli->prose = true;
	return &l->cli->out;
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

static void keep(struct ledger *l, const struct claim *c)
{
	struct buf *out = &l->list;
	if (l->listed == LEDGER_LISTED)
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

void ledger_add(struct ledger *l, const struct claim *c)
{
	struct buf *text = ledger_text(l);
	if (text && !(c->answer == LEDGER_ACCEPTED && l->brief))
		say(text, c);
	l->n[c->answer]++;
	if (outputs_wanted(l->outputs))
		keep(l, c);
}

int ledger_code(const struct ledger *l)
{
	return l->n[LEDGER_REJECTED] ? EXIT_VIOLATED : l->n[LEDGER_UNKNOWN] || l->n[LEDGER_UNCHECKED] ? EXIT_UNKNOWN : EXIT_HOLDS;
}

int ledger_end(struct ledger *l, int rc)
{
	struct buf doc;
	uint32_t all = 0;
	if (!outputs_wanted(l->outputs) || (rc != EXIT_HOLDS && rc != EXIT_VIOLATED && rc != EXIT_UNKNOWN))
		return rc;
	buf_init(&doc);
	buf_char(&doc, '{');
	doc_begin(&doc, "verify");
	buf_printf(&doc, ",\n  \"verdict\": \"%s\"",
	           rc == EXIT_HOLDS ? "holds" : rc == EXIT_VIOLATED ? "violated" : "unknown");
	member(&doc, "file", l->file, ",\n  ");
	member(&doc, "of", l->of, ",\n  ");
	if (l->subject)
		member(&doc, "subject", l->subject, ",\n  ");
	for (int i = 0; i < 4; i++) {
		buf_printf(&doc, ",\n  \"%s\": %u", words[i], l->n[i]);
		all += l->n[i];
	}
	if (all > l->listed)
		buf_printf(&doc, ",\n  \"not_listed\": %u", all - l->listed);
	buf_str(&doc, ",\n  \"results\": [");
	buf_add(&doc, buf_cstr(&l->list), l->list.len);
	buf_str(&doc, l->listed ? "\n  ]\n}\n" : "]\n}\n");
	doc.failed |= l->list.failed;
	rc = outputs_write(l->cli, l->cmd, l->outputs, &doc, rc);
	buf_free(&doc);
	return rc;
}
