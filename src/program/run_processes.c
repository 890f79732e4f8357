/*
 * run_processes: see run_processes.h. Messages come from programs that may be
 * broken: lists are bounded, and unknown lines skipped.
 */
#include "program/run_processes.h"

#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"

enum { MAX_PROCESSES = 1 << 16, MAX_NAMES = 8, MAX_OWN = 64 };

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The newest image of this process; NULL: it has told nothing. */
static struct process *find(const struct processes *p, uint32_t pid)
{
	for (uint32_t i = p->list.len; i; i--)
		if (p->list.data[i - 1].pid == pid)
			return &p->list.data[i - 1];
	return NULL;
}

static struct process *add(struct processes *p, uint32_t pid)
{
	if (p->list.len >= MAX_PROCESSES) {
		p->more++;
		return NULL;
	}
	struct process one = { .pid = pid, .exe = "" };
	avec_push(p->arena, &p->list, one);
	assert(p->list.len <= MAX_PROCESSES);
	return &p->list.data[p->list.len - 1];
}

/* ---- what a process says of itself ---- */

/* "key value" up to the line's end; both in `a`. Returns what follows. */
static const char *next_line(struct arena *a, const char *s, const char *end, const char **key, const char **value)
{
	size_t n = strcspn(s, "\n"), k = strcspn(s, " \n");
	assert(s < end && k <= n);
	*key = arena_strndup(a, s, k);
	*value = k < n ? arena_strndup(a, s + k + 1, n - k - 1) : "";
	s += n;
	assert(s <= end);
	return s < end ? s + 1 : end;
}

static void add_own(struct processes *p, struct process *at, const char *name)
{
	if (at->own.len == MAX_OWN)
		return;
	avec_push(p->arena, &at->own, name);
	for (uint32_t i = at->own.len - 1; i && strcmp(at->own.data[i - 1], name) > 0; i--) {
		at->own.data[i] = at->own.data[i - 1];
		at->own.data[i - 1] = name;
	}
	assert(at->own.len <= MAX_OWN &&
	       (at->own.len < 2 || strcmp(at->own.data[at->own.len - 2], at->own.data[at->own.len - 1]) <= 0));
}

static void take_self(struct processes *p, const char *text, size_t len)
{
	assert(p->arena);
	const char *s = arena_strndup(p->arena, text, len), *end = s + strlen(s), *key, *value;
	struct process *at = NULL;
	uint32_t pid = 0;
	while (s < end) {
		s = next_line(p->arena, s, end, &key, &value);
		uint32_t number = (uint32_t)strtoul(value, NULL, 10);
		if (!strcmp(key, "pid")) {
			pid = number;
		} else if (!strcmp(key, "begin") || !strcmp(key, "unwatched")) {
			at = add(p, pid);
			if (at) {
				at->begun = true;
				at->unwatched = *key == 'u';
			}
		} else if (!strcmp(key, "end") || !strcmp(key, "halted")) {
			at = find(p, pid);
			if (!at)
				at = add(p, pid);
			if (at && *key == 'e')
				at->ended = true;
			else if (at)
				at->halted = true;
		} else if (!at) {
			continue;
		} else if (!strcmp(key, "exe")) {
			at->exe = value;
		} else if (!strcmp(key, "threads")) {
			at->threads = number;
		} else if (!strcmp(key, "functions")) {
			at->functions = number;
		} else if (!strcmp(key, "locks")) {
			at->locks = number;
		} else if (!strcmp(key, "delays")) {
			at->perturbed = true;
			at->delays = number;
		} else if (!strcmp(key, "came")) {
			at->came = number;
		} else if (!strcmp(key, "own")) {
			add_own(p, at, value);
		}
	}
}

bool processes_take(struct processes *p, const char *text, size_t len)
{
	static const char self[] = "INTACT-PROCESS 1\n";
	if (len < sizeof self - 1 || memcmp(text, self, sizeof self - 1) != 0)
		return false;
	take_self(p, text, len);
	return true;
}

/* ---- what is said of them ---- */

bool processes_watched(const struct processes *p, uint32_t pid)
{
	for (uint32_t i = 0; i < p->list.len; i++)
		if (p->list.data[i].pid == pid && !p->list.data[i].unwatched)
			return true;
	return false;
}

bool processes_any(const struct processes *p)
{
	for (uint32_t i = 0; i < p->list.len; i++)
		if (!p->list.data[i].unwatched)
			return true;
	return false;
}

bool processes_halted(const struct processes *p)
{
	for (uint32_t i = 0; i < p->list.len; i++)
		if (p->list.data[i].halted)
			return true;
	return false;
}

