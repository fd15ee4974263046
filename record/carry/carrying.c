/* Puts the parts together; none of them knows but the next one. */
#include "record/carry/carrying.h"

#include <linux/perf_event.h>
#include <stdlib.h>

#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/carry/carry_schedule.h"
#include "record/carry/carry_worker.h"
#include "record/carry/image_choice.h"
#include "record/carry/sampled_places.h"
#include "record/plan/plan.h"

#define FRONT_BYTES ((uint64_t)64 << 10) /* of all images together */
#define PLACE_BYTES 64			 /* of a place in their code */

struct mt_carrying {
	struct mt_image_choice *choice;
	struct mt_sampled_places *seen;
	struct mt_carry_schedule *plan;
	struct mt_embed *embed;
	bool whole;
};

MT_DEFINE_CLEANUP(mt_carrying, struct mt_carrying)

void mt_carrying_destroy(struct mt_carrying *carrying)
{
	if (!carrying)
		return;
	mt_image_choice_destroy(carrying->choice);
	mt_carry_schedule_destroy(carrying->plan);
	mt_embed_destroy(carrying->embed);
	mt_sampled_places_destroy(carrying->seen);
	free(carrying);
}

static void add_image(void *context, const struct mt_image_file *file)
{
	struct mt_carrying *carrying = context;

	mt_carry_schedule_add(carrying->plan, file);
}

static void offer_process(void *context, int32_t pid, uint64_t exec_time)
{
	struct mt_carrying *carrying = context;

	mt_embed_offer_process(carrying->embed, pid, exec_time);
}

static bool has_branches(const struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	}
	return false;
}

/* Between two branches code ran that no word points to. */
static bool is_whole(const struct mt_embed_options *options, const struct mt_plan *plan)
{
	return options->unsampled || options->wish.lines || has_branches(plan);
}

static bool create_parts(struct mt_carrying *carrying, const struct mt_embed_options *options,
			 const struct mt_plan *plan, struct mt_image_files *files)
{
	const struct mt_embed_offer offer = {carrying, add_image, offer_process};

	carrying->whole = is_whole(options, plan);
	carrying->choice = mt_image_choice_create(options->unsampled, &offer, files);
	carrying->seen = mt_sampled_places_create();
	return carrying->choice && carrying->seen;
}

struct mt_error *mt_carrying_create(const struct mt_embed_options *options,
				    const struct mt_plan *plan, struct mt_image_files *files,
				    struct mt_carrying **out)
{
	MT_CLEANUP(mt_carrying_destroy_p) struct mt_carrying *carrying = NULL;
	struct mt_error *err;

	*out = NULL;
	if (!options->wish.names && !options->wish.unwind)
		return NULL;
	carrying = calloc(1, sizeof(*carrying));
	if (!carrying || !create_parts(carrying, options, plan, files))
		return mt_error_nomem();
	err = mt_embed_create(options, &carrying->embed);
	if (err)
		return err;
	carrying->plan = mt_carry_schedule_create(carrying->embed, carrying->seen, carrying->whole);
	if (!carrying->plan)
		return mt_error_nomem();
	*out = MT_TAKE(carrying);
	return NULL;
}

struct mt_image_choice *mt_carrying_choice(const struct mt_carrying *carrying)
{
	return carrying->choice;
}

struct mt_sampled_places *mt_carrying_code_seen(const struct mt_carrying *carrying)
{
	return carrying->seen;
}

struct mt_embed *mt_carrying_embed(const struct mt_carrying *carrying)
{
	return carrying->embed;
}

bool mt_carrying_wants_words(const struct mt_carrying *carrying)
{
	return !carrying->whole;
}

void mt_carrying_settle(struct mt_carrying *carrying, uint64_t complete_below)
{
	mt_sampled_places_settle(carrying->seen, complete_below);
}

void mt_carrying_offer_so_far(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			      uint64_t now)
{
	mt_carry_schedule_so_far(carrying->plan, now);
	mt_embed_offer_so_far(carrying->embed, kernel, now);
}

void mt_carrying_offer_rest(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			    uint64_t now)
{
	mt_sampled_places_settle_all(carrying->seen);
	mt_carry_schedule_rest(carrying->plan, now);
	mt_embed_offer_rest(carrying->embed, kernel, now);
}

uint64_t mt_carrying_to_come(const struct mt_carrying *carrying)
{
	return FRONT_BYTES + PLACE_BYTES * (uint64_t)mt_sampled_places_untaken(carrying->seen);
}
