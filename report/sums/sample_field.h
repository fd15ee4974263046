/* A field of tracepoints and probes as a figure of samples: --weight size. */
#ifndef MT_REPORT_SUMS_SAMPLE_FIELD_H
#define MT_REPORT_SUMS_SAMPLE_FIELD_H

#include <stdbool.h>
#include <stdint.h>

#include "formats/base/array.h"
#include "report/tables/trace_fields.h"

struct mt_session;
struct mt_session_sample;

struct mt_sample_field {
	const char *name;	      /* borrowed */
	MT_ARRAY(struct mt_field) of; /* by event, for the events seen so far */
	bool known;		      /* an event seen so far has it */
};

/*
 * The field's value in a sample. False if the event has no number of that name, or the sample ends
 * before it.
 */
bool mt_sample_field_get(struct mt_sample_field *field, const struct mt_session *session,
			 const struct mt_session_sample *sample, double *out);
void mt_sample_field_deinit(struct mt_sample_field *field);

#endif
