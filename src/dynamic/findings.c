#include "dynamic/findings.h"

#include "base/invariant.h"
#include "dynamic/facts.h"
#include "dynamic/token.h"

#define FINDINGS_SLOTS (RED_MAX_FINDINGS * 4u)
_Static_assert(RED_MAX_FINDINGS < RED_MAX_FINDINGS * 4u, "a search of `slots` ends at a free one");
_Static_assert(RED_MARKS <= 32, "a bit for each mark");
_Static_assert(FIND_KINDS <= UINT8_MAX && OP_KINDS <= UINT8_MAX, "kinds and operations are bytes");

bool dynamic_init(struct dynamic *d)
{
	*d = (struct dynamic){ .nfindings = 1, .history = RED_LOG };
	d->findings = pages_map(RED_MAX_FINDINGS * sizeof *d->findings);
	d->slots = pages_map(FINDINGS_SLOTS * sizeof *d->slots);
	d->parents = pages_map(RED_UIDS * sizeof *d->parents);
	d->functions = pages_map(RED_FUNCTIONS * sizeof *d->functions); /* or they are not counted */
	d->slot = pages_map(RED_SLOTS * sizeof *d->slot);
	d->trails = pages_map(RED_SLOTS * sizeof *d->trails);
	d->spare = pages_map(sizeof *d->spare);
	d->watched = pages_map(RED_WATCHED * sizeof *d->watched);
	d->kept = pages_map(KEPT_LOCKS * LOCK_EVIDENCE * sizeof *d->kept);
	bool ok = d->findings && d->slots && d->parents && d->slot && d->trails && d->spare && d->watched && d->kept &&
	          lockset_init(&d->sets) && stack_init(&d->stacks) && lock_init(&d->locks) && shadow_init(&d->shadow, &d->sets);
	d->shadow.reach = &d->reach;
	if (!ok)
		dynamic_free(d);
	return ok;
}

void dynamic_free(struct dynamic *d)
{
	if (d->findings)
		pages_unmap(d->findings, RED_MAX_FINDINGS * sizeof *d->findings);
	if (d->slots)
		pages_unmap(d->slots, FINDINGS_SLOTS * sizeof *d->slots);
	if (d->parents)
		pages_unmap(d->parents, RED_UIDS * sizeof *d->parents);
	if (d->functions)
		pages_unmap(d->functions, RED_FUNCTIONS * sizeof *d->functions);
	if (d->slot)
		pages_unmap(d->slot, RED_SLOTS * sizeof *d->slot);
	for (uint32_t i = 0; d->trails && i < RED_SLOTS; i++)
		if (d->trails[i] && d->trails[i] != d->spare)
			pages_unmap(d->trails[i], sizeof **d->trails);
	if (d->trails)
		pages_unmap(d->trails, RED_SLOTS * sizeof *d->trails);
	if (d->spare)
		pages_unmap(d->spare, sizeof *d->spare);
	if (d->watched)
		pages_unmap(d->watched, RED_WATCHED * sizeof *d->watched);
	if (d->kept)
		pages_unmap(d->kept, KEPT_LOCKS * LOCK_EVIDENCE * sizeof *d->kept);
	lockset_free(&d->sets);
	stack_free(&d->stacks);
	lock_order_free(d);
	lock_free(&d->locks);
	shadow_free(&d->shadow);
	bump_free(&d->bump);
	reach_free(&d->reach);
	races_free(&d->races);
	hazards_free(&d->hazards);
	*d = (struct dynamic){ 0 };
}

/* Does it speak of this code or data? */
static bool speaks_of(const struct dynamic *d, const struct finding *f, uintptr_t lo, uintptr_t hi)
{
	const uint32_t stacks[] = { f->entered,
		                    f->section,
		                    f->commit,
		                    f->violation,
		                    f->other_acquire,
		                    f->other_write,
		                    f->made & ~LOCK_FIRST_USE,
		                    f->made2 & ~LOCK_FIRST_USE };
	bool any = f->address - lo < hi - lo || f->address2 - lo < hi - lo;
	for (unsigned i = 0; i < sizeof stacks / sizeof *stacks && !any; i++)
		for (uint32_t id = stacks[i]; id && !any; id = d->stacks.nodes[id].parent)
			any = (d->stacks.nodes[id].pc & STACK_PC) - lo - 1 < hi - lo;
	return any;
}

