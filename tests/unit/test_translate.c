/*
 * What a recording's translation leaves out (translate.h) changes no answer: on
 * random recordings the events told are those of the whole translation, with
 * their numbers, names and places; order_check says the same of them; the clocks
 * find the same blocks violated by the same events, by cycles that are the same or true as well; what is predicted from accesses that are only
 * flagged is what is predicted from all. INTACT_SOAK=N: so many recordings.
 */
#include "check.h"

#include <stdlib.h>
#include <string.h>

#include "base/rng.h"
#include "campaign.h"
#include "dynamic/predict.h"
#include "dynamic/serial.h"
#include "event/order.h"
#include "event/translate.h"
#include "verdict/verify_cycle.h"

enum { SLOTS = 5, RECS = 160 };

/* ---- recordings ---------------------------------------------------------- */

struct maker {
	struct rng *r;
	struct rec rec[RECS];
	size_t n;
	uint32_t uid, free_slots;
	bool live[SLOTS + 1], joined[SLOTS + 1];
	uint32_t blocks[SLOTS + 1], depth[SLOTS + 1];
	uint32_t holder[3];
	bool brief; /* blocks are soon over */
};

static void put(struct maker *m, unsigned kind, unsigned arg, uint64_t addr, unsigned slot)
{
	if (m->n < RECS)
		m->rec[m->n++] = rec_make(kind, arg, addr, slot, 0x5000 + rng_below(m->r, 9));
}

/* Some cells are everyone's, some are a thread's, mostly. */
static uint64_t some_cell(struct maker *m, unsigned slot)
{
	unsigned k = rng_below(m->r, 12);
	return 0x10000 + 0x400 * (k < 4 ? 0 : k < 11 ? slot : rng_below(m->r, SLOTS)) + 8 * rng_below(m->r, 3);
}

static void some_access(struct maker *m, unsigned slot)
{
	static const unsigned masks[] = { 0xff, 0xff, 0xff, 0x0f, 0xf0, 0x01, 0x80, 0x3c, 0 };
	put(m, rng_below(m->r, 2) ? REC_WRITE : REC_READ, masks[rng_below(m->r, 9)], some_cell(m, slot), slot);
}

static void make_thread(struct maker *m, unsigned slot)
{
	unsigned s = 1 + rng_below(m->r, SLOTS);
	if (m->live[s])
		return;
	m->live[s] = true;
	m->joined[s] = false;
	m->blocks[s] = m->depth[s] = 0;
	put(m, REC_CREATE, 0, (uint64_t)s << 32 | ++m->uid, rng_below(m->r, 9) ? slot : 0);
}

static void end_thread(struct maker *m, unsigned slot, bool early)
{
	unsigned s = 1 + rng_below(m->r, SLOTS);
	if (!m->live[s] || s == slot)
		return;
	for (unsigned l = 0; l < 3; l++)
		if (m->holder[l] == s && !early)
			m->holder[l] = 0;
	if (!early) {
		put(m, REC_END, 0, 0, s);
		m->live[s] = false;
	}
	put(m, REC_JOIN, 0, s, slot);
}

static void some_lock(struct maker *m, unsigned slot)
{
	unsigned l = rng_below(m->r, 3);
	uint64_t addr = 0x20000 + 64 * l;
	if (m->holder[l] == slot) {
		put(m, REC_RELEASE, 0, addr, slot);
		m->holder[l] = 0;
	} else if (!m->holder[l] && l == 2 && rng_below(m->r, 2)) {
		put(m, REC_ACQUIRE, REC_SHARED, addr, slot);
		put(m, REC_RELEASE, 0, addr, slot);
	} else if (!m->holder[l]) {
		put(m, REC_ACQUIRE, 0, addr, slot);
		m->holder[l] = slot;
	}
}

static void some_block(struct maker *m, unsigned slot)
{
	if (m->blocks[slot] && rng_below(m->r, m->brief ? 12 : 3)) {
		put(m, REC_MARK_END, 0, 0, slot);
		m->blocks[slot]--;
	} else {
		put(m, REC_MARK, 0, 0, slot);
		m->blocks[slot]++;
	}
}

static void some_call(struct maker *m, unsigned slot)
{
	if (m->depth[slot] && rng_below(m->r, 2)) {
		put(m, REC_POP, 0, --m->depth[slot], slot);
	} else {
		put(m, REC_PUSH, rng_below(m->r, 4) ? 0 : REC_INLINED, 0x5100 + rng_below(m->r, 4), slot);
		m->depth[slot]++;
	}
}

