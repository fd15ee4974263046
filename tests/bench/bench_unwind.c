/*
 * Measures the unwinder on samples from perf.data files: samples and frames a second on one core,
 * compared with a memcpy of the same dumps and, if built in, with libunwind (shared cache) and
 * libdw (one Dwfl).
 *
 *	bench_unwind FILE...		a table for each
 *	bench_unwind --ends FILE...	how stacks ended
 *	bench_unwind --compare FILE...	each stack compared with the oracles; exit 1 if more than
 *					one in a thousand is shorter without a reason; 3 if so and
 *					the recording lost records, perhaps those of mappings
 *	bench_unwind --dump N FILE	the N-th stack, from all unwinders
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "symbols/images/image.h"
#include "symbols/images/image_map.h"
#include "tests/bench/samples.h"
#include "unwind/oracle/oracle.h"

#define FRAMES_MAX 256

struct totals {
	size_t frames, samples;
	double seconds;
};

/* Processor time, so that other work on the machine does not count. */
static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct mt_unwinder *make_unwinder(void)
{
	const struct mt_unwind_options options = {.max_frames = FRAMES_MAX};
	struct mt_unwinder *unwinder = mt_unwinder_create(&options);

	if (!unwinder)
		abort();
	return unwinder;
}

static struct totals run_ours(const struct samples *s, struct mt_unwinder *unwinder)
{
	struct mt_frame frames[FRAMES_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES_MAX};
	struct totals t = {.samples = s->count, .seconds = -now()};

	for (size_t i = 0; i < s->count; i++) {
		stack.count = 0;
		mt_unwind_methods[0].unwind(unwinder, &s->inputs[i], &stack);
		t.frames += stack.count;
	}
	t.seconds += now();
	return t;
}

struct part {
	pthread_t thread;
	struct samples samples;
	struct mt_unwinder *unwinder;
	size_t frames;
};

static void *run_part(void *of)
{
	struct part *part = of;

	part->frames = run_ours(&part->samples, part->unwinder).frames;
	return NULL;
}

static double wall(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Each CPU unwinds a part of the samples, with a warm cache; wall clock time. */
static struct totals run_all_cores(const struct samples *s)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct part *parts = calloc((size_t)cpus, sizeof(*parts));
	struct totals t = {.samples = s->count};

	for (int pass = 0; pass < 2; pass++) {
		t.seconds = -wall();
		t.frames = 0;
		for (long i = 0; i < cpus; i++) {
			size_t from = s->count * (size_t)i / (size_t)cpus;

			parts[i].samples = *s;
			parts[i].samples.inputs += from;
			parts[i].samples.count = s->count * (size_t)(i + 1) / (size_t)cpus - from;
			if (!parts[i].unwinder)
				parts[i].unwinder = make_unwinder();
			pthread_create(&parts[i].thread, NULL, run_part, &parts[i]);
		}
		for (long i = 0; i < cpus; i++) {
			pthread_join(parts[i].thread, NULL);
			t.frames += parts[i].frames;
		}
		t.seconds += wall();
	}
	for (long i = 0; i < cpus; i++)
		mt_unwinder_destroy(parts[i].unwinder);
	free(parts);
	return t;
}

static struct totals run_memcpy(const struct samples *s)
{
	static uint8_t to[1 << 16];
	struct totals t = {.samples = s->count, .seconds = -now()};

	for (size_t i = 0; i < s->count; i++) {
		memcpy(to, s->inputs[i].dump, s->inputs[i].dump_size & 0xffff);
		__asm__ volatile("" ::"r"(to) : "memory");
	}
	t.seconds += now();
	return t;
}

static const struct mt_oracle *const oracles[] = {
#ifdef HAVE_LIBUNWIND
	&mt_oracle_libunwind,
#endif
	&mt_oracle_libdw,
	NULL,
};

static void *make_state(const struct mt_oracle *oracle, const struct samples *s)
{
	void *state = oracle->create(s->map);

	if (!state)
		abort();
	return state;
}

/* Gets the pcs of a stack from an oracle; returns their number. */
static size_t ask(const struct mt_oracle *oracle, void *state, const struct mt_unwind_input *input,
		  uint64_t *pcs)
{
	struct mt_frame frames[FRAMES_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES_MAX};

	oracle->unwind(state, input, &stack);
	for (size_t i = 0; i < stack.count; i++)
		pcs[i] = frames[i].pc;
	return stack.count;
}

