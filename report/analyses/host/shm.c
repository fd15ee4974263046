/*
 * --shm: shared memory: the segments of System V, the processes that created, attached and removed
 * them, the attachments at the end, and the creation of files in memory. Calls come from their
 * samples. Attachments come from the ledger, which also follows fork, munmap and exit.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>

#include "formats/base/array.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/account/call.h"
#include "report/account/calls.h"
#include "report/analyses/analyses.h"
#include "report/analyses/rows/ledger_rows.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

enum {
	VALUE_BYTES, /* still attached */
	VALUE_ATTACHED,
	VALUE_CALLS,
	VALUE_FAILED,
	VALUE_SIZE, /* of the segment, as requested */
	VALUES
};

static const struct mt_value_column value_columns[VALUES] = {
	{"bytes", "B"}, {"attached", ""}, {"calls", "calls"}, {"failed", "calls"}, {"size", "B"},
};

enum shm_call {
	SHM_NONE,
	SHM_GET,
	SHM_AT,
	SHM_DT,
	SHM_CTL,
	SHM_MEMFD,
};

/* The calls, with their numbers on x86-64. */
static const struct {
	const char *name;
	int64_t number;
} calls[] = {
	[SHM_GET] = {"shmget", 29},
	[SHM_AT] = {"shmat", 30},
	[SHM_DT] = {"shmdt", 67},
	[SHM_CTL] = {"shmctl", 31},
	[SHM_MEMFD] = {"memfd_create", 319},
};

#define CALLS (sizeof(calls) / sizeof(*calls))

/* The commands of shmctl. */
static const struct {
	unsigned int number;
	const char *name;
	bool has_id; /* the first argument is a segment's id */
} commands[] = {
	{0, "IPC_RMID", true},	 {1, "IPC_SET", true},	  {2, "IPC_STAT", true},
	{3, "IPC_INFO", false},	 {11, "SHM_LOCK", true},  {12, "SHM_UNLOCK", true},
	{13, "SHM_STAT", false}, {14, "SHM_INFO", false}, {15, "SHM_STAT_ANY", false},
};

#define COMMANDS (sizeof(commands) / sizeof(*commands))
#define SYSV "/SYSV" /* prefix of a segment mapping's name, before its key */

enum {
	ID_NONE = -1,
	SPACE_ANY = 0,
	ADDRESS_BITS = 35, /* bits of a page number */
};

struct segment {
	uint64_t key;	/* UINT64_MAX: unknown */
	uint64_t size;	/* 0: unknown */
	uint32_t maker; /* string id: "server (4242)" */
};

/* Data of a row, which is made when its segment is fully known. */
struct noted {
	struct mt_row_facts facts;
	struct mt_value values[VALUES];
	uint32_t recording;
	int64_t id;
};

struct shm {
	struct mt_ledger_run run; /* first */
	struct mt_map64 by_id;	  /* recording and id to index in segments */
	MT_ARRAY(struct segment) segments;
	struct mt_map64 by_place; /* space and address to id of the last segment attached there */
	MT_ARRAY(struct noted) noted;
};

static void destroy(struct mt_ledger_run *run)
{
	struct shm *shm = (struct shm *)run;

	mt_map64_deinit(&shm->by_id);
	mt_map64_deinit(&shm->by_place);
	mt_array_deinit(&shm->segments);
	mt_array_deinit(&shm->noted);
}

static uint64_t id_key(uint32_t recording, int64_t id)
{
	return (uint64_t)recording << 32 | (uint32_t)id;
}

/* The segment of an id, new if unknown. Borrowed until the next one is created. */
static struct segment *segment_of(struct shm *shm, uint32_t recording, int64_t id)
{
	size_t known = shm->segments.count;
	struct segment *segment =
		mt_map64_element(&shm->by_id, &shm->segments, id_key(recording, id));

	if (shm->segments.count > known)
		segment->key = UINT64_MAX;
	return segment;
}

static struct noted *note(struct shm *shm, uint32_t recording, int64_t id)
{
	struct noted *noted = mt_array_push(&shm->noted);

	*noted = (struct noted){.recording = recording, .id = id};
	return noted;
}

static uint32_t intern(struct shm *shm, const char *text)
{
	return mt_strings_add(mt_session_strings(shm->run.rows.session), text);
}

/* ---- Calls ---- */

static enum shm_call call_named(const char *event)
{
	int64_t number = mt_call_number(event);
	const char *name = strncmp(event, "syscalls:sys_exit_", 18) ? "" : event + 18;
	size_t length = strcspn(name, "/");

	if (number >= 0 && strncmp(event, "raw_syscalls:sys_exit", 21))
		return SHM_NONE;
	for (size_t i = SHM_GET; i < CALLS; i++) {
		if (calls[i].number == number ||
		    (strlen(calls[i].name) == length && !memcmp(calls[i].name, name, length)))
			return (enum shm_call)i;
	}
	return SHM_NONE;
}

static bool is_shm_event(const char *event)
{
	return call_named(event) != SHM_NONE;
}

