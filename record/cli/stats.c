/*
 * Formats the table of --stats (one line per ring, then the stages that all rings share), the
 * status line and the closing line.
 */
#include "record/cli/stats.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "formats/base/cleanup.h"
#include "record/proc/procfs.h"
#include "record/rings/drain.h"
#include "record/rings/event_set.h"
#include "record/rings/spool.h"
#include "record/rings/stream.h"

#define MB(bytes) ((double)(bytes) / 1e6)
#define MIB(bytes) ((double)(bytes) / (1 << 20))
#define SECONDS(ns) ((double)(ns) / 1e9)

static unsigned long long n(uint64_t number)
{
	return number;
}

/* Prints one ring's line and adds its counts to sum. */
static void print_ring(const struct mt_stats *stats, size_t cpu, enum mt_event_class class,
		       struct mt_stream_counts *sum, FILE *to)
{
	const struct mt_event_set_cpu *opened = &stats->opened->cpus.items[cpu];
	struct mt_stream_counts counts = {0}, *c = &counts;

	if (!mt_drain_class_counts(stats->drains[cpu], class, c))
		return;
	fprintf(to, "%5d %-5s %6.1f %6.1f %8llu %10llu %10llu %9.1f %9.1f %8llu %7llu %7llu\n",
		opened->cpu, class == MT_CLASS_RARE ? "rare" : "storm",
		MIB(opened->rings[class].size), MIB(c->ring_peak), n(c->passes), n(c->records),
		n(c->samples), MB(c->raw_bytes), MB(c->coded), n(c->lost), n(c->stalls),
		n(c->helped));
	sum->own += c->own;
	sum->left_out += c->left_out;
	sum->malformed += c->malformed;
	if (c->images > sum->images)
		sum->images = c->images;
}

/* Prints the rings and returns the sum of their counts. */
static struct mt_stream_counts print_rings(const struct mt_stats *stats, FILE *to)
{
	enum mt_priority lowest = MT_PRIORITY_REALTIME;
	struct mt_stream_counts sum = {0};
	uint64_t wakes = 0;

	fprintf(to, "%5s %-5s %6s %6s %8s %10s %10s %9s %9s %8s %7s %7s\n", "CPU", "ring", "MiB",
		"peak", "passes", "records", "samples", "raw MB", "coded MB", "lost", "stalls",
		"helped");
	for (size_t i = 0; i < stats->opened->cpus.count; i++) {
		enum mt_priority priority = mt_drain_priority(stats->drains[i]);

		for (int class = 0; class < MT_CLASSES; class ++)
			print_ring(stats, i, (enum mt_event_class) class, &sum, to);
		wakes += mt_drain_wakes(stats->drains[i]);
		lowest = priority > lowest ? priority : lowest;
	}
	fprintf(to,
		"drains     %s; %llu wake-ups; left out: %llu samples of others, %llu of our own; "
		"%llu odd records\n",
		mt_drain_priority_name(lowest), n(wakes), n(sum.left_out), n(sum.own),
		n(sum.malformed));
	return sum;
}

static void print_prefault(const struct mt_stats *stats, FILE *to)
{
	const struct mt_prefault_counts *h = &stats->prefault;

	if (stats->prefaulting)
		fprintf(to,
			"holes      %llu absent stack pages made present by reading a byte; "
			"%llu ends of stacks, %llu not to be read, %llu put off\n",
			n(h->faulted_in), n(h->ends), n(h->refused), n(h->put_off));
}

static void print_writer(const struct mt_stats *stats, FILE *to)
{
	const struct mt_writer_counts *w = &stats->pack.writer;

	fprintf(to,
		"writer     %llu chunks, %.1f MB -> %.1f MB; %llu stored; less compression than "
		"asked for: %llu fast, %llu none; %llu left out\n",
		n(w->chunks), MB(w->raw), MB(w->written), n(w->stored), n(stats->pack.fast),
		n(stats->pack.hurried - stats->pack.fast), n(w->left_out));
	fprintf(to, "           %.3f s compressing, %.3f s writing\n", SECONDS(w->pack_ns),
		SECONDS(w->write_ns));
}

static void print_stripped(const struct mt_stats *stats, FILE *to)
{
	const struct mt_strip_counts *s = &stats->pack.strip;
	double stacks = s->stacks ? (double)s->stacks : 1;

	if (!stats->pack.stripped)
		return;
	fprintf(to,
		"stripped   %llu stacks, %llu frames, %.1f %% complete, %.2f us a stack; %llu left "
		"out; %llu times before all maps were known\n",
		n(s->stacks), n(s->frames), 100 * (double)s->ends[MT_END_ROOT] / stacks,
		(double)(s->ns - s->images.ns) / 1e3 / stacks, n(s->left_out), n(s->early));
	fprintf(to,
		"           unwind tables of %zu images, %.1f of %.0f MiB, read in %.3f s; %zu not "
		"to be read, %zu times no room for them\n",
		s->images.read, MIB(s->images.bytes), MIB(stats->memory.tables),
		(double)s->images.ns / 1e9, s->images.missing, s->images.no_room);
}

