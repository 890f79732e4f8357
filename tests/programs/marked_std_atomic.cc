/* std::atomic: each operation is one step, the pair is not; += is one.
 * intact: find Counter::halve confirmed */
#include <atomic>
#include <intact/annotate.h>
#include <thread>
#include "sched.h"
struct Counter {
	std::atomic<long> n{ 8 };
	void add(long k)
	{
		INTACT_ATOMIC("add");
		n += k;
	}
	void halve()
	{
		INTACT_ATOMIC("halve");
		long v = n;
		at(1);
		at(3);
		n = v / 2; /* @violation */
	}
};
int main()
{
	static Counter c;
	std::thread t([] {
		while (sched_step < 1)
			sched_yield();
		c.add(100);
		at(2);
	});
	c.halve();
	t.join();
	return c.n == 4 ? 0 : 1;
}
