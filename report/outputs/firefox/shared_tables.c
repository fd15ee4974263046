/*
 * Rows are interned byte runs, whose ids are the rows' indices. A stack of an analysis is walked
 * once for each caller that it stands below.
 */
#include "report/outputs/firefox/shared_tables.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/map64.h"
#include "formats/base/strings.h"
#include "report/outputs/json.h"
#include "report/stacks/frames.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"
#include "report/tables/table.h"

/* NONE in a column of indices: null, or -1. */
#define NONE UINT32_MAX

struct func {
	uint32_t name, image, source;
};

struct frame {
	uint32_t func, line; /* line 0: not known */
	uint32_t depth;	     /* of inlining: 0 is the function itself */
	uint32_t category;
};

struct node {
	uint32_t prefix, frame;
};

struct mt_shared_tables {
	struct mt_strings *strings;
	struct mt_byte_runs *images, *sources; /* of string ids */
	struct mt_byte_runs *funcs, *frames, *nodes;
	struct mt_map64 walked; /* caller and stack to node */
};

void mt_shared_tables_destroy(struct mt_shared_tables *shared)
{
	if (!shared)
		return;
	mt_strings_destroy(shared->strings);
	mt_byte_runs_destroy(shared->images);
	mt_byte_runs_destroy(shared->sources);
	mt_byte_runs_destroy(shared->funcs);
	mt_byte_runs_destroy(shared->frames);
	mt_byte_runs_destroy(shared->nodes);
	mt_map64_deinit(&shared->walked);
	free(shared);
}

MT_DEFINE_CLEANUP(mt_shared_tables, struct mt_shared_tables)

struct mt_shared_tables *mt_shared_tables_create(void)
{
	MT_CLEANUP(mt_shared_tables_destroy_p)
	struct mt_shared_tables *shared = calloc(1, sizeof(*shared));

	if (!shared)
		return NULL;
	shared->strings = mt_strings_create();
	shared->images = mt_byte_runs_create();
	shared->sources = mt_byte_runs_create();
	shared->funcs = mt_byte_runs_create();
	shared->frames = mt_byte_runs_create();
	shared->nodes = mt_byte_runs_create();
	if (!shared->strings || !shared->images || !shared->sources || !shared->funcs ||
	    !shared->frames || !shared->nodes)
		return NULL;
	return MT_TAKE(shared);
}

/* ---- Rows ---- */

static uint32_t string_of(struct mt_shared_tables *shared, const char *text)
{
	return mt_strings_intern(shared->strings, text, strlen(text));
}

/* The row of a text in a table that has but texts; NONE for NULL, and out of memory. */
static uint32_t text_row(struct mt_shared_tables *shared, struct mt_byte_runs *rows,
			 const char *text)
{
	uint32_t id = text ? string_of(shared, text) : MT_STRING_NONE;

	return id == MT_STRING_NONE ? NONE : mt_byte_runs_intern(rows, &id, sizeof(id));
}

static uint32_t node_of(struct mt_shared_tables *shared, uint32_t prefix, const struct func *func,
			struct frame frame)
{
	struct node node = {.prefix = prefix};

	frame.func = mt_byte_runs_intern(shared->funcs, func, sizeof(*func));
	node.frame = mt_byte_runs_intern(shared->frames, &frame, sizeof(frame));
	if (func->name == MT_STRING_NONE || frame.func == MT_SEQUENCE_NONE ||
	    node.frame == MT_SEQUENCE_NONE)
		return MT_SHARED_FAILED;
	node.frame = mt_byte_runs_intern(shared->nodes, &node, sizeof(node));
	return node.frame == MT_SEQUENCE_NONE ? MT_SHARED_FAILED : node.frame;
}

uint32_t mt_shared_tables_words(struct mt_shared_tables *shared, uint32_t caller, const char *text)
{
	const struct func func = {string_of(shared, text), NONE, NONE};

	return node_of(shared, caller, &func, (struct frame){.category = MT_CATEGORY_OTHER});
}

