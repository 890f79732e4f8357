/* std::thread, without a lock.
 * intact: race x */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
int x;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) x = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) x = 2; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
