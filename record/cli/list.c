/*
 * Lists events: the table's rows with their availability on this host, then the kernel's
 * tracepoints.
 */
#include "record/cli/list.h"

#include <fnmatch.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/records/events.h"
#include "record/cli/host_events.h"
#include "record/tracepoints/tracefs.h"

#define INDENT 6 /* columns before the continued lines of a row */

struct listing {
	const char *pattern;
	FILE *to;
	size_t width; /* 0: a row is one line */
	size_t count;
	struct mt_host_events host;
	struct mt_error *refused; /* why this user can record nothing; NULL: host is open */
};

static bool matches(const char *pattern, const char *text)
{
	return !pattern || strcasestr(text, pattern) || !fnmatch(pattern, text, 0);
}

/* ---- One row ---- */

static const char *kind_of(const struct mt_event_def *def)
{
	static const char *const kinds[] = {
		[MT_EVENT_SOFTWARE] = "software", [MT_EVENT_HARDWARE] = "hardware",
		[MT_EVENT_SYSCALL] = "syscall",	  [MT_EVENT_GROUP] = "group",
		[MT_EVENT_ALLOCATOR] = "probes",
	};

	return kinds[def->kind];
}

static const char *cost_of(const struct mt_event_def *def)
{
	return def->by_time ? "timed" : def->class == MT_CLASS_RARE ? "rare" : "storm";
}

/*
 * Sets *out to the row's kernel events or aliases, which the caller frees; NULL: only its own name.
 * False out of memory.
 */
static bool members_of(const struct mt_event_def *def, char **out)
{
	*out = NULL;
	if (def->kind == MT_EVENT_SYSCALL)
		return asprintf(out, "syscalls:sys_exit_%s", def->alias) >= 0;
	return !def->members || (*out = strdup(def->members));
}

static void copy_first_line(const char *from, char *to, size_t size)
{
	snprintf(to, size, "%.*s", (int)strcspn(from, "\n"), from);
}

/* Returns "yes", "part" or "no". Writes to `why` what is missing, or an empty text. */
static const char *support_of(struct listing *listing, const struct mt_event_def *def, char *why,
			      size_t size)
{
	struct mt_host_event event = {0};
	const char *answer = "no";

	if (listing->refused) {
		copy_first_line(listing->refused->message, why, size);
		return answer;
	}
	mt_host_events_try(&listing->host, def, &event);
	if (event.err) {
		copy_first_line(event.err->message, why, size);
	} else {
		answer = event.wide && !event.in_part ? "yes" : "part";
		snprintf(why, size, "%s%s%s", event.wide ? "" : "of own processes only",
			 !event.wide && event.missing ? "; " : "",
			 event.missing ? event.missing : "");
	}
	mt_host_event_deinit(&event);
	return answer;
}

/* Prints the text below the row, with line breaks after blanks and commas. */
static void print_folded(const struct listing *listing, const char *text)
{
	size_t room = listing->width - INDENT;

	while (*text) {
		size_t length = strlen(text), cut = length;

		if (length > room) {
			for (cut = room; cut && text[cut] != ' ' && text[cut - 1] != ',';)
				cut--;
			cut = cut ? cut : room;
		}
		fprintf(listing->to, "%*s%.*s\n", INDENT, "", (int)cut, text);
		text += cut;
		text += strspn(text, " ");
	}
}

static void list_row(struct listing *listing, const struct mt_event_def *def)
{
	MT_CLEANUP_FREE char *members = NULL, *text = NULL;
	char why[1024] = "";
	const char *support = support_of(listing, def, why, sizeof(why));
	const char *unit = def->unit ? def->unit : "events";

	if (!members_of(def, &members) ||
	    asprintf(&text, "%s%s%s%s%s", def->help, members ? "; = " : "", members ? members : "",
		     *why ? "; here: " : "", why) < 0) {
		text = NULL;
		return;
	}
	listing->count++;
	fprintf(listing->to, "%-23s %-8s %-4s %-5s --%-14s ", def->alias, kind_of(def), support,
		cost_of(def), mt_event_report(def));
	if (!listing->width) {
		fprintf(listing->to, "%-12s %s\n", unit, text);
		return;
	}
	fprintf(listing->to, "%s\n", unit);
	print_folded(listing, text);
}

static void list_table(struct listing *listing)
{
	size_t count;
	const struct mt_event_def *defs = mt_event_defs(&count);

	if (listing->width)
		fprintf(listing->to, "%-23s %-8s %-4s %-5s %-16s %s\n", "event", "kind", "here",
			"cost", "mtreport", "unit");
	for (size_t i = 0; i < count; i++) {
		if (defs[i].kind == MT_EVENT_MARK) /* listed with the tracepoints */
			continue;
		if (matches(listing->pattern, defs[i].alias) ||
		    (listing->pattern && strcasestr(defs[i].help, listing->pattern)))
			list_row(listing, &defs[i]);
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

/* Opens the host. If the host refuses all events, they can still be listed. */
static struct mt_error *open_host(struct listing *listing)
{
	struct mt_error *err;

	listing->refused = mt_host_events_probe(&listing->host);
	if (listing->refused)
		return NULL;
	err = mt_host_events_open(&listing->host, NULL);
	if (err) {
		mt_host_events_deinit(&listing->host);
		return err;
	}
	mt_host_events_trust_names(&listing->host);
	return NULL;
}

struct mt_error *mt_list_events(const char *pattern, size_t width, FILE *to, size_t *count)
{
	struct listing listing = {.pattern = pattern, .to = to, .width = width};
	struct mt_tracefs tracefs;
	struct mt_error *err = open_host(&listing);

	if (err)
		return err;
	list_table(&listing);
	if (!listing.refused)
		mt_host_events_deinit(&listing.host);
	mt_error_destroy(listing.refused);
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