static struct totals run_oracle(const struct samples *s, const struct mt_oracle *oracle,
				size_t limit)
{
	void *state = make_state(oracle, s);
	uint64_t pcs[FRAMES_MAX];
	struct totals t = {.samples = s->count < limit ? s->count : limit, .seconds = -now()};

	for (size_t i = 0; i < t.samples; i++)
		t.frames += ask(oracle, state, &s->inputs[i], pcs);
	t.seconds += now();
	oracle->destroy(state);
	return t;
}

static void print_row(const char *name, const struct totals *t)
{
	double rate = (double)t->samples / t->seconds;

	printf("  %-22s %9.0f samples/s", name, rate);
	if (t->frames)
		printf(" %6.1f frames %7.1f ns/frame", (double)t->frames / (double)t->samples,
		       t->seconds * 1e9 / (double)t->frames);
	printf("\n");
}

static struct totals best(struct totals a, struct totals b)
{
	return a.seconds && a.seconds < b.seconds ? a : b;
}

/* Times each sample alone: the slowest ones open images and find their CFI. */
static struct totals run_first(const struct samples *s, struct mt_unwinder *unwinder)
{
	struct totals all = {0};
	double slowest = 0;

	for (size_t i = 0; i < s->count; i++) {
		struct samples one = *s;
		struct totals t;

		one.inputs += i;
		one.count = 1;
		t = run_ours(&one, unwinder);
		slowest = t.seconds > slowest ? t.seconds : slowest;
		all.samples++;
		all.frames += t.frames;
		all.seconds += t.seconds;
	}
	printf("  the slowest sample of the first pass: %.3f ms\n", slowest * 1e3);
	return all;
}

static void bench(const char *path)
{
	struct totals copy = {0}, plain = {0}, cold, t;
	struct mt_unwinder *unwinder = make_unwinder();
	struct samples s;

	samples_load(path, &s);
	printf("%s: pid %u, %zu samples\n", path, s.pid, s.count);
	cold = run_first(&s, unwinder);
	for (int i = 0; i < 5; i++) {
		copy = best(copy, run_memcpy(&s));
		plain = best(plain, run_ours(&s, unwinder));
	}
	print_row("memcpy of the dumps", &copy);
	print_row("ours, first pass", &cold);
	print_row("ours", &plain);
	t = run_all_cores(&s);
	print_row("ours, all cores, by wall", &t);
	printf("  time / memcpy: %.2f; cache misses %.3f %%\n", plain.seconds / copy.seconds,
	       100.0 * (double)mt_unwinder_counts(unwinder)->cache_misses /
		       (double)mt_unwinder_counts(unwinder)->frames);
	for (const struct mt_oracle *const *o = oracles; *o; o++) {
		t = run_oracle(&s, *o, 20000);
		print_row((*o)->name, &t);
		printf("  ours / %s: %.1f\n", (*o)->name,
		       ((double)plain.samples / plain.seconds) / ((double)t.samples / t.seconds));
	}
	mt_unwinder_destroy(unwinder);
	samples_deinit(&s);
}

static void ends(const char *path)
{
	struct mt_unwinder *unwinder = make_unwinder();
	const struct mt_unwind_counts *c = mt_unwinder_counts(unwinder);
	struct samples s;

	samples_load(path, &s);
	run_ours(&s, unwinder);
	printf("%s: pid %u, %zu samples\n", path, s.pid, s.count);
	for (int i = 0; i < MT_END_REASONS; i++) {
		if (c->ends[i])
			printf("  %-24s %9lu  %6.2f %%\n", mt_stack_end_name(i), c->ends[i],
			       100.0 * (double)c->ends[i] / (double)c->stacks);
	}
	printf("  frames %lu, slow steps %lu, cache misses %lu\n", c->frames, c->slow_steps,
	       c->cache_misses);
	mt_unwinder_destroy(unwinder);
	samples_deinit(&s);
}

static void print_pc(const struct samples *s, uint64_t pc)
{
	const struct mt_mapping *m = mt_image_map_find(s->map, pc);

	printf(" %16lx %s+%lx", pc, m ? m->image->basename : "?",
	       m ? mt_mapping_file_offset(m, pc) : 0);
}

static void dump(const struct samples *s, size_t i)
{
	struct mt_unwinder *unwinder = make_unwinder();
	struct mt_frame frames[FRAMES_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES_MAX};
	uint64_t pcs[FRAMES_MAX];
	size_t n;

	mt_unwind_methods[0].unwind(unwinder, &s->inputs[i], &stack);
	printf("sample %zu, dump %zu of %zu: ours, %s\n", i, s->inputs[i].dump_size,
	       s->inputs[i].dump_asked, mt_stack_end_name(stack.end));
	for (size_t f = 0; f < stack.count; f++) {
		print_pc(s, frames[f].pc);
		printf(" sp %lx %s\n", frames[f].sp, mt_frame_source_name(frames[f].source));
	}
	for (const struct mt_oracle *const *o = oracles; *o; o++) {
		void *state = make_state(*o, s);

		n = ask(*o, state, &s->inputs[i], pcs);
		printf("%s\n", (*o)->name);
		for (size_t f = 0; f < n; f++, printf("\n"))
			print_pc(s, pcs[f]);
		(*o)->destroy(state);
	}
	mt_unwinder_destroy(unwinder);
}

