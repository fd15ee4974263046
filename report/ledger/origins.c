/* Interned origins. The last origin of each kind is cached, because most origins repeat it. */
#include "report/ledger/origins.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "report/stacks/stacks.h"
#include "report/tables/byte_runs.h"

struct mt_origins {
	struct mt_byte_runs *all;
	struct mt_origin last[MT_ORIGIN_KINDS];
	uint32_t last_ids[MT_ORIGIN_KINDS]; /* ids of `last` plus 1; 0: none */
};

struct mt_origins *mt_origins_create(void)
{
	struct mt_origins *origins = mt_alloc(1, sizeof(*origins));

	origins->all = mt_byte_runs_create();
	return origins;
}

void mt_origins_destroy(struct mt_origins *origins)
{
	if (!origins)
		return;
	mt_byte_runs_destroy(origins->all);
	free(origins);
}

uint32_t mt_origins_intern(struct mt_origins *origins, const struct mt_origin *origin)
{
	struct mt_origin *last = &origins->last[origin->kind];
	uint32_t *id = &origins->last_ids[origin->kind];

	if (!*id || memcmp(last, origin, sizeof(*origin))) {
		*last = *origin;
		*id = mt_byte_runs_intern(origins->all, origin, sizeof(*origin)) + 1;
	}
	return *id - 1;
}

uint32_t mt_origins_count(const struct mt_origins *origins)
{
	return (uint32_t)mt_byte_runs_count(origins->all);
}

const struct mt_origin *mt_origins_get(const struct mt_origins *origins, uint32_t id)
{
	size_t size;

	return mt_byte_runs_get(origins->all, id, &size);
}

uint32_t mt_origins_because(struct mt_origins *origins, uint32_t id, enum mt_origin_kind kind)
{
	struct mt_origin because = *mt_origins_get(origins, id);

	because.kind = kind;
	because.event = 0;
	because.stack = MT_STACK_NONE;
	return mt_byte_runs_intern(origins->all, &because, sizeof(because));
}
