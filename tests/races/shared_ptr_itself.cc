/* The count of a shared_ptr is atomic, the pointer is not.
 * intact: race p */
#include <mutex>
#include <thread>
#include <memory>
#include "race.h"
static std::mutex m;
static std::shared_ptr<int> p = std::make_shared<int>(1);
int main()
{
	
	std::thread t([&] {
		{ FIX(std::lock_guard<std::mutex> g(m);) p = std::shared_ptr<int>(); /* @race */ }
		at(1);
	});
	std::thread u([&] {
		at(2);
		{ FIX(std::lock_guard<std::mutex> g(m);) std::shared_ptr<int> q = p; /* @race */ (void)q; }
	});
	t.join();
	u.join();
	return 0;
}
