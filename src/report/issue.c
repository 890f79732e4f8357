#include "report/issue.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/invariant.h"
#include "report/doc.h"

const struct rule issue_rules[] = {
	{ "not-atomic", "NotAtomic", "error", "A block that is meant to be atomic is not.",
	  "Some execution of the block, interleaved with other threads, has no serial explanation: no serial order of the block "
	  "ends in the same state. The code flow shows such an execution, one thread flow per thread. Keep the lock (or the "
	  "transaction) from the first access to the last one that depends on it." },
	{ "not-serializable", "NotSerializable", "error", "The blocks together are not serializable.",
	  "Each block may be atomic by itself, but some execution of all of them together has no serial explanation. "
	  "The code flow shows it. Look for two blocks that each see an intermediate state of the other." },
	{ "not-commit-atomic", "NotCommitAtomic", "error", "The marked commit points do not explain the result.",
	  "Running each block without interruption at its marked commit point ends differently from the interleaved execution. "
	  "Move the commit mark, or find the access that should have happened at it." },
	{ "not-causally-atomic", "NotCausallyAtomic", "warning", "A causal chain leaves a block and returns to it.",
	  "An event of another thread depends on the block and the block then depends on it, so no reordering of "
	  "independent steps makes the block uninterrupted; or several blocks form a causal cycle. Most data is not "
	  "tracked: the chain may be harmless or impossible. 'intact check --engine=exact' decides." },
	{ "fault", "FaultReachable", "error", "A failed assertion or another fault can be reached.",
	  "The code flow leads to a failed assertion, an index out of range, a release of a lock that is not held, or "
	  "another fault of the model." },
	{ "deadlock", "DeadlockReachable", "error", "Threads can wait for each other forever.",
	  "At the end of the code flow no thread can move and some have not finished. Take locks in one order." },
	{ "stuck", "BlocksFinishOnlyTogether", "error", "Blocks that finish concurrently cannot finish serially.",
	  "The code flow terminates, but no serial order of the same blocks does: in every order, one of them, run by "
	  "itself, waits for something that only another block can do." },
	{ "endless", "BlocksLoopForeverAlone", "error", "Blocks that finish concurrently loop forever serially.",
	  "The code flow terminates, but no serial order of the same blocks does: in every order, one of them, run by "
	  "itself, loops forever." },
	{ "quiescence", "NoWayOut", "error", "Threads can reach a state from which they never leave their blocks.",
	  "From the end of the code flow on, some thread is inside a block in every state that can still be reached: "
	  "blocks hold what each other needs, or wait for something that never happens. Atomicity says nothing about such runs." },
	{ "always", "InvariantBroken", "error", "A reachable state breaks a condition that must always hold.",
	  "The code flow leads to a state in which the condition of 'always' is false." },
	{ "finally", "EndConditionBroken", "error", "All threads have finished, and a condition on the end does not hold.",
	  "The code flow leads to a state in which every thread has finished and the condition of 'finally' is false." },
	{ "reach", "OutOfReach", "error", "A state can be reached from which a condition can never hold again.",
	  "The code flow leads to a state from which no state that satisfies the condition of 'can always reach' can be reached, "
	  "whatever "
	  "the scheduler does." },
	{ "history", "HistoryViolation", "error", "A history does not meet its condition.",
	  "No order of the recorded operations is legal for the object and agrees with real time (or with the weaker "
	  "condition that was asked for). The message names the operations in conflict." },
	{ "trace-cycle", "TraceNotSerializable", "error", "A block of a recorded execution is not serializable.",
	  "The block's conflicts with other threads form a cycle: it must come both before and after another one. The "
	  "code flow shows the events of the cycle in the order they happened." },
	{ "trace-predicted", "TracePredicted", "warning", "Another schedule of a recorded execution breaks a block.",
	  "The recorded execution can be reordered, with every read still seeing the same write, so that another "
	  "thread's access comes between two accesses of the block." },
	{ "atomicity-violation", "AtomicityViolation", "warning", "A function releases its protection in the middle.",
	  "The function releases its lock (or uses shared data without one) and then depends on what it read before: "
	  "another thread can intervene. Hold the lock across both parts, or check again after it." },
	{ "atomicity-violation-confirmed", "AtomicityViolationConfirmed", "error", "Another thread intervened in this run.",
	  "As atomicity-violation, and it happened: another thread used the same data inside the window." },
	{ "data-race", "DataRace", "error", "Two threads access the same data without an order, and one of them writes.",
	  "Nothing that the run did orders the two accesses: no lock that both hold, no join, no atomic operation with the "
	  "order that is needed. In C and C++ the behaviour of the program is undefined." },
	{ "lock-order", "LockOrder", "warning", "Threads take locks in a circle.",
	  "Each thread takes a lock while it holds the one that another of them takes second: when all hold their first, "
	  "none goes on. Take them in one order everywhere, or under one more lock." },
	{ "lock-misuse", "LockMisuse", "error", "A lock is released or destroyed by a thread that must not.",
	  "It is released without being held by the thread, or destroyed while it is held." },
	{ "explore-failure", "ScheduleFails", "error", "A schedule of the program crashes, aborts or fails.",
	  "The code flow is a schedule that was executed: one thread flow per thread, in the order in which the steps "
	  "happened. 'intact explore' repeats it." },
	{ "explore-not-linearizable", "ObjectNotLinearizable", "error", "The results of calls on an object have no explanation.",
	  "No order of the calls that agrees with real time (or with the weaker condition that was asked for) gives the results "
	  "that "
	  "they had in the executed schedule, which is the code flow." },
	{ "explore-deadlock", "ScheduleStandsStill", "error", "In a schedule of the program every thread waits, or loops forever.",
	  "At the end of the code flow no thread can continue: each waits for a lock that another holds, or for a wake-up "
	  "that no thread is left to send." },
	{ "explore-misuse", "ScheduleMisuses", "error", "In a schedule of the program a lock, a thread or memory is misused.",
	  "A lock that was destroyed, freed or is not held is used, a thread is joined twice, or memory is used after it was "
	  "freed." },
	{ "explore-race", "DataRace", "error", "Two accesses race in an executed schedule.",
	  "One of them writes, not both are atomic, and neither happens before the other." },
	{ "net-coverable", "NetCoverable", "error", "The places can be marked together.",
	  "A reachable marking of the net has a token on each of the places asked about." },
	{ "net-deadlock", "NetDeadlock", "error", "The net can deadlock.", "In a reachable marking no transition can fire." },
	{ "claim-rejected", "ClaimRejected", "error", "A saved result makes a false claim.",
	  "The independent checker does not accept what the result claims: the run does not replay, a serial order "
	  "explains it, the cycle is not in the trace, or something claimed to be atomic is not. The result was "
	  "altered, belongs to another text, or Intact is wrong; please report the latter." },
	{ 0 },
};

