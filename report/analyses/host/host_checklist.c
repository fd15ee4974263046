/*
 * --host: a checklist of the host's memory: utilisation, saturation and errors of memory, swap,
 * each cgroup and the kernel itself. A row has a question, its figure, the figure's source, and a
 * verdict. Data that was not recorded has a row, too.
 */
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/strings.h"
#include "report/account/call.h"
#include "report/analyses/analyses.h"
#include "report/analyses/host/oom_kills.h"
#include "report/blocks/blocks.h"
#include "report/gauges/gauge_log.h"
#include "report/gauges/gauge_sum.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/sums/sum_table.h"
#include "report/tables/facts.h"
#include "report/tables/text.h"

#define MEMORY "meminfo MemTotal"
#define NO_PRESSURE "none in /proc: CONFIG_PSI, and psi=1 at boot"
#define NO_EDAC "none in /sys: no driver of EDAC"
#define IN_LOG "the kernel's log alone: dmesg"
#define FAILURES "mtrec -e memory"
#define CGROUP_KILLS "cgroup oom_kills "
#define NO_LIMIT (-1.0)
#define STALE_NS 500000000   /* reading all gauges once takes less time */
#define WORTH_REPORTING 0.01 /* difference of the largest and last figure, as part of the whole */

enum kind {
	UTILISATION,
	SATURATION,
	ERRORS,
};

/* The meaning of a figure, and the part of its course that the limit applies to. */
enum measure {
	BYTES,	       /* the largest value; as a share of the whole, if there is one */
	LOAD,	       /* hundredths; the largest value */
	RATE,	       /* the fastest change of a count, per second */
	KIB,	       /* RATE in KiB */
	WAITED,	       /* the fastest change in microseconds per second, in percent */
	COUNT,	       /* the change of a count */
	KILLS,	       /* change of the count of OOM kills, from their events if recorded */
	FAILED_CALLS,  /* number of sampled system calls, not a gauge */
	FAILED_BLOCKS, /* failed calls of allocators */
};

struct check {
	const char *resource;
	enum kind kind;
	const char *question;
	const char *formula; /* of gauges (gauge_sum.h), or the event; NULL: never recorded */
	const char *whole;   /* of BYTES, or NULL */
	enum measure measure;
	double limit;	     /* figures above it get a verdict; NO_LIMIT: none do */
	const char *missing; /* source to record for an unknown figure; NULL: none in this kernel */
};

