/* A thread is identified by address space and tid, so exec or a reused tid begins a new thread. */
#include "report/stacks/join_adapter.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/memory.h"
#include "report/stacks/pipeline.h"
#include "symbols/images/image_map.h"
#include "unwind/join/call_site.h"
#include "unwind/join/join.h"

struct mt_join_adapter {
	struct mt_joiner *joiner;
	struct mt_call_sites *sites;
	uint32_t max_frames;
	bool addresses;
};

static uint64_t find_site(void *context, const struct mt_call_question *question)
{
	struct mt_join_adapter *adapter = context;

	return mt_call_site_find(adapter->sites, question);
}

static bool same_function(void *context, const struct mt_image_map *map, uint64_t a, uint64_t b)
{
	struct mt_join_adapter *adapter = context;

	return mt_call_sites_same(adapter->sites, map, a, b);
}

struct mt_join_adapter *mt_join_adapter_create(uint32_t max_frames, bool addresses)
{
	struct mt_join_adapter *adapter = mt_alloc(1, sizeof(*adapter));
	struct mt_join_check check = {
		.context = adapter,
		.site = find_site,
		.same = same_function,
	};

	adapter->max_frames = max_frames;
	adapter->addresses = addresses;
	adapter->sites = mt_call_sites_create();
	adapter->joiner = mt_joiner_create(&check);
	return adapter;
}

void mt_join_adapter_destroy(struct mt_join_adapter *adapter)
{
	if (!adapter)
		return;
	mt_joiner_destroy(adapter->joiner);
	mt_call_sites_destroy(adapter->sites);
	free(adapter);
}

void mt_join_adapter_begin(struct mt_join_adapter *adapter)
{
	mt_joiner_reset(adapter->joiner);
	mt_call_sites_begin(adapter->sites);
}

static enum mt_join_kind kind_of(const struct mt_walked *walked)
{
	if (walked->end == MT_END_ROOT)
		return MT_JOIN_WHOLE;
	return walked->end == MT_END_DUMP || walked->end == MT_END_PAGE ||
			       walked->end == MT_END_BRANCHES
		       ? MT_JOIN_CUT
		       : MT_JOIN_OTHER;
}

/*
 * Hash of the addresses and of the word before them, which identifies the code at these addresses.
 */
static uint64_t hash_of(const struct mt_piped *piped)
{
	const struct mt_walked *walked = &piped->walked;
	uint64_t code = piped->words->items[walked->pcs - 1];

	return walked->hash | (code ^ walked->count) << 32;
}

void mt_join_adapter_learn(struct mt_join_adapter *adapter, const struct mt_piped *samples,
			   size_t count)
{
	for (size_t i = 0; i < count; i++) {
		const struct mt_walked *walked = &samples[i].walked;
		const uint64_t *pcs = samples[i].words->items + walked->pcs + walked->kernel;

		if (kind_of(walked) != MT_JOIN_OTHER)
			mt_call_sites_learn(adapter->sites, samples[i].map, pcs,
					    walked->count - walked->kernel, hash_of(&samples[i]));
	}
}

void mt_join_adapter_see(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		struct mt_piped *piped = &samples[i];
		const struct mt_walked *walked = &piped->walked;

		piped->join = (struct mt_join_stack){
			.thread = (uint64_t)piped->sample.space->id << 32 |
				  (uint32_t)piped->kernel.tid,
			.kind = kind_of(walked),
			.pcs = piped->words->items + walked->pcs + walked->kernel,
			.sps = mt_walked_sps(piped->words, walked, adapter->addresses),
			.count = walked->count - walked->kernel,
			.boundary = walked->boundary,
			.map = piped->map,
		};
		if (piped->sample.shorter && piped->join.count)
			piped->join.shorter = piped->join.sps[0] + piped->sample.shorter;
		mt_joiner_add(adapter->joiner, &piped->join);
	}
}

/* The number of frames of the stack with the joined ones, at most the limit of a stack. */
static uint32_t spliced_count(const struct mt_join_adapter *adapter, const struct mt_piped *piped)
{
	size_t user = piped->join.count + piped->join.tail_count;

	user = user < adapter->max_frames ? user : adapter->max_frames;
	return piped->walked.kernel + (uint32_t)user;
}

static void splice(const struct mt_join_adapter *adapter, struct mt_piped *piped,
		   struct mt_walk_words *spliced)
{
	size_t tail = piped->join.tail_count;
	const struct mt_walked before = piped->walked;
	uint32_t count = spliced_count(adapter, piped), had = before.count;
	struct mt_walked *now = &piped->walked;
	uint64_t *pcs, *addresses;
	uint8_t *sources;

	mt_walked_make(spliced, adapter->addresses, &before, count, now);
	pcs = spliced->items + now->pcs;
	memcpy(pcs - 1, piped->words->items + before.pcs - 1, (1 + (size_t)had) * sizeof(*pcs));
	mt_join_tail_pcs(&piped->join, count - had, pcs + had);
	if (adapter->addresses) {
		addresses = pcs + count;
		sources = (uint8_t *)(addresses + count);
		memcpy(addresses, mt_walked_addresses(piped->words, &before),
		       had * sizeof(*addresses));
		memcpy(addresses + had, pcs + had, (count - had) * sizeof(*addresses));
		memcpy(sources, mt_walked_sources(piped->words, &before), had);
		memset(sources + had, MT_FRAME_JOINED, count - had);
	}
	now->end = had - before.kernel + tail > adapter->max_frames ? MT_END_LIMIT : MT_END_ROOT;
	now->joined = count - had;
	now->hash = mt_walked_hash(spliced, now);
	piped->words = spliced;
}

void mt_join_adapter_splice(struct mt_join_adapter *adapter, struct mt_piped *samples, size_t count,
			    struct mt_walk_words *spliced)
{
	for (size_t i = 0; i < count; i++) {
		struct mt_join_stack *join = &samples[i].join;

		samples[i].walked.withheld =
			join->tail_count && !mt_join_is_valid(adapter->joiner, join);
		if (join->tail_count && !samples[i].walked.withheld)
			splice(adapter, &samples[i], spliced);
		mt_joiner_release(join);
	}
}
