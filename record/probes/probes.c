/*
 * Defines events in tracefs for a word. The definition names a file by a descriptor of the
 * recorder, so that the probe is set in the same file whose symbols were read.
 */
#include "record/probes/probes.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/memory.h"
#include "record/plan/probe_word.h"
#include "record/probes/probe_definition.h"
#include "record/probes/probe_events.h"
#include "record/probes/probe_point.h"
#include "record/probes/probe_sites.h"
#include "record/probes/usdt_notes.h"
#include "record/proc/numbers.h"
#include "symbols/elf/elf.h"

enum {
	EVENT_NAME_MOST = 40, /* the kernel allows 63 */
	INSTRUCTION_MOST = 15,
	REMOVE_TURNS = 250,
	REMOVE_PAUSE_US = 20000,
	/*
	 * Number of probes that the recorder removes itself. The kernel takes about 85 ms to close
	 * the events of each probe, half a second in all.
	 */
	AT_ONCE_MOST = 6,
};

struct probe {
	char *event; /* group/name */
	char *place; /* for messages */
	bool kernel;
};

struct mt_probes {
	int tracefs;
	const struct mt_probe_targets *targets;
	char group[MT_PROBE_GROUP_SIZE];
	MT_ARRAY(struct probe) items;
	bool left; /* another process removes them */
};

struct mt_probes *mt_probes_create(int tracefs, const struct mt_probe_targets *targets)
{
	struct mt_probes *probes = calloc(1, sizeof(*probes));

	if (!probes)
		return NULL;
	probes->tracefs = tracefs;
	probes->targets = targets;
	mt_probe_group(probes->group);
	return probes;
}

void mt_probes_destroy(struct mt_probes *probes)
{
	if (!probes)
		return;
	for (size_t i = 0; i < probes->items.count; i++) {
		if (!probes->left)
			mt_probe_event_remove(probes->tracefs, probes->items.items[i].kernel,
					      probes->items.items[i].event);
		free(probes->items.items[i].event);
		free(probes->items.items[i].place);
	}
	mt_array_deinit(&probes->items);
	free(probes);
}

/*
 * Runs in the background process, which has only the recorder's descriptors. Waits until the
 * recorder has exited. So the background process, not the recorder, is the last to close an event
 * and waits for the kernel.
 */
static void remove_all(const struct mt_probes *probes, pid_t recorder)
{
	for (int turn = 0; turn < REMOVE_TURNS && getppid() == recorder; turn++)
		usleep(REMOVE_PAUSE_US);
	for (int fd = 0; fd < (int)sysconf(_SC_OPEN_MAX); fd++) {
		if (fd != probes->tracefs)
			close(fd);
	}
	for (size_t i = 0; i < probes->items.count; i++) {
		const struct probe *probe = &probes->items.items[i];

		(void)mt_probe_event_remove(probes->tracefs, probe->kernel, probe->event);
	}
}

void mt_probes_remove_later(struct mt_probes *probes)
{
	pid_t recorder = getpid(), pid;

	/* The end of PID 1 ends its container, and with it the background process. */
	if (probes->left || probes->items.count <= AT_ONCE_MOST || recorder == 1)
		return;
	pid = fork();
	probes->left = pid > 0;
	if (pid)
		return;
	(void)setsid();
	remove_all(probes, recorder);
	_exit(0);
}

void mt_probes_describe(const struct mt_probes *probes,
			void (*say)(void *context, const char *text), void *context)
{
	for (size_t i = 0; i < probes->items.count; i++) {
		MT_CLEANUP_FREE char *text = NULL;

		text = mt_format("probe %s: %s", probes->items.items[i].event,
				 probes->items.items[i].place);
		if (text)
			say(context, text);
	}
}

/* ---- One event ---- */

/* A word that is being defined, and the arguments of each(). */
struct defining {
	struct mt_probes *probes;
	const struct mt_probe_word *word;
	mt_take_probe *each;
	void *out;
	bool entry; /* the event is the entry of a return probe's function */
	bool is_stepped;
	bool alone;	/* a return probe has no entry event */
	char *left_out; /* arguments that are not recorded */
	bool no_semaphores;
};

static bool is_taken(const struct mt_probes *probes, const char *event)
{
	for (size_t i = 0; i < probes->items.count; i++) {
		if (!strcmp(probes->items.items[i].event, event))
			return true;
	}
	return false;
}

/*
 * Returns "group/name" of letters, digits and _, different from all earlier names. The caller frees
 * it.
 */
