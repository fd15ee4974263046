/* Kills for lack of memory, from the kernel's event. */
#ifndef MT_REPORT_ANALYSES_HOST_OOM_KILLS_H
#define MT_REPORT_ANALYSES_HOST_OOM_KILLS_H

#include <stdbool.h>
#include <stdint.h>

struct mt_facts_event;
struct mt_observed;
struct mt_session;
struct mt_session_sample;

struct mt_oom_victim {
	int32_t pid;	 /* -1: not known */
	uint32_t cgroup; /* string id of its path; the killer's if the victim's is unknown */
};

/* Whether the event reports kills. */
bool mt_oom_recorded(const struct mt_facts_event *event);

/* False for a sample that does not report a kill. Call when the session delivers the sample. */
bool mt_oom_victim(const struct mt_session *session, const struct mt_session_sample *sample,
		   struct mt_oom_victim *out);

/* A kill from the view of an observer. */
struct mt_oom_mark {
	int32_t pid;   /* -1: not known */
	uint32_t name; /* string id; MT_STRING_NONE: not in the event, as before Linux 6.9 */
};

/*
 * False for an event that does not report a kill. A victim that requested the memory itself has the
 * name of its task.
 */
bool mt_oom_observed(struct mt_session *session, const struct mt_observed *observed,
		     struct mt_oom_mark *out);

#endif
