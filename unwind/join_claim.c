/* Claims and spots are few, and shared by the stacks that are joined one after the other. */
#include "unwind/join_claim.h"

#include <stdlib.h>
#include <string.h>

enum {
	REFUTED_FEW = 2,     /* fewer may be chance */
	REFUTED_SHARE = 100, /* one in so many is too many */
	ANYWHERE_FEW = 1,    /* the same, of all places together: of each there are few */
	ANYWHERE_SHARE = 10,
	MANY = 4, /* confirmed: where it is one or the other by chance, it soon is refuted, too */
	TRIED_SHARE = 50,
	TRIED_MANY = 8, /* few, as seeds are; of what is wrong as often as right 1 in 256 passes */
	CUT_FEW = 16,	/* no seed may have met so few */
	CUT_SHARE = 5,	/* of the stacks at a spot */
	THREAD_TRIED_MANY = 16,
};

static void release_spot(struct mt_join_spot *spot)
{
	if (!spot || --spot->references)
		return;
	free(spot->spare);
	free(spot);
}

static void close_claim(struct mt_join_claim **slot)
{
	struct mt_join_claim *claim = *slot;

	*slot = NULL;
	mt_join_claim_release(claim);
}

/* Of those that are used: its claims hold it as well. */
static void drop_spot(struct mt_join_spot *spot)
{
	close_claim(&spot->open);
	close_claim(&spot->earlier);
	release_spot(spot);
}

void mt_join_spots_deinit(struct mt_join_spots *spots)
{
	for (size_t i = 0; i < spots->count; i++)
		drop_spot(spots->items[i]);
	*spots = (struct mt_join_spots){0};
}

void mt_join_spots_use(struct mt_join_spots *spots, struct mt_join_spot *spot)
{
	spot->used = ++spots->clock;
}

/* Makes room for one more. */
static void forget_oldest(struct mt_join_spots *spots)
{
	size_t oldest = 0;

	if (spots->count < MT_JOIN_SPOTS)
		return;
	for (size_t i = 1; i < spots->count; i++)
		oldest = spots->items[i]->used < spots->items[oldest]->used ? i : oldest;
	drop_spot(spots->items[oldest]);
	spots->count--;
	memmove(&spots->items[oldest], &spots->items[oldest + 1],
		(spots->count - oldest) * sizeof(spots->items[0]));
}

struct mt_join_spot *mt_join_spots_add(struct mt_join_spots *spots, const struct mt_join_site *site,
				       struct mt_join_tallies *anywhere)
{
	struct mt_join_spot *spot = calloc(1, sizeof(*spot));
	size_t i;

	if (!spot)
		return NULL;
	spot->site = *site;
	spot->anywhere = anywhere;
	spot->tried = &spots->tried;
	spot->references = 1;
	forget_oldest(spots);
	for (i = spots->count++; i && spots->items[i - 1]->site.boundary < site->boundary; i--)
		spots->items[i] = spots->items[i - 1];
	spots->items[i] = spot;
	mt_join_spots_use(spots, spot);
	return spot;
}

void mt_join_spots_close_below(struct mt_join_spots *spots, uint64_t below)
{
	for (size_t i = spots->count; i && spots->items[i - 1]->site.boundary < below; i--)
		mt_join_spot_close(spots->items[i - 1]);
}

struct mt_join_claim *mt_join_claim_share(struct mt_join_claim *claim)
{
	if (claim)
		claim->references++;
	return claim;
}

void mt_join_claim_give_up(struct mt_join_claim *claim)
{
	struct mt_join_claim *beyond;
	struct mt_join_spot *spot;

	for (; claim && !--claim->references; claim = beyond) {
		spot = claim->spot;
		beyond = claim->beyond;
		free(spot->spare);
		spot->spare = claim;
		release_spot(spot);
	}
}

/* The one in the slot where that rests on the same, else a new one there. */
static struct mt_join_claim *make(struct mt_join_spot *spot, struct mt_join_claim *beyond,
				  struct mt_join_claim **slot)
{
	struct mt_join_claim *claim = *slot;

