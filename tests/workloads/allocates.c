/*
 * Calls each function of an allocator as often as the argument says, and frees all blocks. Prints
 * nothing, because stdio allocates.
 */
#include <malloc.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static void *volatile kept;
static volatile size_t too_large = (size_t)PTRDIFF_MAX + 1;

static void round_of_all(void)
{
	void *block = NULL;

	kept = malloc(100);
	free(kept);
	kept = calloc(3, 50);
	kept = realloc(kept, 5000);
	kept = reallocarray(kept, 10, 1000);
	free(kept);
	kept = aligned_alloc(64, 256);
	free(kept);
	kept = memalign(128, 300);
	free(kept);
	if (!posix_memalign(&block, 64, 1024))
		kept = block;
	free(kept);
	kept = malloc(too_large); /* fails */
	free(kept);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 0;

	for (int i = 0; i < rounds; i++)
		round_of_all();
	return 0;
}
