/* Follows processes from their begin to their end. */
#include "report/gauges/lives.h"

#include "formats/records/record.h"
#include "formats/records/sample.h"
#include "report/session/session.h"
#include "report/stacks/spaces.h"
#include "report/tables/facts.h"

struct mt_living {
	struct mt_life life;
	uint64_t bytes[MT_PAGES_MEMBERS]; /* by the kernel's counts */
};

/* Bounds: a hostile recording may report any number of processes. */
#define LIVES_MAX 1000000

void mt_lives_deinit(struct mt_lives *lives)
{
	mt_array_deinit(&lives->over);
	mt_array_deinit(&lives->living);
	mt_map64_deinit(&lives->by_pid);
	mt_array_deinit(&lives->pages);
}

void mt_lives_end(struct mt_lives *lives)
{
	lives->living.count = 0;
	mt_map64_deinit(&lives->by_pid);
}

static struct mt_living *find(struct mt_lives *lives, int32_t pid)
{
	uint64_t index;

	return mt_map64_get(&lives->by_pid, (uint64_t)pid, &index) ? &lives->living.items[index]
								   : NULL;
}

static bool begin(struct mt_lives *lives, const struct mt_observed *observed)
{
	int32_t pid = observed->task->pid;
	struct mt_living *living = find(lives, pid);

	if (!living && lives->living.count >= LIVES_MAX)
		return true;
	if (!living) {
		living = mt_array_push(&lives->living);
		if (!living ||
		    !mt_map64_put(&lives->by_pid, (uint64_t)pid, lives->living.count - 1))
			return false;
	}
	*living = (struct mt_living){
		.life = {.recording = observed->recording, .pid = pid, .began = observed->time}};
	return true;
}

/* Moves the last entry to the place of the ended process. */
static bool forget(struct mt_lives *lives, struct mt_living *living)
{
	struct mt_living *last = &lives->living.items[--lives->living.count];
	int32_t pid = living->life.pid;

	*living = *last;
	mt_map64_remove(&lives->by_pid, (uint64_t)pid);
	return living == last || mt_map64_put(&lives->by_pid, (uint64_t)living->life.pid,
					      (uint64_t)(living - lives->living.items));
}

static bool end(struct mt_lives *lives, struct mt_living *living,
		const struct mt_observed *observed)
{
	const struct mt_space *space = observed->task->space;
	struct mt_life *over;

	if (space && mt_space_is_target(space) && lives->over.count < LIVES_MAX) {
		over = mt_array_push(&lives->over);
		if (!over)
			return false;
		*over = living->life;
		over->comm = observed->task->comm;
		over->cgroup = space->cgroup;
		over->exe = space->exe;
		over->ended = observed->time;
	}
	return forget(lives, living);
}

/*
 * A known process begins with FORK. mtrec's command was forked before the recording: it begins with
 * the exec of an unknown process.
 */
static bool take_kernel(struct mt_lives *lives, const struct mt_observed *observed)
{
	const struct mt_task *task = observed->task;
	struct mt_living *living;

	if (!task || task->tid != task->pid)
		return true;
	living = find(lives, task->pid);
	switch (observed->kernel->type) {
	case MT_KERNEL_FORK:
		return begin(lives, observed);
	case MT_KERNEL_COMM:
		if (!observed->kernel->exec)
			return true;
		if (living)
			*living = (struct mt_living){.life = {.recording = observed->recording,
							      .pid = task->pid,
							      .began = living->life.began}};
		return living || (observed->space && !observed->space->recorder) ||
		       begin(lives, observed);
	case MT_KERNEL_EXIT:
		return !living || end(lives, living, observed);
	default:
		return true;
	}
}

static const struct mt_page_event *page_event(struct mt_lives *lives, const struct mt_facts *facts,
					      uint32_t event)
{
	while (lives->pages.count <= event) {
		struct mt_page_event *slot = mt_array_push(&lives->pages);

		if (!slot)
			return NULL;
		*slot = mt_page_event_of(&facts->events.items[lives->pages.count - 1]);
	}
	return &lives->pages.items[event];
}

static bool take_sample(struct mt_lives *lives, const struct mt_facts *facts,
			const struct mt_observed *observed)
{
	const struct mt_page_event *event;
	struct mt_living *living;
	struct mt_page_count count;
	uint64_t resident = 0;

	if (observed->event >= facts->events.count)
		return true;
	event = page_event(lives, facts, observed->event);
	if (!event)
		return false;
	if (event->moment != MT_PAGE_COUNT || !mt_page_count_get(event, observed->sample, &count) ||
	    !count.own)
		return true;
	living = find(lives, observed->task->pid);
	if (!living)
		return true;
	living->bytes[count.member] = count.bytes;
	for (size_t i = 0; i < MT_PAGES_MEMBERS; i++)
		resident += i == MT_PAGES_SWAPPED ? 0 : living->bytes[i];
	living->life.peak = resident > living->life.peak ? resident : living->life.peak;
	return true;
}

bool mt_lives_take(struct mt_lives *lives, const struct mt_facts *facts,
		   const struct mt_observed *observed)
{
	switch (observed->kind) {
	case MT_OBSERVED_KERNEL:
		return take_kernel(lives, observed);
	case MT_OBSERVED_SAMPLE:
		return take_sample(lives, facts, observed);
	default:
		return true;
	}
}
