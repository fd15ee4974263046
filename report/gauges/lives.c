/* Follows processes from start to end. */
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

static void begin(struct mt_lives *lives, const struct mt_observed *observed)
{
	int32_t pid = observed->task->pid;

	if (lives->living.count >= LIVES_MAX && !find(lives, pid))
		return;
	*mt_map64_element(&lives->by_pid, &lives->living, (uint64_t)pid) = (struct mt_living){
		.life = {.recording = observed->recording, .pid = pid, .began = observed->time}};
}

/* Moves the last entry to the place of the ended process. */
static void forget(struct mt_lives *lives, struct mt_living *living)
{
	struct mt_living *last = &lives->living.items[--lives->living.count];
	int32_t pid = living->life.pid;

	*living = *last;
	mt_map64_remove(&lives->by_pid, (uint64_t)pid);
	if (living != last)
		mt_map64_put(&lives->by_pid, (uint64_t)living->life.pid,
			     (uint64_t)(living - lives->living.items));
}

static void end(struct mt_lives *lives, struct mt_living *living,
		const struct mt_observed *observed)
{
	const struct mt_space *space = observed->task->space;
	struct mt_life *over;

	if (space && mt_space_is_target(space) && lives->over.count < LIVES_MAX) {
		over = mt_array_push(&lives->over);
		*over = living->life;
		over->comm = observed->task->comm;
		over->cgroup = space->cgroup;
		over->exe = space->exe;
		over->ended = observed->time;
	}
	forget(lives, living);
}

/*
 * A life begins with FORK. The command that mtrec starts was forked before the recording, so its
 * life begins with the exec of a process that is not yet known.
 */
static void take_kernel(struct mt_lives *lives, const struct mt_observed *observed)
{
	const struct mt_task *task = observed->task;
	const struct mt_kernel_record *kernel = observed->kernel;
	struct mt_living *living;

	if (!task || task->tid != task->pid)
		return;
	living = find(lives, task->pid);
	if (kernel->type == MT_KERNEL_EXIT && living)
		end(lives, living, observed);
	else if (kernel->type == MT_KERNEL_COMM && kernel->exec && living)
		*living = (struct mt_living){.life = {.recording = observed->recording,
						      .pid = task->pid,
						      .began = living->life.began}};
	else if (kernel->type == MT_KERNEL_FORK ||
		 (kernel->type == MT_KERNEL_COMM && kernel->exec &&
		  (!observed->space || observed->space->recorder)))
		begin(lives, observed);
}

static const struct mt_page_event *page_event(struct mt_lives *lives, const struct mt_facts *facts,
					      uint32_t event)
{
	while (lives->pages.count <= event)
		mt_array_append(&lives->pages,
				mt_page_event_of(&facts->events.items[lives->pages.count]));
	return &lives->pages.items[event];
}

static void take_sample(struct mt_lives *lives, const struct mt_facts *facts,
			const struct mt_observed *observed)
{
	const struct mt_page_event *event;
	struct mt_living *living;
	struct mt_page_count count;
	uint64_t resident = 0;

	if (observed->event >= facts->events.count)
		return;
	event = page_event(lives, facts, observed->event);
	if (event->moment != MT_PAGE_COUNT || !mt_page_count_get(event, observed->sample, &count) ||
	    !count.own)
		return;
	living = find(lives, observed->task->pid);
	if (!living)
		return;
	living->bytes[count.member] = count.bytes;
	for (size_t i = 0; i < MT_PAGES_MEMBERS; i++)
		resident += i == MT_PAGES_SWAPPED ? 0 : living->bytes[i];
	living->life.peak = resident > living->life.peak ? resident : living->life.peak;
}

void mt_lives_take(struct mt_lives *lives, const struct mt_facts *facts,
		   const struct mt_observed *observed)
{
	if (observed->kind == MT_OBSERVED_KERNEL)
		take_kernel(lives, observed);
	else if (observed->kind == MT_OBSERVED_SAMPLE)
		take_sample(lives, facts, observed);
}
