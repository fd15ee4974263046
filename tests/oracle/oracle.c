/* The oracles that were built in. */
#include "tests/oracle/oracle.h"

const struct oracle *const oracles[] = {
#ifdef HAVE_LIBUNWIND
	&oracle_libunwind,
#endif
#ifdef HAVE_LIBDW
	&oracle_libdw,
#endif
	NULL,
};