static void make(struct maker *m, struct rng *r)
{
	bool blocks = rng_below(r, 8);
	size_t want = 20 + rng_below(r, RECS - 20);
	memset(m, 0, sizeof *m);
	m->r = r;
	m->live[1] = true;
	m->brief = rng_below(r, 2);
	put(m, REC_CREATE, 0, (uint64_t)1 << 32 | ++m->uid, 0);
	while (m->n < want) {
		unsigned slot = 1 + rng_below(r, SLOTS), what = rng_below(r, 32);
		if (!m->live[slot])
			slot = 1;
		if (m->brief && rng_below(r, 2))
			for (unsigned k = 1; k <= SLOTS; k++)
				slot = m->blocks[k] && m->live[k] ? k : slot;
		if (!m->live[slot] && rng_below(r, 20))
			make_thread(m, slot);
		else if (what < 3)
			make_thread(m, slot);
		else if (what < 5)
			end_thread(m, slot, !rng_below(r, 20));
		else if (what < 9)
			some_lock(m, slot);
		else if (what < 14 && blocks)
			some_block(m, slot);
		else if (what < 16)
			some_call(m, slot);
		else if (what == 16)
			m->rec[m->n++] = rec_make(REC_FORGET, 0, some_cell(m, slot), slot, 8 * rng_below(r, 4));
		else
			some_access(m, slot);
	}
}

/* ---- what is made of one ------------------------------------------------- */

/* All that can be seen of it, as text. */
struct seen {
	struct trace_names names;
	struct event *ev;
	size_t n;
	uint64_t index;
	struct buf said, cycles, closed, predicted;
	uint32_t found;
	struct cycle *kept; /* each of them, with links of its own */
};

static void show_target(const struct trace_names *t, unsigned kind, uint32_t target, struct buf *b)
{
	static const uint8_t space[EVENT_KINDS] = { NS_VAR, NS_VAR, NS_LOCK, NS_LOCK, NS_THREAD, NS_THREAD, NS_LABEL, NS_LABEL };
	buf_printf(b, " %s(", event_kind_name[kind]);
	names_show(&t->ns[space[kind]], target, b);
	buf_str(b, ")@");
}

static void show_loc(const struct trace_names *t, uint32_t loc, struct buf *b)
{
	char tmp[24];
	size_t len;
	if (loc != LOC_NONE && loc & LOC_TEXT) {
		const char *s = names_text(&t->ns[NS_LOC], loc & ~LOC_TEXT, tmp, &len);
		buf_add(b, s, len);
	} else {
		buf_str(b, "?");
	}
}

static void show_end(const struct seen *s, const struct cycle_end *e, struct buf *b)
{
	buf_printf(b, "[%llu %llu %u %u", (unsigned long long)e->event, (unsigned long long)e->block, e->thread, e->serial);
	show_target(&s->names, e->kind, e->target, b);
	show_loc(&s->names, e->loc, b);
	buf_char(b, '/');
	if (e->block)
		show_loc(&s->names, e->block_loc, b);
	buf_char(b, ']');
}

static void note_cycle(void *ctx, const struct cycle *c)
{
	struct seen *s = ctx;
	s->kept = realloc(s->kept, (s->found + 1) * sizeof *s->kept);
	s->kept[s->found] = *c;
	struct cycle_link *links = malloc((c->n + 1) * sizeof *links);
	memcpy(links, c->links, c->n * sizeof *links);
	s->kept[s->found++].links = links;
	for (uint32_t i = 0; i < c->n; i++) {
		show_end(s, &c->links[i].from, &s->cycles);
		show_end(s, &c->links[i].to, &s->cycles);
	}
	buf_printf(&s->cycles, " closing %llu inner %llu alone %d lost %d\n", (unsigned long long)c->closing.event,
	           (unsigned long long)c->inner, c->alone, c->lost);
	buf_printf(&s->closed, "%llu %llu %d\n", (unsigned long long)c->closing.event, (unsigned long long)c->closing.block,
	           c->lost);
}

/* Is each of its cycles one in the events that it saw? */
static bool true_cycles(const struct seen *s)
{
	bool ok = true;
	for (uint32_t i = 0; i < s->found; i++) {
		uint32_t link;
		struct cycle_judge *j = judge_new();
		ok &= judge_want_cycle(j, &s->kept[i]) && judge_feed(j, s->ev, s->n) && !judge_cycle(j, &s->kept[i], &link);
		judge_free(j);
	}
	return ok;
}