static const struct check checks[] = {
	{"memory", UTILISATION, "used", "meminfo MemTotal - MemAvailable", MEMORY, BYTES, 0.9,
	 NULL},
	{"memory", UTILISATION, "free", "meminfo MemFree", MEMORY, BYTES, NO_LIMIT, NULL},
	{"memory", UTILISATION, "buffers and cache", "meminfo Buffers + Cached + SReclaimable?",
	 MEMORY, BYTES, NO_LIMIT, NULL},
	{"memory", UTILISATION, "anonymous", "meminfo AnonPages", MEMORY, BYTES, NO_LIMIT, NULL},
	{"memory", UTILISATION, "shared, tmpfs", "meminfo Shmem", MEMORY, BYTES, NO_LIMIT, NULL},
	{"memory", UTILISATION, "dirty or under writeback", "meminfo Dirty + Writeback", MEMORY,
	 BYTES, 0.2, NULL},
	{"memory", UTILISATION, "committed", "meminfo Committed_AS", "meminfo CommitLimit", BYTES,
	 NO_LIMIT, NULL},
	{"memory", SATURATION, "load average", "loadavg 1", NULL, LOAD, NO_LIMIT, NULL},
	{"memory", SATURATION, "some tasks stalled", "pressure memory some", NULL, WAITED, 10,
	 NO_PRESSURE},
	{"memory", SATURATION, "all tasks stalled", "pressure memory full", NULL, WAITED, 2,
	 NO_PRESSURE},
	{"memory", SATURATION, "direct reclaim scans",
	 "vmstat pgscan_direct* - pgscan_direct_throttle?", NULL, RATE, 0, NULL},
	{"memory", SATURATION, "kswapd scans", "vmstat pgscan_kswapd*", NULL, RATE, NO_LIMIT, NULL},
	{"memory", SATURATION, "reclaimed", "vmstat pgsteal_kswapd* + pgsteal_direct*", NULL, RATE,
	 NO_LIMIT, NULL},
	{"memory", SATURATION, "allocation stalls", "vmstat allocstall*", NULL, RATE, 0, NULL},
	{"memory", SATURATION, "refaults", "vmstat workingset_refault*", NULL, RATE, 1000, NULL},
	{"memory", SATURATION, "major faults", "vmstat pgmajfault", NULL, RATE, 100, NULL},
	{"memory", SATURATION, "faults", "vmstat pgfault", NULL, RATE, NO_LIMIT, NULL},
	{"memory", SATURATION, "pages freed", "vmstat pgfree", NULL, RATE, NO_LIMIT, NULL},
	{"memory", SATURATION, "paged in", "vmstat pgpgin", NULL, KIB, NO_LIMIT, NULL},
	{"memory", SATURATION, "paged out", "vmstat pgpgout", NULL, KIB, NO_LIMIT, NULL},
	{"memory", ERRORS, "OOM kills", "vmstat oom_kill", NULL, KILLS, 0, NULL},
	{"memory", ERRORS, "mmap, mremap failed", "calls with ENOMEM", NULL, FAILED_CALLS, 0,
	 FAILURES},
	{"memory", ERRORS, "malloc failed", "calls that gave NULL", NULL, FAILED_BLOCKS, 0,
	 "mtrec -e malloc"},
	{"memory", ERRORS, "pages with bad memory", "meminfo HardwareCorrupted", NULL, BYTES, 0,
	 NULL},
	{"memory", ERRORS, "ECC errors, corrected", "edac ce_count", NULL, COUNT, 0, NO_EDAC},
	{"memory", ERRORS, "ECC errors, uncorrected", "edac ue_count", NULL, COUNT, 0, NO_EDAC},
	{"swap", UTILISATION, "used", "meminfo SwapTotal - SwapFree", "meminfo SwapTotal", BYTES,
	 0.8, NULL},
	{"swap", SATURATION, "swapped in", "vmstat pswpin", NULL, RATE, 10, NULL},
	{"swap", SATURATION, "swapped out", "vmstat pswpout", NULL, RATE, 10, NULL},
	{"swap", ERRORS, "device errors", NULL, NULL, COUNT, 0, IN_LOG},
	{"kernel", UTILISATION, "slab", "meminfo Slab", MEMORY, BYTES, 0.25, NULL},
	{"kernel", UTILISATION, "slab, not reclaimable", "meminfo SUnreclaim", MEMORY, BYTES, 0.1,
	 NULL},
	{"kernel", UTILISATION, "page tables", "meminfo PageTables", MEMORY, BYTES, 0.05, NULL},
	{"kernel", UTILISATION, "stacks", "meminfo KernelStack", MEMORY, BYTES, 0.05, NULL},
	{"kernel", UTILISATION, "vmalloc", "meminfo VmallocUsed", MEMORY, BYTES, 0.1, NULL},
	{"kernel", UTILISATION, "per CPU", "meminfo Percpu", MEMORY, BYTES, 0.05, NULL},
	{"kernel", SATURATION, "slabs scanned", "vmstat slabs_scanned", NULL, RATE, NO_LIMIT, NULL},
	{"kernel", SATURATION, "compaction stalls", "vmstat compact_stall", NULL, RATE, 0, NULL},
	{"kernel", SATURATION, "compaction failures", "vmstat compact_fail", NULL, RATE, 0, NULL},
	{"kernel", SATURATION, "huge page fallbacks", "vmstat thp_fault_fallback", NULL, RATE, 0,
	 NULL},
	{"kernel", ERRORS, "failed allocations", NULL, NULL, COUNT, 0, IN_LOG},
};

