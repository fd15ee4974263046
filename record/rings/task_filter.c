/*
 * A cache of the verdicts on 64 Ki threads, eight per set. Slots are atomic words, so that drains
 * never wait for one another. If two threads write a slot at the same time, the slot gets one of
 * the two values. An evicted thread is looked up in /proc again.
 *
 * Records of one CPU arrive nearly in order, but names in the rare ring are read before earlier
 * samples of the storm ring. So a slot keeps the verdict before its last change, and the time of
 * that change.
 */
#include "record/rings/task_filter.h"

#include <linux/perf_event.h>
#include <pwd.h>
#include <regex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/base/array.h"
#include "formats/base/bytes.h"
#include "formats/base/cleanup.h"
#include "formats/base/err.h"
#include "formats/base/map64.h"
#include "formats/base/pages.h"
#include "record/proc/numbers.h"
#include "record/proc/procfs.h"
#include "record/rings/wake_thread.h"

#define SETS 8192
#define WAYS 8
#define ANCESTORS_MAX 64
#define QUESTIONS 256
#define RECORD_MAX 80 /* size of a COMM: header, pid, tid, name, sample_id */
#define REFRESH_NS \
	250000000ull /* age at which a verdict is looked up again: setuid() leaves no record */
#ifndef PERF_RECORD_MISC_COMM_EXEC
#define PERF_RECORD_MISC_COMM_EXEC (1 << 13)
#endif

/* Facts of a thread, in the low bits of its slot's word; the tid is in the high bits. */
enum {
	KNOWN = 1,
	COMM_FITS = 2,
	USER_FITS = 4,
	KEPT_BEFORE = 8,
	TASK_FITS = 16, /* a target, or a descendant of one */
	FACTS = COMM_FITS | USER_FITS | TASK_FITS,
	TID_SHIFT = 8,
};

struct slot {
	_Atomic uint64_t word;	  /* tid and flags; 0: empty */
	_Atomic uint64_t since;	  /* time of the last change of the verdict */
	_Atomic uint64_t checked; /* time of the last look-up in /proc */
};

/*
 * A question to the thread that reads /proc, so that drains need not read it: a drain tries again
 * until the answer arrives. The tid selects the slot of a question. If another thread's question
 * occupies the slot, the question is asked later.
 */
struct question {
	_Atomic enum state {
		FREE,
		TAKEN, /* being written */
		ASKED,
		DONE, /* only if about a record: answered, to be freed by the asker */
	} state;
	uint32_t tid;
	uint64_t time;
	bool about_record;
	uint8_t record[RECORD_MAX]; /* COMM */
	size_t size;
};

struct mt_task_filter {
	bool by_comm, by_user;
	regex_t comm;
	uint32_t uid;
	struct mt_number_list pids, tids; /* targets; empty: every task fits */
	struct mt_task_source source;
	struct slot slots[SETS][WAYS];
	struct question questions[QUESTIONS];
	struct mt_wake_thread thread; /* answers; if it does not run, the caller looks facts up */
};

MT_DEFINE_CLEANUP(mt_task_filter, struct mt_task_filter)

static bool look_into_proc(void *context, uint32_t tid, struct mt_task_facts *out)
{
	MT_CLEANUP_FREE char *comm = mt_read_textf(NULL, "/proc/%u/comm", tid);
	MT_CLEANUP_FREE char *status = mt_read_textf(NULL, "/proc/%u/status", tid);
	const char *user = status ? mt_find_line(status, "Uid") : NULL;
	uint64_t process = 0, parent = 0;

	(void)context;
	/* the effective user, the second one, like ps -u and perf */
	if (!comm || !user || sscanf(user, "%*u %u", &out->uid) != 1)
		return false;
	(void)mt_find_number(status, "Tgid", &process);
	(void)mt_find_number(status, "PPid", &parent);
	out->process = (uint32_t)process;
	out->parent = (uint32_t)parent;
	comm[strcspn(comm, "\n")] = '\0';
	snprintf(out->comm, sizeof(out->comm), "%s", comm);
	return true;
}

static struct mt_error *compile_comm(const char *text, regex_t *out)
{
	char why[128];
	int failed = regcomp(out, text, REG_EXTENDED | REG_NOSUB);

	if (!failed)
		return NULL;
	regerror(failed, out, why, sizeof(why));
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "--comm: '%s': %s", text, why),
			     "a POSIX extended regular expression, as grep -E takes them");
}

