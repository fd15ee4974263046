/* Puts the parts together; none of them knows but the next one. */
#include "record/carrying.h"

#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/branch_code.h"
#include "record/carry_plan.h"
#include "record/code_seen.h"
#include "record/embed.h"
#include "record/embed_choice.h"
#include "record/mapped_now.h"

#define FRONT_BYTES ((uint64_t)64 << 10) /* of all images together */
#define PLACE_BYTES 64			 /* of a place in their code */

struct mt_carrying {
	struct mt_embed_choice *choice;
	struct mt_code_seen *seen;
	struct mt_carry_plan *plan;
	struct mt_embed *embed;
	struct mt_branch_code *code; /* NULL: no branch records, or their code is not carried */
	bool whole;
};

MT_DEFINE_CLEANUP(mt_carrying, struct mt_carrying)

void mt_carrying_destroy(struct mt_carrying *carrying)
{
	if (!carrying)
		return;
	mt_branch_code_destroy(carrying->code);
	mt_embed_choice_destroy(carrying->choice);
	mt_carry_plan_destroy(carrying->plan);
	mt_embed_destroy(carrying->embed);
	mt_code_seen_destroy(carrying->seen);
	free(carrying);
}

static void add_image(void *context, int fd, const struct mt_mapped_file *file,
		      const struct mt_image_record *record)
{
	struct mt_carrying *carrying = context;

	mt_carry_plan_add(carrying->plan, fd, file, record);
}

static void offer_process(void *context, int32_t pid, uint64_t exec_time)
{
	struct mt_carrying *carrying = context;

	mt_embed_offer_process(carrying->embed, pid, exec_time);
}

static void offer_code(void *context, const struct mt_branch_code_news *news)
{
	struct mt_carrying *carrying = context;

	mt_embed_offer_code(carrying->embed, news);
}

/* Between two branches code ran that no word points to. */
static bool is_whole(const struct mt_embed_options *options, const struct mt_plan *plan)
{
	return options->unsampled || options->wish.lines || mt_branch_code_planned(plan);
}

static bool create_parts(struct mt_carrying *carrying, const struct mt_embed_options *options,
			 const struct mt_plan *plan)
{
	const struct mt_branch_code_sink sink = {carrying, offer_code};
	const struct mt_embed_offer offer = {carrying, add_image, offer_process};
	bool code = options->wish.unwind && mt_branch_code_planned(plan);

	carrying->whole = is_whole(options, plan);
	carrying->choice = mt_embed_choice_create(options->unsampled, &offer);
	carrying->seen = mt_code_seen_create();
	if (code)
		carrying->code = mt_branch_code_create(plan, &sink);
	return carrying->choice && carrying->seen && (!code || carrying->code);
}

struct mt_error *mt_carrying_create(const struct mt_embed_options *options,
				    const struct mt_plan *plan, struct mt_carrying **out)
{
	MT_CLEANUP(mt_carrying_destroy_p) struct mt_carrying *carrying = NULL;
	struct mt_error *err;

	*out = NULL;
	if (!options->wish.names && !options->wish.unwind)
		return NULL;
	carrying = calloc(1, sizeof(*carrying));
	if (!carrying || !create_parts(carrying, options, plan))
		return mt_error_nomem();
	err = mt_embed_create(options, &carrying->embed);
	if (err)
		return err;
	carrying->plan = mt_carry_plan_create(carrying->embed, carrying->seen, carrying->whole);
	if (!carrying->plan)
		return mt_error_nomem();
	*out = MT_TAKE(carrying);
	return NULL;
}

struct mt_embed_choice *mt_carrying_choice(const struct mt_carrying *carrying)
{
	return carrying->choice;
}

struct mt_code_seen *mt_carrying_code_seen(const struct mt_carrying *carrying)
{
	return carrying->seen;
}

struct mt_embed *mt_carrying_embed(const struct mt_carrying *carrying)
{
	return carrying->embed;
}

struct mt_branch_code *mt_carrying_branch_code(const struct mt_carrying *carrying)
{
	return carrying->code;
}

bool mt_carrying_wants_words(const struct mt_carrying *carrying)
{
	return !carrying->whole;
}

void mt_carrying_settle(struct mt_carrying *carrying, uint64_t complete_below)
{
	if (carrying->code)
		mt_branch_code_settle(carrying->code, complete_below);
	mt_code_seen_settle(carrying->seen, complete_below);
	if (mt_code_seen_is_crowded(carrying->seen))
		mt_mapped_now_tell(carrying->seen);
}

void mt_carrying_offer_so_far(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			      uint64_t now)
{
	mt_carry_plan_so_far(carrying->plan, now);
	mt_embed_offer_so_far(carrying->embed, kernel, now);
}

void mt_carrying_offer_rest(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			    uint64_t now)
{
	mt_code_seen_settle_all(carrying->seen);
	mt_carry_plan_rest(carrying->plan, now);
	mt_embed_offer_rest(carrying->embed, kernel, now);
}

uint64_t mt_carrying_to_come(const struct mt_carrying *carrying)
{
	return FRONT_BYTES + PLACE_BYTES * (uint64_t)mt_code_seen_untaken(carrying->seen);
}
