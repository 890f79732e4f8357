/* Exceptions leave functions without their exit; blame stays right.
 * intact: find increment predicted
 * explore: none -- its threads never overlap */
#include <mutex>
#include <stdexcept>
#include <thread>
static std::mutex m;
static int x;
static void throws(int depth)
{
	std::lock_guard<std::mutex> g(m);
	if (depth >= 0)
		throw std::runtime_error("out");
}
static void deep(int n)
{
	if (n)
		deep(n - 1);
	else
		throws(n);
}
static void tries()
{
	try {
		deep(5);
	} catch (const std::exception &) {
	}
}
static int get()
{
	std::lock_guard<std::mutex> g(m);
	return x;
} /* @commit */
static void set(int v)
{
	std::lock_guard<std::mutex> g(m); /* @violation */
	x = v;
}
static void increment()
{ /* @entered */
	set(get() + 1);
}
int main()
{
	for (int i = 0; i < 2; i++) {
		std::thread t([] {
			tries();
			increment();
			tries();
		});
		t.join();
	}
	return x == 2 ? 0 : 1;
}
