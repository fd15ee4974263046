/*
 * Changes its address space at random, by every system call that can change it, from several
 * threads that fill each other's holes, and copies /proc/self/maps to a file at times. The account
 * made from the recorded calls must equal these files.
 *
 *	ledger_truth FILE [CALLS [THREADS [SEED [CHECKPOINTS]]]]	(100000 4 1 20)
 *
 * The threads share an arena, in which they map, unmap, move and protect at random; only the kernel
 * touches its memory. They also use brk, the main thread's stack, and mappings that the kernel
 * places elsewhere. Children make some of the calls: children of fork, with a copy of the address
 * space; children of vfork, in the memory of their parent; and new processes of this program,
 * executed from a process or a thread.
 *
 * At a checkpoint all threads stop, and one of them makes these calls:
 *
 *	madvise(0x6d7472000000, N, -1)		N: the checkpoint's number, from 0
 *	writes FILE.N: a line "# checkpoint N pid P before T1 after T2" and then /proc/self/maps;
 *	       T1 and T2 are CLOCK_MONOTONIC in ns, taken before and after reading it
 *	madvise(0x6d7472000000, N, -2)
 *
 * Both calls fail with EINVAL on every kernel, and both are recorded. Children that copy or replace
 * the address space have their own checkpoints, before they end; the numbers come from the same
 * sequence. The first checkpoint of the main process, 0, is before its first call, and its last one
 * is after its last call. Writes to standard output:
 *
 *	pid P
 *	count CALL made N failed M	calls of process P between those two, markers included
 *	checkpoints N			all checkpoints, also of children, have numbers below N
 *
 * The program maps the files FILE.a, FILE.b and FILE.c; these remain when it ends, its shared
 * memory does not.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif
#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif
#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE 23
#endif

#define PAGE 4096ul
#define ARENA_PAGES 1024ul
#define GUARD_PAGES 128ul /* around the arena, which would be next to the main thread's TLS */
#define HEAP_PAGES 128ul
#define FILE_PAGES 64ul
#define MARKER 0x6d7472000000ul
#define THREADS_MAX 64
#define OUTSIDE_MAX 16
#define CHILD_STEPS 40
#define EXEC_STEPS 300

enum call {
	BRK,
	MMAP,
	MUNMAP,
	MREMAP,
	MPROTECT,
	MADVISE,
	SHMAT,
	SHMDT,
	CALLS
};

static const struct {
	const char *name;
	long number;
} calls[CALLS] = {
	{"brk", SYS_brk},	{"mmap", SYS_mmap},	    {"munmap", SYS_munmap},
	{"mremap", SYS_mremap}, {"mprotect", SYS_mprotect}, {"madvise", SYS_madvise},
	{"shmat", SYS_shmat},	{"shmdt", SYS_shmdt},
};

struct count {
	atomic_ulong made, failed;
};

struct world {
	const char *file, *program;
	unsigned long steps; /* of each thread between two checkpoints */
	unsigned checkpoints, threads;
	uint64_t seed;
	unsigned long arena, heap;
	int fds[3], segments[3];
	pthread_barrier_t barrier;
	atomic_uint next_checkpoint;
	struct count counts[CALLS];
};

/* A mapping that the kernel placed outside the arena: only its thread uses it. */
struct outside {
	unsigned long at, size;
	bool shm;
};

struct thread {
	struct world *world;
	unsigned number;
	uint64_t random;
	bool child; /* its calls are not counted for the main process */
	unsigned long shared, attached;
	struct outside outside[OUTSIDE_MAX];
	unsigned outsides, depth;
};

static uint64_t draw(struct thread *t, uint64_t below)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return (t->random >> 11) % below;
}

/* Makes and counts one call; returns the kernel's result. */
static long make(struct thread *t, enum call call, long a, long b, long c, long d, long e, long f)
{
	long result = syscall(calls[call].number, a, b, c, d, e, f);
	bool failed = call == BRK ? result != a : result == -1;

	if (!t->child) {
		t->world->counts[call].made++;
		t->world->counts[call].failed += failed;
	}
	return result;
}

static unsigned long somewhere(struct thread *t)
{
	return t->world->arena + draw(t, ARENA_PAGES) * PAGE;
}

