/* Converts an FDE's rows to rules and merges equal neighbours. */
#include "unwind/cfi/cfi_rules.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "symbols/elf/cfi_entry.h"
#include "unwind/cfi/cfi.h"
#include "unwind/cfi/cfi_program.h"

/* In place of a rule kind: the row must be read. */
#define ASK_ROW UINT8_MAX

struct making {
	uint64_t start;
	MT_ARRAY(struct mt_ruled) items;
};

static struct mt_rule rule_of(const struct mt_cfi_row *row)
{
	if (!row)
		return mt_rule_none(MT_END_BAD_CFI);
	if (row->cfa.kind != MT_CFI_REGISTER && !row->signal)
		return (struct mt_rule){.kind = ASK_ROW};
	return mt_rule_from_row(row, 0);
}

static bool add_row(void *context, uint64_t from, const struct mt_cfi_row *row)
{
	struct making *making = context;
	struct mt_rule rule = rule_of(row);
	size_t count = making->items.count;
	struct mt_ruled *last;

	if (count && !memcmp(&making->items.items[count - 1].rule, &rule, sizeof(rule)))
		return true;
	last = mt_array_push(&making->items);
	if (last)
		*last = (struct mt_ruled){(uint32_t)(from - making->start), rule};
	return last;
}

struct mt_cfi_rules *mt_cfi_rules_make(const struct mt_cfi_section *section,
				       const struct mt_cfi_fde *fde)
{
	struct making making = {.start = fde->start};
	struct mt_cfi_rules *rules = NULL;
	size_t size;

	if (fde->end - fde->start <= UINT32_MAX &&
	    mt_cfi_program_rows(section, fde, add_row, &making)) {
		size = making.items.count * sizeof(rules->items[0]);
		rules = malloc(sizeof(*rules) + size);
		if (rules) {
			*rules = (struct mt_cfi_rules){
				.start = fde->start, .end = fde->end, .count = making.items.count};
			memcpy(rules->items, making.items.items, size);
		}
	}
	mt_array_deinit(&making.items);
	return rules;
}

bool mt_cfi_rules_find(const struct mt_cfi_rules *rules, uint64_t address, struct mt_rule *rule)
{
	uint64_t offset = address - rules->start;
	size_t row = mt_array_split(rules->count - 1, at, rules->items[at + 1].from <= offset);

	*rule = rules->items[row].rule;
	return rule->kind != ASK_ROW;
}
