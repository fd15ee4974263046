/*
 * Faults pages on stacks that others have used before or use meanwhile, for the joiner: threads and
 * clones one after the other on one stack, children of vfork() on their parent's, signal handlers
 * on whatever was interrupted, a setcontext() that goes back again and again, C++20 coroutines.
 *Every way W has functions root_W, middle_W and leaf_W of its own, so a stack with leaf_W may hold
 *no function of another way, but for those of the interrupted code below a handler. Deep calls keep
 *24 KiB on the stack, so that a small dump ends within middle_W; every other call is shallow.
 *
 *	restacked ROUNDS
 */
#include <coroutine>
#include <csignal>
#include <cstdlib>
#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline))
#define STACK (256 << 10)

static char *page, *pages_end, stack[STACK] __attribute__((aligned(16)));

static NOINLINE void touch()
{
	if (page < pages_end)
		*(volatile char *)page = 1;
	page += 4096;
}

#define WAY(name)                                                                   \
	static NOINLINE int leaf_##name(int round)                                  \
	{                                                                           \
		touch();                                                            \
		return round + 1;                                                   \
	}                                                                           \
	static NOINLINE int middle_##name(int round)                                \
	{                                                                           \
		volatile char large[24 << 10];                                      \
		for (unsigned i = 0; i < sizeof(large); i += 1024)                  \
			large[i] = 1;                                               \
		return leaf_##name(round) + large[1024];                            \
	}                                                                           \
	static NOINLINE int root_##name(int round)                                  \
	{                                                                           \
		return (round & 1 ? leaf_##name(round) : middle_##name(round)) + 1; \
	}

WAY(threada)
WAY(threadb)
WAY(clonea)
WAY(cloneb)
WAY(vfork)
WAY(handler)
WAY(againa)
WAY(againb)
WAY(coroutinea)
WAY(coroutineb)

/* A coroutine that nobody asks for anything. */
struct task {
	struct promise_type {
		task get_return_object()
		{
			return {std::coroutine_handle<promise_type>::from_promise(*this)};
		}
		std::suspend_always initial_suspend()
		{
			return {};
		}
		std::suspend_always final_suspend() noexcept
		{
			return {};
		}
		void return_void()
		{
		}
		void unhandled_exception()
		{
		}
	};
	std::coroutine_handle<promise_type> handle;
};

static task coroutine_a()
{
	for (int i = 0;; i++) {
		root_coroutinea(i);
		co_await std::suspend_always{};
	}
}

static task coroutine_b()
{
	for (int i = 0;; i++) {
		root_coroutineb(i);
		co_await std::suspend_always{};
	}
}

static void *run_thread_a(void *)
{
	for (int i = 0; i < 4; i++)
		root_threada(i);
	return nullptr;
}

static void *run_thread_b(void *)
{
	for (int i = 0; i < 4; i++)
		root_threadb(i);
	return nullptr;
}

static int run_clone_a(void *)
{
	for (int i = 0; i < 4; i++)
		root_clonea(i);
	return 0;
}

static int run_clone_b(void *)
{
	for (int i = 0; i < 4; i++)
		root_cloneb(i);
	return 0;
}

static void on_signal(int)
{
	static int round;

	root_handler(round++);
}

static NOINLINE void start_thread(int i)
{
	pthread_attr_t attr;
	pthread_t thread;

	pthread_attr_init(&attr);
	pthread_attr_setstack(&attr, stack, STACK);
	pthread_create(&thread, &attr, i & 1 ? run_thread_a : run_thread_b, nullptr);
	pthread_join(thread, nullptr);
}

static NOINLINE void start_clone(int i)
{
	waitpid(clone(i & 1 ? run_clone_a : run_clone_b, stack + STACK, CLONE_VM | SIGCHLD,
		      nullptr),
		nullptr, 0);
}

static NOINLINE void start_vfork()
{
	pid_t child = vfork();

	if (!child) {
		for (int i = 0; i < 4; i++)
			root_vfork(i);
		_exit(0);
	}
	waitpid(child, nullptr, 0);
}

static NOINLINE void go_back(int round)
{
	volatile int times = 0;
	ucontext_t here;

	getcontext(&here);
	times = times + 1;
	if (times <= 4) {
		times & 1 ? root_againa(round + times / 2) : root_againb(round + times / 2);
		setcontext(&here);
	}
}

int main(int argc, char **argv)
{
	size_t size = (size_t)64 << 20;
	int rounds = argc > 1 ? atoi(argv[1]) : 100;
	task a = coroutine_a(), b = coroutine_b();

	page = (char *)mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0);
	madvise(page, size, MADV_NOHUGEPAGE);
	pages_end = page + size;
	signal(SIGUSR1, on_signal);
	for (int i = 0; i < rounds; i++) {
		rand() & 1 ? a.handle.resume() : b.handle.resume();
		raise(SIGUSR1);
		go_back(i);
		if (i % 10)
			continue;
		start_thread(i / 10);
		start_clone(i / 10);
		start_vfork();
	}
	return 0;
}
