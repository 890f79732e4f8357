/* One section.
 * intact: none */
#include <mutex>
#include <thread>
class Counter {
	std::mutex m;
	int x = 0;
public:
	int get() {
		std::lock_guard<std::mutex> g(m);
		return x;
	}
	void increment() {
		std::lock_guard<std::mutex> g(m);
		x++;
	}
};
int main()
{
	Counter c;
	std::thread a([&] { for (int i = 0; i < 50; i++) c.increment(); });
	std::thread b([&] { for (int i = 0; i < 50; i++) c.increment(); });
	a.join();
	b.join();
	return c.get() == 100 ? 0 : 1;
}
