/* A marked scope left by an exception ends there.
 * intact: none */
#include <intact/annotate.h>
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex m;
static int x;
static void once(bool fail)
{
	INTACT_ATOMIC("once");
	std::lock_guard<std::mutex> g(m);
	x++;
	if (fail)
		throw std::runtime_error("fail");
}
int main()
{
	auto work = [] {
		for (int i = 0; i < 20; i++) {
			try {
				once(i % 2 == 0);
			} catch (const std::runtime_error &) {
			}
		}
	};
	std::thread a(work), b(work);
	a.join();
	b.join();
	return x == 40 ? 0 : 1;
}
