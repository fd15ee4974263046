/*
 * A server with a bounded cache and a session store that leaks, both through malloc: lru_server
 * SECONDS SEED..., a process a seed, all at the same time. The seed decides how many threads serve,
 * how large values and sessions are, how many bytes the cache may hold, and how soon it is full;
 * it always is by the middle of the time. The cache drops what was used least recently.
 */
#include <malloc.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#define NOINLINE __attribute__((noinline))

/* Keeps a call from becoming a jump, so that each function has its frame. */
#define KEEP_FRAME() asm volatile("" ::: "memory")

enum {
	TICKS = 400,
};

/* What the seed decides. */
struct Plan {
	unsigned threads;
	size_t value_least, value_most, session, cap;
	double full_at; /* share of the time */
	std::mt19937 random;

	explicit Plan(unsigned seed) : random(seed)
	{
		static const size_t sizes[][2] = {{300, 3000}, {3000, 30000}, {30000, 100000}, {100000, 400000}};
		const size_t *size = sizes[pick(0, 3)];

		threads = pick(0, 1) ? 1 : (unsigned)pick(2, 4);
		value_least = size[0];
		value_most = size[1];
		session = pick(0, 3) ? pick(500, 8000) : pick(140000, 200000);
		cap = pick(2, 5) << 20;
		full_at = (double)pick(10, 50) / 100;
	}

	size_t pick(size_t least, size_t most)
	{
		return std::uniform_int_distribution<size_t>(least, most)(random);
	}
};

static NOINLINE char *xmalloc(size_t size)
{
	char *block = static_cast<char *>(malloc(size));

	if (!block)
		_exit(1);
	memset(block, 1, size);
	KEEP_FRAME();
	return block;
}

class Cache {
	struct Entry {
		unsigned key;
		size_t size;
		char *value;
	};
	std::list<Entry> entries; /* most recently used first */
	std::unordered_map<unsigned, std::list<Entry>::iterator> by_key;
	size_t held = 0, cap;
	std::mutex lock;

	void drop_oldest()
	{
		held -= entries.back().size;
		free(entries.back().value);
		by_key.erase(entries.back().key);
		entries.pop_back();
	}

    public:
	explicit Cache(size_t bytes) : cap(bytes)
	{
	}

	/* True where the key was there. */
	bool use(unsigned key)
	{
		std::lock_guard<std::mutex> guard(lock);
		auto found = by_key.find(key);

		if (found == by_key.end())
			return false;
		entries.splice(entries.begin(), entries, found->second);
		return true;
	}

	NOINLINE void cache_store(unsigned key, size_t size)
	{
		std::lock_guard<std::mutex> guard(lock);

		while (held + size > cap && !entries.empty())
			drop_oldest();
		entries.push_front({key, size, xmalloc(size)});
		by_key[key] = entries.begin();
		held += size;
		KEEP_FRAME();
	}
};

class Sessions {
	std::vector<char *> kept;
	std::mutex lock;

    public:
	size_t count()
	{
		return kept.size();
	}

	NOINLINE void session_open(size_t size)
	{
		std::lock_guard<std::mutex> guard(lock);

		kept.push_back(xmalloc(size));
		KEEP_FRAME();
	}
};

/* What one thread does: values into the cache at an even pace, and now and then a session. */
static NOINLINE void serve(Plan plan, unsigned number, double seconds, Cache &cache, Sessions &sessions)
{
	auto began = std::chrono::steady_clock::now();
	double value = (double)(plan.value_least + plan.value_most) / 2;
	double a_tick = (double)plan.cap / value / (plan.full_at * TICKS) / plan.threads, due = 0;
	unsigned keys = (unsigned)(3 * (double)plan.cap / value) + 1;

	plan.random.seed(plan.random() + number);
	for (int tick = 0; tick < TICKS; tick++) {
		for (due += a_tick; due >= 1; due--) {
			unsigned key = (unsigned)plan.pick(0, keys);

			free(xmalloc(plan.pick(100, 4000))); /* the request */
			if (!cache.use(key))
				cache.cache_store(key, plan.pick(plan.value_least, plan.value_most));
		}
		if (plan.session < 100000 ? tick % 2 == 0 : tick % 20 == 0)
			sessions.session_open(plan.session);
		std::this_thread::sleep_until(began + std::chrono::duration<double>(seconds * (tick + 1) / TICKS));
	}
	KEEP_FRAME();
}

/* What glibc says of its heaps (mapped, by mappings of single blocks, and free inside), and what the sessions asked for. */
static void tell_heap(unsigned seed, size_t sessions, size_t bytes)
{
	struct mallinfo2 info = mallinfo2();

	printf("seed%u heaps %zu mappings %zu free %zu sessions %zu of %zu\n", seed, info.arena, info.hblkhd, info.fordblks, sessions, bytes);
	fflush(stdout);
}

static int run(unsigned seed, double seconds)
{
	Plan plan(seed);
	Cache cache(plan.cap);
	Sessions sessions;
	std::vector<std::thread> threads;

	prctl(PR_SET_NAME, ("seed" + std::to_string(seed)).c_str());
	for (unsigned i = 1; i < plan.threads; i++)
		threads.emplace_back(serve, plan, i, seconds, std::ref(cache), std::ref(sessions));
	serve(plan, 0, seconds, cache, sessions);
	for (auto &thread : threads)
		thread.join();
	tell_heap(seed, sessions.count(), sessions.count() * plan.session);
	_exit(0);
}

int main(int argc, char **argv)
{
	double seconds = argc > 2 ? atof(argv[1]) : 0;
	int status, failed = 0;

	if (seconds <= 0) {
		fprintf(stderr, "lru_server SECONDS SEED...\n");
		return 2;
	}
	for (int i = 2; i < argc; i++) {
		pid_t child = fork();

		if (!child)
			run((unsigned)strtoul(argv[i], nullptr, 10), seconds);
		failed |= child < 0;
	}
	while (wait(&status) > 0)
		failed |= status != 0;
	return failed;
}
