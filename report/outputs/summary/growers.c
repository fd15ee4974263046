/* The summary's list of processes that grew. */
#include <math.h>
#include <string.h>

#include "formats/base/err.h"
#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/table.h"

enum {
	GROWERS_SHOWN = 5,
	NAMES_MOST = 64, /* of processes that ended, told apart */
};

/* Less is what any program does. */
#define GROWTH_LEAST ((double)(1 << 20))

struct grower {
	long pid;
	const char *name, *trend;
	double before, now, change, mapped;
};

/* Processes of one name that ended. */
struct ended {
	const char *name;
	size_t count;
	double peak; /* the largest of theirs */
};

struct growers {
	struct grower items[GROWERS_SHOWN]; /* most first */
	size_t count, others;		    /* others that grew */
	struct ended ended[NAMES_MOST];
	size_t ended_names, ended_count;
	size_t processes;
};

/* The columns of the table of --processes. */
struct columns {
	size_t pid, process, trend, life, before, now, change, mapped, peak;
};

static struct columns find_columns(const struct mt_table *table)
{
	return (struct columns){
		.pid = mt_table_key(table, "pid"),
		.process = mt_table_key(table, "process"),
		.trend = mt_table_key(table, "trend"),
		.life = mt_table_key(table, "life"),
		.before = mt_table_value(table, "before"),
		.now = mt_table_value(table, "now"),
		.change = mt_table_value(table, "change"),
		.mapped = mt_table_value(table, "mapped"),
		.peak = mt_table_value(table, "peak"),
	};
}

static void add_ended(struct growers *growers, const char *name, double peak)
{
	struct ended *ended = growers->ended;
	size_t i = 0;

	growers->ended_count++;
	while (i < growers->ended_names && strcmp(ended[i].name, name) != 0)
		i++;
	if (i == NAMES_MOST)
		return;
	if (i == growers->ended_names)
		ended[growers->ended_names++].name = name;
	ended[i].count++;
	ended[i].peak = peak > ended[i].peak ? peak : ended[i].peak;
}

/* Keeps the list in order; the last one falls out of a full one. */
static void add_grower(struct growers *growers, const struct grower *grower)
{
	size_t i = growers->count < GROWERS_SHOWN ? growers->count++ : GROWERS_SHOWN - 1;

	if (i == GROWERS_SHOWN - 1 && growers->items[i].change > 0) {
		growers->others++;
		if (growers->items[i].change >= grower->change)
			return;
	}
	for (; i && growers->items[i - 1].change < grower->change; i--)
		growers->items[i] = growers->items[i - 1];
	growers->items[i] = *grower;
}

static void add_row(struct growers *growers, struct mt_table *table, const struct columns *c,
		    const struct mt_row *row)
{
	const struct grower grower = {
		.pid = (long)row->keys[c->pid],
		.name = mt_table_string(table, row, c->process),
		.trend = mt_table_string(table, row, c->trend),
		.before = row->values[c->before].value,
		.now = row->values[c->now].value,
		.change = row->values[c->change].value,
		.mapped = row->values[c->mapped].value,
	};

	growers->processes++;
	if (!strcmp(mt_table_string(table, row, c->life), "ended"))
		add_ended(growers, grower.name, row->values[c->peak].value);
	else if (grower.change >= GROWTH_LEAST)
		add_grower(growers, &grower);
}

static struct mt_error *read_growers(struct mt_table *table, struct growers *out)
{
	struct columns columns = find_columns(table);
	struct mt_error *err = mt_table_rewind(table);
	struct mt_row row;
	bool more;

	*out = (struct growers){0};
	while (!err) {
		err = mt_table_next(table, &row, &more);
		if (err || !more)
			break;
		add_row(out, table, &columns, &row);
	}
	return err;
}

struct mt_snippet mt_summary_signed(double bytes)
{
	struct mt_snippet size = mt_text_bytes(fabs(bytes)), out;

	snprintf(out.text, sizeof(out.text), "%c%.40s", bytes < 0 ? '-' : '+', size.text);
	return out;
}

static void print_grower(const struct grower *grower, FILE *to)
{
	char name[64];
	size_t width = mt_text_fit(grower->name, 13, name, sizeof(name));

	fprintf(to, "%7ld %s%*s %9s %9s %9s %9s  %s\n", grower->pid, name, (int)(13 - width), "",
		mt_text_bytes(grower->before).text, mt_text_bytes(grower->now).text,
		mt_summary_signed(grower->change).text, mt_summary_signed(grower->mapped).text,
		grower->trend);
}

/* "ended: cc1plus x3 (peak 221 MB each), 41 others": of those with one name the largest count. */
static void print_ended(const struct growers *growers, FILE *to)
{
	const struct ended *most = growers->ended;
	char name[64];

	for (size_t i = 1; i < growers->ended_names; i++) {
		if (growers->ended[i].peak > most->peak)
			most = &growers->ended[i];
	}
	mt_text_fit(most->name, 24, name, sizeof(name));
	fprintf(to, "        ended: %s", name);
	if (most->count > 1)
		fprintf(to, " x%zu", most->count);
	fprintf(to, " (peak %s%s)", mt_text_bytes(most->peak).text,
		most->count > 1 ? " at most" : "");
	if (growers->ended_count > most->count)
		fprintf(to, ", %zu other%s", growers->ended_count - most->count,
			growers->ended_count - most->count == 1 ? "" : "s");
	fputc('\n', to);
}

struct mt_error *mt_summary_print_growers(const struct mt_summary *s)
{
	struct growers growers;
	struct mt_error *err = s->processes ? read_growers(s->processes, &growers) : NULL;

	if (err || !s->processes)
		return err;
	fprintf(s->to, "\n%-21s %9s %9s %9s %9s  %s\n", "WHO GREW (resident)", "before", "now",
		"change", "mapped", "trend");
	for (size_t i = 0; i < growers.count; i++)
		print_grower(&growers.items[i], s->to);
	if (!growers.count)
		fprintf(s->to, "        nobody by %s or more, of %zu process%s\n",
			mt_text_bytes(GROWTH_LEAST).text, growers.processes,
			growers.processes == 1 ? "" : "es");
	if (growers.others)
		fprintf(s->to, "        and %zu other%s: mtreport --processes\n", growers.others,
			growers.others == 1 ? "" : "s");
	if (growers.ended_count)
		print_ended(&growers, s->to);
	return NULL;
}

bool mt_summary_grower(const struct mt_summary *s, long *pid)
{
	struct growers growers;
	struct mt_error *err = s->processes ? read_growers(s->processes, &growers) : NULL;
	bool good = !err && s->processes && growers.count && growers.processes > 1;

	mt_error_destroy(err);
	if (good)
		*pid = growers.items[0].pid;
	return good;
}
