/*
 * Calls three functions of a memory file with a counting event of the perf PMU "uprobe" on each.
 * One begins with an instruction that the kernel emulates, one with an instruction that it
 * single-steps, and one has a return probe. The price is measured in the fastest of several
 * batches.
 */
#include "record/probes/probe_price.h"

#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "record/open/perf_event.h"
#include "record/plan/block_rate.h"
#include "record/proc/procfs.h"

#define PMU "/sys/bus/event_source/devices/uprobe"

enum {
	PAGE = 4096,
	BATCHES = 10,
	CALLS = 200,	  /* per batch: 4 ms if a stop costs 20 us */
	RETURN_PROBE = 1, /* bit in attr.config */
};

enum function {
	EMULATED,
	STEPPED,
	RETURNS,
	FUNCTIONS
};

static const uint8_t codes[FUNCTIONS][3] = {
	[EMULATED] = {0x55, 0x5d, 0xc3}, /* push %rbp; pop %rbp; ret */
	[STEPPED] = {0x85, 0xff, 0xc3},	 /* test %edi,%edi; ret */
	[RETURNS] = {0x55, 0x5d, 0xc3},
};

#define OFFSET(function) ((size_t)(function)*64)

/* Creates the file and maps it at *code. Returns its descriptor, or -1. */
static int make_code(const uint8_t **code)
{
	int fd = memfd_create("mtrec-price", MFD_CLOEXEC);
	uint8_t bytes[PAGE] = {0};
	void *mapped = MAP_FAILED;

	for (size_t i = 0; i < FUNCTIONS; i++)
		memcpy(bytes + OFFSET(i), codes[i], sizeof(codes[i]));
	if (fd >= 0 && write(fd, bytes, PAGE) == PAGE)
		mapped = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	if (mapped != MAP_FAILED) {
		*code = mapped;
		return fd;
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

static uint64_t now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

/* Returns seconds per call in the fastest batch. */
static double call(const uint8_t *code, enum function function)
{
	void (*called)(void);
	const void *at = code + OFFSET(function);
	uint64_t least = UINT64_MAX;

	memcpy(&called, &at, sizeof(called));
	for (int batch = 0; batch < BATCHES; batch++) {
		uint64_t start = now(), took;

		for (int i = 0; i < CALLS; i++)
			called();
		took = now() - start;
		least = took < least ? took : least;
	}
	return (double)least / CALLS / 1e9;
}

/* Returns the seconds that a probe adds to a call; 0 if the probe cannot be set. */
static double price(const struct mt_perf_features *features, uint32_t type, int file,
		    const uint8_t *code, enum function function)
{
	char path[64];
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = function == RETURNS ? RETURN_PROBE : 0,
		.config1 = (uintptr_t)path,  /* uprobe_path */
		.config2 = OFFSET(function), /* probe_offset */
	};
	double plain = call(code, function), probed;
	int event;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	event = mt_perf_open(&attr, 0, -1, features);
	if (event < 0)
		return 0;
	probed = call(code, function);
	close(event);
	return probed > plain ? probed - plain : 0;
}

bool mt_stop_prices_measure(const struct mt_perf_features *features, struct mt_stop_prices *out)
{
#ifdef __x86_64__
	MT_CLEANUP_FREE char *type = mt_read_textf(NULL, "%s/type", PMU);
	double prices[FUNCTIONS] = {0};
	const uint8_t *code;
	int file = type ? make_code(&code) : -1;
	bool all = file >= 0;

	for (size_t i = 0; i < FUNCTIONS && all; i++) {
		prices[i] = price(features, (uint32_t)strtoul(type, NULL, 10), file, code,
				  (enum function)i);
		all = prices[i] > 0;
	}
	if (file >= 0) {
		munmap((void *)(uintptr_t)code, PAGE);
		close(file);
	}
	if (!all || prices[RETURNS] <= prices[EMULATED])
		return false;
	*out = (struct mt_stop_prices){
		.emulated = prices[EMULATED],
		.stepped = prices[STEPPED],
		.returned = prices[RETURNS] - prices[EMULATED],
	};
	return true;
#else
	(void)features;
	(void)out;
	return false;
#endif
}
