/* A string is appended to by two threads.
 * intact: race s */
#include <mutex>
#include <thread>
#include <string>
#include "race.h"
static std::mutex m;
std::string s;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) s += 'a'; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) s += 'b'; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
