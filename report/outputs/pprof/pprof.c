/*
 * --pprof: a profile.proto file for pprof, speedscope and others. Each row is a sample, written as
 * it is read: its figures are values, its stack locations, its other keys labels. The messages that
 * samples refer to follow: locations, functions, mappings, and the table of strings, whose indices
 * are the ids of interned strings.
 *
 * Addresses have an image's number in the upper bits and the offset in its file in the lower ones.
 * They are unique, and a mapping that covers an image identifies it.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/outputs.h"
#include "report/outputs/parts/cells.h"
#include "report/outputs/pprof/gzip.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"
#include "report/tables/text.h"

/* Fields of the messages in github.com/google/pprof's profile.proto. */
enum profile_field {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum value_type_field {
	TYPE_TYPE = 1,
	TYPE_UNIT = 2,
};

enum sample_field {
	SAMPLE_LOCATION = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
};

enum label_field {
	LABEL_KEY = 1,
	LABEL_STRING = 2,
	LABEL_NUMBER = 3,
};

enum mapping_field {
	MAPPING_ID = 1,
	MAPPING_START = 2,
	MAPPING_LIMIT = 3,
	MAPPING_FILE = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILES = 8,
	MAPPING_HAS_LINES = 9,
	MAPPING_HAS_INLINES = 10,
};

enum location_field {
	LOCATION_ID = 1,
	LOCATION_MAPPING = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
};

enum line_field {
	LINE_FUNCTION = 1,
	LINE_LINE = 2,
};

enum function_field {
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILE = 4,
};

enum {
	IMAGE_SHIFT = 44, /* bits of an offset in a file */
};

/*
 * A message of protocol buffers under construction: varints and length-delimited fields, which are
 * all that a profile has.
 */
struct message {
	MT_ARRAY(uint8_t) bytes;
};

enum {
	WIRE_VARINT = 0,
	WIRE_BYTES = 2,
	VARINT_MOST = 10, /* bytes of 64 bits, seven each */
};

static void message_deinit(struct message *message)
{
	mt_array_deinit(&message->bytes);
}

/* Empties the message, but keeps its memory. */
static void clear_message(struct message *message)
{
	message->bytes.count = 0;
}

/* Adds a number to a packed field, which add_message() then adds to a message. */
static void add_packed(struct message *packed, uint64_t value)
{
	mt_array_reserve(&packed->bytes, packed->bytes.count + VARINT_MOST);
	for (; value >= 0x80; value >>= 7)
		packed->bytes.items[packed->bytes.count++] = (uint8_t)(value | 0x80);
	packed->bytes.items[packed->bytes.count++] = (uint8_t)value;
}

/* Adds an integer field; nothing for 0, which is the default of an absent field. */
static void add_integer(struct message *message, unsigned int field, uint64_t value)
{
	if (!value)
		return;
	add_packed(message, field << 3 | WIRE_VARINT);
	add_packed(message, value);
}

static void add_bytes(struct message *message, unsigned int field, const void *bytes, size_t size)
{
	add_packed(message, field << 3 | WIRE_BYTES);
	add_packed(message, size);
	mt_array_extend(&message->bytes, (const uint8_t *)bytes, size);
}

static void add_message(struct message *message, unsigned int field, const struct message *part)
{
	add_bytes(message, field, part->bytes.items, part->bytes.count);
}

struct pprof {
	const struct mt_view *view;
	struct mt_table *table;
	struct mt_gzip *gzip;
	struct mt_strings *strings;
	struct message message, part, line; /* scratch: a message, and parts of one */
	struct message head;		    /* scratch for the output */
	struct mt_map64 functions;	    /* from strings of name and file to function id */
	struct mt_map64 mappings;	    /* from the path's string to the mapping's id */
	MT_ARRAY(bool) used;		    /* by frame: a location was written */
	size_t stack;			    /* key column */
};

static void pprof_deinit(struct pprof *p)
{
	mt_gzip_destroy(p->gzip);
	mt_strings_destroy(p->strings);
	message_deinit(&p->message);
	message_deinit(&p->part);
	message_deinit(&p->line);
	message_deinit(&p->head);
	mt_map64_deinit(&p->functions);
	mt_map64_deinit(&p->mappings);
	mt_array_deinit(&p->used);
}

/* The id of text as UTF-8, which strings of protocol buffers must be. */
static uint32_t string_of(struct pprof *p, const char *text)
{
	return mt_text_intern(p->strings, text);
}

/* Writes a message as a field of the profile, and empties it. */
static void put(struct pprof *p, enum profile_field field, struct message *message)
{
	clear_message(&p->head);
	add_message(&p->head, field, message);
	mt_gzip_write(p->gzip, p->head.bytes.items, p->head.bytes.count);
	clear_message(message);
}

/* Writes a single integer of the profile. */
static void put_integer(struct pprof *p, enum profile_field field, uint64_t value)
{
	clear_message(&p->head);
	add_integer(&p->head, field, value);
	mt_gzip_write(p->gzip, p->head.bytes.items, p->head.bytes.count);
}

/* ---- Figures ---- */

/* False for maxima, which do not add up, because pprof sums all figures. */
static bool adds_up(const struct pprof *p, size_t value)
{
	return p->table->compared || !(p->table->most >> value & 1);
}

/* The name of a figure: pprof's, if it has one for the figure, else the column's. */
static const char *type_of(const struct pprof *p, size_t value)
{
	static const struct {
		const char *analysis, *figure, *type;
	} known[] = {
		{"outstanding", "bytes", "inuse_space"}, {"outstanding", "count", "inuse_objects"},
		{"blocks", "bytes", "inuse_space"},	 {"blocks", "blocks", "inuse_objects"},
		{"blocks", "allocated", "alloc_space"},	 {"blocks", "allocations", "alloc_objects"},
		{"growth", "bytes", "alloc_space"},	 {"growth", "count", "alloc_objects"},
	};
	const char *name = p->table->values[value].name;

	for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
		if (!p->table->compared && !strcmp(known[i].analysis, p->table->name) &&
		    !strcmp(known[i].figure, name))
			return known[i].type;
	}
	return name;
}

