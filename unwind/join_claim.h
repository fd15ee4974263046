/*
 * What joined stacks rest on, and what becomes of it. Private to the joiner.
 *
 * A stack that is joined claims that the frames which another one had from its boundary on stood
 * there in its time, too, although it does not show them: nothing seen in between says otherwise,
 * but what is not seen may be. The next whole stack of the thread that has a callable frame at the
 * boundary says whether the same stands there still, and so confirms the claim or refutes it. What
 * is refuted is not used. And as a change back may go unseen as well, nothing is joined at a spot
 * where other functions come to stand unseen more often than once in a while; nor where what calls
 * there does so in ever new places, which are judged once or never, if those that were say the
 * same. Where it is known beforehand that other functions may stand, nothing is joined that is not
 * confirmed, at a spot where enough was.
 *
 * What is whole may for ever be another thing than what is cut: then whole stacks say nothing. A
 * seed is whole where its like are cut. It is joined as if it were cut as well, and what it shows
 * tells how good that would have been.
 */
#ifndef MT_UNWIND_JOIN_CLAIM_H
#define MT_UNWIND_JOIN_CLAIM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mt_join_claim;

/* Where cut stacks of a thread are joined. */
struct mt_join_site {
	uint64_t boundary; /* the stack pointer in the outermost frame that is not the stack's */
	uint64_t outer;	   /* the frame that it has there all the same; 0: none */
	uint64_t inner;	   /* what that frame called */
};

/* Where a frame at a spot's boundary calls what stands below; direct-mapped. */
struct mt_join_call {
	uint64_t pc, inner; /* the frame's, and of what it called */
	uint64_t site;	    /* 0: empty */
};

enum {
	MT_JOIN_SPOTS = 8,
	MT_JOIN_CALLS = 16,
};

/* How often the same functions were found to stand, and how often others. */
struct mt_join_tally {
	uint32_t confirmed, refuted;
};

struct mt_join_tallies {
	struct mt_join_tally judged; /* by what was seen later; */
	struct mt_join_tally tried;  /* by seeds */
};

/* A site, and how claims there fared. */
struct mt_join_spot {
	struct mt_join_site site;
	struct mt_join_tallies here, *anywhere; /* of what calls the same, in any place; borrowed */
	struct mt_join_tally *tried;		/* of the thread, at all of its spots; borrowed */
	size_t references;
	uint64_t used;		       /* when, in order */
	size_t depth;		       /* of the frame there when last seen, from the root */
	uint32_t cut;		       /* stacks that were joined there */
	unsigned int passed;	       /* stacks since one was looked at that need not be */
	struct mt_join_claim *open;    /* not judged yet; NULL: there is none */
	struct mt_join_claim *earlier; /* of times that are not looked at any more; or NULL */
	struct mt_join_claim *spare;   /* memory for another one; or NULL */
	struct mt_join_call calls[MT_JOIN_CALLS];
};

struct mt_join_claim {
	struct mt_join_spot *spot;
	struct mt_join_claim *beyond; /* what the frames further out rest on; NULL: nothing */
	size_t references;
	bool refuted, confirmed;
};

/* Those of a thread that were used last, the outermost first. */
struct mt_join_spots {
	struct mt_join_spot *items[MT_JOIN_SPOTS];
	size_t count;
	uint64_t clock;
	struct mt_join_tally tried; /* by seeds, at those that were forgotten, too */
};

void mt_join_spots_deinit(struct mt_join_spots *spots);

/* That one is used now. */
void mt_join_spots_use(struct mt_join_spots *spots, struct mt_join_spot *spot);

/* A new one, used now, perhaps in the place of another; NULL out of memory. */
struct mt_join_spot *mt_join_spots_add(struct mt_join_spots *spots, const struct mt_join_site *site,
				       struct mt_join_tallies *anywhere);

/* Nothing can be said of open claims any more, at spots of boundaries below: mostly there are none.
 */
void mt_join_spots_close_below(struct mt_join_spots *spots, uint64_t below);
static inline void mt_join_spots_close(struct mt_join_spots *spots, uint64_t below)
{
	if (spots->count && spots->items[spots->count - 1]->site.boundary < below)
		mt_join_spots_close_below(spots, below);
}

/* The entry for a frame at the boundary that called `inner`. */
static inline struct mt_join_call *mt_join_spot_call(struct mt_join_spot *spot, uint64_t pc,
						     uint64_t inner)
{
	return &spot->calls[(pc ^ inner << 1) * 0x9e3779b97f4a7c15u >> 32 & (MT_JOIN_CALLS - 1)];
}

/*
 * A claim at the spot that rests on `beyond`, its open one if that does, too; a reference. NULL out
 * of memory.
 */
struct mt_join_claim *mt_join_claim_make(struct mt_join_spot *spot, struct mt_join_claim *beyond);

/*
 * The same of a stack that came before the one whose frames it got: what comes later says nothing
 * of it.
 */
struct mt_join_claim *mt_join_claim_make_earlier(struct mt_join_spot *spot,
						 struct mt_join_claim *beyond);

/* Takes another reference, and gives one back; of NULL, too. */
struct mt_join_claim *mt_join_claim_share(struct mt_join_claim *claim);
void mt_join_claim_give_up(struct mt_join_claim *claim);
static inline void mt_join_claim_release(struct mt_join_claim *claim)
{
	if (claim)
		mt_join_claim_give_up(claim);
}

/* Nothing can be said of the open claim any more. */
void mt_join_spot_close(struct mt_join_spot *spot);

enum mt_join_verdict {
	MT_JOIN_CONFIRMED, /* what stood at the spot still does */
	MT_JOIN_ALIKE,	   /* the same functions do, by other calls */
	MT_JOIN_REFUTED,   /* others do */
};

/* What a stack says of the spot and its open claim. */
void mt_join_spot_judge(struct mt_join_spot *spot, enum mt_join_verdict verdict);

/* That a seed was joined there as if it were cut, and whether it was with what it shows. */
void mt_join_spot_try(struct mt_join_spot *spot, bool right);

/* Whether the claim and all that it rests on may be used, as far as is known. */
bool mt_join_claim_stands(const struct mt_join_claim *claim);

/*
 * Whether the claim was confirmed, too, and so many more at its spot that this is not chance;
 * nearly all were, and of few at the spot those in other places as well. `seeds` tells that there
 * are some, so that enough of them have to say the same.
 */
bool mt_join_claim_is_sure(const struct mt_join_claim *claim, bool seeds);

#endif
