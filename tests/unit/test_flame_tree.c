/*
 * report/outputs/flame: stacks become a tree of frames, and the tree becomes boxes without overlap.
 */
#include "report/outputs/flame/flame_colors.h"
#include "report/outputs/flame/flame_tree.h"
#include "report/outputs/parts/places.h"
#include "report/stacks/tree.h"
#include "tests/unit/report_fake.h"
#include "tests/unit/unit.h"

/* Makes the tree of the added stacks; options not given here have their defaults. */
static void make_tree(struct report_fake *fake, struct mt_flame_tree_options options,
		      struct mt_flame_tree *out)
{
	MT_CHECK_OK(mt_table_rewind(mt_sum_table_table(fake->groups)));
	MT_CHECK_OK(mt_flame_tree_make(&options, mt_sum_table_table(fake->groups), out));
}

/* "depth name x width" of each box, one a line. */
static const char *spell(const struct mt_flame_tree *tree, const struct mt_flame_layout *layout)
{
	static char text[2048];
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < layout->boxes.count; i++) {
		const struct mt_flame_box *box = &layout->boxes.items[i];

		used += (size_t)snprintf(text + used, sizeof(text) - used, "%u %s %g %g\n",
					 box->depth, mt_tree_name(tree->tree, box->node), box->x,
					 box->width);
	}
	return text;
}

static const char *lay_out(struct report_fake *fake, struct mt_flame_tree_options options,
			   double least, struct mt_flame_layout *layout)
{
	struct mt_flame_layout_options how = {.least = least};
	struct mt_flame_tree tree;
	const char *text;

	make_tree(fake, options, &tree);
	mt_flame_layout_make(&how, &tree, layout);
	text = spell(&tree, layout);
	mt_flame_tree_deinit(&tree);
	mt_flame_layout_deinit(layout);
	return text;
}

MT_TEST(frames_are_over_their_callers_by_name)
{
	struct mt_flame_layout layout;
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "bash", "main;malloc;brk", 3);
	report_fake_add(&fake, "brk", "bash", "main;fork", 1);
	report_fake_add(&fake, "brk", "bash", "main", 2);
	MT_CHECK_STR(lay_out(&fake, (struct mt_flame_tree_options){0}, 0, &layout),
		     "0  0 6\n1 bash 0 6\n2 main 0 6\n3 fork 2 1\n3 malloc 3 3\n4 brk 3 3\n");
	MT_CHECK_EQ(layout.rows, 5);
	MT_CHECK_EQ(layout.total, 6);
	MT_CHECK_EQ(layout.narrow, 0);
	report_fake_deinit(&fake);
}

MT_TEST(several_events_are_below_the_threads)
{
	struct mt_flame_layout layout;
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "mmap", "a", "main", 2);
	report_fake_add(&fake, "brk", "a", "main", 1);
	MT_CHECK_STR(lay_out(&fake, (struct mt_flame_tree_options){0}, 0, &layout),
		     "0  0 3\n1 brk 0 1\n2 a 0 1\n3 main 0 1\n1 mmap 1 2\n2 a 1 2\n3 main 1 2\n");
	report_fake_deinit(&fake);
}

MT_TEST(reversed_stacks_merge_from_their_leaves)
{
	struct mt_flame_layout layout;
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "main;f;brk", 2);
	report_fake_add(&fake, "brk", "a", "main;g;brk", 1);
	MT_CHECK_STR(
		lay_out(&fake, (struct mt_flame_tree_options){.reverse = true}, 0, &layout),
		"0  0 3\n1 brk 0 3\n2 f 0 2\n3 main 0 2\n4 a 0 2\n2 g 2 1\n3 main 2 1\n4 a 2 1\n");
	report_fake_deinit(&fake);
}

MT_TEST(equal_paths_merge_before_what_is_below_zero_is_left_out)
{
	struct mt_flame_layout layout;
	struct mt_flame_tree tree;
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "main;f", 5);
	report_fake_add(&fake, "brk", "a", "main;f", -2);
	report_fake_add(&fake, "brk", "a", "main;g", -4);
	report_fake_add(&fake, "brk", "a", "main", 1);
	MT_CHECK_STR(lay_out(&fake, (struct mt_flame_tree_options){0}, 0, &layout),
		     "0  0 4\n1 a 0 4\n2 main 0 4\n3 f 1 3\n");
	make_tree(&fake, (struct mt_flame_tree_options){0}, &tree);
	MT_CHECK_EQ(tree.below_zero, -4);
	mt_flame_tree_deinit(&tree);
	report_fake_deinit(&fake);
}

MT_TEST(what_is_too_narrow_is_counted_once)
{
	struct mt_flame_layout layout;
	struct report_fake fake;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "main;f;deep;deeper", 1);
	report_fake_add(&fake, "brk", "a", "main;g", 99);
	MT_CHECK_STR(lay_out(&fake, (struct mt_flame_tree_options){0}, 2, &layout),
		     "0  0 100\n1 a 0 100\n2 main 0 100\n3 g 1 99\n");
	MT_CHECK_EQ(layout.narrow, 3);
	MT_CHECK_EQ(layout.narrow_sum, 1);
	report_fake_deinit(&fake);
}