/* A frame's functions, the outermost first. */
static uint32_t frame_nodes(struct mt_shared_tables *shared, const struct mt_table *table,
			    uint32_t node, uint32_t frame)
{
	const struct mt_frame_key *key = mt_frames_key(table->frames, frame);
	size_t count;
	const struct mt_frame_name *names = mt_frames_names(table->frames, frame, &count);
	bool words = key->flags & MT_FRAME_WORDS;

	if (!names)
		return MT_SHARED_FAILED;
	for (size_t i = count; i-- && node != MT_SHARED_FAILED;) {
		const char *name = mt_strings_get(mt_frames_strings(table->frames), names[i].name);
		const struct func func = {
			string_of(shared, name),
			words ? NONE : text_row(shared, shared->images, names[i].dso),
			text_row(shared, shared->sources, names[i].file),
		};

		node = node_of(shared, node, &func,
			       (struct frame){
				       .line = names[i].file ? names[i].line : 0,
				       .depth = (uint32_t)(count - 1 - i),
				       .category = words ? MT_CATEGORY_OTHER
						   : key->flags & MT_FRAME_IN_KERNEL
							   ? MT_CATEGORY_KERNEL
							   : MT_CATEGORY_USER,
			       });
	}
	return node;
}

uint32_t mt_shared_tables_stack(struct mt_shared_tables *shared, const struct mt_table *table,
				uint32_t caller, uint32_t stack)
{
	uint64_t key = (uint64_t)caller << 32 | stack, known;
	size_t depth;
	const uint32_t *frames = mt_stacks_get(table->stacks, stack, &depth);
	uint32_t node = caller;

	if (mt_map64_get(&shared->walked, key, &known))
		return (uint32_t)known;
	while (depth-- && node != MT_SHARED_FAILED)
		node = frame_nodes(shared, table, node, frames[depth]);
	if (node != MT_SHARED_FAILED && !mt_map64_put(&shared->walked, key, node))
		return MT_SHARED_FAILED;
	return node;
}

/* ---- Columns ---- */

/* A column of the u32 at that offset of each run; NONE is written as `none`. */
static void put_column(const char *name, const struct mt_byte_runs *rows, size_t offset,
		       const char *none, FILE *to)
{
	size_t count = mt_byte_runs_count(rows), size;

	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		const uint8_t *row = mt_byte_runs_get(rows, i, &size);
		uint32_t value;

		memcpy(&value, row + offset, sizeof(value));
		fputs(i ? "," : "", to);
		if (value == NONE)
			fputs(none, to);
		else
			fprintf(to, "%" PRIu32, value);
	}
	fputs("],\n", to);
}

/* A column that has the same in each row. */
static void put_same(const char *name, size_t count, const char *value, FILE *to)
{
	fprintf(to, "\"%s\":[", name);
	for (size_t i = 0; i < count; i++)
		fprintf(to, "%s%s", i ? "," : "", value);
	fputs("],\n", to);
}

static void begin_table(const char *name, FILE *to)
{
	fprintf(to, "\"%s\":{\n", name);
}

static void end_table(const struct mt_byte_runs *rows, FILE *to)
{
	fprintf(to, "\"length\":%zu},\n", rows ? mt_byte_runs_count(rows) : 0);
}

/* How far in front of each stack its caller stands; 0: it has none. */
static void put_prefixes(const struct mt_byte_runs *nodes, FILE *to)
{
	size_t count = mt_byte_runs_count(nodes), size;

	fputs("\"prefixOffset\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		const struct node *node = mt_byte_runs_get(nodes, i, &size);

		fprintf(to, "%s%" PRIu32, i ? "," : "",
			node->prefix == MT_SHARED_ROOT ? 0 : i - node->prefix);
	}
	fputs("],\n", to);
}

/* Lines are 1 and up; 0 is null. */
static void put_lines(const struct mt_byte_runs *frames, FILE *to)
{
	size_t count = mt_byte_runs_count(frames), size;

	fputs("\"line\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = mt_byte_runs_get(frames, i, &size);

		if (frame->line)
			fprintf(to, "%s%" PRIu32, i ? "," : "", frame->line);
		else
			fputs(i ? ",null" : "null", to);
	}
	fputs("],\n", to);
}

/* The image of each frame's function: an index in "libs". */
static void put_libs(const struct mt_shared_tables *shared, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->frames), size;

	fputs("\"lib\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		const struct frame *frame = mt_byte_runs_get(shared->frames, i, &size);
		const struct func *func = mt_byte_runs_get(shared->funcs, frame->func, &size);

		fprintf(to, "%s%" PRId32, i ? "," : "", (int32_t)func->image);
	}
	fputs("],\n", to);
}

