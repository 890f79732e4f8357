#include "dynamic/facts.h"

#include "base/invariant.h"
#include "dynamic/findings.h"
#include "dynamic/log.h"

/* Executions that are looked at whatever they show; SETTLED: nothing heavier is expected. */
enum { FACTS_FIRST = 32, FACTS_SETTLED = 8 };

/* The first byte of an entry, and how many. */
static uint64_t entry_address(const struct trail_entry *e)
{
	unsigned mask = e->info & 0xff;
	return mask ? (e->addr & ~(uintptr_t)7) + (unsigned)__builtin_ctz(mask) : e->addr;
}

static uint64_t entry_size(const struct trail_entry *e)
{
	unsigned mask = e->info & 0xff;
	if (e->info & TRAIL_FORGET)
		return e->pc;
	return e->more * 8ull + (mask ? 32u - (unsigned)__builtin_clz(mask) - (unsigned)__builtin_ctz(mask) : 0);
}

/* Was the access before it another thread's? */
static bool after_other(const struct trail_entry *e, uint32_t tid)
{
	return (int64_t)e->was > 0 && (e->was >> 48 & SHADOW_MAX_TID) != tid;
}

static bool overlaps(const struct fact *f, uint64_t address, uint64_t size)
{
	return address < f->address + f->size && f->address < address + size;
}

/* One access of a side is added to what is known of that side. Before the gap the last
 * places count, after it the first. */
static void use(struct fact *f, unsigned side, const struct trail_entry *e)
{
	bool write = e->info & TRAIL_WRITE;
	uintptr_t *at = write ? &f->write[side] : &f->read[side];
	if (write && !(f->use[side] & FACT_READ))
		f->use[side] |= FACT_BLIND;
	f->use[side] |= write ? FACT_WRITE : FACT_READ;
	if (!*at || side == FACT_BEFORE)
		*at = e->pc;
}

/* How much a variable says, when another thread uses it so: higher is worse. A block
 * that reads and writes on both sides most often counts. */
static uint32_t weight(const struct fact *f)
{
	unsigned b = f->use[FACT_BEFORE], a = f->use[FACT_AFTER], o = f->use[FACT_OTHER];
	bool only_read = b & FACT_READ && !(b & FACT_WRITE);
	if (o & FACT_WRITE) {
		if (b & FACT_READ && a & FACT_BLIND)
			return 9;
		if (only_read)
			return a & FACT_WRITE ? 8 : a ? 7 : 5;
		if (b & FACT_WRITE && a & FACT_READ)
			return a & FACT_WRITE ? 3 : 6;
		return b && a ? 2 : 1;
	}
	if (!(o & FACT_READ))
		return 0;
	if (b & FACT_WRITE && a & FACT_WRITE)
		return (b | a) & FACT_BLIND ? 4 : 2;
	return (b | a) & FACT_WRITE ? 1 : 0;
}

/* Is there nothing more to learn of what others do to it? */
static bool settled(const struct fact *f)
{
	bool written = f->use[FACT_BEFORE] & FACT_WRITE && f->use[FACT_AFTER] & FACT_WRITE;
	return f->dead || f->use[FACT_OTHER] & (written ? FACT_READ : FACT_WRITE);
}

/* The data of a section that ends now. False: it is not, or no longer, all in the ring. */
static bool section_piece(const struct thread *t, const struct held *section, struct trail_piece *out)
{
	*out = (struct trail_piece){ t->log_trail[section->log % RED_LOG], trail_now(t->trail) };
	return section->traced && t->nlog - section->log <= RED_LOG && trail_has(t->trail, out->from);
}

/* ---- the block's side ---- */

static struct fact *fact_at(struct facts *x, uint64_t address, uint64_t size)
{
	for (uint32_t i = 0; i < x->n; i++)
		if (x->v[i].address == address && x->v[i].size == size)
			return &x->v[i];
	if (x->n == FACTS_MAX)
		return NULL;
	x->v[x->n] = (struct fact){ .address = address, .size = (uint32_t)size };
	return &x->v[x->n++];
}

/* One's own stack is used again by every call, unless another thread has just used it. */
static bool own_stack(const struct thread *t, const struct trail_entry *e)
{
	uint64_t at = entry_address(e);
	return at >= t->stack_lo && at < t->stack_hi && !(after_other(e, t->tid));
}

