/*
 * Places and nodes are rows of frames and stacks; functions, images and files are interned as they
 * are written, and their ids are the rows' indices.
 */
#include "report/outputs/firefox/shared_tables.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "report/outputs/json.h"
#include "report/outputs/parts/places.h"
#include "report/tables/byte_runs.h"
#include "report/tables/facts.h"

/* NONE in a column of indices: null, or -1. */
#define NONE UINT32_MAX

struct func {
	uint32_t name, image, source;
};

/* Of a place. */
struct frame {
	uint32_t func, line, depth, category; /* line 0: not known */
};

struct shared {
	const struct mt_places *places;
	struct mt_byte_runs *images, *sources; /* of ids of texts */
	struct mt_byte_runs *funcs;
	MT_ARRAY(struct frame) frames; /* by place */
};

static void shared_deinit(struct shared *shared)
{
	mt_byte_runs_destroy(shared->images);
	mt_byte_runs_destroy(shared->sources);
	mt_byte_runs_destroy(shared->funcs);
	mt_array_deinit(&shared->frames);
}

/* ---- Rows ---- */

static bool add_frame(struct shared *shared, const struct mt_stack_place *place)
{
	bool words = place->kinds & MT_PLACE_WORDS;
	const struct func func = {
		.name = place->name,
		.image = words ? NONE
			       : mt_byte_runs_intern(shared->images, &place->image,
						     sizeof(place->image)),
		.source = place->file ? mt_byte_runs_intern(shared->sources, &place->file,
							    sizeof(place->file))
				      : NONE,
	};
	struct frame *frame = mt_array_push(&shared->frames);

	if (!frame)
		return false;
	*frame = (struct frame){
		.func = mt_byte_runs_intern(shared->funcs, &func, sizeof(func)),
		.line = place->file ? place->line : 0,
		.depth = place->depth,
		.category = words			     ? MT_CATEGORY_OTHER
			    : place->kinds & MT_PLACE_KERNEL ? MT_CATEGORY_KERNEL
							     : MT_CATEGORY_USER,
	};
	return frame->func != MT_SEQUENCE_NONE;
}

/* ---- Columns ---- */

static void put_index(uint32_t at, uint32_t value, const char *none, FILE *to)
{
	fputs(at ? "," : "", to);
	if (value == NONE)
		fputs(none, to);
	else
		fprintf(to, "%" PRIu32, value);
}

/* A column of the u32 at that offset of each run; NONE is written as `none`. */
static void put_column(const char *name, const struct mt_byte_runs *rows, size_t offset,
		       const char *none, FILE *to)
{
	size_t count = mt_byte_runs_count(rows), size;

	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < count; i++) {
		const char *row = mt_byte_runs_get(rows, i, &size);

		put_index(i, *(const uint32_t *)(row + offset), none, to);
	}
	fputs("],\n", to);
}

/* The same of frames; NONE is written as 0. */
static void put_frames(const char *name, const struct shared *shared, size_t offset, FILE *to)
{
	fprintf(to, "\"%s\":[", name);
	for (uint32_t i = 0; i < shared->frames.count; i++) {
		const char *frame = (const char *)&shared->frames.items[i];

		put_index(i, *(const uint32_t *)(frame + offset), "0", to);
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

static void end_table(size_t count, FILE *to)
{
	fprintf(to, "\"length\":%zu},\n", count);
}

/* Nodes, and how far in front of each its caller stands; 0: it has none. */
static void write_stacks(const struct mt_places *places, FILE *to)
{
	size_t count = mt_places_node_count(places);

	begin_table("stackTable", to);
	fputs("\"frame\":[", to);
	for (uint32_t i = 1; i <= count; i++)
		put_index(i - 1, mt_places_node(places, i).place, "0", to);
	fputs("],\n\"prefixOffset\":[", to);
	for (uint32_t i = 1; i <= count; i++) {
		uint32_t parent = mt_places_node(places, i).parent;

		put_index(i - 1, parent ? i - parent : 0, "0", to);
	}
	fputs("],\n", to);
	end_table(count, to);
}

/* Lines are 1 and up; 0 is null. */
static void put_lines(const struct shared *shared, FILE *to)
{
	fputs("\"line\":[", to);
	for (uint32_t i = 0; i < shared->frames.count; i++) {
		uint32_t line = shared->frames.items[i].line;

		put_index(i, line ? line : NONE, "null", to);
	}
	fputs("],\n", to);
}

/* The image of each frame's function: an index in "libs". */
static void put_libs(const struct shared *shared, FILE *to)
{
	size_t size;

	fputs("\"lib\":[", to);
	for (uint32_t i = 0; i < shared->frames.count; i++) {
		const struct func *func =
			mt_byte_runs_get(shared->funcs, shared->frames.items[i].func, &size);

		put_index(i, func->image, "-1", to);
	}
	fputs("],\n", to);
}

static void write_frames(const struct shared *shared, FILE *to)
{
	static const char *const nulls[] = {"nativeSymbol", "innerWindowID", "column",
					    "originalLocation"};
	size_t count = shared->frames.count;

	begin_table("frameTable", to);
	put_same("address", count, "-1", to);
	put_libs(shared, to);
	put_frames("inlineDepth", shared, offsetof(struct frame, depth), to);
	put_frames("category", shared, offsetof(struct frame, category), to);
	put_same("subcategory", count, "0", to);
	put_frames("func", shared, offsetof(struct frame, func), to);
	put_lines(shared, to);
	for (size_t i = 0; i < sizeof(nulls) / sizeof(*nulls); i++)
		put_same(nulls[i], count, "null", to);
	end_table(count, to);
}

static void write_funcs(const struct shared *shared, FILE *to)
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
	end_table(count, to);
}

/* An image is a resource, and of the type of a library. */
static void write_resources(const struct shared *shared, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->images);

	begin_table("resourceTable", to);
	put_column("name", shared->images, 0, "0", to);
	put_same("host", count, "null", to);
	put_same("type", count, "1", to);
	end_table(count, to);
}

