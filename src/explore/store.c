#include "explore/store.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/grow.h"
#include "base/invariant.h"

#define STORE_FIRST_CAP 2048u                 /* slots; and at least this many a user */
#define MAP_FROM        ((uint64_t)256 << 10) /* bytes; less is taken from the heap */
#define HUGE_FROM       ((uint64_t)4 << 20)   /* bytes; beyond, large pages are asked for */
#define GROW_GENTLY     ((uint64_t)32 << 20)  /* bytes */
#define GIVE_BACK       ((uint64_t)8 << 20)   /* bytes of the old table freed at a time */
#define MOVERS          8u                    /* threads that move a table that grows */

/* ---- layout ------------------------------------------------------------- */

/* Fields in order, each in the first word that has room. The highest bit of
 * word 0 is STORE_BUSY's. */
bool store_lay_out(struct store_layout *l, uint32_t nfields, const uint8_t *bits)
{
	assert(nfields >= 1);
	uint32_t word = 0, used = 0;
	l->nfields = nfields;
	l->field = malloc(nfields * sizeof *l->field);
	if (!l->field)
		return false;
	for (uint32_t i = 0; i < nfields; i++) {
		assert(bits[i] >= 1 && bits[i] <= 32);
		if (used + bits[i] > (word ? 64u : 63u)) {
			word++;
			used = 0;
		}
		l->field[i] = (struct store_field){ word, (uint8_t)used, bits[i] };
		used += bits[i];
	}
	l->words = word + 1;
	assert(l->field[0].word == 0 && l->field[0].shift == 0);
	return true;
}

void store_pack_by(const struct store_layout *at, const uint32_t *ids, uint64_t *words)
{
	memset(words, 0, at->words * sizeof *words);
	for (uint32_t i = 0; i < at->nfields; i++) {
		assert(((uint64_t)ids[i] + (i == 0)) >> at->field[i].bits == 0);
		words[at->field[i].word] |= ((uint64_t)ids[i] + (i == 0)) << at->field[i].shift;
	}
}

void store_pack(const struct store *s, const uint32_t *ids, uint64_t *words)
{
	store_pack_by(&s->at, ids, words);
}

void store_unpack(const struct store *s, const uint64_t *words, uint32_t *ids)
{
	for (uint32_t i = 0; i < s->at.nfields; i++)
		ids[i] = store_field(s, words, i);
}

void store_words(const struct store *s, const uint64_t *key, uint64_t *words)
{
	if (!s->tree) {
		memcpy(words, key, s->at.words * sizeof *words);
		return;
	}
	uint32_t *ids = malloc(sizeof *ids * tree_room(s->at.words));
	if (ids)
		tree_words(&s->nodes, key[0], s->at.words, words, ids);
	free(ids);
}

/* ---- the table ---------------------------------------------------------- */

/* Small tables come and go with every small search: the heap has them at hand. */
static bool mapped(uint64_t cap, uint32_t key)
{
	return cap * key * 8 >= MAP_FROM;
}