/* The variables of a piece; first those of several threads. */
static void list(struct dynamic *d, struct facts *x, const struct thread *t, struct trail_piece p, bool shared)
{
	const uint32_t skip = TRAIL_FORGET | (x->bare ? 0 : TRAIL_BARE);
	for (uint32_t i = p.from; i != p.to; i++) {
		const struct trail_entry *e = trail_at(t->trail, i);
		if (e->info & skip || !(e->info & TRAIL_SHARED) == shared || own_stack(t, e))
			continue;
		if (fact_at(x, entry_address(e), entry_size(e)))
			continue;
		if (shared)
			x->cut = true;
		else
			d->dropped = x->dropped = true;
	}
}

static void use_before(struct facts *x, const struct thread *t, struct trail_piece p)
{
	for (uint32_t i = p.from; i != p.to; i++) {
		const struct trail_entry *e = trail_at(t->trail, i);
		uint64_t at = entry_address(e), size = entry_size(e);
		for (uint32_t k = 0; k < x->n; k++) {
			struct fact *f = &x->v[k];
			if (!overlaps(f, at, size) || (own_stack(t, e) && !(e->info & TRAIL_FORGET)))
				continue;
			if (e->info & TRAIL_BARE && !x->bare)
				continue;
			if (e->info & TRAIL_FORGET) { /* what follows is another object */
				f->use[FACT_BEFORE] = 0;
				f->read[FACT_BEFORE] = f->write[FACT_BEFORE] = 0;
				f->shared = false;
				continue;
			}
			use(f, FACT_BEFORE, e);
			f->shared |= (e->info & TRAIL_SHARED) != 0;
		}
	}
}

static void use_after(struct facts *x, const struct thread *t, struct trail_piece p)
{
	for (uint32_t i = p.from; i != p.to; i++) {
		const struct trail_entry *e = trail_at(t->trail, i);
		uint64_t at = entry_address(e), size = entry_size(e);
		for (uint32_t k = 0; k < x->n; k++) {
			struct fact *f = &x->v[k];
			if (e->info & TRAIL_FORGET || !overlaps(f, at, size) || own_stack(t, e))
				continue;
			bool first = !f->use[FACT_AFTER];
			/* Shared before and one thread's now: it was given back in between. */
			if (first && f->shared && !(e->info & TRAIL_SHARED)) {
				f->use[FACT_BEFORE] = 0;
				f->read[FACT_BEFORE] = f->write[FACT_BEFORE] = 0;
				f->shared = false;
			}
			if (first && f->use[FACT_BEFORE])
				f->changed = after_other(e, t->tid);
			use(f, FACT_AFTER, e);
			f->shared |= (e->info & TRAIL_SHARED) != 0;
		}
	}
}

/* ---- the other side ---- */

/* Of what two sections do to a variable: is the new one to be told of? `whole`: it says more of
 * all variables together. */
static bool says_more(const struct fact *new, const struct fact *old, bool whole)
{
	uint32_t n = weight(new), o = weight(old);
	bool more = new->use[FACT_OTHER] & ~old->use[FACT_OTHER], less = old->use[FACT_OTHER] & ~new->use[FACT_OTHER] & FACT_WRITE;
	return n > o || (n == o && !less && (whole || more));
}

/* What a section of another thread, its entries `p` of a ring of `size`, does to the variables; how
 * many it uses. `past`: it has happened before this was asked. Then data that is not
 * shared by now may be another object's: unless it is a variable of the program, nothing can be said. */
static uint32_t match(struct dynamic *d, struct facts *x, const struct trail_entry *ring, uint32_t size, struct trail_piece p,
                      uint32_t uid, uint32_t section, bool past)
{
	struct fact seen[FACTS_MAX];
	uint32_t hits = 0, sum = 0, old = 0;
	for (uint32_t k = 0; k < x->n; k++) {
		seen[k] = x->v[k];
		seen[k].use[FACT_OTHER] = 0;
		seen[k].read[FACT_OTHER] = seen[k].write[FACT_OTHER] = 0;
	}
	for (uint32_t i = p.from; i != p.to; i++) {
		struct trail_entry e = ring[i % size];
		if (e.info & TRAIL_FORGET)
			continue;
		for (uint32_t k = 0; k < x->n; k++)
			if (!seen[k].dead && overlaps(&seen[k], entry_address(&e), entry_size(&e))) {
				bool same = !past || seen[k].shared || seen[k].address - d->static_lo < d->static_hi - d->static_lo;
				if (same)
					use(&seen[k], FACT_OTHER, &e);
				x->cut |= !same;
			}
	}
	for (uint32_t k = 0; k < x->n; k++) {
		sum += weight(&seen[k]) * weight(&seen[k]);
		old += weight(&x->v[k]) * weight(&x->v[k]);
	}
	/* The section that says most, of all variables; of a variable that it says nothing
	 * of, the one that did. */
	for (uint32_t k = 0; k < x->n; k++) {
		hits += seen[k].use[FACT_OTHER] != 0;
		if (seen[k].use[FACT_OTHER] && says_more(&seen[k], &x->v[k], sum > old)) {
			x->v[k] = seen[k];
			x->v[k].uid = uid;
			x->v[k].section = section;
			x->fresh = true;
			x->v[k].span = p.to - p.from;
			x->v[k].shared = true;
		}
	}
	return hits;
}

