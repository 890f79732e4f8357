/* confirm: finds drain -- a marked block reads and clears in two operations; what comes in between is lost. */
#include <atomic>
#include <intact/annotate.h>
#include <thread>

static std::atomic<int> pending{1};

static int drain()
{
	INTACT_ATOMIC("drain");
#ifdef FIXED
	return pending.exchange(0);
#else
	int n = pending.load();
	pending.store(0);
	return n;
#endif
}

static void add()
{
	pending.fetch_add(1);
}

int main()
{
	std::thread a([] { add(); drain(); }), b([] { add(); drain(); });
	a.join();
	b.join();
	return 0;
}
