/*
 * sqlite_load: a fixed amount of work for SQLite's amalgamation from several
 * threads, for run_report.py: connections of their own to one shared cache, one
 * connection that all of them use, tables that are made and dropped. In memory, so
 * that nothing waits for a disk.
 *
 *     sqlite_load [THREADS [ROUNDS]]
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "sqlite3.h"

static const char shared[] = "file:load?mode=memory&cache=shared";
static sqlite3 *common;
static int rounds = 300;

static void run(sqlite3 *db, const char *text)
{
	int rc, tries = 0;
	do
		rc = sqlite3_exec(db, text, NULL, NULL, NULL);
	while ((rc & 0xff) == SQLITE_BUSY || ((rc & 0xff) == SQLITE_LOCKED && ++tries < 20));
}

static void *work(void *arg)
{
	int me = (int)(size_t)arg;
	sqlite3 *own;
	char text[256];
	if (sqlite3_open_v2(shared, &own, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL))
		exit(2);
	for (int i = 0; i < rounds; i++) {
		snprintf(text, sizeof text, "insert into t values (%d, %d, 'thread %d')", i * 64 + me, i, me);
		run(i % 2 ? own : common, text);
		snprintf(text, sizeof text, "select sum(b), count(*), max(c) from t where a %% 7 = %d", i % 7);
		run(i % 3 ? common : own, text);
		snprintf(text, sizeof text, "create table if not exists u%d (x); insert into u%d values (%d); drop table u%d", me, me, i, me);
		if (i % 20 == 0)
			run(common, text);
		sqlite3_soft_heap_limit64(i % 2 ? 1 << 24 : 1 << 25);
	}
	sqlite3_close(own);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t t[64];
	int n = argc > 1 ? atoi(argv[1]) : 4;
	if (argc > 2)
		rounds = atoi(argv[2]);
	if (n < 1 || n > 64 || rounds < 1)
		return 2;
	sqlite3_config(SQLITE_CONFIG_SERIALIZED);
	if (sqlite3_open_v2(shared, &common, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI, NULL))
		return 2;
	run(common, "create table t (a integer primary key, b, c)");
	for (int i = 0; i < n; i++)
		if (pthread_create(&t[i], NULL, work, (void *)(size_t)i))
			return 2;
	for (int i = 0; i < n; i++)
		pthread_join(t[i], NULL);
	sqlite3_close(common);
	return 0;
}
