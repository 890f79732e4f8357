/* Two threads insert into a map.
 * intact: race heap */
#include <mutex>
#include <thread>
#include <map>
#include "race.h"
static std::mutex m;
std::map<int, int> v;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) v[1] = 1; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) v[2] = 2; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