/* Checks of each swap area and each cgroup: formula and whole are prefixes of names of gauges. */
static const struct check area_checks[] = {
	{"swap", UTILISATION, "area used", "swap used ", "swap size ", BYTES, 0.9, NULL},
};
static const struct check cgroup_checks[] = {
	{"cgroup", UTILISATION, "used", "cgroup usage ", "cgroup limit ", BYTES, 0.9, NULL},
	{"cgroup", SATURATION, "some tasks stalled", "cgroup pressure ", NULL, WAITED, 10, NULL},
	{"cgroup", SATURATION, "at its limit", "cgroup failures ", NULL, RATE, 0, NULL},
	{"cgroup", ERRORS, "OOM kills", CGROUP_KILLS, NULL, KILLS, 0, NULL},
};
static const struct check killed_cgroup = {"cgroup", ERRORS, "OOM kills", "oom:mark_victim ",
					   NULL,     COUNT,  0,		  NULL};
static const struct check no_cgroup = {
	"cgroup", UTILISATION, "used", NULL,
	NULL,	  BYTES,       0,      "no process in a cgroup with an account of memory",
};
enum {
	KEY_VERDICT,
	KEY_QUESTION,
	KEY_FIGURE,
	KEY_FILE, /* this key and the next two are for programs; merged for several recordings */
	KEY_KIND,
	KEY_UNIT,
	KEY_SOURCE,
	KEYS
};

static const struct mt_key_column key_columns[KEYS] = {
	[KEY_VERDICT] = {"verdict", MT_KEY_STRING}, [KEY_QUESTION] = {"question", MT_KEY_STRING},
	[KEY_FIGURE] = {"figure", MT_KEY_STRING},   [KEY_FILE] = {"recording", MT_KEY_STRING},
	[KEY_KIND] = {"kind", MT_KEY_STRING},	    [KEY_UNIT] = {"unit", MT_KEY_STRING},
	[KEY_SOURCE] = {"source", MT_KEY_STRING},
};

enum {
	VALUE_FIRST,
	VALUE_LAST,
	VALUE_MOST,
	VALUE_RATE,
	VALUE_FASTEST,
	VALUE_WHOLE,
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	[VALUE_FIRST] = {"first", ""},	     [VALUE_LAST] = {"last", ""},
	[VALUE_MOST] = {"most", ""},	     [VALUE_RATE] = {"per_second", ""},
	[VALUE_FASTEST] = {"fastest", "/s"}, [VALUE_WHOLE] = {"whole", ""},
};

/* OOM kills of processes of one cgroup, by their events. */
struct cgroup_kills {
	uint32_t recording, cgroup; /* string id */
	double count;
};

struct host {
	struct mt_session *session;
	struct mt_gauge_log *gauges;
	struct mt_sum_table *table;
	uint32_t recording;
	uint64_t last_gauge;		 /* time of the recording's last gauge, ns */
	bool narrow;			 /* failed calls were recorded separately */
	bool wide;			 /* all calls, failed or not, were recorded */
	double narrow_calls, wide_calls; /* failed calls of all recordings */
	double failed_blocks;
	bool kills_recorded;
	MT_ARRAY(struct cgroup_kills) kills;
};

/* ---- Figures ---- */

struct figure {
	struct mt_gauge_course course, whole;
	bool has_whole;
	bool stale; /* not in the last gauges: the cgroup was removed */
};

static struct mt_snippet rate_text(double rate)
{
	struct mt_snippet out = mt_text_count(rate < 10 ? rate : round(rate));

	if (rate > 0 && rate < 10)
		snprintf(out.text, sizeof(out.text), "%.2g", rate);
	return out;
}

static void describe_bytes(const struct figure *figure, char *out, size_t size)
{
	const struct mt_gauge_course *course = &figure->course;
	double whole = figure->whole.last;
	struct mt_snippet now = mt_text_bytes(course->last);

	if (figure->has_whole && !whole)
		snprintf(out, size, "none");
	else if (figure->has_whole)
		snprintf(out, size, "%s of %s, %s", now.text, mt_text_bytes(whole).text,
			 mt_text_percent(course->last, whole).text);
	else
		snprintf(out, size, "%s", now.text);
	if (course->most - course->last > WORTH_REPORTING * (whole > 0 ? whole : course->most))
		snprintf(out + strlen(out), size - strlen(out), ", most %s",
			 mt_text_bytes(course->most).text);
}

