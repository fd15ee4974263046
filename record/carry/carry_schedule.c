/* A list of images with the time at which each is looked at next. */
#include "record/carry/carry_schedule.h"

#include <stdlib.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "record/carry/carry_worker.h"
#include "record/carry/sampled_places.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"

#define FIRST_PAUSE_NS UINT64_C(2000000000)
#define PAUSE_GROWTH 4

struct image {
	const struct mt_image_file *file;
	uint64_t due, pause; /* of CLOCK_MONOTONIC */
	bool whole;	     /* that was offered */
};

struct mt_carry_schedule {
	struct mt_embed *embed;
	struct mt_sampled_places *seen;
	bool whole;
	MT_ARRAY(struct image) images;
	MT_ARRAY(bool) added; /* by number in seen */
	uint64_t first_due;   /* of all of them */
	uint64_t time;	      /* of what was offered last */
};

struct mt_carry_schedule *mt_carry_schedule_create(struct mt_embed *embed,
						   struct mt_sampled_places *seen, bool whole)
{
	struct mt_carry_schedule *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->embed = embed;
		plan->seen = seen;
		plan->whole = whole;
		plan->first_due = UINT64_MAX;
	}
	return plan;
}

void mt_carry_schedule_destroy(struct mt_carry_schedule *plan)
{
	if (!plan)
		return;
	mt_array_deinit(&plan->images);
	mt_array_deinit(&plan->added);
	free(plan);
}

/* ---- What there is ---- */

/* Whether the image is a new one, which is known from now on. */
static bool take_new(struct mt_carry_schedule *plan, uint32_t number)
{
	bool *added;

	while (plan->added.count <= number) {
		if (!mt_array_push(&plan->added))
			return false;
	}
	added = &plan->added.items[number];
	if (*added)
		return false;
	*added = true;
	return true;
}

static bool add_image(struct mt_carry_schedule *plan, const struct mt_image_file *file)
{
	struct image *image = mt_array_push(&plan->images);

	if (!image)
		return false;
	*image = (struct image){.file = file, .pause = FIRST_PAUSE_NS};
	image->due = mt_clock_monotonic() + image->pause;
	plan->first_due = image->due < plan->first_due ? image->due : plan->first_due;
	return true;
}

/* What has no number is the vdso, a jitdump, or one image too many: it has no parts. */
void mt_carry_schedule_add(struct mt_carry_schedule *plan, const struct mt_image_file *file)
{
	if (file->places && !take_new(plan, file->places))
		return;
	if (plan->whole || !file->places || !add_image(plan, file))
		mt_embed_offer(plan->embed, file);
}

/* ---- What is due ---- */

static void offer_news(struct mt_carry_schedule *plan, struct image *image, bool last)
{
	struct mt_code_news news;

	if (image->whole)
		return;
	if (!mt_sampled_places_take(plan->seen, image->file->places, &news) || news.whole) {
		mt_embed_offer(plan->embed, image->file);
		image->whole = true;
	} else if (news.count) {
		mt_embed_offer_seen(plan->embed, image->file, &news, plan->time, last);
	}
}

/* Times tell parts of an image apart. */
static void set_time(struct mt_carry_schedule *plan, uint64_t now)
{
	plan->time = now > plan->time ? now : plan->time + 1;
}

void mt_carry_schedule_so_far(struct mt_carry_schedule *plan, uint64_t now)
{
	uint64_t clock = mt_clock_monotonic(), next = UINT64_MAX;

	if (clock < plan->first_due)
		return;
	set_time(plan, now);
	for (size_t i = 0; i < plan->images.count; i++) {
		struct image *image = &plan->images.items[i];

		if (image->whole)
			continue;
		if (clock >= image->due) {
			offer_news(plan, image, false);
			image->due = clock + image->pause;
			image->pause *= PAUSE_GROWTH;
		}
		next = image->due < next ? image->due : next;
	}
	plan->first_due = next;
}

void mt_carry_schedule_rest(struct mt_carry_schedule *plan, uint64_t now)
{
	set_time(plan, now);
	for (size_t i = 0; i < plan->images.count; i++)
		offer_news(plan, &plan->images.items[i], true);
}
