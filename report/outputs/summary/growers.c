/* The summary's list of processes that grew. */
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/top_paths.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

enum {
	GROWERS_SHOWN = 5,
	NAMES_MOST = 64, /* names of ended processes that are counted separately */
};

/* Growth below this is normal for any program. */
#define GROWTH_LEAST ((double)(1 << 20))
/*
 * Growth without live blocks gets a line from this size on: the start of a program and an allocator
 * take less.
 */
#define OUTSIDE_LEAST ((double)(2 << 20))
#define OUTSIDE_PART 0.25
/*
 * Growth of one kind gets a line from this size on, if it is half of the growth. Less may be the
 * files that a program maps when it starts.
 */
#define KIND_LEAST ((double)(8 << 20))
#define KIND_PART 0.5
/* Minimum peak of an ended process for which a command is shown. */
#define ENDED_LEAST OUTSIDE_LEAST

/* A process, or all processes of one image, cgroup or container. */
struct grower {
	long pid;
	size_t processes;
	const char *name, *trend;
	double before, now, change, mapped;
	double files, huge; /* of `change` */
	bool sized;	    /* its address space's size is known */
	size_t ended;	    /* how many of them ended: their `now` is their peak */
	bool early;	    /* it ended before the recording's last moments */
};

/* Processes of one name that ended. */
struct ended {
	const char *name;
	size_t count;
	double least, most; /* of their peaks */
};

struct growers {
	MT_ARRAY(struct grower) items; /* most growth first */
	size_t grew;		       /* how many of them grew by at least GROWTH_LEAST */
	struct ended ended[NAMES_MOST];
	size_t ended_names, ended_count;
	size_t processes;
	const char *group; /* the key that groups processes; NULL: each is its own row */
	bool (*has)(const struct mt_memory_paths *paths, const char *process);
	const struct mt_memory_paths *paths; /* NULL: none is shown */
};

static void growers_deinit(struct growers *growers)
{
	mt_array_deinit(&growers->items);
}

static void add_ended(struct growers *growers, const char *name, double peak, size_t count)
{
	struct ended *ended = growers->ended;
	size_t i = 0;

	growers->ended_count += count;
	while (i < growers->ended_names && strcmp(ended[i].name, name) != 0)
		i++;
	if (i == NAMES_MOST)
		return;
	if (i == growers->ended_names)
		ended[growers->ended_names++] = (struct ended){.name = name};
	ended[i].count += count;
	if (!peak) /* not known */
		return;
	ended[i].most = peak > ended[i].most ? peak : ended[i].most;
	ended[i].least = !ended[i].least || peak < ended[i].least ? peak : ended[i].least;
}

static void add_grower(struct growers *growers, const struct grower *grower)
{
	struct grower *slot = NULL;

	for (size_t i = 0; growers->group && i < growers->items.count && !slot; i++) {
		if (!strcmp(growers->items.items[i].name, grower->name))
			slot = &growers->items.items[i];
	}
	if (!slot) {
		*mt_array_push(&growers->items) = *grower;
		return;
	}
	slot->processes++;
	slot->before += grower->before;
	slot->now += grower->now;
	slot->change += grower->change;
	slot->mapped += grower->mapped;
	slot->files += grower->files;
	slot->huge += grower->huge;
	slot->sized |= grower->sized;
	slot->ended += grower->ended;
}

/* Adds a row of --processes. `group` is the key column that groups processes. */
static void add_row(struct growers *growers, struct mt_table *table, size_t group,
		    const struct mt_row *row)
{
	const char *process = mt_table_text(table, row, "process");
	const char *life = mt_table_text(table, row, "life");
	bool early = !strcmp(life, "ended largest");
	size_t pid = mt_table_key(table, "pid"),
	       count = mt_table_value(table, "processes") == MT_COLUMN_NONE
			       ? 1
			       : (size_t)mt_table_figure(table, row, "processes");
	double now = mt_table_figure(table, row, "now"),
	       mapped_now = mt_table_figure(table, row, "mapped now");
	const struct grower grower = {
		.pid = pid == MT_COLUMN_NONE ? 0 : (long)row->keys[pid],
		.processes = 1,
		.name = growers->group ? mt_table_string(table, row, group) : process,
		.trend = early ? "ended" : mt_table_text(table, row, "trend"),
		.before = mt_table_figure(table, row, "before"),
		.now = now,
		.change = mt_table_figure(table, row, "change"),
		.mapped = mt_table_figure(table, row, "mapped") -
			  mt_table_figure(table, row, "reserved"),
		.files = mt_table_figure(table, row, "files"),
		.huge = mt_table_figure(table, row, "huge"),
		/* For an ended process, the last gauge may be long before its peak. */
		.sized = mapped_now > 0 && mapped_now >= now,
		.ended = early || !strcmp(life, "ended last"),
		.early = early,
	};

	growers->processes += count;
	if (!strcmp(life, "ended"))
		add_ended(growers, process, mt_table_figure(table, row, "peak"), count);
	else
		add_grower(growers, &grower);
}

