/* Searches the sources of tracepoint ids in order. */
#include "record/tracepoints/tracepoints.h"

#include <errno.h>
#include <limits.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/open/perf_event.h"
#include "record/open/trials.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"
#include "record/tracepoints/tracefs.h"
#include "record/tracepoints/tracepoint_ids.h"
#include "record/tracepoints/tracepoint_scan.h"
#include "record/tracepoints/tracepoint_source.h"

#define TOUCHED 16

struct mt_tracepoints {
	const struct mt_perf_features *features;
	struct mt_trials *trials;
	const char *ids_file;
	struct mt_tracefs tracefs;
	struct mt_tracepoint_ids list;	 /* list of --tracepoint-ids */
	struct mt_tracepoint_ids proven; /* ids that a scan confirmed */
	bool scanned;
	int hold; /* descriptor that holds the scanning process; -1: none */
	const char *where;
};

MT_DEFINE_CLEANUP(mt_tracepoints, struct mt_tracepoints)

/* Returns true for the calls that a scan makes, and for raw_syscalls. */
static bool is_provable(const char *name)
{
	const char *call = strncmp(name, "syscalls:sys_", 13) ? NULL : strchr(name + 13, '_');
	long number;

	return !strncmp(name, "raw_syscalls:", 13) ||
	       (call && mt_syscall_number(call + 1, &number));
}

static struct mt_error *read_list(struct mt_tracepoints *tracepoints)
{
	struct mt_error *err = mt_tracepoint_ids_read(tracepoints->ids_file, &tracepoints->list);

	if (err || mt_tracepoint_ids_same_kernel(&tracepoints->list))
		return mt_error_context(err, "--tracepoint-ids");
	return mt_error_hint(mt_error_create(MT_ERR_UNSUPPORTED,
					     "--tracepoint-ids: %s was written by another kernel, "
					     "whose ids are others",
					     tracepoints->ids_file),
			     "have root run here: mtrec --check --tracepoint-ids %s",
			     tracepoints->ids_file);
}

struct mt_error *mt_tracepoints_create(const struct mt_perf_features *features,
				       struct mt_trials *trials, const char *ids_file,
				       struct mt_tracepoints **out)
{
	MT_CLEANUP(mt_tracepoints_destroy_p)
	struct mt_tracepoints *tracepoints = calloc(1, sizeof(*tracepoints));
	struct mt_error *err;

	if (!tracepoints)
		return mt_error_nomem();
	tracepoints->features = features;
	tracepoints->trials = trials;
	tracepoints->ids_file = ids_file;
	tracepoints->hold = -1;
	mt_tracefs_open(&tracepoints->tracefs);
	tracepoints->where = tracepoints->tracefs.dir >= 0 ? tracepoints->tracefs.where : "none";
	err = ids_file ? read_list(tracepoints) : NULL;
	if (err)
		return err;
	*out = MT_TAKE(tracepoints);
	return NULL;
}

void mt_tracepoints_destroy(struct mt_tracepoints *tracepoints)
{
	if (!tracepoints)
		return;
	mt_tracefs_close(&tracepoints->tracefs);
	mt_tracepoint_ids_deinit(&tracepoints->list);
	mt_tracepoint_ids_deinit(&tracepoints->proven);
	mt_close_p(&tracepoints->hold);
	free(tracepoints);
}

int mt_tracepoints_tracefs(const struct mt_tracepoints *tracepoints)
{
	return tracepoints->tracefs.dir;
}

struct saving {
	const struct mt_tracepoints *tracepoints;
	struct mt_tracepoint_ids ids;
};

static bool save_one(void *context, const char *name)
{
	struct saving *saving = context;
	struct mt_tracepoint tracepoint = {0};

	/* ftrace's own entries have no id */
	mt_error_destroy(mt_tracefs_find(&saving->tracepoints->tracefs, name, &tracepoint));
	if (tracepoint.id)
		mt_tracepoint_ids_add(&saving->ids, name, tracepoint.id,
				      is_provable(name) ? tracepoint.format : NULL);
	free(tracepoint.format);
	return true;
}

struct mt_error *mt_tracepoints_save(struct mt_tracepoints *tracepoints, const char *path,
				     size_t *written)
{
	struct saving saving = {.tracepoints = tracepoints};
	struct mt_error *err = mt_tracefs_each(&tracepoints->tracefs, save_one, &saving);

	mt_tracepoint_ids_sign(&saving.ids);
	if (!err)
		err = mt_tracepoint_ids_save(&saving.ids, path, 0644);
	*written = saving.ids.items.count;
	mt_tracepoint_ids_deinit(&saving.ids);
	return err;
}

const char *mt_tracepoints_where(const struct mt_tracepoints *tracepoints)
{
	return tracepoints->where;
}

/* Returns true if only this user can write into the directory; creates it if it is missing. */
static bool is_ours(const char *path)
{
	struct stat status;

	mkdir(path, 0700); /* parents are not created: a home without .cache does not change */
	return !lstat(path, &status) && S_ISDIR(status.st_mode) && status.st_uid == geteuid() &&
	       !(status.st_mode & 022);
}

