/* A virtual call while the object is destroyed.
 * intact: race heap */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
struct base { virtual ~base() { FIX() at_end(); } /* @race */ virtual void run() {} static void at_end() {} };
struct derived : base { volatile int n = 0; ~derived() { n = 1; } /* @race */ void run() { n++; } /* @race */ };
static base *volatile o = new derived;
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) o->run(); /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) delete o; /* @race */ }
	});
	t.join();
	u.join();
	return 0;
}