static int compare_growers(const void *a, const void *b)
{
	const struct grower *x = a, *y = b;

	if (x->change != y->change)
		return x->change > y->change ? -1 : 1;
	return x->pid < y->pid ? -1 : x->pid > y->pid;
}

/* The key column of --by that groups processes; MT_COLUMN_NONE: none. */
static size_t group_column(const struct mt_table *table)
{
	static const char *const names[] = {"image", "cgroup", "container"};
	size_t column = MT_COLUMN_NONE;

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]) && column == MT_COLUMN_NONE; i++)
		column = mt_table_key(table, names[i]);
	return column;
}

static struct mt_error *read_growers(struct mt_table *table, struct growers *out)
{
	size_t group = group_column(table);
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;

	if (group != MT_COLUMN_NONE)
		out->group = table->keys[group].name;
	while (mt_table_read(table, &row, &err))
		add_row(out, table, group, &row);
	if (out->items.count)
		qsort(out->items.items, out->items.count, sizeof(*out->items.items),
		      compare_growers);
	while (out->grew < out->items.count && out->items.items[out->grew].change >= GROWTH_LEAST)
		out->grew++;
	return err;
}

static void print_kind(const struct grower *grower, double bytes, const char *what, FILE *to)
{
	if (bytes >= KIND_LEAST && bytes >= KIND_PART * grower->change)
		fprintf(to, "        of it %s %s\n", mt_summary_signed(bytes).text, what);
}

static void print_grower(const struct mt_summary *s, const struct growers *growers,
			 const struct grower *grower)
{
	size_t room = growers->group ? 21 : 13;
	char name[64], processes[40];
	size_t width = mt_text_fit(mt_path_last_part(grower->name), room, name, sizeof(name));

	if (!growers->group) {
		mt_summary_row(s, &(struct mt_summary_row){.pid = grower->pid,
							   .process = grower->name});
		fprintf(s->to, "%7ld ", grower->pid);
	}
	snprintf(processes, sizeof(processes), "%zu process%s", grower->processes,
		 grower->processes == 1 ? "" : "es");
	fprintf(s->to, "%s%*s %9s %9s ", name, (int)(room - width), "",
		mt_text_bytes(grower->before).text, mt_text_bytes(grower->now).text);
	mt_summary_print_growth(s, grower->change);
	fprintf(s->to, " %9s  %s\n", grower->sized ? mt_summary_signed(grower->mapped).text : "-",
		growers->group ? processes : grower->trend);
	print_kind(grower, grower->files, "pages of files, which the kernel can take back", s->to);
	print_kind(grower, grower->huge, "huge pages, resident as a whole: mtrec -e hugepages",
		   s->to);
	if (grower->sized && grower->mapped - grower->change >= KIND_LEAST &&
	    grower->mapped >= 4 * grower->change)
		fputs("        most of what is mapped is reserved address space, not touched\n",
		      s->to);
}

/* Prints the command for paths not on the screen: processes may free memory before they end. */
static void print_paths_of_ended(const struct mt_summary *s, const char *whose)
{
	const char *where = mt_summary_has_allocations(s)
				    ? "at its peak: mtreport --blocks --at peak"
			    : s->resident ? "as it ended: mtreport --resident"
			    : s->growth	  ? "as it ended: mtreport --growth"
					  : NULL;

	if (where)
		fprintf(s->to, "        %s paths %s\n", whose, where);
}