/* Returns the cache of an earlier scan, in the user's caches or in /tmp. The caller frees it. */
static char *cache_path(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char directory[PATH_MAX - 32];

	snprintf(directory, sizeof(directory), "%s%s/mtrec",
		 base && *base ? base
		 : home	       ? home
			       : "/nonexistent",
		 base && *base ? "" : "/.cache");
	if (!is_ours(directory)) {
		snprintf(directory, sizeof(directory), "/tmp/mtrec-%u", (unsigned)geteuid());
		if (!is_ours(directory))
			return NULL;
	}
	return mt_format("%s/tracepoint-ids", directory);
}

/*
 * Returns true if a scan can prove ids. At perf_event_paranoid -1 it cannot, because every
 * tracepoint opens, not only those of system calls.
 */
static bool may_scan(void)
{
	return mt_read_number("/proc/sys/kernel/perf_event_paranoid", 2) >= 0;
}

/* Proves the ids of the list or the cache, and scans for the remaining ids. */
static void scan(struct mt_tracepoints *tracepoints)
{
	MT_CLEANUP_FREE char *cache = cache_path();
	struct mt_tracepoint_ids cached = {0};
	const struct mt_tracepoint_ids *candidates = &tracepoints->list;
	bool from_cache = false;
	size_t known;

	if (tracepoints->scanned)
		return;
	tracepoints->scanned = true;
	if (!tracepoints->ids_file && cache) {
		mt_error_destroy(mt_tracepoint_ids_read(cache, &cached));
		from_cache = mt_tracepoint_ids_same_kernel(&cached);
		candidates = &cached;
	}
	known = from_cache || tracepoints->ids_file ? candidates->items.count : 0;
	mt_error_destroy(mt_tracepoint_scan(tracepoints->features, known ? candidates : NULL,
					    may_scan(), &tracepoints->proven, &tracepoints->hold));
	tracepoints->where = tracepoints->ids_file ? "the list of --tracepoint-ids, proven"
			     : from_cache	   ? "the cache of a scan, proven"
						   : "a scan";
	if (cache && !tracepoints->ids_file &&
	    tracepoints->proven.items.count > cached.items.count) {
		mt_tracepoint_ids_sign(&tracepoints->proven);
		mt_error_destroy(mt_tracepoint_ids_save(&tracepoints->proven, cache, 0600));
	}
	mt_tracepoint_ids_deinit(&cached);
}

static struct mt_error *give(const struct mt_tracepoints *tracepoints, const char *name,
			     uint64_t id, struct mt_tracepoint *out)
{
	const struct mt_tracepoint_id *listed = mt_tracepoint_ids_find(&tracepoints->list, name);

	*out = (struct mt_tracepoint){.id = id};
	if (listed && listed->format) {
		out->format = strdup(listed->format);
		return out->format ? NULL : mt_error_nomem();
	}
	return NULL;
}

/* Explains why the list of ids has no usable id for the name; empty if there is no list. */
static const char *what_list_says(const struct mt_tracepoints *tracepoints, const char *name)
{
	if (!tracepoints->ids_file)
		return "";
	if (!mt_tracepoint_ids_find(&tracepoints->list, name))
		return ", and the list of --tracepoint-ids does not hold it";
	return ", and what the list of --tracepoint-ids says of it did not prove true: it is "
	       "another kernel's, or this kernel tells users nothing of their own calls (4.15 does "
	       "not, 5.4 does)";
}

static struct mt_error *out_of_reach(const struct mt_tracepoints *tracepoints, const char *name)
{
	struct mt_error *err =
		mt_error_create(MT_ERR_PERMISSION, "%s: cannot look up the tracepoint: %s%s", name,
				tracepoints->tracefs.dir < 0
					? mt_tracefs_why_not(&tracepoints->tracefs)
					: "tracefs is not readable for this user",
				what_list_says(tracepoints, name));

	return mt_error_hint(err, geteuid() ? "run as root, or have root run: mtrec --check "
					      "--tracepoint-ids FILE, and give that FILE likewise"
					    : "mount -t tracefs nodev /sys/kernel/tracing");
}

/* Finds an id without tracefs. Provable ids are always proven, even if they are in the list. */
static struct mt_error *find_otherwise(struct mt_tracepoints *tracepoints, const char *name,
				       struct mt_tracepoint *out)
{
	const struct mt_tracepoint_id *known;

	if (is_provable(name)) {
		scan(tracepoints);
		known = mt_tracepoint_ids_find(&tracepoints->proven, name);
		return known ? give(tracepoints, name, known->id, out)
			     : out_of_reach(tracepoints, name);
	}
	known = mt_tracepoint_ids_find(&tracepoints->list, name);
	if (known && mt_tracepoint_ids_same_boot(&tracepoints->list))
		return give(tracepoints, name, known->id, out);
	return out_of_reach(tracepoints, name);
}