/* Reads only /etc/passwd: other user databases need libraries that a static mtrec lacks. */
static struct mt_error *find_user(const char *name, uint32_t *out)
{
	MT_CLEANUP_FCLOSE FILE *users = NULL;
	struct passwd *entry;
	uint64_t number;

	if (mt_parse_u64(name, &number) && number < UINT32_MAX) {
		*out = (uint32_t)number;
		return NULL;
	}
	users = fopen("/etc/passwd", "re");
	while (users && (entry = fgetpwent(users))) {
		if (strcmp(entry->pw_name, name))
			continue;
		*out = (uint32_t)entry->pw_uid;
		return NULL;
	}
	return mt_error_hint(mt_error_create(MT_ERR_USAGE, "-u: there is no user '%s'", name),
			     "only /etc/passwd is looked into; id -u NAME gives the number");
}

struct mt_error *mt_task_filter_create(const char *comm, const char *user,
				       const struct mt_task_source *source,
				       struct mt_task_filter **out)
{
	MT_CLEANUP(mt_task_filter_destroy_p)
	struct mt_task_filter *filter = calloc(1, sizeof(*filter));
	struct mt_error *err;

	if (!filter)
		return mt_error_nomem();
	mt_pages_ready(filter, sizeof(*filter)); /* drains write here, so populate it now */
	filter->source = source ? *source : (struct mt_task_source){.look_up = look_into_proc};
	err = user ? find_user(user, &filter->uid) : NULL;
	filter->by_user = user && !err;
	if (!err && comm)
		err = compile_comm(comm, &filter->comm);
	filter->by_comm = comm && !err;
	if (err)
		return err;
	*out = MT_TAKE(filter);
	return NULL;
}

bool mt_task_filter_user(const struct mt_task_filter *filter, uint32_t *uid)
{
	if (filter->by_user)
		*uid = filter->uid;
	return filter->by_user;
}

void mt_task_filter_destroy(struct mt_task_filter *filter)
{
	if (!filter)
		return;
	(void)mt_wake_thread_stop(&filter->thread, 0);
	if (filter->by_comm)
		regfree(&filter->comm);
	mt_array_deinit(&filter->pids);
	mt_array_deinit(&filter->tids);
	free(filter);
}

static uint64_t comm_flag(const struct mt_task_filter *filter, const char *comm)
{
	return !filter->by_comm || !regexec(&filter->comm, comm, 0, NULL, 0) ? COMM_FITS : 0;
}

static bool keeps(uint64_t word)
{
	return (word & FACTS) == FACTS;
}

static struct slot *find(struct mt_task_filter *filter, uint32_t tid)
{
	struct slot *set = filter->slots[mt_hash64(tid) % SETS];

	for (size_t i = 0; i < WAYS; i++) {
		if (atomic_load(&set[i].word) >> TID_SHIFT == tid && atomic_load(&set[i].word))
			return &set[i];
	}
	return NULL;
}

/* Returns the thread's slot; otherwise an empty slot, or the slot with the oldest look-up. */
static struct slot *slot_for(struct mt_task_filter *filter, uint32_t tid)
{
	struct slot *set = filter->slots[mt_hash64(tid) % SETS], *own = find(filter, tid);
	struct slot *oldest = &set[0];

	for (size_t i = 0; i < WAYS && !own; i++) {
		if (!atomic_load(&set[i].word))
			return &set[i];
		if (atomic_load(&set[i].checked) < atomic_load(&oldest->checked))
			oldest = &set[i];
	}
	return own ? own : oldest;
}

/*
 * Records facts of a time before `checked`, since rings of several CPUs are read out of order.
 * fresh: the thread began then, so the facts also include whose child it is.
 */
static void learn_earlier(struct slot *slot, uint64_t facts, uint64_t time, bool fresh)
{
	uint64_t word = atomic_load(&slot->word), since = atomic_load(&slot->since);

	if (since && time >= since)
		return;
	if (!since)
		atomic_store(&slot->since, atomic_load(&slot->checked));
	word = (word & ~(uint64_t)KEPT_BEFORE) | (keeps(facts) ? KEPT_BEFORE : 0);
	if (fresh)
		word = (word & ~(uint64_t)TASK_FITS) | (facts & TASK_FITS);
	atomic_store(&slot->word, word);
}