struct verdicts {
	size_t same, longer, shorter, shorter_excused, differ, first_bad;
};

/*
 * Whether our stack has all frames of the oracle in the same order. It may have more, because
 * oracles skip code without CFI.
 */
static bool contains(const struct mt_stack *ours, const uint64_t *pcs, size_t n)
{
	size_t found = 0;

	for (size_t i = 0; i < ours->count && found < n; i++)
		found += ours->frames[i].pc == pcs[found];
	return found == n;
}

static void judge(struct verdicts *v, size_t i, const struct mt_stack *ours, const uint64_t *pcs,
		  size_t n)
{
	size_t common = 0;

	while (common < n && common < ours->count && pcs[common] == ours->frames[common].pc)
		common++;
	if (common == n && common == ours->count)
		v->same++;
	else if (contains(ours, pcs, n))
		v->longer++;
	else if (common == ours->count && ours->end != MT_END_ROOT)
		v->shorter_excused++;
	else if (common == ours->count)
		v->shorter++;
	else
		v->differ++;
	if (v->shorter + v->differ && v->first_bad == SIZE_MAX)
		v->first_bad = i;
}

/*
 * libunwind may continue past the end of a stack: a pc outside all mappings is not counted as a
 * frame.
 */
static size_t mapped(const struct samples *s, const uint64_t *pcs, size_t n)
{
	for (size_t i = 1; i < n; i++) {
		if (!mt_image_map_find(s->map, pcs[i] - 1))
			return i;
	}
	return n;
}

static size_t compare_with(const struct samples *s, const struct mt_oracle *oracle)
{
	struct verdicts v = {.first_bad = SIZE_MAX};
	struct mt_unwinder *unwinder = make_unwinder();
	void *state = make_state(oracle, s);
	struct mt_frame frames[FRAMES_MAX];
	struct mt_stack stack = {.frames = frames, .capacity = FRAMES_MAX};
	uint64_t pcs[FRAMES_MAX];
	size_t n;

	for (size_t i = 0; i < s->count; i++) {
		stack.count = 0;
		mt_unwind_methods[0].unwind(unwinder, &s->inputs[i], &stack);
		n = ask(oracle, state, &s->inputs[i], pcs);
		judge(&v, i, &stack, pcs, mapped(s, pcs, n));
	}
	printf("  against %-10s same %zu, longer %zu, shorter with reason %zu, without %zu, "
	       "differ %zu\n",
	       oracle->name, v.same, v.longer, v.shorter_excused, v.shorter, v.differ);
	if (v.first_bad != SIZE_MAX)
		printf("  first of these: sample %zu\n", v.first_bad);
	oracle->destroy(state);
	mt_unwinder_destroy(unwinder);
	return v.shorter + v.differ;
}

enum {
	STATUS_DIFFERS = 1,
	STATUS_LOST = 3,
};

static int compare(const char *path)
{
	struct samples s;
	int status = 0;

	samples_load(path, &s);
	printf("%s: pid %u, %zu samples, %llu records lost\n", path, s.pid, s.count,
	       (unsigned long long)s.lost);
	for (const struct mt_oracle *const *o = oracles; *o; o++) {
		if (compare_with(&s, *o) * 1000 > s.count)
			status = s.lost ? STATUS_LOST : STATUS_DIFFERS;
	}
	samples_deinit(&s);
	return status;
}

int main(int argc, char **argv)
{
	struct samples s;
	int status = 0, compared;

	if (argc == 4 && !strcmp(argv[1], "--dump")) {
		samples_load(argv[3], &s);
		dump(&s, strtoul(argv[2], NULL, 0));
		samples_deinit(&s);
		return 0;
	}
	for (int i = 1; i < argc; i++) {
		if (argv[i][0] == '-')
			continue;
		if (!strcmp(argv[1], "--ends")) {
			ends(argv[i]);
		} else if (!strcmp(argv[1], "--compare")) {
			compared = compare(argv[i]);
			status = status == STATUS_DIFFERS || !compared ? status : compared;
		} else {
			bench(argv[i]);
		}
	}
	return status;
}
