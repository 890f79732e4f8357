/* issue_verify: documents of `intact verify` as issues: one question per claim. */
#include <string.h>

#include "report/doc.h"
#include "report/issue.h"

/* The answer as the verdict of the question "is the claim true?". */
static const char *verdict_of(const char *answer)
{
	return !strcmp(answer, "accepted") ? "holds" : !strcmp(answer, "rejected") ? "violated" : "unknown";
}

static void one(struct issues *s, const json_t *doc, const json_t *r)
{
	const char *answer = doc_text(r, "answer"), *why = doc_text(r, "why"), *claim = doc_text(r, "claim");
	struct issue *i = issue_new(s, r, verdict_of(answer));
	const char *schedule = doc_text(r, "schedule");
	i->name = doc_text(r, "name");
	i->word = answer;
	i->at = (struct place){ .file = s->subject, .line = (uint32_t)doc_number(r, "line") };
	if (!strcmp(answer, "rejected"))
		i->rule = issue_rule("claim-rejected");
	if (!strcmp(answer, "unchecked"))
		i->skipped = *why ? why : "nothing to check";
	bool open = !strcmp(answer, "rejected") || !strcmp(answer, "unknown");
	i->title = !*claim ? arena_printf(&s->arena, "%s: %s", i->name, answer)
	           : open  ? arena_printf(&s->arena, "%s: the claim '%s' is %s", i->name, claim,
                                         i->rule ? "rejected" : "not decided")
	                   : arena_printf(&s->arena, "%s (claimed: %s)", i->name, claim);
	i->message = doc_number(r, "link") ? arena_printf(&s->arena, "Link %lld: %s", (long long)doc_number(r, "link"), why) : why;
	if (*schedule && doc_is(doc, "of", "check") && strlen(schedule) < 2000)
		i->next = arena_printf(&s->arena, "intact sim %s --schedule %s", s->subject, schedule);
	issue_fingerprint(i, claim, answer, why);
}

void issues_of_verify(struct issues *s, const json_t *doc)
{
	const json_t *r;
	size_t k;
	s->subject = *doc_text(doc, "subject") ? doc_text(doc, "subject") : doc_text(doc, "file");
	json_array_foreach(json_object_get(doc, "results"), k, r) one(s, doc, r);
}