/* The same blocks, at the same events; of several cycles that an event closes another may be told (event/translate.h). */
static bool same_cycles(const struct seen *all, const struct seen *some, uint64_t *retold)
{
	if (strcmp(buf_cstr(&all->closed), buf_cstr(&some->closed)))
		return false;
	if (!strcmp(buf_cstr(&all->cycles), buf_cstr(&some->cycles)))
		return true;
	++*retold;
	return true_cycles(all) && true_cycles(some);
}

static void note_message(void *ctx, const struct trace_msg *m)
{
	trace_msg_render(m, &((struct seen *)ctx)->said, false);
}

static void show_predicted(struct seen *s, const struct predict_event *e)
{
	struct buf *b = &s->predicted;
	buf_printf(b, "[%llu %u", (unsigned long long)e->event, e->thread);
	if (e->event)
		show_target(&s->names, e->kind, e->target, b);
	show_loc(&s->names, e->event ? e->loc : LOC_NONE, b);
	buf_char(b, ']');
}

/* Windows of all sizes: small ones slide. */
static void predict(struct seen *s, size_t window)
{
	struct predict *p = predict_new(&(struct predict_opts){ .window = window });
	size_t n;
	CHECK(p && predict_feed(p, s->ev, s->n) && predict_finish(p));
	const struct predicted *f = predict_list(p, &n);
	for (; n--; f++) {
		buf_printf(&s->predicted, "%d %llu", f->kind, (unsigned long long)f->count);
		show_predicted(s, &f->begin);
		show_predicted(s, &f->first);
		show_predicted(s, &f->second);
		show_predicted(s, &f->between);
		show_predicted(s, &f->until);
		buf_printf(&s->predicted, " %llu:", (unsigned long long)f->start);
		for (size_t i = 0; i < f->norder; i++)
			buf_printf(&s->predicted, " %llu", (unsigned long long)f->order[i]);
		buf_printf(&s->predicted, " %zu %zu\n", f->remote, f->local);
	}
	predict_free(p);
}

static void look(const struct maker *m, enum lives lives, enum leave leave, struct seen *s)
{
	struct event *all = NULL;
	size_t used = 0, count, k;
	memset(s, 0, sizeof *s);
	trace_names_init(&s->names);
	buf_init(&s->said);
	buf_init(&s->cycles);
	buf_init(&s->closed);
	buf_init(&s->predicted);
	names_add_safe(&s->names.ns[NS_LABEL], "", 0);
	struct translate *t = translate_new(&s->names, lives);
	translate_leave(t, leave);
	CHECK(t && translate_look(t, m->rec, m->n));
	struct order *o = order_new("test", true, note_message, s);
	struct serial *clock = serial_new(&(struct serial_opts){ .found = note_cycle, .ctx = s });
	for (size_t at = 0; at < m->n; at += used) {
		struct event *ev = translate_some(t, m->rec + at, m->n - at, 7, &used, &count);
		CHECK(ev && used);
		CHECK(order_check(o, ev, count, &s->names) == count);
		CHECK(serial_feed(clock, ev, count) == SERIAL_OK);
		all = realloc(all, (s->n + count + 1) * sizeof *all);
		for (k = 0; k < count; k++)
			all[s->n++] = ev[k];
	}
	s->ev = all;
	s->index = translate_index(t);
	serial_free(clock);
	order_free(o);
	translate_free(t);
}

static void seen_free(struct seen *s)
{
	trace_names_free(&s->names);
	buf_free(&s->said);
	buf_free(&s->cycles);
	buf_free(&s->closed);
	while (s->found)
		free((void *)s->kept[--s->found].links);
	free(s->kept);
	buf_free(&s->predicted);
	free(s->ev);
}

/* Events of `some`, one by one, against those with their numbers in `all`. */
static bool same_events(const struct seen *all, const struct seen *some)
{
	struct buf a, b;
	bool same = true;
	buf_init(&a);
	buf_init(&b);
	for (size_t i = 0; i < some->n && same; i++) {
		const struct event *e = &some->ev[i], *f = &all->ev[e->index - 1];
		buf_clear(&a);
		buf_clear(&b);
		if (!(e->flags & EVENT_OWN)) {
			show_target(&some->names, e->kind, e->target, &a);
			show_target(&all->names, f->kind, f->target, &b);
		}
		show_loc(&some->names, e->loc, &a);
		show_loc(&all->names, f->loc, &b);
		same = e->index == f->index && e->thread == f->thread && e->kind == f->kind &&
		       (e->flags & EVENT_INNER) == (f->flags & EVENT_INNER) && !strcmp(buf_cstr(&a), buf_cstr(&b));
	}
	buf_free(&a);
	buf_free(&b);
	return same;
}

