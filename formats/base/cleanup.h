/*
 * Scope guards: a guarded variable is released when its scope ends; MT_TAKE moves ownership out.
 *
 *	MT_CLEANUP_FREE char *path = NULL;
 *	MT_CLEANUP(mt_image_destroy_p) struct mt_image *image = NULL;
 *	...
 *	*out = MT_TAKE(image);
 *	return NULL;
 */
#ifndef MT_FORMATS_BASE_CLEANUP_H
#define MT_FORMATS_BASE_CLEANUP_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MT_CLEANUP(function) __attribute__((cleanup(function)))

/* Returns the pointer and sets the variable to NULL, so that the guard releases nothing. */
#define MT_TAKE(pointer)                                  \
	({                                                \
		__typeof__(pointer) mt_taken = (pointer); \
		(pointer) = NULL;                         \
		mt_taken;                                 \
	})

/* Defines NAME_destroy_p(T **), the guard that calls the NULL-safe NAME_destroy(T *). */
#define MT_DEFINE_CLEANUP(name, type)                       \
	static inline void name##_destroy_p(type **pointer) \
	{                                                   \
		name##_destroy(*pointer);                   \
	}

static inline void mt_free_p(void *pointer)
{
	free(*(void **)pointer);
}

static inline void mt_close_p(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void mt_fclose_p(FILE **file)
{
	if (*file)
		fclose(*file);
}

#define MT_CLEANUP_FREE MT_CLEANUP(mt_free_p)
#define MT_CLEANUP_CLOSE MT_CLEANUP(mt_close_p)
#define MT_CLEANUP_FCLOSE MT_CLEANUP(mt_fclose_p)

#endif
