/* record/embed_choice: images of processes with samples are chosen, in whatever order records come.
 */
#include "record/embed_choice.h"

#include "formats/record.h"
#include "record/mapped_file.h"
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
static struct mt_embed_choice *make_choice(int *chosen, uint32_t *image)
{
	const struct mt_text path = {.bytes = IMAGE, .size = sizeof(IMAGE) - 1};
	const struct mt_image_record record = {.path = path};
	const struct mt_mapped_file file = {.path = path};
	struct mt_embed_choice *choice =
		mt_embed_choice_create(false, &(struct mt_embed_offer){chosen, count, ignore});

	*chosen = 0;
	*image = mt_embed_choice_add(choice, -1, &file, &record);
	return choice;
}

MT_TEST(an_image_is_chosen_with_the_first_sample_of_who_maps_it)
{
	int chosen;
	uint32_t image;
	struct mt_embed_choice *choice = make_choice(&chosen, &image);

	mt_embed_choice_map(choice, 10, image);
	mt_embed_choice_sample(choice, 11);
	MT_CHECK_EQ(chosen, 0);
	mt_embed_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_embed_choice_destroy(choice);
}

MT_TEST(the_next_process_of_a_number_does_not_map_what_the_last_one_did)
{
	int chosen;
	uint32_t image;
	struct mt_embed_choice *choice = make_choice(&chosen, &image);

	mt_embed_choice_fork(choice, 10, 1, 1000);
	mt_embed_choice_map(choice, 10, image);
	mt_embed_choice_exit(choice, 10, 2000);
	mt_embed_choice_fork(choice, 10, 1, 3000);
	mt_embed_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 0);
	mt_embed_choice_destroy(choice);
}

MT_TEST(a_fork_that_is_told_behind_its_process_end_takes_nothing_from_it)
{
	int chosen;
	uint32_t image;
	struct mt_embed_choice *choice = make_choice(&chosen, &image);

	mt_embed_choice_map(choice, 10, image);
	mt_embed_choice_exit(choice, 10, 2000);
	mt_embed_choice_fork(choice, 10, 1, 1000); /* of another CPU */
	mt_embed_choice_sample(choice, 10);
	MT_CHECK_EQ(chosen, 1);
	mt_embed_choice_destroy(choice);
}

MT_TEST_MAIN
