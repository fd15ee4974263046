/*
 * The parsed selectors of the command line: which samples a report is about. A selector that is
 * NULL or empty selects everything.
 */
#ifndef MT_REPORT_SESSION_SELECTION_H
#define MT_REPORT_SESSION_SELECTION_H

#include "report/session/match.h"
#include "report/session/timespan.h"

struct mt_selection {
	struct mt_match *events;  /* alias or kernel name */
	struct mt_match *comms;	  /* name of the thread */
	struct mt_match *dsos;	  /* any frame: recorded path or its last component */
	struct mt_match *symbols; /* any frame: name of a function */
	struct mt_numbers pids, tids, cpus;
	struct mt_timespan time;
};

static inline bool mt_selection_needs_stacks(const struct mt_selection *selection)
{
	return selection->dsos || selection->symbols;
}

static inline bool mt_selection_given(const struct mt_selection *s)
{
	return s->events || s->comms || s->dsos || s->symbols || s->pids.count || s->tids.count ||
	       s->cpus.count || s->time.given;
}

static inline void mt_selection_deinit(struct mt_selection *s)
{
	mt_match_destroy(s->events);
	mt_match_destroy(s->comms);
	mt_match_destroy(s->dsos);
	mt_match_destroy(s->symbols);
	mt_numbers_deinit(&s->pids);
	mt_numbers_deinit(&s->tids);
	mt_numbers_deinit(&s->cpus);
}

#endif
