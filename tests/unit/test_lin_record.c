/*
 * The C API: threads record what they do to a queue; a right one holds, and
 * a schedule forced through a wrong one is found out.
 */
#include <pthread.h>
#include <unistd.h>

#include "intact/history.h"

#include "check.h"

#define THREADS 4
#define ROUNDS 2000

struct queue {
	pthread_mutex_t lock;
	int64_t v[THREADS * ROUNDS];
	int head, tail;
};

struct worker {
	struct intact_history *h;
	struct queue *q;
	int64_t id;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct intact_recorder *r = intact_history_recorder(w->h);
	for (int i = 0; i < ROUNDS; i++) {
		int64_t v = w->id * ROUNDS + i;
		intact_invoke(r, INTACT_ENQUEUE, v);
		pthread_mutex_lock(&w->q->lock);
		w->q->v[w->q->tail++] = v;
		pthread_mutex_unlock(&w->q->lock);
		intact_return(r, 0);
		intact_invoke(r, INTACT_DEQUEUE, 0);
		pthread_mutex_lock(&w->q->lock);
		int64_t got = w->q->head < w->q->tail ? w->q->v[w->q->head++] : -1;
		pthread_mutex_unlock(&w->q->lock);
		if (got < 0)
			intact_return_empty(r);
		else
			intact_return(r, got);
	}
	return NULL;
}

static void test_threads(void)
{
	static struct queue q = { .lock = PTHREAD_MUTEX_INITIALIZER };
	struct intact_history *h = intact_history_new(INTACT_QUEUE, 0);
	pthread_t t[THREADS];
	struct worker w[THREADS];
	for (int i = 0; i < THREADS; i++) {
		w[i] = (struct worker){ h, &q, i };
		CHECK(pthread_create(&t[i], NULL, work, &w[i]) == 0);
	}
	for (int i = 0; i < THREADS; i++)
		pthread_join(t[i], NULL);
	CHECK_EQ(intact_history_check(h), INTACT_HOLDS);
	CHECK(strstr(intact_history_report(h), "16000 operations") != NULL);
	intact_history_free(h);
}

/* Two threads' operations in a forced order: the second value overtakes. */
static void test_violation(void)
{
	struct intact_history *h = intact_history_new(INTACT_QUEUE, 0);
	struct intact_recorder *a = intact_history_recorder(h), *b = intact_history_recorder(h);
	intact_invoke(a, INTACT_ENQUEUE, 1);
	intact_return(a, 0);
	intact_invoke(b, INTACT_ENQUEUE, 2);
	intact_return(b, 0);
	intact_invoke(a, INTACT_DEQUEUE, 0);
	intact_return(a, 2);
	intact_invoke(b, INTACT_DEQUEUE, 0);
	intact_return(b, 1);
	CHECK_EQ(intact_history_check(h), INTACT_VIOLATED);
	CHECK(strstr(intact_history_report(h), "first in, last out") != NULL);
	char path[] = "/tmp/intact-record-XXXXXX";
	int fd = mkstemp(path);
	CHECK(fd >= 0);
	CHECK_EQ(intact_history_save(h, path), 0);
	FILE *f = fopen(path, "r");
	char line[200] = "";
	CHECK(f && fgets(line, sizeof line, f));
	CHECK_STR(line, "{\"process\":0,\"type\":\"invoke\",\"f\":\"enqueue\",\"value\":1,\"time\":0}\n");
	fclose(f);
	close(fd);
	unlink(path);
	intact_history_free(h);
}

static void test_register(void)
{
	struct intact_history *h = intact_history_new(INTACT_REGISTER, 7);
	struct intact_recorder *a = intact_history_recorder(h), *b = intact_history_recorder(h);
	intact_invoke(a, INTACT_READ, 0);
	intact_return(a, 7);
	intact_invoke_cas(a, 7, 8);
	intact_invoke(b, INTACT_READ, 0);
	intact_return(b, 8);
	intact_return(a, 1);
	CHECK_EQ(intact_history_check(h), INTACT_HOLDS);
	intact_invoke_cas(b, 8, 9); /* fails, so the value was not 8 */
	intact_return(b, 0);
	CHECK_EQ(intact_history_check(h), INTACT_VIOLATED);
	intact_history_free(h);
}

static void test_open_and_misuse(void)
{
	struct intact_history *h = intact_history_new(INTACT_STACK, 0);
	struct intact_recorder *a = intact_history_recorder(h), *b = intact_history_recorder(h);
	CHECK_EQ(intact_history_check(h), INTACT_HOLDS);
	intact_invoke(a, INTACT_PUSH, 1); /* never returns, but was seen */
	intact_invoke(b, INTACT_POP, 0);
	intact_return(b, 1);
	CHECK_EQ(intact_history_check(h), INTACT_HOLDS);
	intact_invoke(b, INTACT_PUSH, 5);
	intact_cancel(b); /* it was full: nobody may pop 5 */
	CHECK_EQ(intact_history_check(h), INTACT_HOLDS);
	intact_invoke(b, INTACT_POP, 0);
	intact_return(b, 5);
	CHECK_EQ(intact_history_check(h), INTACT_VIOLATED);
	intact_invoke(a, INTACT_PUSH, 2);
	CHECK_EQ(intact_history_check(h), INTACT_MISUSED);
	intact_history_free(h);
	h = intact_history_new(INTACT_MUTEX, 0);
	a = intact_history_recorder(h);
	intact_invoke(a, INTACT_PUSH, 1);
	intact_return(a, 0);
	CHECK_EQ(intact_history_check(h), INTACT_MISUSED);
	intact_history_free(h);
}

int main(void)
{
	RUN(test_threads);
	RUN(test_violation);
	RUN(test_register);
	RUN(test_open_and_misuse);
	return check_done();
}