static uint32_t heaviest(const struct facts *x)
{
	uint32_t best = 0;
	for (uint32_t k = 0; k < x->n; k++)
		if (weight(&x->v[k]) > best)
			best = weight(&x->v[k]);
	return best;
}

/* ---- words that are watched ---- */

static void watch(struct dynamic *d, struct fact *f, bool on)
{
	if (f->watched == on)
		return;
	f->watched = on;
	d->nwatched += on ? 1 : -1u;
	for (uint64_t w = f->address >> 3; w <= (f->address + f->size - 1) >> 3; w++) {
		uint8_t *n = &d->watched[w % RED_WATCHED];
		if (*n != UINT8_MAX) /* then it stays */
			__atomic_store_n(n, (uint8_t)(*n + (on ? 1 : -1)), __ATOMIC_RELAXED);
	}
}

static void watch_open(struct dynamic *d, struct facts *x, bool on)
{
	x->best = heaviest(x);
	for (uint32_t k = 0; k < x->n; k++)
		watch(d, &x->v[k], on && x->best < FACTS_SETTLED && !settled(&x->v[k]));
}

/* ---- a gap ---- */

/* The evidence of other threads that the lock has, with what is kept of it. */
struct other_evidence {
	struct evidence e;
	struct kept_sections kept;
};

static struct kept_sections **kept_at(const struct dynamic *d, const struct lock *l, uint32_t at)
{
	uint32_t id = (uint32_t)(l - d->locks.locks);
	return id < KEPT_LOCKS ? &d->kept[id * LOCK_EVIDENCE + at] : NULL;
}

/* `fresh`: of a finding that has no facts yet. What others saw of the lock, it did not. */
static uint32_t others(const struct dynamic *d, struct lock *l, const struct thread *t, bool fresh, struct other_evidence *out)
{
	uint32_t n = 0;
	spin_lock(&l->spin);
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++) {
		if (l->ev[i].uid == t->uid)
			continue;
		if (fresh && l->ev[i].kept == KEPT_SEEN)
			l->ev[i].kept = KEPT_MISSED;
		struct kept_sections **k = kept_at(d, l, i);
		out[n].e = l->ev[i];
		out[n].kept.n = 0;
		if (k && *k)
			out[n].kept = **k;
		n++;
	}
	spin_unlock(&l->spin);
	return n;
}

static void match_others(struct dynamic *d, struct thread *t, const struct finding *f, const struct other_evidence *o, uint32_t n,
                         struct facts *x)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!finding_interferes(d, t, f, &o[i].e))
			continue;
		const struct kept_sections *k = &o[i].kept;
		for (uint32_t from = 0, to; from < k->n; from = to) {
			for (to = from + 1; to < k->n && !k->first[to]; to++)
				;
			match(d, x, k->e, KEPT_ENTRIES, (struct trail_piece){ from, to }, o[i].e.uid, ++d->nmatched, true);
		}
	}
}

/* Is this execution of the gap looked at? */
static bool wanted(struct dynamic *d, struct finding *f, const struct lock *l, const struct held *section)
{
	struct facts *x = f->facts;
	if (f->lock != section->lock)
		return false;
	if (!x && (x = f->facts = bump_alloc(&d->bump, sizeof *x)))
		*x = (struct facts){ 0 };
	if (!x || x->best >= FACTS_SETTLED)
		return false;
	uint32_t n = ++x->seen;
	if (section->came && x->came < FACTS_FIRST) {
		x->came++;
		return true;
	}
	return n <= FACTS_FIRST || !(n & (n - 1)) || l->untraced > x->seq;
}

/* The variables of the block, on both sides of the gap. */
static void block_facts(struct dynamic *d, const struct thread *t, const struct held *section, struct facts *x)
{
	struct trail_piece before, after;
	uint32_t begun;
	if (!section_piece(t, section, &after) || t->trail == d->spare || !log_trail_at(t, section->gap, &before.from)) {
		x->cut = true;
		return;
	}
	before.to = after.from;
	/* From where the block began, or the section that it found open. */
	if (!trail_has(t->trail, before.from)) {
		before.from = trail_now(t->trail) - TRAIL_SIZE;
		x->cut = true;
	} else if (log_trail_at(t, section->block, &begun) && (int32_t)(begun - before.from) < 0) {
		before.from = trail_has(t->trail, begun) ? begun : trail_now(t->trail) - TRAIL_SIZE;
	}
	list(d, x, t, after, true);
	list(d, x, t, before, true);
	list(d, x, t, after, false);
	list(d, x, t, before, false);
	use_before(x, t, before);
	use_after(x, t, after);
}

