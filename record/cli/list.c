/* Listing events: the table's rows with their help, then the tracepoints that this kernel has. */
#include "record/cli/list.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <string.h>

#include "formats/base/err.h"
#include "formats/events.h"
#include "record/tracepoints/tracefs.h"

struct listing {
	const char *pattern;
	FILE *to;
	size_t count;
};

static bool matches(const char *pattern, const char *text)
{
	return !pattern || strcasestr(text, pattern) || !fnmatch(pattern, text, 0);
}

static void list_table(struct listing *listing)
{
	static const char *const kinds[] = {
		[MT_EVENT_SOFTWARE] = "software", [MT_EVENT_HARDWARE] = "hardware",
		[MT_EVENT_SYSCALL] = "syscall",	  [MT_EVENT_GROUP] = "group",
		[MT_EVENT_ALLOCATOR] = "probes",
	};
	size_t count;
	const struct mt_event_def *defs = mt_event_defs(&count);

	for (size_t i = 0; i < count; i++) {
		if (defs[i].kind == MT_EVENT_MARK) /* a tracepoint, listed with them */
			continue;
		if (!matches(listing->pattern, defs[i].alias) &&
		    !(listing->pattern && strcasestr(defs[i].help, listing->pattern)))
			continue;
		fprintf(listing->to, "%-20s %-10s %s\n", defs[i].alias, kinds[defs[i].kind],
			defs[i].help);
		listing->count++;
	}
}

static bool list_tracepoint(void *context, const char *name)
{
	struct listing *listing = context;

	if (matches(listing->pattern, name)) {
		fprintf(listing->to, "%s\n", name);
		listing->count++;
	}
	return !ferror(listing->to);
}

struct mt_error *mt_list_events(const char *pattern, FILE *to, size_t *count)
{
	struct listing listing = {.pattern = pattern, .to = to};
	struct mt_tracefs tracefs;
	struct mt_error *err;

	list_table(&listing);
	mt_tracefs_open(&tracefs);
	err = mt_tracefs_each(&tracefs, list_tracepoint, &listing);
	mt_tracefs_close(&tracefs);
	*count = listing.count;
	if (!err && !listing.count)
		return mt_error_hint(mt_error_create(MT_ERR_NOT_FOUND, "no event matches '%s'",
						     pattern),
				     "mtrec --list without a pattern lists all");
	return err;
}
