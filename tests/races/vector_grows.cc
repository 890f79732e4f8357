/* A vector grows while it is read.
 * intact: race v */
#include <mutex>
#include <thread>
#include <vector>
#include "race.h"
static std::mutex m;
std::vector<int> v(1);
static volatile int y;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) v.push_back(1); /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) y = v[0]; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