static void write_sources(const struct shared *shared, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->sources);

	begin_table("sources", to);
	put_same("id", count, "null", to);
	put_column("filename", shared->sources, 0, "0", to);
	put_same("startLine", count, "1", to);
	put_same("startColumn", count, "1", to);
	put_same("sourceMapURL", count, "null", to);
	put_same("content", count, "null", to);
	end_table(count, to);
}

static void write_strings(const struct mt_places *places, FILE *to)
{
	size_t count = mt_places_text_count(places);

	fputs("\"stringArray\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		fputs(i ? ",\n" : "", to);
		mt_json_string(mt_places_get_text(places, i), to);
	}
	fputs("]", to);
}

static void write_libs(const struct shared *shared, const struct mt_facts *facts, FILE *to)
{
	size_t count = mt_byte_runs_count(shared->images), size;

	fputs("\"libs\":[", to);
	for (uint32_t i = 0; i < count; i++) {
		const uint32_t *id = mt_byte_runs_get(shared->images, i, &size);
		const char *path = mt_places_get_text(shared->places, *id);
		const char *slash = strrchr(path, '/'), *build_id = mt_facts_build_id(facts, path);

		fputs(i ? ",\n{\"name\":" : "{\"name\":", to);
		mt_json_string(slash ? slash + 1 : path, to);
		fputs(",\"debugName\":", to);
		mt_json_string(slash ? slash + 1 : path, to);
		fputs(",\"path\":", to);
		mt_json_string(path, to);
		fputs(",\"debugPath\":", to);
		mt_json_string(path, to);
		fputs(",\"arch\":\"x86_64\",\"breakpadId\":\"\",\"codeId\":", to);
		if (build_id)
			mt_json_string(build_id, to);
		else
			fputs("null", to);
		fputc('}', to);
	}
	fputs("],\n", to);
}

static void write_all(const struct shared *shared, const struct mt_facts *facts, FILE *to)
{
	write_libs(shared, facts, to);
	fputs("\"shared\":{\n", to);
	write_stacks(shared->places, to);
	write_frames(shared, to);
	write_funcs(shared, to);
	write_resources(shared, to);
	write_sources(shared, to);
	fputs("\"nativeSymbols\":{\"libIndex\":[],\"address\":[],\"name\":[],"
	      "\"functionSize\":[],\"length\":0},\n"
	      "\"sourceLocationTable\":{\"source\":[],\"line\":[],\"column\":[],\"length\":0},\n",
	      to);
	write_strings(shared->places, to);
	fputs("}", to);
}

bool mt_shared_tables_write(const struct mt_places *places, const struct mt_facts *facts, FILE *to)
{
	MT_CLEANUP(shared_deinit)
	struct shared shared = {
		.places = places,
		.images = mt_byte_runs_create(),
		.sources = mt_byte_runs_create(),
		.funcs = mt_byte_runs_create(),
	};
	size_t count = mt_places_count(places);

	if (!shared.images || !shared.sources || !shared.funcs)
		return false;
	for (uint32_t i = 0; i < count; i++) {
		if (!add_frame(&shared, mt_places_get(places, i)))
			return false;
	}
	write_all(&shared, facts, to);
	return true;
}
