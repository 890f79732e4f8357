/* set(get() + 1) with methods defined in the class, where they are inlined.
 * intact: find Counter::increment predicted
 * explore: none -- its threads never overlap */
#include <mutex>
#include <thread>
class Counter {
	std::mutex m;
	int x = 0;
public:
	int get() {
		std::lock_guard<std::mutex> g(m);
		return x;
	} /* @commit */
	void set(int v) {
		std::lock_guard<std::mutex> g(m); /* @violation */
		x = v;
	}
	void increment() { set(get() + 1); } /* @entered */
};
int main()
{
	Counter c;
	for (int i = 0; i < 2; i++) {
		std::thread t([&] { c.increment(); });
		t.join();
	}
	return c.get() == 2 ? 0 : 1;
}
