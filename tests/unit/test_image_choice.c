/*
 * record/carry/image_choice: images of processes with samples are chosen, in any order of records.
 */
#include "record/carry/image_choice.h"

#include "record/files/image_files.h"
#include "tests/unit/unit.h"

static void count(void *context, const struct mt_image_file *file)
{
	(void)file;
	++*(int *)context;
}

static void ignore(void *context, int32_t pid, uint64_t exec_time)
{
	(void)context, (void)pid, (void)exec_time;
}

/* A choice that counts chosen images in *chosen. */
static struct mt_image_choice *make_choice(int *chosen)
{
	*chosen = 0;
	return mt_image_choice_create(false, &(struct mt_carry_worker_offer){chosen, count, ignore},
				      NULL);
}

static struct mt_image_file make_image(void)
{
	return (struct mt_image_file){.number = 1, .fd = -1, .known = true};
}

MT_TEST(an_image_is_chosen_with_the_first_sample_of_who_maps_it)
{
	int chosen;
	struct mt_image_file image = make_image();
	struct mt_image_choice *choice = make_choice(&chosen);

	mt_image_choice_map(choice, 10, &image);
	mt_image_choice_sample(choice, 11);
	MT_CHECK_EQ(chosen, 0);
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST(the_next_process_of_a_number_does_not_map_what_the_last_one_did)
{
	int chosen;
	struct mt_image_file image = make_image();
	struct mt_image_choice *choice = make_choice(&chosen);

	mt_image_choice_fork(choice, 10, 1, 1000);
	mt_image_choice_map(choice, 10, &image);
	mt_image_choice_exit(choice, 10, 2000);
	mt_image_choice_fork(choice, 10, 1, 3000);
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 0);
	mt_image_choice_destroy(choice);
}

MT_TEST(a_fork_that_is_reported_after_its_process_end_takes_nothing_from_it)
{
	int chosen;
	struct mt_image_file image = make_image();
	struct mt_image_choice *choice = make_choice(&chosen);

	mt_image_choice_map(choice, 10, &image);
	mt_image_choice_exit(choice, 10, 2000);
	mt_image_choice_fork(choice, 10, 1, 1000); /* late, from another CPU */
	mt_image_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST(what_is_chosen_before_its_file_was_read_is_offered_then)
{
	int chosen;
	struct mt_image_file image = {.number = 1, .fd = -1};
	struct mt_image_choice *choice = make_choice(&chosen);

	mt_image_choice_map(choice, 10, &image);
	mt_image_choice_sample(choice, 10);
	MT_CHECK(image.chosen);
	MT_CHECK_EQ(chosen, 0);
	image.known = true;
	mt_image_choice_know(choice, &image);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_sample(choice, 11);
	mt_image_choice_map(choice, 11, &image);
	MT_CHECK_EQ(chosen, 1);
	mt_image_choice_destroy(choice);
}

MT_TEST_MAIN