struct shm_sample {
	const struct mt_session_sample *sample;
	enum shm_call call;
	uint64_t args[MT_VM_ARGUMENTS];
	bool has_args, failed;
	int64_t result;
};

static uint64_t place_of(uint32_t space, uint64_t address)
{
	return (uint64_t)space << ADDRESS_BITS | (address >> 12 & ((1ull << ADDRESS_BITS) - 1));
}

/* The segment attached at an address; a process that inherited it has it at the same address. */
static int64_t detached_from(const struct shm *shm, const struct shm_sample *taken)
{
	uint64_t id;

	if (mt_map64_get(&shm->by_place, place_of(taken->sample->space->id + 1, taken->args[0]),
			 &id) ||
	    mt_map64_get(&shm->by_place, place_of(SPACE_ANY, taken->args[0]), &id))
		return (int64_t)id;
	return ID_NONE;
}

static void note_place(struct shm *shm, const struct shm_sample *taken)
{
	uint64_t at = (uint64_t)taken->result, id = (uint32_t)taken->args[0];

	mt_map64_put(&shm->by_place, place_of(taken->sample->space->id + 1, at), id);
	mt_map64_put(&shm->by_place, place_of(SPACE_ANY, at), id);
}

/* Keeps the arguments of shmget. The first caller that may create the segment is its maker. */
static void learn(struct shm *shm, const struct shm_sample *taken)
{
	const struct mt_session_sample *sample = taken->sample;
	struct segment *segment = segment_of(shm, sample->recording, taken->result);
	char maker[80];

	segment->key = (uint32_t)taken->args[0];
	if (taken->args[1] > segment->size)
		segment->size = taken->args[1];
	if (segment->maker || (segment->key != IPC_PRIVATE && !(taken->args[2] & IPC_CREAT)))
		return;
	snprintf(maker, sizeof(maker), "%.60s (%" PRId32 ")",
		 mt_strings_get(mt_session_strings(shm->run.rows.session), sample->process),
		 sample->task->pid);
	segment->maker = intern(shm, maker);
}

static int64_t segment_in(const struct shm *shm, const struct shm_sample *taken,
			  const char **command)
{
	if (taken->call == SHM_GET && !taken->failed)
		return taken->result;
	if (!taken->has_args)
		return ID_NONE;
	if (taken->call == SHM_DT)
		return detached_from(shm, taken);
	for (size_t i = 0; taken->call == SHM_CTL && i < COMMANDS; i++) {
		if (commands[i].number != (taken->args[1] & 0xff)) /* without IPC_64 */
			continue;
		*command = commands[i].name;
		return commands[i].has_id ? (int32_t)taken->args[0] : ID_NONE;
	}
	return taken->call == SHM_AT ? (int32_t)taken->args[0] : ID_NONE;
}

static void add_call(struct shm *shm, const struct shm_sample *taken)
{
	const char *command = NULL;
	int64_t id = segment_in(shm, taken, &command);
	struct noted *noted = note(shm, taken->sample->recording, id);
	char kind[40];

	snprintf(kind, sizeof(kind), "%s%s%s", calls[taken->call].name, command ? " " : "",
		 command ? command : "");
	noted->facts = mt_row_facts_of(shm->run.rows.session, taken->sample);
	noted->values[VALUE_CALLS] = mt_value_exact(1);
	noted->values[VALUE_FAILED] = mt_value_exact(taken->failed);
	noted->facts.kind = intern(shm, kind);
}

static void take(void *context, const struct mt_session_sample *sample)
{
	struct shm *shm = context;
	const char *event =
		mt_session_facts(shm->run.rows.session)->events.items[sample->event].name;
	struct shm_sample taken = {.sample = sample, .call = call_named(event)};

	if (!mt_vm_call_result(sample->kernel, &taken.result))
		return;
	if (mt_call_number(event) >= 0 &&
	    mt_call_number_in(sample->kernel) != calls[taken.call].number)
		return; /* a call of a 32-bit program */
	taken.failed = mt_vm_call_failed(taken.result);
	taken.has_args = mt_vm_call_registers(sample->attr, sample->kernel, taken.args);
	if (taken.has_args && !taken.failed && taken.call == SHM_GET)
		learn(shm, &taken);
	if (taken.has_args && !taken.failed && taken.call == SHM_AT)
		note_place(shm, &taken);
	add_call(shm, &taken);
}

/* ---- Attachments ---- */

/* The segment's id, which is its mapping's inode. */
static int64_t segment_mapped(struct shm *shm, const struct mt_ledger *ledger,
			      const struct mt_ledger_space *space,
			      const struct mt_region_attrs *attrs)
{
	struct mt_file_identity file = mt_attr_table_file_get(mt_ledger_attrs(ledger), attrs->file);
	struct segment *segment;

	if (attrs->file == MT_FILE_NONE || strncmp(file.name, SYSV, strlen(SYSV)) != 0)
		return ID_NONE;
	segment = segment_of(shm, space->recording, (int32_t)file.inode);
	if (segment->key == UINT64_MAX)
		segment->key = (uint32_t)strtoul(file.name + strlen(SYSV), NULL, 16);
	return (int32_t)file.inode;
}

