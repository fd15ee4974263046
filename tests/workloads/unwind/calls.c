/*
 * Calls through the PLT (lazily resolved, if linked that way), through pointers, into rare code of
 * the C library, and into the vdso.
 */
#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static int compare(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void at_end(void)
{
	char text[32];

	snprintf(text, sizeof(text), "%d", (int)strlen(getenv("PATH") ? getenv("PATH") : ""));
}

int main(void)
{
	int values[] = {5, 3, 8, 1, 9, 2}, key = 8;
	struct timespec now;
	struct timeval tv;
	char text[64];

	atexit(at_end);
	qsort(values, 6, sizeof(values[0]), compare);
	if (!bsearch(&key, values, 6, sizeof(values[0]), compare))
		return 1;
	clock_gettime(CLOCK_MONOTONIC, &now);
	gettimeofday(&tv, NULL);
	snprintf(text, sizeof(text), "%s %f %ld", "text", pow(2.5, values[1]), (long)now.tv_sec);
	free(strdup(text));
	return getppid() == 0;
}
