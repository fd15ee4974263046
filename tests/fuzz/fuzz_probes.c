/* .note.stapsdt from any bytes, and any text as a word of -e that names a probe. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/allocators/allocators.h"
#include "record/plan/probe_word.h"
#include "record/probes/probe_definition.h"
#include "record/probes/probe_events.h"
#include "record/probes/usdt_notes.h"
#include "symbols/elf/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The definition of a probe must be one line of text for the kernel. */
static void define(const char *text, const char *arguments)
{
	MT_CLEANUP(mt_probe_word_deinit) struct mt_probe_word word = {0};
	struct mt_probe_definition definition = {
		.group = "g", .name = "e", .file = "f", .arguments = arguments};
	MT_CLEANUP_FREE char *line = NULL;
	MT_CLEANUP_FREE char *left_out = NULL;
	struct mt_error *err;

	if (!mt_is_probe_word(text, strlen(text)))
		return;
	err = mt_probe_word_parse(text, strlen(text), &word);
	if (!err)
		err = mt_probe_definition_text(&definition, &word, &line, &left_out);
	if (line && strchr(line, '\n'))
		__builtin_trap();
	mt_error_destroy(err);
}

/* The words of a custom function's probes must parse. */
static void own_function(const char *text, bool frees)
{
	MT_CLEANUP(mt_custom_function_deinit) struct mt_custom_function own = {0};
	struct mt_error *err = mt_custom_function_parse(text, frees, &own);
	MT_CLEANUP_FREE char *word = NULL;

	if (!err)
		word = mt_allocator_word(&own.function, frees ? MT_BLOCK_FREE : MT_BLOCK_ENTER,
					 false);
	if (word)
		define(word, NULL);
	mt_error_destroy(err);
}

static bool see(void *context, const struct mt_usdt_note *note)
{
	(void)context;
	define("usdt:f:p:n", note->arguments);
	return *note->provider;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct mt_span notes = {.bytes = data, .size = size};
	MT_CLEANUP_FREE char *text = strndup((const char *)data, size);
	char event[64];
	unsigned long long start;
	int pid;

	mt_usdt_notes_read(&notes, 0x1000, see, NULL);
	if (!text)
		return 0;
	define(text, text);
	define("usdt:f:p:n", text);
	own_function(text, false);
	own_function(text, true);
	(void)mt_probe_line_get(text, event, sizeof(event), &pid, &start);
	return 0;
}