static void move_data(struct finding *f, uintptr_t lo, uintptr_t hi, uintptr_t delta)
{
	if (f->address - lo < hi - lo)
		f->address += delta;
	if (f->address2 - lo < hi - lo)
		f->address2 += delta;
}

bool dynamic_move(struct dynamic *d, uintptr_t lo, uintptr_t hi, uintptr_t delta)
{
	bool any = stack_move(&d->stacks, lo, hi, delta) != 0;
	facts_drop(d);
	any |= lock_move(&d->locks, lo, hi - lo, delta) != 0;
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		move_data(f, lo, hi, delta);
		if (f->happened)
			move_data(f->happened, lo, hi, delta);
		if (f->facts)
			facts_move(f->facts, lo, hi, delta);
		if (f->sent && speaks_of(d, f, lo + delta, hi + delta)) { /* told with the old addresses */
			f->sent = false;
			__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
		}
	}
	spin_unlock(&d->lock);
	if (d->hazards.list)
		hazards_move(d, lo, hi, delta);
	return any;
}

/* The mark's name as our own: the program's may go with the library it is in. */
static const char *kept_name(struct dynamic *d, const char *name)
{
	size_t n = 0;
	while (name && n < RED_NAME && name[n])
		n++;
	char *copy = name ? bump_alloc(&d->bump, n + 1) : NULL;
	for (size_t i = 0; copy && i < n; i++)
		copy[i] = name[i] == '\n' ? ' ' : name[i]; /* it ends a line of the message */
	if (copy)
		copy[n] = 0;
	return copy || !name ? copy : "?";
}

/* Another occurrence takes the place of the one told of so far, whole. */
static void replace(struct finding *f, const struct finding *by)
{
	assert(f->key == by->key || !by->key);
	struct finding old = *f;
	*f = *by;
	f->key = old.key;
	f->count = old.count;
	f->told = old.told;
	f->ready = old.ready;
	f->happened = old.happened;
	f->name = old.name; /* the one that is kept */
	f->facts = old.facts;
	f->came = old.came;
	f->told_known = old.told_known;
	if (f->uses < old.uses)
		f->uses = old.uses;
	f->sent = false;
}

/* Met again before there was evidence: the latest try is the one to judge. One
 * with a cycle is kept beside it, as it is what will be told. */
static void again_waiting(struct dynamic *d, struct finding *old, const struct finding *f)
{
	if (f->cycle && !old->happened && (old->happened = bump_alloc(&d->bump, sizeof *f)))
		*old->happened = *f;
	else if (f->cycle && old->happened && f->confirmed > old->happened->confirmed)
		*old->happened = *f;
	replace(old, f);
}

uint32_t finding_merge(struct dynamic *d, const struct finding *f)
{
	assert(f->kind < FIND_KINDS && f->commit_op < OP_KINDS && f->violation_op < OP_KINDS);
	assert(d->nfindings >= 1 && d->nfindings <= RED_MAX_FINDINGS);
	uint32_t i = (uint32_t)f->key % FINDINGS_SLOTS, id;
	spin_lock(&d->lock);
	while ((id = d->slots[i]) && d->findings[id].key != f->key)
		i = (i + 1) % FINDINGS_SLOTS;
	if (id && !d->findings[id].count) { /* a parent's, before the fork: not this process's */
		d->findings[id].ready = false;
		d->findings[id].happened = NULL;
		d->findings[id].facts = NULL;
		d->findings[id].came = 0;
	}
	if (!id && d->nfindings < RED_MAX_FINDINGS) {
		id = d->nfindings;
		d->findings[id] = (struct finding){ .key = f->key, .name = kept_name(d, f->name) };
		again_waiting(d, &d->findings[id], f);
		d->slots[i] = id;
		__atomic_store_n(&d->nfindings, id + 1, __ATOMIC_RELEASE);
	} else if (!id) {
		d->nlost++;
	} else if (!d->findings[id].ready) {
		again_waiting(d, &d->findings[id], f);
	} else if ((f->confirmed || f->cycle) && !d->findings[id].confirmed) {
		replace(&d->findings[id], f);
		d->findings[id].confirmed = true;
		d->findings[id].unsettled = 0; /* it has been judged already */
		__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
	}
	if (id) {
		d->findings[id].count += 1 + f->skipped;
		d->findings[id].came += f->cycle && !f->delayed;
	}
	spin_unlock(&d->lock);
	return id;
}