	spot->cut++;
	if (claim && claim->beyond == beyond)
		return mt_join_claim_share(claim);
	claim = spot->spare ? spot->spare : malloc(sizeof(*claim));
	if (!claim)
		return NULL;
	spot->spare = NULL;
	*claim = (struct mt_join_claim){.spot = spot,
					.beyond = mt_join_claim_share(beyond),
					.references = 2}; /* the caller's, and the spot's */
	spot->references++;
	close_claim(slot);
	*slot = claim;
	return claim;
}

struct mt_join_claim *mt_join_claim_make(struct mt_join_spot *spot, struct mt_join_claim *beyond)
{
	return make(spot, beyond, &spot->open);
}

struct mt_join_claim *mt_join_claim_make_earlier(struct mt_join_spot *spot,
						 struct mt_join_claim *beyond)
{
	return make(spot, beyond, &spot->earlier);
}

void mt_join_spot_close(struct mt_join_spot *spot)
{
	close_claim(&spot->open);
}

static void count(struct mt_join_tally *tally, enum mt_join_verdict verdict)
{
	*(verdict == MT_JOIN_REFUTED ? &tally->refuted : &tally->confirmed) += 1;
}

void mt_join_spot_judge(struct mt_join_spot *spot, enum mt_join_verdict verdict)
{
	if (spot->open) {
		spot->open->confirmed = verdict == MT_JOIN_CONFIRMED;
		spot->open->refuted = !spot->open->confirmed;
	}
	count(&spot->here.judged, verdict);
	count(&spot->anywhere->judged, verdict);
	mt_join_spot_close(spot);
}

void mt_join_spot_try(struct mt_join_spot *spot, bool right)
{
	enum mt_join_verdict verdict = right ? MT_JOIN_CONFIRMED : MT_JOIN_REFUTED;

	count(&spot->here.tried, verdict);
	count(&spot->anywhere->tried, verdict);
	count(spot->tried, verdict);
}

/* So few were refuted, or less than one in `share`. */
static bool is_steady(const struct mt_join_tally *tally, uint32_t few, uint64_t share)
{
	return tally->refuted < few ||
	       tally->refuted * share <= (uint64_t)tally->confirmed + tally->refuted;
}

/* No seed says otherwise, or hardly any. */
static bool is_tried(const struct mt_join_tally *tally)
{
	return (uint64_t)tally->refuted * TRIED_SHARE <= tally->confirmed;
}

static bool stands(const struct mt_join_claim *claim)
{
	const struct mt_join_tallies *here = &claim->spot->here, *anywhere = claim->spot->anywhere;

	return !claim->refuted && is_steady(&here->judged, REFUTED_FEW, REFUTED_SHARE) &&
	       is_steady(&anywhere->judged, ANYWHERE_FEW, ANYWHERE_SHARE) &&
	       is_tried(&here->tried) && is_tried(&anywhere->tried);
}

bool mt_join_claim_stands(const struct mt_join_claim *claim)
{
	while (claim && stands(claim))
		claim = claim->beyond;
	return !claim;
}

/*
 * Whether seeds say that joining is right there. What is cut once in a while only cannot be wrong
 * often, and few seeds meet it. Nor does one have to where few are cut at all: then it is those of
 * the whole thread that have to say it.
 */
static bool has_seeds(const struct mt_join_spot *spot)
{
	if (spot->here.tried.confirmed >= TRIED_MANY ||
	    (uint64_t)spot->cut * CUT_SHARE <= spot->here.judged.confirmed)
		return true;
	return spot->cut < CUT_FEW && spot->tried->confirmed >= THREAD_TRIED_MANY &&
	       is_tried(spot->tried);
}

static bool hardly_refuted(const struct mt_join_tally *tally)
{
	return (uint64_t)tally->refuted * REFUTED_SHARE <= tally->confirmed;
}

bool mt_join_claim_is_sure(const struct mt_join_claim *claim, bool seeds)
{
	const struct mt_join_tally *judged = &claim->spot->here.judged;

	return claim->confirmed && judged->confirmed >= MANY && hardly_refuted(judged) &&
	       (judged->confirmed >= REFUTED_SHARE ||
		hardly_refuted(&claim->spot->anywhere->judged)) &&
	       (!seeds || has_seeds(claim->spot));
}
