/* Two lock_guards in two orders; in the twin one scoped_lock.
 * intact: locks lock order */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex a, b;
int main()
{
	std::thread t([] {
		{
			FIX(std::scoped_lock g(a, b);)
			RACY(std::lock_guard<std::mutex> g(a); /* @race */)
			RACY(std::lock_guard<std::mutex> h(b); /* @race */)
		}
		at(1);
	});
	std::thread u([] {
		at(2);
		FIX(std::scoped_lock g(b, a);)
		RACY(std::lock_guard<std::mutex> g(b); /* @race */)
		RACY(std::lock_guard<std::mutex> h(a); /* @race */)
	});
	t.join();
	u.join();
	return 0;
}
