/*
 * Makes code as a just-in-time compiler does and describes it in a jitdump: jitdumped PAGES [DIR]
 *
 * A function touches half of the pages, then another function replaces it at the same address and
 * touches the other half. A third function is moved. A fourth has unwind tables and no frame
 * pointer. All are called from this file. The dump, jit-PID.dump in DIR or the current directory,
 * has line numbers for the first two.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define PAGE 4096

enum record {
	LOAD,
	MOVE,
	DEBUG_INFO,
	CLOSE,
	UNWINDING_INFO
};

static int dump;
static uint64_t next_index = 1;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void put(const void *bytes, size_t size)
{
	if (write(dump, bytes, size) != (ssize_t)size)
		exit(1);
}

static void put_record(enum record id, size_t body, size_t more)
{
	struct {
		uint32_t id, size;
		uint64_t time;
	} prefix = {id, (uint32_t)(16 + body + more), now()};

	put(&prefix, sizeof(prefix));
}

static void open_dump(const char *dir)
{
	struct {
		uint32_t magic, version, size, machine, zero, pid;
		uint64_t time, flags;
	} header = {0x4A695444, 1, 40, 62, 0, (uint32_t)getpid(), now(), 0};
	char path[4096];

	snprintf(path, sizeof(path), "%s/jit-%d.dump", dir, (int)getpid());
	dump = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (dump < 0)
		exit(1);
	put(&header, sizeof(header));
	if (mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, dump, 0) == MAP_FAILED)
		exit(1);
}

static void put_load(const char *name, const unsigned char *code, size_t size)
{
	struct {
		uint32_t pid, tid;
		uint64_t vma, address, size, index;
	} body = {(uint32_t)getpid(), (uint32_t)gettid(), (uintptr_t)code, (uintptr_t)code, size,
		  next_index++};

	put_record(LOAD, sizeof(body) + strlen(name) + 1, size);
	put(&body, sizeof(body));
	put(name, strlen(name) + 1);
	put(code, size);
}

static void put_move(uint64_t index, const unsigned char *from, const unsigned char *to,
		     size_t size)
{
	struct {
		uint32_t pid, tid;
		uint64_t vma, from, to, size, index;
	} body = {(uint32_t)getpid(),
		  (uint32_t)gettid(),
		  (uintptr_t)to,
		  (uintptr_t)from,
		  (uintptr_t)to,
		  size,
		  index};

	put_record(MOVE, sizeof(body), 0);
	put(&body, sizeof(body));
}

/* Two lines: the second begins after the first instruction. */
static void put_lines(const unsigned char *code, const char *file, uint32_t line)
{
	struct {
		uint64_t address, count;
	} body = {(uintptr_t)code, 2};
	struct {
		uint64_t address;
		uint32_t line, discriminator;
	} entry = {(uintptr_t)code, line, 0};

	put_record(DEBUG_INFO, sizeof(body) + 2 * sizeof(entry) + strlen(file) + 1 + 2, 0);
	put(&body, sizeof(body));
	put(&entry, sizeof(entry));
	put(file, strlen(file) + 1);
	entry.address++;
	entry.line++;
	put(&entry, sizeof(entry));
	put("\xff", 2);
}

/*
 * Unwind tables of code whose first instruction alone changes the stack: sub $24, %rsp (4 bytes).
 */
static void put_unwind(size_t code_size)
{
	unsigned char tables[] = {
		/* CIE: zR, pc-relative 4 bytes; CFA is rsp + 8, the return address below it */
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 0x0c, 7, 8, 0x90, 1,
		0, 0,
		/* FDE: covers the code; after 4 bytes the CFA is rsp + 32 */
		20, 0, 0, 0, 28, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x44, 0x0e, 32, 0, 0, 0, 0, 0,
		0, 0, 0, /* terminator */
	};
	struct {
		uint64_t size, index_size, mapped;
	} body = {sizeof(tables), 0, 0};
	int32_t back = -(int32_t)((code_size + 7) / 8 * 8 + 32);

	memcpy(tables + 32, &back, 4);
	tables[36] = (unsigned char)code_size;
	put_record(UNWINDING_INFO, sizeof(body) + sizeof(tables), 0);
	put(&body, sizeof(body));
	put(tables, sizeof(tables));
}

/* push %rbp; mov %rsp, %rbp; movb $1, (%rdi); pop %rbp; ret */
static const unsigned char framed[] = {0x55, 0x48, 0x89, 0xe5, 0xc6, 0x07, 0x01, 0x5d, 0xc3};
/* sub $24, %rsp; xor %ebp, %ebp (rbp is saved in rdx); movb $1, (%rdi); mov %rdx, %rbp; add; ret */
static const unsigned char frameless[] = {0x48, 0x83, 0xec, 0x18, 0x48, 0x89, 0xea,
					  0x31, 0xed, 0xc6, 0x07, 0x01, 0x48, 0x89,
					  0xd5, 0x48, 0x83, 0xc4, 0x18, 0xc3};

static void put_code(unsigned char *at, const unsigned char *code, size_t size)
{
	unsigned char *page = at - (uintptr_t)at % PAGE;

	if (mprotect(page, PAGE, PROT_READ | PROT_WRITE))
		exit(1);
	memcpy(at, code, size);
	if (mprotect(page, PAGE, PROT_READ | PROT_EXEC))
		exit(1);
}

__attribute__((noinline)) static char *run(unsigned char *code, char *data, size_t pages)
{
	void (*volatile call)(char *at);

	memcpy((void *)&call, &code, sizeof(code));
	for (size_t i = 0; i < pages; i++, data += PAGE)
		call(data);
	return data;
}

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned char *code =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *data = mmap(NULL, 4 * pages * PAGE, PROT_READ | PROT_WRITE,
			  MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (code == MAP_FAILED || data == MAP_FAILED)
		return 1;
	madvise(data, 4 * pages * PAGE, MADV_NOHUGEPAGE);
	open_dump(argc > 2 ? argv[2] : ".");

	put_code(code, framed, sizeof(framed));
	put_lines(code, "first.js", 10);
	put_load("first at its place", code, sizeof(framed));
	data = run(code, data, pages);
	put_code(code, framed, sizeof(framed));
	put_lines(code, "second.js", 20);
	put_load("_ZN6second2atEv", code, sizeof(framed));
	data = run(code, data, pages);

	put_code(code + 128, framed, sizeof(framed));
	put_load("moved", code + 128, sizeof(framed));
	put_code(code, framed, sizeof(framed));
	put_move(next_index - 1, code + 128, code, sizeof(framed));
	data = run(code, data, pages);

	put_code(code + 256, frameless, sizeof(frameless));
	put_unwind(sizeof(frameless));
	put_load("frameless", code + 256, sizeof(frameless));
	run(code + 256, data, pages);
	put_record(CLOSE, 0, 0);
	if (argc > 3)
		sleep((unsigned int)strtoul(argv[3], NULL, 10));
	return 0;
}
