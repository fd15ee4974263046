/*
 * The stacks of one or more tables as one tree of places, for outputs that write all stacks at
 * once. A place is a function with its file and line and its image.
 */
#ifndef MT_REPORT_OUTPUTS_PARTS_PLACES_H
#define MT_REPORT_OUTPUTS_PARTS_PLACES_H

#include <stddef.h>
#include <stdint.h>

struct mt_frame_name;
struct mt_frames;
struct mt_places;
struct mt_table;

/* Bits of a place's or a frame's kinds; the page's model.js has the same. */
enum mt_place_kind {
	MT_PLACE_INLINED = 1, /* into its caller */
	MT_PLACE_KERNEL = 2,
	MT_PLACE_MADE = 4,  /* JIT code */
	MT_PLACE_WORDS = 8, /* text instead of code */
	MT_PLACE_GUESSED = 16,
	MT_PLACE_JOINED = 32, /* it comes from other stacks of the thread */
};

/* The bits of a function of a frame, without MT_PLACE_JOINED. */
uint32_t mt_place_kinds(const struct mt_frames *frames, uint32_t frame,
			const struct mt_frame_name *name);

/* Texts are given by id; id 0 is "". Line 0: not known. */
struct mt_stack_place {
	uint32_t name, image, file, line, kinds;
	uint32_t depth; /* of inlining: 0 is the function itself */
};

/* Creates an empty tree. The caller destroys it. */
struct mt_places *mt_places_create(void);
void mt_places_destroy(struct mt_places *places);

/* The id of a text, made printable. */
uint32_t mt_places_text(struct mt_places *places, const char *text);

/*
 * The node at the end of a stack's path below `caller`; `caller` itself for a stack without frames.
 * The table is the one that the stack's id belongs to; its frames must be named.
 */
uint32_t mt_places_stack(struct mt_places *places, const struct mt_table *table, uint32_t caller,
			 uint32_t stack);

/* Places and texts are counted from 0; nodes from 1, each after its parent. */
size_t mt_places_count(const struct mt_places *places);
size_t mt_places_text_count(const struct mt_places *places);
size_t mt_places_node_count(const struct mt_places *places);

/* A place, borrowed until the next addition. */
const struct mt_stack_place *mt_places_get(const struct mt_places *places, uint32_t place);
const char *mt_places_get_text(const struct mt_places *places, uint32_t text);

/* A node's parent, 0 for a root, and its place. */
struct mt_place_node {
	uint32_t parent, place;
};
struct mt_place_node mt_places_node(const struct mt_places *places, uint32_t node);

#endif
