/* The summary's line about the host. */
#include <inttypes.h>
#include <string.h>

#include "report/outputs/outputs.h"
#include "report/outputs/summary/summary_parts.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

struct gauge {
	bool known;
	double before, now;
};

/* Reads the values of some rows by their names. */
static struct mt_error *read_gauges(struct mt_table *host, const char *const *names,
				    struct gauge *out, size_t count)
{
	size_t name = mt_table_key(host, "gauge"), before = mt_table_value(host, "before"),
	       now = mt_table_value(host, "now");
	struct mt_error *err = mt_table_rewind(host);
	struct mt_row row;

	while (mt_table_read(host, &row, &err)) {
		for (size_t i = 0; i < count; i++) {
			if (!strcmp(names[i], mt_table_string(host, &row, name)))
				out[i] = (struct gauge){true, row.values[before].value,
							row.values[now].value};
		}
	}
	return err;
}

enum {
	AVAILABLE,
	SWAP_TOTAL,
	SWAP_FREE,
	PRESSURE,
	OOM_KILLS,
	SHARED,
	GAUGES
};

enum {
	VICTIMS_SHOWN = 2,
};

#define WORTH_SAYING ((double)(16 << 20)) /* any host varies by this much */

/* "available 21.3 -> 20.7 GB", "0 -> 1.2 GB", or one figure if both are equal. */
static void print_change(const char *what, double before, double now, FILE *to)
{
	struct mt_snippet from = mt_text_bytes(before), until = mt_text_bytes(now);
	char *unit = strchr(from.text, ' '), *unit_now = strchr(until.text, ' ');

	fprintf(to, "%s ", what);
	if (strcmp(from.text, until.text) != 0) {
		if (unit && unit_now && (!before || !strcmp(unit, unit_now)))
			*unit = '\0';
		fprintf(to, "%s -> ", from.text);
	}
	fputs(now ? until.text : "0", to);
}

/* A file of tmpfs is memory of the host, but of no process that does not map it. */
static void print_shared(const struct mt_summary *s, const struct gauge *shared)
{
	if (shared->known && shared->now - shared->before >= WORTH_SAYING)
		fprintf(s->to,
			"shared  %s: files in memory (tmpfs, /dev/shm, memfd), mapped or not\n",
			mt_summary_signed(shared->now - shared->before).text);
}

/* "        OOM-killed: java 4711 (peak 412.3 MB), and 2 others" */
static struct mt_error *print_victims(const struct mt_summary *s, struct mt_table *victims)
{
	size_t pid = mt_table_key(victims, "pid"), name = mt_table_key(victims, "process"),
	       peak = mt_table_value(victims, "peak"), others = 0;
	struct mt_error *err = mt_table_rewind(victims);
	struct mt_row row;
	char fitted[64];

	for (size_t i = 0; mt_table_read(victims, &row, &err); i++) {
		if (i >= VICTIMS_SHOWN) {
			others++;
			continue;
		}
		mt_text_fit(mt_table_string(victims, &row, name), 16, fitted, sizeof(fitted));
		fprintf(s->to, "%s %s", i ? "," : "        OOM-killed:", fitted);
		if (row.keys[pid] != UINT64_MAX)
			fprintf(s->to, " %" PRIu64, row.keys[pid]);
		if (row.values[peak].value > 0)
			fprintf(s->to, " (peak %s)", mt_text_bytes(row.values[peak].value).text);
	}
	if (others)
		fprintf(s->to, ", and %zu other%s", others, others == 1 ? "" : "s");
	fputc('\n', s->to);
	return err;
}

/* Only samples show which process was killed for lack of memory. */
static struct mt_error *print_kills(const struct mt_summary *s, const struct gauge *kills)
{
	const struct mt_facts *facts = s->view->facts;
	struct mt_table *victims = mt_view_alongside(s->view, "victims");
	bool recorded = false;

	if (victims)
		return print_victims(s, victims);
	for (size_t i = 0; i < facts->events.count; i++)
		recorded |= !strcmp(facts->events.items[i].name, "oom:mark_victim");
	if (!recorded && kills->known && kills->now > kills->before)
		fputs("        what was OOM-killed is not seen: mtrec -e oom,vm,rss -a\n", s->to);
	return NULL;
}

struct mt_error *mt_summary_print_host(const struct mt_summary *s)
{
	static const char *const names[GAUGES] = {
		[AVAILABLE] = "meminfo MemAvailable", [SWAP_TOTAL] = "meminfo SwapTotal",
		[SWAP_FREE] = "meminfo SwapFree",     [PRESSURE] = "pressure memory some",
		[OOM_KILLS] = "vmstat oom_kill",      [SHARED] = "meminfo Shmem",
	};
	struct gauge g[GAUGES] = {0};
	double seconds = mt_facts_seconds(s->view->facts);
	struct mt_error *err = s->host ? read_gauges(s->host, names, g, GAUGES) : NULL;

	if (err)
		return err;
	if (!g[AVAILABLE].known)
		return print_kills(s, &g[OOM_KILLS]);
	fputs("host    ", s->to);
	print_change("available", g[AVAILABLE].before, g[AVAILABLE].now, s->to);
	if (g[SWAP_TOTAL].known && g[SWAP_FREE].known)
		print_change("   swap", g[SWAP_TOTAL].before - g[SWAP_FREE].before,
			     g[SWAP_TOTAL].now - g[SWAP_FREE].now, s->to);
	if (g[PRESSURE].known && seconds > 0)
		fprintf(s->to, "   pressure %.0f %%",
			(g[PRESSURE].now - g[PRESSURE].before) / seconds / 1e4);
	if (g[OOM_KILLS].known)
		fprintf(s->to, "   OOM kills %s",
			mt_text_count(g[OOM_KILLS].now - g[OOM_KILLS].before).text);
	fputc('\n', s->to);
	print_shared(s, &g[SHARED]);
	return print_kills(s, &g[OOM_KILLS]);
}
