/* Connects the parts, and lists images, each with the time of its next offer. */
#include "record/carry/carrying.h"

#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "record/carry/carry_worker.h"
#include "record/carry/image_choice.h"
#include "record/carry/sampled_places.h"
#include "record/files/image_files.h"
#include "record/open/clock.h"
#include "record/plan/plan.h"

#define FRONT_BYTES ((uint64_t)64 << 10) /* bytes for the headers of all images */
#define PLACE_BYTES 64			 /* bytes for the code around one place */
#define FIRST_PAUSE_NS UINT64_C(2000000000)
#define PAUSE_GROWTH 4

/* An image that is carried in parts, as samples show them. */
struct image {
	const struct mt_image_file *file;
	uint64_t due, pause; /* ns, of CLOCK_MONOTONIC */
	bool whole;	     /* the whole image was offered */
	bool lines;	     /* offer debug information at the end, for `places` */
	MT_ARRAY(uint64_t) places;
};

struct mt_carrying {
	struct mt_image_choice *choice;
	struct mt_sampled_places *seen;
	struct mt_carry_worker *embed;
	bool whole; /* every image is carried whole */
	bool lines, lines_elsewhere;
	MT_ARRAY(struct image) images;
	MT_ARRAY(bool) added; /* by number in `seen`: the image was added */
	uint64_t first_due;   /* the earliest `due` of all images */
	uint64_t time;	      /* time of the last offer */
};

MT_DEFINE_CLEANUP(mt_carrying, struct mt_carrying)

void mt_carrying_destroy(struct mt_carrying *carrying)
{
	if (!carrying)
		return;
	mt_image_choice_destroy(carrying->choice);
	mt_carry_worker_destroy(carrying->embed);
	mt_sampled_places_destroy(carrying->seen);
	for (size_t i = 0; i < carrying->images.count; i++)
		mt_array_deinit(&carrying->images.items[i].places);
	mt_array_deinit(&carrying->images);
	mt_array_deinit(&carrying->added);
	free(carrying);
}

/* ---- New images ---- */

static bool add_parts(struct mt_carrying *carrying, const struct mt_image_file *file)
{
	const struct image image = {
		.file = file,
		.pause = FIRST_PAUSE_NS,
		.due = mt_clock_monotonic() + FIRST_PAUSE_NS,
		.lines = carrying->lines || (carrying->lines_elsewhere && file->elsewhere),
	};

	carrying->first_due = image.due < carrying->first_due ? image.due : carrying->first_due;
	return mt_array_append(&carrying->images, image);
}

/*
 * Adds an image once. A file without a number is the vdso or a jitdump, or past the maximum number
 * of images, and is offered whole.
 */
static void add_image(void *context, const struct mt_image_file *file)
{
	struct mt_carrying *carrying = context;

	bool *added = file->places ? mt_array_at(&carrying->added, file->places) : NULL;

	if (file->places && (!added || *added))
		return;
	if (added)
		*added = true;
	if (carrying->whole || !file->places || !add_parts(carrying, file))
		mt_carry_worker_offer(carrying->embed, file);
}

static void offer_process(void *context, int32_t pid, uint64_t exec_time)
{
	struct mt_carrying *carrying = context;

	mt_carry_worker_offer_process(carrying->embed, pid, exec_time);
}

static bool has_branches(const struct mt_plan *plan)
{
	for (size_t i = 0; i < plan->events.count; i++) {
		if (plan->events.items[i].attr.sample_type & PERF_SAMPLE_BRANCH_STACK)
			return true;
	}
	return false;
}

static bool create_parts(struct mt_carrying *carrying, const struct mt_embed_options *options,
			 const struct mt_plan *plan, struct mt_image_files *files)
{
	const struct mt_carry_worker_offer offer = {carrying, add_image, offer_process};

	/* a branch may be in code that no word of a dump points to */
	carrying->whole = options->unsampled || has_branches(plan);
	carrying->lines = options->wish.lines;
	carrying->lines_elsewhere = options->lines_elsewhere;
	carrying->first_due = UINT64_MAX;
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
	err = mt_carry_worker_create(options, &carrying->embed);
	if (err)
		return err;
	*out = MT_TAKE(carrying);
	return NULL;
}