static struct mt_error *find_by_name(struct mt_tracepoints *tracepoints, const char *name,
				     struct mt_tracepoint *out)
{
	struct mt_error *err;

	if (tracepoints->tracefs.dir < 0 && !mt_tracefs_lacks_files(&tracepoints->tracefs))
		return find_otherwise(tracepoints, name, out);
	err = mt_tracefs_find(&tracepoints->tracefs, name, out);
	if (!err || err->kind != MT_ERR_PERMISSION)
		return err;
	mt_error_destroy(err);
	return find_otherwise(tracepoints, name, out);
}

/* Uses the id that the user gave. If the kernel's id is known, the two must be equal. */
static struct mt_error *find_by_number(struct mt_tracepoints *tracepoints, const char *name,
				       const char *number, struct mt_tracepoint *out)
{
	struct mt_tracepoint reported = {0};
	struct mt_error *err;
	uint64_t id;

	if (!mt_parse_u64(number, &id) || !id || id > UINT16_MAX)
		return mt_error_create(MT_ERR_USAGE, "%s: '%s' is not the id of a tracepoint", name,
				       number);
	err = find_by_name(tracepoints, name, &reported);
	if (!err && reported.id != id) {
		free(reported.format);
		return mt_error_create(MT_ERR_USAGE, "%s: its id is %llu on this kernel, not %s",
				       name, (unsigned long long)reported.id, number);
	}
	if (!err) {
		*out = reported;
		return NULL;
	}
	if (err->kind != MT_ERR_PERMISSION)
		return err;
	mt_error_destroy(err);
	tracepoints->where = "the number given with -e, unproven";
	*out = (struct mt_tracepoint){.id = id};
	return NULL;
}

/*
 * Returns true if this user may not open the id. Every user may open system calls for own tasks;
 * other tracepoints require privileges.
 */
static bool is_refused(const struct mt_tracepoints *tracepoints, uint64_t id)
{
	struct perf_event_attr attr = mt_perf_attr(PERF_TYPE_TRACEPOINT, id);
	bool refused;
	int fd;

	attr.sample_type = PERF_SAMPLE_RAW;
	attr.exclude_kernel = !tracepoints->features->kernel_frames;
	fd = mt_perf_open(&attr, 0, -1, tracepoints->features);
	refused = fd < 0 && (errno == EACCES || errno == EPERM);
	mt_trials_keep(tracepoints->trials, fd);
	return refused;
}

static struct mt_error *find_any(struct mt_tracepoints *tracepoints, const char *name,
				 struct mt_tracepoint *out)
{
	const char *equals = strchr(name, '=');
	MT_CLEANUP_FREE char *stem = equals ? strndup(name, (size_t)(equals - name)) : NULL;

	if (!equals)
		return find_by_name(tracepoints, name, out);
	return stem ? find_by_number(tracepoints, stem, equals + 1, out) : mt_error_nomem();
}

/* Touches new pages, with one fault each. */
static void touch_pages(void)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), size = TOUCHED * page;
	volatile char *pages =
		mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (pages == MAP_FAILED)
		return;
	madvise((void *)pages, size, MADV_NOHUGEPAGE);
	for (size_t i = 0; i < TOUCHED; i++)
		pages[i * page] = 1;
	munmap((void *)pages, size);
}

/*
 * Returns true if there are about as many events as pages. A kernel that batches 64 pages per
 * thread reports at most one event.
 */
static bool rss_is_reported_each(void *context)
{
	struct mt_tracepoints *tracepoints = context;
	struct mt_tracepoint found = {0};
	struct mt_error *err = find_by_name(tracepoints, "kmem:rss_stat", &found);
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = found.id};
	int fd = err ? -1 : mt_perf_open(&attr, 0, -1, tracepoints->features);
	uint64_t count = 0;
	bool each;

	mt_error_destroy(err);
	free(found.format);
	touch_pages();
	each = fd >= 0 && read(fd, &count, sizeof(count)) == sizeof(count) && count >= TOUCHED / 2;
	mt_trials_keep(tracepoints->trials, fd);
	return each;
}

static struct mt_error *each_by_name(void *source, bool (*each)(void *context, const char *name),
				     void *context)
{
	const struct mt_tracepoints *tracepoints = source;

	return mt_tracefs_each(&tracepoints->tracefs, each, context);
}

struct mt_tracepoint_source mt_tracepoints_source(struct mt_tracepoints *tracepoints)
{
	return (struct mt_tracepoint_source){
		.context = tracepoints,
		.find = mt_tracepoints_find,
		.each = each_by_name,
		.rss_each = rss_is_reported_each,
	};
}

struct mt_error *mt_tracepoints_find(void *context, const char *name, struct mt_tracepoint *out)
{
	struct mt_tracepoint found = {0};
	struct mt_error *err = find_any(context, name, &found);

	if (err)
		return err;
	found.refused = is_refused(context, found.id);
	*out = found;
	return NULL;
}