void finding_ready(struct dynamic *d, struct finding *f, const struct evidence *e)
{
	assert(!f->ready);
	if (f->happened) {
		replace(f, f->happened);
		f->confirmed = true;
	} else if (e) {
		f->other = e->uid;
		f->other_acquire = e->acquire;
		f->other_write = e->write;
		f->other_held = e->held;
	}
	f->apart &= !f->confirmed;
	if (f->unsettled) {
		f->settled = true;
		return;
	}
	f->ready = true;
	__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
}

void finding_confirm(struct dynamic *d, uint32_t index, const struct finding *seen)
{
	assert(index && index < d->nfindings && seen->kind == d->findings[index].kind);
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	if (!f->confirmed || !f->ready) {
		bool ready = f->ready;
		replace(f, seen);
		f->confirmed = true;
		f->happened = NULL;
		if (ready)
			__atomic_fetch_add(&d->ready, 1, __ATOMIC_RELAXED);
		else
			finding_ready(d, f, NULL);
	}
	spin_unlock(&d->lock);
}

/* Is it still this thread's gap that the finding is about? */
static bool about(const struct finding *f, const struct thread *t, const struct held *h)
{
	return f->uid == t->uid && f->lock == h->lock && f->violation == h->acquire;
}

void finding_wrote(struct dynamic *d, struct thread *t, uint32_t index, const struct held *h, enum uses uses)
{
	assert(index && index < d->nfindings);
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	bool mine = about(f, t, h);
	if (mine)
		f->wrote |= h->first_wrote;
	if (f->uses < uses) {
		f->uses = (uint8_t)uses;
		__atomic_fetch_add(&d->ready, f->sent, __ATOMIC_RELAXED);
		f->sent = false;
	}
	spin_unlock(&d->lock);
	if (mine && h->first_wrote)
		finding_judge(d, t, index);
}

void finding_writer(struct dynamic *d, const struct thread *t, uint32_t index, uint64_t address, uint32_t stack)
{
	assert(index && index < d->nfindings);
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	if (f->kind == FIND_RACE && f->address == address && !f->confirmed && !f->other_write && f->uid != t->uid) {
		/* The first to write since the finding was made: can it do so in between? */
		struct race_access pair = { .uid = f->uid, .tid = f->tid, .epoch = f->to };
		bool meets = f->ready || !finding_cannot_meet(d, t, t->acc.epoch, &pair);
		if (meets) {
			f->other = t->uid;
			f->other_write = stack;
			f->sent = false;
		}
		if (meets && !f->ready)
			finding_ready(d, f, NULL);
	}
	spin_unlock(&d->lock);
}

static bool knows(const struct thread *t, uint32_t tid, uint32_t epoch)
{
	return tid < t->fixed.n && t->fixed.e[tid] >= epoch;
}

/*
 * Is it impossible that the two meet, because one of the threads was made after
 * the other's part, or waited for its end? What thread t has just done is the
 * later one: the gap, or the section.
 */
static bool apart(const struct thread *t, const struct finding *f, const struct evidence *e)
{
	if (t->uid == f->uid)
		return f->from >= t->joined && knows(t, e->tid, e->epoch);
	return t->uid == e->uid && e->epoch >= t->joined && knows(t, f->tid, f->to);
}

