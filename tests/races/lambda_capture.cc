/* A variable captured by reference.
 * intact: race heap */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;

int main()
{
	volatile int n = 0;
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) n++; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) n++; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