static const char *unit_of(const struct mt_value_column *column)
{
	if (!strcmp(column->unit, "B"))
		return "bytes";
	if (!strcmp(column->unit, "s"))
		return "seconds";
	return strcmp(column->name, "count") != 0 && *column->unit ? column->unit : "count";
}

static void put_types(struct pprof *p)
{
	for (size_t i = 0; i < p->table->value_count; i++) {
		if (!adds_up(p, i))
			continue;
		add_integer(&p->message, TYPE_TYPE, string_of(p, type_of(p, i)));
		add_integer(&p->message, TYPE_UNIT, string_of(p, unit_of(&p->table->values[i])));
		put(p, PROFILE_SAMPLE_TYPE, &p->message);
	}
	if (p->table->value_count && adds_up(p, p->view->value))
		put_integer(p, PROFILE_DEFAULT_SAMPLE_TYPE,
			    string_of(p, type_of(p, p->view->value)));
}

static uint64_t whole(double value)
{
	if (!(fabs(value) < 9e18))
		return 0;
	return (uint64_t)(int64_t)(value < 0 ? value - 0.5 : value + 0.5);
}

/* ---- Samples ---- */

static void put_locations(struct pprof *p, uint32_t stack)
{
	size_t depth;
	const uint32_t *frames = mt_stacks_get(p->table->stacks, stack, &depth);

	clear_message(&p->part);
	for (size_t i = 0; i < depth; i++) {
		*mt_array_at(&p->used, frames[i]) = true;
		add_packed(&p->part, (uint64_t)frames[i] + 1);
	}
	add_message(&p->message, SAMPLE_LOCATION, &p->part);
}

static void put_values(struct pprof *p, const struct mt_row *row)
{
	clear_message(&p->part);
	for (size_t i = 0; i < p->table->value_count; i++) {
		if (adds_up(p, i))
			add_packed(&p->part, whole(row->values[i].value));
	}
	add_message(&p->message, SAMPLE_VALUE, &p->part);
}