static void describe_rate(const struct mt_gauge_course *course, const char *unit, char *out,
			  size_t size)
{
	if (course->last == course->first)
		snprintf(out, size, "0");
	else
		snprintf(out, size, "%s %s/s, most %s", rate_text(course->per_second).text, unit,
			 rate_text(course->fastest).text);
}

static void describe(const struct check *check, const struct figure *figure, char *out, size_t size)
{
	const struct mt_gauge_course *course = &figure->course;

	switch (check->measure) {
	case BYTES:
		describe_bytes(figure, out, size);
		return;
	case LOAD:
		snprintf(out, size, "%.2f, most %.2f", course->last / 100, course->most / 100);
		return;
	case RATE:
		describe_rate(course, "", out, size);
		return;
	case KIB:
		describe_rate(course, "KiB", out, size);
		return;
	case WAITED:
		snprintf(out, size, "%s of the time, most %s",
			 mt_text_percent(course->per_second, 1e6).text,
			 mt_text_percent(course->fastest, 1e6).text);
		return;
	case COUNT:
	case KILLS:
	case FAILED_CALLS:
	case FAILED_BLOCKS:
		snprintf(out, size, "%s", mt_text_count(course->last - course->first).text);
		if (course->first)
			snprintf(out + strlen(out), size - strlen(out), ", %s before",
				 mt_text_count(course->first).text);
	}
}

/* ---- Verdicts ---- */

static double judged(const struct check *check, const struct figure *figure)
{
	const struct mt_gauge_course *course = &figure->course;

	switch (check->measure) {
	case BYTES:
		if (!figure->has_whole)
			return course->most;
		return figure->whole.last > 0 ? course->most / figure->whole.last : 0;
	case LOAD:
		return course->most;
	case RATE:
	case KIB:
		return course->fastest;
	case WAITED:
		return course->fastest / 1e4;
	case COUNT:
	case KILLS:
	case FAILED_CALLS:
	case FAILED_BLOCKS:
		return course->last - course->first;
	}
	return 0;
}

static const char *verdict_of(const struct check *check, const struct figure *figure)
{
	static const char *const words[] = {"high", "saturated", "errors"};

	if (check->limit == NO_LIMIT || (check->whole && !figure->has_whole))
		return "-";
	return judged(check, figure) > check->limit ? words[check->kind]
	       : figure->stale			    ? "not known"
						    : "ok";
}

/* ---- Rows ---- */

static uint64_t intern(const struct host *host, const char *text)
{
	return mt_strings_add(mt_session_strings(host->session), text);
}

static void put_check(const struct host *host, const struct check *check, const char *source,
		      const struct figure *figure)
{
	static const char *const kinds[] = {"utilisation", "saturation", "errors"};
	static const char *const units[] = {
		[BYTES] = "B", [LOAD] = "1/100",    [RATE] = "",
		[KIB] = "KiB", [WAITED] = "us",	    [COUNT] = "",
		[KILLS] = "",  [FAILED_CALLS] = "", [FAILED_BLOCKS] = ""};
	const struct mt_facts *facts = mt_session_facts(host->session);
	struct mt_value values[VALUES];
	char text[160] = "-", question[80];

	snprintf(question, sizeof(question), "%s: %s", check->resource, check->question);
	for (size_t i = 0; i < VALUES; i++)
		values[i] = mt_value_exact(NAN);
	if (figure) {
		describe(check, figure, text, sizeof(text));
		if (figure->stale)
			snprintf(text + strlen(text), sizeof(text) - strlen(text),
				 ", not read at the end");
		values[VALUE_FIRST] = mt_value_exact(figure->course.first);
		values[VALUE_LAST] = mt_value_exact(figure->course.last);
		values[VALUE_MOST] = mt_value_exact(figure->course.most);
		if (check->measure != BYTES && check->measure != LOAD) {
			values[VALUE_RATE] = mt_value_exact(figure->course.per_second);
			values[VALUE_FASTEST] = mt_value_exact(figure->course.fastest);
		}
		if (figure->has_whole)
			values[VALUE_WHOLE] = mt_value_exact(figure->whole.last);
	}
	const uint64_t keys[KEYS] = {
		[KEY_VERDICT] = intern(host, figure ? verdict_of(check, figure) : "not known"),
		[KEY_QUESTION] = intern(host, question),
		[KEY_FIGURE] = intern(host, text),
		[KEY_FILE] = intern(host, facts->recordings.items[host->recording].file),
		[KEY_KIND] = intern(host, kinds[check->kind]),
		[KEY_UNIT] = intern(host, units[check->measure]),
		[KEY_SOURCE] = intern(host, source),
	};

	mt_sum_table_add(host->table, keys, values);
}

