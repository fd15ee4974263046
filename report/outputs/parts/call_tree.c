/*
 * Draws a call tree for a terminal. A chain of calls without a branch is one line, shortened in its
 * middle. Branches below a share of the total are left out; the share is raised until the tree
 * fits.
 */
#include "report/outputs/parts/call_tree.h"

#include <string.h>

#include "report/stacks/tree.h"
#include "report/tables/text.h"

enum {
	DEEPEST = 24,	    /* levels of branches drawn */
	SHARE_COLUMNS = 13, /* "     99.3 %  " */
	CHAIN_MOST = 4096,  /* calls in one line that are examined */
	TEXT_SIZE = 1024,
};

struct drawing {
	const struct mt_tree *tree;
	const struct mt_call_tree_options *options;
	FILE *to;	   /* NULL: only count lines */
	double all, least; /* weight of the whole tree; branches below `least` are left out */
	size_t lines;
	char prefix[DEEPEST * 8];
};

/* The only child that is drawn, if no path ends in the node; MT_TREE_NONE otherwise. */
static uint32_t only_child(const struct drawing *d, uint32_t node)
{
	const struct mt_tree_node *at = mt_tree_node(d->tree, node), *child;

	if (at->child == MT_TREE_NONE || at->self >= d->least)
		return MT_TREE_NONE;
	child = mt_tree_node(d->tree, at->child);
	if (child->next != MT_TREE_NONE && mt_tree_node(d->tree, child->next)->total >= d->least)
		return MT_TREE_NONE;
	return child->total >= 0.9 * at->total && child->total >= d->least ? at->child
									   : MT_TREE_NONE;
}

/* Puts `text` before the contents of `out`, with a separator; false if that exceeds width. */
static bool put_before(const char *text, size_t width, char out[TEXT_SIZE])
{
	char fit[TEXT_SIZE / 2], joined[TEXT_SIZE];
	size_t used = mt_text_fit(text, TEXT_SIZE / 4, fit, sizeof(fit));
	size_t have = mt_text_columns(out);
	int length;

	if (used + 3 + have > width)
		return false;
	length = snprintf(joined, sizeof(joined), "%s > %.*s", fit, TEXT_SIZE / 2 - 4, out);
	if (length < 0 || (size_t)length != strlen(fit) + 3 + strlen(out))
		return false;
	memcpy(out, joined, (size_t)length + 1);
	return true;
}

/*
 * The chain from `node` to its end: its first call, then `..` for calls without room, then the last
 * ones.
 */
static void spell_chain(const struct drawing *d, uint32_t node, uint32_t last, size_t width,
			char out[TEXT_SIZE])
{
	char first[32];
	size_t reserve = mt_text_fit(mt_tree_name(d->tree, node), 24, first, sizeof(first)) +
			 8; /* "FIRST > .. > " */
	uint32_t at = last;

	mt_text_fit(mt_tree_name(d->tree, last), width > reserve + 8 ? width - reserve : width, out,
		    TEXT_SIZE);
	while (at != node) {
		at = mt_tree_node(d->tree, at)->parent;
		if (at == node) {
			put_before(first, width, out);
		} else if (width < reserve ||
			   !put_before(mt_tree_name(d->tree, at), width - reserve, out)) {
			put_before("..", width, out);
			put_before(first, width, out);
			return;
		}
	}
}

static void draw_line(struct drawing *d, const char *branch, double total, const char *text)
{
	d->lines++;
	if (!d->to)
		return;
	fprintf(d->to, "  %9s  %s%s%s\n", mt_text_percent(total, d->all).text, d->prefix, branch,
		text);
}

static void draw_children(struct drawing *d, uint32_t node, size_t level);

static void draw_node(struct drawing *d, uint32_t node, size_t level, bool last_sibling)
{
	const char *branch = !level		? ""
			     : d->options->utf8 ? (last_sibling ? "└─ " : "├─ ")
			     : last_sibling	? "`- "
						: "|- ";
	const char *below = !level ? "" : last_sibling ? "   " : d->options->utf8 ? "│  " : "|  ";
	size_t prefix = strlen(d->prefix),
	       used = SHARE_COLUMNS + mt_text_columns(d->prefix) + mt_text_columns(branch);
	uint32_t end = node, next;
	char text[TEXT_SIZE];

	for (size_t i = 0; i < CHAIN_MOST && (next = only_child(d, end)) != MT_TREE_NONE; i++)
		end = next;
	if (d->to)
		spell_chain(d, node, end,
			    d->options->width > used + 20 ? d->options->width - used : 20, text);
	draw_line(d, branch, mt_tree_node(d->tree, node)->total, text);
	if (level + 1 >= DEEPEST)
		return;
	snprintf(d->prefix + prefix, sizeof(d->prefix) - prefix, "%s", below);
	draw_children(d, end, level + 1);
	d->prefix[prefix] = '\0';
}

static void draw_children(struct drawing *d, uint32_t node, size_t level)
{
	uint32_t next;

	for (uint32_t child = mt_tree_node(d->tree, node)->child; child != MT_TREE_NONE;
	     child = next) {
		const struct mt_tree_node *at = mt_tree_node(d->tree, child);

		next = at->next;
		if (at->total < d->least)
			return; /* sorted: the others are lighter still */
		draw_node(d, child, level,
			  next == MT_TREE_NONE || mt_tree_node(d->tree, next)->total < d->least);
	}
}

static size_t count_lines(struct drawing *d)
{
	FILE *to = d->to;

	d->to = NULL;
	d->lines = 0;
	draw_children(d, 0, 0);
	d->to = to;
	return d->lines;
}

void mt_call_tree_print(const struct mt_tree *tree, const struct mt_call_tree_options *options,
			FILE *to)
{
	static const double shares[] = {0.005, 0.01, 0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3};
	struct drawing d = {
		.tree = tree, .options = options, .to = to, .all = mt_tree_node(tree, 0)->total};

	for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
		d.least = shares[i] * d.all;
		if (d.least <= 0 || count_lines(&d) <= options->lines)
			break;
	}
	d.lines = 0;
	draw_children(&d, 0, 0);
}