static size_t one_each(const struct mt_flame_tree *tree, const struct mt_flame_box *box)
{
	(void)tree;
	(void)box;
	return 1;
}

MT_TEST(a_picture_of_too_many_frames_keeps_the_widest)
{
	struct mt_flame_layout_options how = {.least = 0.1, .size_of = one_each, .most = 20};
	struct mt_flame_layout layout;
	struct mt_flame_tree tree;
	struct report_fake fake;
	char name[16];

	report_fake_init(&fake);
	for (int i = 1; i <= 100; i++) {
		snprintf(name, sizeof(name), "f%d", i);
		report_fake_add(&fake, "brk", "a", name, i);
	}
	make_tree(&fake, (struct mt_flame_tree_options){0}, &tree);
	mt_flame_layout_make(&how, &tree, &layout);
	MT_CHECK(layout.boxes.count <= 20 && layout.boxes.count > 5);
	MT_CHECK_EQ(layout.boxes.count + layout.narrow, 102);
	for (size_t i = 0; i < layout.boxes.count; i++)
		MT_CHECK(layout.boxes.items[i].width >= layout.least);
	mt_flame_layout_deinit(&layout);
	mt_flame_tree_deinit(&tree);
	report_fake_deinit(&fake);
}

MT_TEST(an_empty_table_has_no_box)
{
	struct mt_flame_layout layout;
	struct report_fake fake;

	report_fake_init(&fake);
	MT_CHECK_STR(lay_out(&fake, (struct mt_flame_tree_options){0}, 0, &layout), "");
	MT_CHECK_EQ(layout.rows, 0);
	report_fake_deinit(&fake);
}

MT_TEST(kinds_and_joined_frames_are_known_by_path)
{
	struct mt_flame_tree tree;
	struct report_fake fake;
	uint32_t at;

	report_fake_init(&fake);
	report_fake_add(&fake, "brk", "a", "main;f|g;brk", 4);
	mt_stacks_set_joined(fake.stacks, report_fake_stack(&fake, "main;f|g;brk"), 2);
	mt_stacks_set_joined(fake.stacks, report_fake_stack(&fake, "main;f|g;brk"), 1);
	mt_stacks_set_joined(fake.stacks, report_fake_stack(&fake, "main;f|g;brk"), 3);
	make_tree(&fake, (struct mt_flame_tree_options){0}, &tree);
	at = mt_tree_node(tree.tree, 0)->child; /* a */
	MT_CHECK_EQ(tree.sums.items[at].kinds, MT_PLACE_WORDS);
	at = mt_tree_node(tree.tree, at)->child; /* main */
	MT_CHECK_EQ(tree.sums.items[at].kinds, 0);
	MT_CHECK_EQ(tree.sums.items[at].joined, 4);
	at = mt_tree_node(tree.tree, at)->child; /* g, which called f */
	MT_CHECK_EQ(tree.sums.items[at].kinds, 0);
	MT_CHECK_EQ(tree.sums.items[at].joined, 0);
	at = mt_tree_node(tree.tree, at)->child; /* f */
	MT_CHECK_EQ(tree.sums.items[at].kinds, MT_PLACE_INLINED);
	mt_flame_tree_deinit(&tree);
	report_fake_deinit(&fake);
}

MT_TEST(palettes_are_found_by_name)
{
	const struct mt_flame_palette *mem = mt_flame_palette_find(NULL, false);

	MT_CHECK_STR(mem->name, "mem");
	MT_CHECK(mt_flame_palette_is_change(mt_flame_palette_find(NULL, true)));
	MT_CHECK(mt_flame_palette_find("hot", true) == mt_flame_palette_find("hot", false));
	MT_CHECK(!mt_flame_palette_find("beige", false));
	MT_CHECK_EQ(mt_flame_color(mem, MT_HUE_CODE, "main"),
		    mt_flame_color(mem, MT_HUE_CODE, "main"));
	for (const struct mt_flame_palette *p = mt_flame_palettes; p->name; p++) {
		for (int hue = 0; hue < MT_HUES; hue++)
			MT_CHECK(mt_flame_color(p, hue, "f") <= 0xffffff);
	}
}

MT_TEST(a_change_is_red_for_more_and_blue_for_less)
{
	uint32_t more = mt_flame_change_color(1), less = mt_flame_change_color(-1);

	MT_CHECK((more >> 16) > (more & 255) && (less >> 16) < (less & 255));
	MT_CHECK_EQ(mt_flame_change_color(0) >> 16, mt_flame_change_color(0) & 255);
	MT_CHECK_EQ(mt_flame_change_color(7), more);
	MT_CHECK_EQ(mt_flame_change_color(-7), less);
}

MT_TEST_MAIN
