/*
 * check_transactions: records what two clients do to a database, and asks which isolation level that was.
 *
 *     cc check_transactions.c $(pkg-config --cflags --libs intact) -o check_transactions
 *     ./check_transactions serializable          (write skew: exit code 1)
 *     ./check_transactions snapshot-isolation    (exit code 0)
 *
 * Two doctors are on call, keys 1 and 2. Each looks whether the other one is, and goes home.
 */
#include <intact/txn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	struct intact_txns *h = intact_txns_new();
	struct intact_session *alice = h ? intact_txns_session(h) : NULL;
	struct intact_session *bob = h ? intact_txns_session(h) : NULL;
	if (!alice || !bob)
		return 3;
	intact_txn_begin(alice);
	intact_txn_begin(bob);
	intact_txn_read_none(alice, 2); /* nobody changed it: Bob is on call */
	intact_txn_read_none(bob, 1);
	intact_txn_write(alice, 1, 10); /* Alice goes */
	intact_txn_write(bob, 2, 20);   /* and so does Bob */
	intact_txn_commit(alice);
	intact_txn_commit(bob);
	enum intact_verdict v = intact_txns_check(h, argc > 1 ? argv[1] : NULL);
	printf("%s", intact_txns_report(h));
	intact_txns_free(h);
	return (int)v;
}
