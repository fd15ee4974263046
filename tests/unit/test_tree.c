/* report/stacks/tree: paths become a tree, heaviest branch first. */
#include "formats/base/strings.h"
#include "report/stacks/tree.h"
#include "tests/unit/unit.h"

static void add(struct mt_tree *tree, struct mt_strings *strings, const char *path, double value)
{
	uint32_t names[16];
	size_t count = 0;

	while (*path) {
		size_t length = strcspn(path, ";");

		names[count++] = mt_strings_intern(strings, path, length);
		path += length + (path[length] == ';');
	}
	mt_tree_add(tree, MT_TREE_NONE, names, count, value);
}

MT_TEST(totals_pass_through_and_self_stays)
{
	struct mt_strings *strings = mt_strings_create();
	struct mt_tree *tree = mt_tree_create(strings);
	const struct mt_tree_node *main_node, *heavy;
	uint32_t at;

	add(tree, strings, "main;light", 1);
	add(tree, strings, "main;heavy;x", 5);
	add(tree, strings, "main", 2);
	add(tree, strings, "main;heavy", 1);
	mt_tree_sort(tree);
	MT_CHECK_EQ(mt_tree_node(tree, 0)->total, 9);
	at = mt_tree_node(tree, 0)->child;
	MT_CHECK_STR(mt_tree_name(tree, at), "main");
	main_node = mt_tree_node(tree, at);
	MT_CHECK_EQ(main_node->total, 9);
	MT_CHECK_EQ(main_node->self, 2);
	MT_CHECK_EQ(main_node->next, MT_TREE_NONE);
	MT_CHECK_STR(mt_tree_name(tree, main_node->child), "heavy");
	heavy = mt_tree_node(tree, main_node->child);
	MT_CHECK_EQ(heavy->total, 6);
	MT_CHECK_EQ(heavy->self, 1);
	MT_CHECK_STR(mt_tree_name(tree, heavy->next), "light");
	mt_tree_destroy(tree);
	mt_strings_destroy(strings);
}

MT_TEST(equal_siblings_are_in_order_of_their_names)
{
	struct mt_strings *strings = mt_strings_create();
	struct mt_tree *tree = mt_tree_create(strings);
	uint32_t at;

	add(tree, strings, "c", 1);
	add(tree, strings, "a", 1);
	add(tree, strings, "b", 1);
	mt_tree_sort(tree);
	at = mt_tree_node(tree, 0)->child;
	for (const char *want = "abc"; *want; want++, at = mt_tree_node(tree, at)->next)
		MT_CHECK_EQ(*mt_tree_name(tree, at), *want);
	MT_CHECK_EQ(at, MT_TREE_NONE);
	mt_tree_destroy(tree);
	mt_strings_destroy(strings);
}

/*
 * More children than a lookup searches; each is looked up as the latest one and as an earlier one.
 */
MT_TEST(a_name_has_one_node_among_many_siblings)
{
	enum {
		CHILDREN = 100
	};
	struct mt_strings *strings = mt_strings_create();
	struct mt_tree *tree = mt_tree_create(strings);
	uint32_t node[CHILDREN], below = 0;

	for (uint32_t i = 0; i < CHILDREN; i++) {
		node[i] = mt_tree_step(tree, 0, i + 1);
		MT_CHECK_EQ(mt_tree_step(tree, 0, i + 1), node[i]);
		MT_CHECK_EQ(mt_tree_step(tree, 0, i / 2 + 1), node[i / 2]);
	}
	for (uint32_t i = 0; i < CHILDREN; i++) {
		MT_CHECK_EQ(mt_tree_step(tree, 0, i + 1), node[i]);
		MT_CHECK_EQ(mt_tree_node(tree, node[i])->name, i + 1);
		MT_CHECK_EQ(mt_tree_step(tree, node[i], 1), CHILDREN + 1 + i);
	}
	MT_CHECK_EQ(mt_tree_count(tree), 2 * CHILDREN + 1);
	for (uint32_t c = mt_tree_node(tree, 0)->child; c != MT_TREE_NONE;
	     c = mt_tree_node(tree, c)->next)
		below++;
	MT_CHECK_EQ(below, CHILDREN);
	mt_tree_destroy(tree);
	mt_strings_destroy(strings);
}

MT_TEST_MAIN
