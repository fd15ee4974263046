/*
 * Records of STATE and DATA chunks from any bytes, stored or packed: the session must read them to
 * the end, unwind and name the stacks, and write every output. The first byte divides the records
 * between the two chunks. If its lowest bit is set, the chunks are packed.
 */
#include <stdint.h>
#include <stdio.h>

#include "formats/base/err.h"
#include "report/analyses/analyses.h"
#include "report/cli/registry.h"
#include "report/cli/request.h"
#include "report/outputs/outputs.h"
#include "report/session/selection.h"
#include "report/session/session.h"
#include "report/tables/table.h"
#include "tests/fuzz/pack_chunks.h"
#include "tests/unit/report_records.h"
#include "unwind/unwind.h"

static void add_chunk(struct mt_builder *b, enum mt_chunk_type type, const uint8_t *bytes,
		      size_t size)
{
	struct mt_block *block = mt_builder_begin(b, type, 0);

	memcpy(block->bytes, bytes, size);
	block->used = size;
	block->records = (uint32_t)(size / MT_RECORD_HEADER_SIZE);
	block->first_time = REPORT_START;
	block->last_time = REPORT_START + 1000;
	mt_builder_add(b, MT_CODEC_STORED);
}

static void report(const char *file, const struct mt_output *output, FILE *to)
{
	struct mt_selection selection = {0};
	struct mt_session_options options = {
		.files = &file,
		.file_count = 1,
		.selection = &selection,
		.stacks = true,
		.addresses = true,
		.method = mt_unwind_methods,
		.max_frames = 64,
	};
	struct mt_wishes wishes = {0};
	struct mt_analysis_request request;
	struct mt_view view = {.width = 80};
	struct mt_session *session = NULL;
	struct mt_table *table = NULL;
	struct mt_error *err;

	err = mt_request_make(&mt_analysis_samples, output, &wishes, &request);
	err = err ? err : mt_session_open(&options, &session);
	err = err ? err : mt_analysis_run(&mt_analysis_samples, session, &request, &table);
	if (!err) {
		view.facts = mt_session_facts(session);
		err = mt_output_write(output, &view, table, to);
	}
	mt_error_destroy(err);
	mt_table_destroy(table);
	mt_session_destroy(session);
}

static void pack_all(struct mt_builder *b)
{
	size_t room = 2 * b->size + 4096;
	uint8_t *packed = mt_builder_memory(NULL, room);

	b->size = pack_chunks(b->bytes, b->size, packed, room);
	free(b->bytes);
	b->bytes = packed;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_builder b;
	size_t state;
	FILE *null;

	if (!size || size > MT_BUILDER_BLOCK)
		return 0;
	state = (size - 1) * data[0] / 255;
	report_records_begin(&b);
	mt_builder_add(&b, MT_CODEC_STORED);
	add_chunk(&b, MT_CHUNK_STATE, data + 1, state);
	add_chunk(&b, MT_CHUNK_DATA, data + 1 + state, size - 1 - state);
	if (data[0] & 1)
		pack_all(&b);
	null = fopen("/dev/null", "w");
	for (size_t i = 0; mt_outputs[i]; i++)
		report(mt_builder_file(&b), mt_outputs[i], null);
	fclose(null);
	mt_builder_deinit(&b);
	return 0;
}
