// Much inlined code from few lines: templates, lambdas, local types, cold parts.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

namespace shop
{
template <int N> struct shelf {
	std::vector<std::string> names;
	std::map<std::string, int> places;

	int add(const std::string &name)
	{
		names.push_back(name + std::to_string(N));
		places[name] += N;
		std::sort(names.begin(), names.end(),
			  [](const auto &a, const auto &b) { return a.size() < b.size() || a < b; });
		return static_cast<int>(names.size());
	}
};

namespace
{
template <class F> int repeat(F f, int times)
{
	int sum = 0;

	for (int i = 0; i < times; i++)
		sum += f(i);
	return sum;
}
}

template <int N> __attribute__((noinline)) int fill(const std::string &name)
{
	struct counter {
		int at;

		__attribute__((noinline)) int next(int by)
		{
			auto step = [&](int more) __attribute__((noinline)) { return at += by + more + std::rand() % 2; };

			return step(by) + step(1);
		}
	};
	shelf<N> s;
	counter c{N};

	return repeat([&](int i) { return s.add(name.substr(static_cast<size_t>(i) % name.size())); }, 3) + c.next(N);
}
}

int main(int argc, char **argv)
{
	std::string name = argv[argc - 1];

	std::printf("%d\n", shop::fill<1>(name) + shop::fill<2>(name) + shop::fill<3>(name) + shop::fill<4>(name));
}
