/* Loads libraries with dlopen(). */
#include "symbols/images/shared_library.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

void *mt_shared_library_load(const struct mt_shared_library *library, void *functions)
{
	void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && library->functions[i]; i++) {
		void *symbol = dlsym(handle, library->functions[i]);

		if (!symbol) /* stays loaded, because dlclose() would reset dlerror() */
			return NULL;
		memcpy((char *)functions + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
	return handle;
}

void mt_shared_library_unload(void *handle)
{
	if (handle)
		dlclose(handle);
}

const char *mt_shared_library_problem(const struct mt_shared_library *library)
{
	void *functions[MT_SHARED_LIBRARY_FUNCTIONS];
	void *handle = mt_shared_library_load(library, functions);
	const char *why = handle ? NULL : dlerror();

	mt_shared_library_unload(handle);
	return handle || why ? why : "cannot be loaded";
}