/* Prints "ended: cc1plus x3 (peak 221 MB each), 41 others", naming the largest peak. */
static void print_ended(const struct mt_summary *s, const struct growers *growers)
{
	double grew = growers->grew ? growers->items.items[0].change : 0;
	FILE *to = s->to;
	const struct ended *most = growers->ended;
	struct mt_snippet peak;
	char name[64];

	for (size_t i = 1; i < growers->ended_names; i++) {
		if (growers->ended[i].most > most->most)
			most = &growers->ended[i];
	}
	peak = mt_text_bytes(most->most);
	mt_text_fit(most->name, 24, name, sizeof(name));
	fprintf(to, "        ended: %s", name);
	if (most->count > 1)
		fprintf(to, " x%s", mt_text_count((double)most->count).text);
	if (most->most)
		fprintf(to, " (peak %s%s%s)",
			strcmp(peak.text, mt_text_bytes(most->least).text) ? "up to " : "",
			peak.text, most->count > 1 ? " each" : "");
	if (growers->ended_count > most->count)
		fprintf(to, ", %s other%s",
			mt_text_count((double)(growers->ended_count - most->count)).text,
			growers->ended_count - most->count == 1 ? "" : "s");
	fputc('\n', to);
	/* The screen has only paths of the processes in the rows above. */
	if (most->most >= ENDED_LEAST && most->most > grew)
		print_paths_of_ended(s, "its");
}

/* Whether none, some or all of the rows shown have their peak as `now`. */
static enum mt_summary_ended ended_of(const struct growers *growers, size_t shown)
{
	size_t ended = 0, processes = 0;

	for (size_t i = 0; i < shown; i++) {
		ended += growers->items.items[i].ended;
		processes += growers->items.items[i].processes;
	}
	return !ended ? MT_NONE_ENDED : ended < processes ? MT_SOME_ENDED : MT_ALL_ENDED;
}

/* Prints which of the rows shown have their peak as `now`, if some but not all do. */
static void print_peaks(const struct growers *growers, size_t shown, FILE *to)
{
	const char *before = "        ended, with their peak as now:";

	for (size_t i = 0; i < shown; i++) {
		const struct grower *grower = &growers->items.items[i];

		if (!grower->ended)
			continue;
		if (growers->group)
			fprintf(to, "%s %zu", before, grower->ended);
		else
			fprintf(to, "%s %ld", before, grower->pid);
		before = ",";
	}
	fputc('\n', to);
}

/*
 * Prints further processes whose paths are shown, although they did not grow as much. A path shows
 * the memory that a process touched, but not what it gave back before.
 */
static size_t print_others(const struct mt_summary *s, const struct growers *growers, size_t shown)
{
	const struct grower *items = growers->items.items;
	size_t printed = 0; /* of those that grew */

	for (size_t i = shown; growers->paths && !growers->group && i < growers->items.count; i++) {
		bool known = !growers->has(growers->paths, items[i].name);

		for (size_t k = 0; k < i && !known; k++)
			known = !strcmp(items[k].name, items[i].name);
		if (known)
			continue;
		print_grower(s, growers, &items[i]);
		printed += i < growers->grew;
	}
	return printed;
}

/* Subtracts all live blocks, or those that processes of a name had when they ended. */
static struct mt_error *subtract_blocks(struct mt_table *blocks, const char *ended, double *bytes)
{
	struct mt_error *err = mt_table_rewind(blocks);
	size_t length = ended ? strlen(ended) : 0;
	struct mt_row row;

	while (mt_table_read(blocks, &row, &err)) {
		const char *name = mt_table_text(blocks, &row, "process");

		if (!ended || (!strncmp(name, ended, length) && name[length] == ' '))
			*bytes -= mt_table_figure(blocks, &row, "bytes");
	}
	return err;
}

/* Prints the command for the process that grew most, if it freed most of its memory and ended. */
static struct mt_error *print_freed(const struct mt_summary *s, const struct growers *growers)
{
	const struct grower *most = growers->items.items;
	struct mt_error *err = NULL;
	char whose[32];
	double freed;

	if (!growers->grew || !most->early || growers->group || s->resident)
		return NULL;
	freed = most->change;
	if (s->blocks)
		err = subtract_blocks(s->blocks, most->name, &freed);
	snprintf(whose, sizeof(whose), "%ld's", most->pid);
	if (!err && freed >= most->change / 2)
		print_paths_of_ended(s, whose);
	return err;
}

/*
 * Prints growth without live blocks, if only allocations were recorded: memory mapped by other
 * calls, and freed memory that the allocator keeps.
 */
static struct mt_error *print_outside(const struct mt_summary *s, const struct growers *growers)
{
	double all = 0, outside;
	struct mt_error *err = NULL;