void facts_look(struct dynamic *d, struct thread *t, struct lock *l, const struct held *section)
{
	assert(section->finding && section->finding < d->nfindings);
	struct finding *f = &d->findings[section->finding];
	struct other_evidence o[LOCK_EVIDENCE];
	struct facts now = { .seq = section->seq };
	spin_lock(&d->lock);
	bool look = wanted(d, f, l, section), fresh = look && f->facts->seen == 1;
	spin_unlock(&d->lock);
	if (!look)
		return;
	uint32_t n = others(d, l, t, fresh, o);
	now.bare = f->bare;
	block_facts(d, t, section, &now);
	spin_lock(&d->lock);
	struct finding g = *f;
	g.wrote |= section->first_wrote && section->write && !section->read; /* this execution */
	match_others(d, t, &g, o, n, &now);
	now.best = heaviest(&now);
	struct facts *x = f->facts;
	if (x && now.best >= x->best && !(now.cut && x->n && !x->cut)) {
		watch_open(d, x, false);
		now.seen = x->seen;
		now.came = x->came;
		*x = now;
		x->fresh = true;
		watch_open(d, x, true);
		__atomic_fetch_add(&d->ready, f->sent, __ATOMIC_RELAXED);
		f->sent = false;
	}
	spin_unlock(&d->lock);
}

/* Was it another thread's alone until now? That one may have had it among what was not kept. */
static bool taken_over(const struct trail_entry *e, uint32_t tid)
{
	return after_other(e, tid) && e->was >> CELL_TAG == CELL_EXCL && e->info & TRAIL_SHARED;
}

/* Did the section touch a watched word? */
static bool concerns(const struct dynamic *d, const struct thread *t, struct trail_piece p)
{
	bool any = false;
	for (uint32_t i = p.from; !any && i != p.to; i++) {
		const struct trail_entry *e = trail_at(t->trail, i);
		if (e->info & TRAIL_FORGET)
			continue;
		for (uint32_t k = 0; !any && k <= e->more; k++)
			any = d->watched[((e->addr >> 3) + k) % RED_WATCHED] != 0;
		any |= d->dropped && taken_over(e, t->tid);
	}
	return any;
}

/* Did the section use, or may it have used, what the facts should have but do not? */
static bool unseen(const struct thread *t, const struct facts *x, struct trail_piece p)
{
	bool any = false;
	for (uint32_t i = p.from; x->dropped && !any && i != p.to; i++)
		any = taken_over(trail_at(t->trail, i), t->tid);
	return any;
}

/* The findings of the lock whose words the section touches. */
static void match_section(struct dynamic *d, struct thread *t, struct lock *l, const struct evidence *e, struct trail_piece p)
{
	uint32_t id = (uint32_t)(l - d->locks.locks), section = 0;
	if (!concerns(d, t, p))
		return;
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct finding *f = &d->findings[i];
		struct facts *x = f->facts;
		if (!x || f->lock != id || f->life != l->life || x->best >= FACTS_SETTLED || !finding_interferes(d, t, f, e))
			continue;
		if (!section)
			section = ++d->nmatched;
		uint32_t best = x->best;
		x->cut |= unseen(t, x, p);
		if (!match(d, x, t->trail->e, TRAIL_SIZE, p, e->uid, section, false))
			continue;
		watch_open(d, x, true);
		if (x->best > best) {
			__atomic_fetch_add(&d->ready, f->sent, __ATOMIC_RELAXED);
			f->sent = false;
		}
	}
	spin_unlock(&d->lock);
}

/* ---- sections that are kept ---- */

/* The section, after those that are there, or nothing of it; of the first as much as fits. Was that all? */
static bool append(struct kept_sections *k, const struct thread *t, struct trail_piece p)
{
	uint32_t from = k->n;
	for (uint32_t i = p.from; i != p.to; i++) {
		const struct trail_entry *e = trail_at(t->trail, i);
		if (e->info & TRAIL_FORGET)
			continue;
		if (k->n == KEPT_ENTRIES) {
			k->n = from ? from : k->n;
			return false;
		}
		k->first[k->n] = k->n == from;
		k->e[k->n++] = *e;
	}
	return true;
}

