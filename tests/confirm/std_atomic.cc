/* confirm: finds raise_to -- a marked block compares and stores in two operations. */
#include <atomic>
#include <intact/annotate.h>
#include <thread>

static std::atomic<int> highest{0};

static void raise_to(int v)
{
	INTACT_ATOMIC("raise");
#ifdef FIXED
	int old = highest.load();
	while (old < v && !highest.compare_exchange_weak(old, v))
		;
#else
	if (highest.load() < v)
		highest.store(v);
#endif
}

int main()
{
	std::thread a([] { raise_to(5); }), b([] { raise_to(7); });
	a.join();
	b.join();
	return 0;
}
