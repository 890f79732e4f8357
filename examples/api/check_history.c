/*
 * check_history: records what two clients see of a register, and asks whether it was atomic.
 *
 *     cc check_history.c $(pkg-config --cflags --libs intact) -o check_history
 *     ./check_history          (the second read sees the write: exit code 0)
 *     ./check_history stale    (it does not, though the write had returned: exit code 1)
 */
#include <intact/history.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct intact_history *h = intact_history_new(INTACT_REGISTER, 0);
	struct intact_recorder *writer = h ? intact_history_recorder(h) : NULL;
	struct intact_recorder *reader = h ? intact_history_recorder(h) : NULL;
	(void)argv;
	if (!writer || !reader)
		return 3;
	intact_invoke(writer, INTACT_WRITE, 1);
	intact_invoke(reader, INTACT_READ, 0); /* overlaps the write: 0 and 1 are both right */
	intact_return(reader, 0);
	intact_return(writer, 0);
	intact_invoke(reader, INTACT_READ, 0);
	intact_return(reader, argc > 1 ? 0 : 1);
	enum intact_verdict v = intact_history_check(h);
	printf("%s\n%s", v == INTACT_HOLDS ? "atomic" : "not atomic", intact_history_report(h));
	intact_history_free(h);
	return (int)v;
}