static char *event_name(const struct mt_probes *probes, const char *symbol)
{
	char clean[EVENT_NAME_MOST + 1], *event = NULL;
	size_t length = 0;

	if (isdigit((unsigned char)*symbol))
		clean[length++] = '_';
	for (; *symbol && length < EVENT_NAME_MOST; symbol++)
		clean[length++] = isalnum((unsigned char)*symbol) ? *symbol : '_';
	clean[length] = '\0';
	for (size_t i = 0; !event && i <= probes->items.count; i++) {
		if ((i ? asprintf(&event, "%s/%s_%zu", probes->group, clean, i)
		       : asprintf(&event, "%s/%s", probes->group, clean)) < 0)
			return NULL;
		if (is_taken(probes, event)) {
			free(event);
			event = NULL;
		}
	}
	return event;
}

/*
 * Writes the definition of an event. Kernels before 4.20 have no semaphores; the probe then fires
 * only if another process raised the program's semaphore.
 */
static struct mt_error *write_event(struct defining *defining,
				    struct mt_probe_definition *definition)
{
	int tracefs = defining->probes->tracefs;
	MT_CLEANUP_FREE char *text = NULL;
	MT_CLEANUP_FREE char *left_out = NULL;
	struct mt_error *err =
		mt_probe_definition_text(definition, defining->word, &text, &left_out);

	if (!err)
		err = mt_probe_event_write(tracefs, !definition->file, text);
	if (err && err->errnum == EINVAL && definition->semaphore) {
		struct mt_error *without;

		definition->semaphore = 0;
		without = write_event(defining, definition);
		defining->no_semaphores |= !without;
		mt_error_destroy(without ? without : err);
		return without ? err : NULL;
	}
	if (!err && left_out && !defining->left_out)
		defining->left_out = MT_TAKE(left_out);
	return err;
}

/* Keeps a probe, to remove it later. Takes ownership of event and place. */
static struct mt_error *keep(struct mt_probes *probes, char *event, char *place, bool kernel)
{
	struct probe *slot = mt_array_push(&probes->items);

	if (slot) {
		*slot = (struct probe){event, place, kernel};
		return NULL;
	}
	mt_probe_event_remove(probes->tracefs, kernel, event);
	free(event);
	free(place);
	return mt_error_nomem();
}

/* Returns the word as the user wrote it; for a pattern, with the name that was found. */
static char *alias_of(const struct mt_probe_word *word, const char *name)
{
	size_t symbol = strlen(word->text) - strlen(word->symbol);

	if (!strpbrk(word->symbol, "*?["))
		return strdup(word->text);
	return mt_format("%.*s%s", (int)symbol, word->text, name);
}

/* Defines one event and passes it to each(). Takes ownership of place. */
static struct mt_error *define_event(struct defining *defining,
				     struct mt_probe_definition *definition, const char *name,
				     char *place)
{
	MT_CLEANUP_FREE char *owned = place;
	MT_CLEANUP_FREE char *event = event_name(defining->probes, name);
	MT_CLEANUP_FREE char *alias = alias_of(defining->word, name);
	MT_CLEANUP_FREE char *full = NULL;
	struct mt_error *err;

	if (!owned || !event || !alias)
		return mt_error_nomem();
	definition->group = defining->probes->group;
	definition->name = event + strlen(definition->group) + 1;
	err = write_event(defining, definition);
	if (!err && asprintf(&full, "%s:%s", definition->group, definition->name) < 0)
		full = NULL;
	if (!err)
		err = keep(defining->probes, MT_TAKE(event), MT_TAKE(owned), !definition->file);
	if (!err && !full)
		err = mt_error_nomem();
	return err ? err
		   : defining->each(defining->out, &(struct mt_defined_probe){
							   .name = full,
							   .alias = alias,
							   .entry = defining->entry,
							   .is_stepped = defining->is_stepped,
						   });
}

/* ---- Words ---- */

static struct mt_error *define_in_kernel(struct defining *defining)
{
	struct mt_probe_definition definition = {.symbol = defining->word->symbol,
						 .offset = defining->word->offset};

	if (strpbrk(defining->word->symbol, "*?[ \t"))
		return mt_error_create(MT_ERR_USAGE,
				       "%s: functions of the kernel are named one by one",
				       defining->word->text);
	return define_event(defining, &definition, defining->word->symbol,
			    strdup(defining->word->text));
}

/*
 * Defines an event at the entry that records the location and value of the return address. The
 * kernel replaces the return address by a trampoline until the function returns. The return probe
 * stops threads at the entry anyway.
 */
