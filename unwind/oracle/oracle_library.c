/* Loads an optional library when its oracle is first used. */
#include <dlfcn.h>
#include <string.h>

#include "unwind/oracle/oracle.h"

void *mt_oracle_load(const struct mt_oracle_library *library, void *functions)
{
	void *handle = dlopen(library->name, RTLD_NOW | RTLD_LOCAL);

	for (size_t i = 0; handle && library->functions[i]; i++) {
		void *symbol = dlsym(handle, library->functions[i]);

		if (!symbol) {
			dlclose(handle);
			return NULL;
		}
		memcpy((char *)functions + i * sizeof(symbol), &symbol, sizeof(symbol));
	}
	return handle;
}

void mt_oracle_unload(void *handle)
{
	if (handle)
		dlclose(handle);
}

const char *mt_oracle_problem(const struct mt_oracle_library *library)
{
	void *functions[MT_ORACLE_FUNCTIONS];
	void *handle = mt_oracle_load(library, functions);
	const char *why = handle ? NULL : dlerror();

	mt_oracle_unload(handle);
	return handle || why ? why : "cannot be loaded";
}