/* How a process got this attachment. */
static const char *way(const struct mt_ledger_space *space, const struct mt_extent *region,
		       const struct mt_origin *origin)
{
	return mt_ledger_inherited(space, region) ? "inherited"
	       : origin->kind == MT_ORIGIN_BEFORE ? "before"
						  : calls[SHM_AT].name;
}

static void add_region(struct shm *shm, const struct mt_ledger *ledger,
		       const struct mt_ledger_space *space, const struct mt_extent *region)
{
	const struct mt_origin *origin = mt_ledger_origin(ledger, region->origin);
	const struct mt_region_attrs *attrs = mt_attrs_get(mt_ledger_attrs(ledger), region->attrs);
	int64_t id = segment_mapped(shm, ledger, space, attrs);
	struct mt_value bytes = mt_value_exact((double)(region->end - region->start));
	struct noted *noted;

	if (id == ID_NONE || !origin->selected)
		return;
	noted = note(shm, space->recording, id);
	noted->facts = mt_ledger_row_facts(&shm->run.rows, ledger, origin, attrs, space->recording,
					   region->time);
	bytes.low -= (double)mt_ledger_doubtful(ledger, space, region);
	noted->values[VALUE_BYTES] = bytes;
	/* As in the kernel's nattch, each piece that munmap left counts. */
	noted->values[VALUE_ATTACHED] = mt_value_exact(1);
	if (mt_ledger_inherited(space, region)) {
		noted->facts.pid = noted->facts.tid = space->pid;
		noted->facts.process = space->comm;
	}
	noted->facts.kind = intern(shm, way(space, region, origin));
	mt_ledger_row_note(&shm->run.rows, space, &noted->facts);
}

static void add_space(void *context, const struct mt_ledger *ledger,
		      const struct mt_ledger_space *space, const struct mt_extents *regions,
		      uint64_t time)
{
	const struct mt_extent *region = mt_extents_after(regions, 0);
	struct shm *shm = context;

	(void)time;
	for (; region; region = mt_extents_after(regions, region->end))
		add_region(shm, ledger, space, region);
	mt_ledger_rows_add_remaining(&shm->run.rows, space);
}

/* ---- The analysis ---- */

static void end(struct mt_ledger_run *run)
{
	struct shm *shm = (struct shm *)run;

	for (size_t i = 0; i < shm->noted.count; i++) {
		struct noted *noted = &shm->noted.items[i];
		const struct segment unknown = {.key = UINT64_MAX}, *segment = &unknown;
		uint64_t at;

		if (noted->id != ID_NONE &&
		    mt_map64_get(&shm->by_id, id_key(noted->recording, noted->id), &at))
			segment = &shm->segments.items[at];
		noted->facts.segment =
			noted->id == ID_NONE ? UINT64_MAX : (uint64_t)(uint32_t)noted->id;
		noted->facts.key = segment->key;
		noted->facts.maker = segment->maker;
		noted->values[VALUE_SIZE] = mt_value_exact((double)segment->size);
		mt_row_keys_add(run->grouping, &noted->facts, noted->values);
	}
	mt_row_keys_may_have(run->grouping, mt_facts_lost_all(mt_session_facts(run->rows.session)),
			     VALUE_CALLS);
}

static void set_up(struct mt_ledger_run *run)
{
	run->options = (struct mt_ledger_options){
		.at = run->request->at,
		.remaining = add_space,
		.context = run,
	};
}

static const struct mt_ledger_table shm_table = {
	.size = sizeof(struct shm),
	.values = value_columns,
	.value_count = VALUES,
	.most = 1u << VALUE_SIZE,
	.set_up = set_up,
	.end = end,
	.destroy = destroy,
};

/* The ledger and the calls come from one reading. */
static struct mt_error *run(const struct mt_analysis *analysis, struct mt_session *session,
			    const struct mt_analysis_request *request, struct mt_table **out)
{
	struct mt_listener *listener = mt_ledger_table_listen(analysis, session, request, true);
	struct mt_error *err = mt_session_read(session, take, listener);

	err = err ? err : listener->end(listener, out);
	listener->destroy(listener);
	return err;
}

const struct mt_analysis mt_analysis_shm = {
	.name = "shm",
	.help = "shared memory: who made, attached and removed it",
	.rare = true,
	.groups = true,
	.by = MT_BY_BIT(MT_BY_SEGMENT) | MT_BY_BIT(MT_BY_PROCESS) | MT_BY_BIT(MT_BY_THREAD) |
	      MT_BY_BIT(MT_BY_COMM) | MT_BY_BIT(MT_BY_CGROUP) | MT_BY_BIT(MT_BY_CONTAINER) |
	      MT_BY_BIT(MT_BY_KIND) | MT_BY_BIT(MT_BY_STACK),
	.default_by = {{MT_BY_SEGMENT, MT_BY_PROCESS, MT_BY_KIND, MT_BY_STACK}, 4},
	.wants = is_shm_event,
	.moments = true,
	.record = "shm",
	.output = "table",
	.rows = &shm_table,
	.run = run,
};