static void write_frames(const struct mt_shared_tables *shared, FILE *to)
{
	static const char *const nulls[] = {"nativeSymbol", "innerWindowID", "column",
					    "originalLocation"};
	const struct mt_byte_runs *frames = shared->frames;
	size_t count = mt_byte_runs_count(frames);

	begin_table("frameTable", to);
	put_same("address", count, "-1", to);
	put_libs(shared, to);
	put_column("inlineDepth", frames, offsetof(struct frame, depth), "0", to);
	put_column("category", frames, offsetof(struct frame, category), "0", to);
	put_same("subcategory", count, "0", to);
	put_column("func", frames, offsetof(struct frame, func), "0", to);
	put_lines(frames, to);
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		put_same(nulls[i], count, "null", to);
	end_table(frames, to);
}

static void write_funcs(const struct mt_shared_tables *shared, FILE *to)
{
	static const char *const nulls[] = {"lineNumber", "columnNumber", "originalLocation"};
	const struct mt_byte_runs *funcs = shared->funcs;
	size_t count = mt_byte_runs_count(funcs);

	begin_table("funcTable", to);
	put_column("name", funcs, offsetof(struct func, name), "0", to);
	put_same("isJS", count, "false", to);
	put_same("relevantForJS", count, "false", to);
	put_column("resource", funcs, offsetof(struct func, image), "-1", to);
	put_column("source", funcs, offsetof(struct func, source), "null", to);
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		put_same(nulls[i], count, "null", to);
	end_table(funcs, to);
}

/* An image is a resource, and of the type of a library. */
static void write_resources(const struct mt_shared_tables *shared, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->images);

	begin_table("resourceTable", to);
	put_column("name", shared->images, 0, "0", to);
	put_same("host", count, "null", to);
	put_same("type", count, "1", to);
	end_table(shared->images, to);
}

static void write_sources(const struct mt_shared_tables *shared, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->sources);

	begin_table("sources", to);
	put_same("id", count, "null", to);
	put_column("filename", shared->sources, 0, "0", to);
	put_same("startLine", count, "1", to);
	put_same("startColumn", count, "1", to);
	put_same("sourceMapURL", count, "null", to);
	put_same("content", count, "null", to);
	end_table(shared->sources, to);
}

static void write_strings(const struct mt_strings *strings, FILE *to)
{
	fputs("\"stringArray\":[", to);
	for (uint32_t i = 0; i < mt_strings_count(strings); i++) {
		fputs(i ? ",\n" : "", to);
		mt_json_string(mt_strings_get(strings, i), to);
	}
	fputs("]", to);
}

static const char *find_build_id(const struct mt_facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->images.count; i++) {
		if (!strcmp(facts->images.items[i].path, path))
			return facts->images.items[i].build_id;
	}
	return "";
}

static void write_libs(const struct mt_shared_tables *shared, const struct mt_facts *facts,
		       FILE *to)
{
	size_t count = mt_byte_runs_count(shared->images), size;

	fputs("\"libs\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t *id = mt_byte_runs_get(shared->images, i, &size);
		const char *path = mt_strings_get(shared->strings, *id);
		const char *slash = strrchr(path, '/'), *build_id = find_build_id(facts, path);

		fputs(i ? ",\n{\"name\":" : "{\"name\":", to);
		mt_json_string(slash ? slash + 1 : path, to);
		fputs(",\"debugName\":", to);
		mt_json_string(slash ? slash + 1 : path, to);
		fputs(",\"path\":", to);
		mt_json_string(path, to);
		fputs(",\"debugPath\":", to);
		mt_json_string(path, to);
		fputs(",\"arch\":\"x86_64\",\"breakpadId\":\"\",\"codeId\":", to);
		if (*build_id)
			mt_json_string(build_id, to);
		else
			fputs("null", to);
		fputc('}', to);
	}
	fputs("],\n", to);
}

void mt_shared_tables_write(const struct mt_shared_tables *shared, const struct mt_facts *facts,
			    FILE *to)
{
	write_libs(shared, facts, to);
	fputs("\"shared\":{\n", to);
	begin_table("stackTable", to);
	put_column("frame", shared->nodes, offsetof(struct node, frame), "0", to);
	put_prefixes(shared->nodes, to);
	end_table(shared->nodes, to);
	write_frames(shared, to);
	write_funcs(shared, to);
	write_resources(shared, to);
	write_sources(shared, to);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[],\"length\":0},\n"
	      "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n",
	      to);
	write_strings(shared->strings, to);
	fputs("}", to);
}
