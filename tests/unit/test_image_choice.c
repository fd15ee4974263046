/*
 * record/carry/image_choice: images of processes with samples are chosen, in whatever order records
 * come.
 */
#include "record/carry/image_choice.h"

#include "formats/records/record.h"
#include "record/files/mapped_file.h"
#include "tests/unit/unit.h"

#define IMAGE "/bin/one"

static void count(void *context, int fd, const struct mt_mapped_file *file,
		  const struct mt_image_record *image)
{
	(void)fd, (void)file, (void)image;
	++*(int *)context;
}

static void ignore(void *context, int32_t pid, uint64_t exec_time)
{
	(void)context, (void)pid, (void)exec_time;
}

/* A choice that counts in *chosen, with one image, whose number is *image. */
static struct mt_image_choice *make_choice(int *chosen, uint32_t *image)
{
	const struct mt_text path = {.bytes = IMAGE, .size = sizeof(IMAGE) - 1};
	const struct mt_image_record record = {.path = path};
	const struct mt_mapped_file file = {.path = path};
	struct mt_image_choice *choice = mt_image_choice_create(
		false, &(struct mt_embed_offer){chosen, count, ignore}, NULL);

	*chosen = 0;
	*image = mt_image_choice_add(choice, &file);
	mt_image_choice_know(choice, *image, -1, &record);
	return choice;
}

MT_TEST(an_image_is_chosen_with_the_first_sample_of_who_maps_it)
{
	int chosen;
	uint32_t image;
	struct mt_image_choice *choice = make_choice(&chosen, &image);

	mt_image_choice_map(choice, 10, image);
	mt_image_choice_sample(choice, 11);
	MT_CHECK_EQ(chosen, 0);
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST(the_next_process_of_a_number_does_not_map_what_the_last_one_did)
{
	int chosen;
	uint32_t image;
	struct mt_image_choice *choice = make_choice(&chosen, &image);

	mt_image_choice_fork(choice, 10, 1, 1000);
	mt_image_choice_map(choice, 10, image);
	mt_image_choice_exit(choice, 10, 2000);
	mt_image_choice_fork(choice, 10, 1, 3000);
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 0);
	mt_image_choice_destroy(choice);
}

MT_TEST(a_fork_that_is_told_behind_its_process_end_takes_nothing_from_it)
{
	int chosen;
	uint32_t image;
	struct mt_image_choice *choice = make_choice(&chosen, &image);

	mt_image_choice_map(choice, 10, image);
	mt_image_choice_exit(choice, 10, 2000);
	mt_image_choice_fork(choice, 10, 1, 1000); /* of another CPU */
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST(what_is_chosen_before_its_file_was_read_is_offered_then)
{
	const struct mt_text path = {.bytes = IMAGE, .size = sizeof(IMAGE) - 1};
	const struct mt_image_record record = {.path = path};
	const struct mt_mapped_file file = {.path = path};
	int chosen = 0;
	struct mt_image_choice *choice = mt_image_choice_create(
		false, &(struct mt_embed_offer){&chosen, count, ignore}, NULL);
	uint32_t good = mt_image_choice_add(choice, &file);
	uint32_t bad = mt_image_choice_add(choice, &file);

	mt_image_choice_map(choice, 10, good);
	mt_image_choice_map(choice, 10, bad);
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 0);
	mt_image_choice_know(choice, good, -1, &record);
	mt_image_choice_know(choice, bad, -1, NULL);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_sample(choice, 11);
	mt_image_choice_map(choice, 11, good);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST_MAIN
