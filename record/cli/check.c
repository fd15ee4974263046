/* The rows of --check. */
#include "record/cli/check.h"

#include <linux/capability.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "formats/records/events.h"
#include "record/cli/host_events.h"
#include "record/open/limits.h"
#include "record/open/perf_event.h"
#include "record/proc/procfs.h"
#include "record/rings/ring_sizes.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoints.h"

#define WANTED_RINGS (MT_RING_STORM_MAX + MT_RING_RARE_MAX) /* bytes per CPU */

#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif

struct checker {
	struct mt_check *check;
	struct mt_host_events host;
	size_t cpus;
};

/* Adds a row. Takes ownership of found, cost and remedy. */
static void add(struct checker *checker, const char *what, enum mt_check_state state, char *found,
		char *cost, char *remedy)
{
	if (mt_array_append(&checker->check->rows,
			    (struct mt_check_row){what, state, found, cost, remedy}))
		return;
	free(found);
	free(cost);
	free(remedy);
}

/* Adds a row for an error, with its message and hint. Takes ownership of err. */
static void add_refused(struct checker *checker, const char *what, const char *cost,
			struct mt_error *err)
{
	add(checker, what, MT_CHECK_NO, mt_format("%s", err->message),
	    cost ? mt_format("%s", cost) : NULL, err->hint ? mt_format("%s", err->hint) : NULL);
	mt_error_destroy(err);
}

static void check_kernel(struct checker *checker)
{
	struct utsname name;
	MT_CLEANUP_FREE char *lockdown = mt_read_text("/sys/kernel/security/lockdown", NULL);
	bool closed = lockdown && strstr(lockdown, "[confidentiality]");

	if (!uname(&name))
		add(checker, "kernel", MT_CHECK_OK,
		    mt_format("%s, %s, %zu CPUs", name.release, name.machine, checker->cpus), NULL,
		    NULL);
	add(checker, "lockdown", closed ? MT_CHECK_NO : MT_CHECK_OK,
	    mt_format("%s", closed					  ? "confidentiality"
			    : lockdown && strstr(lockdown, "[integrity]") ? "integrity"
									  : "none"),
	    closed ? mt_format("perf events and tracefs are refused, to root too") : NULL,
	    closed ? mt_format("boot without lockdown=confidentiality") : NULL);
}

static void check_paranoid(struct checker *checker)
{
	long paranoid = mt_read_number("/proc/sys/kernel/perf_event_paranoid", 2);
	bool may = mt_limits_capable(CAP_PERFMON) || mt_limits_capable(CAP_SYS_ADMIN);

	add(checker, "perf_event_paranoid",
	    may || paranoid < 0 ? MT_CHECK_OK
	    : paranoid > 2	? MT_CHECK_NO
				: MT_CHECK_PART,
	    mt_format("%ld%s", paranoid, may ? ", and it does not bind us" : ""),
	    may || paranoid < 0 ? NULL
	    : paranoid > 2	? mt_format("nothing can be recorded")
	    : paranoid > 1	? mt_format("own processes only, without the kernel's side")
	    : paranoid > 0	? mt_format("own processes only")
				: mt_format("tracepoints of own processes only"),
	    may || paranoid < 0 ? NULL
				: mt_format("run as root, give mtrec CAP_PERFMON, or: sysctl "
					    "kernel.perf_event_paranoid=-1"));
}

static void check_capabilities(struct checker *checker)
{
	static const struct {
		int number;
		const char *name, *cost;
	} wanted[] = {
		{CAP_PERFMON, "CAP_PERFMON", "recording others is up to perf_event_paranoid"},
		{CAP_SYS_PTRACE, "CAP_SYS_PTRACE",
		 "maps and names of other users' running processes stay unknown"},
		{CAP_SYS_NICE, "CAP_SYS_NICE",
		 "the drain runs at normal priority and loses records in storms"},
		{CAP_IPC_LOCK, "CAP_IPC_LOCK", "rings have to fit the mlock budget"},
		{CAP_SYS_RESOURCE, "CAP_SYS_RESOURCE",
		 "limits stay as they are: open files, the OOM killer's opinion of us"},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		bool have = mt_limits_capable(wanted[i].number) ||
			    (wanted[i].number == CAP_PERFMON && mt_limits_capable(CAP_SYS_ADMIN));

		add(checker, wanted[i].name, have ? MT_CHECK_OK : MT_CHECK_PART,
		    mt_format("%s", have ? "yes" : "no"),
		    have ? NULL : mt_format("%s", wanted[i].cost), NULL);
	}
}