static void put_unknown(const struct host *host, const struct check *check)
{
	char source[100];

	if (check->missing) {
		put_check(host, check, check->missing, NULL);
		return;
	}
	snprintf(source, sizeof(source), "not recorded, or not in this kernel: %s", check->formula);
	put_check(host, check, source, NULL);
}

static bool find_course(const struct host *host, const char *formula, struct mt_gauge_course *out)
{
	struct mt_gauge_sum sum;

	if (!mt_gauge_sum_find(host->gauges, mt_session_strings(host->session), host->recording,
			       formula, &sum))
		return false;
	*out = mt_gauge_sum_course(&sum);
	return true;
}

/* The gauge whose name is prefix and name; NULL if this recording has none. */
static const struct mt_host_gauge *find_gauge(const struct host *host, const char *prefix,
					      const char *name)
{
	const struct mt_host_gauge *gauge;
	size_t length = strlen(prefix);

	for (size_t i = 0; (gauge = mt_gauge_log_host(host->gauges, i)); i++) {
		const char *full = mt_strings_get(mt_session_strings(host->session), gauge->name);

		if (gauge->recording == host->recording && !strncmp(full, prefix, length) &&
		    !strcmp(full + length, name))
			return gauge;
	}
	return NULL;
}

/* Whether the whole time of the recording is selected. */
static bool is_whole(const struct host *host)
{
	return !mt_session_selection(host->session)->time.given;
}

/* The course of a count of events, whose fastest change is unknown. */
static struct mt_gauge_course course_of(const struct host *host, double count)
{
	const struct mt_facts_recording *recording =
		&mt_session_facts(host->session)->recordings.items[host->recording];
	double seconds = recording->end > recording->start
				 ? (double)(recording->end - recording->start) / 1e9
				 : 0;

	return (struct mt_gauge_course){
		.last = count,
		.most = count,
		.per_second = seconds > 0 && is_whole(host) ? count / seconds : NAN,
		.fastest = NAN,
	};
}

/* The number of kills by their events: those in a cgroup, or all if `cgroup` is NULL. */
static double kills_in(const struct host *host, const char *cgroup)
{
	double count = 0;

	for (size_t i = 0; i < host->kills.count; i++) {
		const struct cgroup_kills *kills = &host->kills.items[i];

		if (kills->recording == host->recording &&
		    (!cgroup ||
		     !strcmp(mt_strings_get(mt_session_strings(host->session), kills->cgroup),
			     cgroup)))
			count += kills->count;
	}
	return count;
}

/*
 * Sets the count of kills by the events, which report each kill in the selected time. The first or
 * last reading of a gauge may be before or after that time.
 */
static void count_kills(const struct host *host, struct mt_gauge_course *course, double kills)
{
	bool whole = is_whole(host);

	if (!host->kills_recorded || (whole && course->last - course->first >= kills))
		return;
	if (!whole)
		course->first = 0;
	else if (course->last >= kills)
		course->first = course->last - kills;
	course->last = course->first + kills;
	course->most = course->last;
	course->per_second = course_of(host, kills).per_second;
	course->fastest = NAN;
}

static void add_count(const struct host *host, const struct check *check, bool known, double count)
{
	const struct figure figure = {.course = course_of(host, count)};

	if (known)
		put_check(host, check, check->formula, &figure);
	else
		put_unknown(host, check);
}

