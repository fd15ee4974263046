/* What a stop at a probe costs on this host, measured by probes in a page of code of our own. */
#ifndef MT_RECORD_PROBES_PROBE_PRICE_H
#define MT_RECORD_PROBES_PROBE_PRICE_H

#include <stdbool.h>

struct mt_perf_features;
struct mt_stop_prices;

/*
 * Takes a third of a second, most of which the kernel takes to remove the probes; it defines none
 * in tracefs. False, with *out as it was, where that cannot be done: before Linux 4.17, on other
 * machines than x86-64, and where memory files may not be run.
 */
bool mt_stop_prices_measure(const struct mt_perf_features *features, struct mt_stop_prices *out);

#endif
