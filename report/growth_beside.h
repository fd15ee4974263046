/*
 * Growth, and verdicts on it, beside another analysis: a second reading of the same files, for the
 * calls that change what is mapped. What the summary has to say of memory, whatever else it shows.
 */
#ifndef MT_REPORT_GROWTH_BESIDE_H
#define MT_REPORT_GROWTH_BESIDE_H

struct mt_error;
struct mt_facts;
struct mt_session;
struct mt_session_options;
struct mt_table;

/* All zero before. */
struct mt_growth {
	struct mt_session *session;
	struct mt_table *table;	   /* by thread name and stack; NULL where nothing is known */
	struct mt_table *verdicts; /* on paths; NULL with it */
};

/*
 * `facts` are those of the first reading with these options. No table where no such call was
 * selected, or where a file cannot be read twice.
 */
struct mt_error *mt_growth_read(const struct mt_session_options *options,
				const struct mt_facts *facts, struct mt_growth *out);
void mt_growth_deinit(struct mt_growth *growth);

#endif
