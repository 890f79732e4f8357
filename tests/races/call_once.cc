/* Made once by hand, or by std::call_once.
 * intact: race x,made */
#include <mutex>
#include <thread>
#include "race.h"
static std::mutex m;
static volatile int x;
static std::once_flag once;
RACY(static volatile bool made;)
static void get()
{
	FIX(std::call_once(once, [] { x = 1; });)
	RACY(if (!made) { /* @race */)
		RACY(x = 1; /* @race */)
		RACY(made = true; /* @race */)
	RACY(})
	x; /* @race */
}
int main()
{
	(void)&once;
	std::thread t([&] {
		get();
		at(1);
	});
	std::thread u([&] {
		at(2);
		get();
	});
	t.join();
	u.join();
	return 0;
}
