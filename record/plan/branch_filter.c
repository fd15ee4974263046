/* One table of the filter words. */
#include "record/plan/branch_filter.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>

#include "formats/base/err.h"

#define LEVELS (PERF_SAMPLE_BRANCH_USER | PERF_SAMPLE_BRANCH_KERNEL | PERF_SAMPLE_BRANCH_HV)
#define PRIV_SAVE ((uint64_t)1 << 18) /* PERF_SAMPLE_BRANCH_PRIV_SAVE, 6.1 */
#define SAVED (PERF_SAMPLE_BRANCH_TYPE_SAVE | PERF_SAMPLE_BRANCH_HW_INDEX | PRIV_SAVE)

static const struct {
	const char *word;
	uint64_t bits;
} words[] = {
	{"u", PERF_SAMPLE_BRANCH_USER},
	{"k", PERF_SAMPLE_BRANCH_KERNEL},
	{"hv", PERF_SAMPLE_BRANCH_HV},
	{"any", PERF_SAMPLE_BRANCH_ANY},
	{"any_call", PERF_SAMPLE_BRANCH_ANY_CALL},
	{"any_ret", PERF_SAMPLE_BRANCH_ANY_RETURN},
	{"ind_call", PERF_SAMPLE_BRANCH_IND_CALL},
	{"abort_tx", PERF_SAMPLE_BRANCH_ABORT_TX},
	{"in_tx", PERF_SAMPLE_BRANCH_IN_TX},
	{"no_tx", PERF_SAMPLE_BRANCH_NO_TX},
	{"cond", PERF_SAMPLE_BRANCH_COND},
	{"ind_jmp", PERF_SAMPLE_BRANCH_IND_JUMP},
	{"call", PERF_SAMPLE_BRANCH_CALL},
	{"stack", PERF_SAMPLE_BRANCH_CALL_STACK},
	{"save_type", PERF_SAMPLE_BRANCH_TYPE_SAVE},
	{"hw_index", PERF_SAMPLE_BRANCH_HW_INDEX},
	{"priv", PRIV_SAVE},
};

#define WORD_COUNT (sizeof(words) / sizeof(words[0]))

static struct mt_error *unknown_word(const char *text, size_t length)
{
	char known[256] = "";
	size_t used = 0;

	for (size_t i = 0; i < WORD_COUNT; i++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					 used ? ", " : "", words[i].word);
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-j: no such branches: '%.*s'",
					     (int)length, text),
			     "the words are %s", known);
}

static uint64_t bits_of(const char *text, size_t length)
{
	for (size_t i = 0; i < WORD_COUNT; i++) {
		if (strlen(words[i].word) == length && !memcmp(words[i].word, text, length))
			return words[i].bits;
	}
	return 0;
}

struct mt_error *mt_parse_branches(const char *text, uint64_t *type)
{
	uint64_t all = 0;
	size_t length;

	for (;; text += length + 1) {
		uint64_t bits;

		length = strcspn(text, ",");
		bits = bits_of(text, length);
		if (!bits)
			return unknown_word(text, length);
		all |= bits;
		if (!text[length])
			break;
	}
	if (!(all & ~(uint64_t)(LEVELS | SAVED)))
		all = (all & SAVED) | PERF_SAMPLE_BRANCH_ANY; /* as perf does */
	*type |= all;
	return NULL;
}
