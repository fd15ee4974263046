/* Each event's format is searched once. */
#include "report/sums/sample_field.h"

#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/session/session.h"
#include "report/tables/facts.h"

static void learn(struct mt_sample_field *field, const struct mt_session *session, uint32_t event)
{
	const struct mt_facts *facts = mt_session_facts(session);

	while (field->of.count <= event) {
		const char *format = facts->events.items[field->of.count].format;
		struct mt_text text = {.bytes = format, .size = strlen(format)};
		struct mt_field *slot = mt_array_push(&field->of);

		*slot = mt_field_find(&text, field->name);
		field->known |= slot->size != 0;
	}
}

bool mt_sample_field_get(struct mt_sample_field *field, const struct mt_session *session,
			 const struct mt_session_sample *sample, double *out)
{
	learn(field, session, sample->event);
	return !sample->member &&
	       mt_field_number(&field->of.items[sample->event], sample->kernel, out);
}

void mt_sample_field_deinit(struct mt_sample_field *field)
{
	mt_array_deinit(&field->of);
}
