// Two tests that pass nearly always. Explored, the second fails: what was there for empty() is gone for pop().
#include <deque>
#include <gtest/gtest.h>
#include <mutex>
#include <thread>

class Queue {
	std::mutex m;
	std::deque<int> items;

public:
	void push(int v)
	{
		std::lock_guard<std::mutex> g(m);
		items.push_back(v);
	}
	bool empty()
	{
		std::lock_guard<std::mutex> g(m);
		return items.empty();
	}
	int pop()
	{
		std::lock_guard<std::mutex> g(m);
		if (items.empty())
			return -1;
		int v = items.front();
		items.pop_front();
		return v;
	}
};

TEST(Queue, TwoPushes)
{
	Queue q;
	std::thread a([&] { q.push(1); }), b([&] { q.push(2); });
	a.join();
	b.join();
	EXPECT_EQ(q.pop() + q.pop(), 3);
}

TEST(Queue, TwoPops)
{
	Queue q;
	int got[2] = { 0, 0 };
	q.push(1);
	auto take = [&](int i) {
		if (!q.empty())
			got[i] = q.pop();
	};
	std::thread a(take, 0), b(take, 1);
	a.join();
	b.join();
	EXPECT_EQ(got[0] + got[1], 1);
}
