/* A unique_ptr is reset while it is used.
 * intact: race p */
#include <mutex>
#include <thread>
#include <memory>
#include "race.h"
static std::mutex m;
static std::unique_ptr<int> p(new int(1));
static volatile int y;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) y = *p; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) p.reset(); /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
