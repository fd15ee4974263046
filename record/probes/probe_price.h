/*
 * Measures the cost of a stop at a probe on this host, with probes in a page of the recorder's
 * code.
 */
#ifndef MT_RECORD_PROBES_PROBE_PRICE_H
#define MT_RECORD_PROBES_PROBE_PRICE_H

#include <stdbool.h>

struct mt_perf_features;
struct mt_stop_prices;

/*
 * Measures the prices in a third of a second, most of which the kernel needs to remove the probes.
 * Defines no probes in tracefs. Returns false and leaves *out unchanged if it cannot measure:
 * before Linux 4.17, on machines other than x86-64, and if memory files cannot be executed.
 */
bool mt_stop_prices_measure(const struct mt_perf_features *features, struct mt_stop_prices *out);

#endif