static void add_check(const struct host *host, const struct check *check)
{
	struct figure figure = {0};

	if (check->measure == FAILED_CALLS) {
		add_count(host, check, host->narrow || host->wide,
			  host->narrow ? host->narrow_calls : host->wide_calls);
		return;
	}
	if (check->measure == FAILED_BLOCKS) {
		add_count(host, check, mt_preconditions_blocks(mt_session_facts(host->session)),
			  host->failed_blocks);
		return;
	}
	if (!check->formula || !find_course(host, check->formula, &figure.course)) {
		put_unknown(host, check);
		return;
	}
	if (check->measure == KILLS)
		count_kills(host, &figure.course, kills_in(host, NULL));
	figure.has_whole = check->whole && find_course(host, check->whole, &figure.whole);
	put_check(host, check, check->formula, &figure);
}

static void add_named(const struct host *host, const struct check *check, const char *name)
{
	const struct mt_host_gauge *gauge = find_gauge(host, check->formula, name), *whole;
	struct mt_gauge_sum sum;
	struct figure figure = {0};

	if (!gauge)
		return;
	sum = mt_gauge_sum_of(gauge);
	figure.course = mt_gauge_sum_course(&sum);
	figure.stale = is_whole(host) && gauge->series.last_time + STALE_NS < host->last_gauge;
	if (check->measure == KILLS)
		count_kills(host, &figure.course, kills_in(host, name));
	whole = check->whole ? find_gauge(host, check->whole, name) : NULL;
	if (whole) {
		sum = mt_gauge_sum_of(whole);
		figure.whole = mt_gauge_sum_course(&sum);
		figure.has_whole = true;
	}
	put_check(host, check, mt_strings_get(mt_session_strings(host->session), gauge->name),
		  &figure);
}

/*
 * Adds the rows of a group of named items, item by item. The names come from the gauges of the
 * first check.
 */
static void add_all_named(const struct host *host, const struct check *these, size_t count,
			  const struct check *none)
{
	const struct mt_host_gauge *gauge;
	size_t length = strlen(these->formula);
	bool any = false;

	for (size_t i = 0; (gauge = mt_gauge_log_host(host->gauges, i)); i++) {
		const char *name = mt_strings_get(mt_session_strings(host->session), gauge->name);

		if (gauge->recording != host->recording || strncmp(name, these->formula, length))
			continue;
		for (size_t j = 0; j < count; j++)
			add_named(host, &these[j], name + length);
		any = true;
	}
	if (!any && none)
		put_check(host, none, none->missing, NULL);
}

/* Adds OOM kills of cgroups that were created and removed between two gauges. */
static void add_killed(const struct host *host)
{
	for (size_t i = 0; i < host->kills.count; i++) {
		const struct cgroup_kills *kills = &host->kills.items[i];
		const char *path = mt_strings_get(mt_session_strings(host->session), kills->cgroup);
		const struct figure figure = {.course = course_of(host, kills->count)};
		char source[PATH_MAX + 32];

		if (kills->recording != host->recording || !*path ||
		    find_gauge(host, CGROUP_KILLS, path))
			continue;
		snprintf(source, sizeof(source), "%s%s", killed_cgroup.formula, path);
		put_check(host, &killed_cgroup, source, &figure);
	}
}

static uint64_t last_gauge(const struct host *host)
{
	const struct mt_host_gauge *gauge;
	uint64_t last = 0;

	for (size_t i = 0; (gauge = mt_gauge_log_host(host->gauges, i)); i++) {
		if (gauge->recording == host->recording && gauge->series.last_time > last)
			last = gauge->series.last_time;
	}
	return last;
}

static void add_recording(struct host *host)
{
	host->last_gauge = last_gauge(host);
	for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++)
		add_check(host, &checks[i]);
	add_all_named(host, area_checks, 1, NULL);
	add_all_named(host, cgroup_checks, sizeof(cgroup_checks) / sizeof(*cgroup_checks),
		      &no_cgroup);
	add_killed(host);
}

/* ---- Reading ---- */

static bool is_failure(const char *event)
{
	const char *filter = strchr(event, '/');

	return filter && !strcmp(filter, MT_FAILED_CALLS);
}

static bool is_map_exit(const char *event)
{
	enum mt_vm_call_kind kind;

	return mt_vm_call_moment(event, &kind) == MT_MOMENT_EXIT &&
	       (kind == MT_VM_MMAP || kind == MT_VM_MREMAP);
}