static bool descends(const struct dynamic *d, uint32_t uid, uint32_t from)
{
	for (unsigned i = 0; i < 64 && uid && uid < RED_UIDS; i++, uid = d->parents[uid])
		if (uid == from)
			return true;
	return false;
}

bool finding_cannot_meet(const struct dynamic *d, const struct thread *t, uint32_t from, const struct race_access *a)
{
	if (from < t->joined || !knows(t, a->tid, a->epoch))
		return false;
	uint32_t uid = red_who(d, a);
	return descends(d, uid, t->uid) || descends(d, t->uid, uid);
}

/*
 * Can this other thread intervene? It must be able to get the lock (it holds
 * none of the locks held across the gap), and one side must write: the other
 * thread, or this block before and after the gap.
 */
bool finding_interferes(struct dynamic *d, const struct thread *t, const struct finding *f, const struct evidence *e)
{
	if (!e->uid || e->uid == f->uid)
		return false;
	if (apart(t, f, e) && (descends(d, e->uid, f->uid) || descends(d, f->uid, e->uid)))
		return false;
	if (lockset_meet(&d->sets, NULL, e->held, f->across) != LOCKSET_EMPTY)
		return false;
	if (f->token && (!e->write || e->token == f->token || e->token == TOKEN_MANY))
		return false;
	return e->write || f->wrote;
}

/* Of this lock; `news` is what has just been learned of one of them, or NULL:
 * what was known before has been looked at when the gap was seen. */
static const struct evidence *look(struct dynamic *d, const struct thread *t, const struct finding *f, uint32_t lock,
                                   const struct evidence *news)
{
	assert(lock && lock < d->locks.max && (lock == f->lock || lock == f->lock2));
	struct lock *l = &d->locks.locks[lock];
	if (l->life != (lock == f->lock ? f->life : f->life2))
		return NULL; /* another object lives there now */
	if (news >= l->ev && news < l->ev + LOCK_EVIDENCE)
		return finding_interferes(d, t, f, news) ? news : NULL;
	const struct evidence *e = NULL;
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++)
		if (finding_interferes(d, t, f, &l->ev[i]) &&
		    (!e || l->ev[i].uid == f->other || (apart(t, f, e) && !apart(t, f, &l->ev[i]))))
			e = &l->ev[i];
	return e;
}

/* Both locks of a gap must be ones that another thread uses. */
static void judge(struct dynamic *d, const struct thread *t, struct finding *f, const struct evidence *news)
{
	const struct evidence *e = look(d, t, f, f->lock, news);
	if (f->ready)
		return;
	if (f->confirmed && !e) { /* it happened: nothing more to ask */
		finding_ready(d, f, NULL);
		return;
	}
	if (!e)
		return;
	if (f->lock2 && f->lock2 != f->lock && !look(d, t, f, f->lock2, news))
		return;
	f->apart = apart(t, f, e);
	finding_ready(d, f, e);
}

void finding_judge(struct dynamic *d, struct thread *t, uint32_t index)
{
	assert(index && index < d->nfindings);
	struct finding *f = &d->findings[index];
	if (f->ready)
		return;
	spin_lock(&d->lock);
	d->locks.locks[f->lock].pending = true;
	if (f->lock2)
		d->locks.locks[f->lock2].pending = true;
	judge(d, t, f, NULL);
	spin_unlock(&d->lock);
}

void finding_settle(struct dynamic *d, struct thread *t, uint32_t index, uint32_t token)
{
	assert(index && index < d->nfindings);
	struct finding *f = &d->findings[index];
	spin_lock(&d->lock);
	bool mine = f->unsettled == t->uid;
	if (mine) {
		f->unsettled = 0;
		f->settled = false;
		if (token) {
			f->token = token;
			f->cycle = f->confirmed = false;
		}
	}
	if (f->happened && f->happened->unsettled == t->uid) {
		f->happened->unsettled = 0;
		if (token)
			f->happened = NULL; /* it gave back: no thread intervened */
	}
	spin_unlock(&d->lock);
	if (mine)
		finding_judge(d, t, index);
}

