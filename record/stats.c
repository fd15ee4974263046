/* The table of --stats: one line a ring, then the stages that all share. */
#include "record/stats.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "formats/base/cleanup.h"
#include "record/procfs.h"
#include "record/spool.h"

#define MB(bytes) ((double)(bytes) / 1e6)
#define MIB(bytes) ((double)(bytes) / (1 << 20))

static unsigned long long n(uint64_t number)
{
	return number;
}

static void print_ring(const struct mt_stats_ring *ring, FILE *to)
{
	const struct mt_stream_counts *c = &ring->counts;

	fprintf(to, "%5d %-5s %6.1f %6.1f %8llu %10llu %10llu %9.1f %9.1f %8llu %7llu %7llu\n",
		ring->cpu, ring->class == MT_CLASS_RARE ? "rare" : "storm", MIB(ring->size),
		MIB(c->ring_peak), n(c->passes), n(c->records), n(c->samples), MB(c->raw_bytes),
		MB(c->coded), n(c->lost), n(c->stalls), n(c->helped));
}

static void print_rings(const struct mt_stats *stats, FILE *to)
{
	uint64_t own = 0, left_out = 0, odd = 0;

	fprintf(to, "%5s %-5s %6s %6s %8s %10s %10s %9s %9s %8s %7s %7s\n", "CPU", "ring", "MiB",
		"peak", "passes", "records", "samples", "raw MB", "coded MB", "lost", "stalls",
		"helped");
	for (size_t i = 0; i < stats->ring_count; i++) {
		print_ring(&stats->rings[i], to);
		own += stats->rings[i].counts.own;
		left_out += stats->rings[i].counts.left_out;
		odd += stats->rings[i].counts.odd;
	}
	fprintf(to,
		"drains     %s; %llu wake-ups; left out %llu samples of others, %llu of our own; "
		"%llu odd records\n",
		stats->priority, n(stats->wakes), n(left_out), n(own), n(odd));
}

static void print_writer(const struct mt_stats *stats, FILE *to)
{
	const struct mt_writer_counts *w = &stats->writer;

	fprintf(to,
		"writer     %llu chunks, %.1f MB -> %.1f MB; %llu stored; less compression than asked "
		"for: %llu fast, %llu none; %llu left out\n",
		n(w->chunks), MB(w->raw), MB(w->written), n(w->stored), n(stats->fast),
		n(stats->hurried - stats->fast), n(w->left_out));
	fprintf(to, "           %.3f s compressing, %.3f s writing\n", (double)w->pack_ns / 1e9,
		(double)w->write_ns / 1e9);
}

/* "VmHWM:   12345 kB" of our own status, in bytes. */
static uint64_t own_memory(const char *key)
{
	MT_CLEANUP_FREE char *status = mt_read_text("/proc/self/status", NULL);
	const char *at = status ? strstr(status, key) : NULL;

	return at ? strtoull(at + strlen(key), NULL, 10) << 10 : 0;
}

static double cpu_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

static void print_process(const struct mt_stats *stats, FILE *to)
{
	struct rusage usage = {0};
	double user, system;
	size_t rings = 0;

	for (size_t i = 0; i < stats->ring_count; i++)
		rings += stats->rings[i].size;
	getrusage(RUSAGE_SELF, &usage);
	user = cpu_seconds(&usage.ru_utime);
	system = cpu_seconds(&usage.ru_stime);
	fprintf(to,
		"memory     %.1f MiB at most, of %.0f MiB and %.1f MiB of rings; %s; oom_score_adj "
		"%d\n",
		MIB(own_memory("VmHWM:")), MIB(stats->memory.bytes), MIB(rings),
		stats->locked ? "locked" : "not locked", stats->oom_adj);
	fprintf(to, "CPU        %.3f s user, %.3f s system, %.2f %% of one; %ld + %ld switches\n",
		user, system, stats->seconds > 0 ? 100 * (user + system) / stats->seconds : 0,
		usage.ru_nvcsw, usage.ru_nivcsw);
}

void mt_stats_print(const struct mt_stats *stats, FILE *to)
{
	print_rings(stats, to);
	fprintf(to, "spool      %.0f MiB at most waited, of %.0f MiB; %u stack images a ring\n",
		MIB(stats->spool_peak), MIB(stats->memory.blocks * MT_SPOOL_BLOCK),
		stats->memory.images);
	print_writer(stats, to);
	print_process(stats, to);
}