/* Adds a key as a label. Numbers stay numbers; other keys become text. */
static void put_label(struct pprof *p, const struct mt_row *row, size_t column)
{
	enum mt_key_kind kind = p->table->keys[column].kind;
	struct mt_snippet room;
	const char *text = mt_cell_text(p->table, row, column, &room);

	if (!text || !*text)
		return;
	clear_message(&p->part);
	add_integer(&p->part, LABEL_KEY, string_of(p, p->table->keys[column].name));
	if (kind == MT_KEY_NUMBER || kind == MT_KEY_SIGNED)
		add_integer(&p->part, LABEL_NUMBER, row->keys[column]);
	else
		add_integer(&p->part, LABEL_STRING, string_of(p, text));
	add_message(&p->message, SAMPLE_LABEL, &p->part);
}

static struct mt_error *put_samples(struct pprof *p, FILE *to)
{
	struct mt_error *err = NULL;
	struct mt_row row;

	while (!ferror(to) && mt_table_read(p->table, &row, &err)) {
		put_locations(p, (uint32_t)row.keys[p->stack]);
		put_values(p, &row);
		for (size_t i = 0; i < p->table->key_count; i++) {
			if (i != p->stack)
				put_label(p, &row, i);
		}
		put(p, PROFILE_SAMPLE, &p->message);
	}
	return err;
}

/* ---- Messages that samples refer to ---- */

/* The id for this key, counted from 1; *is_new if this is its first use. */
static uint64_t id_of(struct mt_map64 *ids, uint64_t key, bool *is_new)
{
	uint64_t id = ids->count + 1;

	*is_new = !mt_map64_get(ids, key, &id);
	if (*is_new)
		mt_map64_put(ids, key, id);
	return id;
}

static uint64_t mapping_of(struct pprof *p, const struct mt_frame_key *key,
			   const struct mt_frame_name *name)
{
	bool is_new;

	if (key->image == MT_FRAME_NO_IMAGE)
		return 0;
	return id_of(&p->mappings, string_of(p, name->dso), &is_new);
}

/* The function's id; writes the function at its first use, between two locations. */
static uint64_t function_of(struct pprof *p, const struct mt_frame_name *name)
{
	uint64_t text =
		string_of(p, mt_strings_get(mt_frames_strings(p->table->frames), name->name));
	uint64_t file = name->file ? string_of(p, name->file) : 0;
	bool is_new;
	uint64_t id = id_of(&p->functions, text << 32 | file, &is_new);

	if (!is_new)
		return id;
	add_integer(&p->message, FUNCTION_ID, id);
	add_integer(&p->message, FUNCTION_NAME, text);
	add_integer(&p->message, FUNCTION_SYSTEM_NAME, text);
	add_integer(&p->message, FUNCTION_FILE, file);
	put(p, PROFILE_FUNCTION, &p->message);
	return id;
}

/* Writes the location of a frame with its functions, innermost first. */
static void put_location(struct pprof *p, uint32_t frame)
{
	const struct mt_frame_key *key = mt_frames_key(p->table->frames, frame);
	size_t count;
	const struct mt_frame_name *name = mt_frames_names(p->table->frames, frame, &count);
	uint64_t mapping = mapping_of(p, key, name),
		 offset = key->offset & (((uint64_t)1 << IMAGE_SHIFT) - 1);

	clear_message(&p->part);
	add_integer(&p->part, LOCATION_ID, (uint64_t)frame + 1);
	add_integer(&p->part, LOCATION_MAPPING, mapping);
	if (mapping)
		add_integer(&p->part, LOCATION_ADDRESS, mapping << IMAGE_SHIFT | offset);
	for (size_t i = 0; i < count; i++) {
		clear_message(&p->line);
		add_integer(&p->line, LINE_FUNCTION, function_of(p, &name[i]));
		add_integer(&p->line, LINE_LINE, name[i].line);
		add_message(&p->part, LOCATION_LINE, &p->line);
	}
	put(p, PROFILE_LOCATION, &p->part);
}