/* Sets the facts of a thread from `time` on; earlier facts stay valid for earlier times. */
static void learn(struct mt_task_filter *filter, uint32_t tid, uint64_t facts, uint64_t time,
		  bool fresh)
{
	struct slot *slot = slot_for(filter, tid);
	uint64_t old = atomic_load(&slot->word), word = (uint64_t)tid << TID_SHIFT | KNOWN | facts;
	bool same = !fresh && old >> TID_SHIFT == tid;

	if (old && old >> TID_SHIFT == tid && time < atomic_load(&slot->checked)) {
		learn_earlier(slot, facts, time, fresh);
		return;
	}
	if (same && keeps(old) == keeps(word))
		word |= old & KEPT_BEFORE;
	else
		atomic_store(&slot->since, same ? time : 0);
	if (same && keeps(old) != keeps(word))
		word |= keeps(old) ? KEPT_BEFORE : 0;
	atomic_store(&slot->checked, time);
	atomic_store(&slot->word, word);
}

/*
 * Returns TASK_FITS for a target, or a descendant of one as far as /proc still lists its parents.
 */
static uint64_t task_flag(const struct mt_task_filter *filter, uint32_t tid,
			  const struct mt_task_facts *found)
{
	struct mt_task_facts parent = *found;

	if (!filter->pids.count && !filter->tids.count)
		return TASK_FITS;
	if (mt_list_has(&filter->tids, (int)tid))
		return TASK_FITS;
	for (int depth = 0; depth < ANCESTORS_MAX; depth++) {
		if (mt_list_has(&filter->pids, (int)parent.process) ||
		    (depth && mt_list_has(&filter->tids, (int)parent.process)))
			return TASK_FITS;
		if (parent.parent <= 1 ||
		    !filter->source.look_up(filter->source.context, parent.parent, &parent))
			return 0;
	}
	return 0;
}

static bool copy_list(const struct mt_number_list *from, struct mt_number_list *to)
{
	for (size_t i = 0; i < from->count; i++) {
		if (!mt_list_add(to, from->items[i]))
			return false;
	}
	return true;
}

bool mt_task_filter_only(struct mt_task_filter *filter, const struct mt_number_list *pids,
			 const struct mt_number_list *tids)
{
	return copy_list(pids, &filter->pids) && copy_list(tids, &filter->tids);
}

/* Looks up the facts; false if the thread has ended. */
static bool look_up(struct mt_task_filter *filter, uint32_t tid, uint64_t *facts)
{
	struct mt_task_facts found;

	if (!filter->source.look_up(filter->source.context, tid, &found))
		return false;
	*facts = comm_flag(filter, found.comm) | task_flag(filter, tid, &found) |
		 (!filter->by_user || found.uid == filter->uid ? USER_FITS : 0);
	return true;
}

static struct question *place_of(struct mt_task_filter *filter, uint32_t tid)
{
	return &filter->questions[mt_hash64(tid) % QUESTIONS];
}

/* Queues a question about a thread, or about a record of it (size > 0), if its slot is free. */
static void ask(struct mt_task_filter *filter, uint32_t tid, uint64_t time, const uint8_t *record,
		size_t size)
{
	struct question *question = place_of(filter, tid);
	enum state before = FREE;

	if (!atomic_compare_exchange_strong(&question->state, &before, TAKEN))
		return;
	question->tid = tid;
	question->time = time;
	question->about_record = size;
	question->size = size < RECORD_MAX ? size : RECORD_MAX;
	if (size)
		memcpy(question->record, record, question->size);
	atomic_store(&question->state, ASKED);
	mt_wake_thread_ask(&filter->thread);
}

/*
 * True if the answering thread has processed a COMM; otherwise queues it. Matching an expression
 * allocates memory, so drains must not do it.
 */
static bool seen_by_thread(struct mt_task_filter *filter, const uint8_t *record, size_t size,
			   uint64_t time)
{
	uint32_t tid = mt_get_le32(record + 12);
	struct question *question = place_of(filter, tid);

	if (atomic_load(&question->state) == DONE && question->tid == tid &&
	    question->time == time) {
		atomic_store(&question->state, FREE);
		return true;
	}
	ask(filter, tid, time, record, size);
	return false;
}

/* Looks up a thread's facts in /proc; keeps the known facts if the thread has ended. */
static uint64_t look_again(struct mt_task_filter *filter, uint32_t tid, uint64_t time)
{
	struct slot *slot = find(filter, tid);
	uint64_t word = slot ? atomic_load(&slot->word) : FACTS, facts = FACTS;

	if (!look_up(filter, tid, &facts))
		facts = word & FACTS;
	else if (slot) /* keeps TASK_FITS: after the parent ended, /proc lists another parent */
		facts = (facts & ~(uint64_t)TASK_FITS) | (word & TASK_FITS);
	learn(filter, tid, facts, time, false);
	return facts;
}

