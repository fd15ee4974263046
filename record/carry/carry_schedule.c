/* A list of images with the time at which each is looked at next. */
#include "record/carry/carry_schedule.h"

#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/cleanup.h"
#include "formats/records/jitdump.h"
#include "formats/records/record.h"
#include "record/carry/carry_worker.h"
#include "record/carry/sampled_places.h"
#include "record/files/file_worker.h"
#include "record/files/mapped_file.h"
#include "record/open/clock.h"

/* Files kept open, so that what is seen of them later can be had when they are gone */
#define KEPT_OPEN_MAX 64
#define FIRST_PAUSE_NS UINT64_C(2000000000)
#define PAUSE_GROWTH 4

struct image {
	struct mt_mapped_file file;
	struct mt_image_record record;
	char *text; /* where their strings are */
	int fd;
	uint32_t number;
	uint64_t due, pause; /* of CLOCK_MONOTONIC */
	bool whole;	     /* that was offered */
};

struct mt_carry_schedule {
	struct mt_embed *embed;
	struct mt_sampled_places *seen;
	struct mt_file_worker *files;
	bool whole;
	MT_ARRAY(struct image) images;
	MT_ARRAY(bool) added; /* by number in seen */
	size_t open;
	uint64_t first_due; /* of all of them */
	uint64_t time;	    /* of what was offered last */
};

struct mt_carry_schedule *mt_carry_schedule_create(struct mt_embed *embed,
						   struct mt_sampled_places *seen,
						   struct mt_file_worker *files, bool whole)
{
	struct mt_carry_schedule *plan = calloc(1, sizeof(*plan));

	if (plan) {
		plan->embed = embed;
		plan->seen = seen;
		plan->files = files;
		plan->whole = whole;
		plan->first_due = UINT64_MAX;
	}
	return plan;
}

static void close_image(struct mt_carry_schedule *plan, struct image *image)
{
	plan->open -= image->fd >= 0;
	mt_file_worker_close(plan->files, image->fd);
	image->fd = -1;
}

void mt_carry_schedule_destroy(struct mt_carry_schedule *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->images.count; i++) {
		close_image(plan, &plan->images.items[i]);
		free(plan->images.items[i].text);
	}
	mt_array_deinit(&plan->images);
	mt_array_deinit(&plan->added);
	free(plan);
}

/* ---- What there is ---- */

/* Whether it is an ELF file of which parts may be carried. */
static bool has_parts(const struct mt_image_record *image)
{
	uint32_t pid;

	return image->path.bytes[0] == '/' &&
	       !mt_jitdump_path(image->path.bytes, image->path.size, &pid);
}

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

static struct image *add_image(struct mt_carry_schedule *plan, int fd,
			       const struct mt_mapped_file *file,
			       const struct mt_image_record *record)
{
	struct image *image = mt_array_push(&plan->images);

	if (!image)
		return NULL;
	*image =
		(struct image){.file = *file, .record = *record, .fd = -1, .pause = FIRST_PAUSE_NS};
	image->text = mt_mapped_file_own_strings(&image->file, &image->record);
	if (!image->text) {
		plan->images.count--;
		return NULL;
	}
	if (plan->open < KEPT_OPEN_MAX)
		image->fd = fd;
	else
		mt_file_worker_close(plan->files, fd);
	plan->open += image->fd >= 0;
	image->due = mt_clock_monotonic() + image->pause;
	plan->first_due = image->due < plan->first_due ? image->due : plan->first_due;
	return image;
}

void mt_carry_schedule_add(struct mt_carry_schedule *plan, int fd,
			   const struct mt_mapped_file *file, const struct mt_image_record *record)
{
	uint32_t number = mt_sampled_places_image(plan->seen, record);
	struct image *image;

	if (number && !take_new(plan, number)) {
		mt_file_worker_close(plan->files, fd);
		return;
	}
	image = plan->whole || !number || !has_parts(record) ? NULL
							     : add_image(plan, fd, file, record);
	if (image)
		image->number = number;
	else
		mt_embed_offer(plan->embed, fd, file, record);
}

/* ---- What is due ---- */

static void offer_whole(struct mt_carry_schedule *plan, struct image *image)
{
	mt_embed_offer(plan->embed, image->fd, &image->file, &image->record);
	image->whole = true;
	plan->open -= image->fd >= 0;
	image->fd = -1;
}

static void offer_news(struct mt_carry_schedule *plan, struct image *image, bool last)
{
	struct mt_code_news news;

	if (image->whole)
		return;
	if (!mt_sampled_places_take(plan->seen, image->number, &news) || news.whole) {
		offer_whole(plan, image);
		return;
	}
	if (news.count)
		mt_embed_offer_seen(plan->embed, image->fd, &image->file, &image->record,
				    &(struct mt_embed_seen){.news = &news,
							    .number = image->number,
							    .time = plan->time,
							    .last = last});
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