bool finding_counts(const struct finding *f, bool final)
{
	return f->count && (f->ready || (final && f->settled));
}

/*
 * The evidence that says the same; nev: there is none. A writer may read, but
 * only as long as the thread has created and joined no thread since: what it
 * wrote before it made another thread that one cannot meet, what it reads now
 * it can.
 */
static inline uint32_t evidence_at(const struct thread *t, const struct lock *l, uint32_t held, uint32_t write)
{
	assert(l->nev <= LOCK_EVIDENCE);
	uint32_t at = 0;
	for (; at < l->nev; at++) {
		const struct evidence *e = &l->ev[at];
		if (e->uid == t->uid && e->held == held && (write ? e->write != 0 : !e->write || e->since == t->since))
			break;
	}
	return at;
}

bool evidence_known(const struct thread *t, const struct lock *l, const struct held *h, uint32_t held)
{
	uint32_t at = evidence_at(t, l, held, h->read ? 0 : h->write);
	return at < l->nev && l->ev[at].since == t->since && (!l->ev[at].token || l->ev[at].token == token_of(t, l, h));
}

/*
 * All places are taken: which one does t's evidence get? That of a thread from which t comes, for what it did before
 * it made t: t cannot meet that, nor can those who are made after it. (A program that sets its data up
 * under the lock, then starts its threads, is common.) Otherwise the first two stay: with them two threads are
 * always distinguished.
 */
static uint32_t evidence_replaced(const struct dynamic *d, const struct thread *t, const struct lock *l, const struct held *h)
{
	for (uint32_t i = 0; i < LOCK_EVIDENCE; i++) {
		const struct evidence *e = &l->ev[i];
		if (e->uid != t->uid && knows(t, e->tid, e->epoch) && descends(d, t->uid, e->uid))
			return i;
	}
	return 2 + (h->read ? t->uid : h->seq) % 2; /* `seq` of readers is as chance has it */
}

/* What the section says that was not known: evidence that is new, or another thread's. */
static __attribute__((noinline)) void evidence_new(struct dynamic *d, struct thread *t, struct lock *l, const struct held *h,
                                                   uint32_t held, uint32_t at, uint32_t token)
{
	uint32_t id = h->lock;
	const struct evidence *old = &l->ev[at];
	uint16_t kept = 0;
	/* What is more than taking or giving back a token says all that is. */
	if (at < l->nev && old->token != token && old->token != TOKEN_MANY)
		token = 0;
	else if (at == LOCK_EVIDENCE)
		at = evidence_replaced(d, t, l, h), kept = KEPT_MISSED; /* it may be back and forth */
	else if (at == l->nev)
		l->nev++;
	l->ev[at] = (struct evidence){ t->uid,       held,     h->acquire, h->read ? 0 : h->write, (uint16_t)t->tid, kept,
		                       t->acc.epoch, t->since, token };
	if (!l->pending) {
		if (!kept)
			facts_section(d, t, l, at, h);
		return;
	}
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		if (!f->ready && (f->lock == id || f->lock2 == id))
			judge(d, t, f, &l->ev[at]);
	}
	spin_unlock(&d->lock);
	facts_section(d, t, l, at, h);
}

void evidence_add(struct dynamic *d, struct thread *t, struct lock *l, const struct held *h, uint32_t held)
{
	assert(l > d->locks.locks && h->lock == (uint32_t)(l - d->locks.locks));
	/* What a reader of the lock writes is not under its protection. */
	uint32_t token = token_of(t, l, h), at = evidence_at(t, l, held, h->read ? 0 : h->write);
	struct evidence *old = &l->ev[at];
	if (at < l->nev && old->since == t->since && (old->token == token || !old->token)) {
		/* Known: between creating and joining threads it says nothing more. */
		old->epoch = t->acc.epoch;
		if (l->pending | (old->kept != KEPT_MISSED))
			facts_section(d, t, l, at, h);
		return;
	}
	evidence_new(d, t, l, h, held, at, token);
}