/* A few pages, rarely many; never past the end of the arena. */
static unsigned long some_size(struct thread *t, unsigned long at)
{
	unsigned long room = (t->world->arena + ARENA_PAGES * PAGE - at) / PAGE;
	unsigned long pages = 1 + draw(t, draw(t, 8) ? 12 : 96);

	return (pages < room ? pages : room) * PAGE;
}

static int some_prot(struct thread *t)
{
	static const int prots[] = {PROT_NONE, PROT_READ, PROT_READ | PROT_WRITE,
				    PROT_READ | PROT_WRITE, PROT_READ | PROT_EXEC};

	return prots[draw(t, 5)];
}

static bool is_inside(const struct thread *t, unsigned long at)
{
	return at >= t->world->arena && at < t->world->arena + ARENA_PAGES * PAGE;
}

static void drop_outside(struct thread *t)
{
	struct outside *o = &t->outside[draw(t, t->outsides)];
	unsigned long half = o->size / PAGE / 2 * PAGE;

	if (o->shm) {
		make(t, SHMDT, (long)o->at, 0, 0, 0, 0, 0);
	} else if (half && draw(t, 2)) {
		make(t, MUNMAP, (long)(o->at + half), (long)(o->size - half), 0, 0, 0, 0);
		o->size = half;
		return;
	} else {
		make(t, MUNMAP, (long)o->at, (long)o->size, 0, 0, 0, 0);
	}
	*o = t->outside[--t->outsides];
}

/* Stores where the kernel has placed a mapping, so that the thread can remove it later. */
static void note_outside(struct thread *t, long at, unsigned long size, bool shm)
{
	if (at == -1 || is_inside(t, (unsigned long)at))
		return;
	if (t->outsides == OUTSIDE_MAX)
		drop_outside(t);
	if (t->outsides < OUTSIDE_MAX)
		t->outside[t->outsides++] = (struct outside){(unsigned long)at, size, shm};
}

static void map_anonymous(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at);
	int shared = draw(t, 6) ? MAP_PRIVATE : MAP_SHARED;
	long got =
		make(t, MMAP, (long)at, (long)size, some_prot(t),
		     shared | MAP_ANONYMOUS | MAP_FIXED | (draw(t, 8) ? 0 : MAP_NORESERVE), -1, 0);

	if (got != -1 && shared == MAP_SHARED)
		t->shared = at;
}

static void map_file(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at);
	int shared = draw(t, 2) ? MAP_PRIVATE : MAP_SHARED;
	int fd = draw(t, 32) ? t->world->fds[draw(t, 3)] : -1; /* -1: EBADF */
	long offset = (long)(draw(t, FILE_PAGES) * PAGE) + (draw(t, 32) ? 0 : 1);

	if (make(t, MMAP, (long)at, (long)size, some_prot(t), shared | MAP_FIXED, fd, offset) !=
		    -1 &&
	    shared == MAP_SHARED)
		t->shared = at;
}

/* Maps where the kernel chooses: in a hole, perhaps another thread's, or outside the arena. */
static void map_anywhere(struct thread *t)
{
	unsigned long hint = draw(t, 3) ? somewhere(t) : 0, size = (1 + draw(t, 6)) * PAGE;
	bool file = !draw(t, 4);
	long got = make(t, MMAP, (long)hint, (long)size - (draw(t, 4) ? 0 : 100), some_prot(t),
			MAP_PRIVATE | (file ? 0 : MAP_ANONYMOUS),
			file ? t->world->fds[draw(t, 3)] : -1, 0);

	note_outside(t, got, size, false);
}

static void map_hole_only(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at);

	make(t, MMAP, (long)at, (long)size, some_prot(t),
	     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
}

static void unmap(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at);

	if (!draw(t, 40))
		at += 8; /* EINVAL */
	else if (!draw(t, 40))
		size = 0; /* EINVAL */
	make(t, MUNMAP, (long)at, (long)size, 0, 0, 0, 0);
}

static void protect(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at);

	make(t, MPROTECT, (long)at, (long)size, some_prot(t) | (draw(t, 40) ? 0 : 0x100), 0, 0, 0);
}