const struct rule *issue_rule(const char *id)
{
	assert(id);
	for (const struct rule *r = issue_rules; r->id; r++)
		if (!strcmp(r->id, id))
			return r;
	return NULL;
}

struct issue *issue_new(struct issues *s, const json_t *result, const char *verdict)
{
	assert(verdict);
	struct issue *i = arena_new(&s->arena, struct issue);
	i->result = result;
	i->verdict = *verdict ? verdict : "unknown";
	i->name = i->title = i->message = "";
	i->subject = s->subject;
	avec_push(&s->arena, &s->list, i);
	assert(s->list.len && s->list.data[s->list.len - 1] == i);
	return i;
}

uint32_t issue_flow(struct issues *s, struct issue *i, const char *name)
{
	assert(name);
	for (uint32_t k = 0; k < i->flows.len; k++)
		if (!strcmp(i->flows.data[k], name))
			return k;
	avec_push(&s->arena, &i->flows, name);
	return i->flows.len - 1;
}

void issue_fingerprint(struct issue *i, const char *a, const char *b, const char *c)
{
	assert(!i->fingerprint[0]);
	const char *all[] = { i->rule ? i->rule->id : "", i->at.file ? i->at.file : "", i->name, a, b, c };
	uint64_t h = 0xCBF29CE484222325u;
	for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
		for (const char *t = all[k] ? all[k] : ""; *t; t++)
			h = (h ^ (unsigned char)*t) * 0x100000001B3u;
		h = (h ^ 0xFFu) * 0x100000001B3u;
	}
	snprintf(i->fingerprint, sizeof i->fingerprint, "%016llx", (unsigned long long)h);
}

struct place issue_place(struct issues *s, const char *text, const char *file)
{
	struct place p = { .file = file };
	size_t n = strlen(text), digits = n;
	while (digits && isdigit((unsigned char)text[digits - 1]))
		digits--;
	if (digits > 1 && digits < n && n - digits < 10 && text[digits - 1] == ':') {
		for (size_t i = digits; i < n; i++)
			p.line = p.line * 10 + (uint32_t)(text[i] - '0');
		p.file = arena_strndup(&s->arena, text, digits - 1);
	}
	return p;
}

static void fill(struct issues *s, const json_t *doc)
{
	s->made = json_array();
	s->kind = doc_text(doc, "kind");
	s->verdict = doc_text(doc, "verdict");
	s->subject = doc_text(json_object_get(doc, "model"), "name");
	if (!strcmp(s->kind, "check"))
		issues_of_check(s, doc);
	else if (!strcmp(s->kind, "sim"))
		issues_of_sim(s, doc);
	else if (!strcmp(s->kind, "history"))
		issues_of_history(s, doc);
	else if (!strcmp(s->kind, "trace"))
		issues_of_trace(s, doc);
	else if (!strcmp(s->kind, "run"))
		issues_of_run(s, doc);
	else if (!strcmp(s->kind, "diff"))
		issues_of_diff(s, doc);
	else if (!strcmp(s->kind, "explore"))
		issues_of_explore(s, doc);
	else if (!strcmp(s->kind, "net"))
		issues_of_net(s, doc);
	else if (!strcmp(s->kind, "verify"))
		issues_of_verify(s, doc);
	assert(s->kind && s->verdict && s->subject);
}

void issues_init(struct issues *s, const json_t *doc)
{
	memset(s, 0, sizeof *s);
	arena_init(&s->arena, 0);
	fill(s, doc);
}

bool issues_try(struct issues *s, const json_t *doc)
{
	jmp_buf oom;
	memset(s, 0, sizeof *s);
	arena_init(&s->arena, 0);
	s->arena.oom = &oom;
	if (setjmp(oom))
		return false;
	fill(s, doc);
	s->arena.oom = NULL;
	return true;
}

void issues_free(struct issues *s)
{
	json_decref(s->made);
	arena_free(&s->arena);
}