static uint64_t *table_new(uint64_t cap, uint32_t key)
{
	if (cap > SIZE_MAX / 8 / key)
		return NULL;
	if (!mapped(cap, key))
		return calloc(cap, key * sizeof(uint64_t));
	void *p = mmap(NULL, cap * key * 8, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return NULL;
	if (cap * key * 8 >= HUGE_FROM)
		madvise(p, cap * key * 8, MADV_HUGEPAGE);
	return p;
}

static void table_free(uint64_t *t, uint64_t cap, uint32_t key)
{
	if (t && mapped(cap, key))
		munmap(t, cap * key * 8);
	else
		free(t);
}

uint64_t store_bytes(const struct store *s)
{
	return s->cap * s->key * 8 + tree_bytes(&s->nodes) + s->at.nfields * sizeof(struct store_field);
}

static bool set_layout(struct store *s, uint32_t nfields, const uint8_t *bits)
{
	if (!store_lay_out(&s->at, nfields, bits))
		return false;
	s->tree = s->at.words > STORE_INLINE;
	s->key = s->tree ? 1 : s->at.words;
	return !s->tree || tree_init(&s->nodes);
}

static void set_capacity(struct store *s, uint64_t cap)
{
	assert(cap % STORE_LINE == 0 && cap / 4 * 3 > s->users * STORE_SLACK / 2);
	s->cap = cap;
	s->full = cap / 4 * 3 - s->users * STORE_SLACK / 2;
}

bool store_init(struct store *s, uint32_t nfields, const uint8_t *bits, uint64_t budget)
{
	memset(s, 0, sizeof *s);
	s->budget = budget;
	s->users = 1;
	if (!set_layout(s, nfields, bits))
		return false;
	set_capacity(s, STORE_FIRST_CAP);
	s->table = table_new(s->cap, s->key);
	return s->table != NULL;
}

void store_init_flat(struct store *s, const struct store_layout *at)
{
	*s = (struct store){ .flat = true, .at = *at, .key = at->words, .full = UINT64_MAX, .users = 1 };
}

void store_free(struct store *s)
{
	assert(s->n <= s->cap);
	table_free(s->table, s->cap, s->key);
	tree_free(&s->nodes);
	if (!s->flat)
		free(s->at.field);
	memset(s, 0, sizeof *s);
}

static inline bool same_rest(const uint64_t *a, const uint64_t *b, uint32_t words)
{
	for (uint32_t i = 1; i < words; i++)
		if (__atomic_load_n(&a[i], __ATOMIC_RELAXED) != b[i])
			return false;
	return true;
}

enum store_result store_insert(struct store *s, const uint64_t *key, uint64_t place)
{
	assert(key[0] && place < s->cap);
	uint32_t words = s->key;
	if (words == 1)
		return store_insert1(s->table, s->cap, key[0], place, s->users == 1);
	for (uint64_t i = place;; i = i + 1 == s->cap ? 0 : i + 1) {
		uint64_t *slot = s->table + i * words;
		uint64_t seen = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
		if (!seen &&
		    __atomic_compare_exchange_n(&slot[0], &seen, key[0] | STORE_BUSY, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			for (uint32_t k = 1; k < words; k++)
				__atomic_store_n(&slot[k], key[k], __ATOMIC_RELAXED);
			__atomic_store_n(&slot[0], key[0], __ATOMIC_RELEASE);
			return STORE_NEW;
		}
		if ((seen & ~STORE_BUSY) != key[0])
			continue;
		while (seen & STORE_BUSY) /* for the few writes above */
			seen = __atomic_load_n(&slot[0], __ATOMIC_ACQUIRE);
		if (same_rest(slot, key, words))
			return STORE_OLD;
	}
}

/* Inserts a missing key into a table that no other thread uses. */
static void put(uint64_t *table, uint64_t cap, const uint64_t *key, uint32_t words)
{
	assert(key[0]);
	uint64_t i = store_place(store_hash(key, words), cap);
	while (table[i * words])
		i = i + 1 == cap ? 0 : i + 1;
	for (uint32_t k = 0; k < words; k++)
		table[i * words + k] = key[k];
}

/*
 * The slots [from, to) of the old table go to the new one, while other threads
 * move other parts. The order of the slots is that of the hashes in both, so a
 * part has slots [low, high) there to itself. The few keys that belong on the
 * other side of a border wait in `left` until all parts are done.
 */
struct moved_part {
	const struct store *s;
	uint64_t *table;
	uint64_t cap, from, to, low, high;
	uint64_t *left;
	uint32_t nleft, cap_left; /* words */
	pthread_t thread;
	bool started, nomem;
};

/* Where slot `at` of a table of `from` slots is in one of `to`. */
static uint64_t border(uint64_t at, uint64_t from, uint64_t to)
{
	return (uint64_t)((unsigned __int128)at * to / from) & ~(uint64_t)(STORE_LINE - 1);
}

static void leave(struct moved_part *m, const uint64_t *key)
{
	assert(m->nleft % m->s->key == 0);
	for (uint32_t k = 0; k < m->s->key && !m->nomem; k++) {
		m->nomem = !GROW(m->left, m->cap_left, m->nleft + 1);
		if (!m->nomem)
			m->left[m->nleft++] = key[k];
	}
}

/* A key of one word, or 0: there is no branch that depends on which. */
static inline void move1(struct moved_part *m, const uint64_t *slot)
{
	uint64_t key = *slot, none = 0, i = store_place(store_hash(&key, 1), m->cap);
	uint64_t *at = key && i >= m->low ? &m->table[i] : &none;
	while (*at && ++i < m->high)
		at = &m->table[i];
	if (((unsigned)(i >= m->high) | (unsigned)(i < m->low)) & (unsigned)(key != 0))
		leave(m, slot);
	else
		*at = key;
}

static void move(struct moved_part *m, const uint64_t *slot)
{
	uint32_t words = m->s->key;
	uint64_t i = store_place(store_hash(slot, words), m->cap);
	if (i < m->low)
		i = m->high;
	while (i < m->high && m->table[i * words])
		i++;
	if (i >= m->high)
		leave(m, slot);
	for (uint32_t k = 0; i < m->high && k < words; k++)
		m->table[i * words + k] = slot[k];
}

static void *move_part(void *arg)
{
	assert(((struct moved_part *)arg)->from <= ((struct moved_part *)arg)->to);
	struct moved_part *m = arg;
	const struct store *s = m->s;
	uint64_t unit = GIVE_BACK / 8 / s->key;
	bool back = mapped(s->cap, s->key);
	for (uint64_t i = m->from, to, first; i < m->to;) {
		first = i;
		to = m->to - i > unit ? i + unit : m->to;
		if (s->key == 1)
			for (; i < to; i++)
				move1(m, &s->table[i]);
		for (; i < to; i++)
			if (s->table[i * s->key])
				move(m, s->table + i * s->key);
		if (back)
			munmap(s->table + first * s->key, (to - first) * s->key * 8);
	}
	return NULL;
}

static bool put_left(struct moved_part *m)
{
	uint32_t words = m->s->key;
	for (uint32_t i = 0; i < m->nleft && !m->nomem; i += words)
		put(m->table, m->cap, m->left + i, words);
	free(m->left);
	return !m->nomem;
}

/* As many threads as use the store move its parts: what they wait for is this.
 * When out of memory meanwhile the store is unusable. */
static bool grow_to(struct store *s, uint64_t cap)
{
	assert(cap > s->cap && s->n <= s->cap);
	struct moved_part part[MOVERS];
	uint64_t unit = GIVE_BACK / 8 / s->key, units = s->cap / unit;
	uint32_t n = s->users < MOVERS ? s->users : MOVERS;
	if (s->budget && cap * s->key * 8 + tree_bytes(&s->nodes) > s->budget)
		return false;
	uint64_t *t = table_new(cap, s->key);
	if (!t)
		return false;
	if (!n || units < 2 * n)
		n = 1;
	for (uint32_t i = 0; i < n; i++) { /* borders at units: they are given back by pages */
		uint64_t from = units / n * i * unit, to = i + 1 == n ? s->cap : units / n * (i + 1) * unit;
		part[i] = (struct moved_part){ .s = s, .table = t, .cap = cap, .from = from, .to = to };
		part[i].low = border(from, s->cap, cap);
		part[i].high = border(to, s->cap, cap);
		assert(part[i].low <= part[i].high && part[i].high <= cap);
		assert(!i || (part[i].from == part[i - 1].to && part[i].low == part[i - 1].high)); /* no gap, no overlap */
	}
	for (uint32_t i = 1; i < n; i++)
		part[i].started = !pthread_create(&part[i].thread, NULL, move_part, &part[i]);
	for (uint32_t i = 0; i < n; i++)
		if (!part[i].started)
			move_part(&part[i]);
	for (uint32_t i = 1; i < n; i++)
		if (part[i].started)
			pthread_join(part[i].thread, NULL);
	assert(part[0].from == 0 && part[n - 1].to == s->cap);
	bool ok = true;
	for (uint32_t i = 0; i < n; i++)
		ok &= put_left(&part[i]);
	s->broken = !ok;
	if (!mapped(s->cap, s->key))
		free(s->table); /* else given back part by part */
	s->table = t;
	set_capacity(s, cap);
	assert(s->n < s->full);
	return ok;
}

bool store_grow(struct store *s)
{
	if (tree_crowded(&s->nodes) && !tree_grow(&s->nodes))
		return false;
	/* double while that is cheap, then by half */
	bool gently = s->cap * s->key * 8 >= GROW_GENTLY;
	return s->n < s->full || grow_to(s, s->cap + (gently ? s->cap / 2 : s->cap));
}

bool store_reserve(struct store *s, uint64_t states)
{
	uint64_t cap = s->cap;
	while (cap / 4 * 3 < states + s->users * STORE_SLACK)
		cap += cap / 2 & ~(uint64_t)(STORE_LINE - 1);
	return cap == s->cap || grow_to(s, cap);
}

bool store_admit(struct store *s, uint32_t users)
{
	assert(users >= 1 && users <= STORE_USERS);
	s->users = users;
	set_capacity(s, s->cap);
	while (s->cap < (uint64_t)STORE_FIRST_CAP * users || s->n >= s->full)
		if (!grow_to(s, s->cap * 2))
			return false;
	return true;
}

/* ---- changing the layout ------------------------------------------------ */

bool store_convert(const struct store *from, const uint64_t *key, struct store *to, uint64_t *out, uint32_t *ids, uint64_t *words)
{
	assert(from->at.nfields == to->at.nfields && key[0]);
	store_words(from, key, words);
	store_unpack(from, words, ids);
	if (!to->tree) {
		store_pack(to, ids, out);
		return true;
	}
	store_pack(to, ids, words);
	uint32_t *nodes = malloc(sizeof *nodes * tree_room(to->at.words));
	out[0] = nodes ? tree_root(&to->nodes, words, to->at.words, nodes, NULL, NULL) : 0;
	while (nodes && !out[0] && tree_grow(&to->nodes))
		out[0] = tree_root(&to->nodes, words, to->at.words, nodes, NULL, NULL);
	free(nodes);
	return out[0];
}

/* For PARANOID: the slots that are taken. */
static uint64_t table_count(const struct store *s)
{
	uint64_t n = 0;
	for (uint64_t i = 0; i < s->cap; i++)
		n += s->table[i * s->key] != 0;
	return n;
}

bool store_widen(struct store *s, const uint8_t *bits, bool (*also)(void *arg, const struct store *from, struct store *to),
                 void *arg)
{
	struct store to = { .budget = s->budget, .users = s->users };
	bool ok = set_layout(&to, s->at.nfields, bits);
	uint64_t bytes = s->cap * to.key * 8;
	ok = ok && (!s->budget || bytes + store_bytes(s) <= s->budget || bytes < HUGE_FROM);
	uint32_t *ids = malloc(sizeof *ids * (s->at.nfields + 1));
	uint64_t *words = malloc(sizeof *words * (to.at.words + s->at.words + STORE_INLINE));
	set_capacity(&to, s->cap);
	to.table = ok ? table_new(to.cap, to.key) : NULL;
	ok = ok && ids && words && to.table;
	for (uint64_t i = 0; ok && i < s->cap; i++) {
		const uint64_t *slot = s->table + i * s->key;
		uint64_t key[STORE_INLINE];
		if (!slot[0])
			continue;
		ok = store_convert(s, slot, &to, key, ids, words);
		if (ok)
			put(to.table, to.cap, key, to.key);
	}
	PARANOID(!ok || table_count(&to) == s->n);
	to.n = s->n;
	ok = ok && (!also || also(arg, s, &to));
	free(ids);
	free(words);
	if (!ok) {
		store_free(&to);
		return false;
	}
	store_free(s);
	*s = to;
	return true;
}