static struct mt_error *define_entry(const struct defining *defining,
				     const struct mt_probe_definition *definition, const char *name)
{
	struct mt_probe_field fields[] = {{"return_slot", "%sp", NULL},
					  {"return_address", "+0(%sp)", NULL}};
	struct mt_probe_word word = *defining->word;
	struct mt_probe_definition entry = *definition;
	struct defining of_entry = *defining;
	char entry_name[EVENT_NAME_MOST + 1];

	word.kind = MT_PROBE_ENTRY;
	word.fields.items = fields;
	word.fields.count = sizeof(fields) / sizeof(*fields);
	of_entry.word = &word;
	of_entry.entry = true;
	snprintf(entry_name, sizeof(entry_name), "entry_%s", name);
	return define_event(&of_entry, &entry, entry_name, strdup("the entry beside the next"));
}

/*
 * Moves a function's probe past instructions that cost more to stop at, as long as the sources of
 * its fields do not change (probe_point.h).
 */
static struct mt_probe_point choose_point(const struct defining *defining, struct mt_elf *elf,
					  const struct mt_probe_site *site,
					  const struct mt_probe_definition *definition)
{
	const struct mt_probe_word *word = defining->word;
	bool moves = word->kind == MT_PROBE_ENTRY && !word->has_offset && site->size &&
		     mt_elf_machine(elf) == EM_X86_64;
	const uint8_t *code = moves ? mt_elf_bytes_at(elf, site->address, site->size) : NULL;
	MT_CLEANUP_FREE char *text = NULL;
	MT_CLEANUP_FREE char *left_out = NULL;
	struct mt_error *err =
		code ? mt_probe_definition_text(definition, word, &text, &left_out) : NULL;

	mt_error_destroy(err); /* a later call makes the same error and reports it */
	return text ? mt_probe_point_choose(code, site->size, mt_probe_needed(text))
		    : (struct mt_probe_point){0};
}

/* Returns true if the kernel single-steps the instruction, or if that is unknown. */
static bool is_stepped(struct mt_elf *elf, uint64_t address)
{
	const uint8_t *code = NULL;
	size_t size = INSTRUCTION_MOST;
	const char *emulated;
	uint32_t written;

	if (mt_elf_machine(elf) == EM_X86_64) {
		while (size && !(code = mt_elf_bytes_at(elf, address, size)))
			size--;
	}
	return !code || !mt_probe_instruction(code, size, &written, &emulated) || !emulated;
}

static char *place_text(const struct mt_probe_file *file, const struct mt_probe_site *site,
			const struct mt_probe_point *point)
{
	char *place, *chosen = NULL;

	if (point->instruction && asprintf(&chosen, ", %zu bytes in: a %s is emulated",
					   point->offset, point->instruction) < 0)
		return NULL;
	place = mt_format("%s of %s, offset 0x%" PRIx64 "%s", site->name, file->path, site->offset,
			  chosen ? chosen : "");
	free(chosen);
	return place;
}

static struct mt_error *define_site(struct defining *defining, const struct mt_probe_file *file,
				    struct mt_elf *elf, const struct mt_probe_site *site)
{
	char by_descriptor[64];
	struct mt_probe_definition definition = {
		.group = "g",
		.name = "e",
		.file = by_descriptor,
		.offset = site->offset,
		.semaphore = site->semaphore,
		.arguments = site->arguments,
	};
	struct mt_probe_point point;

	snprintf(by_descriptor, sizeof(by_descriptor), "/proc/self/fd/%d", file->fd);
	defining->is_stepped = is_stepped(elf, site->address);
	if (defining->word->kind == MT_PROBE_RETURN && !defining->alone) {
		struct mt_error *err = define_entry(defining, &definition, site->name);

		if (err)
			return err;
	}
	point = choose_point(defining, elf, site, &definition);
	definition.offset += point.offset;
	defining->is_stepped = is_stepped(elf, site->address + point.offset);
	return define_event(defining, &definition, site->name, place_text(file, site, &point));
}

/* Defines every site of one file. MT_ERR_NOT_FOUND: the file has none. */
static struct mt_error *define_in_elf(struct defining *defining, const struct mt_probe_file *file,
				      struct mt_elf *elf)
{
	MT_CLEANUP(mt_probe_sites_deinit) struct mt_probe_sites sites = {0};
	struct mt_error *err = mt_probe_sites_find(elf, file->path, defining->word, &sites);

	for (size_t i = 0; i < sites.items.count && !err; i++)
		err = define_site(defining, file, elf, &sites.items.items[i]);
	return err;
}

static struct mt_error *define_in_file(struct defining *defining, const struct mt_probe_file *file)
{
	MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;
	struct mt_error *err = mt_elf_read_fd(file->fd, file->path, &elf);

	return err ? err : define_in_elf(defining, file, elf);
}

