/* A static variable of a function is guarded; what it points to is not.
 * intact: race heap */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
struct object { volatile int n; object() : n(1) {} };
static object &get() { static object o; return o; }
static volatile int y;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) get().n = 2; /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) y = get().n; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