void processes_names(const struct processes *p, struct buf *out)
{
	const char *names[MAX_NAMES];
	uint32_t n = 0;
	bool more = false;
	for (uint32_t i = 0; i < p->list.len; i++) {
		const char *name = base_name(p->list.data[i].exe);
		bool again = p->list.data[i].unwatched || !*name;
		for (uint32_t k = 0; k < n && !again; k++)
			again = !strcmp(names[k], name);
		if (again)
			continue;
		more |= n == MAX_NAMES;
		if (n < MAX_NAMES)
			names[n++] = name;
	}
	for (uint32_t k = 0; k < n; k++) {
		buf_str(out, k ? ", " : "");
		buf_safe(out, names[k], strlen(names[k]));
	}
	buf_str(out, more ? ", ..." : "");
}

static void count(struct buf *out, uint64_t n, const char *what)
{
	buf_printf(out, "%llu %s%s", (unsigned long long)n, what, n == 1 ? "" : "s");
}

void processes_text(const struct processes *p, struct buf *out)
{
	uint64_t n = p->more, threads = 0, functions = 0, locks = 0, killed = 0;
	for (uint32_t i = 0; i < p->list.len; i++) {
		const struct process *one = &p->list.data[i];
		n += !one->unwatched;
		killed += one->begun && !one->unwatched && !one->ended;
		threads += one->threads;
		functions += one->begun ? one->functions : 0; /* a fork's are its parent's */
		locks += one->begun ? one->locks : 0;
	}
	processes_names(p, out);
	if (n > 1)
		buf_printf(out, " (%llu processes)", (unsigned long long)n);
	buf_str(out, ": ");
	count(out, threads, "thread");
	buf_str(out, ", ");
	count(out, functions, "function");
	buf_str(out, ", ");
	count(out, locks, "lock");
	if (killed)
		buf_printf(out, "; %llu ended before reporting counts", (unsigned long long)killed);
}

void processes_own(const struct processes *p, struct buf *out)
{
	assert(p->arena);
	AVEC(const char *) said = { 0 };
	for (uint32_t i = 0; i < p->list.len; i++) {
		const struct process *one = &p->list.data[i];
		bool again = !one->own.len;
		for (uint32_t k = 0; k < said.len && !again; k++)
			again = !strcmp(said.data[k], one->exe);
		if (again)
			continue;
		avec_push(p->arena, &said, one->exe);
		buf_str(out, "intact: note: ");
		buf_safe(out, base_name(one->exe), strlen(base_name(one->exe)));
		buf_str(out, " defines ");
		for (uint32_t k = 0; k < one->own.len; k++) {
			buf_str(out, !k ? "" : k + 1 < one->own.len ? ", " : " and ");
			buf_safe(out, one->own.data[k], strlen(one->own.data[k]));
		}
		buf_str(out, " itself: Intact does not see these calls (docs/run.md, Limits)\n");
	}
}

void processes_perturbed(const struct processes *p, struct buf *out)
{
	uint64_t delays = 0, came = 0;
	bool any = false;
	for (uint32_t i = 0; i < p->list.len; i++) {
		any |= p->list.data[i].perturbed;
		delays += p->list.data[i].delays;
		came += p->list.data[i].came;
	}
	if (!any)
		return;
	buf_str(out, "intact: perturbed: ");
	if (!delays) {
		buf_str(out, "no delay: no thread came again to where a finding had been predicted\n");
		return;
	}
	count(out, delays, "delay");
	if (came == 1)
		buf_str(out, ", another thread came in during 1\n");
	else
		buf_printf(out, ", another thread came in during %llu\n", (unsigned long long)came);
}

void processes_json(const struct processes *p, struct json_out *j)
{
	assert(p->list.len <= MAX_PROCESSES);
	bool any = false;
	json_line(j, 0);
	json_begin_array(j, "processes");
	for (uint32_t i = 0; i < p->list.len; i++) {
		const struct process *one = &p->list.data[i];
		if (one->unwatched)
			continue;
		if (any)
			json_line(j, 0);
		any = true;
		json_begin_object(j, NULL);
		json_text(j, "program", base_name(one->exe));
		if (one->ended) {
			json_uint(j, "threads", one->threads);
			json_uint(j, "functions", one->functions);
			json_uint(j, "locks", one->locks);
		}
		if (one->perturbed) {
			json_uint(j, "delays", one->delays);
			json_uint(j, "others_came", one->came);
		}
		if (one->own.len)
			json_begin_array(j, "own");
		for (uint32_t k = 0; k < one->own.len; k++)
			json_text(j, NULL, one->own.data[k]);
		if (one->own.len)
			json_end(j);
		json_end(j);
	}
	json_end(j);
}