static void check_features(struct checker *checker)
{
	size_t count;
	const struct mt_feature *rows = mt_feature_rows(&count);

	for (size_t i = 0; i < count; i++) {
		bool has = mt_feature_has(&checker->host.features, &rows[i]);

		if (has || rows[i].harmless)
			add(checker, rows[i].name, MT_CHECK_OK,
			    mt_format("%s%s", has ? "yes" : "no: ", has ? "" : rows[i].cost), NULL,
			    NULL);
		else
			add(checker, rows[i].name, MT_CHECK_PART, mt_format("no"),
			    mt_format("%s", rows[i].cost), mt_format("%s", rows[i].since));
	}
}

static void check_limits(struct checker *checker)
{
	uint64_t rings = mt_limits_ring_bytes(checker->cpus), files = mt_limits_files();
	size_t pages = 2 * (size_t)sysconf(_SC_PAGESIZE);
	bool enough = rings / checker->cpus >= WANTED_RINGS + pages;

	add(checker, "mlock", enough ? MT_CHECK_OK : MT_CHECK_PART,
	    rings == UINT64_MAX ? mt_format("unlimited")
				: mt_format("%llu KiB of rings a CPU",
					    (unsigned long long)(rings / checker->cpus >> 10)),
	    enough ? NULL : mt_format("smaller rings: storms lose records sooner"),
	    enough ? NULL : mt_limits_ring_fix(WANTED_RINGS + pages, checker->cpus));
	enough = files / checker->cpus >= 3 * 1024;
	add(checker, "open files", enough ? MT_CHECK_OK : MT_CHECK_PART,
	    mt_format("%llu", (unsigned long long)files),
	    enough ? NULL
		   : mt_format("-p and -t reach %llu threads with brk and page-faults",
			       (unsigned long long)(files / checker->cpus / 4)),
	    enough ? NULL : mt_format("ulimit -n %zu", 3 * 1024 * checker->cpus));
}

static void check_tracefs(struct checker *checker)
{
	struct mt_tracefs tracefs;

	mt_tracefs_open(&tracefs);
	if (tracefs.dir >= 0)
		add(checker, "tracefs", MT_CHECK_OK, mt_format("%s", tracefs.where), NULL, NULL);
	else
		add(checker, "tracefs", MT_CHECK_PART,
		    mt_format("%s", mt_tracefs_why_not(&tracefs)),
		    mt_format("tracepoints by number only; system calls of own processes are "
			      "found by a scan"),
		    mt_format("have root run: mtrec --check --tracepoint-ids FILE, and give that "
			      "FILE likewise"));
	mt_tracefs_close(&tracefs);
}

/* Checks for hardware call stacks, which --call-graph lbr records. */
static void check_lbr(struct checker *checker)
{
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES);
	bool counts = checker->host.pmu, branches;

	attr.sample_period = 1000000;
	attr.sample_type = PERF_SAMPLE_BRANCH_STACK;
	attr.branch_sample_type = PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_CALL_STACK;
	branches = counts && mt_perf_opens(&attr, 0, -1, &checker->host.features);
	add(checker, "PMU", counts ? MT_CHECK_OK : MT_CHECK_PART,
	    mt_format("%s", counts ? "yes" : "no"),
	    counts ? NULL : mt_format("no hardware events: cpu-clock samples by time instead"),
	    counts ? NULL : mt_format("in a virtual machine: let its host pass the PMU through"));
	add(checker, "LBR", branches ? MT_CHECK_OK : MT_CHECK_PART,
	    mt_format("%s", branches ? "yes" : "no"),
	    branches ? NULL : mt_format("no call stacks with hardware events"), NULL);
}

static void check_uprobes(struct checker *checker)
{
	long type;
	bool may = mt_host_events_may_probe(&checker->host, &type);

	add(checker, "uprobes", may ? MT_CHECK_OK : MT_CHECK_PART,
	    mt_format("%s", type < 0 ? "through tracefs only (before Linux 4.17)"
			    : may    ? "yes"
				     : "not allowed"),
	    may ? NULL : mt_format("no events at functions of programs and libraries"),
	    may ? NULL : mt_format("run as root, or give mtrec CAP_PERFMON"));
}