static double cpu_seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec / 1e6;
}

/* Prints the CPU time of each kind of thread. The remaining time is startup and shutdown. */
static void print_threads(const struct mt_stats *stats, double all, FILE *to)
{
	double drains = 0, writer = SECONDS(stats->pack.cpu_ns);
	double carrying = SECONDS(stats->pack.carrying_cpu_ns), rest;

	for (size_t i = 0; i < stats->opened->cpus.count; i++)
		drains += SECONDS(mt_drain_cpu_ns(stats->drains[i]));
	rest = all - drains - writer - carrying;
	fprintf(to,
		"           of it drains %.3f s, writer %.3f s, carrying images %.3f s, "
		"the rest %.3f s\n",
		drains, writer, carrying, rest > 0 ? rest : 0);
}

static void print_process(const struct mt_stats *stats, FILE *to)
{
	struct rusage usage = {0};
	double user, system;
	size_t rings = 0;
	MT_CLEANUP_FREE char *status = mt_read_text("/proc/self/status", NULL);
	uint64_t most = 0;

	for (size_t i = 0; i < stats->opened->cpus.count; i++) {
		for (int class = 0; class < MT_CLASSES; class ++)
			rings += stats->opened->cpus.items[i].rings[class].size;
	}
	(void)mt_find_number(status, "VmHWM", &most);
	getrusage(RUSAGE_SELF, &usage);
	user = cpu_seconds(&usage.ru_utime);
	system = cpu_seconds(&usage.ru_stime);
	fprintf(to,
		"memory     %.1f MiB at most, of %.0f MiB and %.1f MiB of rings; %s; oom_score_adj "
		"%d\n",
		MIB(most), MIB(stats->memory.bytes), MIB(rings),
		stats->locked ? "locked" : "not locked", stats->oom_adj);
	fprintf(to, "CPU        %.3f s user, %.3f s system, %.2f %% of one; %ld + %ld switches\n",
		user, system, stats->seconds > 0 ? 100 * (user + system) / stats->seconds : 0,
		usage.ru_nvcsw, usage.ru_nivcsw);
	print_threads(stats, user + system, to);
}

char *mt_stats_text(const struct mt_stats *stats)
{
	char *text = NULL;
	size_t size;
	FILE *to = open_memstream(&text, &size);
	struct mt_stream_counts sum;

	if (!to)
		return NULL;
	sum = print_rings(stats, to);
	fprintf(to,
		"spool      %.0f MiB at most waited, of %.0f MiB; %u of %u stack images that a "
		"ring may have\n",
		MIB(stats->spool_peak), MIB(stats->memory.blocks * MT_SPOOL_BLOCK), sum.images,
		stats->memory.images);
	print_writer(stats, to);
	print_stripped(stats, to);
	print_prefault(stats, to);
	print_process(stats, to);
	fclose(to);
	return text;
}

/* Formats 60412 as 60,412. */
static const char *grouped(uint64_t n, char out[32])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)n), at = 0;

	for (int i = 0; i < length; i++) {
		if (i && (length - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
	return out;
}

/* Formats 1234567 as 1.2 MB. */
static const char *bytes_text(uint64_t bytes, char out[32])
{
	static const char *const units[] = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
	double scaled = (double)bytes;
	size_t unit = 0;

	for (; scaled >= 999.95; scaled /= 1000)
		unit++;
	snprintf(out, 32, unit ? "%.1f %s" : "%.0f %s", scaled, units[unit]);
	return out;
}

void mt_status_line(const struct mt_progress *progress, char out[MT_LINE_SIZE])
{
	char samples[32], lost[32], bytes[32];
	int at = snprintf(out, MT_LINE_SIZE, "%.0f s, %s samples, %s lost", progress->seconds,
			  grouped(progress->samples, samples), grouped(progress->lost, lost));

	if (progress->written)
		at += snprintf(out + at, (size_t)(MT_LINE_SIZE - at), ", file %s",
			       bytes_text(progress->written, bytes));
	if (progress->memory)
		snprintf(out + at, (size_t)(MT_LINE_SIZE - at), ", %s %s",
			 progress->of_host ? "host available" : "resident",
			 bytes_text(progress->memory, bytes));
}

void mt_closing_line(const struct mt_progress *progress, char out[MT_LINE_SIZE])
{
	char samples[32], lost[32], stacks[32], file[32];

	snprintf(out, MT_LINE_SIZE, "%.2f s, %s samples, stacks %s -> file %s, %s lost",
		 progress->seconds, grouped(progress->samples, samples),
		 bytes_text(progress->raw_bytes, stacks), bytes_text(progress->written, file),
		 grouped(progress->lost, lost));
}