	if (s->growth || s->resident || !mt_summary_has_allocations(s))
		return NULL;
	for (size_t i = 0; i < growers->grew; i++)
		all += growers->items.items[i].early ? 0 : growers->items.items[i].change;
	outside = all;
	if (s->blocks)
		err = subtract_blocks(s->blocks, NULL, &outside);
	if (err || outside < OUTSIDE_LEAST || outside < OUTSIDE_PART * all)
		return err;
	fprintf(s->to, "        %s %s\n", mt_summary_signed(outside).text,
		s->view->facts->samples
			? "in no live block, freed or mapped: mtrec -e vm,rss,malloc"
			: "outside malloc: mtrec -e vm,rss");
	return NULL;
}

static void print_growers(const struct mt_summary *s, const struct growers *growers)
{
	size_t count = growers->grew, shown = count > GROWERS_SHOWN ? GROWERS_SHOWN : count;
	size_t others = count - shown;
	bool peaks = ended_of(growers, shown) == MT_ALL_ENDED;
	const char *heading = growers->group ? "WHO GREW (resident)" : "WHO GREW (pid; resident)";

	fputc('\n', s->to);
	mt_summary_print_heading(s, heading);
	fprintf(s->to, "%*s %9s %9s %9s%s\n", 31 - (int)strlen(heading), "before",
		peaks ? "peak" : "now", "change", "mapped", growers->group ? "" : "  trend");
	for (size_t i = 0; i < shown; i++)
		print_grower(s, growers, &growers->items.items[i]);
	others -= print_others(s, growers, shown);
	if (ended_of(growers, shown) == MT_SOME_ENDED)
		print_peaks(growers, shown, s->to);
	if (!count)
		fprintf(s->to, "        nobody by %s or more, of %zu process%s\n",
			mt_text_bytes(GROWTH_LEAST).text, growers->processes,
			growers->processes == 1 ? "" : "es");
	if (others)
		fprintf(s->to, "        and %zu other%s: mtreport --processes\n", others,
			others == 1 ? "" : "s");
	if (growers->ended_count)
		print_ended(s, growers);
}

struct mt_error *mt_summary_print_growers(const struct mt_summary *s,
					  bool (*has)(const struct mt_memory_paths *paths,
						      const char *process),
					  const struct mt_memory_paths *paths)
{
	MT_CLEANUP(growers_deinit) struct growers growers = {.has = has, .paths = paths};
	struct mt_error *err = s->processes ? read_growers(s->processes, &growers) : NULL;

	if (err || !growers.processes)
		return err;
	print_growers(s, &growers);
	err = print_freed(s, &growers);
	return err ? err : print_outside(s, &growers);
}

enum mt_summary_ended mt_summary_growers_ended(const struct mt_summary *s)
{
	MT_CLEANUP(growers_deinit) struct growers growers = {0};
	struct mt_error *err = s->processes ? read_growers(s->processes, &growers) : NULL;
	size_t count = growers.grew < GROWERS_SHOWN ? growers.grew : GROWERS_SHOWN;

	mt_error_destroy(err);
	return ended_of(&growers, count);
}

bool mt_summary_is_flat(const struct mt_summary *s, const char *name)
{
	struct mt_table *table = s->processes;
	struct mt_error *err = table ? mt_table_rewind(table) : NULL;
	struct mt_row row;
	bool found = false, flat = true;

	while (table && flat && mt_table_read(table, &row, &err)) {
		const char *life = mt_table_text(table, &row, "life");
		const char *trend = mt_table_text(table, &row, "trend");

		if (strcmp(mt_table_text(table, &row, "process"), name) != 0 ||
		    !strcmp(life, "ended") || !strcmp(life, "ended largest"))
			continue;
		found = true;
		flat = !strcmp(trend, "flat") || !strcmp(trend, "one step, flat");
	}
	mt_error_destroy(err);
	return found && flat;
}

bool mt_summary_grower(const struct mt_summary *s, long *pid)
{
	MT_CLEANUP(growers_deinit) struct growers growers = {0};
	struct mt_error *err = s->processes ? read_growers(s->processes, &growers) : NULL;
	bool good = !err && growers.grew && growers.processes > 1 && !growers.group;

	mt_error_destroy(err);
	if (good)
		*pid = growers.items.items[0].pid;
	return good;
}