static void advise(struct thread *t)
{
	static const int advices[] = {MADV_DONTNEED,	   MADV_FREE,	    MADV_HUGEPAGE,
				      MADV_NOHUGEPAGE,	   MADV_DONTFORK,   MADV_DOFORK,
				      MADV_POPULATE_WRITE, MADV_REMOVE,	    MADV_COLD,
				      MADV_WIPEONFORK,	   MADV_KEEPONFORK, 9999};
	unsigned long at = somewhere(t), size = some_size(t, at);

	make(t, MADVISE, (long)at, (long)size,
	     advices[draw(t, sizeof(advices) / sizeof(advices[0]))], 0, 0, 0);
}

static void move(struct thread *t)
{
	unsigned long at = somewhere(t), size = some_size(t, at), to = somewhere(t);
	unsigned long new_size = some_size(t, to);
	long got;

	switch (draw(t, 7)) {
	case 0: /* grows in place, if there is room */
		make(t, MREMAP, (long)at, PAGE, (long)(PAGE + new_size), 0, 0, 0);
		return;
	case 1:
		got = make(t, MREMAP, (long)at, (long)size, (long)(size + PAGE), MREMAP_MAYMOVE, 0,
			   0);
		note_outside(t, got, size + PAGE, false);
		return;
	case 2: /* shrinks, also over several regions */
		make(t, MREMAP, (long)at, (long)size, PAGE, draw(t, 2) ? MREMAP_MAYMOVE : 0, 0, 0);
		return;
	case 3:
		make(t, MREMAP, (long)at, (long)size, (long)new_size, MREMAP_MAYMOVE | MREMAP_FIXED,
		     (long)to, 0);
		return;
	case 4: /* keeps the size; moves several regions, if the kernel allows it */
		if (size < new_size)
			new_size = size;
		make(t, MREMAP, (long)at, (long)new_size, (long)new_size,
		     MREMAP_MAYMOVE | MREMAP_FIXED, (long)to, 0);
		return;
	case 5: /* a second mapping of shared memory */
		got = make(t, MREMAP, (long)t->shared, 0, (long)new_size,
			   MREMAP_MAYMOVE | (draw(t, 2) ? MREMAP_FIXED : 0), (long)to, 0);
		note_outside(t, got, new_size, false);
		return;
	default:
		size = (1 + draw(t, 3)) * PAGE;
		got = make(t, MREMAP, (long)at, (long)size, (long)size,
			   MREMAP_MAYMOVE | MREMAP_DONTUNMAP | (draw(t, 2) ? MREMAP_FIXED : 0),
			   (long)to, 0);
		note_outside(t, got, size, false);
	}
}

static void grow_heap(struct thread *t)
{
	unsigned long to = t->world->heap + draw(t, HEAP_PAGES * PAGE);

	if (!draw(t, 16))
		to = PAGE; /* refused: brk returns the current end */
	make(t, BRK, (long)to, 0, 0, 0, 0, 0);
}

static void attach(struct thread *t)
{
	unsigned number = (unsigned)draw(t, 3);
	unsigned long size = (2 + 3 * number) * PAGE, at = somewhere(t);
	int flags = (draw(t, 2) ? SHM_REMAP : 0) | (draw(t, 3) ? 0 : SHM_RDONLY);
	long got;

	if (!draw(t, 4))
		at = 0;
	else if (at + size > t->world->arena + ARENA_PAGES * PAGE)
		at -= size;
	got = make(t, SHMAT, t->world->segments[number], (long)at, at ? flags : flags & ~SHM_REMAP,
		   0, 0, 0);
	note_outside(t, got, size, true);
	if (got != -1 && is_inside(t, (unsigned long)got))
		t->attached = (unsigned long)got;
}

static void detach(struct thread *t)
{
	make(t, SHMDT, (long)(draw(t, 8) ? t->attached : somewhere(t)), 0, 0, 0, 0, 0);
}

