/* An element of a vector.
 * intact: race heap */
#include <mutex>
#include <thread>
#include <vector>
#include "race.h"
static std::mutex m;
std::vector<int> v(8);
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) v[3] = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) v[3] = 2; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
