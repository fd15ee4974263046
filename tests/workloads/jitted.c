/*
 * Makes code in anonymous memory and names it in /tmp/perf-PID.map, as a just-in-time compiler
 * does. The argument is the number of pages that the code touches.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE 4096

/* movb $1,(%rdi); ret */
static const unsigned char touch[] = {0xc6, 0x07, 0x01, 0xc3};

int main(int argc, char **argv)
{
	size_t pages = argc > 1 ? strtoul(argv[1], NULL, 10) : 10;
	unsigned char *code =
		mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *data = mmap(NULL, pages * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			  -1, 0);
	void (*volatile call)(char *at);
	char path[64];
	FILE *map;

	snprintf(path, sizeof(path), "/tmp/perf-%d.map", (int)getpid());
	map = fopen(path, "w");
	if (code == MAP_FAILED || data == MAP_FAILED || !map)
		return 1;
	memcpy(code + 64, touch, sizeof(touch));
	fprintf(map, "%lx 100 overwritten\n", (unsigned long)code);
	fprintf(map, "%lx %zx jitted touch of pages\n", (unsigned long)(code + 64), sizeof(touch));
	fclose(map);
	if (mprotect(code, PAGE, PROT_READ | PROT_EXEC))
		return 1;
	code += 64;
	memcpy((void *)&call, &code, sizeof(code));
	madvise(data, pages * PAGE, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < pages; i++)
		call(data + i * PAGE);
	if (argc > 2)
		sleep((unsigned int)strtoul(argv[2], NULL, 10));
	return 0;
}