static void put_mapping(struct pprof *p, uint64_t id, const char *path)
{
	const char *build_id = mt_facts_build_id(p->view->facts, path);

	add_integer(&p->message, MAPPING_ID, id);
	add_integer(&p->message, MAPPING_START, id << IMAGE_SHIFT);
	add_integer(&p->message, MAPPING_LIMIT, (id + 1) << IMAGE_SHIFT);
	add_integer(&p->message, MAPPING_FILE, string_of(p, path));
	if (build_id)
		add_integer(&p->message, MAPPING_BUILD_ID, string_of(p, build_id));
	add_integer(&p->message, MAPPING_HAS_FUNCTIONS, 1);
	add_integer(&p->message, MAPPING_HAS_FILES, 1);
	add_integer(&p->message, MAPPING_HAS_LINES, 1);
	add_integer(&p->message, MAPPING_HAS_INLINES, 1);
	put(p, PROFILE_MAPPING, &p->message);
}

/* Writes the mappings of the locations, in the order of their ids. */
static void put_mappings(struct pprof *p)
{
	uint64_t done = 0;

	for (uint32_t i = 0; i < p->used.count && done < p->mappings.count; i++) {
		size_t count;
		const struct mt_frame_name *name =
			p->used.items[i] ? mt_frames_names(p->table->frames, i, &count) : NULL;
		uint64_t id = 0;

		if (!name || !mt_map64_get(&p->mappings, string_of(p, name->dso), &id) ||
		    id <= done)
			continue;
		put_mapping(p, id, name->dso);
		done = id;
	}
}

static void put_references(struct pprof *p)
{
	mt_frames_resolve(p->table->frames);
	for (uint32_t i = 0; i < p->used.count; i++) {
		if (p->used.items[i])
			put_location(p, i);
	}
	put_mappings(p);
}

/* ---- The profile ---- */

/* Writes the time of the recording, and its losses as comments. */
static void put_facts(struct pprof *p)
{
	const struct mt_facts *facts = p->view->facts;
	uint64_t lost = mt_facts_lost_all(facts);
	char comment[200];

	if (facts->recordings.count)
		put_integer(p, PROFILE_TIME_NANOS, facts->recordings.items[0].start_utc);
	put_integer(p, PROFILE_DURATION_NANOS, whole(mt_facts_seconds(facts) * 1e9));
	snprintf(comment, sizeof(comment), "mtreport --%s", p->table->name);
	put_integer(p, PROFILE_COMMENT, string_of(p, comment));
	if (!lost)
		return;
	snprintf(comment, sizeof(comment), "%" PRIu64 " records were lost while recording", lost);
	put_integer(p, PROFILE_COMMENT, string_of(p, comment));
}

static void put_strings(struct pprof *p)
{
	for (uint32_t i = 0; i < mt_strings_count(p->strings); i++) {
		const char *text = mt_strings_get(p->strings, i);

		clear_message(&p->head);
		add_bytes(&p->head, PROFILE_STRING, text, strlen(text));
		mt_gzip_write(p->gzip, p->head.bytes.items, p->head.bytes.count);
	}
}

static struct mt_error *write_pprof(const struct mt_view *view, struct mt_table *table, FILE *to)
{
	MT_CLEANUP(pprof_deinit)
	struct pprof p = {
		.view = view,
		.table = table,
		.gzip = mt_gzip_create(to),
		.strings = mt_strings_create(),
		.stack = mt_table_key_of_kind(table, MT_KEY_STACK),
	};
	struct mt_error *err;

	put_types(&p);
	err = put_samples(&p, to);
	if (err)
		return err;
	put_references(&p);
	put_facts(&p);
	put_strings(&p);
	mt_gzip_finish(p.gzip);
	return NULL;
}

const struct mt_output mt_output_pprof = {
	.name = "pprof",
	.argument = "OUT.pb.gz",
	.help = "a profile for pprof and speedscope",
	.rare = true,
	.needs = MT_NEEDS_STACK | MT_TAKES_KEYS | MT_NEEDS_IMAGES,
	.write = write_pprof,
};