static void keep(struct dynamic *d, const struct thread *t, const struct lock *l, uint32_t at, struct evidence *e,
                 const struct trail_piece *p)
{
	struct kept_sections **k = kept_at(d, l, at);
	bool mine = k && p && t->trail != d->spare;
	if (mine && !*k && (*k = bump_alloc(&d->bump, sizeof **k)))
		(*k)->n = 0;
	if (k && *k && !e->kept)
		(*k)->n = 0; /* another evidence's */
	if (!mine || !*k || !append(*k, t, *p))
		e->kept = KEPT_MISSED;
	else if (++e->kept == KEPT_SECTIONS)
		e->kept = KEPT_FULL;
}

void facts_section(struct dynamic *d, struct thread *t, struct lock *l, uint32_t at, const struct held *section)
{
	assert(at < l->nev && l->nev <= LOCK_EVIDENCE);
	struct evidence *e = &l->ev[at];
	struct trail_piece p;
	bool there = section_piece(t, section, &p);
	/* Sections of readers have no order: of each thread the first is kept, which has one. */
	if (e->kept < KEPT_FULL && !(section->read && e->kept))
		keep(d, t, l, at, e, there ? &p : NULL);
	else if (e->kept < KEPT_SEEN)
		e->kept = KEPT_MISSED;
	if (!l->pending || !there)
		return;
	if (e->kept == KEPT_MISSED)
		e->kept = KEPT_SEEN;
	if (d->nwatched)
		match_section(d, t, l, e, p);
}

void facts_drop(struct dynamic *d)
{
	uint32_t n = __atomic_load_n(&d->locks.n, __ATOMIC_RELAXED);
	for (uint32_t id = 1; id < n && id < KEPT_LOCKS; id++) {
		struct lock *l = &d->locks.locks[id];
		spin_lock(&l->spin);
		for (uint32_t i = 0; i < l->nev; i++) {
			if (d->kept[id * LOCK_EVIDENCE + i])
				d->kept[id * LOCK_EVIDENCE + i]->n = 0;
			l->ev[i].kept = KEPT_MISSED;
		}
		spin_unlock(&l->spin);
	}
}

/* ---- memory, code ---- */

void facts_forget(struct dynamic *d, uintptr_t addr, size_t size)
{
	bool any = size / 8 >= RED_WATCHED;
	if (!__atomic_load_n(&d->nwatched, __ATOMIC_RELAXED) || !size)
		return;
	for (uint64_t w = addr >> 3; !any && w <= (addr + size - 1) >> 3; w++)
		any = __atomic_load_n(&d->watched[w % RED_WATCHED], __ATOMIC_RELAXED) != 0;
	if (!any)
		return;
	spin_lock(&d->lock);
	for (uint32_t i = 1; i < d->nfindings; i++) {
		struct facts *x = d->findings[i].facts;
		for (uint32_t k = 0; x && k < x->n; k++)
			if (overlaps(&x->v[k], addr, size)) {
				watch(d, &x->v[k], false);
				x->v[k].dead = true;
			}
	}
	spin_unlock(&d->lock);
}

void facts_move(struct facts *x, uintptr_t lo, uintptr_t hi, uintptr_t delta)
{
	for (uint32_t k = 0; k < x->n; k++) {
		struct fact *f = &x->v[k];
		if (f->address - lo < hi - lo) {
			f->address += delta;
			f->dead = true; /* `watched` has the old place */
		}
		for (unsigned s = 0; s < FACT_SIDES; s++) {
			if (f->read[s] - lo - 1 < hi - lo)
				f->read[s] += delta;
			if (f->write[s] - lo - 1 < hi - lo)
				f->write[s] += delta;
		}
	}
}

/* A lock that the program makes of a mutex and a condition (token.h): what it protects is used
 * without the mutex, and is in no trail. */
static bool token(const struct lock *l, const struct facts *x)
{
	return l->monitor && x->n == 1 && x->v[0].use[FACT_BEFORE] & FACT_WRITE && x->v[0].use[FACT_AFTER] & FACT_WRITE;
}

/* Did sections of other threads pass that were neither kept nor looked at? */
static bool missed(const struct lock *l, const struct finding *f)
{
	for (uint32_t i = 0; i < l->nev && i < LOCK_EVIDENCE; i++)
		if (l->ev[i].uid != f->uid && l->ev[i].kept == KEPT_MISSED)
			return true;
	return false;
}

bool facts_known(const struct dynamic *d, const struct finding *f)
{
	const struct facts *x = f->facts;
	const struct lock *l = &d->locks.locks[f->lock];
	return x && x->n && !x->cut && !missed(l, f) && l->untraced <= x->seq && !token(l, x);
}