static __attribute__((noinline)) void grow_stack(struct thread *t, unsigned depth)
{
	volatile char page[4 * PAGE];

	page[0] = (char)depth;
	if (depth)
		grow_stack(t, depth - 1);
	page[1] = page[0];
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void write_all(int fd, const char *bytes, size_t size)
{
	ssize_t n = 1;

	for (; size && n > 0; bytes += n, size -= (size_t)n)
		n = write(fd, bytes, size);
	if (size)
		_exit(3);
}

/* Uses neither malloc nor stdio, because both map memory. */
static void checkpoint(struct thread *t, unsigned number)
{
	static char maps[1 << 20];
	char name[4096], head[200];
	int from = open("/proc/self/maps", O_RDONLY | O_CLOEXEC), to;
	size_t size = 0;
	uint64_t before;
	ssize_t n;

	make(t, MADVISE, MARKER, number, -1, 0, 0, 0);
	before = now();
	while ((n = read(from, maps + size, sizeof(maps) - size)) > 0)
		size += (size_t)n;
	snprintf(head, sizeof(head), "# checkpoint %u pid %d before %llu after %llu\n", number,
		 getpid(), (unsigned long long)before, (unsigned long long)now());
	close(from);
	snprintf(name, sizeof(name), "%s.%u", t->world->file, number);
	to = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	write_all(to, head, strlen(head));
	write_all(to, maps, size);
	close(to);
	make(t, MADVISE, MARKER, number, -2, 0, 0, 0);
}

static void step(struct thread *t);

static void execute(const struct thread *t, unsigned number)
{
	char text[2][32];

	snprintf(text[0], sizeof(text[0]), "%u", number);
	snprintf(text[1], sizeof(text[1]), "%llu", (unsigned long long)t->random);
	execl(t->world->program, "ledger_truth", "--child", t->world->file, text[0], text[1],
	      (char *)NULL);
	_exit(4);
}

struct execution {
	struct thread *thread;
	unsigned number;
};

static void *execute_from_thread(void *argument)
{
	struct execution *execution = argument;

	execute(execution->thread, execution->number);
	return NULL;
}

static __attribute__((noreturn)) void child_main(struct thread *t, unsigned kind, unsigned number)
{
	struct execution execution = {t, number};
	pthread_t thread;

	t->child = true;
	if (kind == 1)
		execute(t, number);
	if (kind == 2 && !pthread_create(&thread, NULL, execute_from_thread, &execution))
		pthread_join(thread, NULL);
	for (int i = 0; i < CHILD_STEPS; i++)
		step(t);
	if (kind == 3)
		kill(getpid(), SIGKILL);
	checkpoint(t, number);
	_exit(0);
}

/*
 * Starts a child with a copy of the address space, which continues, executes, executes from a
 * thread, or is killed.
 */
static void fork_child(struct thread *t)
{
	unsigned kind = (unsigned)draw(t, 4), number = kind == 3 ? 0 : t->world->next_checkpoint++;
	pid_t pid = fork();

	if (!pid)
		child_main(t, kind, number);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* Runs in a child of vfork; a separate function, because the child uses the parent's stack. */
static __attribute__((noinline, noreturn)) void borrowed_memory(struct thread *t, bool executes,
								unsigned number)
{
	t->child = true;
	map_anonymous(t);
	unmap(t);
	protect(t);
	if (executes)
		execute(t, number);
	_exit(0);
}

/* Starts a child that works in the parent's memory with its own pid. */
static void vfork_child(struct thread *t)
{
	const bool executes = draw(t, 2);
	const unsigned number = executes ? t->world->next_checkpoint++ : 0;
	const pid_t pid = vfork();

	if (!pid)
		borrowed_memory(t, executes, number);
	t->child = false;
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

static void step(struct thread *t)
{
	static const struct {
		unsigned weight;
		void (*act)(struct thread *t);
	} acts[] = {{20, map_anonymous}, {10, map_file}, {8, map_anywhere}, {6, map_hole_only},
		    {18, unmap},	 {12, protect},	 {6, advise},	    {10, move},
		    {4, grow_heap},	 {3, attach},	 {3, detach}};
	unsigned at = (unsigned)draw(t, 100);

	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		if (at < acts[i].weight) {
			acts[i].act(t);
			return;
		}
		at -= acts[i].weight;
	}
}

static void rare_step(struct thread *t)
{
	if (!t->number && !draw(t, 50) && t->depth < 200)
		grow_stack(t, t->depth += 4);
	else if (draw(t, 2))
		fork_child(t);
	else
		vfork_child(t);
}

/* One thread writes the checkpoint while the others wait at the second barrier. */
static void meet(struct thread *t)
{
	pthread_barrier_wait(&t->world->barrier);
	if (!t->number)
		checkpoint(t, t->world->next_checkpoint++);
	pthread_barrier_wait(&t->world->barrier);
}

static void *thread_main(void *argument)
{
	struct thread *t = argument;

	meet(t);
	for (unsigned i = 1; i < t->world->checkpoints; i++) {
		for (unsigned long k = 0; k < t->world->steps; k++) {
			if (draw(t, 500))
				step(t);
			else
				rare_step(t);
		}
		meet(t);
	}
	return NULL;
}

static void must(bool good, const char *what)
{
	if (good)
		return;
	perror(what);
	exit(3);
}

static void set_up(struct world *world)
{
	char name[4096];
	void *volatile begun;

	for (int i = 0; i < 3; i++) {
		snprintf(name, sizeof(name), "%s.%c", world->file, 'a' + i);
		world->fds[i] = open(name, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
		must(world->fds[i] >= 0 &&
			     !ftruncate(world->fds[i], (off_t)(FILE_PAGES * PAGE * 2)),
		     name);
		world->segments[i] =
			shmget(IPC_PRIVATE, (2 + 3 * (size_t)i) * PAGE, IPC_CREAT | 0600);
		must(world->segments[i] >= 0, "shmget");
	}
	world->arena = (unsigned long)mmap(NULL, (ARENA_PAGES + 2 * GUARD_PAGES) * PAGE, PROT_NONE,
					   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(world->arena != (unsigned long)MAP_FAILED, "mmap");
	world->arena += GUARD_PAGES * PAGE;
	begun = malloc(64); /* malloc's heap is below the memory that we move */
	free(begun);
	world->heap = (unsigned long)sbrk(0);
}

static void tear_down(struct world *world)
{
	syscall(SYS_brk, world->heap);
	for (int i = 0; i < 3; i++)
		shmctl(world->segments[i], IPC_RMID, NULL);
}

static void seed_thread(struct thread *t, struct world *world, unsigned number)
{
	*t = (struct thread){.world = world, .number = number};
	t->random = (world->seed + 1) * 0x9e3779b97f4a7c15u ^ (number + 1) * 0xbf58476d1ce4e5b9u;
	t->attached = t->shared = world->arena;
}

/* Runs this program when a child executed it: one thread, its own arena, and one checkpoint. */
static int executed(struct world *world, unsigned number)
{
	static struct thread t;

	set_up(world);
	seed_thread(&t, world, 1);
	t.child = true;
	for (int i = 0; i < EXEC_STEPS; i++)
		step(&t);
	checkpoint(&t, number);
	tear_down(world);
	return 0;
}

static void run(struct world *world)
{
	static struct thread threads[THREADS_MAX];
	pthread_t handles[THREADS_MAX];

	for (unsigned i = 0; i < world->threads; i++)
		seed_thread(&threads[i], world, i);
	for (unsigned i = 1; i < world->threads; i++)
		must(!pthread_create(&handles[i], NULL, thread_main, &threads[i]),
		     "pthread_create");
	thread_main(&threads[0]);
	for (unsigned i = 1; i < world->threads; i++)
		pthread_join(handles[i], NULL);
}

static unsigned long number_at(int argc, char **argv, int at, unsigned long fallback)
{
	return argc > at ? strtoul(argv[at], NULL, 10) : fallback;
}

int main(int argc, char **argv)
{
	static struct world world;
	unsigned long total;

	world.program = "/proc/self/exe";
	if (argc == 5 && !strcmp(argv[1], "--child")) {
		world.file = argv[2];
		world.seed = strtoull(argv[4], NULL, 10);
		return executed(&world, (unsigned)strtoul(argv[3], NULL, 10));
	}
	total = number_at(argc, argv, 2, 100000);
	world.threads = (unsigned)number_at(argc, argv, 3, 4);
	world.seed = number_at(argc, argv, 4, 1);
	world.checkpoints = (unsigned)number_at(argc, argv, 5, 20);
	if (argc < 2 || !world.threads || world.threads > THREADS_MAX || world.checkpoints < 2)
		return 2;
	world.file = argv[1];
	world.steps = total / world.threads / (world.checkpoints - 1) + 1;
	must(!pthread_barrier_init(&world.barrier, NULL, world.threads), "barrier");
	set_up(&world);
	run(&world);
	tear_down(&world);
	printf("pid %d\n", getpid());
	for (int i = 0; i < CALLS; i++)
		printf("count %s made %lu failed %lu\n", calls[i].name, world.counts[i].made,
		       world.counts[i].failed);
	printf("checkpoints %u\n", world.next_checkpoint);
	return 0;
}
