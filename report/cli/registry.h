/* All analyses and all outputs. */
#ifndef MT_REPORT_CLI_REGISTRY_H
#define MT_REPORT_CLI_REGISTRY_H

struct mt_analysis;
struct mt_output;

/* NULL-terminated; the first is the default. */
extern const struct mt_analysis *const mt_analyses[];
extern const struct mt_output *const mt_outputs[];

/* NULL for an unknown name. */
const struct mt_output *mt_output_find(const char *name);

#endif