/*
 * Decides which events report failed calls: if some record them separately, the others would count
 * them twice.
 */
static void find_failures(struct host *host)
{
	const struct mt_facts *facts = mt_session_facts(host->session);

	for (size_t i = 0; i < facts->events.count; i++) {
		host->narrow |= is_failure(facts->events.items[i].name);
		host->wide |= is_map_exit(facts->events.items[i].name);
		host->kills_recorded |= mt_oom_recorded(&facts->events.items[i]);
	}
}

static void count_blocks(void *context, const struct mt_blocks_space *space,
			 const struct mt_origin *origin, enum mt_block_anomaly anomaly,
			 uint64_t calls)
{
	struct host *host = context;

	(void)space;
	(void)origin;
	host->failed_blocks += anomaly == MT_ANOMALY_FAILED ? (double)calls : 0;
}

static void count_kill(struct host *host, uint32_t recording, uint32_t cgroup)
{
	struct cgroup_kills *kills = host->kills.items;

	while (kills < host->kills.items + host->kills.count &&
	       (kills->recording != recording || kills->cgroup != cgroup))
		kills++;
	if (kills == host->kills.items + host->kills.count) {
		kills = mt_array_push(&host->kills);
		*kills = (struct cgroup_kills){.recording = recording, .cgroup = cgroup};
	}
	kills->count++;
}

static void take(void *context, const struct mt_session_sample *sample)
{
	struct host *host = context;
	const char *event = mt_session_facts(host->session)->events.items[sample->event].name;
	struct mt_oom_victim victim;
	int64_t result;

	if (is_failure(event))
		host->narrow_calls += sample->weight;
	else if (is_map_exit(event) && mt_vm_call_result(sample->kernel, &result) &&
		 result == -ENOMEM)
		host->wide_calls += sample->weight;
	else if (mt_oom_victim(host->session, sample, &victim))
		count_kill(host, sample->recording, victim.cgroup);
}

/* Reads the gauges of the host and failed calls in one pass. */
static struct mt_error *read_session(struct host *host)
{
	const struct mt_blocks_options options = {.at = {.when = MT_AT_END},
						  .alongside = true,
						  .anomaly = count_blocks,
						  .context = host};
	struct mt_blocks *blocks = mt_blocks_begin(host->session, &options);
	struct mt_error *err;

	host->gauges = mt_gauge_log_listen(host->session);
	err = mt_session_read(host->session, take, host);
	find_failures(host);
	mt_blocks_end(blocks);
	mt_blocks_destroy(blocks);
	if (!err)
		mt_gauge_log_finish(host->gauges);
	return err;
}

static void host_deinit(struct host *host)
{
	mt_gauge_log_destroy(host->gauges);
	mt_sum_table_destroy(host->table);
	mt_array_deinit(&host->kills);
}

static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	MT_CLEANUP(host_deinit) struct host host = {.session = session};
	struct mt_error *err = read_session(&host);
	const struct mt_facts *facts = mt_session_facts(session);
	const struct mt_table shape = {
		.name = analysis->name,
		.keys = key_columns,
		.key_count = KEYS,
		.values = value_columns,
		.value_count = VALUES,
		.quiet_keys = 1u << KEY_KIND | 1u << KEY_UNIT |
			      (facts->recordings.count > 1 ? 0 : 1u << KEY_FILE),
		.quiet_values = (1u << VALUES) - 1,
		.strings = mt_session_strings(session),
	};

	(void)request;
	if (err)
		return err;
	if (!mt_gauge_log_host(host.gauges, 0))
		return mt_error_create(MT_ERR_NOT_FOUND, "no gauges of the host in it: another "
							 "program recorded it");
	host.table = mt_sum_table_create(&shape);
	for (; host.recording < facts->recordings.count; host.recording++)
		add_recording(&host);
	*out = mt_sum_table_table(MT_TAKE(host.table));
	return NULL;
}

const struct mt_analysis mt_analysis_host = {
	.name = "host",
	.help = "checklist: use, waits, errors of the host's memory",
	.rare = true,
	.groups = true,
	.judges = true,
	.states = true,
	.record = "memory",
	.output = "table",
	.run = run,
};