void mt_task_filter_meet(struct mt_task_filter *filter, uint32_t tid, uint64_t time)
{
	uint64_t facts;

	if (!find(filter, tid) && look_up(filter, tid, &facts))
		learn(filter, tid, facts, time, false);
}

enum mt_task_verdict mt_task_filter_wants(struct mt_task_filter *filter, uint32_t tid,
					  uint64_t time)
{
	struct slot *slot = find(filter, tid);
	uint64_t facts = FACTS, word;

	if (!slot || time > atomic_load(&slot->checked) + REFRESH_NS) {
		if (filter->thread.is_running)
			ask(filter, tid, time, NULL, 0);
		else
			facts = look_again(filter, tid, time);
		slot = find(filter, tid);
	}
	if (!slot && filter->thread.is_running)
		return MT_TASK_UNKNOWN;
	if (!slot) /* another thread took the slot */
		return keeps(facts) ? MT_TASK_KEPT : MT_TASK_DROPPED;
	word = atomic_load(&slot->word);
	return (time < atomic_load(&slot->since) ? word & KEPT_BEFORE : keeps(word))
		       ? MT_TASK_KEPT
		       : MT_TASK_DROPPED;
}

static void see_comm(struct mt_task_filter *filter, const uint8_t *record, size_t size,
		     uint64_t time)
{
	uint32_t tid = mt_get_le32(record + 12);
	bool exec = mt_get_le16(record + 4) & PERF_RECORD_MISC_COMM_EXEC;
	struct slot *slot = find(filter, tid);
	uint64_t facts = FACTS;
	char comm[64];

	if (slot && !(exec && filter->by_user))
		facts = atomic_load(&slot->word);
	else if (!look_up(filter, tid, &facts) && slot)
		facts = atomic_load(&slot->word);
	snprintf(comm, sizeof(comm), "%.*s", (int)strnlen((const char *)record + 16, size - 16),
		 (const char *)record + 16);
	learn(filter, tid, (facts & (USER_FITS | TASK_FITS)) | comm_flag(filter, comm), time,
	      false);
}

/* A child inherits its parent's facts. */
static void see_fork(struct mt_task_filter *filter, const uint8_t *record, uint64_t time)
{
	uint32_t tid = mt_get_le32(record + 16), parent = mt_get_le32(record + 20);
	struct slot *slot = find(filter, parent);
	uint64_t facts = FACTS;

	if (slot)
		facts = atomic_load(&slot->word) & FACTS;
	else if (look_up(filter, parent, &facts))
		learn(filter, parent, facts, time, false);
	learn(filter, tid, facts, time, true);
}

bool mt_task_filter_see(struct mt_task_filter *filter, const uint8_t *record, size_t size,
			uint64_t time)
{
	uint32_t type = size >= 24 ? mt_get_le32(record) : 0;
	uint32_t parent = size >= 24 ? mt_get_le32(record + 20) : 0;

	if (type == PERF_RECORD_COMM && filter->thread.is_running)
		return seen_by_thread(filter, record, size, time);
	if (type == PERF_RECORD_COMM)
		see_comm(filter, record, size, time);
	if (type != PERF_RECORD_FORK)
		return true;
	if (filter->thread.is_running && !find(filter, parent)) {
		ask(filter, parent, time, NULL, 0);
		return false;
	}
	see_fork(filter, record, time);
	return true;
}

static void answer(struct mt_task_filter *filter, struct question *question)
{
	if (atomic_load(&question->state) != ASKED)
		return;
	if (question->about_record)
		see_comm(filter, question->record, question->size, question->time);
	else
		(void)look_again(filter, question->tid, question->time);
	atomic_store(&question->state, question->about_record ? DONE : FREE);
}

static void answer_all(void *context)
{
	struct mt_task_filter *filter = context;

	for (size_t i = 0; i < QUESTIONS; i++)
		answer(filter, &filter->questions[i]);
}

struct mt_error *mt_task_filter_start(struct mt_task_filter *filter)
{
	filter->thread.is_urgent = true; /* rings fill up while drains wait for answers */
	return mt_wake_thread_start(&filter->thread, answer_all, filter, "looks up threads");
}