static void test_flagged(void)
{
	struct campaign c = campaign(17000, 1000);
	uint64_t events = 0, own = 0, lines = 0;
	/* 19541: a join is linked to the begin of an inner block */
	static const uint64_t known[] = { 19541 };
	for (int i = -(int)(sizeof known / sizeof *known); i < c.n; i++) {
		static struct maker m;
		struct rng r;
		struct seen all, some;
		uint64_t seed = i < 0 ? known[-1 - i] : c.seed + (uint64_t)i;
		rng_seed(&r, seed);
		make(&m, &r);
		size_t window = i > 0 && i % 2 ? 16 + rng_below(&r, 64) : 20000;
		look(&m, LIVES_APART, LEAVE_NOTHING, &all);
		look(&m, LIVES_APART, LEAVE_FLAGGED, &some);
		predict(&all, window);
		predict(&some, window);
		bool ok = all.index == some.index && same_events(&all, &some) &&
		          !strcmp(buf_cstr(&all.said), buf_cstr(&some.said)) &&
		          !strcmp(buf_cstr(&all.cycles), buf_cstr(&some.cycles)) &&
		          !strcmp(buf_cstr(&all.predicted), buf_cstr(&some.predicted));
		if (!ok)
			printf("# seed %llu\n%s---\n%s", (unsigned long long)seed, buf_cstr(&all.predicted),
			       buf_cstr(&some.predicted));
		CHECK(ok);
		events += all.n;
		for (size_t k = 0; k < some.n; k++)
			own += some.ev[k].flags & EVENT_OWN ? 1 : 0;
		for (size_t k = 0; k < all.predicted.len; k++)
			lines += all.predicted.data[k] == '\n';
		seen_free(&all);
		seen_free(&some);
	}
	printf("# %llu events, %llu flagged, %llu predicted\n", (unsigned long long)events, (unsigned long long)own,
	       (unsigned long long)lines);
	CHECK(c.n < 1000 || (own > events / 10 && lines > events / 1000));
}

static void test_leave(void)
{
	struct campaign c = campaign(7000, 1500);
	uint64_t events = 0, told = 0, cycles = 0, blockless = 0, retold = 0;
	/* of these another cycle is told */
	static const uint64_t known[] = { 42964, 51259, 57192 };
	for (int i = -(int)(sizeof known / sizeof *known); i < c.n; i++) {
		static struct maker m;
		struct rng r;
		struct seen all, own, none;
		uint64_t seed = i < 0 ? known[-1 - i] : c.seed + (uint64_t)i;
		rng_seed(&r, seed);
		make(&m, &r);
		enum lives lives = seed % 2 ? LIVES_APART : LIVES_REUSED;
		look(&m, lives, LEAVE_NOTHING, &all);
		look(&m, lives, LEAVE_OWN, &own);
		look(&m, lives, LEAVE_BLOCKLESS, &none);
		bool ok = all.index == all.n && own.index == all.n && none.index == all.n && same_events(&all, &own) &&
		          same_events(&all, &none) && !strcmp(buf_cstr(&all.said), buf_cstr(&own.said)) &&
		          !strcmp(buf_cstr(&all.said), buf_cstr(&none.said)) && same_cycles(&all, &own, &retold) &&
		          same_cycles(&all, &none, &retold);
		if (!ok)
			printf("# seed %llu\n%s---\n%s", (unsigned long long)seed, buf_cstr(&all.cycles), buf_cstr(&own.cycles));
		CHECK(ok);
		events += all.n;
		told += own.n;
		cycles += all.found;
		blockless += none.n < all.n;
		seen_free(&all);
		seen_free(&own);
		seen_free(&none);
	}
	printf("# %llu events, %llu told, %llu cycles; other cycles for the same events in %llu recordings\n",
	       (unsigned long long)events, (unsigned long long)told, (unsigned long long)cycles, (unsigned long long)retold);
	CHECK(retold <= sizeof known / sizeof *known + 2 + (uint64_t)c.n / 2000);
	CHECK(c.n < 1000 || (told < events * 9 / 10 && cycles > events / 1000 && blockless));
}

int main(void)
{
	RUN(test_leave);
	RUN(test_flagged);
	return check_done();
}
