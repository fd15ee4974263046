/*
 * Loads libraries on first use: optional ones, and those that few reports need but that would slow
 * down the start of every report.
 */
#ifndef MT_SYMBOLS_IMAGES_SHARED_LIBRARY_H
#define MT_SYMBOLS_IMAGES_SHARED_LIBRARY_H

/* A shared library and the names of the functions used from it, NULL-terminated. */
#define MT_SHARED_LIBRARY_FUNCTIONS 16 /* maximum */
struct mt_shared_library {
	const char *name;
	const char *const *functions;
};

/*
 * Loads a library and writes pointers to its functions into `functions`, in their order. Returns a
 * handle for mt_shared_library_unload(), which is NULL-safe; NULL if the library or a function is
 * missing, and dlerror() says which.
 */
void *mt_shared_library_load(const struct mt_shared_library *library, void *functions);
void mt_shared_library_unload(void *handle);

/* Says why a library cannot be loaded; NULL if it can. Borrowed until the next call. */
const char *mt_shared_library_problem(const struct mt_shared_library *library);

#endif