/* ---- Offers ---- */

/* Keeps places for debug information; if memory runs out, none of the image is carried. */
static void keep_places(struct image *image, const struct mt_code_news *news)
{
	image->lines &= mt_array_extend(&image->places, news->offsets, news->count);
}

static void offer_lines(struct mt_carrying *carrying, struct image *image)
{
	if (image->whole || !image->lines || !image->places.count)
		return;
	mt_carry_worker_offer_lines(carrying->embed, image->file, image->places.items,
				    image->places.count, carrying->time);
	image->places = (typeof(image->places)){0};
}

static void offer_news(struct mt_carrying *carrying, struct image *image, bool last)
{
	struct mt_code_news news;

	if (image->whole)
		return;
	if (!mt_sampled_places_take(carrying->seen, image->file->places, &news) || news.whole) {
		mt_carry_worker_offer(carrying->embed, image->file);
		image->whole = true;
	} else if (news.count) {
		if (image->lines)
			keep_places(image, &news);
		mt_carry_worker_offer_seen(carrying->embed, image->file, &news, carrying->time,
					   last);
	}
}

/* Gives each offer a later time, by which readers distinguish the parts of an image. */
static void set_time(struct mt_carrying *carrying, uint64_t now)
{
	carrying->time = now > carrying->time ? now : carrying->time + 1;
}

static void offer_due(struct mt_carrying *carrying, uint64_t now)
{
	uint64_t clock = mt_clock_monotonic(), next = UINT64_MAX;

	if (clock < carrying->first_due)
		return;
	set_time(carrying, now);
	for (size_t i = 0; i < carrying->images.count; i++) {
		struct image *image = &carrying->images.items[i];

		if (image->whole)
			continue;
		if (clock >= image->due) {
			offer_news(carrying, image, false);
			image->due = clock + image->pause;
			image->pause *= PAUSE_GROWTH;
		}
		next = image->due < next ? image->due : next;
	}
	carrying->first_due = next;
}

static void offer_all(struct mt_carrying *carrying, uint64_t now)
{
	set_time(carrying, now);
	for (size_t i = 0; i < carrying->images.count; i++)
		offer_news(carrying, &carrying->images.items[i], true);
	set_time(carrying, now);
	for (size_t i = 0; i < carrying->images.count; i++)
		offer_lines(carrying, &carrying->images.items[i]);
}

/* ---- Interface of the parts ---- */

struct mt_image_choice *mt_carrying_choice(const struct mt_carrying *carrying)
{
	return carrying->choice;
}

struct mt_sampled_places *mt_carrying_code_seen(const struct mt_carrying *carrying)
{
	return carrying->seen;
}

struct mt_carry_worker *mt_carrying_embed(const struct mt_carrying *carrying)
{
	return carrying->embed;
}

bool mt_carrying_wants_words(const struct mt_carrying *carrying)
{
	return !carrying->whole;
}

void mt_carrying_offer_so_far(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			      uint64_t now)
{
	offer_due(carrying, now);
	mt_carry_worker_offer_so_far(carrying->embed, kernel, now);
}

void mt_carrying_offer_rest(struct mt_carrying *carrying, struct mt_kernel_seen *kernel,
			    uint64_t now)
{
	mt_sampled_places_settle_all(carrying->seen);
	offer_all(carrying, now);
	mt_carry_worker_offer_remaining(carrying->embed, kernel, now);
}

uint64_t mt_carrying_to_come(const struct mt_carrying *carrying)
{
	return FRONT_BYTES + PLACE_BYTES * (uint64_t)mt_sampled_places_untaken(carrying->seen);
}
