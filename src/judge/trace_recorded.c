#include "judge/trace_recorded.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/invariant.h"
#include "dynamic/replay.h"
#include "event/itr.h"

enum { MAX_PROCESSES = 4096, MAX_CHAIN = 64 };

/* A process of the recording, as its first records tell. */
struct recorded_process {
	bool seen, forked;
	uint32_t pid, parent; /* parent: pid */
	uint64_t fork;        /* of the parent's forks, which one made it */
};

struct recorded_processes {
	struct recorded_process *v;
	uint32_t n;
};

static void note(struct recorded_process *p, const struct rec *rec, size_t n)
{
	for (size_t i = 0; i < n && i < 64; i++) {
		unsigned kind = rec_kind(rec[i]);
		if (kind == REC_FORKED) {
			p->forked = true;
			p->parent = (uint32_t)rec_pc(rec[i]);
			p->fork = rec_addr(rec[i]);
		} else if (kind == REC_TEXT) {
			char text[32] = { 0 };
			size_t len = rec_addr(rec[i]) < 31 ? rec_addr(rec[i]) : 31;
			memcpy(text, &rec[i + 1], len);
			if (rec_arg(rec[i]) == REC_TEXT_OPTIONS)
				p->pid = (uint32_t)strtoul(text, NULL, 10);
			i += rec_letters(rec[i]);
		}
	}
	p->seen = true;
}

/* The first process is replayed while the others are looked for. */
static bool first_pass(const char *file, struct msgs *m, struct replay *r, struct recorded_processes *ps, struct recorded *out,
                       struct buf *symbols)
{
	struct trace_reader *in = trace_open(file, msgs_add, m);
	struct rec *rec;
	uint32_t process;
	size_t n, len;
	while (in && (n = trace_next_recs(in, &rec, &process))) {
		process &= ~ITR_OPENING;
		out->records += n;
		if (process < MAX_PROCESSES) {
			if (process >= ps->n)
				ps->n = process + 1;
			if (!ps->v[process].seen)
				note(&ps->v[process], rec, n);
		}
		if (process == 0)
			replay_feed(r, rec, n);
	}
	bool ok = in && !trace_failed(in);
	if (in) {
		const char *text = trace_symbols(in, &len);
		buf_add(symbols, text, len);
		trace_close(in);
	}
	return ok;
}

/* The process itself and its parents, the first of all last. */
static uint32_t chain_of(const struct recorded_processes *ps, uint32_t process, uint32_t *chain)
{
	assert(process < ps->n);
	uint32_t n = 0;
	chain[n++] = process;
	while (n < MAX_CHAIN && ps->v[chain[n - 1]].forked) {
		uint32_t up = chain[n - 1];
		while (up-- > 0)
			if (ps->v[up].seen && ps->v[up].pid == ps->v[chain[n - 1]].parent)
				break;
		if (up == UINT32_MAX)
			break;
		chain[n++] = up;
	}
	assert(n && n <= MAX_CHAIN);
	return n;
}

static void replay_chain(const char *file, struct replay *r, const struct recorded_processes *ps, const uint32_t *chain, uint32_t n)
{
	while (n--) {
		struct trace_reader *in = trace_open(file, NULL, NULL);
		uint32_t process, slot = 0;
		struct rec *rec;
		size_t k, used;
		bool stop = false;
		while (in && !stop && (k = trace_next_recs(in, &rec, &process))) {
			if ((process & ~ITR_OPENING) != chain[n])
				continue;
			if (!n)
				replay_feed(r, rec, k);
			else
				stop = replay_until_fork(r, rec, k, ps->v[chain[n - 1]].fork, &used, &slot);
		}
		if (n)
			replay_forked(r, slot);
		trace_close(in);
	}
}

static void keep(struct replay *r, struct buf *text, struct recorded *out)
{
	replay_message(r, text);
	out->nomem |= replay_degraded(r);
}

void recorded_judge(const struct run_reporting *how, const char *file, struct msgs *m, struct recorded *out)
{
	assert(how && file && m && out);
	struct recorded_processes ps = { calloc(MAX_PROCESSES, sizeof *ps.v), 0 };
	struct buf *texts = calloc(MAX_PROCESSES, sizeof *texts), symbols;
	struct run_message *msg = calloc(MAX_PROCESSES, sizeof *msg);
	struct replay *r = replay_new();
	memset(out, 0, sizeof *out);
	buf_init(&out->results);
	buf_init(&out->summary);
	buf_init(&symbols);
	if (!ps.v || !texts || !msg || !r) {
		out->nomem = true;
	} else {
		out->failed = !first_pass(file, m, r, &ps, out, &symbols);
		keep(r, &texts[0], out);
	}
	replay_free(r);
	for (uint32_t i = 1; i < ps.n && !out->nomem && !out->failed; i++) {
		uint32_t chain[MAX_CHAIN], n = chain_of(&ps, i, chain);
		if (!ps.v[i].seen || !(r = replay_new()))
			continue;
		replay_chain(file, r, &ps, chain, n);
		keep(r, &texts[i], out);
		replay_free(r);
	}
	uint32_t k = 0;
	struct symtab names;
	out->nomem |= !symtab_read(&names, buf_cstr(&symbols), symbols.len);
	for (uint32_t i = 0; i < ps.n; i++)
		if (texts[i].len)
			msg[k++] = (struct run_message){ texts[i].data, texts[i].len, symbols.len ? &names : NULL };
	out->processes = ps.n;
	if (k && !out->failed)
		out->failed = !run_report(how, msg, k, &out->results, &out->summary, &out->shown);
	for (uint32_t i = 0; texts && i < (ps.n ? ps.n : 1); i++) /* the first has one, also without a record */
		buf_free(&texts[i]);
	buf_free(&symbols);
	symtab_free(&names);
	free(texts);
	free(msg);
	free(ps.v);
}

void recorded_free(struct recorded *r)
{
	buf_free(&r->results);
	buf_free(&r->summary);
}
