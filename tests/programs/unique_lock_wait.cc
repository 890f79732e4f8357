/* A blocking queue with a predicate wait.
 * intact: none */
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
class Queue {
	std::mutex m;
	std::condition_variable c;
	std::deque<int> q;
public:
	void push(int v) {
		std::lock_guard<std::mutex> g(m);
		q.push_back(v);
		c.notify_one();
	}
	int pop() {
		std::unique_lock<std::mutex> g(m);
		c.wait(g, [&] { return !q.empty(); });
		int v = q.front();
		q.pop_front();
		return v;
	}
};
int main()
{
	Queue q;
	int sum = 0;
	std::thread a([&] { for (int i = 1; i <= 50; i++) q.push(i); });
	std::thread b([&] { for (int i = 1; i <= 50; i++) sum += q.pop(); });
	a.join();
	b.join();
	return sum == 1275 ? 0 : 1;
}