/* Plans and opens an alias of the event table as a recording does. */
static void check_alias(struct checker *checker, const struct mt_event_def *def)
{
	struct mt_host_event event;

	mt_host_events_try(&checker->host, def, &event);
	if (event.err)
		add_refused(checker, def->alias, def->kind == MT_EVENT_HARDWARE ? NULL : def->help,
			    MT_TAKE(event.err));
	else
		add(checker, def->alias, event.wide && !event.in_part ? MT_CHECK_OK : MT_CHECK_PART,
		    mt_format("%s", event.wide ? "every process" : "own processes"),
		    MT_TAKE(event.missing), NULL);
	if (event.own && (def->kind == MT_EVENT_SOFTWARE || !event.in_part))
		checker->check->can_record = true;
	mt_host_event_deinit(&event);
}

static void check_events(struct checker *checker)
{
	size_t count;
	const struct mt_event_def *defs = mt_event_defs(&count);

	for (size_t i = 0; i < count; i++) {
		/* cache-misses represents cache events; uprobes represent malloc */
		if (defs[i].kind != MT_EVENT_MARK && defs[i].kind != MT_EVENT_ALLOCATOR &&
		    defs[i].type != PERF_TYPE_HW_CACHE)
			check_alias(checker, &defs[i]);
	}
}

/*
 * Opens the sources of tracepoint ids. Writes the ids to ids_file if tracefs can be read; otherwise
 * reads ids from ids_file.
 */
static struct mt_error *open_tracepoints(struct checker *checker, const char *ids_file)
{
	struct mt_tracepoints **tracepoints = &checker->host.tracepoints;
	struct mt_error *err = mt_host_events_open(&checker->host, NULL);
	size_t written = 0;

	if (err || !ids_file)
		return err;
	if (mt_tracepoints_tracefs(*tracepoints) < 0) {
		mt_tracepoints_destroy(*tracepoints);
		*tracepoints = NULL;
		return mt_host_events_open(&checker->host, ids_file);
	}
	err = mt_tracepoints_save(*tracepoints, ids_file, &written);
	if (!err)
		add(checker, "tracepoint ids", MT_CHECK_OK,
		    mt_format("%zu written to %s", written, ids_file), NULL, NULL);
	return err;
}

struct mt_error *mt_check_host(const char *ids_file, struct mt_check *out)
{
	struct checker checker = {.check = out, .cpus = (size_t)sysconf(_SC_NPROCESSORS_ONLN)};
	struct mt_error *err;

	*out = (struct mt_check){0};
	check_kernel(&checker);
	check_paranoid(&checker);
	check_capabilities(&checker);
	err = mt_host_events_probe(&checker.host);
	if (err) {
		add_refused(&checker, "perf_event_open", "nothing can be recorded", err);
		return NULL;
	}
	check_features(&checker);
	check_limits(&checker);
	check_tracefs(&checker);
	check_lbr(&checker);
	check_uprobes(&checker);
	err = open_tracepoints(&checker, ids_file);
	if (!err)
		check_events(&checker);
	mt_host_events_deinit(&checker.host);
	if (err)
		mt_check_deinit(out);
	return err;
}

void mt_check_print(const struct mt_check *check, FILE *to)
{
	static const char *const states[] = {"ok", "part", "no"};

	for (size_t i = 0; i < check->rows.count; i++) {
		const struct mt_check_row *row = &check->rows.items[i];

		fprintf(to, "%-4s  %-20s %s\n", states[row->state], row->what,
			row->found ? row->found : "");
		if (row->cost)
			fprintf(to, "%26s costs: %s\n", "", row->cost);
		if (row->remedy)
			fprintf(to, "%26s needs: %s\n", "", row->remedy);
	}
}

void mt_check_deinit(struct mt_check *check)
{
	for (size_t i = 0; i < check->rows.count; i++) {
		free(check->rows.items[i].found);
		free(check->rows.items[i].cost);
		free(check->rows.items[i].remedy);
	}
	mt_array_deinit(&check->rows);
}
