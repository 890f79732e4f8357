/* A std::optional.
 * intact: race o */
#include <mutex>
#include <thread>
#include <optional>
#include "race.h"
static std::mutex m;
static std::optional<int> o;
static volatile int y;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) o = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) if (o) /* @race */ y = *o; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