/* Several files can have the name; it suffices if one has the symbol. */
static struct mt_error *define_in_files(struct defining *defining)
{
	MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};
	const struct mt_probe_word *word = defining->word;
	struct mt_error *err =
		mt_probe_files_find(defining->probes->targets, word->text, word->path, &files);
	struct mt_error *missing = NULL;
	bool some = false;

	for (size_t i = 0; i < files.items.count && !err; i++) {
		err = define_in_file(defining, &files.items.items[i]);
		some |= !err;
		if (err && err->kind == MT_ERR_NOT_FOUND) {
			mt_error_destroy(missing);
			missing = MT_TAKE(err);
		}
	}
	if (err || some) {
		mt_error_destroy(missing);
		return err;
	}
	return missing;
}

static char *make_note(const struct defining *defining)
{
	char *note;

	if (defining->no_semaphores &&
	    asprintf(&note,
		     "%s: this kernel (before 4.20) cannot raise the probe's semaphore: it "
		     "fires only while another tool has raised it",
		     defining->word->text) >= 0)
		return note;
	if (defining->left_out && asprintf(&note, "%s: the kernel cannot fetch %s: left out",
					   defining->word->text, defining->left_out) >= 0)
		return note;
	return NULL;
}

struct mt_error *mt_probes_check(const struct mt_probes *probes)
{
	if (probes->tracefs >= 0)
		return NULL;
	return mt_error_hint(mt_error_create(MT_ERR_PERMISSION,
					     "probes are defined in tracefs, which cannot be "
					     "reached"),
			     MT_PROBES_HINT);
}

const struct mt_probe_targets *mt_probes_targets_get(const struct mt_probes *probes)
{
	return probes->targets;
}

struct mt_error *mt_probes_define_in(struct mt_probes *probes, const struct mt_probe_file *file,
				     struct mt_elf *elf, const char *text, mt_take_probe *each,
				     void *out)
{
	MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};
	struct defining defining = {
		.probes = probes, .word = &word, .each = each, .out = out, .alone = true};
	struct mt_error *err = mt_probe_word_parse(text, strlen(text), &word);

	return err ? err : define_in_elf(&defining, file, elf);
}

struct mt_error *mt_probes_define(void *context, const char *text, size_t length,
				  mt_take_probe *each, void *out, char **note)
{
	MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};
	struct defining defining = {.probes = context, .word = &word, .each = each, .out = out};
	struct mt_error *err = mt_probe_word_parse(text, length, &word);

	if (err)
		return err;
	err = mt_probes_check(context);
	if (!err)
		err = word.path ? define_in_files(&defining) : define_in_kernel(&defining);
	*note = err ? NULL : make_note(&defining);
	free(defining.left_out);
	if (err && !strstr(err->message, word.text))
		err = mt_error_context(err, "%s", word.text);
	if (err && err->kind == MT_ERR_NOT_FOUND)
		err->kind = MT_ERR_USAGE;
	return err;
}

/* ---- Listing ---- */

struct listing {
	const char *path, *pattern;
	FILE *to;
	size_t count;
};

static bool list_note(void *context, const struct mt_usdt_note *note)
{
	struct listing *listing = context;
	MT_CLEANUP_FREE char *word = NULL;

	word = mt_format("usdt:%s:%s:%s", listing->path, note->provider, note->name);
	if (!word)
		return false;
	if (listing->pattern && !strcasestr(word, listing->pattern) &&
	    fnmatch(listing->pattern, word, 0))
		return true;
	listing->count++;
	fprintf(listing->to, *note->arguments ? "%s  (%s)\n" : "%s\n", word, note->arguments);
	return !ferror(listing->to);
}

struct mt_error *mt_probes_list_usdt(const struct mt_probe_targets *targets, const char *pattern,
				     FILE *to)
{
	struct listing listing = {.pattern = pattern, .to = to};
	struct mt_error *err = NULL;

	for (size_t i = 0; i < targets->pids->count && !err; i++) {
		MT_CLEANUP(mt_probe_files_deinit) struct mt_probe_files files = {0};

		err = mt_probe_files_of(targets->pids->items[i], &files);
		for (size_t k = 0; k < files.items.count; k++) {
			MT_CLEANUP(mt_elf_destroy_p) struct mt_elf *elf = NULL;

			listing.path = files.items.items[k].path;
			mt_error_destroy(
				mt_elf_read_fd(files.items.items[k].fd, listing.path, &elf));
			if (elf)
				mt_usdt_notes_each(elf, list_note, &listing);
		}
	}
	if (!err && !listing.count)
		return mt_error_create(MT_ERR_NOT_FOUND,
				       "no static probe matches: what it maps has "
				       "no such .note.stapsdt");
	return err;
}
